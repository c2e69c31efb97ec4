"""Text files with one edge per line: read whole, decompressed if gzip, and parsed by the native library.

A "row" is a line that is neither blank nor a comment. Every error names the file and the 1-based line. Files are read
in pieces, so that Ctrl-C takes effect quickly.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import shortened
from dmr.common.available import require_memory
from dmr.common.files.compressed import read_pieces
from dmr.common.files.text_index import HEAD_BYTES, TextIndex, text_begin
from dmr.common.threads import thread_count
from static_graph.errors import FileContentError, FileError
from static_graph.graph.checks import MOST
from static_graph.io import native
from static_graph.io.inputs import Input

ROW_BYTES = 2 * 8 + 8  # per edge: two endpoints of at most 64 bits, and a weight


@dataclass(frozen=True)
class Grammar:
    """Syntax of the rows.

    Attributes:
        comments: the characters that begin comments, at most two.
        commas: whether fields are separated by commas instead of blanks.
        prefix: the letter that begins rows, or the empty string.
        columns: the meaning of the fields, in order: native.SOURCE, TARGET, WEIGHT.
        low, high: the range of node numbers; `low` becomes node 0.
        row: the form of a row, for messages.
        whole: whether weights must be integers.
    """

    comments: str
    row: str
    commas: bool = False
    prefix: str = ""
    columns: tuple[int, int, int] = (native.SOURCE, native.TARGET, native.WEIGHT)
    low: int = 0
    high: int = 2**63 - 1
    whole: bool = False


@dataclass(frozen=True)
class Edges:
    """Edges: (m,) sources and targets, int32 or int64, and (m,) weights, int64 or float64, or None."""

    sources: NDArray[Any]
    targets: NDArray[Any]
    weights: NDArray[Any] | None


@dataclass(frozen=True)
class Numbers:
    """Rows of whole numbers from 0.

    Attributes:
        places: (rows + 1,) int64; row i has the numbers values[places[i]] to values[places[i + 1] - 1].
        values: (k,) int64.
        line_of: returns the line of a row, for errors.
    """

    places: NDArray[np.int64]
    values: NDArray[np.int64]
    line_of: Callable[[int], int]


class TextFile:
    """A text file read into memory.

    Attributes:
        path: the file, or the name of the stream.

    Raises:
        FileError: the file cannot be read, is empty, or is not text.
    """

    def __init__(self, source: Input, threads: int | None = None) -> None:
        self.path: Path = source.path
        self._threads = thread_count(threads)
        with source.unpacked() as file:
            require_memory(source.size(), self.path.name)
            data = read_pieces(file, self.path.name)
        if not data or data.isspace():
            raise FileContentError("is empty", self.path)
        self._start = text_begin(data[:HEAD_BYTES], self.path)
        self._data = data

    def head(self) -> Iterator[tuple[int, str, int]]:
        """Yields the lines from the first on: 1-based number, text, and the position of the next line."""
        begin, number = self._start, 0
        while begin < len(self._data):
            end = self._data.find(b"\n", begin)
            end = len(self._data) if end < 0 else end
            number += 1
            yield number, self._data[begin:end].decode("utf-8", "replace").strip(), end + 1
            begin = end + 1

    def fail(self, reason: str, line: int | None = None) -> FileError:
        """Returns an error for this file, or for a line of it."""
        return FileContentError(reason, self.path, line)

    def edges(self, grammar: Grammar, *, weighted: bool | None, begin: int | None = None, line: int = 0) -> Edges:
        """Parses the edges of all rows.

        Args:
            grammar: the syntax of the rows.
            weighted: whether rows have weights; None for: if the first row has one.
            begin: position of the first row (default: the start); line: number of lines before it.

        Raises:
            FileError: a line is wrong; the error names the first one.
        """
        parse = _Parse(self._data, self._start if begin is None else begin, grammar, self._threads)
        if parse.rows > MOST:
            raise self.fail(f"holds {parse.rows} edges, more than the {MOST} that can be sorted")
        if weighted is None:
            weighted = parse.first_row_has(3)
        wide = False
        weights = native.INT64 if weighted else native.NO_WEIGHTS
        while True:
            edges, fault = parse.run(grammar, weights, wide)
            if fault is None:
                return edges
            if fault.code == native.NO_NODE and not wide and parse.fits(grammar, fault):
                wide = True
            elif fault.code == native.NOT_WHOLE and fault.field == 2 and not grammar.whole:
                weights = native.FLOAT64  # parse again, with real weights
            else:
                number = fault.line + line
                if fault.code == native.TOO_FEW and fault.field == 2 and "[" in grammar.row:
                    raise self.fail(self._no_weight(grammar, line), number)
                raise self.fail(_sentence(fault, parse.token(fault), grammar, weighted), number)

    def numbers(self, comments: str, begin: int, line: int) -> Numbers:
        """Parses rows of any number of whole numbers; blank lines are rows, too.

        Args:
            comments: the characters that begin comments, at most two.
            begin: position of the first row; line: number of lines before it.

        Raises:
            FileError: a line is wrong; the error names the first one.
        """
        rows = _NumberRows(self._data, begin, comments, self._threads)
        places, values, fault = rows.run()
        if fault is not None:
            token = shortened(rows.token(fault))
            raise self.fail(f"{token} is {_NUMBER_FAULTS[fault.code]}", fault.line + line)
        return Numbers(places, values, lambda row: rows.line_of(row) + line)

    def _no_weight(self, grammar: Grammar, before: int) -> str:
        """Message for a row without a weight if the first row has one; `before` lines precede the rows."""
        starts = tuple(grammar.comments)
        first = next(k for k, line, _ in self.head() if k > before and line and not line.startswith(starts))
        row = grammar.row.replace("[", "").replace("]", "")
        return f"has no weight, but line {first} has one; a line should be {row}"


class _Rows:
    """The rows of a text, indexed once.

    Attributes:
        rows: their number.
    """

    def __init__(self, data: bytearray, begin: int, comments: str, threads: int, **more: Any) -> None:
        """Takes the text, the position of its first row, the beginnings of comments, and fields of `native.Text`."""
        self._library = native.library()
        self._bytes = np.frombuffer(data, np.uint8)[begin:] if data else np.empty(0, np.uint8)
        self._index = TextIndex(len(self._bytes))
        self._text = native.Text(
            text=self._bytes.ctypes.data,
            comment=ord(comments[0]),
            other_comment=ord(comments[-1]),
            threads=threads,
            **more,
            **self._index.fields(),
        )
        self._library.graph_text_index(self._text)
        self._comments = tuple(comments)
        self.rows = self._index.rows

    def token(self, fault: native.Fault) -> str:
        """Returns the text that caused a fault."""
        return self._bytes[fault.begin : fault.end].tobytes().decode("utf-8", "replace")


class _NumberRows(_Rows):
    """Rows of any number of whole numbers; blank lines are rows, too."""

    def __init__(self, data: bytearray, begin: int, comments: str, threads: int) -> None:
        super().__init__(data, begin, comments, threads, blank_rows=True)

    def run(self) -> tuple[NDArray[np.int64], NDArray[np.int64], native.Fault | None]:
        """Parses all rows; returns places and numbers, as `Numbers` has them, and a fault or None."""
        fault, counts = native.Fault(), np.zeros(self.rows + 1, np.int64)
        if self._library.graph_text_count(self._text, counts.ctypes.data):
            raise MemoryError
        places = np.concatenate([[0], np.cumsum(counts[:-1])])
        require_memory(3 * 8 * int(places[-1]), f"a text of {places[-1]} numbers")
        values = np.empty(places[-1], np.int64)
        outcome = self._library.graph_text_numbers(self._text, places.ctypes.data, values.ctypes.data, fault)
        if outcome == 2:
            raise MemoryError
        return places, values, fault if outcome == 1 else None

    def line_of(self, row: int) -> int:
        """Returns the 1-based line, counted from the first row's, of a row."""
        chunk = int(np.searchsorted(self._index.rows_before, row, "right")) - 1
        begin, end = self._index.offsets[chunk : chunk + 2]
        lines = self._bytes[begin:end].tobytes().decode("utf-8", "replace").split("\n")
        rows = [k for k, line in enumerate(lines, 1) if not line.lstrip().startswith(self._comments)]
        return int(self._index.lines_before[chunk]) + rows[row - int(self._index.rows_before[chunk])]


