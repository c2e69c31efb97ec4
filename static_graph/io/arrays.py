"""Arrays of whole numbers, read and written: successors, parents, edges, values."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from static_graph.errors import FileError
from static_graph.io.replacing import check_suffix, check_target, replace_file
from static_graph.io.system import system_reason
from static_graph.wording import counted

SUFFIXES = (".npy", ".txt", ".csv")
_BATCH = 1 << 16  # numbers


def read_array(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Reads whole numbers.

    Args:
        path: `.npy`; or text (`.txt`, `.csv`) with one number a line, or two, apart by spaces or a comma. Empty lines,
            and those that begin with `#` or `%`, are passed over.

    Returns:
        (n,) whole numbers, or (m, 2) where lines have two.

    Raises:
        FileError: it cannot be read, and the line that is wrong is named; or it holds no numbers. (An `.npy` of shape
            (0, 2), no edges, is fine.)
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise FileError(f"arrays are read from {', '.join(SUFFIXES)}, not from {path.suffix or 'a file without'}", path)
    try:
        if path.stat().st_size == 0:
            raise FileError("is empty", path)
        if path.suffix.lower() == ".npy":
            found: Any = np.load(path, allow_pickle=False)
            if not isinstance(found, np.ndarray):
                raise FileError("holds several arrays, not one (.npy)", path)
        else:
            found = _parse(path, path.read_text(encoding="utf-8"))
    except (OSError, MemoryError) as error:
        raise FileError(f"cannot be read: {system_reason(error)}", path) from error
    except (ValueError, EOFError) as error:
        raise FileError(f"is damaged, or not what its suffix says: {error}", path) from error
    if found.shape == (0,):
        raise FileError("holds no numbers", path)
    if found.dtype.kind not in "iu" or not (found.ndim == 1 or found.shape[1:] == (2,)):
        raise FileError(f"holds {found.dtype} of shape {found.shape}, not whole numbers in one or two columns", path)
    return np.asarray(found)


def write_array(path: Path, numbers: NDArray[np.integer[Any]], *, overwrite: bool = True) -> Path:
    """Writes (n,) whole numbers, so that `read_array` gives them back: `.npy`, or text with one a line.

    Raises:
        FileError: it cannot be written; nothing was changed.
    """
    check_array_target(path, overwrite)

    def fill(file: BinaryIO) -> None:
        if path.suffix.lower() == ".npy":
            np.save(file, numbers, allow_pickle=False)
            return
        for begin in range(0, len(numbers), _BATCH):
            file.write(("\n".join(map(str, numbers[begin : begin + _BATCH].tolist())) + "\n").encode())

    replace_file(path, fill, overwrite=overwrite)
    return path


def check_array_target(path: Path, overwrite: bool) -> None:
    """Raises FileError where an array cannot be put under a name, before there is one."""
    check_suffix(path, SUFFIXES, "arrays")
    check_target(path, overwrite)


def _parse(path: Path, text: str) -> NDArray[np.int64]:
    lines = [line for line in text.replace(",", " ").splitlines() if line.strip() and line.lstrip()[0] not in "#%"]
    columns = len(lines[0].split()) if lines else 1
    try:
        numbers = np.array(" ".join(lines).split(), np.int64)
    except (ValueError, OverflowError):
        numbers = np.empty(0, np.int64)
    if columns not in (1, 2) or len(numbers) != columns * len(lines) or any(len(x.split()) != columns for x in lines):
        raise _first_bad_line(path, text, columns)
    return numbers if columns == 1 else numbers.reshape(-1, 2)


def _first_bad_line(path: Path, text: str, columns: int) -> FileError:
    for number, line in enumerate(text.splitlines(), 1):
        words = line.replace(",", " ").split()
        if not words or words[0][0] in "#%":
            continue
        if columns not in (1, 2):
            return FileError(f"has {len(words)} entries; a line should have one number, or two", path, number)
        if len(words) != columns:
            has = counted(len(words), "entry")
            return FileError(f"has {has}; it should have {columns}, as the lines before", path, number)
        for word in words:
            try:
                np.int64(int(word))
            except (ValueError, OverflowError):
                return FileError(f"{word!r} is not a whole number of 64 bits", path, number)
    return FileError("is no table of whole numbers", path)
