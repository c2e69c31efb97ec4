"""Places in a background mesh: inside by barycentric weights, outside by the nearest point of an edge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from dmr.memory import open_device
from dmr.mesh.location import box_tree
from dmr.mesh.location.background import DeviceBackground
from dmr.mesh.location.box_tree import POINT, BoxTree, Frame
from tests.support.meshes import grid


def two_parts():
    """A mesh with a hole and two components."""
    mesh = grid(np.arange(6.0))
    centers = mesh.vertices[mesh.triangles].mean(axis=1)
    hole = np.abs(centers - 2).max(axis=1) < 1
    gap = (centers[:, 0] > 3) & (centers[:, 0] < 4)
    return dmr.Mesh(mesh.vertices, mesh.triangles[~hole & ~gap])


@pytest.mark.parametrize("turned", [False, True])
def test_a_place_is_the_point_or_the_nearest_one(turned, device):
    mesh = two_parts()
    if turned:  # every third triangle is clockwise
        triangles = mesh.triangles.copy()
        triangles[::3] = triangles[::3, ::-1]
        mesh = dmr.Mesh(mesh.vertices, triangles)
    points = np.random.default_rng(1).uniform(-3, 8, (700, 2))
    triangles, corners, weights = DeviceBackground(mesh, device).places(points)
    inside = dmr.locate(mesh, points, device="cpu")
    assert 0 < (inside >= 0).sum() < 700 and np.array_equal(triangles[inside >= 0], inside[inside >= 0])
    assert (weights >= 0).all() and np.allclose(weights.sum(axis=1), 1)
    there = (weights[:, :, None] * mesh.vertices[corners]).sum(axis=1)
    assert np.allclose(there[inside >= 0], points[inside >= 0], atol=1e-13)
    distance = np.hypot(*(there - points).T)
    assert np.allclose(distance, nearest_distance(mesh, points), atol=1e-12)
    assert all(set(corner) <= set(mesh.triangles[t]) for t, corner in zip(triangles, corners, strict=True))


def nearest_distance(mesh, points):
    """The distance of each point from the mesh, by comparison with all edges of all triangles."""
    best = np.where(dmr.locate(mesh, points, device="cpu") >= 0, 0, np.inf)
    for k in range(3):
        start, stop = (mesh.vertices[mesh.triangles[:, j]] for j in (k, (k + 1) % 3))
        along, rest = stop - start, points[:, None] - start
        place = np.clip((rest * along).sum(axis=2) / (along * along).sum(axis=1), 0, 1)
        gap = rest - place[..., None] * along
        best = np.minimum(best, np.sqrt((gap * gap).sum(axis=2)).min(axis=1))
    return best


def test_of_equally_near_edges_the_first_counts(device):
    points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]])
    edges = np.array([[1, 2, 2], [0, 3, 3], [4, 5, 5], [0, 1, 1], [3, 2, 2]], np.int32)
    given = device.array(points, POINT)
    device.prepare(*DeviceBackground.modules)
    tree = BoxTree(given, edges, Frame.around(points), edges=True)
    asked = np.array([[0.5, 0.5], [1.5, 0.25], [0, 0], [1, 1], [9, 0.5], [2.0**20, -(2.0**20)]])
    nearest, places = device.empty(len(asked), np.int32), device.empty(len(asked), np.float64)
    device.launch("find_nearest_edges", len(asked), tree.argument, device.array(asked, POINT), nearest, places)
    assert nearest.download().tolist() == [0, 0, 1, 0, 2, 2]
    assert places.download().tolist() == [0.5, 0.25, 0, 1, 0.5, 0]


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("count", [1, 4, 5, 300])
def test_a_small_tree_is_that_of_a_launch_per_step(edges, count, monkeypatch):
    device = open_device("cpu", 1)
    points = np.random.default_rng(count).integers(0, 30, (40, 2)).astype(float)  # some triangles have no area
    corners = np.random.default_rng(count).integers(0, 40, (count, 3)).astype(np.int32)
    if edges:
        corners[:, 2] = corners[:, 1]
    found = []
    for few in (0, box_tree.FEW_ITEMS):
        monkeypatch.setattr(box_tree, "FEW_ITEMS", few)
        tree = BoxTree(device.array(points, POINT), corners, Frame.around(points), edges=edges)
        arrays = (tree.order, tree.flat, *tree._arrays.values())
        found.append([array.download().tobytes() for array in arrays])
    assert found[0] == found[1]


def bow_tie():
    """Two squares that meet at a corner, triangulated."""
    corners = [(0, 0), (1, 0), (1, 1), (0, 1), (2, 1), (2, 2), (1, 2)]
    return dmr.triangulate(dmr.Pslg(corners, [(0, 1), (1, 2), (2, 3), (3, 0), (2, 4), (4, 5), (5, 6), (6, 2)]))


@pytest.mark.parametrize("make", [bow_tie, lambda: dmr.triangulate(np.random.default_rng(2).random((60, 2)))])
def test_places_do_not_depend_on_the_points_before(make):
    mesh = make()
    start, end = (mesh.vertices[mesh.edges[:, k]] for k in (0, 1))
    points = np.concatenate([mesh.vertices, (start + end) / 2, np.random.default_rng(3).uniform(-1, 3, (50, 2))])
    points = np.repeat(points[np.random.default_rng(4).permutation(len(points))], 2, axis=0)
    background = DeviceBackground(mesh, open_device("cpu", 1))
    together = background.places(points)
    alone = [background.places(point[None]) for point in points]
    for one, others in zip(together, zip(*alone, strict=True), strict=True):
        assert one.tobytes() == np.concatenate(others).tobytes()


def test_triangles_without_area_count_by_their_edges(device):
    mesh = dmr.Mesh([[0, 0], [2, 0], [1, 0]], [[0, 1, 2]])
    triangles, corners, weights = DeviceBackground(mesh, device).places(np.array([[0.5, 1.0], [5.0, 0.0]]))
    assert triangles.tolist() == [0, 0] and corners.tolist()[1] == [0, 1, 1]
    assert weights.tolist() == [[0.75, 0.25, 0], [0, 1, 0]]


@pytest.mark.parametrize("scale", [2.0**-80, 1.0, 2.0**190])
def test_places_far_away_and_at_any_scale(scale, device):
    mesh = dmr.Mesh(scale * dmr.generate("random", 50).vertices, dmr.generate("random", 50).triangles)
    points = scale * np.array([[0.5, 0.5], [-1000, 0.5], [1e9, 1e9]])
    triangles, corners, weights = DeviceBackground(mesh, device).places(points)
    there = (weights[:, :, None] * mesh.vertices[corners]).sum(axis=1)
    assert np.allclose(there[0], points[0], rtol=1e-13) and (triangles >= 0).all()
    assert np.array_equal(there[2], mesh.vertices[mesh.vertices.sum(axis=1).argmax()])


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 60), st.integers(0, 2**32 - 1))
def test_places_in_a_triangulation_are_those_in_a_copy_of_it(count, seed):
    """A copy is searched without links, from the root of the tree, for each point."""
    random = np.random.default_rng(seed)
    whole = random.integers(0, 20, (count, 2)).astype(float)
    mesh = dmr.triangulate(np.concatenate([whole, [(0, 0), (20, 1), (3, 20)]]), convex_hull=True)
    copy = dmr.Mesh(mesh.vertices.copy(), mesh.triangles.copy())
    along = random.random((60, 1))
    points = np.concatenate([
        random.uniform(-3, 23, (200, 2)), mesh.vertices, mesh.vertices[mesh.triangles].mean(axis=1),
        0.5 * (mesh.vertices[mesh.triangles[:, 0]] + mesh.vertices[mesh.triangles[:, 1]]),
        mesh.vertices[:1] + along * (mesh.vertices[-1:] - mesh.vertices[:1]),
    ])  # fmt: skip
    device = open_device("cpu", 1)
    here, there = (DeviceBackground(each, device).places(points) for each in (mesh, copy))
    assert all((one == other).all() for one, other in zip(here, there, strict=True))