class _Parse(_Rows):
    """Rows of edges, parsed repeatedly until their number types are known."""

    def __init__(self, data: bytearray, begin: int, grammar: Grammar, threads: int) -> None:
        prefix = ord(grammar.prefix or "\0")
        super().__init__(
            data, begin, grammar.comments, threads, commas=grammar.commas, prefix=prefix, columns=grammar.columns
        )
        self._commas = grammar.commas

    def first_row_has(self, fields: int) -> bool:
        """Returns whether the first row has at least `fields` fields."""
        chunk = int(np.searchsorted(self._index.rows_before, 0, "right")) - 1
        if self.rows == 0:
            return False
        begin, end = self._index.offsets[chunk : chunk + 2]
        text = self._bytes[begin:end].tobytes().decode("utf-8", "replace")
        rows = (line for line in text.split("\n") if line.strip() and not line.lstrip().startswith(self._comments))
        return len(next(rows, "").split("," if self._commas else None)) >= fields

    def run(self, grammar: Grammar, weights: int, wide: bool) -> tuple[Edges, native.Fault | None]:
        """Parses all rows; returns the edges, and a fault or None."""
        require_memory(ROW_BYTES * self.rows, f"a text of {self.rows} edges")
        kind = np.int64 if wide else np.int32
        sources, targets = np.empty(self.rows, kind), np.empty(self.rows, kind)
        weight = None
        if weights != native.NO_WEIGHTS:
            weight = np.empty(self.rows, np.float64 if weights == native.FLOAT64 else np.int64)
        out = native.Edges(
            low=grammar.low,
            high=grammar.high if wide else min(grammar.high, MOST),
            wide=wide,
            weights=weights,
            sources=sources.ctypes.data,
            targets=targets.ctypes.data,
            weight=None if weight is None else weight.ctypes.data,
        )
        fault = native.Fault()
        outcome = self._library.graph_text_parse(self._text, out, fault)
        if outcome == 2:
            raise MemoryError
        return Edges(sources, targets, weight), fault if outcome == 1 else None

    def fits(self, grammar: Grammar, fault: native.Fault) -> bool:
        """Returns whether a node number that was out of range is valid with 64 bits."""
        return MOST < int(self.token(fault)) <= grammar.high


