"""Numpy by several threads: it takes rows of arrays, and computes, without the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dmr.common.threads import thread_count
from dmr.validation.arrays.pieces import Workers

T = TypeVar("T")

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
    found = np.empty((*rows.shape, *array.shape[1:]), array.dtype)

    def take(piece: slice) -> None:
        # With the mode "raise" numpy copies what it has found once more.
        np.take(array, rows[piece], axis=0, out=found[piece], mode="clip")

    by_pieces(len(rows), take, threads)
    return found


def flags(count: int, numbers: NDArray[np.integer[Any]], threads: int | None) -> NDArray[np.bool_]:
    """Returns (count,) bool: which numbers there are."""
    found = np.zeros(count, np.bool_)

    def flag(piece: slice) -> None:
        found[numbers[piece]] = True  # threads that meet write the same

    by_pieces(len(numbers), flag, threads)
    return found


def touching(corners: NDArray[np.integer[Any]], near: NDArray[np.bool_], threads: int | None) -> NDArray[np.bool_]:
    """Returns (m,) bool: which triangles have a corner that is `near`, by vertex."""
    found = np.empty(len(corners), np.bool_)

    def touch(piece: slice) -> None:
        at = np.take(near, corners[piece], mode="clip")
        found[piece] = at[:, 0] | at[:, 1] | at[:, 2]

    by_pieces(len(corners), touch, threads)
    return found
