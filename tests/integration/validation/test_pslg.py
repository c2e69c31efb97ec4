"""A mesh against the outline that it was made from: valid meshes pass, mutants fail by their check."""

from __future__ import annotations

from fractions import Fraction
from time import process_time

import numpy as np
import pytest

import dmr
from dmr.errors import OptionError
from dmr.mesh.types import Mesh, Pslg
from dmr.validation.checker import validate
from tests.support.meshes import triangulated
from tests.support.planar import crossing, exact

CHECKS = {"input vertices", "input segments", "domain", "stray segments", "markers"}

# A square that segment 9 divides; a triangular hole on its left; a segment inside that touches nothing on its right.
VERTICES = [
    [0, 0], [10, 0], [10, 10], [0, 10], [2.1, 2], [4.3, 2.3],
    [3, 4.7], [5.1, 0], [6.2, 10], [7, 3.3], [8.1, 6.7], [9, 9.2],
]  # fmt: skip
SEGMENTS = [[0, 7], [7, 1], [1, 2], [2, 8], [8, 3], [3, 0], [4, 5], [5, 6], [6, 4], [7, 8], [9, 10]]
MARKERS = [1, 2, 3, 4, 5, 6, 0, 0, 0, 10, 11]
DIVIDER, INSIDE = 9, 10
DOMAIN = Pslg(
    VERTICES, SEGMENTS, holes=[[3, 3]], regions=[[1, 1, 7, 0.9], [9, 1, 9, -1]], segment_markers=MARKERS
)  # fmt: skip


def between(p, q, t):
    """The point of parameter t on the way from p to q, rounded once."""
    return [float(a + Fraction(t) * (b - a)) for a, b in zip(exact(p), exact(q), strict=True)]


def meshed(pslg, pieces=4, options="pA", segments=None, crossings=(), markers=None):
    """A mesh of a graph by Triangle: its segments cut in pieces beforehand, at points that are rounded once.

    Args:
        segments, markers: what to mesh instead of the graph's own segments: ones without conflicts.
        crossings: points where segments cross, which come after the graph's vertices.
    """
    segments = pslg.segments.tolist() if segments is None else segments
    markers = pslg.segment_markers.tolist() if markers is None else markers
    vertices = [*pslg.vertices.tolist(), *map(list, crossings)]
    chains, labels = [], []
    for (a, b), marker in zip(segments, markers, strict=True):
        last = a
        for k in range(1, pieces):
            vertices.append(between(vertices[a], vertices[b], k / pieces + 0.013 * (a % 3)))
            chains.append((last, len(vertices) - 1))
            last = len(vertices) - 1
        chains.append((last, b))
        labels += [marker] * pieces
    # Unused vertices outside the domain are not given to Triangle.
    data = {"vertices": np.array(vertices), "segments": np.array(chains), "segment_markers": np.array(labels)[:, None]}
    if len(pslg.holes):
        data["holes"] = pslg.holes.copy()
    if len(pslg.regions):
        data["regions"] = pslg.regions.copy()
    if pslg.vertex_markers is not None:
        more = len(vertices) - len(pslg.vertices)
        data["vertex_markers"] = np.concatenate([pslg.vertex_markers, np.zeros(more, np.int32)])[:, None]
    return triangulated(data.pop("vertices"), options, **data)


def changed(mesh, **changes):
    """A copy with other arrays."""
    names = ("vertices", "triangles", "segments", "segment_markers", "vertex_markers", "triangle_attributes")
    return Mesh(**{name: changes.get(name, getattr(mesh, name)) for name in names})


def without(mesh, triangles):
    """A copy without some triangles."""
    keep = np.ones(len(mesh.triangles), bool)
    keep[triangles] = False
    return changed(mesh, triangles=mesh.triangles[keep], triangle_attributes=mesh.triangle_attributes[keep])


def indices(report, check):
    """The (element, index) pairs at which a check failed."""
    return {(f.element, f.index) for f in report.failures if f.check == check}


def pieces_of(mesh, pslg, segment):
    """The numbers of the pieces of a segment, and their vertices, by their distance."""
    a, b = (np.array(pslg.vertices[i]) for i in pslg.segments[segment])
    d = (b - a) / np.linalg.norm(b - a)
    ends = mesh.vertices[mesh.segments] - a
    away = np.abs(ends[..., 0] * d[1] - ends[..., 1] * d[0]).max(axis=1)
    along = ends @ d
    chosen = (away < 1e-9) & (along > -1e-9).all(axis=1) & (along < np.linalg.norm(b - a) + 1e-9).all(axis=1)
    return np.flatnonzero(chosen)


