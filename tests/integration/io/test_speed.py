"""Times of reading and writing the thesis' mesh of 1.1 M triangles: printed (pytest -s), not asserted."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dmr.io import read, write
from dmr.mesh.types import Mesh


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


@pytest.mark.slow
def test_reading_and_writing_speed(tmp_path: Path) -> None:
    n = 742  # 550,564 vertices, 1,098,162 triangles
    index = np.arange(n * n, dtype=np.int32).reshape(n, n)
    a, b, c, d = (part.ravel() for part in (index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]))
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    mesh = Mesh(np.random.default_rng(1).random((n * n, 2)), triangles)
    for name in ("a.ele", "a.npz", "a.vtu", "a.vtk", "a.msh", "a.ply"):
        path = tmp_path / name
        written = seconds(lambda path=path: write(path, mesh))
        size = sum(p.stat().st_size for p in tmp_path.iterdir())
        taken = seconds(lambda path=path: read(path))
        print(f"{name}: written in {written:.3f} s, read in {taken:.3f} s, {size / 1e6:.0f} MB")
        for p in tmp_path.iterdir():
            p.unlink()
