"""Meshes from and to meshio's objects keep everything."""

from __future__ import annotations

import meshio
import numpy as np
import pytest

import dmr
from dmr.errors import FileError
from dmr.io import from_meshio, to_meshio


def test_a_mesh_comes_back_whole() -> None:
    mesh = dmr.Mesh(
        [[0, 0], [1, 0], [1, 1], [0, 1]],
        [[0, 1, 2], [0, 2, 3]],
        segments=[[0, 2], [1, 2]],
        segment_markers=[7, 8],
        vertex_markers=[1, 2, 3, 4],
        vertex_attributes=[[0.1], [0.2], [0.3], [0.4]],
        triangle_attributes=[[5.0], [6.5]],
        area_bounds=[0.5, -1.0],
    )
    found = to_meshio(mesh)
    assert isinstance(found, meshio.Mesh)
    back = from_meshio(found)
    for name in ("vertices", "triangles", "segments", "segment_markers", "vertex_markers", "vertex_attributes",
                 "triangle_attributes", "area_bounds"):  # fmt: skip
        assert np.array_equal(getattr(back, name), getattr(mesh, name)), name


def test_what_is_no_plane_mesh_is_refused() -> None:
    tilted = meshio.Mesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 1]]), [("triangle", np.array([[0, 1, 2]]))])
    with pytest.raises(FileError, match="flat"):
        from_meshio(tilted)