def chain_vertices(mesh, pslg, segment):
    """The vertices that were added on a segment."""
    return sorted({v for i in pieces_of(mesh, pslg, segment) for v in mesh.segments[i].tolist()} - set(range(12)))


@pytest.fixture(scope="module")
def mesh():
    return meshed(DOMAIN)


def test_valid_meshes_pass(mesh):
    report = validate(mesh, input=DOMAIN)
    assert report.ok, report.lines()
    assert set(report.checked) >= CHECKS | {"regions", "vertex markers"}
    finer = meshed(DOMAIN, pieces=1, options="pA")
    assert validate(finer, input=DOMAIN).ok
    for options in ("pAqYY", "pAaqYYa0.3"):
        assert validate(meshed(DOMAIN, pieces=9, options=options), input=DOMAIN).ok


@pytest.mark.parametrize(("offset", "unit"), [(0.0, 1e-7), (0.0, 1e30), (1e6, 1.0), (-3e9, 1.0)])
def test_valid_meshes_pass_at_any_position(offset, unit):
    moved = Pslg(DOMAIN.vertices * unit + offset, SEGMENTS, holes=DOMAIN.holes * unit + offset, segment_markers=MARKERS)
    report = validate(meshed(moved), input=moved)
    assert report.ok, report.lines()


# ---- Mutants: one change each ----------------------------------------------------------------------------------------


def test_a_dropped_triangle_leaves_a_stray_boundary(mesh):
    constrained = {frozenset(s) for s in mesh.segments.tolist()}
    inner = next(
        t
        for t, corners in enumerate(mesh.triangles.tolist())
        if not any(frozenset((corners[k], corners[k - 1])) in constrained for k in range(3))
    )
    report = validate(without(mesh, [inner]), input=DOMAIN)
    assert report.counts == {"stray segments": 3}
    corners = set(mesh.triangles[inner].tolist())
    kept = np.delete(mesh.triangles, inner, axis=0)
    for element, index in indices(report, "stray segments"):
        assert element == "triangle"
        assert len(corners & set(kept[index].tolist())) == 2


def test_a_dropped_triangle_at_the_boundary_breaks_a_segment(mesh):
    piece = pieces_of(mesh, DOMAIN, 2)[0]
    ends = set(mesh.segments[piece].tolist())
    t = next(t for t, corners in enumerate(mesh.triangles.tolist()) if ends <= set(corners))
    report = validate(without(mesh, [t]), input=DOMAIN)
    assert ("input segment", 2) in indices(report, "input segments")
    assert "stray segments" in report.counts


def test_a_filled_hole_fails_domain(mesh):
    boundary = sorted({v for s in (6, 7, 8) for i in pieces_of(mesh, DOMAIN, s) for v in mesh.segments[i].tolist()})
    table = np.array(boundary)
    around = mesh.segments[[i for s in (6, 7, 8) for i in pieces_of(mesh, DOMAIN, s)]]
    cap = triangulated(mesh.vertices[boundary], "p", segments=np.searchsorted(table, around))
    triangles = np.vstack([mesh.triangles, table[cap.triangles]])
    attributes = np.vstack([mesh.triangle_attributes, np.full((len(cap.triangles), 1), 0.0)])
    filled = changed(mesh, triangles=triangles, triangle_attributes=attributes)
    assert validate(filled).ok
    report = validate(filled, input=DOMAIN)
    assert set(report.counts) == {"domain", "markers", "vertex markers"}  # inside, 1 does not stand for 0 any more
    assert indices(report, "domain") == {("input segment", s) for s in (6, 7, 8)}
    assert all("in the hole of point 0 at (3.0, 3.0)" in f.message for f in report.failures if f.check == "domain")


def test_an_additional_hole_fails_domain(mesh):
    right = np.flatnonzero(mesh.triangle_attributes[:, 0] == 9)
    report = validate(without(mesh, right), input=DOMAIN)
    assert indices(report, "domain") == {("input segment", DIVIDER)}
    assert indices(report, "input segments") == {("input segment", s) for s in (1, 2, 3, INSIDE)}
    more = Pslg(VERTICES, SEGMENTS, holes=[[3, 3], [9, 1]], segment_markers=MARKERS)
    assert validate(without(mesh, right), input=more).counts.keys() <= {"segments", "markers", "vertex markers"}
    report = validate(mesh, input=more)
    assert indices(report, "domain") == {("input segment", DIVIDER)}
    assert "in the hole of point 1" in next(f.message for f in report.failures if f.check == "domain")
    assert "stray segments" in report.counts


