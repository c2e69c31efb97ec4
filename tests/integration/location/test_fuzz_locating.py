"""Point location among small integers, where degeneracy lives, compared with exact rational arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from tests.support.meshes import part_of
from tests.support.planar import lowest_triangles


@pytest.mark.slow
@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=14, unique=True),
    st.integers(0, 2**16),
)
def test_points_of_small_integers_are_located_exactly(vertices, seed):
    array = np.array(vertices, float)
    if np.linalg.matrix_rank(array[1:] - array[0]) < 2:
        return  # on one line
    mesh = part_of(dmr.triangulate(dmr.Pslg(array, np.empty((0, 2), int)), convex_hull=True), seed)
    points = np.stack(np.meshgrid(np.arange(-1, 15), np.arange(-1, 15)), axis=-1).reshape(-1, 2) / 2
    assert dmr.locate(mesh, points, device="cpu").tolist() == lowest_triangles(mesh, points)
