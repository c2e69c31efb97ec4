"""`dmr.refine` of planar straight-line graphs: holes, regions, sizes, kept segments and small angles."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dmr
from dmr import domains
from dmr.mesh.shapes import min_angles, triangle_areas
from dmr.refinement.setup import demand
from scripts.lib.outlines import case, outline
from tests.support.paths import ROOT

HARD_MESHES = ROOT.parent / "shared" / "hard_meshes"

SQUARE = [(0, 0), (4, 0), (4, 4), (0, 4)]


def plate() -> dmr.Pslg:
    """A square with a diamond hole, a border across it, markers and attributes, and a region on each side."""
    diamond = [(2, 1), (3, 2), (2, 3), (1.5, 2)]
    outline = domains.polygon([(0, 0), (4, 0), (4, 2), (4, 4), (0, 4), (0, 2)], holes=[diamond])
    border = dmr.Pslg([(0, 2), (1.5, 2), (3, 2), (4, 2)], [[0, 1], [2, 3]])
    joined = domains.merge(outline, border)
    markers = np.arange(1, len(joined.segments) + 1)
    return dmr.Pslg(
        joined.vertices,
        joined.segments,
        holes=joined.holes,
        regions=[(2, 0.5, 1, 0.05), (2, 3.5, 2, 0)],
        segment_markers=markers,
        vertex_attributes=3 * joined.vertices[:, :1] - joined.vertices[:, 1:],
    )


def wedge(degrees: float, unit: float = 1.0) -> dmr.Pslg:
    """A square with a spoke on each of two sides of a corner inside it, at an angle."""
    turn = math.radians(degrees)
    tips = [(1.4, 0), (1.1 * math.cos(turn), 1.1 * math.sin(turn))]
    vertices = unit * np.array([(-2, -2), (2, -2), (2, 2), (-2, 2), (0, 0), *tips])
    return dmr.Pslg(vertices, [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [4, 6]])


def longest_edges(mesh: dmr.Mesh) -> tuple[np.ndarray, np.ndarray]:
    """The longest edge of each triangle, and its centroid."""
    corners = mesh.vertices[mesh.triangles]
    edges = corners - corners[:, [1, 2, 0]]
    return np.sqrt((edges**2).sum(axis=2)).max(axis=1), corners.mean(axis=1)


def ring_in_square(corners: int, area: float) -> dmr.Pslg:
    """A square around a regular polygon with all vertices on the unit circle; its inside is region 1, the rest 2."""
    square, around = 2.0 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]), np.arange(corners)
    segments = [(0, 1), (1, 2), (2, 3), (3, 0), *zip(4 + around, 4 + np.roll(around, -1), strict=True)]
    regions = np.array([(0, 0, 1, area / 2), (1.9, 1.9, 2, area)])
    vertices = np.concatenate([square, dmr.domains.circle_points(1.0, corners)])
    return dmr.Pslg(vertices, np.array(segments, np.int32), regions=regions)


def test_a_new_triangle_has_the_attributes_of_the_one_with_its_edge(device_options):
    """Point by point: in cavities of many triangles, and beside segments, of which the ring's have two sides."""
    mesh = dmr.triangulate(ring_in_square(60, 1.0))
    on_segments = 0
    for _ in range(60):
        labels = np.arange(len(mesh.triangles))[:, None] + 0.5
        before = dataclasses.replace(mesh, triangle_attributes=labels)
        mesh = dmr.refine(before, max_steiner=1, **device_options).mesh
        apex = len(before.vertices)
        assert len(mesh.vertices) == apex + 1
        had = {(int(t[k]), int(t[(k + 1) % 3])): n for n, t in enumerate(before.triangles) for k in range(3)}
        for triangle, found in zip(mesh.triangles.tolist(), mesh.triangle_attributes[:, 0].tolist(), strict=True):
            turned = triangle if apex not in triangle else triangle[triangle.index(apex) + 1 :] + triangle
            assert labels[had[turned[0], turned[1]], 0] == found
        on_segments += len(mesh.segments) > len(before.segments)
    assert 3 <= on_segments < 60


def test_regions_of_a_ring_of_cocircular_corners(device_options):
    """The first cavities hold thousands of triangles."""
    graph = ring_in_square(3000, 0.01)
    mesh = dmr.refine(graph, **device_options).mesh
    inside = (mesh.vertices[mesh.triangles].mean(axis=1) ** 2).sum(axis=1) < 1.0
    assert np.array_equal(mesh.triangle_attributes[:, 0], np.where(inside, 1, 2))
    areas = triangle_areas(mesh)
    assert areas[inside].max() <= 0.005 < areas.max() <= 0.01


