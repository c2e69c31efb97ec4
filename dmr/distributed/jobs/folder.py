"""A folder of arrays: the output of a task, and an input of later ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.errors import file_error

ARRAY_SUFFIX = ".npy"


class Folder:
    """Arrays by name, one `.npy` file each. Arrays are read through memory maps, so that slices need no more memory.

    `folder["points"]` reads an array, `folder["points"] = array` writes one, and `"points" in folder` tells whether
    there is one. Other files may be written beside them, to `path`.

    Args:
        path: the folder, which exists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Returns an array, read-only and mapped to its file.

        Raises:
            FileError: there is no such array, or it cannot be read.
        """
        path = self._file(name)
        try:
            array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise file_error(error, path, "cannot be read") from error
        return array

    def __setitem__(self, name: str, array: NDArray[Any]) -> None:
        """Writes an array.

        Raises:
            FileError: it cannot be written.
        """
        path = self._file(name)
        try:
            np.save(path, array, allow_pickle=False)
        except OSError as error:
            raise file_error(error, path, "cannot be written") from error

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._file(name).exists()

    def __iter__(self) -> Iterator[str]:
        """Yields the names of the arrays, sorted."""
        return iter(sorted(path.stem for path in self.path.glob(f"*{ARRAY_SUFFIX}")))

    def _file(self, name: str) -> Path:
        return self.path / f"{name}{ARRAY_SUFFIX}"