def test_a_lost_hole_point_fails_domain(mesh):
    solid = Pslg(VERTICES, SEGMENTS, regions=DOMAIN.regions, segment_markers=MARKERS)
    report = validate(mesh, input=solid)
    assert indices(report, "domain") == {("input segment", s) for s in (6, 7, 8)}


@pytest.mark.parametrize("segment", [0, 5, 6, 8, DIVIDER, INSIDE])
def test_a_split_vertex_may_be_off_by_one_ulp_only(mesh, segment):
    """Rational arithmetic says which of several positions are too far off; the check agrees, and names the vertex."""
    a, b = (exact(DOMAIN.vertices[i]) for i in DOMAIN.segments[segment])
    dx, dy = b[0] - a[0], b[1] - a[1]
    ulp = float(np.spacing(np.abs(DOMAIN.vertices[DOMAIN.segments[segment]]).max()))
    vertex = chain_vertices(mesh, DOMAIN, segment)[1]
    axis = 1 if abs(dx) >= abs(dy) else 0
    outcomes = set()
    for steps in range(-5, 6):
        vertices = mesh.vertices.copy()
        vertices[vertex, axis] += steps * ulp / 2
        x, y = exact(vertices[vertex])
        far = abs(dx * (y - a[1]) - dy * (x - a[0])) > Fraction(ulp) * (abs(dx) + abs(dy))
        report = validate(changed(mesh, vertices=vertices), input=DOMAIN)
        assert indices(report, "input segments") == ({("input segment", segment)} if far else set())
        if far:
            message = next(f.message for f in report.failures if f.check == "input segments")
            assert f"vertex {vertex} at" in message
            assert "more than an ulp" in message
        outcomes.add(far)
    assert outcomes == {True, False}


def test_chain_vertices_out_of_order_fail(mesh):
    first, second = chain_vertices(mesh, DOMAIN, 5)[:2]
    vertices = mesh.vertices.copy()
    vertices[[first, second]] = vertices[[second, first]]
    report = validate(changed(mesh, vertices=vertices), input=DOMAIN)
    assert "out of order" in " ".join(f.message for f in report.failures if f.check == "input segments")


@pytest.mark.parametrize("segment", [DIVIDER, INSIDE])
def test_a_lost_piece_of_a_segment_fails(mesh, segment):
    pieces = pieces_of(mesh, DOMAIN, segment)
    for lost in (pieces, pieces[1:2], pieces[-1:]):
        rest = changed(
            mesh,
            segments=np.delete(mesh.segments, lost, axis=0),
            segment_markers=np.delete(mesh.segment_markers, lost),
        )
        report = validate(rest, input=DOMAIN)
        assert indices(report, "input segments") == {("input segment", segment)}
        if segment == DIVIDER:
            assert "regions" in report.counts


def test_an_additional_segment_is_stray(mesh):
    constrained = {frozenset(s) for s in mesh.segments.tolist()}
    free = next(
        (corners[k], corners[k - 1])
        for corners in mesh.triangles.tolist()
        for k in range(3)
        if frozenset((corners[k], corners[k - 1])) not in constrained
    )
    more = changed(mesh, segments=[*mesh.segments.tolist(), free], segment_markers=np.append(mesh.segment_markers, 0))
    report = validate(more, input=DOMAIN)
    assert "stray segments" in report.counts
    assert all(set(free) <= set(mesh.triangles[i].tolist()) for _, i in indices(report, "stray segments"))


def test_a_flipped_constraint_fails(mesh):
    piece = pieces_of(mesh, DOMAIN, DIVIDER)[1]
    u, v = mesh.segments[piece].tolist()
    beside = [t for t, corners in enumerate(mesh.triangles.tolist()) if {u, v} <= set(corners)]
    tips = [next(c for c in mesh.triangles[t].tolist() if c not in (u, v)) for t in beside]
    triangles = mesh.triangles.copy()
    k = triangles[beside[0]].tolist().index(tips[0])
    u, v = triangles[beside[0]][(k + 1) % 3], triangles[beside[0]][(k + 2) % 3]
    triangles[beside] = [(tips[0], u, tips[1]), (tips[0], tips[1], v)]
    report = validate(changed(mesh, triangles=triangles), input=DOMAIN)
    assert indices(report, "segments") == {("segment", piece)}
    assert ("input segment", DIVIDER) in indices(report, "input segments")


