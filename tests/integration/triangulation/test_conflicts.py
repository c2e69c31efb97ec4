"""Conflicts of vertices and segments: pieces, counts and the first conflict of each kind; rounding of crossings."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from dmr import Pslg
from dmr.errors import InvalidMeshError
from dmr.triangulation import triangulate_noting
from dmr.triangulation.native import CROSSING, triangulate_plane
from tests.support.planar import cross_properly, crossing, crossing_pairs, edge_set, nearest_double

SQUARE = [[0, 0], [8, 0], [8, 8], [0, 8]]
RING = [[0, 1], [1, 2], [2, 3], [3, 0]]


def resolved(domain, convex_hull=True):
    """The mesh of a domain, after the exact checker accepted it, and the notes on its conflicts."""
    mesh, notes, _ = triangulate_noting(domain, on_conflict="resolve", convex_hull=convex_hull, mesher="dmr")
    report = dmr.validate(mesh, input=domain, convex_hull=convex_hull)
    assert report.ok, report.failures
    return mesh, notes


def pieces(mesh):
    """The segments of a mesh by the coordinates of their ends, with their markers."""
    ends = [tuple(sorted(map(tuple, mesh.vertices[pair].tolist()))) for pair in mesh.segments]
    assert len(set(ends)) == len(ends)
    return dict(zip(ends, mesh.segment_markers.tolist(), strict=True))


def chain(*points):
    """The pieces between points, without markers."""
    places = [tuple(map(float, point)) for point in points]
    return {tuple(sorted(pair)) for pair in pairwise(places)}


def refused(domain):
    """The error for the first conflict of a graph."""
    with pytest.raises(InvalidMeshError) as caught:
        dmr.triangulate(domain, convex_hull=True, on_conflict="error")
    return caught.value


# ---- Each kind -----------------------------------------------------------------------------------------------------


def test_a_domain_without_conflicts_is_accepted():
    domain = Pslg([*SQUARE, [4, 4]], [*RING, [0, 4]])
    mesh = dmr.triangulate(domain, on_conflict="error")
    assert edge_set(mesh.segments) == edge_set(domain.segments)
    assert triangulate_noting(domain, on_conflict="error", convex_hull=False, mesher="dmr")[1] == []


def test_duplicate_vertices_are_merged():
    """Each segment of the ring has its own ends."""
    corners = np.array(SQUARE, float)
    domain = Pslg(np.stack([corners, np.roll(corners, -1, axis=0)], axis=1).reshape(-1, 2), np.arange(8).reshape(4, 2))
    mesh, notes = resolved(domain, convex_hull=False)
    assert notes == [
        "4 vertices with the coordinates of another one: merged "
        "(the first: vertex 2 has the same coordinates as vertex 1, at (8, 0))"
    ]
    assert np.array_equal(mesh.vertices, domain.vertices)
    assert np.unique(mesh.triangles).tolist() == [0, 1, 3, 5] == np.unique(mesh.segments).tolist()
    error = refused(domain)
    assert (error.element, error.index) == ("vertex", 2)
    assert str(error) == "vertex 2: has the same coordinates as vertex 1, at (8, 0)"


@pytest.mark.parametrize("twin", [False, True])
def test_segments_of_zero_length_are_dropped(twin):
    """From a vertex to itself, or to another one in its place."""
    mesh, notes = resolved(Pslg([*SQUARE, [4, 4], [4, 4] if twin else [5, 4]], [*RING, [1, 1], [4, 4 + twin]]))
    assert len(mesh.segments) == 4
    assert notes[twin:] == [
        "2 segments without length: left out (the first: segment 4 has both of its ends at vertex 1, at (8, 0))"
    ]
    error = refused(Pslg([*SQUARE, [4, 4]], [*RING, [4, 4]]))
    assert str(error) == "segment 4: has both of its ends at vertex 4, at (4, 4)"
    assert (error.element, error.index) == ("segment", 4)


def test_segments_are_split_at_vertices_on_them():
    domain = Pslg([*SQUARE, [2, 0], [6, 0], [8, 4], [4, 4]], RING, segment_markers=[5, 6, 7, 8])
    mesh, notes = resolved(domain, convex_hull=False)
    assert pieces(mesh) == {
        **dict.fromkeys(chain([0, 0], [2, 0], [6, 0], [8, 0]), 5),
        **dict.fromkeys(chain([8, 0], [8, 4], [8, 8]), 6),
        **dict.fromkeys(chain([8, 8], [0, 8]), 7),
        **dict.fromkeys(chain([0, 8], [0, 0]), 8),
    }
    assert notes == [
        "2 segments with a vertex in between: split there (the first: segment 0 runs through vertex 4, at (2, 0))"
    ]
    error = refused(domain)
    assert str(error) == "segment 0: runs through vertex 4, at (2, 0)"
    assert (error.element, error.index) == ("segment", 0)


def test_a_segment_ending_on_another_splits_it():
    mesh, notes = resolved(Pslg([*SQUARE, [4, 0], [4, 5]], [*RING, [4, 5]]), convex_hull=False)
    assert set(pieces(mesh)) == chain([0, 0], [4, 0], [8, 0], [8, 8], [0, 8], [0, 0]) | chain([4, 0], [4, 5])
    assert notes == [
        "1 segment with a vertex in between: split there (the first: segment 0 runs through vertex 4, at (4, 0))"
    ]


def test_a_vertex_an_ulp_off_a_segment_is_not_on_it():
    above = np.nextafter(4, 5)
    domain = Pslg([*SQUARE, [4, above]], [*RING, [0, 2]])
    mesh, notes = resolved(domain)
    assert notes == []
    assert edge_set(mesh.segments) == edge_set(domain.segments)


def test_overlapping_segments_share_edges():
    domain = Pslg([[0, 0], [4, 0], [6, 0], [9, 0], [0, 5]], [[0, 2], [3, 1]], segment_markers=[2, 3])
    mesh, notes = resolved(domain)
    assert pieces(mesh) == {
        ((0, 0), (4, 0)): 2,
        ((4, 0), (6, 0)): 2,  # both have a marker: the first
        ((6, 0), (9, 0)): 3,
    }
    assert notes == [
        "2 segments with a vertex in between: split there (the first: segment 0 runs through vertex 1, at (4, 0))",
        "2 segments that overlap: the common part is kept once (the first: segment 0 runs along segment 1, at (6, 0))",
    ]


@pytest.mark.parametrize("markers", [(0, 3), (3, 0), (3, 3)])
def test_the_common_part_has_a_nonzero_marker(markers):
    domain = Pslg([[0, 0], [4, 0], [6, 0], [9, 0], [5, 5], [5, -5]], [[0, 2], [1, 3]], segment_markers=markers)
    assert pieces(resolved(domain)[0])[(4, 0), (6, 0)] == 3


@pytest.mark.parametrize("copies", [2, 3, 6])
def test_a_repeated_segment_is_kept_once(copies):
    """In either direction, and by way of vertices that are the same."""
    ends = [[4, 5], [5, 4], [6, 7], [7, 6], [4, 7], [6, 5]][:copies]
    domain = Pslg([*SQUARE, [1, 4], [7, 4], [1, 4], [7, 4]], [*RING, *ends], segment_markers=[0] * (3 + copies) + [9])
    mesh, notes = resolved(domain, convex_hull=False)
    assert pieces(mesh)[(1, 4), (7, 4)] == 9
    assert len(mesh.segments) == 5
    assert re.fullmatch(
        rf"{copies} segments that overlap: the common part is kept once "
        r"\(the first: segment 4 runs along segment 5, at \([17], 4\)\)",
        notes[-1],
    )
    error = refused(Pslg([*SQUARE, [1, 4], [7, 4]], [*RING, [4, 5], [5, 4]]))
    assert str(error).startswith("segment 4: runs along segment 5, at (")


def test_a_chain_of_overlapping_segments():
    """Each segment overlaps the next by one vertex, on one straight line."""
    vertices = [[k, 2 * k] for k in range(12)]
    domain = Pslg([*vertices, [0, 9]], [[k, k + 3] for k in range(0, 9, 2)] + [[11, 9]])
    mesh, notes = resolved(domain)
    assert set(pieces(mesh)) == chain(*vertices)
    assert "6 segments that overlap" in notes[-1]


def test_nested_segments():
    vertices = [[k, 0] for k in range(10)]
    domain = Pslg([*vertices, [3, 4]], [[k, 9 - k] for k in range(5)], segment_markers=[0, 1, 2, 3, 4])
    mesh, notes = resolved(domain)
    assert set(pieces(mesh)) == chain(*vertices)
    assert "5 segments that overlap" in notes[-1]
    assert "4 segments with a vertex in between" in notes[0]
    assert pieces(mesh)[(4, 0), (5, 0)] in (1, 2, 3, 4)


def test_crossing_segments_get_a_vertex():
    domain = Pslg(SQUARE, [*RING, [0, 2], [1, 3]], segment_markers=[1, 1, 1, 1, 5, 6])
    mesh, notes = resolved(domain, convex_hull=False)
    assert mesh.vertices[4:].tolist() == [[4, 4]]
    assert pieces(mesh) == {
        **dict.fromkeys(chain(*SQUARE, SQUARE[0]), 1),
        **dict.fromkeys(chain([0, 0], [4, 4], [8, 8]), 5),
        **dict.fromkeys(chain([8, 0], [4, 4], [0, 8]), 6),
    }
    assert notes == ["1 crossing of segments: both are split there (the first: segment 4 crosses segment 5, at (4, 4))"]
    error = refused(domain)
    assert str(error) == "segment 4: crosses segment 5, at (4, 4)"
    assert (error.element, error.index) == ("segment", 4)


def test_a_lattice_of_crossing_segments():
    lines = [*([[k, -1], [k, 7]] for k in range(7)), *([[-1, k], [7, k]] for k in range(7))]
    mesh, notes = resolved(Pslg(np.reshape(lines, (-1, 2)), np.arange(28).reshape(14, 2)))
    assert sorted(mesh.vertices[28:].tolist()) == [[x, y] for x in range(7) for y in range(7)]
    assert len(mesh.segments) == 14 * 8
    assert notes == [
        "49 crossings of segments: both are split there (the first: segment 0 crosses segment 7, at (0, 0))"
    ]


@pytest.mark.parametrize("count", [3, 4, 9, 50])
def test_many_segments_through_one_point(count):
    """One new vertex, in the exact place, whichever two of them met there first."""
    k = np.arange(1, count + 1)
    way = np.stack([k, count + 1 - k], axis=1).astype(float)
    domain = Pslg(np.concatenate([way, -way]), np.stack([k - 1, k - 1 + count], axis=1))
    mesh, notes = resolved(domain)
    assert mesh.vertices[2 * count :].tolist() == [[0, 0]]
    assert len(mesh.segments) == 2 * count
    assert [note.split(":")[0] for note in notes] == ["1 crossing of segments"]


def test_a_crossing_at_a_vertex_adds_no_vertex():
    domain = Pslg([*SQUARE, [4, 4]], [*RING, [0, 2], [1, 3]])
    mesh, notes = resolved(domain, convex_hull=False)
    assert len(mesh.vertices) == 5
    assert len(mesh.segments) == 8
    assert notes == [
        "2 segments with a vertex in between: split there (the first: segment 4 runs through vertex 4, at (4, 4))"
    ]


def test_every_kind_of_conflict_is_counted_and_the_first_is_refused():
    domain = Pslg([*SQUARE, [4, 4], [4, 4], [2, 6]], [*RING, [0, 2], [1, 3], [3, 1], [6, 6], [5, 0]])
    mesh, notes = resolved(domain, convex_hull=False)
    assert [note.split(":")[0] for note in notes] == [
        "1 vertex with the coordinates of another one",
        "1 segment without length",
        "3 segments with a vertex in between",
        "4 segments that overlap",
    ]
    assert set(pieces(mesh)) == chain(*SQUARE, SQUARE[0]) | chain([0, 0], [4, 4], [8, 8]) | chain(
        [8, 0], [4, 4], [2, 6], [0, 8]
    )
    assert str(refused(domain)).startswith("vertex 5: has the same coordinates as vertex 4")


def test_refine_logs_the_warnings_of_an_outline_before_its_own(caplog):
    square = Pslg([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], [[0, 1], [1, 2], [2, 3], [3, 4]])
    with caplog.at_level(logging.WARNING, "dmr"):
        fine = dmr.refine(square, max_area=1e-3, max_steiner=5, device="cpu", threads=1)
    assert tuple(record.getMessage() for record in caplog.records) == fine.warnings
    assert ["merged" in warning for warning in fine.warnings] == [True, False]


def test_conflicts_are_warnings_in_the_log(caplog):
    with caplog.at_level(logging.WARNING, "dmr"):
        dmr.triangulate(Pslg(SQUARE, [*RING, [0, 2], [1, 3]]))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "1 crossing of segments" in caplog.text


def test_attributes_at_crossings_are_interpolated():
    """Linear along the segment with the lower number."""
    vertices = np.array([[0, 0], [4, 4], [0, 2], [4, 2], [1, -1], [1, 9]], float)
    attributes = np.stack([10 * vertices[:, 0], np.arange(6.0)], axis=1)
    mesh, _ = resolved(Pslg(vertices, [[0, 1], [2, 3], [5, 4]], vertex_attributes=attributes))
    found = {
        tuple(place): values
        for place, values in zip(mesh.vertices.tolist(), mesh.vertex_attributes.tolist(), strict=True)
    }
    assert np.array_equal(mesh.vertex_attributes[:6], attributes)
    assert found[2, 2] == [20, 0.5]
    assert found[1, 1] == [10, 0.25]
    assert found[1, 2] == [10, 2.25]


# ---- Where segments cross: each coordinate is the nearest double ---------------------------------------------------


def assert_rounded_once(domain):
    """The new vertices are the crossings of the graph's segments, each coordinate the double nearest to it."""
    mesh = dmr.triangulate(domain, convex_hull=True)
    ends = domain.vertices[domain.segments]
    wanted = {
        tuple(nearest_double(value) for value in crossing(*ends[i], *ends[j])) for i, j in crossing_pairs(domain)
    }  # fmt: skip
    assert {tuple(place) for place in mesh.vertices[len(domain.vertices) :].tolist()} == wanted
    return wanted


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("place", [(0, 1), (1e6, 1), (-1e12, 1e3), (0, 1e-22), (0, 2.0**195), (0, 2.0**-80)])
def test_crossings_of_random_segments_are_rounded_once(seed, place):
    offset, scale = place
    random = np.random.default_rng(seed)
    domain = Pslg(offset + scale * random.normal(size=(40, 2)), np.arange(40).reshape(20, 2))
    assert len(assert_rounded_once(domain)) > 20


