"""Several threads insert points and segments into parts of the plane: the bits of one thread."""

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
        # The thread that has the copies is idle soon, and the other one leaves points to it (FEWEST_LEFT).
        "copies beside others": np.concatenate(
            [np.tile(random.random((99, 2)), (900, 1)), 1 + random.integers(0, 999, (120_000, 2)) / 999]
        ),
        "two parallel lines": np.stack([k // 2, k % 2], axis=1).astype(float),
    }


POINT_SETS = point_sets()


def assert_same(found, expected):
    for mine, other in ((found, expected), (found.tables, expected.tables)):
        for name in vars(other).keys() - {"tables", "threads"}:
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


def outlines():
    """Segments that meet nowhere, none of which is an edge before they are inserted; and some that meet."""
    random = np.random.default_rng(8)
    cells = random.permutation(100 * 100)
    corner = np.stack([cells % 100, cells // 100], axis=1)[:, None]
    ends = (corner + 0.1 + 0.8 * random.random((10_000, 2, 2))).reshape(-1, 2)  # one segment per cell
    apart = np.arange(20_000).reshape(-1, 2)
    among = np.concatenate([ends, 100 * random.random((POINTS, 2))])
    long = np.concatenate([apart, [[20_000, 20_001]]])  # across other segments
    number = np.arange(10_000)
    turn = number * (2 * np.pi / 10_000)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1) * (1 + 0.5 * random.random((10_000, 1)))
    around = np.stack([number, (number + 1) % 10_000], axis=1)
    twice = np.concatenate([apart, apart[-5:, ::-1]])
    return {
        "apart": Pslg(among, apart),
        "a rough ring": Pslg(ring, around, holes=[[0.1, 0.1]]),
        "one crosses others": Pslg(among, long),
        "a thousand cross": Pslg(random.random((2000, 2)), np.arange(2000).reshape(-1, 2)[:150]),
        "some twice": Pslg(among, twice),
        "many cross": Pslg(among[20_000:], random.integers(0, POINTS, (12, 2)), holes=[[50.1, 50.2]]),
    }


OUTLINES = outlines()


@pytest.mark.parametrize("name", OUTLINES)
def test_threads_do_not_change_segments(name):
    expected = triangulate_plane(OUTLINES[name])
    for threads in (2, 5):
        found = triangulate_plane(OUTLINES[name], threads=threads)
        assert np.array_equal(np.sort(found.hull), np.sort(expected.hull))
        assert_same(found, expected.__class__(**vars(expected) | {"hull": found.hull}))


def test_meshes_are_the_same_for_every_number_of_threads():
    meshes = [dmr.triangulate(POINT_SETS["duplicates"], device="cpu", threads=threads) for threads in (1, 2, 5)]
    serial = dmr.triangulate(POINT_SETS["duplicates"], method="serial", device="cpu", threads=4)
    for mesh in meshes:
        assert np.array_equal(mesh.triangles, serial.triangles)