@pytest.mark.parametrize("segment", [0, 3, 6, DIVIDER, INSIDE])
def test_a_changed_marker_fails(mesh, segment):
    piece = pieces_of(mesh, DOMAIN, segment)[2]
    markers = mesh.segment_markers.copy()
    markers[piece] = 77
    report = validate(changed(mesh, segment_markers=markers), input=DOMAIN)
    assert indices(report, "markers") == {("segment", piece)}
    expected = {0: "1", 3: "4", 6: "0 or 1", DIVIDER: "10", INSIDE: "11"}[segment]
    assert f"has the marker 77, and must have {expected}" in report.failures[0].message


def test_markers_0_and_1_are_valid_on_an_unmarked_boundary(mesh):
    pieces = pieces_of(mesh, DOMAIN, 6)
    for value in (0, 1):
        markers = mesh.segment_markers.copy()
        markers[pieces] = value
        assert "markers" not in validate(changed(mesh, segment_markers=markers), input=DOMAIN).counts


def test_unlisted_pieces_have_no_marker(mesh):
    pieces = [i for s in (2, 6) for i in pieces_of(mesh, DOMAIN, s)]
    rest = changed(
        mesh,
        segments=np.delete(mesh.segments, pieces, axis=0),
        segment_markers=np.delete(mesh.segment_markers, pieces),
        vertex_markers=None,
    )
    report = validate(rest, input=DOMAIN)  # on the boundary an edge is constrained anyway
    assert report.counts == {"markers": 4}
    assert all("must have the marker 3" in f.message for f in report.failures)


def test_a_changed_vertex_marker_fails(mesh):
    free = next(v for v in range(len(mesh.vertices)) if v not in mesh.segments)
    for vertex in (0, chain_vertices(mesh, DOMAIN, 2)[0], chain_vertices(mesh, DOMAIN, INSIDE)[0], free):
        markers = mesh.vertex_markers.copy()
        markers[vertex] = 99
        used = vertex in mesh.triangles
        report = validate(changed(mesh, vertex_markers=markers), input=DOMAIN)
        assert indices(report, "vertex markers") == ({("vertex", vertex)} if used else set())


def test_changed_input_vertex_markers_fail():
    marked = Pslg(VERTICES, SEGMENTS, holes=[[3, 3]], segment_markers=MARKERS, vertex_markers=np.arange(12) + 40)
    mesh = meshed(marked)
    assert validate(mesh, input=marked).ok
    markers = mesh.vertex_markers.copy()
    markers[9] = 11  # that of the segment through it
    assert indices(validate(changed(mesh, vertex_markers=markers), input=marked), "vertex markers") == {("vertex", 9)}


def test_a_changed_region_fails(mesh):
    attributes = mesh.triangle_attributes.copy()
    attributes[17] = 8
    report = validate(changed(mesh, triangle_attributes=attributes), input=DOMAIN)
    assert set(report.counts) == {"regions"}
    assert 17 in {i for _, i in indices(report, "regions")} or "triangle 17" in report.failures[0].message
    attributes = np.where(mesh.triangle_attributes == 9, 5.0, mesh.triangle_attributes)
    report = validate(changed(mesh, triangle_attributes=attributes), input=DOMAIN)
    assert set(report.counts) == {"regions"}
    assert all(mesh.triangle_attributes[i, 0] == 9 for _, i in indices(report, "regions"))
    assert "in the region of point 1 at (9.0, 1.0), which has 9.0" in report.failures[0].message


def test_a_region_may_have_nan():
    regions = np.array([[1, 1, np.nan, -1], [9, 1, 9, -1]])
    domain = Pslg(VERTICES, SEGMENTS, holes=[[3, 3]], regions=regions)
    mesh = dmr.triangulate(domain)
    assert np.isnan(mesh.triangle_attributes).any() and validate(mesh, input=domain).ok
    regions[1, 2] = np.nan
    assert set(validate(mesh, input=Pslg(VERTICES, SEGMENTS, holes=[[3, 3]], regions=regions)).counts) == {"regions"}
    regions[:, 2] = 9
    assert set(validate(mesh, input=Pslg(VERTICES, SEGMENTS, holes=[[3, 3]], regions=regions)).counts) == {"regions"}