def crossing_sets():
    """Segments by integer coordinates, which are exact in float64 and whose crossing pairs int64 decides exactly."""
    random = np.random.default_rng(11)
    apart = np.arange(150)[:, None]
    hatch = np.concatenate([1000 * apart + [0, 0], 1000 * apart + [300_000, 310_007]], axis=1)
    starts = random.integers(0, 2**20, (300, 2))
    short = np.concatenate([starts, starts + random.integers(-60_000, 60_000, (300, 2))], axis=1)
    dense = 500_000 + random.integers(0, 200, (40, 4))  # a cluster
    return {
        "long": random.integers(0, 2**20, (70, 4)),
        "short and a cluster": np.concatenate([short, dense]),
        "hatched": np.concatenate([hatch, random.integers(0, 450_000, (12, 4))]),
        "a slanted lattice": np.concatenate([hatch, [460_000, 0, 460_000, 0] + hatch * [-1, 1, -1, 1]]),
    }


def crossing_by_integers(ends):
    """The pairs of (n, 4) integer segments that cross at an interior point of both."""
    a, b = ends[:, None, :2], ends[:, None, 2:]
    low, high = ends[None, :, :2], ends[None, :, 2:]

    def sides(point):
        way, off = b - a, point - a
        return np.sign(way[..., 0] * off[..., 1] - way[..., 1] * off[..., 0])

    parted = sides(low) * sides(high) < 0
    return {(i, j) for i, j in np.argwhere(parted & parted.T).tolist() if i < j}


