"""The triangulation is unique: ties go to the lowest number, and triangles are numbered canonically."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from dmr import Pslg
from tests.support.planar import edge_set, in_circle, orientation

NO_SEGMENTS = np.empty((0, 2), np.int32)


def triangulate(points, segments=NO_SEGMENTS):
    return dmr.triangulate(Pslg(np.asarray(points, float), segments), convex_hull=True)


def tied_edges(mesh):
    """Asserts that every edge between two triangles that is not a segment is Delaunay, exactly, and that a tied one has
    the lowest number of its four; returns the number of tied edges."""
    fixed = edge_set(mesh.segments)
    opposite = {}
    for corners in mesh.triangles.tolist():
        for k in range(3):
            opposite.setdefault(tuple(sorted(corners[:k] + corners[k + 1 :])), []).append((corners[k], corners))
    tied = 0
    for edge, sides in opposite.items():
        if len(sides) < 2 or edge in fixed:
            continue
        (a, corners), (b, _) = sides
        sign = in_circle(*mesh.vertices[corners], mesh.vertices[b])
        assert sign <= 0
        if sign == 0:
            tied += 1
            assert min(edge) < min(a, b)
    return tied


def assert_numbered(mesh):
    """Asserts that triangles begin with their lowest vertex, and follow the curve by it, then their vertices."""
    assert (mesh.triangles[:, 0] == mesh.triangles.min(axis=1)).all()
    low = mesh.vertices.min(axis=0)
    cells = (mesh.vertices - low) * (2.0**16 / (mesh.vertices.max(axis=0) - low).max())
    keys = [hilbert(*cell) for cell in np.clip(cells, 0, 2**16 - 1).astype(int).tolist()]
    rows = [(keys[a], a, b, c) for a, b, c in mesh.triangles.tolist()]
    assert rows == sorted(rows)


def hilbert(x, y, levels=16):
    """Position of a cell along the curve: quadrants in the order lower left, upper left, upper right, lower right."""
    if levels == 0:
        return 0
    half = 2 ** (levels - 1)
    quarter = half * half
    if x < half:
        return quarter + hilbert(x, y - half, levels - 1) if y >= half else hilbert(y, x, levels - 1)
    if y >= half:
        return 2 * quarter + hilbert(x - half, y - half, levels - 1)
    return 3 * quarter + hilbert(half - 1 - y, 2 * half - 1 - x, levels - 1)


def grid(columns, rows, seed):
    k = np.random.default_rng(seed).permutation(columns * rows)
    return np.stack([k % columns, k // columns], axis=1).astype(float)


@pytest.mark.parametrize("seed", range(3))
def test_ties_on_a_grid_go_to_the_lowest_number(seed):
    mesh = triangulate(grid(9, 7, seed))
    assert tied_edges(mesh) == 8 * 6
    assert_numbered(mesh)


def test_a_circle_is_a_fan_around_its_lowest_number():
    circle = [[x, y] for x in range(-65, 66) for y in range(-65, 66) if x * x + y * y == 65 * 65]
    mesh = triangulate(np.random.default_rng(1).permutation(circle))
    assert tied_edges(mesh) == len(circle) - 3
    assert (mesh.triangles[:, 0] == 0).all()
    assert_numbered(mesh)


@pytest.mark.parametrize("copies", [2, 7])
def test_duplicates_decide_ties_by_their_lowest_number(copies):
    points = np.random.default_rng(copies).permutation(np.tile(grid(6, 5, 0), (copies, 1)))
    mesh = triangulate(points)
    first = {point: number for number, point in reversed(list(enumerate(map(tuple, points.tolist()))))}
    assert set(mesh.triangles.ravel().tolist()) == set(first.values())
    assert tied_edges(mesh) == 5 * 4


@pytest.mark.parametrize("seed", range(5))
def test_ties_beside_segments_and_crossings(seed):
    random = np.random.default_rng(seed)
    points = grid(7, 7, seed)
    segments = random.integers(0, 49, (6, 2))
    mesh = triangulate(points, segments)
    assert tied_edges(mesh) > 0
    assert_numbered(mesh)
    order = random.permutation(6)
    again = triangulate(points, segments[order][:, ::-1])
    if len(mesh.vertices) == len(points):  # otherwise crossings are numbered by their segments
        assert np.array_equal(again.triangles, mesh.triangles)


def test_crossings_are_numbered_by_their_segments():
    ends = np.array([[0, 0], [8, 8], [0, 8], [8, 0], [0, 2], [8, 2], [0, 6], [8, 6]], float)
    mesh = triangulate(ends, np.arange(8).reshape(4, 2))
    assert mesh.vertices[8:].tolist() == [[4, 4], [2, 2], [6, 6], [6, 2], [2, 6]]
    assert_numbered(mesh)


small = st.integers(-3, 3)


@pytest.mark.slow
@given(st.lists(st.tuples(small, small), min_size=3, max_size=20), st.data())
@settings(max_examples=60)
def test_the_triangulation_of_integer_points_and_segments_is_canonical(points, data):
    if all(orientation(points[0], p, q) == 0 for p in points for q in points):
        return
    ends = st.integers(0, len(points) - 1)
    segments = np.array(data.draw(st.lists(st.tuples(ends, ends), max_size=3)), np.int32).reshape(-1, 2)
    mesh = triangulate(points, segments)
    tied_edges(mesh)
    assert_numbered(mesh)
