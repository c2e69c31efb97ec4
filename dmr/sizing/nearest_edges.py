"""Nearest line segment: a binary tree of bounding boxes, traversed for all points together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.types import Float

BATCH = 2**17  # pairs of a point and a box that are processed together
# Tolerance of the distance comparison, so that rounding never excludes a box.
SLACK = 1 + 2.0**-40


class EdgeTree:
    """Line segments sorted along a Morton curve; node k of a level bounds nodes 2 k and 2 k + 1 of the level below.

    Args:
        start, end: (e, 2), e >= 1.
    """

    def __init__(self, start: Float, end: Float) -> None:
        self._order = _along_curve((start + end) / 2)
        self._start, self._end = start[self._order], end[self._order]
        low, high = np.minimum(self._start, self._end), np.maximum(self._start, self._end)
        levels = [np.concatenate((low, high), axis=1)]
        while len(levels[-1]) > 1:
            boxes = levels[-1]
            if len(boxes) % 2:
                boxes = np.concatenate((boxes, boxes[-1:]))
            left, right = boxes[0::2], boxes[1::2]
            levels.append(
                np.concatenate((np.minimum(left[:, :2], right[:, :2]), np.maximum(left[:, 2:], right[:, 2:])), axis=1)
            )
        self._levels = levels[::-1]

    def nearest(self, points: Float) -> tuple[NDArray[np.int64], Float]:
        """Find the segment nearest to each point; of several at equal distance, the first.

        Args:
            points: (n, 2), finite.

        Returns:
            (n,) int64 segments, and (n,) float64 positions on the segment: 0 at its start and 1 at its end.
        """
        n, leaves = len(points), len(self._levels) - 1
        bound, best = np.full(n, np.inf), np.full(n, np.inf)  # squared distances: upper bound; of the nearest found
        found = np.full(n, len(self._order))
        place = np.zeros(n)
        waiting = [(0, np.arange(n), np.zeros(n, np.int64))]
        while waiting:
            level, who, box = waiting.pop()
            if len(who) > BATCH:
                half = len(who) // 2
                waiting += [(level, who[half:], box[half:]), (level, who[:half], box[:half])]
                continue
            if level == leaves:
                self._settle(points, who, box, best, found, place)
                np.minimum(bound, best, out=bound)
                continue
            # The nearest segment is at most as far away as the start of the first segment in the box.
            sample = self._start[box << (leaves - level)]
            np.minimum.at(bound, who, _squared(sample - points[who]))
            near = _squared(self._gap(level, box, points[who])) <= bound[who] * SLACK
            who, box = who[near], box[near]
            who, box = np.repeat(who, 2), (box[:, None] * 2 + np.arange(2)).reshape(-1)
            there = box < len(self._levels[level + 1])
            waiting.append((level + 1, who[there], box[there]))
        return found, place

    def _gap(self, level: int, box: NDArray[np.int64], points: Float) -> Float:
        """Compute the distance of each point from its box, in x and in y."""
        edges = self._levels[level][box]
        gap: Float = np.maximum(np.maximum(edges[:, :2] - points, points - edges[:, 2:]), 0)
        return gap

    def _settle(
        self,
        points: Float,
        who: NDArray[np.int64],
        segment: NDArray[np.int64],
        best: Float,
        found: NDArray[np.int64],
        place: Float,
    ) -> None:
        """Store the segments that are nearer than those found before."""
        start, along = self._start[segment], self._end[segment] - self._start[segment]
        rest = points[who] - start
        length = _squared(along)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(length > 0, (rest[:, 0] * along[:, 0] + rest[:, 1] * along[:, 1]) / length, 0)
        t = np.clip(t, 0, 1)
        distance = _squared(np.where((t == 1)[:, None], points[who] - self._end[segment], rest - t[:, None] * along))
        number = self._order[segment]
        # The nearest segment of each point comes first; at equal distance, the one with the smaller number.
        order = np.lexsort((number, distance, who))
        first = order[np.r_[True, who[order][1:] != who[order][:-1]]] if len(order) else order
        who, distance, number, t = who[first], distance[first], number[first], t[first]
        better = (distance < best[who]) | ((distance <= best[who]) & (number < found[who]))
        who = who[better]
        best[who], found[who], place[who] = distance[better], number[better], t[better]


def _squared(vectors: Float) -> Float:
    squares: Float = vectors[:, 0] * vectors[:, 0] + vectors[:, 1] * vectors[:, 1]
    return squares


def _along_curve(points: Float) -> NDArray[np.int64]:
    """Sort points along a Morton curve; returns their order."""
    low = points.min(axis=0)
    extent = float((points.max(axis=0) - low).max())
    cells = ((points - low) * ((2**16 - 1) / extent if extent > 0 else 0)).astype(np.uint64)
    for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        cells = (cells | (cells << np.uint64(shift))) & np.uint64(mask)
    return np.argsort(cells[:, 0] | (cells[:, 1] << np.uint64(1)), kind="stable")
