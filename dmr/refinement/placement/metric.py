"""Lengths of segments in sizes: integrals of 1/h along them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.types import Float

FEWEST_INTERVALS, MOST_INTERVALS = 4, 2**12  # per segment
ACCURACY, LEAST_ERROR = 0.01, 0.001  # of an interval: relative, and in sizes
LONGEST = 4.0  # sizes: in longer intervals, smaller sizes could lie between the places at which they are evaluated
MOST_HALVINGS = 60  # of an interval: sizes may be that many powers of 2 below the length of a segment


class Metric:
    """The integral of 1/h along segments, by the trapezoidal rule in intervals that are halved where it is inaccurate.

    Attributes:
        total: (s,) the length of each segment in sizes.
    """

    def __init__(self, start: Float, end: Float, sizes: Callable[[Float], Float], least: float, *, even: bool) -> None:
        """Integrates along segments.

        Args:
            start, end: (s, 2) the ends; sizes: the size at (k, 2) places, called at most MOST_HALVINGS + 2 times.
            least: smaller sizes are raised to this one, above 0.
            even: whether one size is wanted everywhere.
        """
        count = len(start)
        ways = end - start
        length = np.sqrt(ways[:, 0] * ways[:, 0] + ways[:, 1] * ways[:, 1])

        def density(segment: NDArray[np.int64], place: Float) -> Float:
            found: Float = length[segment] / np.maximum(sizes(start[segment] + place[:, None] * ways[segment]), least)
            return found

        segment = np.repeat(np.arange(count), FEWEST_INTERVALS)
        first = np.tile(np.arange(FEWEST_INTERVALS) / FEWEST_INTERVALS, count)
        width = np.full(len(segment), 1 / FEWEST_INTERVALS)
        at_first = density(segment, first)
        ends = density(np.arange(count), np.ones(count))
        at_last = np.append(at_first[1:], 0.0)
        at_last[FEWEST_INTERVALS - 1 :: FEWEST_INTERVALS] = ends
        kept: list[tuple[NDArray[np.int64], Float, Float, Float]] = []
        intervals = np.full(count, FEWEST_INTERVALS)
        for halving in range(MOST_HALVINGS):
            at_middle = density(segment, first + 0.5 * width)
            coarse, left, right = (
                factor * width * (one + other)
                for factor, one, other in (
                    (0.5, at_first, at_last),
                    (0.25, at_first, at_middle),
                    (0.25, at_middle, at_last),
                )
            )
            whole = left + right
            good = (np.abs(whole - coarse) <= ACCURACY * whole + LEAST_ERROR) & (even | (whole <= LONGEST))
            good |= intervals[segment] >= MOST_INTERVALS
            good |= halving == MOST_HALVINGS - 1
            half, middle = 0.5 * width, first + 0.5 * width
            for begin, part in ((first, left), (middle, right)):
                kept.append((segment[good], begin[good], half[good], part[good]))
            more = ~good
            if not more.any():
                break
            np.add.at(intervals, segment[more], 1)
            segment, width = np.concatenate([segment[more]] * 2), np.concatenate([half[more]] * 2)
            first = np.concatenate([first[more], middle[more]])
            at_first, at_last = (
                np.concatenate([at_first[more], at_middle[more]]),
                np.concatenate([at_middle[more], at_last[more]]),
            )
        segment, first, width, part = (np.concatenate(values) for values in zip(*kept, strict=True))
        order = np.lexsort((first, segment))
        segment, self._first, self._width = segment[order], first[order], width[order]
        self._part = part[order]
        self._end = np.cumsum(self._part)
        self._begin = np.searchsorted(segment, np.arange(count + 1))
        before = np.concatenate([[0.0], self._end])
        self._before = before[self._begin[:-1]]
        self.total = before[self._begin[1:]] - self._before

    def parameter(self, segment: NDArray[np.int64], part: Float) -> Float:
        """Returns the places on segments, from 0 to 1, that have a part of their total before them."""
        wanted = self._before[segment] + part * self.total[segment]
        k = np.clip(np.searchsorted(self._end, wanted), self._begin[segment], self._begin[segment + 1] - 1)
        within = 1.0 - (self._end[k] - wanted) / self._part[k]
        found: Float = self._first[k] + np.clip(within, 0.0, 1.0) * self._width[k]
        return found
