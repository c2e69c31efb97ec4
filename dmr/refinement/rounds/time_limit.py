"""A limit on the wall-clock time of a refinement, which ends it between two rounds."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

# With a limit, the device returns to the host about this often, in seconds.
SHORTEST, LONGEST = 0.025, 0.1
STEP = 4  # by which the number of rounds between two returns grows and shrinks


class TimeLimit:
    """Decides when a run has to end, and how many rounds the device runs before the host reads the clock again.

    Args:
        seconds: the limit, counted from now; None for no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.perf_counter() + seconds
        self._rounds = 1

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return self._end is not None and time.perf_counter() >= self._end

    @property
    def left(self) -> float:
        """The seconds that are left; infinity if there is no limit."""
        return math.inf if self._end is None else max(self._end - time.perf_counter(), 0.0)

    def rounds(self, most: int) -> int:
        """The number of rounds for the next run of the device: `most` if there is no limit."""
        return most if self._end is None else min(most, self._rounds)

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Adapts the number of rounds to the time that the `with` block takes for them."""
        started = time.perf_counter()
        yield
        taken = time.perf_counter() - started
        if taken < SHORTEST:
            self._rounds *= STEP
        elif taken > LONGEST:
            self._rounds = max(1, self._rounds // STEP)