def test_holes_regions_markers_and_attributes_are_kept(device_options):
    graph = plate()
    fine = dmr.refine(graph, min_angle=30, max_area=0.2, **device_options)
    mesh = fine.mesh
    report = dmr.validate(mesh, input=graph, min_angle=30, max_area=0.2)
    assert report.ok, report.failures
    assert fine.complete and not fine.unrefined
    assert np.array_equal(mesh.vertices[: len(graph.vertices)], graph.vertices)
    middles = mesh.vertices[mesh.triangles].mean(axis=1)
    assert np.array_equal(mesh.triangle_attributes[:, 0], np.where(middles[:, 1] < 2, 1, 2))
    areas = triangle_areas(mesh)
    assert areas[middles[:, 1] < 2].max() <= 0.05 < areas[middles[:, 1] > 2].max() <= 0.2
    x, y = mesh.vertices.T
    assert np.allclose(mesh.vertex_attributes[:, 0], 3 * x - y, rtol=0, atol=1e-12)
    assert np.array_equal(mesh.holes, graph.holes) and np.array_equal(mesh.regions, graph.regions)
    for (u, v), marker in zip(mesh.segments, mesh.segment_markers, strict=True):
        a, b = graph.vertices[graph.segments[marker - 1]]
        for p in mesh.vertices[[u, v]]:
            assert abs(np.linalg.det([b - a, p - a])) < 1e-12, "a piece has the marker of the segment it lies on"
    on_bottom = (y == 0) & (x > 0) & (x < 4)
    bottom = int(np.flatnonzero((graph.vertices[graph.segments][:, :, 1] == 0).all(axis=1))[0]) + 1
    assert set(mesh.vertex_markers[on_bottom]) == {bottom}


def test_the_smallest_of_all_bounds_applies(device_options):
    graph = domains.with_regions(domains.polygon(SQUARE), [(1, 1, 7, 0.3)])

    def size(points: np.ndarray) -> np.ndarray:
        return 0.08 + 0.3 * points[:, 0]

    fine = dmr.refine(graph, min_angle=28, max_area=0.4, max_edge=size, **device_options)
    assert dmr.validate(fine.mesh, input=graph, min_angle=28, max_area=0.3, max_edge=size).ok
    longest, centroids = longest_edges(fine.mesh)
    assert (longest <= size(centroids) * (1 + 1e-12)).all()
    # The mesh is fine only where requested: the bound is nearly reached.
    assert np.median(longest / size(centroids)) > 0.5
    without = dmr.refine(graph, min_angle=28, max_area=0.4, **device_options)
    assert len(without.mesh.triangles) < len(fine.mesh.triangles)
    assert triangle_areas(without.mesh).max() <= 0.3


def test_sizes_grade_smoothly(device_options):
    def size(points: np.ndarray) -> np.ndarray:
        return 0.02 + 0.2 * np.hypot(points[:, 0] - 2, points[:, 1] - 2)

    mesh = dmr.refine(domains.polygon(SQUARE), max_edge=size, **device_options).mesh
    longest, _ = longest_edges(mesh)
    across = mesh.neighbours
    inner = across >= 0
    ratio = (longest[:, None] / longest[across])[inner]
    assert ratio.max() < 4, "no triangle is four times as long as its neighbour"
    assert np.median(np.maximum(ratio, 1 / ratio)) < 1.4


@pytest.mark.parametrize(("values", "places"), [(np.nan, "nan"), (0.0, "0"), (-1.0, "-1")])
def test_an_invalid_size_is_refused_with_its_place(values, places):
    with pytest.raises(dmr.DmrError, match=places):
        dmr.refine(domains.polygon(SQUARE), max_edge=lambda points: np.full(len(points), values), device="cpu")


def test_size_on_a_background_mesh(device_options):
    background = dmr.Mesh(SQUARE, [[0, 1, 2], [0, 2, 3]])
    field = dmr.SizeField(background, [0.1, 0.5, 0.9, 0.5])
    fine = dmr.refine(domains.polygon(SQUARE), max_edge=field, **device_options)
    longest, centroids = longest_edges(fine.mesh)
    assert (longest <= 0.1 + 0.1 * centroids.sum(axis=1) + 1e-12).all()