@pytest.mark.slow
@pytest.mark.parametrize("name", crossing_sets())
def test_all_pairs_that_cross_are_found(name):
    ends = crossing_sets()[name]
    domain = Pslg(ends.reshape(-1, 2).astype(float), np.arange(2 * len(ends)).reshape(-1, 2))
    for threads in (1, 3):
        plane = triangulate_plane(domain, convex_hull=True, threads=threads)
        found = [(low, high) for kind, low, high, _ in plane.conflicts.tolist() if kind == CROSSING]
        assert len(found) == len(set(found)) > 200
        assert set(found) == crossing_by_integers(ends)


def test_a_crossing_at_the_origin_is_exact():
    """Thirds of the way: a parameter along the segment cannot be represented, its product with the length must not be
    mistaken for the place."""
    domain = Pslg([[-1, -1], [2, 2], [-1, 1], [2, -2], [-0.1, 0.3], [0.2, -0.6]], [[0, 1], [2, 3], [4, 5]])
    mesh, _ = resolved(domain)
    assert [0.0, 0.0] in mesh.vertices[6:].tolist()


def test_a_crossing_near_an_axis_is_precise():
    """Near 0 doubles are dense: the place is known to all its digits, not to an ulp of the segments' ends."""
    u = 2.0**-52
    a, b, c, d = (-1 - u, -1 - 2 * u), (1 + 2 * u, 1 + 3 * u), (-1.0, 1.0), (1.0, -1.0)  # a x b = -u^2
    x, y = (nearest_double(value) for value in crossing(a, b, c, d))
    mesh = dmr.triangulate(Pslg([a, b, c, d], [[0, 1], [2, 3]]), convex_hull=True)
    assert mesh.vertices[4:].tolist() == [[x, y]]
    assert 0 < abs(x) < 2.0**-100


