"""Pieces of a mesh, as folders hold them."""

from __future__ import annotations

import numpy as np
import pytest

from dmr import Mesh
from dmr.distributed.tiles.piece import MESH_ARRAYS, Piece
from dmr.errors import InvalidMeshError

SQUARE = Mesh(
    [[0, 0], [1, 0], [1, 1], [0, 1]],
    [[0, 1, 2], [0, 2, 3]],
    segments=[[0, 1], [2, 3]],
    segment_markers=[7, -3],
    vertex_attributes=[[0.5], [1.5], [2.5], [3.5]],
    triangle_attributes=[[4.0], [5.0]],
    area_bounds=[0.1, -1.0],
)


def test_what_is_saved_is_loaded():
    stored: dict[str, np.ndarray] = {}
    Piece(SQUARE, np.array([10, 2**40, 3, 4])).save(stored)
    assert "vertex_markers" not in stored
    again = Piece.load(stored)
    assert again.numbers.tolist() == [10, 2**40, 3, 4]
    for name in MESH_ARRAYS:
        np.testing.assert_array_equal(getattr(again.mesh, name), getattr(SQUARE, name))


def test_every_vertex_has_a_number():
    with pytest.raises(InvalidMeshError, match=r"shape \(4,\), not \(3,\)"):
        Piece(SQUARE, np.arange(3))