@pytest.mark.parametrize("kept", ["boundary", "all"])
def test_kept_segments_are_not_split(kept, device_options):
    graph = plate()
    fine = dmr.refine(graph, min_angle=30, max_area=0.05, keep_segments=kept, **device_options)
    ends = {frozenset(ends) for ends in graph.segments.tolist()}
    pieces = [frozenset(piece) for piece in fine.mesh.segments.tolist()]
    inner = {frozenset(ends) for ends, marker in zip(graph.segments.tolist(), graph.segment_markers, strict=True)
             if marker > 10}  # fmt: skip
    assert len(inner) == 2
    split = ends - set(pieces)
    assert split <= (inner if kept == "boundary" else set())
    assert dmr.validate(fine.mesh, input=graph).ok
    assert set(fine.unrefined) <= {"kept_segment"}
    assert fine.unrefined.get("kept_segment", 0) > 0
    assert fine.complete
    below = np.flatnonzero(min_angles(fine.mesh) < 30 - 1e-9)
    assert set(below) <= set(fine.unrefined_triangles["kept_segment"])


@pytest.mark.parametrize("degrees", [30, 10, 1, 1e-3, 1e-6])
@pytest.mark.parametrize("conforming", [False, True])
def test_small_input_angles_terminate_and_are_listed(degrees, conforming, device_options):
    graph = wedge(degrees)
    fine = dmr.refine(graph, min_angle=28, conforming=conforming, **device_options)
    assert fine.complete
    assert set(fine.unrefined) <= {"small_input_angle"}
    report = dmr.validate(fine.mesh, input=graph, min_angle=28)
    assert report.ok, report.failures
    phi = math.radians(degrees)
    bound = math.degrees(math.atan(math.sin(phi) / (2 - math.cos(phi))))
    assert min_angles(fine.mesh).min() >= min(bound, 28) * (1 - 1e-9)


def test_a_triangle_with_a_small_input_angle_is_left(device_options):
    graph = dmr.Pslg([(0, 0), (1, 0), (math.cos(0.1), math.sin(0.1))], [[0, 1], [1, 2], [2, 0]])
    fine = dmr.refine(graph, min_angle=30, **device_options)
    assert len(fine.mesh.triangles) == 1
    assert fine.unrefined == {"small_input_angle": 1}


def test_a_vertex_within_ulps_of_a_segment_stops_the_local_refinement_only(device_options):
    height = 4 * np.spacing(4.0)
    graph = dmr.Pslg([*SQUARE, (1.5, height)], [[0, 1], [1, 2], [2, 3], [3, 0]])
    fine = dmr.refine(graph, min_angle=30, max_area=0.1, **device_options)
    assert fine.complete
    assert set(fine.unrefined) == {"precision"}
    assert fine.unrefined["precision"] <= 2
    assert dmr.validate(fine.mesh, input=graph, min_angle=30, unrefined=fine.unrefined_triangles).ok


def test_conflicts_are_resolved_and_reported(device_options):
    bowtie = dmr.Pslg([(0, 0), (1, 1), (1, 0), (0, 1)], [[0, 1], [1, 2], [2, 3], [3, 0]])
    fine = dmr.refine(bowtie, max_area=0.01, **device_options)
    assert any("cross" in warning for warning in fine.warnings)
    assert np.array_equal(fine.mesh.vertices[4], [0.5, 0.5])
    assert dmr.validate(fine.mesh, input=bowtie, min_angle=30, max_area=0.01).ok
    with pytest.raises(dmr.DmrError, match="segment 0: crosses segment 2"):
        dmr.refine(bowtie, on_conflict="error", **device_options)


def test_an_outline_with_a_gap_is_refused_with_its_place():
    graph = dmr.Pslg([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0.25)], [[0, 1], [1, 2], [2, 3], [3, 4]])
    with pytest.raises(dmr.DmrError, match=r"vertex 0 at .* vertex 4 at "):
        dmr.refine(graph, device="cpu")
    hull = dmr.refine(graph, convex_hull=True, device="cpu")
    assert triangle_areas(hull.mesh).sum() == pytest.approx(1)


