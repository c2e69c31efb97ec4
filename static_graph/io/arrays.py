"""Readers and writers of integer arrays: successors, parents, edges, values."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import as_path, chosen, shortened
from dmr.common.available import require_memory
from dmr.common.errors import file_error, printable
from dmr.common.text import counted
from static_graph.common.targets import check_suffix, check_target, replace_file
from static_graph.errors import DmrError, FileContentError, FileError
from static_graph.io.inputs import Input, Source, given_input, unknown_suffix

SUFFIXES = (".npy", ".txt", ".csv")
FORMATS = tuple(suffix[1:] for suffix in SUFFIXES)
_BATCH = 1 << 16  # numbers
_BLOCK = 1 << 21  # bytes of text


def read_array(source: Source, *, format: str | None = None) -> NDArray[Any]:
    """Reads an array of integers.

    Args:
        source: a file, or a binary stream: `.npy`; or text (`.txt`, `.csv`) with one or two numbers per line, separated
            by spaces or a comma. Empty lines, and lines that begin with `#` or `%`, are skipped.
        format: "npy", "txt" or "csv"; by default the suffix of the file decides.

    Returns:
        (n,) integers, or (m, 2) if lines have two.

    Raises:
        FileError: the file cannot be read (the error names the wrong line), or holds no numbers. An `.npy` of shape
            (0, 2), no edges, is valid.
        OptionError: there is no such format.
    """
    given = given_input(source)
    path = given.path
    suffix = path.suffix.lower() if format is None else f".{chosen('format', format, FORMATS)}"
    if suffix not in SUFFIXES:
        raise FileContentError(f"{unknown_suffix(path)}; arrays are read from {', '.join(SUFFIXES)}", path)
    try:
        if given.size() == 0:
            raise FileContentError("is empty", path)
        found = _read_npy(given) if suffix == ".npy" else _read_text(given)
    except DmrError:
        raise
    except (OSError, MemoryError) as error:
        raise file_error(error, path, "cannot be read") from error
    except Exception as error:  # any exception that numpy's reader raises for a damaged file
        raise FileContentError(f"is damaged, or not what its suffix says: {printable(str(error))}", path) from error
    if found.shape == (0,):
        raise FileContentError("holds no numbers", path)
    if found.dtype.kind not in "iu" or not (found.ndim == 1 or found.shape[1:] == (2,)):
        kind = f"{found.dtype} of shape {found.shape}"
        raise FileContentError(f"holds {kind}, not whole numbers in one or two columns", path)
    return found


def write_array(
    path: Path, numbers: NDArray[np.integer[Any]], *, format: str | None = None, overwrite: bool = True
) -> Path:
    """Writes (n,) integers in a form that `read_array` reads: `.npy`, or text with one number per line.

    Args:
        path: the file.
        numbers: the integers.
        format: as for `read_array`.
        overwrite: whether the file may exist already.

    Raises:
        FileError: the file cannot be written; nothing was changed.
    """
    path = as_path(path)
    suffix = check_array_target(path, overwrite, format)

    def fill(file: BinaryIO) -> None:
        if suffix == ".npy":
            np.save(file, numbers, allow_pickle=False)
            return
        for begin in range(0, len(numbers), _BATCH):
            file.write(("\n".join(map(str, numbers[begin : begin + _BATCH].tolist())) + "\n").encode())

    replace_file(path, fill, overwrite=overwrite)
    return path


def check_array_target(path: Path, overwrite: bool, format: str | None = None) -> str:
    """Returns the suffix of the format in which an array is written to a path; called before the work begins.

    Raises:
        FileError: it cannot be written. OptionError: there is no such format.
    """
    if format is None:
        check_suffix(path, SUFFIXES, "arrays")
    check_target(path, overwrite)
    return path.suffix.lower() if format is None else f".{chosen('format', format, FORMATS)}"


def _read_npy(source: Input) -> NDArray[Any]:
    """Reads the array of an `.npy` file in pieces."""
    with source.opened() as file:
        require_memory(source.size(), "the array")
        found: Any = np.load(_Piecewise(file), allow_pickle=False)
        if not isinstance(found, np.ndarray):
            raise FileContentError("holds several arrays, not one (.npy)", source.path)
    return found


class _Piecewise:
    """A file that numpy does not recognise as one, so that it reads some kilobytes at a time, and Ctrl-C ends it."""

    def __init__(self, file: BinaryIO) -> None:
        self.read, self.seek, self.tell = file.read, file.seek, file.tell


def _read_text(source: Input) -> NDArray[np.int64]:
    """Reads the numbers of a text file, some megabytes of lines at a time."""
    parts: list[NDArray[np.int64]] = []
    columns, before = 0, 0
    with source.opened() as file:
        while block := file.read(_BLOCK):
            lines = (block + file.readline()).decode("utf-8").splitlines()
            require_memory(2 * 8 * columns * sum(map(len, parts)), "the numbers of a text")  # for the concatenation
            numbers, columns = _parse(source.path, lines, before, columns)
            parts.append(numbers)
            before += len(lines)
    found = np.concatenate(parts)
    return found.reshape(-1, 2) if columns == 2 else found


def _parse(path: Path, lines: list[str], before: int, columns: int) -> tuple[NDArray[np.int64], int]:
    """Parses lines; returns their numbers, and the count of numbers per line.

    Args:
        path: for errors; lines: of the file; before: number of lines above them.
        columns: count of numbers in each of the lines before, or 0.
    """
    rows = [line.replace(",", " ") for line in lines]
    rows = [row for row in rows if row.strip() and row.lstrip()[0] not in "#%"]
    if rows and not columns:
        columns = len(rows[0].split())
    try:
        numbers = np.array(" ".join(rows).split(), np.int64)
    except (ValueError, OverflowError):
        numbers = np.empty(0, np.int64)
    if columns not in (0, 1, 2) or len(numbers) != columns * len(rows) or any(len(x.split()) != columns for x in rows):
        raise _first_bad_line(path, lines, before, columns)
    return numbers, columns


def _first_bad_line(path: Path, lines: list[str], before: int, columns: int) -> FileError:
    for number, line in enumerate(lines, before + 1):
        words = line.replace(",", " ").split()
        if not words or words[0][0] in "#%":
            continue
        if columns not in (1, 2):
            return FileContentError(f"has {len(words)} entries; a line should have one number, or two", path, number)
        if len(words) != columns:
            has = counted(len(words), "entry")
            return FileContentError(f"has {has}; it should have {columns}, as the lines before", path, number)
        for word in words:
            try:
                np.int64(int(word))
            except (ValueError, OverflowError):
                return FileContentError(f"{shortened(word)} is not a whole number of 64 bits", path, number)
    return FileContentError("is not a table of whole numbers", path)