@pytest.mark.parametrize("exponent", [8, 20, 30, 40, 44])
def test_segments_crossing_at_tiny_angles(exponent):
    """Down to 1e-13 radians."""
    gap = 2.0**-exponent
    domain = Pslg([[0, 0], [1, 0.75 + gap], [0, gap / 3], [1, 0.75], [0, -1]], [[0, 1], [2, 3]])
    assert len(assert_rounded_once(domain)) == 1
    resolved(domain)


def test_crossings_stay_in_the_range_of_exact_predicates():
    """1e-45 would lie below 2^-142: it is zero."""
    tiny = 1e-40
    domain = Pslg([[-1, -1], [1, 1], [-1, 1 + tiny], [1, -1 + tiny], [tiny, 3], [3, tiny * 1e-2]], [[0, 1], [2, 3]])
    mesh, _ = resolved(domain)
    assert mesh.vertices[6:].tolist() == [[0, 0]]


# ---- Segments that meet nearly in one point, or nearly run along each other ----------------------------------------


def bundle(count, seed, center=(0.1, 0.7)):
    """Segments through one point, up to the rounding of their ends."""
    random = np.random.default_rng([seed, count])
    angle = random.uniform(0, np.pi, count)
    way = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ends = [way * random.uniform(0.5, 2, (count, 1)), -way * random.uniform(0.5, 2, (count, 1))]
    k = np.arange(count)
    return Pslg(np.concatenate(ends) + center, np.stack([k, k + count], axis=1), segment_markers=k % 4)


