"""Writes the file of a part, or completes the one that the core of a tile has begun."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.threaded import rows_taken
from dmr.distributed.tiles.patch import with_numbers
from dmr.distributed.tiles.piece import NUMBERS, ROWS
from dmr.distributed.tiles.result.core_file import ARRAYS, begin_core
from dmr.distributed.tiles.result.sections import Section
from dmr.distributed.unions.union import Numbers, United, check_length, unite
from dmr.errors import file_error
from dmr.io.archives.columns import Column, copied, numbered
from dmr.io.archives.npz import NONE_BEGUN, Begun, write_npz

Int64 = NDArray[np.int64]

NO_NUMBERS = Numbers(np.empty(0, np.int64))


@dataclass(frozen=True, eq=False)
class PartNumbers:
    """The numbers of a part's vertices: those of a core, then the others. Both ascend.

    Attributes:
        core, others: these numbers.
    """

    core: Numbers
    others: Int64

    def __len__(self) -> int:
        return len(self.core.entries) + len(self.others)

    def of(self, vertices: NDArray[Any]) -> Int64:
        """Returns the numbers of some vertices."""
        count = len(self.core.entries)
        in_core = vertices < count
        numbers = np.empty(len(vertices), np.int64)
        numbers[in_core] = with_numbers(self.core.entries[vertices[in_core]], self.core.first)
        numbers[~in_core] = self.others[vertices[~in_core] - count]
        return numbers

    def column(self) -> Column:
        """Returns the column of all of them."""
        return numbered([self.core.entries, self.others], [self.core.first, 0])


def unite_after(first: Numbers, lists: Sequence[Numbers], threads: int) -> United:
    """Unites lists, and numbers their union after the entries of another one, which keep their places.

    Args:
        first: the other list; lists: one or more; threads: that compute.

    Returns:
        The union without the entries of `first`, as from `unite`; but `places` are those in `first` followed by it.

    Raises:
        OptionError, MemoryError: as `unite` does.
    """
    union = unite(lists, threads)
    at = first.find(union.numbers, threads)
    is_new = at < 0
    new, before = np.flatnonzero(is_new), len(first.entries)
    check_length(before + len(new))
    at = np.where(is_new, np.cumsum(is_new, dtype=np.int32) + np.int32(before - 1), at)
    return United(
        rows_taken(union.numbers, new, threads),
        rows_taken(union.origins, new, threads),
        [rows_taken(at, place, threads) for place in union.places],
    )


def write_part(
    path: Path, core: Section | None, columns: Mapping[str, Column], numbers: PartNumbers, threads: int
) -> Path:
    """Writes the file of a part.

    Args:
        path: the file, unless that which the core has begun has enough room; core: the core of a tile, or None.
        columns: the arrays of the part by name; of `ARRAYS` in a core's file, the rows that follow those of the core.
        numbers: of the vertices, as in the column of this name.
        threads: that make and write them.

    Returns:
        The file. What has been written to it before is not changed, so that this can be repeated.

    Raises:
        FileError: it cannot be written.
    """
    begun: Mapping[str, Begun] = NONE_BEGUN
    if core is not None and core.core is not None:
        after_core = {**columns, NUMBERS: copied(numbers.others)}
        if all(_has_room(core, name, after_core[name]) for name in core.core.begun):
            path, begun, columns = core.core.path, core.core.begun, after_core
        else:
            of_core = ((name, _of_core(core, name)) for name in core.core.begun if name != NUMBERS)
            arrays = {
                name: array.astype(columns[name].dtype, copy=False) for name, array in of_core if array is not None
            }
            most = {name: len(array) + columns[name].shape[0] for name, array in arrays.items()}
            begun = begin_core(path, arrays, most, threads)
    try:
        with path.open("r+b" if begun else "xb") as file:
            write_npz(file.fileno(), columns, threads, begun)
    except OSError as error:
        raise file_error(error, path, "cannot be written") from error
    return path


def _has_room(core: Section, name: str, column: Column) -> bool:
    """Whether the rows of an array fit the file that the core has begun, after its rows, and have the same type."""
    if name == ROWS and core.labels is not None and core.labels.rows.dtype != column.dtype:
        return False
    assert core.core is not None
    return core.core.has_room(name, column.shape[0], column.dtype.itemsize * int(np.prod(column.shape[1:])))


def _of_core(core: Section, name: str) -> NDArray[Any] | None:
    """Returns an array of `ARRAYS`."""
    assert name in ARRAYS
    found: NDArray[Any] | None = getattr(core.mesh, name, None)
    return core.labels.rows if found is None and core.labels is not None else found