def test_faces_without_a_region_point_have_zero(mesh):
    fewer = Pslg(VERTICES, SEGMENTS, holes=[[3, 3]], regions=[[1, 1, 7, -1]], segment_markers=MARKERS)
    report = validate(mesh, input=fewer)
    assert set(report.counts) == {"regions"}
    assert "so it must have 0" in report.failures[0].message
    attributes = np.where(mesh.triangle_attributes == 9, 0.0, mesh.triangle_attributes)
    assert validate(changed(mesh, triangle_attributes=attributes), input=fewer).ok
    report = validate(changed(mesh, triangle_attributes=None), input=fewer)
    assert indices(report, "regions") == {("mesh", None)}


def test_region_areas_hold_exactly(mesh):
    areas = np.array([area(mesh, t) for t in range(len(mesh.triangles))])
    right = mesh.triangle_attributes[:, 0] == 9
    largest = max(areas[right])
    t = int(np.flatnonzero((areas == largest) & right)[0])
    assert max(areas[~right]) > largest
    above = float(largest) if float(largest) >= largest else float(np.nextafter(float(largest), np.inf))
    for limit, wrong in ((above, set()), (np.nextafter(above, 0), {("triangle", t)})):
        bounded = Pslg(
            VERTICES, SEGMENTS, holes=[[3, 3]], regions=[[1, 1, 7, 0], [9, 1, 9, limit]], segment_markers=MARKERS
        )
        report = validate(mesh, input=bounded, min_angle=0)
        assert indices(report, "region areas") == wrong
        assert set(report.counts) == ({"region areas"} if wrong else set())
        assert "area bounds" in validate(mesh, input=bounded).skipped


def area(mesh, t):
    a, b, c = (exact(mesh.vertices[v]) for v in mesh.triangles[t])
    return ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2


def renumbered(mesh, vertices, number):
    """The mesh with other vertices; `number` maps the number of a vertex to its new one."""
    return Mesh(
        vertices,
        number[mesh.triangles],
        segments=number[mesh.segments],
        segment_markers=mesh.segment_markers,
        triangle_attributes=mesh.triangle_attributes,
    )


def test_swapped_input_vertices_fail(mesh):
    order = np.arange(len(mesh.vertices))
    order[[4, 9]] = [9, 4]
    swapped = renumbered(mesh, mesh.vertices[order], order)
    assert validate(swapped).ok
    report = validate(swapped, input=DOMAIN)
    assert indices(report, "input vertices") >= {("vertex", 4), ("vertex", 9)}


def test_fewer_vertices_than_the_outline_fail():
    report = validate(Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]]), input=DOMAIN)
    assert set(report.counts) == {"input vertices"}
    assert {"domain", "markers"} <= set(report.skipped)


def test_an_unused_vertex_inside_fails(mesh):
    more = Pslg([*VERTICES, [8.5, 2]], SEGMENTS, holes=[[3, 3]], regions=DOMAIN.regions, segment_markers=MARKERS)
    assert validate(meshed(more), input=more).ok
    shifted = np.insert(mesh.vertices, 12, [8.5, 2], axis=0)
    number = np.arange(len(mesh.vertices)) + (np.arange(len(mesh.vertices)) >= 12)
    ignoring = renumbered(mesh, shifted, number)
    assert validate(ignoring).ok
    report = validate(ignoring, input=more)
    assert indices(report, "input vertices") == {("vertex", 12)}
    assert "corner of no triangle" in report.failures[0].message


TWO_PARTS = Pslg(
    [[0, 0], [1, 0], [1, 1], [0, 1], [3, 0], [4, 0], [3.5, 1]],
    [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 4]],
)


def test_a_missing_part_fails():
    mesh = meshed(TWO_PARTS, options="p")
    assert validate(mesh, input=TWO_PARTS).ok
    rest = Mesh(mesh.vertices, mesh.triangles[(mesh.vertices[mesh.triangles][..., 0] < 2).all(axis=1)])
    report = validate(rest, input=TWO_PARTS)
    assert set(report.counts) == {"input segments"}
    assert indices(report, "input segments") == {("input segment", s) for s in (4, 5, 6)}


def test_an_additional_part_is_stray():
    mesh = meshed(TWO_PARTS, options="p")
    count = len(mesh.vertices)
    more = Mesh(
        [*mesh.vertices.tolist(), [6, 0], [7, 0], [6, 1]], [*mesh.triangles.tolist(), [count, count + 1, count + 2]]
    )
    report = validate(more, input=TWO_PARTS)
    assert report.counts == {"stray segments": 3}
    assert indices(report, "stray segments") == {("triangle", len(mesh.triangles))}


