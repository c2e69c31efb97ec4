"""Point sets that are hard to triangulate in parallel, and the comparison with the serial code."""

from __future__ import annotations

import numpy as np

from dmr import Pslg
from dmr.triangulation.native import triangulate_plane


def _sets():
    random = np.random.default_rng(7)
    k = np.arange(600.0)
    circle = np.stack([np.cos(k), np.sin(k)], axis=1)
    grid = random.permutation(24 * 25)
    return {
        "three": random.random((3, 2)),
        "a few": random.random((9, 2)),
        "random": random.random((1500, 2)),
        "grid": np.stack([grid % 24, grid // 24], axis=1).astype(float),
        "duplicates": random.integers(0, 12, (800, 2)).astype(float),
        "zeros of either sign": random.choice([-1.0, -0.0, 0.0, 1.0], (60, 2)),
        "copies of few": np.tile(random.random((5, 2)), (150, 1)),
        "cluster of 1e-12": np.concatenate([random.random((200, 2)), 0.5 + 1e-12 * random.random((500, 2))]),
        "line and one off it": np.concatenate([np.stack([k, 2 * k], axis=1), [[0, 7]]]),
        "circle": circle,
        "circle and its centre": np.concatenate([circle, [[0, 0]]]),
        "parabola": np.stack([k, k * k], axis=1),
        "two parallel lines": np.stack([k // 2, k % 2], axis=1),
    }


POINT_SETS = _sets()


def assert_as_by_serial_code(found, points):
    """Asserts that `triangulate_points` gave the triangles, neighbours and equal points of the serial code."""
    expected = triangulate_plane(Pslg(points, np.empty((0, 2), np.int32)), convex_hull=True)
    assert np.array_equal(found.triangles, expected.triangles)
    assert np.array_equal(found.neighbours, expected.neighbours)
    assert np.array_equal(found.same_as, expected.same_as)
