"""Point location, compared with exact rational arithmetic on every triangle."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest

import dmr
from dmr.errors import InvalidMeshError, OptionError, WrongTypeError
from dmr.mesh.location import locator
from tests.support.meshes import grid, part_of
from tests.support.planar import lowest_triangles

SQUARE = dmr.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]])


def queries(mesh):
    """Vertices, midpoints and centroids, which are on edges or close to them, and places around the mesh."""
    corners = mesh.vertices[mesh.triangles]
    middles = (corners + np.roll(corners, 1, axis=1)) / 2
    low, high = mesh.vertices.min(axis=0) - 1, mesh.vertices.max(axis=0) + 1
    around = np.random.default_rng(5).uniform(low, high, (50, 2))
    beside = np.nextafter(middles.reshape(-1, 2), corners.reshape(-1, 2))
    points = np.concatenate([mesh.vertices, middles.reshape(-1, 2), beside, corners.mean(axis=1), around])
    return np.where(np.abs(points) < 1e-43, 0, points)  # which count as zero


CASES = {
    "square": lambda: SQUARE,
    "one triangle": lambda: dmr.Mesh([[0, 0], [3, 1], [1, 2]], [[0, 1, 2]]),
    "part of a grid": lambda: part_of(grid(np.arange(7.0)), 1),
    "part of random points": lambda: part_of(dmr.generate("random", 40, seed=3), 2),
    "slivers": lambda: dmr.triangulate(dmr.domains.polygon(dmr.domains.circle_points(1.0, 40))),
    "far from the origin": lambda: dmr.Mesh(1e9 + grid(np.arange(5) / 8).vertices, grid(np.arange(5) / 8).triangles),
    "graded": lambda: dmr.Mesh(grid(8.0 ** -np.arange(6)).vertices, grid(8.0 ** -np.arange(6)).triangles),
    "many at a vertex": lambda: fan(20),
    "a flat triangle": lambda: dmr.Mesh([[0, 0], [2, 0], [1, 0], [1, 1]], [[0, 1, 2], [0, 1, 3]]),
}


def fan(rays):
    """Triangles that share a vertex."""
    angles = np.arange(rays) * 2 * np.pi / rays
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    numbers = np.arange(rays)
    return dmr.Mesh(
        np.concatenate([[[0.0, 0.0]], circle]),
        np.stack([0 * numbers, 1 + numbers, 1 + (numbers + 1) % rays], axis=1),
    )


@cache
def located(name):
    """A mesh, points, and their triangles."""
    mesh = CASES[name]()
    points = queries(mesh)
    if name == "a flat triangle":  # which contains no point
        rest = lowest_triangles(dmr.Mesh(mesh.vertices, mesh.triangles[1:]), points)
        return mesh, points, [t + 1 if t >= 0 else -1 for t in rest]
    return mesh, points, lowest_triangles(mesh, points)


@pytest.mark.parametrize("name", CASES)
def test_every_point_is_in_the_triangle_of_exact_arithmetic(name, device_options):
    mesh, points, expected = located(name)
    found = dmr.locate(mesh, points, **device_options)
    assert found.dtype == np.int32
    assert found.tolist() == expected


def test_sorted_blocks_give_what_single_points_give(device_options, monkeypatch):
    mesh = dmr.refine(dmr.generate("plate", 100), device="cpu").mesh
    points = np.random.default_rng(1).uniform(-1, 4, (5000, 2))
    expected = dmr.locate(mesh, points, device="cpu", threads=1)
    monkeypatch.setattr(locator, "SORTED_FROM", 1)
    monkeypatch.setattr(locator, "BLOCK", 999)
    found = dmr.Locator(mesh, **device_options).locate(points)
    assert found.tolist() == expected.tolist() and 0 < (found >= 0).sum() < 5000


@pytest.mark.parametrize("count", [20, 50, 90])
def test_the_lowest_of_many_triangles_at_a_point_is_found(count, device_options):
    # A CPU compares the points of a group with 32 triangles at a time, and divides a group that has over 64 of them.
    random = np.random.default_rng(count)
    corners = random.integers(-4, 5, (count, 3, 2)) * [1, 3]
    mesh = dmr.Mesh(corners.reshape(-1, 2), np.arange(3 * count).reshape(-1, 3))
    points = random.integers(-4, 5, (100, 2)) * [0.5, 1.5]
    assert dmr.locate(mesh, points, **device_options).tolist() == lowest_triangles(mesh, points)


def test_far_and_tiny_coordinates(device_options):
    points = [[1e308, -1e308], [2.0**202, 0.5], [0.25, 1e-320], [1e-300, -1e-300], [-1e-40, 0.5], [0.5, -1e-50]]
    assert dmr.locate(SQUARE, points, **device_options).tolist() == [-1, -1, 0, 0, -1, 0]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_points_that_are_not_finite_are_refused_with_their_number(bad, device_options):
    points = np.zeros((20, 2))
    points[7, 1] = points[12, 0] = bad
    with pytest.raises(OptionError, match=r"point 7: coordinates \(0, -?(nan|inf)\) are not finite"):
        dmr.locate(SQUARE, points, **device_options)


@pytest.mark.parametrize("points", [[1.0, 2.0], [[1, 2, 3]], [["a", "b"]], np.zeros((2, 2), complex), 5])
def test_points_of_another_shape_or_kind_are_refused(points):
    with pytest.raises(OptionError, match="points must"):
        dmr.locate(SQUARE, points)


def test_no_points_and_no_triangles():
    assert dmr.locate(SQUARE, []).shape == (0,) and dmr.locate(SQUARE, np.empty((0, 2))).shape == (0,)
    empty = dmr.Mesh([[0, 0]], np.empty((0, 3), int))
    assert dmr.locate(empty, [[0, 0], [1, 1]]).tolist() == [-1, -1]
    assert dmr.locate(dmr.Mesh(np.empty((0, 2)), np.empty((0, 3), int)), [[0, 0]]).tolist() == [-1]


def test_meshes_that_cannot_be_searched_are_refused():
    with pytest.raises(InvalidMeshError, match="vertex 1: coordinates"):
        dmr.locate(dmr.Mesh([[0, 0], [1e-60, 0], [0, 1]], [[0, 1, 2]]), [[0, 0]])
    with pytest.raises(WrongTypeError, match="mesh must be a Mesh"):
        dmr.locate(SQUARE.vertices, [[0, 0]])


def test_threads_share_a_locator(device_options):
    mesh = dmr.generate("random", 2000, seed=1)
    shared = dmr.Locator(mesh, **device_options)
    parts = np.random.default_rng(2).random((16, 9000, 2))
    values = np.arange(len(mesh.vertices) + len(dmr.second_order(mesh).edges), dtype=float)
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda part: (shared.locate(part), shared.interpolate(values, part)), parts))
    for part, (triangles, interpolated) in zip(parts, together, strict=True):
        assert np.array_equal(triangles, dmr.locate(mesh, part, device="cpu", threads=1))
        expected = dmr.interpolate(mesh, values, part, device="cpu", threads=1)
        assert np.array_equal(interpolated, expected, equal_nan=True)


def test_a_locator_survives_pickling():
    copied = pickle.loads(pickle.dumps(dmr.Locator(SQUARE, device="cpu", threads=2)))
    assert copied.locate([[0.75, 0.25], [0.25, 0.75], [2, 2]]).tolist() == [0, 1, -1]
    assert repr(copied) == f"Locator({SQUARE!r}, cpu (2 threads))"
