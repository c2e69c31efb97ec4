"""Small meshes that between them reach every kernel, for the programs of this folder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import dmr
from dmr.domains.generation import generate
from dmr.io import write
from dmr.mesh.types import Mesh, Pslg
from tests.support.meshes import grid, triangulated


def sheared_grid(side=12, shear=3.0):
    """A valid triangulation, nearly none of whose edges is Delaunay."""
    square = grid(np.arange(side) / side)
    x, y = square.vertices.T
    return Mesh(np.column_stack([x + shear * y, y]), square.triangles)


def star(rays=14):
    """Segments that meet at small angles."""
    angle = np.arange(rays) * 2 * np.pi / rays
    vertices = np.concatenate([[[0, 0]], np.stack([np.cos(angle), np.sin(angle)], axis=-1)])
    segments = [[0, ray] for ray in range(1, rays + 1)]
    return triangulated(vertices, "pc", segments=segments)


def spokes():
    """A square with two segments that meet at a very small angle: cut at equal distances from their corner."""
    square = [(-2, -2), (2, -2), (2, 2), (-2, 2)]
    return Pslg([*square, (0, 0), (1.4, 0), (1.1, 1e-4)], [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [4, 6]])


def with_attributes(mesh):
    random = np.random.default_rng(3)
    return replace(
        mesh,
        vertex_attributes=random.random((len(mesh.vertices), 2)),
        triangle_attributes=random.integers(0, 3, (len(mesh.triangles), 1)).astype(float),
        area_bounds=random.random(len(mesh.triangles)) * 0.02,
    )


def write_small_meshes(folder):
    """Writes the meshes to a folder; returns it."""
    for name, mesh in {
        "random": generate("random", 300),
        "circle": generate("circle", 200),  # large cavities
        "grid": generate("grid", 100),
        "plate": with_attributes(generate("plate", 150)),
        "sheared": sheared_grid(),
        "star": star(),
        "spokes": dmr.triangulate(spokes()),
    }.items():
        write(folder / f"{name}.npz", mesh)
    return folder
