"""The arrays of an archive: made of others, or arriving in pieces, while they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.io.archives.native import COPIED, GATHERED, NUMBERED, TRANSLATED

Array = NDArray[Any]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

NO_ROWS: Int32 = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class Column:
    """An array that is made of others.

    Attributes:
        dtype, shape: of the array; kind: how it is made (`native`).
        sources: the arrays; counts: the rows that each contributes.
        tables: of each, what replaces its entries, or which rows are taken; origins: which of all rows are taken.
        firsts: of each, what the entry -1 stands for.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    kind: int
    sources: Sequence[Array]
    counts: Sequence[int]
    tables: Sequence[Int32 | None]
    origins: Int32 | None = None
    firsts: Sequence[int] = ()


@dataclass(frozen=True, eq=False)
class ArrivingColumn:
    """An array that arrives in pieces.

    Attributes:
        dtype, shape: of the array.
        pieces: yields its rows in order, in contiguous arrays of at least one row, which are no longer used when the
            next one is requested.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    pieces: Callable[[], Iterable[Array]]


class Indexed(NamedTuple):
    """Rows of a table, given by their numbers: (k,) of any integers that fit int32."""

    table: Array
    rows: NDArray[np.integer[Any]]


def copied(*arrays: Array | Indexed) -> Column:
    """Returns the column of arrays one after another, which have equal dtypes and further axes."""
    given = [each if isinstance(each, Indexed) else Indexed(each, NO_ROWS) for each in arrays]
    tables = [np.ascontiguousarray(each.table) for each in given]
    rows = [None if each.rows is NO_ROWS else np.ascontiguousarray(each.rows, np.int32) for each in given]
    counts = [len(np.atleast_1d(table)) if row is None else len(row) for table, row in zip(tables, rows, strict=True)]
    shape = (sum(counts), *tables[0].shape[1:]) if given[0].table.ndim else ()
    return Column(tables[0].dtype, shape, COPIED, tables, counts, rows)


def translated(arrays: Sequence[Int32], tables: Sequence[Int32]) -> Column:
    """Returns the column of int32 arrays one after another, each entry replaced by that of the array's table."""
    rows = [np.ascontiguousarray(array, np.int32) for array in arrays]
    shape = (sum(map(len, arrays)), *rows[0].shape[1:])
    counts = [len(each) for each in rows]
    return Column(np.dtype(np.int32), shape, TRANSLATED, rows, counts, [np.ascontiguousarray(each) for each in tables])


def gathered(arrays: Sequence[Array], origins: Int32) -> Column:
    """Returns the column of the rows `origins`, which are counted over all arrays; these have equal dtypes."""
    rows = [np.ascontiguousarray(array) for array in arrays]
    shape = (len(origins), *rows[0].shape[1:])
    return Column(rows[0].dtype, shape, GATHERED, rows, [len(each) for each in rows], [None] * len(rows), origins)


def numbered(arrays: Sequence[Int64], firsts: Sequence[int]) -> Column:
    """Returns the column of int64 arrays one after another, with numbers from `firsts` on in place of -1, -2, ..."""
    rows = [np.ascontiguousarray(array, np.int64) for array in arrays]
    counts = [len(each) for each in rows]
    return Column(np.dtype(np.int64), (sum(counts),), NUMBERED, rows, counts, [None] * len(rows), firsts=firsts)
