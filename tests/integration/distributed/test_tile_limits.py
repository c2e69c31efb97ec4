"""Bounds on angles that cannot be reached: tiles end early, with a valid union that is not much larger than others."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr.distributed.tiles.bounds import OF_BUDGET, Bounds, limited
from dmr.refinement.options import RefineOptions


@pytest.fixture(scope="module")
def mesh() -> dmr.Mesh:
    return dmr.triangulate(np.random.default_rng(0).random((50, 2)))


def test_tiles_end_early_if_the_angles_cannot_be_reached(mesh, tmp_path):
    found = []
    for threads in (1, 2):
        options = {"min_angle": 50, "max_area": 0.05, "device": "cpu", "threads": threads}
        parts = dmr.distributed.refine(mesh, tmp_path / str(threads), tile_triangles=220, **options)
        assert not parts.manifest["complete"]
        assert parts.manifest["unrefined"]["budget"] > 500
        found.append(parts.gather())
    assert len(found[0].triangles) < 20_000  # each tile alone would grow to two million
    assert dmr.validate(found[0], input=mesh).ok
    np.testing.assert_array_equal(found[0].triangles, found[1].triangles)
    np.testing.assert_array_equal(found[0].vertices, found[1].vertices)


def test_large_angles_that_can_be_reached_are(mesh, tmp_path):
    options = {"min_angle": 35, "max_area": 0.002, "device": "cpu", "threads": 1}
    parts = dmr.distributed.refine(mesh, tmp_path / "parts", tile_triangles=220, **options)
    assert parts.manifest["complete"]
    assert dmr.validate(parts.gather(), input=mesh, min_angle=35).ok


@pytest.mark.parametrize(("angle", "conforming"), [(33.0, False), (30.0, True)])
def test_no_limit_up_to_the_angles_that_were_always_reached(mesh, angle, conforming):
    none = np.zeros(len(mesh.triangles), np.uint8)
    below = Bounds(options=RefineOptions(min_angle=angle, conforming=conforming))
    assert limited(mesh, below, none).max_steiner is None
    above = Bounds(options=RefineOptions(min_angle=angle + 0.5, conforming=conforming))
    assert 1000 < limited(mesh, above, none).max_steiner < 10_000


def test_a_tile_beside_one_at_its_limit_inserts_nothing(mesh):
    reasons = np.zeros(len(mesh.triangles), np.uint8)
    reasons[5] = OF_BUDGET
    assert limited(mesh, Bounds(options=RefineOptions(min_angle=40)), reasons).max_steiner == 0
