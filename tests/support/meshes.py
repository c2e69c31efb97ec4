"""Small meshes and outlines that several tests use."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from dmr.mesh.types import Mesh, Pslg
from dmr.refinement import refine

ARRAYS = (
    "vertices", "triangles", "segments", "segment_markers", "vertex_markers", "vertex_attributes",
    "triangle_attributes", "area_bounds",
)  # fmt: skip


def assert_equal_meshes(found: Mesh, expected: Mesh) -> None:
    """Asserts that two meshes have the same bits in all arrays."""
    for name in ARRAYS:
        left, right = getattr(found, name), getattr(expected, name)
        assert left.shape == right.shape and left.tobytes() == right.tobytes(), name


def grid(xs: Any, ys: Any = None) -> Mesh:
    """Grid of points at `xs` x `ys` (default: `xs`), each cell cut in two along its rising diagonal."""
    xs, ys = np.asarray(xs), np.asarray(xs if ys is None else ys)
    vertices = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    corner = (np.arange(len(ys) - 1)[:, None] * len(xs) + np.arange(len(xs) - 1)).ravel()
    lower = np.stack([corner, corner + 1, corner + 1 + len(xs)], axis=1)
    upper = np.stack([corner, corner + 1 + len(xs), corner + len(xs)], axis=1)
    return Mesh(vertices, np.concatenate([lower, upper]).astype(np.int32))


def fan() -> Mesh:
    """Skinny mesh: a 12 by 1 rectangle whose upper side is fanned out from its lower left corner, 7 triangles."""
    lower = [[0.0, 0.0], [12.0, 0.0]]
    upper = [[x, 1.0] for x in np.linspace(12, 0, 7)]
    return Mesh(lower + upper, [[0, k, k + 1] for k in range(1, 8)])


def circle_outline(count: int, seed: int = 1) -> Pslg:
    """Polygon of random points on the unit circle."""
    angles = np.sort(np.random.default_rng(seed).random(count)) * 2 * np.pi
    ends = np.arange(count)
    return Pslg(np.column_stack([np.cos(angles), np.sin(angles)]), np.column_stack([ends, np.roll(ends, -1)]))


def triangulated(vertices: Any, switches: str = "", **more: Any) -> Mesh:
    """Mesh that Shewchuk's Triangle makes of vertices and `more` of its input; skips the test where it is missing."""
    triangle = pytest.importorskip("triangle")
    return Mesh.from_triangle(triangle.triangulate({"vertices": vertices, **more}, switches))


def qhull_mesh(found: Any) -> Mesh:
    """Mesh of a `scipy.spatial.Delaunay`, whose triangles may be clockwise, with all triangles counter-clockwise."""
    corners = found.simplices.astype(np.int32)
    a, b, c = found.points[corners].transpose(1, 0, 2)
    clockwise = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) < (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    corners[clockwise] = corners[clockwise][:, ::-1]
    return Mesh(found.points, corners)


def part_of(mesh, seed):
    """Some triangles of a mesh, in random order and orientation, with holes and several components."""
    random = np.random.default_rng(seed)
    chosen = random.permutation(len(mesh.triangles))[: max(1, 2 * len(mesh.triangles) // 3)]
    triangles = mesh.triangles[chosen]
    turned = random.random(len(chosen)) < 0.3
    triangles[turned] = triangles[turned][:, ::-1]
    return Mesh(mesh.vertices, triangles)


def plate_outline() -> Pslg:
    """A square with a square hole, a segment across, two regions, names, and a point in the hole."""
    outer, inner = [[0, 0], [4, 0], [4, 3], [0, 3]], [[1, 1], [2, 1], [2, 2], [1, 2]]
    ring = np.column_stack([np.arange(4), np.roll(np.arange(4), -1)])
    return Pslg(
        [*outer, *inner, [3, 0], [3, 3], [1.5, 1.25]],
        [[0, 8], [8, 1], [1, 2], [2, 9], [9, 3], [3, 0], *(ring + 4), [8, 9]],
        segment_markers=[2, 2, 3, 4, 4, 5, 6, 6, 6, 6, 7],
        vertex_markers=[9, *[0] * 10],
        vertex_attributes=np.linspace(-1, 1, 11)[:, None],
        holes=[[1.5, 1.5]],
        regions=[[0.5, 0.5, 1, 0.02], [3.5, 0.5, 2, 0.01]],
        names={"regions": {1: "steel", 2: "air"}, "markers": {6: "bore"}},
    )


@cache
def plate() -> Mesh:
    """The outline, refined: about 1,300 triangles."""
    return refine(plate_outline(), min_angle=30).mesh
