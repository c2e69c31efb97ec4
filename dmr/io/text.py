"""A text file of tables: read once, indexed by lines, and parsed into numpy arrays by the native library.

A "row" is a line with data: neither blank nor only a comment. Every error names the file and the 1-based line.
"""

from __future__ import annotations

import ctypes
import logging
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.available import require_memory
from dmr.common.files.text_index import HEAD_BYTES, IndexedText, TextIndex, text_begin
from dmr.common.text import counted
from dmr.common.threads import thread_count
from dmr.errors import FileContentError, FileError, OutOfMemoryError, file_error
from dmr.io import native
from dmr.io.columns import Columns, fault_sentence, shown
from dmr.io.numbering import Numbering

log = logging.getLogger("dmr.io")

READ_BYTES = 1 << 26  # per call; signals are handled between calls

MOST_ROWS = 2**31 - 1
_WHOLE = re.compile(rb"[+-]?[0-9]{1,18}")


@dataclass(frozen=True)
class Table:
    """The columns of one table: row numbers (n,), indices (n, i), reals (n, r), integers (n, k)."""

    numbers: NDArray[np.int64]
    indices: NDArray[np.int32]
    reals: NDArray[np.float64]
    integers: NDArray[np.int32]


class TextFile:
    """A text file in memory, with an index of its lines.

    Attributes:
        path: the file.
        rows: the number of lines with data.
        lines: the number of all lines.

    Raises:
        FileError: the file cannot be read, is UTF-16, or contains no data.
        NativeLibraryError: the native library is missing.
    """

    def __init__(self, path: Path, threads: int | None = None, chunk_bytes: int | None = None) -> None:
        self.path = path
        self._library = native.library()
        try:
            with path.open("rb", buffering=0) as file:
                status = os.fstat(file.fileno())
                self._signature = _signature(status)
                require_memory(status.st_size, path.name)
                self._data = _read_all(file, status.st_size)
        except OutOfMemoryError:
            raise
        except (OSError, MemoryError) as error:
            raise file_error(error, path, "cannot be read") from error
        self._skip = text_begin(self._between(0, HEAD_BYTES), path)
        size = len(self._data) - self._skip
        self._index = TextIndex(size, chunk_bytes)
        self._text = IndexedText(
            text=self._data.ctypes.data + self._skip, threads=thread_count(threads), **self._index.fields()
        )
        self._library.dmr_text_index(self._text)
        self.rows, self.lines = self._index.rows, self._index.lines
        if self.rows == 0:
            raise FileContentError("is empty" if size == 0 else "holds no data, only blank lines and comments", path, 1)

    def fail(self, row: int, reason: str) -> FileError:
        """An error for one row, with its line number."""
        return FileContentError(reason, self.path, self.line_of(row))

    def line_of(self, row: int) -> int:
        """The 1-based line of a 0-based row."""
        return self._find(row)[2]

    def tokens(self, row: int) -> list[bytes]:
        """The fields of one row, without its comment."""
        begin, end, _ = self._find(row)
        return self._between(begin + self._skip, end + self._skip).split(b"#", 1)[0].split()

    def first_number(self, row: int) -> int:
        """The number at the start of a row, from which the numbering of its table starts."""
        (number,) = self._whole(row, self.tokens(row)[:1], ["a number that counts the lines"])
        return number

    def header(self, row: int, names: Sequence[str], defaults: Sequence[int]) -> list[int]:
        """Reads the counts of a header line; up to len(defaults) trailing fields may be missing.

        Raises:
            FileError: the line is missing, has too many or too few fields, or a field is not a count.
        """
        form = " ".join(f"<{name}>" for name in names)
        if row >= self.rows:
            raise FileContentError(f"ends where a line with {form} is expected", self.path, max(self.lines, 1))
        found = self.tokens(row)
        values = self._whole(row, found, names, f"; expected {form}")
        needed = len(names) - len(defaults)
        if not needed <= len(found) <= len(names):
            raise self.fail(row, f"has {len(found)} fields, where {form} is expected")
        for name, value in zip(names, values, strict=False):
            if value < 0:
                raise self.fail(row, f"promises {value} {name}")
        return [*values, *defaults[len(values) - needed :]]

    def table(self, first_row: int, count: int, columns: Columns, numbering: Numbering | None = None) -> Table:
        """Parses `count` rows; the line before them is the header that states the count.

        Fields after the last column are ignored, as in Triangle, with one warning for the table.

        Raises:
            FileError: there are too few rows, or a row is invalid; the message names the first such row.
        """
        if count > self.rows - first_row:
            raise self.fail(first_row - 1, f"promises {count} {columns.plural}, but {_lines(self.rows - first_row)}")
        if count > MOST_ROWS:
            raise self.fail(first_row - 1, f"promises {count} {columns.plural}, more than the {MOST_ROWS} that fit")
        numbering = numbering or Numbering(0, 0)
        native_table = native.Table(
            first_row=first_row,
            count=count,
            **columns.fields(),
            base=numbering.base,
            entities=numbering.count,
            sorted=_address(numbering.ordered),
            places=_address(numbering.places),
        )
        # A field and its separator take two bytes. If the file is too small for the count in its header, nothing is
        # allocated, and parsing only locates the line that is too short.
        plausible = 2 * count * (columns.least_fields) <= len(self._data) + 1
        rows = count if plausible else 0
        out = Table(
            np.empty(rows, np.int64),
            np.empty((rows, columns.indices if plausible else 0), np.int32),
            np.empty((rows, columns.reals if plausible else 0), np.float64),
            np.empty((rows, columns.integers if plausible else 0), np.int32),
        )
        if plausible:
            native_table.numbers, native_table.index_out = _address(out.numbers), _address(out.indices)
            native_table.real_out, native_table.integer_out = _address(out.reals), _address(out.integers)
        fault, surplus = native.Fault(), native.Surplus()
        outcome = self._library.dmr_text_parse(self._text, native_table, fault, surplus)
        if outcome == 2:
            raise FileContentError("does not fit in the available memory", self.path)
        if outcome == 1:
            token = self._between(fault.begin + self._skip, fault.end + self._skip)
            raise FileContentError(fault_sentence(fault, token, columns, numbering), self.path, fault.line)
        assert plausible or count == 0
        if surplus.rows:
            log.warning(
                "%s: %s more fields than the table of %s has columns; the extra fields are ignored (the first: "
                "line %d has %d instead of %s)",
                self.path,
                counted(surplus.rows, "line has", "lines have"),
                columns.plural,
                surplus.line,
                surplus.fields,
                columns.form(),
            )
        return out

    def expect_end(self, row: int, promise: str) -> None:
        """Raises FileError if rows are left; `promise` describes the expected end of the file."""
        if row < self.rows:
            raise self.fail(row, f"holds more than {promise}: the counts in the file are wrong")

    def check_unchanged(self) -> None:
        """Raises FileError if the file was replaced or removed after it was opened."""
        try:
            same = _signature(self.path.stat()) == self._signature
        except OSError:
            same = False
        if not same:
            raise FileContentError("was replaced while it was being read; read it again", self.path)

    def _between(self, begin: int, end: int) -> bytes:
        return self._data[begin:end].tobytes()

    def _find(self, row: int) -> tuple[int, int, int]:
        begin, end, line = ctypes.c_int64(), ctypes.c_int64(), ctypes.c_int64()
        self._library.dmr_text_row(self._text, row, begin, end, line)
        return begin.value, end.value, line.value

    def _whole(self, row: int, tokens: Sequence[bytes], names: Sequence[str], form: str = "") -> list[int]:
        for token, name in zip(tokens, names, strict=False):
            if not _WHOLE.fullmatch(token):
                kind = "is too large" if re.fullmatch(rb"[+-]?[0-9]+", token) else "is not a whole number"
                raise self.fail(row, f"{shown(token)} {kind} ({name}){form}")
        return [int(token) for token in tokens[: len(names)]]


def _read_all(file: FileIO, expected: int) -> NDArray[np.uint8]:
    """Reads a file into an array of the expected size, without a copy, so that its memory can use large pages."""
    data = np.empty(expected, np.uint8)
    filled = 0
    while filled < expected and (count := file.readinto(data.data[filled : filled + READ_BYTES])):
        filled += count
    rest = file.read()  # for files that report no size, or have grown
    return np.concatenate([data, np.frombuffer(rest, np.uint8)]) if rest else data[:filled]


def _lines(left: int) -> str:
    return "1 line follows" if left == 1 else f"{left or 'no'} lines follow"


def _signature(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _address(array: NDArray[Any] | None) -> int | None:
    return None if array is None or array.size == 0 else array.ctypes.data
