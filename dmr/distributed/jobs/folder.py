"""A folder of arrays: the output of a task, and an input of later ones."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.cached import cached_property
from dmr.common.pooling import ForkSafeLock, close, new_pool, submit
from dmr.errors import FileContentError, MissingFileError, file_error

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

ARRAYS, LARGE = "arrays.bin", "large-{}.bin"
ALIGNMENT = 64  # of each array in the file, in bytes: a cache line
OWN_FILE = 2**22  # bytes, from which on an array has a file to itself
WRITERS = 4  # threads of a folder; the system lets one at a time write to a file
WRITTEN_AT_ONCE = 2**26  # bytes
_END = 8  # bytes at the end of the file: the place of the index
MOST_INDICES = 64  # that are kept: every task reads that of the whole, which is long if there are many tiles

Index = dict[str, tuple[str, tuple[int, ...], int, str]]  # of each array: dtype, shape, place, file

_indices: dict[tuple[Path, int, int, int], Index] = {}  # by file, and what changes with its content
_lock = ForkSafeLock()


class Folder:
    """Arrays by name, in files. They are read through memory maps, so that slices need no more memory.

    `folder["points"]` reads an array, and `"points" in folder` says whether there is one. In a new folder
    `folder["points"] = array` writes one, once per name, and `close` completes the files; only then are they read. A
    large array is written in the background, and must not change until `wait` or `close` returns. Other files may be
    written beside them, to `path`.

    The file `ARRAYS` holds the bytes of the arrays, each aligned, then an index as JSON, {name: [dtype, shape, place,
    file]}, then the place of the index as a little-endian number of 64 bits. Each large array is in a file `LARGE`.

    Args:
        path: the folder, which exists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._written: Index = {}
        self._appended: IO[bytes] | None = None  # the first file, open from its first array until `close` or `stop`
        self._writers: ThreadPoolExecutor | None = None
        self._pending: list[Future[None]] = []
        self._large = 0  # files
        self._maps: dict[str, NDArray[np.uint8]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Returns an array, read-only and mapped to the file.

        Raises:
            FileError: there is no such array, or the file cannot be read.
        """
        if name not in self._index:
            raise MissingFileError(f"has no array {name!r}", self._file)
        dtype, shape, place, file = self._index[name]
        return np.ndarray(shape, dtype, self._map(file), place)

    def __setitem__(self, name: str, array: NDArray[Any]) -> None:
        """Writes an array.

        Raises:
            FileError: it cannot be written.
        """
        array = np.ascontiguousarray(array)
        content = array.reshape(-1).view(np.uint8).data
        if array.nbytes < OWN_FILE:
            self._written[name] = array.dtype.str, array.shape, self._append(content), ARRAYS
            return
        if self._writers is None:
            self._writers = new_pool(WRITERS, "dmr-write")
        file = LARGE.format(self._large)
        self._large += 1
        self._written[name] = array.dtype.str, array.shape, 0, file
        self._pending.append(submit(self._writers, _write, self.path / file, content))

    def refer(self, name: str, dtype: np.dtype[Any], shape: tuple[int, ...], place: int, file: str) -> None:
        """Lists an array whose bytes are at a place in another file in the folder, which `discard` leaves there."""
        self._written[name] = dtype.str, shape, place, file

    def wait(self) -> None:
        """Waits until all arrays so far are written.

        Raises:
            FileError: one cannot be written.
        """
        pending, self._pending = self._pending, []
        for each in pending:
            each.result()

    def close(self) -> None:
        """Completes the files, after the last array.

        Raises:
            FileError: they cannot be written.
        """
        self.wait()
        place = self._append(json.dumps(self._written).encode())
        self._append(place.to_bytes(_END, "little"), 1)
        appended, self._appended = self._appended, None
        try:
            if appended is not None:
                appended.close()
        except OSError as error:
            raise file_error(error, self._file, "cannot be written") from error
        self.stop()

    def stop(self) -> None:
        """Ends the threads that write, and closes the file; without `close` before, the files stay incomplete."""
        writers, self._writers = self._writers, None
        close(writers)
        appended, self._appended = self._appended, None
        if appended is not None:
            with contextlib.suppress(OSError):
                appended.close()

    def discard(self) -> None:
        """Removes the arrays; those that a process has mapped stay readable for it.

        Raises:
            FileError: they cannot be removed.
        """
        for path in [*self.path.glob(LARGE.format("*")), self._file]:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise file_error(error, path, "cannot be removed") from error

    def _append(self, content: bytes | memoryview, alignment: int = ALIGNMENT) -> int:
        """Appends bytes to the first file; returns their place."""
        try:
            if self._appended is None:
                self._appended = self._file.open("ab")
            place = -(-self._appended.tell() // alignment) * alignment
            self._appended.write(bytes(place - self._appended.tell()))
            self._appended.write(content)
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

    def _map(self, file: str) -> NDArray[np.uint8]:
        """Returns the bytes of a file."""
        if file not in self._maps:
            path = self.path / file
            try:
                self._maps[file] = np.memmap(path, np.uint8, "r")
            except (OSError, ValueError) as error:
                raise file_error(error, path, "cannot be read") from error
        return self._maps[file]

    @cached_property
    def _index(self) -> Index:
        content = self._map(ARRAYS)
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
                name: (dtype, tuple(shape), at, file)
                for name, (dtype, shape, at, file) in json.loads(content[place:-_END].tobytes()).items()
            }
        except (ValueError, IndexError) as error:
            raise FileContentError("is damaged: it has no index of its arrays", self._file) from error


def _write(path: Path, content: memoryview) -> None:
    """Writes a file; raises FileError."""
    try:
        with path.open("xb", buffering=0) as file:
            done = 0
            while done < len(content):
                done += file.write(content[done : done + WRITTEN_AT_ONCE])
    except OSError as error:
        raise file_error(error, path, "cannot be written") from error
