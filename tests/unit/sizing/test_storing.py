"""Sizes as arrays: every kind of source gives the same bits after storing."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr.sizing import SizeField, from_distance, sampled, smallest
from dmr.sizing.functions import size_source
from dmr.sizing.source import SizeSource
from dmr.sizing.storing import sizes_as_arrays, sizes_from_arrays

MESH = dmr.generate("random", 60, seed=2)
RNG = np.random.default_rng(5)
ON_VERTICES = SizeField(MESH, 0.1 + RNG.random(len(MESH.vertices)))
ON_GRID = SizeField.from_grid([0, 0.2, 1], [0, 1], [[0.1, 0.5, 0.2], [0.3, 0.1, 0.4]])
SOURCES: dict[str, SizeSource] = {
    "number": size_source(0.25),
    "vertices": ON_VERTICES,
    "triangles": SizeField(MESH, 0.1 + RNG.random(len(MESH.triangles))),
    "grid": ON_GRID,
    "samples": sampled(lambda points: 0.05 + points[:, 0], MESH),
    "segments": from_distance(dmr.domains.rectangle(1, 1), 0.1, 0.5, 2.0),
    "smallest": smallest(ON_VERTICES, smallest(ON_GRID, 0.3), from_distance(MESH, 0.01, 1.0, 3.0)),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_stored_sizes_have_the_same_bits(kind):
    points = RNG.random((500, 2)) * 1.5 - 0.25
    arrays = sizes_as_arrays(SOURCES[kind], "name")
    again = sizes_from_arrays(arrays, "name")
    assert again is not None and again.number == SOURCES[kind].number
    np.testing.assert_array_equal(again(points), SOURCES[kind](points))
    for name, array in sizes_as_arrays(again, "name").items():
        assert array.tobytes() == arrays[name].tobytes()


def test_there_may_be_no_sizes():
    assert sizes_from_arrays(sizes_as_arrays(ON_GRID, "one"), "other") is None
