"""A triangulation that stays on the device for its refinement: the same bits, and one upload and one download."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import dmr
from dmr.mesh.provenance import is_triangulation, links_of
from dmr.mesh.shapes import triangle_areas
from dmr.mesh.types import Mesh
from dmr.refinement import pipeline
from dmr.refinement.placement import placing
from dmr.refinement.rounds import team_rounds
from dmr.refinement.setup import admission
from dmr.refinement.state import result_memory
from dmr.refinement.state.progress import RoundProgress
from dmr.refinement.state.records import POINT, TRIANGLE
from dmr.triangulation import meshing, preparing
from dmr.triangulation.deferred import DeferredMesh
from dmr.triangulation.rounds import plane_by_rounds
from dmr.triangulation.rounds.start import SAMPLE
from tests.support.devices import opening

RANDOM = np.random.default_rng(5)
POINTS = RANDOM.random((400, 2))
RING = np.stack([np.cos(np.arange(60) * np.pi / 30), np.sin(np.arange(60) * np.pi / 30)], axis=1)
OUTLINE = np.stack([np.arange(60), (np.arange(60) + 1) % 60], axis=1)


def graphs():
    """Graphs whose segments neither cross nor overlap."""
    loose = 3 * RANDOM.random((200, 2)) - 1.5
    ring = dmr.Pslg(
        np.concatenate([RING, 0.4 * RING, loose]), np.concatenate([OUTLINE, 60 + OUTLINE]), holes=[[0.01, 0.02]]
    )
    return {
        "points": dmr.Pslg(POINTS),
        "a grid with duplicates": dmr.Pslg(RANDOM.integers(0, 12, (300, 2)).astype(float)),
        "a cluster": dmr.Pslg(np.concatenate([POINTS, 0.5 + 1e-12 * POINTS])),
        "a ring with points outside and attributes": dmr.Pslg(
            ring.vertices, ring.segments, holes=ring.holes, segment_markers=RANDOM.integers(0, 3, 120),
            vertex_attributes=ring.vertices[:, :1],
        ),
        "regions": dmr.Pslg(ring.vertices, ring.segments, regions=[[0, 0, 1, 0.01], [0.7, 0, 2, 0]]),
    }  # fmt: skip


GRAPHS = graphs()


@pytest.fixture
def stays(monkeypatch):
    """Makes every triangulation by rounds, and lets small ones stay on the device."""
    monkeypatch.setattr(meshing, "FEWEST_TO_STAY", 1)
    serial = meshing.fastest_plane

    def fastest(pslg, device, **options):
        return serial(pslg, None, **options) if device is None else plane_by_rounds(pslg, device, **options)

    monkeypatch.setattr(meshing, "fastest_plane", fastest)
    monkeypatch.setattr(placing, "fastest_plane", fastest)


def assert_same(found: Mesh, expected: Mesh) -> None:
    for name in vars(expected).keys() - {"names"}:
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


@pytest.mark.parametrize("options", [{}, {"max_area": 0.002}, {"min_angle": 20, "conforming": True}])
@pytest.mark.parametrize("name", GRAPHS)
def test_a_refinement_of_what_stays_on_the_device_has_the_same_bits(name, options, device_options, stays):
    found = dmr.refine(GRAPHS[name], **options, **device_options)
    source = dmr.triangulate(GRAPHS[name], method="serial")
    expected = dmr.refine(source, **options, device="cpu", threads=1)
    assert_same(found.mesh, expected.mesh)
    assert isinstance(found.input_mesh, DeferredMesh)
    assert_same(found.input_mesh, source)


def test_points_go_to_the_device_once_and_the_mesh_comes_back_once(device, stays, monkeypatch):
    """Elements that pass between host and device; a device in main memory reads the points in place."""
    monkeypatch.setattr(pipeline, "open_device", opening(device))
    points = np.random.default_rng(8).random((20_000, 2))
    before = device.moved.copy()
    mesh = dmr.refine(points).mesh
    moved = device.moved - before
    inserted = len(mesh.vertices) - len(points)
    assert moved[TRIANGLE] <= 2 * SAMPLE  # the host triangulates the first vertices
    assert moved[POINT] == inserted + SAMPLE + (0 if device.threads else len(points))
    assert 3 * len(mesh.triangles) <= moved[np.dtype(np.int32)] < 3 * len(mesh.triangles) + len(points)


def test_holes_regions_and_sizes_by_place_stay_on_the_device(device, stays, monkeypatch):
    """Elements that pass between host and device, in either direction: a table for each part, no list of triangles."""
    monkeypatch.setattr(pipeline, "open_device", opening(device))
    inner = 0.4 * RING
    loose = 3 * np.random.default_rng(3).random((40_000, 2)) - 1.5
    graph = dmr.Pslg(
        np.concatenate([RING, inner, inner / 2, loose]),
        np.concatenate([OUTLINE, 60 + OUTLINE, 120 + OUTLINE]),
        holes=[[0, 0]],
        regions=[[0.7, 0, 3, 0.001], [0.3, 0, 5, 0]],
    )
    x = np.linspace(-2, 2, 9)
    field = dmr.SizeField.from_grid(x, x, np.full((9, 9), 0.1))
    with device.lock, device.current:
        field.on(device)
    before = device.moved.copy()
    result = dmr.refine(graph, max_edge=field)
    moved, mesh = device.moved - before, result.mesh
    assert "triangles" not in vars(result.input_mesh)
    inserted, triangles = len(mesh.vertices) - len(graph.vertices), len(mesh.triangles)
    assert moved[TRIANGLE] <= 2 * SAMPLE
    assert moved[POINT] <= inserted + SAMPLE + len(graph.holes) + len(graph.regions) + (
        0 if device.threads else len(graph.vertices)
    )
    few = 10 * len(mesh.segments) + 6000  # segments, their sides and labels; the numbers of rounds
    assert 3 * triangles <= moved[np.dtype(np.int32)] < 3 * triangles + few
    assert few < result.input_mesh.triangle_count  # so that one more list of triangles would be noticed
    data = x.size**2 + 2 * x.size  # of the field, on a GPU
    assert 2 * triangles <= moved[np.dtype(np.float64)] < 2 * triangles + 2 * data + 1000


class Shown:
    """A callback that is shown with an estimate; attributes: the triangles and the estimate that it was given."""

    def begin(self, triangles: int, expected: float) -> None:
        self.triangles, self.expected = triangles, expected

    def __call__(self, round_number: int, bad: int, triangles: int) -> bool:
        return True


@pytest.mark.parametrize("bound", ["max_area", "max_edge"])
def test_an_estimate_for_a_progress_bar_takes_nothing_from_the_device(device, stays, monkeypatch, bound):
    monkeypatch.setattr(pipeline, "open_device", opening(device))
    monkeypatch.setattr(pipeline, "TOO_FEW_FOR_A_GPU", 0)
    points = np.random.default_rng(8).random((20_000, 2))
    x = np.linspace(0, 1, 3)
    field = dmr.SizeField.from_grid(x, x, np.full((3, 3), 0.005))
    shown, options = Shown(), {"max_area": 1e-5} if bound == "max_area" else {"max_edge": field}
    runs = {}
    for progress in (lambda *numbers: True, shown):
        before = device.moved.copy()
        result = dmr.refine(points, progress=progress, **options)
        runs[progress] = device.moved - before
        assert "triangles" not in vars(result.input_mesh)
    without, with_estimate = runs.values()
    few = 100  # sums and counts, and the field
    for dtype in without | with_estimate:
        assert abs(with_estimate[dtype] - without[dtype]) < few, dtype
    assert shown.triangles == result.input_mesh.triangle_count
    area = float(triangle_areas(result.input_mesh).sum())
    per_area = 1.6 / 1e-5 if bound == "max_area" else 2.1 / (np.sqrt(3) / 4 * 0.005**2)
    assert shown.expected == pytest.approx(area * per_area, rel=1e-9)


@pytest.mark.parametrize("size", ["number", "grid", "function"])
def test_placement_by_size_sends_the_input_and_the_placed_mesh_to_the_device_once(device, stays, monkeypatch, size):
    """The host reads the triangles before and after the placement; neither of them returns to the device."""
    monkeypatch.setattr(pipeline, "open_device", opening(device))
    x = np.linspace(-1, 1, 9)
    field = dmr.SizeField.from_grid(x, x, np.full((9, 9), 0.02))
    given = {"number": 0.02, "grid": field, "function": lambda places: np.full(len(places), 0.02)}[size]
    links = []
    monkeypatch.setattr(admission, "links_of", lambda mesh: links.append(links_of(mesh)) or links[-1])
    before = device.moved.copy()
    result = dmr.refine(dmr.Pslg(RING, OUTLINE), size=given)
    moved, mesh = device.moved - before, result.mesh
    assert not links  # of a mesh that would be copied to the device
    expected = dmr.refine(dmr.triangulate(dmr.Pslg(RING, OUTLINE)), size=given, device="cpu", threads=1).mesh
    assert_same(mesh, expected)
    rows = 3 * (len(result.input_mesh.triangles) + 2 * len(mesh.triangles))
    assert moved[np.dtype(np.int32)] < rows + 25 * len(mesh.vertices)


@pytest.mark.parametrize("name", ["max_edge", "area"])
def test_samples_of_a_function_go_to_a_triangulation_on_the_device(device, stays, monkeypatch, name):
    monkeypatch.setattr(pipeline, "open_device", opening(device))
    links = []
    monkeypatch.setattr(admission, "links_of", lambda mesh: links.append(links_of(mesh)) or links[-1])
    graph = GRAPHS["regions"]

    def bound(places):
        return 0.03 + 0.05 * np.abs(places[:, 0])

    result = dmr.refine(graph, **{name: bound})
    assert not links
    source = dmr.triangulate(graph, method="serial")
    assert_same(result.mesh, dmr.refine(source, **{name: bound}, device="cpu", threads=1).mesh)
    assert_same(result.input_mesh, source)


def test_the_input_of_a_refinement_is_computed_when_it_is_read(device_options, stays):
    points = np.random.default_rng(9).random((3000, 2))
    known = dmr.refine(points, **device_options).input_mesh
    assert "triangles" not in vars(known)
    assert known.triangle_count == len(known.triangles)
    assert known.triangles is vars(known)["triangles"] and is_triangulation(known)
    assert np.array_equal(known.neighbours, dmr.triangulate(points).neighbours)
    with pytest.raises(AttributeError, match="'corners'"):
        _ = known.corners


@pytest.mark.parametrize("name", ["points", "a ring with points outside and attributes"])
def test_triangles_arrive_in_memory_made_ready_unless_it_is_far_too_large(name, device_options, monkeypatch):
    made = []
    monkeypatch.setattr(preparing, "LEAST_BYTES", 0)
    monkeypatch.setattr(preparing, "touch", lambda room, threads: made.append(room))
    graph = GRAPHS[name]
    found = dmr.triangulate(graph, method="rounds", **device_options)
    in_room = np.shares_memory(found.triangles, made[0])
    assert in_room == (len(found.triangles) >= len(graph.vertices)) == (name == "points")
    assert_same(found, dmr.triangulate(graph, method="serial"))
    assert np.array_equal(found.neighbours, dmr.triangulate(graph, method="serial").neighbours)


def test_attributes_and_bounds_of_the_input_are_computed_when_they_are_read(stays):
    source = dmr.triangulate(GRAPHS["regions"], method="serial")
    for name in ("area_bounds", "triangle_attributes", "triangles"):
        known = dmr.refine(GRAPHS["regions"], device="cpu").input_mesh
        assert "triangles" not in vars(known)
        assert np.array_equal(getattr(known, name), getattr(source, name))
        assert "triangles" in vars(known)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda mesh: pickle.loads(pickle.dumps(mesh))])
def test_copies_of_the_input_are_plain_meshes(copied, stays):
    result = dmr.refine(POINTS, device="cpu")
    made = copied(result).input_mesh if copied is not copy.copy else copied(result.input_mesh)
    assert type(made) is Mesh
    assert_same(made, dmr.triangulate(POINTS))


def test_points_that_change_later_do_not_change_the_input(stays):
    points = POINTS.copy()
    result = dmr.refine(points, device="cpu")
    points[:] = 0
    assert_same(result.input_mesh, dmr.triangulate(POINTS))
    assert len(result.parents) == len(result.mesh.triangles)


@pytest.fixture
def events(device, monkeypatch):
    """The events of the host's memory and of the loop of rounds, in order; small results count as large ones."""
    found = []
    monkeypatch.setattr(pipeline, "open_device", opening(device))
    monkeypatch.setattr(result_memory, "is_downloaded", lambda device: True)
    monkeypatch.setattr(result_memory, "LEAST_BYTES", 0)
    monkeypatch.setattr(team_rounds.TeamRounds, "available", property(lambda self: False))
    touch, copied, read = result_memory.touch, result_memory.copy, RoundProgress.read
    monkeypatch.setattr(result_memory, "touch", lambda *given: (found.append("pages"), touch(*given)))
    monkeypatch.setattr(result_memory, "copy", lambda *given: (found.append("input"), copied(*given)))
    monkeypatch.setattr(RoundProgress, "read", lambda self: (found.append("end"), read(self))[1])
    return found


