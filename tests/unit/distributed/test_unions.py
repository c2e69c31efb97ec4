"""Unions of lists, lookups in them, and shapes of triangles: the same as numpy's, or as rational arithmetic's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import dmr
from dmr.distributed.output.part_file import unite_after
from dmr.distributed.threaded import (
    cut_edge_lists,
    flags,
    frozen,
    joined,
    on_border,
    places_of_pairs,
    rows_put,
    rows_taken,
    touching,
)
from dmr.distributed.unions.native import (
    PREDICTED,
    Demand,
    beside_cuts,
    block_weights,
    blocks_of,
    components,
    linked,
    predict,
    walls,
)
from dmr.distributed.unions.numbering import is_among
from dmr.distributed.unions.union import Numbers, unite

ascending = st.lists(st.integers(0, 40), unique=True, max_size=30).map(sorted)


@settings(max_examples=40)
@given(st.lists(ascending, min_size=1, max_size=6), st.integers(0, 41), st.sampled_from([1, 3]))
def test_unions(lists, first, threads):
    """Entries from `first` on have no number yet, and are stored as -1, -2, ..."""
    arrays = [np.array(each, np.int64) for each in lists]
    stored = [Numbers(np.where(each < first, each, first - 1 - each), first) for each in arrays]
    union = unite(stored, threads)
    together = np.concatenate(arrays)
    numbers, where = np.unique(together, return_index=True)  # the first occurrence
    np.testing.assert_array_equal(union.numbers, numbers)
    np.testing.assert_array_equal(union.origins, where)
    for own, given_numbers, places in zip(stored, arrays, union.places, strict=True):
        np.testing.assert_array_equal(union.numbers[places], given_numbers)
        expected = [lists_index(given_numbers, number) for number in range(42)]
        np.testing.assert_array_equal(own.find(np.arange(42)), expected)
        assert own.highest == max(given_numbers.tolist(), default=-1)


@settings(max_examples=40)
@given(ascending, st.lists(ascending, min_size=1, max_size=4), st.integers(0, 41))
def test_unions_after_a_list(before, lists, first):
    arrays = [np.array(each, np.int64) for each in (before, *lists)]
    stored = [Numbers(np.where(each < first, each, first - 1 - each), first) for each in arrays]
    union = unite_after(stored[0], stored[1:], 1)
    together = np.concatenate(arrays[1:])
    assert union.numbers.tolist() == sorted(set(together.tolist()) - set(before))
    np.testing.assert_array_equal(together[union.origins], union.numbers)
    numbers = np.concatenate([arrays[0], union.numbers])
    for given_numbers, places in zip(arrays[1:], union.places, strict=True):
        np.testing.assert_array_equal(numbers[places], given_numbers)


@given(ascending, st.lists(st.integers(-1, 42), max_size=30))
def test_numbers_in_any_order_are_found(numbers, wanted):
    found = Numbers(np.array(numbers, np.int64)).find(np.array(wanted, np.int64))
    assert found.tolist() == [numbers.index(each) if each in numbers else -1 for each in wanted]


def lists_index(numbers, wanted):
    found = np.flatnonzero(numbers == wanted)
    return found[0] if len(found) else -1


@given(ascending, st.lists(st.integers(-1, 42)))
def test_numbers_among_a_list(numbers, wanted):
    found = is_among(np.array(wanted, np.int64), np.array(numbers, np.int64))
    np.testing.assert_array_equal(found, np.isin(wanted, numbers))


small = st.integers(-9, 9)


@given(st.lists(st.tuples(*6 * [small]), max_size=20), st.sampled_from([0.5, 0.75, 0.9]), st.sampled_from([1, 3]))
def test_predictions_for_triangles(corners, cosine_squared, threads):
    """With small whole coordinates and these bounds, floating-point arithmetic is exact but for the products of 0.9."""
    points, count = np.array(corners, float).reshape(-1, 2), len(corners)
    triangles = np.arange(3 * count, dtype=np.int32).reshape(-1, 3)
    demand = Demand(cosine_squared=cosine_squared, long_edge=4, for_skinny=4, over_fewest=2, max_area=8, most=30)
    bounds = np.arange(-1.0, count - 1)  # those that are not above 0 are none
    found = predict(points, triangles, demand, bounds, PREDICTED, threads)
    for k, (ax, ay, bx, by, cx, cy) in enumerate(corners):
        doubled = abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))
        shortest, *longer = sorted([(bx - ax) ** 2 + (by - ay) ** 2, (cx - bx) ** 2 + (cy - by) ** 2,
                                    (ax - cx) ** 2 + (ay - cy) ** 2])  # fmt: skip
        dot = Fraction(shortest + sum(longer), 2) - shortest
        below = dot * dot > Fraction(cosine_squared) * (dot * dot + doubled * doubled)
        by_size = max(doubled / 8, doubled / bounds[k] if bounds[k] > 0 else 0)
        assert found["areas"][k] == doubled / 2
        assert found["by_angle"][k] == (4 if below else 1)
        assert found["by_size"][k] == by_size
        assert found["thin"][k] == (below and longer[1] > 4 * doubled)
        assert found["weights"][k] == np.ceil(min(max(4 if below else 1, by_size), 30))
    rows = np.arange(0, count, 2)
    some = predict(points, triangles, demand, bounds, ("weights",), threads, rows)
    assert list(some) == ["weights"] and some["weights"].tolist() == found["weights"][rows].tolist()


@given(st.lists(st.integers(0, 20), max_size=40), st.sampled_from([np.int32, np.int64]), st.sampled_from([1, 3]))
def test_rows_and_flags(rows, dtype, threads):
    numbers = np.array(rows, dtype)
    for width in ((), (1,), (2,), (3,), (5,)):
        for kind in (np.uint8, np.int32, np.float64):
            table = np.arange(21 * int(np.prod(width, dtype=int))).reshape(21, *width).astype(kind)
            np.testing.assert_array_equal(rows_taken(table, numbers, threads), table[numbers])
    pairs = numbers[: len(numbers) // 2 * 2].reshape(-1, 2)
    np.testing.assert_array_equal(rows_taken(table, pairs, threads), table[pairs])
    assert flags(21, numbers, threads).tolist() == [k in rows for k in range(21)]
    corners = np.array(rows[: len(rows) // 3 * 3], np.int32).reshape(-1, 3)
    near = np.arange(21) % 3 == 0
    assert touching(corners, near, threads).tolist() == near[corners].any(axis=1).tolist()


@given(st.lists(st.tuples(*6 * [small]), max_size=20), st.lists(st.booleans(), min_size=60, max_size=60))
@example([(-9, -1, -3, 5, -3, 6)], [False, False, True])  # the corner is beside the edge by its height
def test_walls_of_triangles(corners, listed):
    """The longest listed edge of each triangle that its opposite corner is above; squares of lengths are exact."""
    points, count = np.array(corners, float).reshape(-1, 2), len(corners)
    triangles = np.arange(3 * count, dtype=np.int32).reshape(-1, 3)
    sides = [(3 * t + a, 3 * t + b) for t in range(count) for a, b in ((1, 2), (2, 0), (0, 1))]
    chosen = [side for side, there in zip(sides, listed, strict=False) if there]
    keys = np.array(sorted(min(side) << 32 | max(side) for side in chosen), np.int64)
    found, lengths, heights = walls(points, triangles, np.arange(count), keys, 1)
    for t in range(count):
        best, most, rounding_decides = -1, 0.0, False
        for k in range(3):
            u, v = sides[3 * t + k]
            along, over = points[v] - points[u], points[3 * t + k] - points[u]
            length, cross, dot = np.hypot(*along), along[0] * over[1] - along[1] * over[0], along @ over
            if (u, v) in chosen and cross > 0 and -cross <= dot <= along @ along + cross and length > most + 1e-9:
                best, most = k, length
                assert heights[t] == pytest.approx(cross / length) or found[t] != k
            rounding_decides |= (u, v) in chosen and cross > 0 and dot in (-cross, along @ along + cross)
        assert rounding_decides or (found[t] == best and lengths[t] == pytest.approx(most))


@given(st.lists(st.tuples(small, small, st.integers(1, 9)), min_size=1, max_size=40), st.data())
def test_blocks(given_ones, data):
    """Along the longer extent, the lower half has less than its share of the weight, unless it needs more points."""
    places, weights = np.array([each[:2] for each in given_ones], float), np.array([each[2] for each in given_ones])
    count = data.draw(st.integers(1, len(places)))
    shift, threads = data.draw(st.sampled_from([0.0, 0.31, -0.38])), data.draw(st.sampled_from([1, 3]))

    def divide(rows, first, blocks):
        if blocks == 1:
            return dict.fromkeys(rows, first)
        extents = np.ptp(places[rows], axis=0)
        rows = sorted(rows, key=lambda k: (places[k][int(extents[1] > extents[0])], k))
        left = blocks // 2
        below = int((np.cumsum(weights[rows]) < (left + shift) / blocks * weights[rows].sum()).sum())
        if not left <= below <= len(rows) - (blocks - left):
            below = left
        return divide(rows[:below], first, left) | divide(rows[below:], first + left, blocks - left)

    expected = divide(list(range(len(places))), 0, count)
    triangles = np.repeat(np.arange(len(places), dtype=np.int32)[:, None], 3, axis=1)
    found = blocks_of(places, triangles, weights, count, shift, threads)
    assert found.tolist() == [expected[k] for k in range(len(places))]
    listed = blocks_of(places, triangles[::-1], weights, count, shift, threads, np.arange(len(places))[::-1].copy())
    assert listed.tolist() == found.tolist()
    sums = block_weights(found, weights, count, threads)
    assert sums.tolist() == np.bincount(found, weights, minlength=count).tolist()


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=30, unique=True), st.data())
def test_neighbours_of_triangles(places, data):
    """Any part of a triangulation, with holes, has the neighbours that its mesh finds."""
    points = np.array(places, float)
    if np.linalg.matrix_rank(points[1:] - points[0]) < 2:
        return
    triangles = dmr.triangulate(points, device="cpu").triangles
    chosen = data.draw(st.lists(st.booleans(), min_size=len(triangles), max_size=len(triangles)))
    some = triangles[np.array(chosen)]
    found = linked(some, len(points), data.draw(st.sampled_from([1, 3])))
    np.testing.assert_array_equal(found, dmr.Mesh(points, some).neighbours)


def test_seeds_beside_cuts():
    neighbours, segments = np.array([[1, -1, -1], [0, 2, -1], [1, -1, -1]], np.int32), np.full((3, 3), -1, np.int32)
    segments[:2, 1:] = 0
    segments[2] = [1, 2, 3]
    seeds, block = np.ones(3, np.bool_), np.array([0, 1, 1], np.int32)
    assert beside_cuts(neighbours, segments, block, seeds, 2).tolist() == [True, True, False]
    assert beside_cuts(neighbours, segments, np.zeros(3, np.int32), seeds, 1).tolist() == [False, False, False]
    assert beside_cuts(neighbours, segments, block, ~seeds, 1).tolist() == [False, False, False]


@pytest.mark.parametrize("threads", [1, 4])
def test_long_lists_are_searched_by_several_threads(threads):
    random = np.random.default_rng(3)
    numbers, wanted = np.sort(random.integers(0, 10**6, 300_000)), random.integers(0, 10**6, 400_000)
    wanted[200_000:].sort()  # some occur several times in both
    place = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    expected = np.where(numbers[place] == wanted, place, -1)
    np.testing.assert_array_equal(Numbers(numbers).find(wanted, threads), expected)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("links", [0.3, 0.7, 3.0])
def test_components_by_several_threads(links, threads):
    """Of triangles in any order, of which about `links` times as many pairs are neighbours."""
    count, random = 300_000, np.random.default_rng(5)
    pairs = random.integers(0, count, (int(links * count / 2), 2))
    neighbours = np.full((count, 3), -1, np.int32)
    used = np.zeros(count, np.int64)
    for one, other in pairs[pairs[:, 0] != pairs[:, 1]].tolist():
        if used[one] < 3 and used[other] < 3:
            neighbours[one, used[one]], neighbours[other, used[other]] = other, one
            used[one] += 1
            used[other] += 1
    rows, k = np.nonzero(neighbours >= 0)
    graph = coo_array((np.ones(len(rows), np.int8), (rows, neighbours[rows, k])), shape=(count, count))
    number, labels = connected_components(graph, directed=False)
    smallest = np.full(number, count)
    np.minimum.at(smallest, labels, np.arange(count))
    np.testing.assert_array_equal(components(neighbours, threads), smallest[labels])


@pytest.mark.parametrize("threads", [1, 4])
def test_flags_of_triangles_and_edges_by_several_threads(threads):
    random = np.random.default_rng(6)
    neighbours = random.integers(-1, 200_000, (200_000, 3), np.int32)
    neighbours[random.random(neighbours.shape) < 0.1] = -1
    segments = np.where(random.random(neighbours.shape) < 0.5, 3, -1).astype(np.int32)
    found = frozen(neighbours, segments, threads)
    np.testing.assert_array_equal(found, ((neighbours < 0) & (segments < 0)).any(axis=1))
    triangle, k = np.nonzero((neighbours >= 0) & (segments < 0) & ~found[:, None] & found[neighbours])
    corners, near = np.abs(neighbours), random.random(200_000) < 0.4
    starts, ends = corners[triangle, (k + 1) % 3], corners[triangle, (k + 2) % 3]
    beyond = np.bitwise_xor.reduce(corners[neighbours[triangle, k]], axis=1) ^ starts ^ ends
    for one, other in zip(
        cut_edge_lists(neighbours, segments, corners, found, threads), (starts, ends, beyond), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    for inside in ([False] * 4, [True] * 4):
        triangle, k = np.nonzero((neighbours < 0) & ((segments < 0) | inside[3]))
        expected = np.zeros(200_000, np.bool_)
        expected[corners[triangle, (k + 1) % 3]] = expected[corners[triangle, (k + 2) % 3]] = True
        border = on_border(neighbours, segments, corners, np.array(inside), 200_000, threads)
        np.testing.assert_array_equal(border, expected)
    for least in (1, 2, 3):
        expected = near[corners].sum(axis=1) >= least
        np.testing.assert_array_equal(touching(corners, near, threads, least=least), expected)


@pytest.mark.parametrize("threads", [1, 4])
def test_pairs_are_found_among_others(threads):
    random = np.random.default_rng(7)
    pairs = np.unique(random.integers(0, 300, (40_000, 2), np.int32), axis=0)
    random.shuffle(pairs)
    given, others = pairs[:-100], pairs[-100:]
    order = random.permutation(len(given)).astype(np.int32)
    np.testing.assert_array_equal(places_of_pairs(given, given[order], 300, threads), order)
    assert (places_of_pairs(given, others, 300, threads) == -1).all()
    assert len(places_of_pairs(given, given[:0], 300, threads)) == 0


@pytest.mark.parametrize("shape", [(), (2,), (3,), (5,)])
def test_rows_are_put_in_their_places(shape):
    random = np.random.default_rng(8)
    table, places = random.random((100_000, *shape)), random.permutation(100_000)[:70_000].astype(np.int32)
    rows, expected = random.random((70_000, *shape)), table.copy()
    expected[places] = rows
    rows_put(table, places, rows, 3)
    np.testing.assert_array_equal(table, expected)
    into = np.empty((70_002, *shape))
    rows_taken(table, places, 3, into[2:])
    np.testing.assert_array_equal(into[2:], rows)


def test_arrays_are_joined():
    random = np.random.default_rng(2)
    tables = [random.random((rows, 3)) for rows in (0, 70_000, 2)]
    np.testing.assert_array_equal(joined(tables, 3), np.concatenate(tables))
    np.testing.assert_array_equal(joined([each[:, 1] for each in tables], 3), np.concatenate(tables)[:, 1])
