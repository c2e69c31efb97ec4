"""The labels of triangles as rows of tables without repetitions, if there are few."""

from __future__ import annotations

from collections.abc import Mapping

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
    bits = [column for each in columns.values() for column in _bits(each).T]
    rows, left, first = np.zeros(count, np.uint8), np.arange(count), list[int]()
    while len(left):
        if len(first) == MOST:
            return None
        same = np.logical_and.reduce([each[left] == each[left[0]] for each in bits])
        rows[left[same]] = len(first)
        first.append(int(left[0]))
        left = left[~same]
    return Labels(rows, {name: each[first] for name, each in columns.items()})


def _bits(column: NDArray[np.float64]) -> NDArray[np.int64]:
    """Returns (m, k) numbers, which are equal where the bits of labels are."""
    return np.ascontiguousarray(column, np.float64).view(np.int64).reshape(len(column), -1)