def test_memory_of_the_result_is_ready_before_the_rounds_have_ended(device, stays, events, monkeypatch):
    touched, touch = [], result_memory.touch
    monkeypatch.setattr(result_memory, "touch", lambda *given: (touched.append(given[0]), touch(*given)))
    points = np.random.default_rng(8).random((5000, 2))
    mesh = dmr.refine(points).mesh
    triangles, new_vertices = touched
    assert events[:5] == ["pages", "input", "pages", "input", "end"] and set(events[5:]) <= {"end"}
    source = dmr.triangulate(points, method="serial")
    assert_same(mesh, dmr.refine(source, device="cpu", threads=1).mesh)
    assert np.shares_memory(mesh.triangles, triangles) and np.shares_memory(mesh.vertices, new_vertices)


@pytest.mark.parametrize(("per_bad", "used"), [(0.25, False), (20.0, False), (2.0, True)])
def test_memory_that_is_too_small_or_far_too_large_is_not_used(device, stays, events, monkeypatch, per_bad, used):
    monkeypatch.setattr(result_memory, "POINTS_PER_BAD", per_bad)
    points = np.random.default_rng(8).random((2000, 2))
    mesh = dmr.refine(points).mesh
    assert (events.count("input") == 2) == used  # vertices and their markers
    assert_same(mesh, dmr.refine(dmr.triangulate(points, method="serial"), device="cpu", threads=1).mesh)


def test_no_memory_is_made_ready_for_points_beyond_the_limit(device, stays, events, monkeypatch):
    touched = []
    monkeypatch.setattr(result_memory, "touch", lambda *given: touched.append(given[0]))
    mesh = dmr.refine(np.random.default_rng(8).random((2000, 2)), max_steiner=10).mesh
    assert len(mesh.vertices) == 2010
    assert len(touched[1]) == 10
