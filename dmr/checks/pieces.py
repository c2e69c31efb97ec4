"""Work over long arrays in pieces, on several threads.

numpy releases the interpreter lock inside its array operations, so pieces run side by side. They are short: an
exception, Ctrl-C among them, ends all work within one piece's time. The result does not depend on which thread does
which piece.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dmr.pooling import new_pool, submit

Result = TypeVar("Result")

# Elements of a piece: numpy's fixed cost per call is small beside its work, and temporaries stay near the core.
PIECE = 1 << 15


class Workers:
    """Threads that share the pieces of a task.

    Args:
        threads: how many; with one, everything runs on the calling thread.
    """

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._local = threading.local()

    def map(self, work: Callable[[int, int], Result], count: int, size: int = PIECE) -> list[Result]:
        """Call `work(start, stop)` for pieces of range(count).

        Args:
            work: called on any thread, several calls at a time.
            count: where the last piece ends.
            size: the length of a piece; the last one may be shorter.

        Returns:
            The results, in the order of the pieces. An exception of a piece (the first of several) ends the call;
            pieces that have begun are waited for, and no other one begins.
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
            if pool is not None:
                pool.shutdown(cancel_futures=True)

    def where(
        self, holds: Callable[[int, int], NDArray[np.bool_]], count: int, *, entries: int = 1
    ) -> NDArray[np.int64]:
        """The places where something holds, ascending.

        Args:
            holds: a mask over the items from start to stop, `entries` for each.
            count: how many items there are; entries: entries of an item.
        """
        found = self.map(lambda i, j: entries * i + np.flatnonzero(holds(i, j)), count)
        return np.concatenate([np.zeros(0, np.int64), *found])

    def buffer(self, name: str, count: int, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """An array of `count` elements for a temporary of the calling thread, with undefined content.

        A thread gets the same memory for the same name again, unless it asks for more.
        """
        kept: dict[str, NDArray[Any]] = vars(self._local).setdefault("buffers", {})
        array = kept.get(name)
        if array is None or len(array) < count:
            array = kept[name] = np.empty(max(count, PIECE), dtype)
        return array[:count]
