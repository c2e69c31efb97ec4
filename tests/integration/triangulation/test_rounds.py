"""Triangulation by rounds of kernels: the bits of the serial code, on every device."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr import Pslg
from dmr.errors import DeviceUnavailableError, InvalidMeshError
from dmr.triangulation import meshing
from dmr.triangulation.native import triangulate_plane
from dmr.triangulation.rounds import insertion, plane_of_points
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
        "circle and its centre": np.concatenate([circle, [[0, 0]]]),
        "parabola": np.stack([k, k * k], axis=1),
        "two parallel lines": np.stack([k // 2, k % 2], axis=1),
    }


POINT_SETS = point_sets()


def assert_as_by_serial_code(points, device):
    found = plane_of_points(points, device)
    expected = triangulate_plane(Pslg(points, np.empty((0, 2), np.int32)), convex_hull=True)
    for name in ("triangles", "neighbours", "same_as", "edges", "conflicts", "new_vertices", "hole_labels"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert np.array_equal(np.sort(found.hull), np.sort(expected.hull))
    assert np.unique(found.labels).tolist() == np.unique(expected.labels).tolist()


@pytest.mark.parametrize("name", POINT_SETS)
def test_rounds_make_the_triangulation_of_the_serial_code(name, device):
    assert_as_by_serial_code(POINT_SETS[name], device)


@pytest.mark.parametrize(("growth", "most"), [(0.05, 100), (4.0, 10_000)])
def test_the_size_of_rounds_does_not_change_the_triangulation(growth, most, device, monkeypatch):
    monkeypatch.setattr(insertion, "GROWTH", growth)
    monkeypatch.setattr(insertion, "MOST_CANDIDATES", most)
    monkeypatch.setattr(insertion, "CANDIDATES_PER_THREAD", most)
    assert_as_by_serial_code(POINT_SETS["random"], device)
    assert_as_by_serial_code(POINT_SETS["grid"], device)


def test_cavities_larger_than_their_records_are_inserted(device, monkeypatch):
    monkeypatch.setattr(insertion, "RECORD", 8)
    monkeypatch.setattr(insertion, "LARGER", 2)
    monkeypatch.setattr(insertion, "LARGE_ENTRIES", 64)
    assert_as_by_serial_code(POINT_SETS["circle and its centre"], device)
    assert_as_by_serial_code(POINT_SETS["grid"], device)


def test_more_rounds_than_epochs(device, monkeypatch):
    monkeypatch.setattr(insertion, "MOST_CANDIDATES", 2)
    monkeypatch.setattr(insertion, "CANDIDATES_PER_THREAD", 1)
    assert_as_by_serial_code(POINT_SETS["duplicates"][:600], device)


@pytest.mark.parametrize("points", [[[k, 2 * k] for k in range(900)], [[1, 1]] * 5, [[0, 0], [1, 1], [0, 0], [1, 1]]])
def test_collinear_points_are_refused(points, device):
    with pytest.raises(InvalidMeshError, match="all vertices lie on one line"):
        plane_of_points(np.array(points, float), device)


@pytest.fixture(scope="module")
def emulated(tmp_path_factory):
    others = ("mesh/ordering", "mesh/topology", "primitives/scan", "primitives/sorting", "refine/marking/marking")
    sources = emulator.sources_in("triangulate") + [f"{module}.cu" for module in others]
    return emulator.EmulatedDevice(emulator.build(tmp_path_factory.mktemp("emulated"), sources))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["duplicates", "cluster of 1e-12"])
def test_the_emulated_gpu_makes_the_triangulation_of_the_serial_code(name, emulated):
    points = POINT_SETS[name]
    assert_as_by_serial_code(points[:: len(points) // 100], emulated)


def test_meshes_of_points_are_the_same_by_rounds(device_options, monkeypatch):
    points = np.random.default_rng(3).integers(0, 20, (500, 2)).astype(float)
    expected = dmr.triangulate(points, device="cpu", threads=1)
    monkeypatch.setattr(meshing, "FEWEST_THREADS", 1)
    monkeypatch.setattr(meshing, "FEWEST_POINTS", 1)
    found = dmr.triangulate(points, **device_options)
    for name in ("vertices", "triangles", "segments", "segment_markers", "vertex_markers"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert np.array_equal(dmr.delaunay(points, **device_options).simplices, expected.triangles)
    refined = dmr.refine(points, min_angle=20, **device_options).mesh
    assert np.array_equal(refined.triangles, dmr.refine(expected, min_angle=20, device="cpu", threads=1).mesh.triangles)


def test_an_absent_device_is_refused():
    with pytest.raises(DeviceUnavailableError):
        dmr.triangulate(np.eye(3, 2), device="cuda:99")
