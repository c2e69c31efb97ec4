"""Validation of three million triangles in half a minute."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest

from dmr.validation.checker import validate
from tests.support.meshes import grid, triangulated

SIDE = 1226


@pytest.mark.large
@pytest.mark.parametrize("kind", ["random", "grid", "grid far off"])
def test_three_million_triangles_take_half_a_minute(kind):
    if kind == "random":
        mesh = triangulated(np.random.default_rng(1).random((SIDE * SIDE, 2)), "z")
    else:
        mesh = grid(np.linspace(0, 1, SIDE) if kind == "grid" else np.arange(SIDE) * 0.001 + 1e6)
    assert len(mesh.triangles) > 3_000_000
    start = perf_counter()
    report = validate(mesh, input=mesh, min_angle=0.0 if kind == "random" else 44)
    assert perf_counter() - start < 30
    assert report.ok
