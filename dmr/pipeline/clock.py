"""Wall-clock time by phase."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from dmr.memory import Device


class Clock:
    """Adds up the seconds of named phases. On a GPU a phase ends when its last wait does: work that is still under way
    is counted where it is waited for.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Counts the time inside the `with` block to `name`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def report(self) -> dict[str, float]:
        """Seconds by phase, and their total."""
        return {**self.seconds, "total": sum(self.seconds.values())}
