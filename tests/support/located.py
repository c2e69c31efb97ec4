"""Point location in exact rational arithmetic, and meshes with holes and several components."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import dmr


def exact(mesh, points):
    """The lowest triangle that contains each point, from exact rational arithmetic."""
    vertices = [[Fraction(x) for x in vertex] for vertex in mesh.vertices.tolist()]

    def contains(triangle, p):
        signs = set()
        for k in range(3):
            (ax, ay), (bx, by) = (vertices[triangle[j]] for j in (k, (k + 1) % 3))
            area = (ax - p[0]) * (by - p[1]) - (ay - p[1]) * (bx - p[0])
            signs.add((area > 0) - (area < 0))
        return not {1, -1} <= signs

    places = [[Fraction(x) for x in point] for point in np.asarray(points).tolist()]
    corners = mesh.triangles.tolist()
    return [next((t for t, each in enumerate(corners) if contains(each, p)), -1) for p in places]


def part_of(mesh, seed):
    """Some triangles of a mesh, in random order and orientation, with holes and several components."""
    random = np.random.default_rng(seed)
    chosen = random.permutation(len(mesh.triangles))[: max(1, 2 * len(mesh.triangles) // 3)]
    triangles = mesh.triangles[chosen]
    turned = random.random(len(chosen)) < 0.3
    triangles[turned] = triangles[turned][:, ::-1]
    return dmr.Mesh(mesh.vertices, triangles)
