"""Wall-clock time by phase."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import TypeVar

T = TypeVar("T")


class Clock:
    """Adds up the seconds of named phases, which are blocks (`phase`) or end one after another (`lap`).

    On a GPU a phase ends when its last wait does: unfinished work is counted where it is waited for. With `wait`,
    which waits for all work of the device, it is counted to the phase that launched it.

    Attributes:
        seconds: by phase, in the order of their ends.
    """

    def __init__(self, wait: Callable[[], None] | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self._wait = wait
        self._begun = time.perf_counter()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Counts the time inside the `with` block to `name`."""
        start = time.perf_counter()
        try:
            yield
            if self._wait is not None:
                self._wait()
        finally:
            self._add(name, time.perf_counter() - start)

    def lap(self, name: str, less: float = 0.0) -> None:
        """Counts the time since the last lap, or since the clock was made, to `name`, except `less` seconds."""
        if self._wait is not None:
            self._wait()
        now = time.perf_counter()
        self._add(name, max(now - self._begun - less, 0.0))
        self._begun = now

    def timed(self, name: str, steps: Iterator[T]) -> Iterator[T]:
        """Yields from `steps`; counts the time that each step takes to produce to `name`."""
        while True:
            with self.phase(name):
                try:
                    step = next(steps)
                except StopIteration:
                    return
            yield step

    def copied(self) -> Clock:
        """Returns a clock that has counted the same phases."""
        other = copy(self)
        other.seconds = dict(self.seconds)
        return other

    def report(self) -> dict[str, float]:
        """Returns the seconds by phase, and their total."""
        return {**self.seconds, "total": sum(self.seconds.values())}

    def _add(self, name: str, seconds: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
