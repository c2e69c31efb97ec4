"""Delaunay triangulation of points, against scipy where it is unique and against exact brute force elsewhere."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from dmr import Pslg
from dmr.errors import InvalidMeshError
from tests.support.planar import assert_delaunay, triangle_set

NO_SEGMENTS = np.empty((0, 2), np.int32)


def triangulate(points):
    return dmr.triangulate(Pslg(points, NO_SEGMENTS))


def counter_clockwise(points, triangles):
    """The triangles of scipy, which may have either orientation."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    (ux, uy), (vx, vy) = (b - a).T, (c - a).T
    return np.where((ux * vy - uy * vx > 0)[:, None], triangles, triangles[:, ::-1])


def assert_same_as_scipy(points):
    found = pytest.importorskip("scipy.spatial").Delaunay(points)
    assert not len(found.coplanar)
    assert triangle_set(triangulate(points).triangles) == triangle_set(counter_clockwise(points, found.simplices))


# ---- Points in general position: the triangulation is unique -------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 4, 5, 10, 100, 1000, 20_000])
def test_random_points_agree_with_scipy(count):
    assert_same_as_scipy(np.random.default_rng(count).random((count, 2)))


@pytest.mark.parametrize("seed", range(20))
def test_few_random_points_agree_with_scipy(seed):
    random = np.random.default_rng(seed)
    assert_same_as_scipy(random.normal(size=(random.integers(3, 30), 2)))


def test_clusters_agree_with_scipy():
    random = np.random.default_rng(1)
    centers = random.random((30, 2))
    assert_same_as_scipy(centers[random.integers(0, 30, 4000)] + 1e-4 * random.normal(size=(4000, 2)))


def test_the_order_of_the_points_does_not_matter():
    random = np.random.default_rng(3)
    points = random.random((500, 2))
    order = random.permutation(500)
    renamed = triangulate(points[order])
    assert triangle_set(order[renamed.triangles]) == triangle_set(triangulate(points).triangles)


def test_missing_segments_are_logged(caplog):
    with caplog.at_level(logging.WARNING, "dmr"):
        triangulate([[0, 0], [1, 0], [0, 1]])
    assert "there are no segments: the convex hull of the vertices is meshed" in caplog.text


# ---- Degenerate positions, by brute force --------------------------------------------------------------------------

CIRCLE_65 = [[x, y] for x in range(-65, 66) for y in range(-65, 66) if x * x + y * y == 65 * 65]

