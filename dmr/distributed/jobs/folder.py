"""A folder of arrays: the output of a task, and an input of later ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.cached import cached_property
from dmr.common.pooling import ForkSafeLock
from dmr.common.threads import available_threads
from dmr.errors import FileContentError, MissingFileError, file_error
from dmr.io.archives.native import write_bytes

ARRAYS = "arrays.bin"
ALIGNMENT = 64  # of each array in the file, in bytes: a cache line
WORTH_SHARING = 2**24  # bytes, from which on several threads write them
_END = 8  # bytes at the end of the file: the place of the index
MOST_INDICES = 64  # that are kept: every task reads that of the whole, which is long if there are many tiles

Index = dict[str, tuple[str, tuple[int, ...], int]]  # of each array: dtype, shape, place

_indices: dict[tuple[Path, int, int, int], Index] = {}  # by file, and what changes with its content
_lock = ForkSafeLock()


class Folder:
    """Arrays by name, in one file. They are read through a memory map, so that slices need no more memory.

    `folder["points"]` reads an array, and `"points" in folder` says whether there is one. In a new folder
    `folder["points"] = array` writes one, once per name, and `close` completes the file; only then is it read. Other
    files may be written beside it, to `path`.

    The file holds the bytes of the arrays, each aligned, then an index as JSON, {name: [dtype, shape, place]}, then
    the place of the index as a little-endian number of 64 bits.

    Args:
        path: the folder, which exists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._written: dict[str, tuple[str, tuple[int, ...], int]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Returns an array, read-only and mapped to the file.

        Raises:
            FileError: there is no such array, or the file cannot be read.
        """
        if name not in self._index:
            raise MissingFileError(f"has no array {name!r}", self._file)
        dtype, shape, place = self._index[name]
        return np.ndarray(shape, dtype, self._bytes, place)

    def __setitem__(self, name: str, array: NDArray[Any]) -> None:
        """Writes an array.

        Raises:
            FileError: it cannot be written.
        """
        array = np.ascontiguousarray(array)
        self._written[name] = array.dtype.str, array.shape, self._append(array.reshape(-1).view(np.uint8).data)

    def close(self) -> None:
        """Completes the file, after the last array.

        Raises:
            FileError: it cannot be written.
        """
        place = self._append(json.dumps(self._written).encode())
        self._append(place.to_bytes(_END, "little"), 1)

    def discard(self) -> None:
        """Removes the arrays; those that a process has mapped stay readable for it.

        Raises:
            FileError: they cannot be removed.
        """
        try:
            self._file.unlink(missing_ok=True)
        except OSError as error:
            raise file_error(error, self._file, "cannot be removed") from error

    def _append(self, content: bytes | memoryview, alignment: int = ALIGNMENT) -> int:
        """Appends bytes to the file; returns their place."""
        try:
            with self._file.open("ab") as file:
                file.write(bytes(-file.tell() % alignment))
                place = file.tell()
                if len(content) < WORTH_SHARING:
                    file.write(content)
                    return place
            with self._file.open("r+b") as file:
                write_bytes(file.fileno(), np.frombuffer(content, np.uint8), place, available_threads())
        except OSError as error:
            raise file_error(error, self._file, "cannot be written") from error
        return place

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __iter__(self) -> Iterator[str]:
        """Yields the names of the arrays, sorted."""
        return iter(sorted(self._index))

    @property
    def _file(self) -> Path:
        return self.path / ARRAYS

    @cached_property
    def _bytes(self) -> NDArray[np.uint8]:
        try:
            return np.memmap(self._file, np.uint8, "r")
        except (OSError, ValueError) as error:
            raise file_error(error, self._file, "cannot be read") from error

    @cached_property
    def _index(self) -> Index:
        content = self._bytes
        try:
            status = self._file.stat()
        except OSError as error:
            raise file_error(error, self._file, "cannot be read") from error
        key = self._file, status.st_ino, status.st_mtime_ns, status.st_size
        with _lock:
            found = _indices.get(key)
        if found is None:
            found = self._read_index(content)
            with _lock:
                while len(_indices) >= MOST_INDICES:
                    del _indices[next(iter(_indices))]
                _indices[key] = found
        return found

    def _read_index(self, content: NDArray[np.uint8]) -> Index:
        try:
            place = int(content[-_END:].view("<u8")[0])
            return {
                name: (dtype, tuple(shape), at)
                for name, (dtype, shape, at) in json.loads(content[place:-_END].tobytes()).items()
            }
        except (ValueError, IndexError) as error:
            raise FileContentError("is damaged: it has no index of its arrays", self._file) from error
