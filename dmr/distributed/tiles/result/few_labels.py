"""The labels of triangles as rows of tables without repetitions, if there are few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.threaded import by_pieces
from dmr.distributed.tiles.piece import Labels

Bits = NDArray[np.int64]

MOST = 64  # rows, to each of which all triangles are compared
SAMPLE = 4096  # triangles, which as a rule have all labels


def few_labels(columns: Mapping[str, NDArray[np.float64]], threads: int | None = 1) -> Labels | None:
    """Returns labels as rows of tables, in the order in which they occur first.

    Args:
        columns: the labels of all triangles, by name; one at least.
        threads: that compare them; None for all cores.

    Returns:
        The rows, of uint8, and the tables; None if these would have more rows than `MOST`.
    """
    bits = [column for each in columns.values() for column in _bits(each).T]
    first = _first_of_each([each[:SAMPLE] for each in bits], MOST)
    if first is None:
        return None
    rows = _rows_among(bits, [[each[triangle] for each in bits] for triangle in first], threads)
    left = np.flatnonzero(rows == MOST)  # none, as a rule
    further = _first_of_each([each[left] for each in bits], MOST - len(first))
    if further is None:
        return None
    for triangle in left[further]:
        rows[left[_equal([each[left] for each in bits], [each[triangle] for each in bits])]] = len(first)
        first.append(int(triangle))
    return Labels(rows, {name: each[first] for name, each in columns.items()})


def rows_of_labels(
    tables: Mapping[str, NDArray[np.float64]], columns: Mapping[str, NDArray[np.float64]], threads: int | None = 1
) -> NDArray[np.uint8] | None:
    """Returns the row of each triangle in tables of `few_labels`, or None if a triangle has other labels.

    Args:
        columns: the labels of the triangles, by the names of the tables; threads: as for `few_labels`.
    """
    of_tables, bits = ([column for name in tables for column in _bits(each[name]).T] for each in (tables, columns))
    if len(of_tables[0]) > MOST:
        return None
    rows = _rows_among(bits, list(zip(*of_tables, strict=True)), threads)
    return None if (rows == MOST).any() else rows


def _rows_among(bits: Sequence[Bits], known: Sequence[Sequence[np.int64]], threads: int | None) -> NDArray[np.uint8]:
    """Returns the place of each row of columns among those known, `MOST` for others."""
    rows = np.full(len(bits[0]), MOST, np.uint8)

    def compare(piece: slice) -> None:
        own = [each[piece] for each in bits]
        for place, row in enumerate(known):
            rows[piece][_equal(own, row)] = place

    by_pieces(len(rows), compare, threads)
    return rows


def _first_of_each(bits: Sequence[Bits], most: int) -> list[int] | None:
    """Returns the first occurrence of each row of some columns; None if there are more than `most`."""
    left, found = np.arange(len(bits[0])), list[int]()
    while len(left):
        if len(found) == most:
            return None
        found.append(int(left[0]))
        left = left[~_equal([each[left] for each in bits], [each[left[0]] for each in bits])]
    return found


def _equal(bits: Sequence[Bits], row: Sequence[np.int64]) -> NDArray[np.bool_]:
    """Returns which rows of columns are equal to one."""
    same: NDArray[np.bool_] = bits[0] == row[0]
    for each, value in zip(bits[1:], row[1:], strict=True):
        same &= each == value
    return same


def _bits(column: NDArray[np.float64]) -> Bits:
    """Returns (m, k) numbers, which are equal where the bits of labels are."""
    return np.ascontiguousarray(column, np.float64).view(np.int64).reshape(len(column), -1)
