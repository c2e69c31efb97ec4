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
Int = NDArray[np.int32]

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


def rows_taken(
    array: NDArray[Any], rows: NDArray[np.integer[Any]], threads: int | None, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Returns `array[rows]`, for rows that are there, in a shape as theirs and a further one as that of the rows.

    `out` is a contiguous array of that shape and type that receives them.
    """
    array, rows = np.ascontiguousarray(array), _numbers(rows)
    found = np.empty((*rows.shape, *array.shape[1:]), array.dtype) if out is None else out
    width = array.dtype.itemsize * prod(array.shape[1:])
    library().dmr_take_rows(
        array.ctypes.data, width, rows.ctypes.data, rows.itemsize == WIDE, rows.size, _most(threads), found.ctypes.data
    )
    return found


def rows_put(table: NDArray[Any], places: Int, rows: NDArray[Any], threads: int | None) -> None:
    """Does `table[places] = rows`, for places that are there and differ, rows of that type, and a contiguous table."""
    rows, places = np.ascontiguousarray(rows, table.dtype), np.ascontiguousarray(places, np.int32)
    width = table.dtype.itemsize * prod(table.shape[1:])
    library().dmr_put_rows(
        rows.ctypes.data, width, places.ctypes.data, len(places), _most(threads), table.ctypes.data
    )  # fmt: skip


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


def cut_edge_lists(
    neighbours: Int, segments: Int, triangles: Int, frozen: NDArray[np.bool_], threads: int | None
) -> tuple[Int, Int, Int]:
    """Returns the edges without a segment between a triangle that is not frozen and one that is.

    Args:
        neighbours, segments: as for `frozen`; triangles: (m, 3) the corners; frozen: (m,).

    Returns:
        (c,) int32 each, in the order of the triangles that are not frozen: the vertices where the edge starts and ends
        there, and the opposite corner of the frozen triangle.

    Raises:
        MemoryError: there is too little memory.
    """
    given = [np.ascontiguousarray(each, np.int32) for each in (neighbours, segments, triangles)]
    most = 3 * int(np.count_nonzero(frozen))
    found = [np.empty(most, np.int32) for _ in range(3)]
    count = library().dmr_cut_edges(
        *(each.ctypes.data for each in given), len(frozen), frozen.ctypes.data, _most(threads),
        *(each.ctypes.data for each in found),
    )  # fmt: skip
    if count < 0:
        raise MemoryError
    starts, ends, beyond = (each[:count] for each in found)
    return starts, ends, beyond


def on_border(
    neighbours: Int, segments: Int, triangles: Int, inside: NDArray[np.bool_], vertices: int, threads: int | None
) -> NDArray[np.bool_]:
    """Returns (vertices,) bool: which vertices are on edges without a triangle on the other side.

    Args:
        neighbours, segments, triangles: as for `cut_edge_lists`.
        inside: (s,) bool, which segments count as such edges.
    """
    given = [np.ascontiguousarray(each, np.int32) for each in (neighbours, segments, triangles)]
    inside, found = np.ascontiguousarray(inside), np.zeros(vertices, np.bool_)
    library().dmr_border(
        *(each.ctypes.data for each in given), len(triangles), inside.ctypes.data, _most(threads), found.ctypes.data
    )
    return found


def places_of_pairs(pairs: Int, wanted: Int, numbers: int, threads: int | None) -> Int:
    """Returns (w,) int32: the places of pairs of numbers among others, -1 for those that are not there.

    Args:
        pairs: (p, 2), no two equal; wanted: (w, 2); numbers: above the first number of each.

    Raises:
        MemoryError: there is too little memory.
    """
    pairs, wanted = np.ascontiguousarray(pairs, np.int32), np.ascontiguousarray(wanted, np.int32)
    found = np.empty(len(wanted), np.int32)
    lacks_memory = library().dmr_find_pairs(
        pairs.ctypes.data, len(pairs), numbers, wanted.ctypes.data, len(wanted), _most(threads), found.ctypes.data
    )
    if lacks_memory:
        raise MemoryError
    return found


def _numbers(numbers: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """Returns numbers as the library takes them."""
    return np.ascontiguousarray(numbers, np.int32 if numbers.dtype == np.int32 else np.int64)


def _most(threads: int | None) -> int:
    return min(thread_count(threads), MOST_THREADS)
