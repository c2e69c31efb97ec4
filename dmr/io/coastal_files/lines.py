"""Lines of text files with their numbers, and tables of numbers in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.available import require_memory
from dmr.common.text import counted
from dmr.errors import FileContentError, file_error
from dmr.io.columns import shown
from dmr.mesh.types import Float, Int

BYTES_PER_BYTE = 8  # memory per byte of text, as lines and fields

Line = tuple[int, bytes]  # its number in the file, from 1 on, and its text


def read_lines(path: Path) -> list[bytes]:
    """All lines of a file.

    Raises:
        FileError: the file cannot be read, or is empty.
    """
    try:
        require_memory(BYTES_PER_BYTE * path.stat().st_size, path.name)
        lines = path.read_bytes().splitlines()
    except (OSError, MemoryError) as error:
        raise file_error(error, path, "cannot be read") from error
    if not lines:
        raise FileContentError("is empty", path, 1)
    return lines


def numbers_in(lines: Sequence[Line], names: Sequence[str], path: Path) -> Float:
    """The first numbers of each line; further fields are ignored.

    Args:
        lines: the lines of the table.
        names: of the columns, for messages.
        path: the file, for messages.

    Returns:
        (len(lines), len(names)) float64, all finite.

    Raises:
        FileError: a line has too few fields, or one that is not a finite number.
    """
    count = len(names)
    fields = [line.split(None, count)[:count] for _, line in lines]
    try:
        table = np.array(fields, "S").astype(np.float64) if fields else np.empty((0, count))
    except ValueError:
        table = np.empty(0)  # fields of different counts, or none that numpy takes as numbers
    if table.shape != (len(fields), count) or not np.isfinite(table).all():
        rows = zip(lines, fields, strict=True)
        table = np.array([_row(number, row, names, path) for (number, _), row in rows])
    return table


def whole_numbers_in(lines: Sequence[Line], names: Sequence[str], path: Path) -> NDArray[np.int64]:
    """As `numbers_in`, for whole numbers of 32 bits, (len(lines), len(names)) int64."""
    table = numbers_in(lines, names, path)
    wrong = np.argwhere((table != np.rint(table)) | (table < -(2**31)) | (table >= 2**31))
    if wrong.size:
        row, column = wrong[0]
        number, line = lines[row]
        text = shown(line.split()[column])
        raise FileContentError(f"{text} is not a whole number of 32 bits ({names[column]})", path, number)
    return table.astype(np.int64)


class Numbering:
    """The numbers of nodes in a file, and their rows.

    Raises:
        FileError: two nodes have one number.
    """

    def __init__(self, numbers: NDArray[np.int64], lines: Sequence[Line], path: Path) -> None:
        self._path = path
        self._order = np.argsort(numbers, kind="stable")
        self._sorted = numbers[self._order]
        again = np.flatnonzero(self._sorted[1:] == self._sorted[:-1])
        if again.size:
            row = int(self._order[again + 1].min())
            raise FileContentError(f"node {numbers[row]} occurs a second time", path, lines[row][0])

    def rows_of(self, named: NDArray[np.int64], lines: Sequence[Line]) -> Int:
        """The rows of nodes, in the shape of `named`, whose first axis is that of the lines that name them.

        Raises:
            FileError: there is no such node.
        """
        lost = np.argwhere(~np.isin(named, self._sorted))
        if lost.size:
            at = tuple(lost[0])
            raise FileContentError(f"names node {named[at]}, which does not exist", self._path, lines[at[0]][0])
        return self._order[np.searchsorted(self._sorted, named)].astype(np.int32)


def _row(number: int, fields: Sequence[bytes], names: Sequence[str], path: Path) -> list[float]:
    """The numbers of one line, in which Fortran may write exponents with a D."""
    if len(fields) < len(names):
        there = counted(len(fields), "field")
        raise FileContentError(f"has {there} instead of {len(names)} ({', '.join(names)})", path, number)
    values = []
    for field, name in zip(fields, names, strict=True):
        try:
            value = float(field.lower().replace(b"d", b"e"))
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise FileContentError(f"{shown(field)} is not a finite number ({name})", path, number)
        values.append(value)
    return values


def nodes_of(table: NDArray[np.float64]) -> dict[str, Any]:
    """Returns the fields of a mesh for nodes (number, x, y, elevation): elevations of 0 everywhere are left out."""
    return {"vertices": table[:, 1:3], "vertex_attributes": table[:, 3:] if table[:, 3].any() else None}
