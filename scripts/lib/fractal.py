"""Finer outlines: each segment gets a random point beside its middle, where this crosses nothing, by exact integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import dmr

Int = NDArray[np.int64]
Bool = NDArray[np.bool_]

GRID = 2.0**-20  # of the coordinates' unit: coordinates below 256 have products of differences that fit 63 bits
FURTHEST = 0.15  # distance of a new point from the middle, over the segment's length
DISPLACED, MIDDLE, KEPT = 0, 1, 2  # how a segment is divided: by a point beside its middle, in the middle, not at all


def subdivided(drawn: dmr.Pslg, levels: int, seed: int) -> dmr.Pslg:
    """Divides each segment in two, `levels` times, by points at random distances beside their middles.

    A point lies in the middle where it would make segments cross or touch, or have a vertex or a hole's point change
    sides; where that fails because coordinates are rounded, the segment is not divided. Segments that cross before may
    cross afterwards.

    Args:
        drawn: an outline with coordinates below 256 in magnitude; they are rounded to multiples of 2^-20.
    """
    rng = np.random.default_rng(seed)
    points = np.rint(drawn.vertices / GRID).astype(np.int64)
    ends = drawn.segments.astype(np.int64)
    holes = np.rint(drawn.holes / GRID).astype(np.int64)
    for _ in range(levels):
        points, ends = _divided(points, ends, holes, rng.uniform(-FURTHEST, FURTHEST, len(ends)))
    return dmr.Pslg(GRID * points.astype(float), ends.astype(np.int32), holes=GRID * holes.astype(float))


def _divided(points: Int, ends: Int, holes: Int, shares: NDArray[np.float64]) -> tuple[Int, Int]:
    """Divides all segments once; `shares` are distances over lengths."""
    start, stop = points[ends[:, 0]], points[ends[:, 1]]
    middle = (start + stop) >> 1
    way = stop - start
    beside = middle + np.rint(np.column_stack((-way[:, 1], way[:, 0])) * shares[:, None]).astype(np.int64)
    how = np.full(len(ends), DISPLACED)
    while True:
        new = np.where((how == DISPLACED)[:, None], beside, middle)
        divided = np.flatnonzero(how != KEPT)
        all_points = np.vstack((points, new[divided]))
        between = len(points) + np.arange(len(divided))
        pieces = np.vstack(
            (
                np.column_stack((ends[divided, 0], between)),
                np.column_stack((between, ends[divided, 1])),
                ends[how == KEPT],
            )
        )
        origin = np.concatenate((divided, divided, np.flatnonzero(how == KEPT)))
        wrong = np.zeros(len(ends), np.bool_)
        wrong[origin[crossing(all_points, pieces).ravel()]] = True
        corners = np.column_stack((ends[divided, 0], between, ends[divided, 1]))
        wrong[divided[_sweeps_over(all_points, corners, np.vstack((all_points, holes)))]] = True
        if not (wrong & (how != KEPT)).any():
            return all_points, pieces
        how[wrong] = np.minimum(how[wrong] + 1, KEPT)


def _orientation(a: Int, b: Int, c: Int) -> Int:
    """Twice the areas of triangles, exactly."""
    return (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])


def crossing(points: Int, ends: Int) -> Int:
    """Returns the pairs of segments, (k, 2), that share a point which is not an end of both, or lie on each other."""
    low = np.minimum(points[ends[:, 0]], points[ends[:, 1]])
    high = np.maximum(points[ends[:, 0]], points[ends[:, 1]])
    i, j = _near(low, high, low, high)
    i, j = i[i < j], j[i < j]
    a, b, c, d = (points[ends[k, side]] for k in (i, j) for side in (0, 1))
    signs = [np.sign(_orientation(*three)) for three in ((a, b, c), (a, b, d), (c, d, a), (c, d, b))]
    meet = (signs[0] * signs[1] <= 0) & (signs[2] * signs[3] <= 0)
    same = ends[i][:, :, None] == ends[j][:, None, :]
    joined = same.any((1, 2))
    # Segments with a common end: wrong only on one line, on the same side of that end.
    shared = np.where(same.any(2)[:, :1], a, b)
    other = np.where(same.any(2)[:, :1], b, a)
    far = np.where(same.any(1)[:, :1], d, c)
    along = ((other - shared) * (far - shared)).sum(1) > 0
    folded = joined & (_orientation(shared, other, far) == 0) & along
    return np.column_stack((i, j))[np.where(joined, folded, meet)]


def _sweeps_over(points: Int, corners: Int, others: Int) -> Bool:
    """Whether triangles, given by the numbers of their corners, contain one of other points in or on them."""
    three = points[corners]
    i, j = _near(three.min(1), three.max(1), others, others)
    own = (corners[i] == j[:, None]).any(1)
    i, j = i[~own], j[~own]
    a, b, c = (three[i, k] for k in range(3))
    p = others[j]
    signs = np.sign([_orientation(a, b, p), _orientation(b, c, p), _orientation(c, a, p)])
    flat = _orientation(a, b, c) == 0
    inside = ((signs >= 0).all(0) | (signs <= 0).all(0)) & ~flat
    found = np.zeros(len(corners), np.bool_)
    found[i[inside]] = True
    return found


def _near(low: Int, high: Int, other_low: Int, other_high: Int) -> tuple[Int, Int]:
    """Returns the pairs of boxes, one of each list, that share a point: by the cells of a grid that they cover."""
    extent = np.concatenate((high - low, other_high - other_low)).max(1)
    cell = max(int(extent.mean() * 2), 1)
    keys, boxes = _cells(low, high, cell)
    other_keys, others = _cells(other_low, other_high, cell)
    order = np.argsort(other_keys, kind="stable")
    other_keys, others = other_keys[order], others[order]
    first = np.searchsorted(other_keys, keys, "left")
    count = np.searchsorted(other_keys, keys, "right") - first
    i = np.repeat(boxes, count)
    place = np.repeat(first - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
    j = others[place]
    touch = ((low[i] <= other_high[j]) & (other_low[j] <= high[i])).all(1)
    pairs = np.unique(i[touch] * len(other_low) + j[touch])
    return pairs // len(other_low), pairs % len(other_low)


def _cells(low: Int, high: Int, cell: int) -> tuple[Int, Int]:
    """Returns a key for each cell that a box covers, and its box."""
    first, last = low // cell, high // cell
    wide, tall = (last - first + 1).T
    box = np.repeat(np.arange(len(low)), wide * tall)
    within = np.arange(len(box)) - np.repeat(np.cumsum(wide * tall) - wide * tall, wide * tall)
    x = first[box, 0] + within % wide[box]
    y = first[box, 1] + within // wide[box]
    return (x << 32) + y, box