@pytest.mark.parametrize("how", [{}, {"conforming": True}, {"keep_segments": "boundary"}, {"max_area": 0.01}], ids=str)
def test_the_same_bits_on_every_device(how, device_options):
    graph = plate()
    here = dmr.refine(graph, **how, **device_options)
    there = dmr.refine(graph, **how, device="cpu", threads=2)
    assert here.mesh.vertices.tobytes() == there.mesh.vertices.tobytes()
    assert here.mesh.triangles.tobytes() == there.mesh.triangles.tobytes()
    assert here.mesh.segments.tobytes() == there.mesh.segments.tobytes()


whole = st.integers(0, 6)


@pytest.mark.slow
@settings(max_examples=60, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(whole, whole), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=8),
    st.sampled_from([20, 30]),
    st.booleans(),
)
def test_outlines_with_small_integer_coordinates(points, pairs, angle, conforming):
    """Degenerate input: segments that cross, touch and overlap, in a box; each result is proved."""
    vertices = [(-1, -1), (7, -1), (7, 7), (-1, 7), *points]
    inner = [(u % len(vertices), v % len(vertices)) for u, v in pairs]
    graph = dmr.Pslg(vertices, [(0, 1), (1, 2), (2, 3), (3, 0), *inner])
    fine = dmr.refine(graph, min_angle=angle, conforming=conforming, device="cpu", threads=1)
    report = dmr.validate(fine.mesh, input=graph, min_angle=angle, unrefined=fine.unrefined_triangles)
    assert report.ok, report.failures
    assert fine.complete
    assert set(fine.unrefined) <= {"small_input_angle"}


def slit(width: float) -> dmr.Pslg:
    """A square with two walls of length 1, a small distance apart; the area between them is meshed."""
    corners = [(0.5, 1), (1.5, 1), (1.5, 1 + width), (0.5, 1 + width)]
    return domains.merge(domains.rectangle(2, 2), domains.polygon(corners))


@pytest.mark.parametrize("size", [None, 0.05])
def test_a_slit_that_no_mesh_could_fill_is_refused(size):
    with pytest.raises(dmr.errors.InvalidMeshError, match=r"4-5 and 6-7 .* are 1e-13 apart along 1: .* 5\.8e\+12 tri"):
        dmr.refine(slit(1e-13), size=size, device="cpu", threads=1)
    fine = dmr.refine(slit(1e-13), size=size, max_steiner=500, device="cpu", threads=1)
    assert not fine.complete and fine.unrefined["budget"]
    assert dmr.validate(fine.mesh, input=slit(1e-13), unrefined=fine.unrefined_triangles).ok


def test_a_slit_that_coordinates_do_not_resolve_is_left_as_it_is():
    fine = dmr.refine(slit(1e-15), device="cpu", threads=1)
    assert fine.complete and set(fine.unrefined) == {"precision"}


def hard_meshes() -> list[str]:
    if not HARD_MESHES.is_dir():
        return []
    manifest = json.loads((HARD_MESHES / "manifest.json").read_text(encoding="utf-8"))
    # Small ones only; scripts/compare/hard_meshes.py runs all of them.
    return [
        entry["file"]
        for entry in manifest
        if entry["file"].endswith(".poly") and (HARD_MESHES / entry["file"]).stat().st_size < 8_000
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", hard_meshes())
def test_hard_meshes_give_a_proved_mesh_or_an_error(name):
    try:
        graph = dmr.read(HARD_MESHES / name)
        fine = dmr.refine(graph, min_angle=25, max_steiner=20_000, device="cpu", threads=1)
    except dmr.DmrError as error:
        assert error.exit_code == 1 and len(str(error)) > 20
        return
    report = dmr.validate(fine.mesh, input=graph, min_angle=25, unrefined=fine.unrefined_triangles)
    assert report.ok, report.failures


def test_crossings_that_make_huge_meshes_are_warned_of(monkeypatch):
    """Of 2,000 segments that almost meet in one point, a mesh has 100 million triangles at 30 degrees."""
    drawn = outline(case("fan-60"), None)
    assert not any("million" in warning for warning in dmr.refine(drawn, min_angle=10, device="cpu").warnings)
    monkeypatch.setattr(demand, "MANY_CROSSINGS", 1_000)
    (told,) = (found for found in dmr.refine(drawn, min_angle=10, device="cpu").warnings if "million" in found)
    assert told.startswith("segments cross in 1,770 places") and "max_steiner or max_seconds" in told
    monkeypatch.setattr(demand, "MANY_PER_VERTEX", 20)  # more than are here
    assert not any("million" in warning for warning in dmr.refine(drawn, min_angle=10, device="cpu").warnings)
