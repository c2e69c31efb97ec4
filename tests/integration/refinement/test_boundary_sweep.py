"""The native sweep along a boundary against the checker's, which uses rational numbers in Python."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest

import dmr
from dmr.errors import InvalidMeshError
from dmr.exact.sweep import OverlapError, sweep_boundary
from dmr.refinement.setup.admission import admit
from dmr.refinement.setup.boundary import REASONS
from dmr.triangulation.sweep import SAME_PLACE, sweep_edges


def said_natively(points, tails, heads):
    found = sweep_edges(points, tails, heads)
    if found is None:
        return None
    x, y = points[found.vertex].tolist()
    return found.edge, REASONS[found.verdict].format(x=x, y=y)


def said_by_rationals(points, tails, heads):
    try:
        sweep_boundary(points[tails], points[heads])
    except OverlapError as found:
        return found.edge, str(found)
    return None


def loops(*rings):
    """(tails, heads) of closed loops through points."""
    return np.concatenate(rings), np.concatenate([np.roll(ring, -1) for ring in rings])


def star(rng, numbers, points):
    """A ring through points in the order of their angles around the first: often a valid boundary."""
    way = points[numbers] - points[numbers].mean(axis=0) - 0.01
    return numbers[np.argsort(np.arctan2(way[:, 1], way[:, 0]))]


def outlines(rng, count):
    """Yields loops on small grids, exact and rounded: valid ones, and ones that cross, touch, overlap or nest."""
    for _ in range(count):
        points = np.unique(rng.integers(0, rng.integers(3, 12), (rng.integers(6, 30), 2)), axis=0).astype(float)
        rng.shuffle(points)
        points = points * rng.choice([1, 1 / 3, 0.1]) + rng.choice([1, 1.1, 2.0**40 / 3])
        if rng.integers(2):
            points = np.nextafter(points, rng.choice([-np.inf, np.inf], points.shape))
        points = np.unique(points, axis=0)
        rng.shuffle(points)
        half = len(points) // 2
        rings = [star(rng, np.arange(half), points), star(rng, np.arange(half, len(points)), points)]
        rings = [ring[:: rng.choice([1, 1, 1, -1])] for ring in rings[: rng.integers(1, 3)] if len(ring) > 2]
        if rings:
            tails, heads = loops(*rings)
            order = rng.permutation(len(tails))
            yield points, tails[order], heads[order]


@pytest.mark.slow
def test_both_sweeps_agree_on_closed_boundaries():
    rng = np.random.default_rng(1)
    verdicts = {None: 0, **dict.fromkeys(REASONS.values(), 0)}
    for points, tails, heads in outlines(rng, 4000):
        expected = said_by_rationals(points, tails, heads)
        assert said_natively(points, tails, heads) == expected
        verdict = None if expected is None else next(r for r in REASONS.values() if r[:20] == expected[1][:20])
        verdicts[verdict] += 1
    assert verdicts[None] > 50
    assert sum(count > 20 for count in verdicts.values()) >= 5


def test_both_sweeps_agree_on_random_segments():
    """Random segments include edges that end below an edge that should have ended."""
    rng = np.random.default_rng(2)
    for _ in range(2000):
        points = np.unique(rng.integers(0, 6, (12, 2)), axis=0).astype(float)
        tails = rng.integers(0, len(points), rng.integers(1, 8))
        heads = (tails + rng.integers(1, len(points), len(tails))) % len(points)
        assert said_natively(points, tails, heads) == said_by_rationals(points, tails, heads)


def test_duplicate_vertices_are_found():
    points = np.array([[0, 0], [4, 0], [2, 2], [2.0, 2], [4, 4], [-0.0, 4]])
    found = sweep_edges(points, *loops(np.array([0, 1, 2]), np.array([3, 4, 5])))
    assert (found.verdict, found.vertex, found.other) == (SAME_PLACE, 2, 3)
    assert sweep_edges(points, *loops(np.array([0, 1, 2]))) is None  # vertices that no edge uses do not count


def test_an_empty_boundary_is_valid():
    assert sweep_edges(np.empty((0, 2)), np.empty(0, np.int32), np.empty(0, np.int32)) is None


CORNER, TRIANGLES = [[0, 0], [4, 0], [0, 4]], [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("second", "sentence"),
    [
        ([[-1, 1], [5, 1], [-1, 3]], r"crosses the boundary near \(0\.0, 4\.0\)"),
        ([[1, 1], [2, 1], [1, 2]], "lies inside another part"),
        ([[2, 2], [5, 2], [5, 5]], r"crosses or touches the boundary near \(2\.0, 2\.0\)"),
        ([[4, 0], [6, 0], [6, 1]], "vertex 1"),
    ],
    ids=["cross", "inside", "touch", "meet"],
)
def test_overlapping_meshes_are_refused(device, second, sentence):
    with pytest.raises(InvalidMeshError, match=sentence) as refusal:
        admit(dmr.Mesh(np.array(CORNER + second, float), TRIANGLES), device)
    assert refusal.value.element in ("triangle", "vertex")


def comb(teeth):
    """A domain with long teeth that all lie under the sweep line at once, in no order."""
    y = np.arange(2 * teeth)
    tips = np.stack([2 + np.random.default_rng(1).random(2 * teeth), y], axis=1)
    roots = np.stack([np.random.default_rng(2).random(2 * teeth), y + 0.25], axis=1)
    steps = np.array([[0, 0], [0.001, 0.125], [0, 0.25], [0.001, 0.5]])
    ring = (np.stack([tips, tips, roots, roots], axis=1) + steps).reshape(-1, 2)
    return np.concatenate([[[-1, -1], [3, -1]], ring, [[3, y[-1] + 2], [-1, y[-1] + 2]]])


@pytest.mark.slow
def test_ctrl_c_ends_a_sweep():
    points = comb(20_000)
    edges = loops(np.arange(len(points)))
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    started = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(1000):
            sweep_edges(points, *edges)
    assert time.perf_counter() - started < 30  # all sweeps take minutes