DEGENERATE = {
    "a grid": [[x, y] for x in range(6) for y in range(5)],
    "a long grid": [[x, y] for x in range(14) for y in range(2)],
    "a grid in tenths": [[x / 10, y / 10] for x in range(6) for y in range(5)],
    "a grid far off": [[1e6 + x / 3, y / 3 - 1e6] for x in range(5) for y in range(5)],
    "a circle": CIRCLE_65,
    "a circle and its center": [*CIRCLE_65, [0, 0]],
    "a line and one point": [*([k, 3 * k] for k in range(20)), [7, 0]],
    "a line, one point first": [[7, 0], *([k, 3 * k] for k in range(20))],
    "a line and a point an ulp off it": [*([k, k] for k in range(1, 12)), [5, np.nextafter(5, 6)]],
    "a line and one point on each side": [*([0, k] for k in range(20)), [-1, 7], [1, 7]],
    "two lines that cross": [*([k, 0] for k in range(-5, 6)), *([0, k] for k in range(-5, 6))],
    "two parallel lines": [*([k, 0] for k in range(12)), *([k, 1] for k in range(12))],
    "a parabola": [[k, k * k] for k in range(-12, 12)],
    "a parabola and a line": [*([k, k * k] for k in range(-8, 9)), *([k, 0] for k in range(-8, 9))],
    "two clusters, 1e12 times their width apart": [
        *([x, y] for x in range(4) for y in range(4)),
        *([3e12 + x, 1e12 + y] for x in range(4) for y in range(4)),
    ],
    "neighbouring doubles": [[1 + i * 2.0**-52, 1 + j * 2.0**-52] for i in range(5) for j in range(5)],
    "neighbours of a far point": [[0, 0], *([1e15 + i, 1e15 + j] for i in range(3) for j in range(3))],
    "the smallest and the largest": [[0, 0], [2.0**-142, 0], [0, 2.0**-142], [2.0**201, 2.0**201], [2.0**201, 0]],
    "around the smallest": [[x * 2.0**-142, y * 2.0**-142] for x in range(3) for y in range(3)] + [[1, 1]],
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_sets_agree_with_brute_force(name):
    points = np.array(DEGENERATE[name], float)
    assert_delaunay(triangulate(points), points)


@pytest.mark.parametrize("copies", [1, 2, 5])
def test_equal_points_are_merged_into_the_first(copies):
    points = np.array([[0, 0], [4, 0], [4, 3], [0, 3], [2, 1]], float)
    given = np.tile(points, (copies + 1, 1))
    given[5:] = given[5:][np.random.default_rng(1).permutation(5 * copies)]
    mesh = triangulate(given)
    assert_delaunay(mesh, points)
    assert np.unique(mesh.triangles).tolist() == [0, 1, 2, 3, 4]
    assert np.array_equal(mesh.vertices, given)


def test_zeros_of_either_sign_are_equal():
    mesh = triangulate([[0.0, -0.0], [1, 0.0], [0.0, 1], [-0.0, 0.0], [1, -0.0]])
    assert triangle_set(mesh.triangles) == {(0, 1, 2)}
    assert np.signbit(mesh.vertices[3, 0])  # bit for bit


def test_many_copies_of_three_points():
    mesh = triangulate(np.tile([[0, 0], [1, 0], [0, 1]], (1000, 1)))
    assert triangle_set(mesh.triangles) == {(0, 1, 2)}


def test_too_many_vertices_for_the_half_edges_are_refused(monkeypatch):
    points = np.random.default_rng(1).random((20, 2))
    monkeypatch.setattr("dmr.triangulation.native.MOST_VERTICES", 20)
    assert len(dmr.triangulate(Pslg(points, [])).triangles) > 0
    monkeypatch.setattr("dmr.triangulation.native.MOST_VERTICES", 19)
    with pytest.raises(InvalidMeshError, match=r"^20 vertices"):
        dmr.triangulate(Pslg(points, []))


@pytest.mark.parametrize(("count", "words"), [(0, "0 vertices span"), (1, "1 vertex spans"), (2, "2 vertices span")])
def test_fewer_than_three_points_are_refused(count, words):
    with pytest.raises(InvalidMeshError, match=f"^{words} no triangle$"):
        triangulate(np.arange(2.0 * count).reshape(count, 2))


@pytest.mark.parametrize(
    "points",
    [
        [[k, 2 * k] for k in range(9)],
        [[1, k] for k in range(3)],
        [[k / 10, k / 10] for k in range(30)],
        [[1, 1]] * 5,
        [[1, 1], [2, 2], [1, 1], [2, 2]],
        [[2.0**-142, 0], [2.0**201, 0], [0, 0]],
    ],
)
def test_collinear_points_are_refused(points):
    for convex_hull in (False, True):
        with pytest.raises(InvalidMeshError, match="all vertices lie on one line"):
            dmr.triangulate(Pslg(points, NO_SEGMENTS), convex_hull=convex_hull)


def test_three_points_an_ulp_off_a_line_are_a_triangle():
    mesh = triangulate([[0, 0], [1, 1], [2, np.nextafter(2, 3)]])
    assert triangle_set(mesh.triangles) == {(0, 1, 2)}


tiny, small = st.integers(-2, 2), st.integers(-3, 3)


@pytest.mark.slow
@given(st.lists(st.tuples(small, small), min_size=3, max_size=16))
@settings(max_examples=75)
def test_small_integer_points_agree_with_brute_force(points):
    distinct = sorted(set(points))
    (ax, ay), *others = distinct
    directions = [(x - ax, y - ay) for x, y in others]
    if all(x * directions[0][1] == y * directions[0][0] for x, y in directions):
        with pytest.raises(InvalidMeshError, match="all vertices lie on one line"):
            triangulate(points)
    else:
        assert_delaunay(triangulate(points), points)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=4, max_size=12), st.sampled_from([0.1, 1e6])
)
@settings(max_examples=60)
def test_points_a_few_ulps_apart_agree_with_brute_force(steps, place):
    points = place + np.array([*steps, (-3, -3), (3, -3), (0, 3)]) * np.spacing(place)
    assert_delaunay(triangulate(points), points)


# ---- Large sets ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["random", "grid", "circle", "line and point", "parabola", "lattice on a curve"])
def test_large_sets_pass_the_exact_checker(kind):
    random = np.random.default_rng(4)
    count = 40_000
    k = np.arange(count)
    points = {
        "random": lambda: random.random((count, 2)),
        "grid": lambda: np.stack([k % 200, k // 200], axis=1).astype(float),
        "circle": lambda: np.stack([np.cos(k), np.sin(k)], axis=1),
        "line and point": lambda: np.concatenate([np.stack([k, 2 * k], axis=1), [[0, 7]]]).astype(float),
        "parabola": lambda: np.concatenate([np.stack([k / count, (k / count) ** 2], axis=1), random.random((9, 2))]),
        "lattice on a curve": lambda: np.stack([k, (k * k) % 1009], axis=1).astype(float),
    }[kind]()
    mesh = triangulate(points)
    report = dmr.validate(mesh, input=Pslg(points, NO_SEGMENTS))
    assert report.ok, report.failures
    assert np.unique(mesh.triangles).size == len(points)
