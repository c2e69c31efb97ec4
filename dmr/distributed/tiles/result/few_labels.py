"""The labels of triangles as rows of tables without repetitions, if there are few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.tiles.piece import Labels

MOST = 64  # rows: each is found by a pass over the triangles that have none yet
SAMPLE = 4096  # triangles, which as a rule show if there are more


def few_labels(columns: Mapping[str, NDArray[np.float64]]) -> Labels | None:
    """Returns labels as rows of tables, in the order in which they occur first.

    Args:
        columns: the labels of all triangles, by name; one at least.

    Returns:
        The rows, of uint8, and the tables; None if these would have more rows than `MOST`.
    """
    count = len(next(iter(columns.values())))
    if count > SAMPLE and few_labels({name: each[:SAMPLE] for name, each in columns.items()}) is None:
        return None
    bits = [np.ascontiguousarray(column) for each in columns.values() for column in _bits(each).T]
    rows, first = np.zeros(count, np.uint8), [0] if count else list[int]()
    left = np.flatnonzero(~_equal(bits)) if count else np.empty(0, np.intp)  # the others have the row 0
    bits = [each[left] for each in bits]
    while len(left):
        if len(first) == MOST:
            return None
        same = _equal(bits)
        rows[left[same]] = len(first)
        first.append(int(left[0]))
        left, bits = left[~same], [each[~same] for each in bits]
    return Labels(rows, {name: each[first] for name, each in columns.items()})


def _equal(bits: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
    """Returns which rows of columns are equal to the first one."""
    same: NDArray[np.bool_] = bits[0] == bits[0][0]
    for each in bits[1:]:
        same &= each == each[0]
    return same


def _bits(column: NDArray[np.float64]) -> NDArray[np.int64]:
    """Returns (m, k) numbers, which are equal where the bits of labels are."""
    return np.ascontiguousarray(column, np.float64).view(np.int64).reshape(len(column), -1)
