"""Results that are written to files while they arrive from a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.errors import InternalError
from dmr.memory.arrays import DeviceArray

LEAST_BYTES = 2**24  # of a table that may arrive later


class Arriving:
    """A table whose rows arrive in order; a slice of it waits for its rows.

    Attributes:
        table: the array in main memory; shape, dtype: those of the array.
    """

    def __init__(self, table: NDArray[Any], source: DeviceArray, first: int) -> None:
        """Takes the table, and an array on a device, which no longer changes: its rows from `first` on."""
        self.table, self.shape, self.dtype = table, table.shape, table.dtype
        self._source, self._row_bytes = source, table.nbytes // len(table)
        self._first = first * self._row_bytes
        self._arrived = self._first  # bytes
        self._advance: Callable[[], int] | None = None

    def begin(self) -> Callable[[], int]:
        """Begins the download, unless it has begun; returns the function that continues it."""
        if self._advance is None:
            self._advance = self._source.begin_download(self.table.reshape(-1).view(np.uint8)[self._first :])
        return self._advance

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        needed = rows.indices(len(self))[1] * self._row_bytes
        while self._arrived < needed:
            before, self._arrived = self._arrived, self._first + self.begin()()
            if self._arrived == before:
                raise InternalError("a download has ended too early")
        return self.table[rows]


# The tables of the block that a thread is in, by their addresses.
_tables: ContextVar[dict[int, Arriving] | None] = ContextVar("tables", default=None)


@contextmanager
def arriving_results() -> Iterator[None]:
    """A block in which tables of results may not have arrived yet: only functions that know `rows_of` use them.

    Everything has arrived when the block ends, unless an exception ends it.
    """
    token = _tables.set({})
    try:
        yield
        finish_arrivals()
    finally:
        _tables.reset(token)


def arrive(source: DeviceArray, table: NDArray[Any], first: int = 0) -> None:
    """Downloads an array to the rows of a table.

    Args:
        source: the array, which no longer changes; table: contiguous; first: the row where it begins.

    In a block of `arriving_results`, the rows of a large table arrive when they are used: one table after another, the
    first of them at once.
    """
    tables = _tables.get()
    if tables is None or table.nbytes < LEAST_BYTES or first == len(table):
        source.download(out=table[first:].reshape(-1))
        return
    tables[table.ctypes.data] = arriving = Arriving(table, source, first)
    if len(tables) == 1:
        arriving.begin()


def rows_of(table: NDArray[Any]) -> NDArray[Any] | Arriving:
    """Returns a table whose slices have arrived: the given one, unless it belongs to a block of `arriving_results`."""
    tables = _tables.get() or {}
    return tables.get(table.ctypes.data, table)


def finish_arrivals() -> None:
    """Waits until all tables of the block, if the caller is in one, have arrived."""
    for arriving in (_tables.get() or {}).values():
        arriving[:]
