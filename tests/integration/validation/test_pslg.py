"""A mesh against the outline that it was made from: valid meshes pass, mutants fail by their check."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dmr
from dmr.mesh.types import Mesh, Pslg
from dmr.validation.checker import validate
from tests.support.meshes import triangulated
from tests.support.outlines.meshed import (
    DIVIDER,
    DOMAIN,
    INSIDE,
    MARKERS,
    SEGMENTS,
    VERTICES,
    chain_vertices,
    changed,
    indices,
    meshed,
    pieces_of,
    without,
)
from tests.support.planar import exact

CHECKS = {"input vertices", "input segments", "domain", "stray segments", "markers"}


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
