"""Triangulation by rounds of kernels: the bits of the serial code, on every device."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from dmr import Pslg
from dmr.errors import DeviceUnavailableError, InvalidMeshError, OptionError
from dmr.memory import open_device
from dmr.triangulation.native import CROSSING, OVERLAP, triangulate_plane
from dmr.triangulation.rounds import epochs, insertion, plane_by_rounds
from dmr.triangulation.rounds import segments as rounds_of_segments
from dmr.triangulation.rounds.plane import MODULES
from tests.support.emulated import emulator


def point_sets():
    random = np.random.default_rng(7)
    k = np.arange(600.0)
    circle = np.stack([np.cos(k), np.sin(k)], axis=1)
    grid = random.permutation(24 * 25)
    return {
        "three": random.random((3, 2)),
        "a few": random.random((9, 2)),
        "random": random.random((1500, 2)),
        "grid": np.stack([grid % 24, grid // 24], axis=1).astype(float),
        "duplicates": random.integers(0, 12, (800, 2)).astype(float),
        "zeros of either sign": random.choice([-1.0, -0.0, 0.0, 1.0], (60, 2)),
        "copies of few": np.tile(random.random((5, 2)), (150, 1)),
        "cluster of 1e-12": np.concatenate([random.random((200, 2)), 0.5 + 1e-12 * random.random((500, 2))]),
        "line and one off it": np.concatenate([np.stack([k, 2 * k], axis=1), [[0, 7]]]),
        "circle": circle,
        "circle and its center": np.concatenate([circle, [[0, 0]]]),
        "parabola": np.stack([k, k * k], axis=1),
        # Fans around one vertex: searches that start at any of its triangles would be long.
        "long parabola": random.permutation(np.stack([np.arange(4000) / 4000, (np.arange(4000) / 4000) ** 2], axis=1)),
        "long line and one off it": random.permutation([[i, 0.0] for i in range(4000)] + [[7, 9]]),
        "two parallel lines": np.stack([k // 2, k % 2], axis=1),
    }


POINT_SETS = point_sets()


def rings(*sizes):
    """Outlines around the origin, each inside the one before, with points between them."""
    turns = [np.linspace(0, 2 * np.pi, size, endpoint=False) for size in sizes]
    vertices = [np.stack([np.cos(turn), np.sin(turn)], axis=1) / (1 + k) for k, turn in enumerate(turns)]
    ends = [np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1) + sum(sizes[:k]) for k, n in enumerate(sizes)]
    loose = np.random.default_rng(1).uniform(-1.2, 1.2, (300, 2))
    return np.concatenate([*vertices, loose]), np.concatenate(ends)


def graphs():
    """Graphs whose segments neither cross nor overlap."""
    random = np.random.default_rng(11)
    points = random.random((400, 2))
    edges = dmr.delaunay(points * [1, 30]).mesh.edges  # do not cross, and are seldom Delaunay
    grid = np.stack([np.arange(90) % 9, np.arange(90) // 9], axis=1).astype(float)
    slanted = dmr.delaunay(grid @ np.array([[1, 0.75], [0, 1]])).mesh.edges
    hub = np.concatenate([[[0, 0]], circle_of(40), 0.9 * random.uniform(-0.7, 0.7, (200, 2))])
    flat = random.random((300, 2)) * [1, 1e-9]
    lines = np.stack([np.repeat([-1.0, 2.0], 30), np.tile(np.linspace(0.1, 0.9, 30), 2)], axis=1)
    vertices, segments = rings(40, 30, 20)
    places = [[0.6, 0.05], [0.4, 0], [0, 0]]
    return {
        "edges of another triangulation": Pslg(points, edges),
        "some of them, turned": Pslg(points, random.permutation(edges)[:300, ::-1]),
        "vertices on segments": Pslg(grid, [[0, 8], [9, 89], [4, 85], [2, 2]]),
        "edges of a slanted grid": Pslg(grid, slanted),
        "across many points": Pslg(np.concatenate([points, [[-1, 0.3], [2, 0.4]]]), [[400, 401]]),
        "across points nearly on it": Pslg(np.concatenate([flat, [[-1, 0], [2, 1e-9]]]), [[300, 301]]),
        "parallels": Pslg(np.concatenate([lines, points[:100]]), np.stack([np.arange(30), np.arange(30, 60)], axis=1)),
        "a hub": Pslg(hub, np.stack([np.zeros(40, int), np.arange(1, 41)], axis=1)),
        "holes and regions": Pslg(
            vertices, segments, holes=places[2:], regions=[[*places[0], 1, 0], [*places[1], 2, 0.1]]
        ),
        "places on segments and vertices": Pslg(
            grid, [[0, 8], [8, 89]], holes=[[3, 0], [4, 0]], regions=[[3.5, 0, 1, 0]]
        ),
        "places beyond the hull, or nowhere special": Pslg(
            grid, [[0, 8]], holes=[[-1, 0], [3, 3], [3, 3.5], [3.5, 3.5], [0, 9.5]], regions=[[2.2, 7, 1, 0]]
        ),
    }


def circle_of(count):
    turn = np.linspace(0, 2 * np.pi, count, endpoint=False)
    return np.stack([np.cos(turn), np.sin(turn)], axis=1)


GRAPHS = graphs()
EQUAL = (
    "triangles", "neighbours", "labels", "parts", "same_as", "edges", "edge_segments", "left", "right", "left_side",
    "right_side", "new_vertices", "hole_labels", "region_labels",
)  # fmt: skip


def assert_as_by_serial_code(pslg, device, convex_hull=False):
    found = plane_by_rounds(pslg, device, convex_hull=convex_hull)
    expected = triangulate_plane(pslg, convex_hull=convex_hull)
    for name in EQUAL:
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert sorted(found.conflicts.tolist()) == sorted(expected.conflicts.tolist())
    assert np.array_equal(np.sort(found.hull), np.sort(expected.hull))


def of_points(points):
    return Pslg(points, np.empty((0, 2), np.int32))


@pytest.mark.parametrize("name", POINT_SETS)
def test_rounds_make_the_triangulation_of_the_serial_code(name, device):
    assert_as_by_serial_code(of_points(POINT_SETS[name]), device, convex_hull=True)


@pytest.mark.parametrize("convex_hull", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_rounds_insert_segments_as_the_serial_code_does(name, convex_hull, device):
    assert_as_by_serial_code(GRAPHS[name], device, convex_hull)


def test_a_mesh_by_rounds_passes_the_exact_checker(device_options):
    for name in ("edges of another triangulation", "holes and regions", "across points nearly on it"):
        hull = name != "holes and regions"
        mesh = dmr.triangulate(GRAPHS[name], convex_hull=hull, method="rounds", **device_options)
        report = dmr.validate(mesh, input=GRAPHS[name], convex_hull=hull)
        assert report.ok, report.failures


def test_more_rounds_of_segments_than_epochs(device, monkeypatch):
    monkeypatch.setattr(epochs, "LAST", 2)
    assert_as_by_serial_code(GRAPHS["parallels"], device)


@settings(max_examples=60)
@given(
    points=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=14),
    ends=st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=4),
)
def test_small_integer_graphs(points, ends):
    pslg = Pslg(np.array(points, float), np.array(ends, int).reshape(-1, 2) % len(points))
    try:
        expected = triangulate_plane(pslg)
    except InvalidMeshError:
        return
    if plane_by_rounds(pslg, TWO_THREADS) is None:
        assert {CROSSING, OVERLAP} & set(expected.conflicts[:, 0].tolist())
    else:
        assert_as_by_serial_code(pslg, TWO_THREADS)


TWO_THREADS = open_device("cpu", 2)
SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4]]


@pytest.mark.parametrize(
    "segments",
    [
        [[4, 7], [8, 9]],  # cross at no vertex
        [[0, 1], [1, 0]],  # the same edge
        [[4, 5], [5, 6], [4, 6]],  # share the edges that a vertex divides
        [[4, 7], [7, 4]],  # the same, and no edge before
    ],
)
def test_segments_that_overlap_or_cross_are_left_to_the_serial_code(segments, device, device_options, caplog):
    pslg = Pslg([*SQUARE, [1, 1], [2, 2], [3, 3], [3, 1.5], [2, 1.2], [2, 1.3]], segments)
    assert plane_by_rounds(pslg, device) is None
    with caplog.at_level(logging.WARNING, "dmr"):
        mesh = dmr.triangulate(pslg, convex_hull=True, method="rounds", **device_options)
    assert "CPU threads insert them" in caplog.text
    expected = dmr.triangulate(pslg, convex_hull=True, method="serial")
    assert np.array_equal(mesh.triangles, expected.triangles)
    assert np.array_equal(mesh.segments, expected.segments)


@pytest.mark.parametrize("limit", [20, 1000])
def test_a_segment_between_long_rows_is_left_to_the_serial_code(limit, device, device_options, monkeypatch):
    monkeypatch.setattr(rounds_of_segments, "MOST_FLIP_ROUNDS", limit)
    x = np.arange(300) / 300
    rows = [np.stack([x, np.full(300, y)], axis=1) for y in (1e-3, -1e-3)]
    pslg = Pslg(np.concatenate([*rows, [[-1e-2, 0], [1.01, 0]]]), [[600, 601]])
    with device.lock, device.current:
        assert (plane_by_rounds(pslg, device) is None) == (limit == 20)
    mesh = dmr.triangulate(pslg, convex_hull=True, method="rounds", **device_options)
    expected = dmr.triangulate(pslg, convex_hull=True, method="serial")
    assert np.array_equal(mesh.triangles, expected.triangles)
    assert np.array_equal(mesh.segments, expected.segments)


@pytest.mark.parametrize(("growth", "most"), [(0.05, 100), (4.0, 10_000)])
def test_the_size_of_rounds_does_not_change_the_triangulation(growth, most, device, monkeypatch):
    monkeypatch.setattr(insertion, "GROWTH", growth)
    monkeypatch.setattr(insertion, "MOST_CANDIDATES", most)
    monkeypatch.setattr(insertion, "CANDIDATES_PER_THREAD", most)
    assert_as_by_serial_code(of_points(POINT_SETS["random"]), device)
    assert_as_by_serial_code(of_points(POINT_SETS["grid"]), device)


def test_cavities_larger_than_their_records_are_inserted(device, monkeypatch):
    monkeypatch.setattr(insertion, "RECORD", 8)
    monkeypatch.setattr(insertion, "LARGER", 2)
    monkeypatch.setattr(insertion, "LARGE_ENTRIES", 64)
    assert_as_by_serial_code(of_points(POINT_SETS["circle and its center"]), device)
    assert_as_by_serial_code(of_points(POINT_SETS["grid"]), device)


def test_more_rounds_than_epochs(device, monkeypatch):
    monkeypatch.setattr(insertion, "MOST_CANDIDATES", 2)
    monkeypatch.setattr(insertion, "CANDIDATES_PER_THREAD", 1)
    assert_as_by_serial_code(of_points(POINT_SETS["duplicates"][:600]), device)


@pytest.mark.parametrize("points", [[[k, 2 * k] for k in range(900)], [[1, 1]] * 5, [[0, 0], [1, 1], [0, 0], [1, 1]]])
def test_collinear_points_are_refused(points, device):
    with pytest.raises(InvalidMeshError, match="all vertices lie on one line"):
        plane_by_rounds(of_points(np.array(points, float)), device)


@pytest.fixture(scope="module")
def emulated(tmp_path_factory):
    sources = [f"{module}.cu" for module in MODULES if module != "primitives/device_loop"]  # the host repeats there
    return emulator.EmulatedDevice(emulator.build(tmp_path_factory.mktemp("emulated"), sources))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["duplicates", "cluster of 1e-12"])
def test_the_emulated_gpu_makes_the_triangulation_of_the_serial_code(name, emulated):
    points = POINT_SETS[name]
    assert_as_by_serial_code(of_points(points[:: len(points) // 100]), emulated)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vertices on segments", "parallels", "holes and regions"])
def test_the_emulated_gpu_inserts_segments_as_the_serial_code_does(name, emulated):
    assert_as_by_serial_code(GRAPHS[name], emulated)


def test_meshes_of_points_are_the_same_by_rounds(device_options):
    points = np.random.default_rng(3).integers(0, 20, (500, 2)).astype(float)
    expected = dmr.triangulate(points, method="serial")
    found = dmr.triangulate(points, method="rounds", **device_options)
    for name in ("vertices", "triangles", "segments", "segment_markers", "vertex_markers"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert np.array_equal(dmr.delaunay(points, method="rounds", **device_options).simplices, expected.triangles)
    refined = dmr.refine(points, min_angle=20, **device_options).mesh
    assert np.array_equal(refined.triangles, dmr.refine(expected, min_angle=20, device="cpu", threads=1).mesh.triangles)


def test_an_absent_device_is_refused():
    with pytest.raises(DeviceUnavailableError):
        dmr.triangulate(np.eye(3, 2), device="cuda:99")


def test_a_method_is_one_of_three():
    with pytest.raises(OptionError, match="method"):
        dmr.triangulate(np.eye(3, 2), method="quick")