# ---- Graphs with conflicts -------------------------------------------------------------------------------------------


def test_segments_outside_and_in_holes_may_be_absent():
    """A whisker outside, a segment from inside to outside, an island in a hole that is a hole itself."""
    graph = Pslg(
        [*VERTICES, [12, 1], [13, 2], [2.9, 2.9], [3.3, 2.9], [3.1, 3.2]],
        [*SEGMENTS, [12, 13], [2, 13], [14, 15], [15, 16], [16, 14]],
        holes=[[3, 2.5], [3.1, 3]],
        regions=DOMAIN.regions,
        segment_markers=[*MARKERS, 20, 21, 22, 22, 22],
    )
    plain = meshed(graph, segments=SEGMENTS, markers=MARKERS)
    assert validate(plain, input=graph).ok
    # Without its hole point the island is part of the domain.
    report = validate(plain, input=Pslg(graph.vertices, graph.segments, holes=graph.holes[:1]))
    assert indices(report, "input segments") == {("input segment", s) for s in (13, 14, 15)}
    # Wanted, as the domain lies on both sides, though it encloses nothing.
    inside = Pslg([*VERTICES, [1, 6], [2, 7]], [*SEGMENTS, [12, 13]], holes=[[3, 3]], segment_markers=[*MARKERS, 1])
    report = validate(meshed(inside, segments=SEGMENTS, markers=MARKERS), input=inside)
    assert indices(report, "input segments") == {("input segment", 11)}
    assert validate(meshed(inside), input=inside).ok


def test_duplicates_stand_for_one_another():
    graph = Pslg([*VERTICES, VERTICES[7], VERTICES[9], [20, 20], [20, 20]], SEGMENTS, holes=[[3, 3]])
    for pairs in ({}, {7: 12}, {9: 13}, {7: 12, 9: 13}):
        segments = [[pairs.get(a, a), pairs.get(b, b)] for a, b in SEGMENTS]
        mixed = Pslg(graph.vertices, [[0, 12], *SEGMENTS[1:9], [7, 8], [13, 10]], holes=graph.holes)
        mesh = meshed(Pslg(VERTICES, SEGMENTS, holes=[[3, 3]]))
        table = np.arange(len(mesh.vertices)) + 4 * (np.arange(len(mesh.vertices)) >= 12)
        for old, new in pairs.items():
            table[old] = new
        vertices = np.concatenate([graph.vertices, mesh.vertices[12:]])
        renumbered = Mesh(vertices, table[mesh.triangles], segments=table[mesh.segments])
        for other in (graph, mixed, Pslg(graph.vertices, segments, holes=graph.holes)):
            report = validate(renumbered, input=other)
            assert set(report.counts) <= {"vertex markers"}, report.lines()


CROSSED = Pslg(
    [[0, 0], [3, 0.1], [3.3, 3], [0.2, 2.9], [0.7, 0.3], [2.9, 2.7], [0.4, 2.3], [2.2, 0.7]],
    [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [6, 7]],
    segment_markers=[1, 1, 1, 1, 5, 6],
)


def test_crossings_are_rounded_points_of_both_segments():
    place = [float(x) for x in crossing(*CROSSED.vertices[[4, 5, 6, 7]])]
    cut = [*CROSSED.segments[:4].tolist(), [4, 8], [8, 5], [6, 8], [8, 7]]
    markers = [1, 1, 1, 1, 5, 5, 6, 6]
    mesh = meshed(CROSSED, options="p", segments=cut, crossings=[place], markers=markers)
    assert validate(mesh, input=CROSSED).ok
    wrong = meshed(CROSSED, options="p", segments=cut, crossings=[place], markers=[*markers[:-1], 5])
    report = validate(wrong, input=CROSSED)
    assert report.counts["markers"] == 4
    assert "must have 6" in report.failures[0].message
    moved = mesh.vertices.copy()
    moved[8] += [0, 4 * np.spacing(3.0)]
    report = validate(changed(mesh, vertices=moved), input=CROSSED)
    assert indices(report, "input segments") == {("input segment", 5)}
    assert "more than two ulps" in report.failures[0].message
    moved[8] = place[0] + 0.01, place[1]
    report = validate(changed(mesh, vertices=moved), input=CROSSED)
    assert indices(report, "input segments") == {("input segment", 4), ("input segment", 5)}
    assert "has no vertex of the result at the crossing at" in report.failures[0].message


