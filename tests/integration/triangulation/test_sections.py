"""Several threads insert points into sections of the curve: the bits of one thread."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr import Pslg
from dmr.triangulation.native import triangulate_plane

POINTS = 40_000  # enough for rounds of several threads (FEWEST_POINTS of serial/delaunay.cpp)


def point_sets():
    random = np.random.default_rng(5)
    k, teeth = np.arange(POINTS), np.arange(50_000)
    turn = k * (2 * np.pi / POINTS)
    grid = random.permutation(POINTS)
    return {
        "random": random.random((POINTS, 2)),
        "a grid": np.stack([grid % 200, grid // 200], axis=1).astype(float),
        "duplicates": random.integers(0, 120, (POINTS, 2)).astype(float),
        "copies of few": np.tile(random.random((9, 2)), (POINTS // 9, 1)),
        "cluster of 1e-12": np.concatenate([random.random((20_000, 2)), 0.5 + 1e-12 * random.random((20_000, 2))]),
        "circle": np.stack([np.cos(turn), np.sin(turn)], axis=1),
        "line and one off it": np.concatenate([np.stack([k, 2 * k], axis=1), [[0, 7]]]).astype(float),
        "comb": np.concatenate([np.stack([teeth / 50_000, teeth % 2], axis=1), [[1, -1], [0, -1]]]),
        "two parallel lines": np.stack([k // 2, k % 2], axis=1).astype(float),
    }


POINT_SETS = point_sets()


def assert_same(found, expected):
    for mine, other in ((found, expected), (found.tables, expected.tables)):
        for name in vars(other).keys() - {"tables"}:
            assert np.array_equal(getattr(mine, name), getattr(other, name)), name


@pytest.mark.parametrize("threads", [2, 7])
@pytest.mark.parametrize("name", POINT_SETS)
def test_threads_do_not_change_a_triangulation(name, threads):
    pslg = Pslg(POINT_SETS[name], np.empty((0, 2), np.int32))
    expected = triangulate_plane(pslg, convex_hull=True)
    found = triangulate_plane(pslg, convex_hull=True, threads=threads)
    # The vertices of the hull have no order.
    assert np.array_equal(np.sort(found.hull), np.sort(expected.hull))
    assert_same(found, expected.__class__(**vars(expected) | {"hull": found.hull}))


def test_segments_that_cross_among_many_points():
    random = np.random.default_rng(8)
    pslg = Pslg(random.random((POINTS, 2)), random.integers(0, POINTS, (12, 2)), holes=[[0.5, 0.5]])
    expected = triangulate_plane(pslg)
    found = triangulate_plane(pslg, threads=3)
    tables = ("triangles", "neighbours", "labels", "edges", "new_vertices", "left", "right", "left_side", "hole_labels")
    for name in tables:
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


def test_meshes_are_the_same_for_every_number_of_threads():
    meshes = [dmr.triangulate(POINT_SETS["duplicates"], device="cpu", threads=threads) for threads in (1, 2, 5)]
    serial = dmr.triangulate(POINT_SETS["duplicates"], method="serial", device="cpu", threads=4)
    for mesh in meshes:
        assert np.array_equal(mesh.triangles, serial.triangles)
