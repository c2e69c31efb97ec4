"""Multithreaded processing of long arrays in pieces.

numpy releases the interpreter lock inside its array operations, so pieces run in parallel. Pieces are short, so an
exception, including Ctrl-C, ends all work within the time of one piece. The result does not depend on the assignment of
pieces to threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dmr.common.pooling import close, new_pool, submit

Result = TypeVar("Result")

# Elements per piece: large enough to amortise numpy's overhead per call, small enough to keep temporaries in cache.
PIECE = 1 << 15


class Workers:
    """Threads that share the pieces of a task.

    Args:
        threads: the number of threads; with one, everything runs on the calling thread.
    """

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._local = threading.local()

    def map(self, work: Callable[[int, int], Result], count: int, size: int = PIECE) -> list[Result]:
        """Call `work(start, stop)` for each piece of range(count).

        Args:
            work: called on any thread, several calls concurrently.
            count: the end of the last piece.
            size: the length of a piece; the last one may be shorter.

        Returns:
            The results, in the order of the pieces. If pieces raise exceptions, the first one ends the call: it waits
            for pieces that have begun, and starts no others.
        """
        spans = [(start, min(start + size, count)) for start in range(0, count, size)]
        threads = min(self.threads, len(spans))
        if threads < 2 or vars(self._local).get("busy"):  # (a nested call runs on the thread of its piece)
            return [work(*span) for span in spans]

        def begin() -> None:
            self._local.busy = True

        pool = new_pool(threads, "dmr-validate", begin)
        try:
            futures = [submit(pool, work, *span) for span in spans]
            return [future.result() for future in futures]
        finally:
            close(pool)

    def where(
        self, holds: Callable[[int, int], NDArray[np.bool_]], count: int, *, entries: int = 1
    ) -> NDArray[np.int64]:
        """Find the indices where a condition holds, ascending.

        Args:
            holds: returns a mask over the items from start to stop, with `entries` entries per item.
            count: the number of items; entries: the number of entries per item.
        """
        found = self.map(lambda i, j: entries * i + np.flatnonzero(holds(i, j)), count)
        return np.concatenate([np.zeros(0, np.int64), *found])

    def buffer(self, name: str, count: int, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Return an uninitialised array of `count` elements, as a temporary of the calling thread.

        A thread gets the same memory again for the same name, unless it asks for more.
        """
        kept: dict[str, NDArray[Any]] | None = getattr(self._local, "buffers", None)
        if kept is None:
            kept = self._local.buffers = {}
        array = kept.get(name)
        if array is None or len(array) < count:
            array = kept[name] = np.empty(max(count, PIECE), dtype)
        return array[:count]
