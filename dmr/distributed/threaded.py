"""Rows of arrays, and what numpy computes of pieces of them, by several threads."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dmr.common.threads import thread_count
from dmr.distributed.unions.native import library
from dmr.validation.arrays.pieces import Workers

T = TypeVar("T")

WIDE = 8  # bytes of a number of int64

ROWS_PER_PIECE = 2**16  # whose intermediate values fit the cache of a core
MOST_THREADS = 16  # more wait for the memory
WORTH_SHARING = 3  # threads: two are hardly faster than one, whose pieces need no other thread


def by_pieces(rows: int, work: Callable[[slice], T], threads: int | None) -> list[T]:
    """Calls a function of each piece of some rows, the first one also if there are no rows.

    Args:
        rows: their number; threads: that call; None for all cores.
    """
    if not rows:
        return [work(slice(0, 0))]
    workers = Workers(min(thread_count(threads), MOST_THREADS))
    if workers.threads < WORTH_SHARING:
        workers = Workers(1)
    return workers.map(lambda first, end: work(slice(first, end)), rows, ROWS_PER_PIECE)


def rows_taken(array: NDArray[Any], rows: NDArray[np.integer[Any]], threads: int | None) -> NDArray[Any]:
    """Returns `array[rows]`, for rows that are there, in a shape as theirs and a further one as that of the rows."""
    array, rows = np.ascontiguousarray(array), _numbers(rows)
    found = np.empty((*rows.shape, *array.shape[1:]), array.dtype)
    width = array.dtype.itemsize * prod(array.shape[1:])
    library().dmr_take_rows(
        array.ctypes.data, width, rows.ctypes.data, rows.itemsize == WIDE, rows.size, _most(threads), found.ctypes.data
    )
    return found


def flags(count: int, numbers: NDArray[np.integer[Any]], threads: int | None) -> NDArray[np.bool_]:
    """Returns (count,) bool: which numbers there are; all are from 0 to `count` - 1."""
    numbers, found = _numbers(numbers), np.zeros(count, np.bool_)
    library().dmr_flag(numbers.ctypes.data, numbers.itemsize == WIDE, numbers.size, _most(threads), found.ctypes.data)
    return found


def touching(
    corners: NDArray[np.int32], near: NDArray[np.bool_], threads: int | None, *, least: int = 1
) -> NDArray[np.bool_]:
    """Returns (m,) bool: which triangles have at least `least` corners that are `near`, by vertex."""
    corners, found = np.ascontiguousarray(corners, np.int32), np.empty(len(corners), np.bool_)
    library().dmr_touch(
        corners.ctypes.data, len(corners), near.ctypes.data, least, _most(threads), found.ctypes.data
    )  # fmt: skip
    return found


def _numbers(numbers: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """Returns numbers as the library takes them."""
    return np.ascontiguousarray(numbers, np.int32 if numbers.dtype == np.int32 else np.int64)


def _most(threads: int | None) -> int:
    return min(thread_count(threads), MOST_THREADS)
