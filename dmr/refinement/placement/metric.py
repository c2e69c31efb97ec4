"""Lengths of vectors, and lengths of segments in sizes: integrals of 1/h along them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.types import Float

FEWEST_INTERVALS, MOST_INTERVALS = 4, 2**12  # per segment
PLACES = np.arange(FEWEST_INTERVALS + 1) / FEWEST_INTERVALS  # their ends
ACCURACY, LEAST_ERROR = 0.01, 0.001  # of an interval: relative, and in sizes
LONGEST = 4.0  # sizes: in longer intervals, smaller sizes could lie between the places at which they are evaluated
MOST_HALVINGS = 60  # of an interval: sizes may be that many powers of 2 below the length of a segment


def lengths(ways: Float) -> Float:
    """Returns the lengths of (n, 2) vectors, with the same bits everywhere (numpy.hypot differs between systems)."""
    found: Float = np.sqrt(ways[:, 0] * ways[:, 0] + ways[:, 1] * ways[:, 1])
    return found


class Metric(Protocol):
    """Lengths of segments in sizes.

    Attributes:
        total: (s,) the length of each segment.
    """

    total: Float

    def parameter(self, segment: NDArray[np.int64], part: Float) -> Float:
        """Returns the places on segments, from 0 to 1, that have a part of their total before them."""


class EqualMetric:
    """Lengths of segments in one size.

    Attributes:
        total: (s,) the length of each segment.
    """

    def __init__(self, start: Float, end: Float, size: float, least: float) -> None:
        """Divides the lengths of segments; arguments are those of `IntegratedMetric`."""
        self.total = lengths(end - start) / max(size, least)

    def parameter(self, segment: NDArray[np.int64], part: Float) -> Float:
        """Implements `Metric.parameter`."""
        assert len(segment) == len(part)
        return part


class IntegratedMetric:
    """The integral of 1/h along segments, by the trapezoidal rule in intervals that are halved where it is inaccurate.

    Attributes:
        total: (s,) the length of each segment in sizes.
    """

    def __init__(self, start: Float, end: Float, sizes: Callable[[Float], Float], least: float, *, even: bool) -> None:
        """Integrates along segments.

        Args:
            start, end: (s, 2) the ends; sizes: the size at (k, 2) places, called at most MOST_HALVINGS + 1 times.
            least: smaller sizes are raised to this one, above 0.
            even: whether one size is wanted everywhere.
        """
        count = len(start)
        ways = end - start
        length = lengths(ways)

        def density(segment: NDArray[np.int64], place: Float) -> Float:
            found: Float = length[segment] / np.maximum(sizes(start[segment] + place[:, None] * ways[segment]), least)
            return found

        segment = np.repeat(np.arange(count), FEWEST_INTERVALS)
        first = np.tile(np.arange(FEWEST_INTERVALS) / FEWEST_INTERVALS, count)
        width = np.full(len(segment), 1 / FEWEST_INTERVALS)
        at_ends = density(np.repeat(np.arange(count), FEWEST_INTERVALS + 1), np.tile(PLACES, count))
        at_first, at_last = (at_ends.reshape(count, -1)[:, part].reshape(-1) for part in (slice(-1), slice(1, None)))
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
        # Where sizes are equal, lengths are those of `EqualMetric`, bit for bit.
        at_ends = at_ends.reshape(count, -1)
        self._equal = (at_ends == at_ends[:, :1]).all(axis=1) & (intervals == FEWEST_INTERVALS)
        self.total = np.where(self._equal, at_ends[:, 0], before[self._begin[1:]] - self._before)

    def parameter(self, segment: NDArray[np.int64], part: Float) -> Float:
        """Implements `Metric.parameter`."""
        wanted = self._before[segment] + part * self.total[segment]
        k = np.clip(np.searchsorted(self._end, wanted), self._begin[segment], self._begin[segment + 1] - 1)
        within = 1.0 - (self._end[k] - wanted) / self._part[k]
        found: Float = self._first[k] + np.clip(within, 0.0, 1.0) * self._width[k]
        found = np.where(self._equal[segment], part, found)
        return found
