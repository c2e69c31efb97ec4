"""Interpolation of values on triangles, vertices and edge midpoints."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr.errors import OptionError
from dmr.memory import open_device
from dmr.mesh.location import locator
from dmr.mesh.location.edge_nodes import MODULES, edge_nodes

MESH = dmr.generate("random", 300, seed=2)
SECOND = dmr.second_order(MESH)
INSIDE = np.random.default_rng(1).uniform(0.3, 0.7, (400, 2))
SQUARE = dmr.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]])


def linear(points):
    return 3 + 2 * points[:, 0] - 5 * points[:, 1]


def quadratic(points):
    x, y = points.T
    return 1 + x - y + 3 * x * x - 2 * x * y + y * y


def test_each_order_reproduces_its_polynomials(device_options):
    centroids = MESH.vertices[MESH.triangles].mean(axis=1)
    numbers = np.arange(len(MESH.triangles))
    assert np.array_equal(dmr.interpolate(MESH, numbers, centroids, **device_options), numbers)
    assert np.allclose(
        dmr.interpolate(MESH, linear(MESH.vertices), INSIDE, **device_options), linear(INSIDE), atol=1e-13
    )
    found = dmr.interpolate(MESH, quadratic(SECOND.vertices), INSIDE, **device_options)
    assert np.allclose(found, quadratic(INSIDE), atol=1e-13)


def test_linear_interpolation_is_that_of_scipy():
    interpolate = pytest.importorskip("scipy.interpolate")
    mesh = dmr.triangulate(dmr.Pslg(np.random.default_rng(4).random((80, 2)), np.empty((0, 2), int)), convex_hull=True)
    values = np.random.default_rng(5).random((80, 3))
    expected = interpolate.LinearNDInterpolator(mesh.vertices, values)(INSIDE)
    assert np.allclose(dmr.interpolate(mesh, values, INSIDE), expected, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_nodes_have_their_own_values_even_beside_values_that_are_not_finite(order, device_options):
    nodes = MESH.vertices if order == 1 else SECOND.vertices
    values = np.random.default_rng(3).random(len(nodes))
    values[::7] = np.nan
    values[1::7] = np.inf
    found = dmr.interpolate(MESH, values, MESH.vertices, **device_options)
    assert np.array_equal(found, values[: len(MESH.vertices)], equal_nan=True)


@pytest.mark.parametrize("nearest", [False, True])
def test_points_that_are_sorted_have_the_same_values(monkeypatch, device_options, nearest):
    values, points = np.random.default_rng(3).random((len(MESH.vertices), 2)), INSIDE.repeat(3, axis=0) * 3 - 1
    given = dmr.interpolate(MESH, values, points, nearest=nearest, **device_options)
    monkeypatch.setattr(locator, "SORTED_FROM", 1)
    monkeypatch.setattr(locator, "BLOCK", 999)
    assert np.isnan(given).any() == (not nearest)
    assert np.array_equal(
        dmr.interpolate(MESH, values, points, nearest=nearest, **device_options), given, equal_nan=True
    )
    assert dmr.interpolate(MESH, values, points[:0], **device_options).shape == (0, 2)


def test_midpoints_have_their_own_values():
    values = np.random.default_rng(3).random(6)
    triangle = dmr.Mesh([[0, 0], [2, 0], [0, 2]], [[0, 1, 2]])
    found = dmr.interpolate(triangle, values, dmr.second_order(triangle).vertices)
    assert np.array_equal(found, values)


@pytest.mark.parametrize("name", ["shuffled", "overlapping", "a vertex of many", "no triangles"])
def test_nodes_are_numbered_like_those_of_the_second_order(name, device_options):
    random = np.random.default_rng(4)
    many = np.arange(1, 5001)
    triangles = {
        "shuffled": random.permutation(len(MESH.vertices))[MESH.triangles],
        "overlapping": np.stack([random.permutation(40)[:3] for _ in range(300)]),
        "a vertex of many": np.stack([0 * many, many, many % 5000 + 1], axis=1),  # several tiles of the sort
        "no triangles": np.empty((0, 3), np.int32),
    }[name]
    mesh = dmr.Mesh(random.random((5001, 2)), triangles)
    device, expected = open_device(device_options["device"], device_options.get("threads")), dmr.second_order(mesh)
    device.prepare(*MODULES)
    with device.lock, device.current:
        found = edge_nodes(device.array(mesh.triangles.reshape(-1)), len(mesh.vertices))
        assert found.rows.download().tolist() == expected.triangles.reshape(-1).tolist()
    assert found.edges == len(expected.edges)


def test_outside_there_is_no_value_and_further_axes_are_kept(device_options):
    values = np.arange(24.0).reshape(4, 2, 3)
    found = dmr.interpolate(SQUARE, values, [[0.5, 0.5], [7, 7], [0, 1]], **device_options)
    assert found.shape == (3, 2, 3) and np.isnan(found[1]).all()
    assert np.array_equal(found[0], (values[0] + values[2]) / 2) and np.array_equal(found[2], values[3])
    assert dmr.interpolate(SQUARE, np.empty((4, 0)), [[0, 0]], **device_options).shape == (1, 0)
    assert dmr.interpolate(SQUARE, values, np.empty((0, 2)), **device_options).shape == (0, 2, 3)


def test_the_bits_are_the_same_on_every_device(device_options):
    mesh = dmr.refine(dmr.generate("plate", 60), device="cpu").mesh
    points = np.random.default_rng(6).uniform(-0.5, 3.5, (20_000, 2))
    second = dmr.second_order(mesh)
    for nodes in (mesh.triangles, mesh.vertices, second.vertices):
        values = np.random.default_rng(7).standard_normal((len(nodes), 2))
        expected = dmr.interpolate(mesh, values, points, device="cpu", threads=1)
        found = dmr.Locator(mesh, **device_options).interpolate(values, points)
        assert found.tobytes() == expected.tobytes() and 0 < np.isnan(found).sum() < found.size


def test_triangles_that_rounding_makes_a_line(device_options):
    mesh = dmr.Mesh([[0, 0], [1, 1], [3, np.nextafter(3, 4)]], [[0, 1, 2]])
    points = np.array([[0, 0], [1, 1], [2, 2.0], [3, np.nextafter(3, 4)]])
    inside = dmr.locate(mesh, points) >= 0
    found = dmr.interpolate(mesh, [0, 1, 3], points, **device_options)
    assert inside.sum() >= 3 and np.allclose(found[inside], points[inside, 0], atol=1e-12)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_corners_that_coincide_in_the_differences_from_a_point(first, device_options):
    """Two corners are 1e-20 apart, and the third is 1e20 times as far from them."""
    corners = np.array([[-1.6e-20, 1e-20], [-0.4, -0.13], [-1e-33, 4e-34]])
    mesh = dmr.Mesh(corners, [np.roll([0, 1, 2], first)])
    values = np.array([7.0, 3.0, 8.0])
    assert np.array_equal(dmr.interpolate(mesh, values, corners, **device_options), values)
    half, far = dmr.interpolate(mesh, values, [0.5 * corners[1], [-1, -1]], nearest=True, **device_options)
    assert far == 3.0 and 5.0 <= half <= 5.5


def test_values_that_fit_no_mesh_are_refused():
    octahedron = dmr.Mesh([[0, 0], [3, 0], [0, 3], [1, 1]], [[0, 1, 3], [1, 2, 3], [2, 0, 3]])
    pinched = dmr.Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2], [0, 1, 2], [0, 1, 2]])
    for mesh, values, options, message in (
        (octahedron, np.ones(5), {}, r"values must have 3 \(triangles\), or 4 \(vertices\), or 10 \(vertices and edge"),
        (octahedron, np.ones(3), {"order": 1}, r"values must have 4 \(vertices\) rows, not 3"),
        (pinched, np.ones(3), {}, "3 triangles and as many vertices: choose one of them by order"),
        (octahedron, np.ones(4), {"order": 3}, "order must be 0, 1, 2 or None, not 3"),
        (octahedron, 5.0, {}, "values must be an array"),
        (octahedron, ["a"] * 4, {}, "values must be real numbers"),
        (octahedron, np.ones(4, complex), {}, "values must be real numbers"),
    ):
        with pytest.raises(OptionError, match=message):
            dmr.interpolate(mesh, values, [[0, 0]], **options)
    with pytest.raises(OptionError, match="point 1: coordinates"):
        dmr.interpolate(octahedron, np.ones(4), [[0, 0], [np.nan, 0]])
    assert dmr.interpolate(pinched, [1, 2, 3], [[0, 0]], order=0).tolist() == [1]
    assert dmr.interpolate(pinched, [1, 2, 3], [[1, 0]], order=1).tolist() == [2]


def nearest_points(mesh, points):
    """The nearest point of the mesh to each point outside it, by comparison with all edges of all triangles."""
    start = np.concatenate([mesh.vertices[mesh.triangles[:, k]] for k in range(3)])
    along = np.concatenate([mesh.vertices[mesh.triangles[:, (k + 1) % 3]] for k in range(3)]) - start
    rest = points[:, None] - start
    place = np.clip((rest * along).sum(axis=2) / (along * along).sum(axis=1), 0, 1)
    there = start + place[..., None] * along
    first = np.hypot(*np.moveaxis(there - points[:, None], 2, 0)).argmin(axis=1)
    return there[np.arange(len(points)), first]


def test_outside_the_nearest_point_counts_if_asked_for(device_options):
    mesh = dmr.refine(dmr.generate("plate", 60), device="cpu").mesh
    points = np.random.default_rng(6).uniform(-0.5, 3.5, (3000, 2))
    locator = dmr.Locator(mesh, **device_options)
    inside = locator.locate(points) >= 0
    assert 0 < inside.sum() < len(points)
    there = np.where(inside[:, None], points, nearest_points(mesh, points))
    assert np.allclose(locator.interpolate(linear(mesh.vertices), points, nearest=True), linear(there), atol=1e-12)
    triangles = locator.locate(points, nearest=True)
    assert np.array_equal(triangles[inside], locator.locate(points)[inside])
    numbers = np.arange(len(mesh.triangles))
    assert np.array_equal(locator.interpolate(numbers, points, nearest=True, order=0), triangles)
    second = dmr.second_order(mesh).vertices
    found = locator.interpolate(quadratic(second), points, nearest=True)
    assert np.allclose(found, quadratic(there), atol=1e-12)
    for values in (mesh.vertices, second):
        expected = dmr.interpolate(mesh, values, points, nearest=True, device="cpu", threads=1)
        assert locator.interpolate(values, points, nearest=True).tobytes() == expected.tobytes()


def test_of_equally_near_edges_the_first_counts_and_corners_keep_their_values(device_options):
    points = [[2, 2], [-1, 0.5], [0.5, 9], [0.25, 0.75]]
    assert dmr.interpolate(SQUARE, [0, 1, 2, 3], points, nearest=True, **device_options).tolist() == [2, 1.5, 2.5, 2]
    assert dmr.locate(SQUARE, points, nearest=True, **device_options).tolist() == [0, 1, 1, 1]
    empty = dmr.Mesh(SQUARE.vertices, np.empty((0, 3), np.int32))
    assert dmr.locate(empty, points, nearest=True, **device_options).tolist() == [-1] * 4


@pytest.mark.parametrize("turn", [0.1, 1.3])
def test_a_solution_has_values_at_all_vertices_of_an_adapted_mesh(turn):
    """Rounding moves new vertices of slanted sides out of the mesh, where `interpolate` has no value by default."""
    corner = np.array([np.cos(turn), np.sin(turn)])
    sides = [(0, 0), 3 * corner, 3 * corner + (-corner[1], corner[0]), (-corner[1], corner[0])]
    mesh = dmr.refine(dmr.domains.polygon(sides), size=0.2).mesh
    finer = dmr.adapt(mesh, 0.07).mesh
    without = dmr.interpolate(mesh, linear(mesh.vertices), finer.vertices)
    assert np.isnan(without).any()
    found = dmr.interpolate(mesh, linear(mesh.vertices), finer.vertices, nearest=True)
    assert np.allclose(found, linear(finer.vertices), atol=1e-12)
    assert found[~np.isnan(without)].tobytes() == without[~np.isnan(without)].tobytes()


def test_whether_the_nearest_point_counts_is_a_switch():
    with pytest.raises(OptionError, match="nearest"):
        dmr.locate(SQUARE, [[0, 0]], nearest="yes")
