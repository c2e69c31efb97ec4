"""Wall-clock time by phase."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from dmr.memory import Device

T = TypeVar("T")


class Clock:
    """Adds up the seconds of named phases. On a GPU a phase ends when its last wait does: unfinished work is counted
    where it is waited for, unless the clock is `exact` and waits for it at the end of each phase.
    """

    def __init__(self, device: Device, *, exact: bool = False) -> None:
        self.device = device
        self.exact = exact
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Counts the time inside the `with` block to `name`."""
        start = time.perf_counter()
        try:
            yield
            if self.exact:
                self.device.synchronize()
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def timed(self, name: str, steps: Iterator[T]) -> Iterator[T]:
        """Yields from `steps`; counts the time that each step takes to produce to `name`."""
        while True:
            with self.phase(name):
                try:
                    step = next(steps)
                except StopIteration:
                    return
            yield step

    def report(self) -> dict[str, float]:
        """Returns the seconds by phase, and their total."""
        return {**self.seconds, "total": sum(self.seconds.values())}
