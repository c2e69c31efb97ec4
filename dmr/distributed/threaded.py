"""Rows of arrays, and what numpy computes of pieces of them, by several threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dmr.common.threads import thread_count
from dmr.distributed.unions.native import library
from dmr.memory.host.copying import copy
from dmr.validation.arrays.pieces import Workers

T = TypeVar("T")

WIDE = 8  # bytes of a number of int64

ROWS_PER_PIECE = 2**16  # whose intermediate values fit the cache of a core
ROWS_PER_THREAD = 2**18  # at least: it takes about as long to start a thread as to compute a piece
MOST_THREADS = 16  # more wait for the memory
WORTH_SHARING = 3  # threads: two are hardly faster than one, whose pieces need no other thread


def by_pieces(rows: int, work: Callable[[slice], T], threads: int | None) -> list[T]:
    """Calls a function of each piece of some rows, the first one also if there are no rows.

    Args:
        rows: their number; threads: that call; None for all cores.
    """
    if not rows:
        return [work(slice(0, 0))]
    workers = Workers(min(thread_count(threads), MOST_THREADS, -(-rows // ROWS_PER_THREAD)))
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


def joined(arrays: Sequence[NDArray[Any]], threads: int | None) -> NDArray[Any]:
    """Returns arrays one after another, as `numpy.concatenate`; they have the same dtype and further axes."""
    given = [np.ascontiguousarray(each) for each in arrays]
    found = np.empty((sum(map(len, given)), *given[0].shape[1:]), given[0].dtype)
    start = 0
    for each in given:
        copy(
            found[start : start + len(each)].reshape(-1).view(np.uint8), each.reshape(-1).view(np.uint8), _most(threads)
        )
        start += len(each)
    return found


def frozen(neighbours: NDArray[np.int32], segments: NDArray[np.int32], threads: int | None) -> NDArray[np.bool_]:
    """Returns (m,) bool: which triangles have an edge without a segment and without a triangle on its other side.

    Args:
        neighbours, segments: (m, 3) the triangle across each edge, and the segment on it, -1 where there is none.
    """
    neighbours, segments = np.ascontiguousarray(neighbours), np.ascontiguousarray(segments)
    found = np.empty(len(neighbours), np.bool_)
    library().dmr_frozen(
        neighbours.ctypes.data, segments.ctypes.data, len(found), _most(threads), found.ctypes.data
    )  # fmt: skip
    return found


def at_frozen(
    neighbours: NDArray[np.int32], segments: NDArray[np.int32], frozen: NDArray[np.bool_], threads: int | None
) -> NDArray[np.bool_]:
    """Returns (m, 3) bool: which edges without a segment are those of a triangle that is not frozen beside one that is.

    Args:
        neighbours, segments: as for `frozen`; frozen: (m,).
    """
    neighbours, segments = np.ascontiguousarray(neighbours), np.ascontiguousarray(segments)
    found = np.empty(neighbours.shape, np.bool_)
    library().dmr_cut_edges(
        neighbours.ctypes.data, segments.ctypes.data, frozen.ctypes.data, len(found), _most(threads), found.ctypes.data
    )
    return found


def _numbers(numbers: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """Returns numbers as the library takes them."""
    return np.ascontiguousarray(numbers, np.int32 if numbers.dtype == np.int32 else np.int64)


def _most(threads: int | None) -> int:
    return min(thread_count(threads), MOST_THREADS)