@pytest.mark.parametrize("count", [3, 5, 10, 30])
@pytest.mark.parametrize("seed", range(3))
def test_a_bundle_of_segments_meets_in_a_few_vertices(count, seed):
    mesh, _ = resolved(bundle(count, seed))
    assert len(mesh.vertices) - 2 * count < 3 * count


@pytest.mark.slow
@pytest.mark.parametrize("seed", [10, 16, 23, 31, 32, 35, 44, 53, 54, 78])
def test_bundles_that_could_not_be_rounded(seed):
    """Former bug: crossings that could not be rounded; seed 44 cut a segment."""
    resolved(bundle(30, seed))


@pytest.mark.slow
def test_a_thousand_spokes_across_the_centre():
    k = np.arange(1000)
    way = np.stack([np.cos(np.pi * k / 1000), np.sin(np.pi * k / 1000)], axis=1)
    domain = Pslg(np.concatenate([way, -way]) + 0.3, np.stack([k, k + 1000], axis=1))
    mesh = dmr.triangulate(domain, convex_hull=True)
    assert dmr.validate(mesh).ok


def test_a_rounded_segment_moves_vertices_that_it_would_cross():
    """Former bug: vertex 3, half an ulp inside the triangle of segments 0, 1 and 2, was outside."""
    vertices = [
        [-0.33259964991709656, -1.7639727024807517],
        [0.22979098543252863, -2.12196881658744],
        [1.0479804742673742, -1.457380920616347],
        [0.6899843601606854, -2.0197715559659724],
        [0.5109863031073412, -2.300966873640785],
        [0.9711796778354982, -2.1987696130193166],
    ]
    mesh, _ = resolved(Pslg(vertices, [[1, 2], [2, 4], [5, 0]]), convex_hull=False)
    assert 3 in mesh.triangles


def parallels(seed):
    """Segments on one line, up to a few units in the last place."""
    random = np.random.default_rng(seed)
    count = int(random.integers(2, 8))
    along = np.concatenate([np.zeros(count), np.ones(count)])
    along[random.random(2 * count) < 0.4] = random.random()
    vertices = along[:, None] * [0.75, 0.3] + random.integers(-2, 3, (2 * count, 2)) * 2.0**-53
    k = np.arange(count)
    segments, markers = np.stack([k, k + count], axis=1), random.integers(0, 4, count)
    return Pslg([*vertices, [0, 1], [1, -1]], segments, segment_markers=markers)


