"""Arrangements of segments against brute force in rational arithmetic."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from functools import cmp_to_key
from itertools import combinations, pairwise
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmr.exact.arrangement import OUTSIDE, Arrangement, convex_hull

NOTHING = np.empty((0, 2))


def cross(u, v):
    return u[0] * v[1] - u[1] * v[0]


def minus(p, q):
    return p[0] - q[0], p[1] - q[1]


def on_segment(p, a, b):
    return cross(minus(b, a), minus(p, a)) == 0 and min(a, b) <= p <= max(a, b)


def crossing(a, b, c, d):
    """Where ab and cd cross, if they are not parallel and do."""
    u, v = minus(b, a), minus(d, c)
    if cross(u, v) == 0:
        return None
    t = Fraction(cross(minus(c, a), v), 1) / cross(u, v)
    p = a[0] + t * u[0], a[1] + t * u[1]
    return p if on_segment(p, a, b) and on_segment(p, c, d) else None


def edges_by_force(vertices, segments):
    """The owners of every edge, by the places of its ends."""
    nodes = defaultdict(set)
    for i, (a, b) in enumerate(segments):
        if vertices[a] != vertices[b]:
            nodes[i] |= {p for p in vertices if on_segment(p, vertices[a], vertices[b])}
    for i, j in combinations(nodes, 2):
        p = crossing(*(vertices[k] for k in (*segments[i], *segments[j])))
        if p is not None:
            nodes[i].add(p)
            nodes[j].add(p)
    owners = defaultdict(set)
    for i, places in nodes.items():
        ordered = sorted(places)
        for edge in pairwise(ordered):
            owners[edge].add(i)
    return owners


def faces_by_force(edges):
    """For each directed edge, a name of the face on its left: cycles, put in order by rays that go down."""
    around = defaultdict(list)
    for p, q in edges:
        around[p].append(q)
        around[q].append(p)

    def half(p, q):
        return (q[0], q[1]) < (p[0], p[1])

    def by_angle(p):
        return cmp_to_key(
            lambda q, r: (
                half(p, q) - half(p, r)
                if half(p, q) != half(p, r)
                else -1
                if cross(minus(q, p), minus(r, p)) > 0
                else 1
            )
        )

    following = {}
    for p, others in around.items():
        ring = sorted(others, key=by_angle(p))
        for k, q in enumerate(ring):
            following[q, p] = (p, ring[k - 1])  # the next one clockwise
    cycle_of, area, members = {}, defaultdict(Fraction), defaultdict(list)
    for start in following:
        h = start
        while h not in cycle_of:
            cycle_of[h] = start
            members[start].append(h)
            area[start] += cross(*h)
            h = following[h]

    def below(p):
        """The directed edge whose left side is met first straight down from p (a little to its right)."""
        best = None
        for (ax, ay), (bx, by) in edges:
            if ax <= p[0] < bx:
                y = ay + Fraction(by - ay) / (bx - ax) * (p[0] - ax)
                slope = Fraction(by - ay) / (bx - ax)
                if y < p[1] and (best is None or (y, slope) > best[0]):
                    best = ((y, slope), ((ax, ay), (bx, by)))
        return None if best is None else best[1]

    names = {}

    def face(cycle):
        if area[cycle] > 0:
            return cycle
        if cycle not in names:
            # The outer border of a part: it lies in the face below its leftmost, lowest point.
            lowest = min(p for h in members[cycle] for p in h)
            under = below(lowest)
            names[cycle] = OUTSIDE if under is None else face(cycle_of[under])
        return names[cycle]

    return {h: face(cycle) for h, cycle in cycle_of.items()}


def check(vertices, segments, points):
    exact = [(Fraction(x), Fraction(y)) for x, y in vertices]
    table = np.array(vertices, float).reshape(-1, 2)
    arrangement = Arrangement.of(
        table, np.array(segments, np.int32).reshape(-1, 2), np.array(points, float).reshape(-1, 2)
    )
    places = {int(node): p for node, p in zip(arrangement.vertex_nodes, exact, strict=True)}
    first = arrangement.nodes - len(arrangement.crossings)
    assert len(places) == first == len(set(exact))
    places |= {first + i: p for i, p in enumerate(arrangement.crossings)}
    wanted = edges_by_force(exact, segments)
    found = {}
    names = faces_by_force(wanted)
    number = {OUTSIDE: OUTSIDE}
    for i, (tail, head) in enumerate(zip(arrangement.tails.tolist(), arrangement.heads.tolist(), strict=True)):
        edge = places[tail], places[head]
        assert edge not in found
        found[edge] = set(arrangement.owners[arrangement.offsets[i] : arrangement.offsets[i + 1]].tolist())
        assert number.setdefault(names[edge], arrangement.above[i]) == arrangement.above[i]
        assert number.setdefault(names[edge[::-1]], arrangement.below[i]) == arrangement.below[i]
    assert found == wanted
    assert sorted(number.values()) == list(range(arrangement.faces))
    # A point lies in the face of the edge below it.
    for p, face in [
        *zip([(Fraction(x), Fraction(y)) for x, y in points], arrangement.point_faces, strict=True),
        *zip(exact, arrangement.vertex_faces, strict=True),
    ]:
        if any(on_segment(p, *edge) for edge in wanted):
            assert face == -1
            continue
        isolated = {**wanted, (p, (p[0] + Fraction(1, 10**6), p[1])): set()}
        around = faces_by_force(isolated)[p, (p[0] + Fraction(1, 10**6), p[1])]
        assert number[names_of(around, names)] == face


def names_of(face, names):
    """Faces are named after one of their directed edges."""
    return OUTSIDE if face == OUTSIDE else names[face]


coordinates = st.integers(0, 5)
places = st.tuples(coordinates, coordinates)


@pytest.mark.slow
@settings(max_examples=150)
@given(
    st.lists(places, min_size=1, max_size=9).flatmap(
        lambda vertices: st.tuples(
            st.just(vertices),
            st.lists(st.tuples(*[st.integers(0, len(vertices) - 1)] * 2), min_size=0, max_size=8),
        )
    ),
    st.lists(st.tuples(*[st.integers(0, 10).map(lambda k: k / 2)] * 2), max_size=4),
)
def test_small_grids_agree_with_brute_force(graph, points):
    check(*graph, points)


@pytest.mark.parametrize("seed", range(8))
def test_random_segments_agree_with_brute_force(seed):
    rng = np.random.default_rng(seed)
    vertices = [(float(x), float(y)) for x, y in rng.random((16, 2)) + rng.choice([0.0, 1e6])]
    check(vertices, [tuple(pair) for pair in rng.integers(0, 16, (10, 2)).tolist()], [vertices[3], (0.5, 0.5)])


def test_crossings_in_one_point_share_a_node():
    angles = np.arange(12) * np.pi / 6
    ring = [(round(1000 * np.cos(a)), round(1000 * np.sin(a))) for a in angles]
    check(ring, [(i, i + 6) for i in range(6)], [(0, 0), (1, 0), (2000, 0)])
    arrangement = Arrangement.of(np.array(ring, float), np.array([(i, i + 6) for i in range(6)]), NOTHING)
    assert len(arrangement.crossings) == 1


def test_segments_passing_near_a_node_are_recorded():
    ulp = 2.0**-51  # of 3
    vertices = [[0, 0], [3, 3], [1, 1 + ulp], [2, 2 - 1.5 * ulp], [1.5, 1.5], [2.5, 2.5 + 64 * ulp], [0, 3], [3, 0]]
    found = Arrangement.of(np.array(vertices), np.array([[0, 1], [6, 7]]), NOTHING)
    pairs = set(zip(found.near_nodes.tolist(), found.near_segments.tolist(), strict=True))
    assert pairs == {(found.vertex_nodes[2], 0), (found.vertex_nodes[3], 0)}
    assert found.vertex_faces[4] == -1


def test_no_segments_give_one_face():
    check([(0, 0), (1, 1)], [], [(3, 3)])
    check([(0, 0), (0, 0)], [(0, 1)], [])
    empty = Arrangement.of(NOTHING, np.empty((0, 2), np.int32), NOTHING)
    assert (empty.nodes, empty.faces, len(empty.tails)) == (0, 1, 0)


def test_minus_zero_is_zero():
    check([(0.0, 0.0), (-0.0, -0.0), (1.0, 0.0)], [(0, 2), (1, 2)], [(-0.0, 1.0)])


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_tiny_and_huge_coordinates(unit):
    check([(0, 0), (4 * unit, 3 * unit), (0, 3 * unit), (4 * unit, 0)], [(0, 1), (2, 3)], [(2 * unit, unit)])


@settings(max_examples=100)
@given(st.lists(places, min_size=1, max_size=12))
def test_convex_hulls_agree_with_brute_force(vertices):
    found = {(vertices[a], vertices[b]) for a, b in convex_hull(np.array(vertices, float)).tolist()}
    distinct = sorted(set(vertices))
    wanted = set()
    for p in distinct:
        for q in distinct:
            sides = [cross(minus(q, p), minus(r, p)) for r in distinct if r not in (p, q)]
            beyond = [r for r, side in zip([r for r in distinct if r not in (p, q)], sides, strict=True) if side == 0]
            if (
                p != q
                and all(side >= 0 for side in sides)
                and any(side > 0 for side in sides)
                and all(on_segment(r, p, q) for r in beyond)
            ):
                wanted.add((p, q))
    assert found == wanted


def test_a_large_hull_agrees_with_qhull():
    spatial = pytest.importorskip("scipy.spatial")
    points = np.random.default_rng(2).normal(size=(20_000, 2))
    assert set(convex_hull(points).ravel().tolist()) == set(spatial.ConvexHull(points).vertices.tolist())


@pytest.mark.slow
def test_a_hundred_thousand_segments_take_seconds():
    count = 100_000
    rng = np.random.default_rng(0)
    angles = np.sort(rng.random(count)) * 2 * np.pi
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1) * (1 + 0.01 * rng.random((count, 1)))
    start = process_time()
    arrangement = Arrangement.of(ring, np.stack([np.arange(count), (np.arange(count) + 1) % count], axis=1), NOTHING)
    assert process_time() - start < 15
    assert arrangement.faces == 2
    assert len(arrangement.crossings) == 0