def test_pieces_of_crossed_segments_keep_within_two_ulps():
    (x, y), ulp = crossing(*CROSSED.vertices[[4, 5, 6, 7]]), float(np.spacing(2.9))
    place = [float(x), float(y)]
    cut = [*CROSSED.segments[:4].tolist(), [4, 8], [8, 5], [6, 8], [8, 7]]
    mesh = meshed(CROSSED, options="p", segments=cut, crossings=[place], markers=[1, 1, 1, 1, 5, 5, 6, 6])
    a, b = map(exact, CROSSED.vertices[[4, 5]])
    dx, dy = b[0] - a[0], b[1] - a[1]
    vertex = next(
        v
        for v in range(9, len(mesh.vertices))
        if abs(float(dx * (exact(mesh.vertices[v])[1] - a[1]) - dy * (exact(mesh.vertices[v])[0] - a[0]))) < 1e-12
    )
    outcomes = set()
    for steps in range(-16, 17):
        vertices = mesh.vertices.copy()
        vertices[vertex, 1] += steps * ulp / 2
        v = exact(vertices[vertex])
        far = abs(dx * (v[1] - a[1]) - dy * (v[0] - a[0])) / (Fraction(ulp) * (abs(dx) + abs(dy)))
        report = validate(changed(mesh, vertices=vertices), input=CROSSED)
        assert indices(report, "input segments") == ({("input segment", 4)} if far > 2 else set())
        outcomes.add(min(2, int(far)))
    assert outcomes == {0, 1, 2}


def test_overlapping_segments_share_their_edges():
    """Three segments along one line, with vertices of others on them; pieces may have the marker of any of them."""
    vertices = [[0, 0], [8, 0], [8, 4], [0, 4], [1, 1], [3, 2], [5, 3], [7, 4], [3, 0], [1, 4]]
    graph = Pslg(
        vertices,
        [[0, 8], [8, 1], [1, 2], [2, 7], [7, 9], [9, 3], [3, 0], [4, 6], [5, 7], [5, 4], [5, 8], [9, 5]],
        segment_markers=[1, 1, 1, 1, 1, 1, 1, 7, 8, 9, 2, 3],
    )
    cut = [*graph.segments[:7].tolist(), [4, 5], [5, 6], [6, 7], [5, 8], [9, 5]]
    for first in (7, 9):
        for second in (7, 8):
            mesh = meshed(graph, options="p", segments=cut, markers=[*[1] * 7, first, second, 8, 2, 3])
            report = validate(mesh, input=graph)
            # A vertex has the marker of the first one that has a marker.
            assert report.counts.keys() == ({"vertex markers"} if first == 9 or second == 8 else set())
    report = validate(meshed(graph, options="p", segments=cut, markers=[*[1] * 7, 8, 7, 8, 2, 3]), input=graph)
    assert report.counts["markers"] == 4
    assert "must have 7 or 9" in report.failures[0].message
    lost = meshed(graph, options="p", segments=[s for s in cut if s != [6, 7]], markers=[*[1] * 7, 7, 7, 2, 3])
    assert indices(validate(lost, input=graph), "input segments") == {("input segment", 8)}


def test_crossings_merged_by_rounding():
    """Lines that cross within one unit in the last place: one vertex stands for several crossings."""
    # Segments of slopes 1, -1 and about 0, all through (1, 1) but for tiny shifts.
    tiny = 2.0**-54
    graph = Pslg(
        [[-1, -1], [5, -1], [5, 3], [-1, 3], [0, tiny], [2, 2], [0, 2], [2, tiny], [0, 1], [4, 1 + 4 * tiny]],
        [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [6, 7], [8, 9]],
    )
    places = {tuple(float(x) for x in crossing(*graph.vertices[[*graph.segments[i], *graph.segments[j]]]))
              for i, j in ((4, 5), (4, 6), (5, 6))}  # fmt: skip
    assert len(places) == 1
    cut = [*graph.segments[:4].tolist(), *([k, 10] for k in range(4, 10))]
    mesh = meshed(graph, options="p", segments=cut, crossings=list(places), markers=[0] * len(cut), pieces=1)
    report = validate(mesh, input=graph)
    assert report.ok, report.lines()
    broken = changed(mesh, segments=mesh.segments[(mesh.segments != 9).all(axis=1)], segment_markers=None)
    assert indices(validate(broken, input=graph), "input segments") == {("input segment", 6)}