_NUMBER_FAULTS = {
    native.NOT_WHOLE: "not a whole number",
    native.TOO_LARGE: "too large",
    native.NEGATIVE: "negative",
}


def _is_name(token: str) -> bool:
    """Whether a field is a name, such as "alice", and not a number of another form, such as "1e3"."""
    try:
        float(token)
    except ValueError:
        return token[:1].isalpha()
    return False


def _sentence(fault: native.Fault, token: str, grammar: Grammar, weighted: bool) -> str:
    shown = shortened(token)
    what = ("source", "target", "weight")[fault.field]
    row = f"; a line should be {grammar.row}"
    match fault.code:
        case native.NO_PREFIX:
            return f"begins with {shown}{row}"
        case native.TOO_FEW:
            return f"has no {what}{row}"
        case native.TOO_MANY:
            kind = "with a weight" if weighted else "without a weight"
            if "[" in grammar.row and not weighted:  # the first row decides whether rows have weights
                kind += ", as the first one is"
            return f"has {fault.found} fields, beginning with the surplus {shown}; the edges of this file are {kind}"
        case native.NOT_WHOLE:
            is_name = what != "weight" and _is_name(token)
            names = "; .graphml and .parquet files may have nodes with names" if is_name else ""
            return f"{what} {shown} is not a whole number{row}{names}"
        case native.NOT_REAL:
            return f"{what} {shown} is not a number{row}"
        case native.TOO_LARGE:
            return f"{what} {shown} is too large"
        case native.NEGATIVE:
            return f"weight {shown} is negative; distances need non-negative weights"
        case native.NOT_FINITE:
            return f"weight {shown} is not finite"
    nodes = f"from {grammar.low} to {grammar.high}" if grammar.high < 2**63 - 1 else f"from {grammar.low} on"
    return f"{what} {shown} is not a node; their numbers are {nodes}"


class Lines:
    """Iterator over the text of edges, in blocks of lines."""

    BATCH = 1 << 16  # edges

    def __init__(
        self,
        sources: NDArray[np.int32],
        targets: NDArray[np.int32],
        weights: NDArray[Any] | None,
        *,
        labels: NDArray[np.int64] | None = None,
        base: int = 0,
        prefix: str = "",
        separator: str = " ",
    ) -> None:
        kinds = {"int32": native.INT32, "int64": native.INT64, "float64": native.FLOAT64}
        self._kept = (sources, targets, weights, labels)
        self._count = len(sources)
        self._lines = native.Lines(
            sources=sources.ctypes.data,
            targets=targets.ctypes.data,
            labels=None if labels is None else labels.ctypes.data,
            weight=None if weights is None else weights.ctypes.data,
            base=base,
            weights=native.NO_WEIGHTS if weights is None else kinds[weights.dtype.name],
            prefix=ord(prefix or "\0"),
            separator=ord(separator),
        )

    def __iter__(self) -> Iterator[memoryview]:
        library = native.library()
        buffer = ctypes.create_string_buffer(self.BATCH * library.graph_text_longest_line())
        for begin in range(0, self._count, self.BATCH):
            end = min(begin + self.BATCH, self._count)
            yield memoryview(buffer)[: library.graph_text_format(self._lines, begin, end, buffer)]