@pytest.mark.parametrize("seed", [*range(20), 45, 1140])
def test_nearly_equal_segments_can_be_rounded(seed):
    """Former bug for 45 and 1140: crossings that could not be rounded."""
    domain = parallels(seed)
    mesh = dmr.triangulate(domain, convex_hull=True)
    assert dmr.validate(mesh).ok
    assert_near(mesh, domain)


@pytest.mark.parametrize("seed", [159, 714, 1026])
def test_vertex_markers_fit_one_of_the_segments_that_rounding_has_merged(seed):
    """Former bug of the checker: it knew one path of each segment, and refused markers that fit another one."""
    domain = parallels(seed)
    mesh = dmr.triangulate(domain, convex_hull=True)
    assert dmr.validate(mesh, input=domain, convex_hull=True).ok
    changed = np.flatnonzero(mesh.vertex_markers)
    for vertex in changed[np.isin(changed, mesh.segments)]:
        wrong = mesh.vertex_markers.copy()
        wrong[vertex] = 9
        report = dmr.validate(replace(mesh, vertex_markers=wrong), input=domain, convex_hull=True)
        assert report.counts == {"vertex markers": 1}


def assert_near(mesh, domain):
    """Every piece's ends are within 3/2 ulp of some segment, exactly: |cross(d, p - a)| <= 3/2 ulp (|d.x| + |d.y|)."""
    for vertex in np.unique(mesh.segments):
        px, py = map(Fraction, mesh.vertices[vertex].tolist())
        for start, end in domain.vertices[domain.segments]:
            (ax, ay), (bx, by) = (map(Fraction, place.tolist()) for place in (start, end))
            ulp = Fraction(np.spacing(np.abs([start, end]).max()))
            off = abs((bx - ax) * (py - ay) - (by - ay) * (px - ax))
            if off <= Fraction(3, 2) * ulp * (abs(bx - ax) + abs(by - ay)):
                break
        else:
            raise AssertionError(f"vertex {vertex} is on no segment")


@pytest.mark.parametrize("seed", range(10))
def test_chains_stay_near_their_segments_in_a_rotated_lattice(seed):
    """Lines that cross in threes and fours, and overlap, but for the rounding of their ends."""
    random = np.random.default_rng(seed)
    angle = random.uniform(0, 7)
    lattice = np.array([[x, y] for x in range(5) for y in range(5)]) / 3
    vertices = lattice @ [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    domain = Pslg(vertices, random.integers(0, 25, (20, 2)))
    mesh, _ = resolved(domain)
    assert_near(mesh, domain)


# ---- Small integers: every kind of degeneracy ----------------------------------------------------------------------

point = st.tuples(st.integers(0, 4), st.integers(0, 4))


@st.composite
def graphs(draw):
    vertices = draw(st.lists(point, min_size=4, max_size=10))
    index = st.integers(0, len(vertices) - 1)
    return vertices, draw(st.lists(st.tuples(index, index), max_size=12))


def collinear(points):
    (ax, ay), *rest = points
    ways = [(x - ax, y - ay) for x, y in rest if (x, y) != (ax, ay)]
    return all(ways[0][0] * y == ways[0][1] * x for x, y in ways)


@pytest.mark.slow
@given(graphs(), st.sampled_from([1, 0.1, 1 / 3]), st.sampled_from([0, 1e6]))
@settings(max_examples=125)
def test_random_outlines_on_a_small_grid_are_resolved(graph, scale, offset):
    vertices, segments = graph
    if collinear(vertices):
        return
    domain = Pslg(offset + scale * np.array(vertices, float), segments, segment_markers=np.arange(len(segments)) % 3)
    if scale == 1:
        mesh, notes = resolved(domain)
        crossed = any("crossing" in note for note in notes)
        ends = domain.vertices[domain.segments]
        inner = {
            tuple(crossing(*ends[i], *ends[j])) for i, j in crossing_pairs(domain)
        } - {tuple(map(Fraction, place)) for place in domain.vertices.tolist()}  # fmt: skip
        assert crossed == bool(inner)
        assert len(mesh.vertices) - len(domain.vertices) == len(inner)
    else:
        mesh = dmr.triangulate(domain, convex_hull=True)
        assert dmr.validate(mesh).ok
        assert_near(mesh, domain)


def test_the_oracle_finds_a_crossing():
    assert cross_properly([0, 0], [2, 2], [0, 2], [2, 0])
    assert not cross_properly([0, 0], [2, 2], [1, 1], [2, 0])
    assert crossing([0, 0], [3, 3], [0, 1], [1, 0]) == (Fraction(1, 2), Fraction(1, 2))