def noisy_cells(seed, side=3):
    """Square cells that were meant to share their edges: rotated, each with separate vertices, off by an ulp or so."""
    rng = np.random.default_rng(seed)
    turn = rng.random() * 6
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    cells = [np.add(corners, [i, j]) / side @ rotation + 3 for i in range(side) for j in range(side)]
    vertices = np.concatenate([cell + rng.integers(-1, 2, cell.shape) * np.spacing(cell) for cell in cells])
    first = 4 * np.arange(side * side)
    segments = np.concatenate([np.stack([first + k, first + (k + 1) % 4], axis=1) for k in range(4)])
    return Pslg(vertices, segments)


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 6, 7])
def test_cells_sharing_edges_up_to_rounding(seed):
    """Nearly all segments run along others within an ulp, and cross them somewhere."""
    graph = noisy_cells(seed)
    mesh = dmr.triangulate(graph)
    report = validate(mesh, input=graph)
    assert report.ok, report.lines()
    # Errors larger than rounding are still found.
    centroids = mesh.vertices[mesh.triangles].mean(axis=1)
    middle = np.abs(centroids - graph.vertices[16:20].mean(axis=0)).max(axis=1) < 0.1
    assert middle.any()
    for wrong in (
        Mesh(mesh.vertices, mesh.triangles[~middle], segments=mesh.segments),
        Mesh(mesh.vertices, mesh.triangles, segments=mesh.segments[np.abs(lengths(mesh) - 1 / 3) > 1e-9]),
    ):
        found = validate(wrong, input=graph)
        assert not found.ok
        assert {f.element for f in found.failures} <= {"input segment", "triangle", "segment"}


def lengths(mesh):
    """The lengths of the segments of a mesh."""
    return np.hypot(*(mesh.vertices[mesh.segments[:, 0]] - mesh.vertices[mesh.segments[:, 1]]).T)


def test_convex_hull_as_domain():
    open_outline = Pslg([[0, 0], [4, 0], [4, 3], [2, 1], [0, 3], [2, 0]], [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]])
    hull = triangulated(open_outline.vertices.copy(), "pc", segments=open_outline.segments.copy())
    outline = meshed(open_outline, pieces=1)
    assert validate(hull, input=open_outline, convex_hull=True).ok
    report = validate(hull, input=open_outline)
    assert set(report.counts) >= {"domain", "stray segments"}
    assert indices(report, "domain") == {("input segment", 2), ("input segment", 3)}
    assert validate(outline, input=open_outline).ok
    report = validate(outline, input=open_outline, convex_hull=True)
    assert ("mesh", None) in indices(report, "input segments")
    assert "edge of the convex hull from 2 at" in " ".join(f.message for f in report.failures)
    points = Pslg(np.random.default_rng(4).random((50, 2)), np.empty((0, 2), np.int32))
    cloud = triangulated(points.vertices.copy())
    assert validate(cloud, input=points, convex_hull=True).ok
    assert validate(cloud, input=points).ok  # without segments, this is intended
    assert "input segments" in validate(without_hull_triangle(cloud), input=points).counts


def without_hull_triangle(mesh):
    """A copy without one of the triangles at the boundary."""
    return Mesh(mesh.vertices, np.delete(mesh.triangles, np.flatnonzero((mesh.neighbours < 0).any(axis=1))[0], axis=0))


def test_invalid_options_are_refused():
    mesh = Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]])
    with pytest.raises(OptionError, match="convex_hull"):
        validate(mesh, input=mesh, convex_hull=True)
    with pytest.raises(OptionError, match="input must be a Mesh, a Pslg, points"):
        validate(mesh, input="domain.poly")


@pytest.mark.slow
def test_a_hundred_thousand_segments_take_seconds():
    count = 50_000
    rng = np.random.default_rng(0)
    angles = (np.arange(count) + 0.5 * rng.random(count)) * (2 * np.pi / count)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    start = np.arange(count)
    outline = np.stack([start, (start + 1) % count], axis=1)
    vertices = np.concatenate([ring * (1 + 1e-4 * rng.random((count, 1))), ring * 0.5])
    graph = Pslg(vertices, np.concatenate([outline, outline + count]), holes=[[0, 0]])
    mesh = meshed(graph, pieces=1, options="p")
    begin = process_time()
    report = validate(mesh, input=graph)
    assert process_time() - begin < 20
    assert report.ok
