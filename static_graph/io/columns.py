"""Writer of results per node, as `.npy`, `.csv` or `.npz`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import as_path
from static_graph.common.targets import check_suffix, check_target, replace_file
from static_graph.errors import OptionError

SUFFIXES = (".npy", ".csv", ".npz")
_BATCH = 1 << 16  # rows


def write_columns(
    path: str | Path, columns: Mapping[str, NDArray[Any]], main: str | None = None, *, overwrite: bool = True
) -> Path:
    """Writes arrays of the same length as columns.

    Args:
        path: `.csv` gets a heading and a row per index; `.npz` gets all arrays by their names; `.npy` only `main`.
        columns: the arrays, by name.
        main: the column for `.npy` (default: the first).
        overwrite: whether the file may exist already.

    Raises:
        FileError: the file cannot be written; nothing was changed.
        OptionError: the arrays have different lengths, or there is no column `main`.
    """
    path = as_path(path)
    check_columns_target(path, overwrite)
    main = next(iter(columns)) if main is None else main
    if main not in columns:
        raise OptionError(f"there is no column {main!r}; there are {', '.join(columns)}")
    if len({len(column) for column in columns.values()}) != 1:
        raise OptionError("the columns have different lengths")

    def fill(file: BinaryIO) -> None:
        match path.suffix.lower():
            case ".npy":
                np.save(file, columns[main], allow_pickle=False)
            case ".npz":
                arrays: dict[str, Any] = dict(columns)
                np.savez(file, **arrays)
            case _:
                _write_csv(file, columns)

    replace_file(path, fill, overwrite=overwrite)
    return path


def check_columns_target(path: Path, overwrite: bool) -> None:
    """Raises FileError if results cannot be written to a path; called before the work begins."""
    check_suffix(path, SUFFIXES, "results")
    check_target(path, overwrite)


def _write_csv(file: BinaryIO, columns: Mapping[str, NDArray[Any]]) -> None:
    file.write((",".join(columns) + "\n").encode())
    arrays = list(columns.values())
    for begin in range(0, len(arrays[0]), _BATCH):
        parts = [map(_shown, array[begin : begin + _BATCH].tolist()) for array in arrays]
        file.write(("\n".join(map(",".join, zip(*parts, strict=True))) + "\n").encode())


def _shown(value: Any) -> str:
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n\r') else text
