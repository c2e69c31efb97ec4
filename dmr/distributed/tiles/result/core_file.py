"""The core of a tile as the beginning of the file of a part.

Nothing of a core changes, unless a band reaches it, and most triangles of the result are in cores. Their arrays are
therefore written once, when the tile has been refined: to an archive that has room for what the part holds besides, the
rest of the margin and the ghosts. The numbers of the vertices follow when those of all tiles are known (`finish_core`).
The task that makes the part completes this file.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dmr.common.pooling import close, new_pool, submit
from dmr.common.threads import thread_count
from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.task import Resources
from dmr.distributed.tiles.piece import NUMBERS, ROWS
from dmr.distributed.tiles.stored import InMemory, Stored
from dmr.errors import file_error
from dmr.io.archives.columns import numbered
from dmr.io.archives.native import library
from dmr.io.archives.npz import UNKNOWN, Begun, begin_archive, checksum, places_of_first_rows, write_first_rows
from dmr.memory import Device, DeviceArray

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

FILE = "part.npz"  # in the output of a task, which it outlives
BEGUN = "begun"  # the array that stores the places in the file
ARRAYS = ("vertices", "triangles", ROWS, NUMBERS, "vertex_markers", "vertex_attributes")
NOT_BEGUN = Begun(0, 0, 0, 0)
# Room for rows, per row of the margin, from which bands take some, while ghosts are added; and in any case.
ROOM_PER_ROW, LEAST_ROOM = 1.25, 256
CORE_SHARE = 0.85  # of the predicted triangles of a tile, at least, as a rule
# Of a core: three corners, and half a vertex with its number; a row of `Labels`, of which there are few, as a rule.
BYTES_PER_TRIANGLE, BYTES_OF_LABELS = 24, 1
LEAST_MAPPED = 2**24  # bytes
MADE_AT_ONCE = 2**26  # bytes of pages
LEFT_AT_ONCE = 2**24  # bytes: other threads that map memory wait meanwhile
SUM_THREADS = 4  # about as fast as the arrays arrive


@dataclass(frozen=True)
class CoreFile:
    """The file that the core of a tile has begun.

    Attributes:
        path: its path; begun: the rows of the core, by the name of the array.
    """

    path: Path
    begun: Mapping[str, Begun]

    def has_room(self, name: str, rows: int, row_bytes: int) -> bool:
        """Whether further rows of an array fit."""
        first = self.begun[name]
        return first.at + (first.rows + rows) * row_bytes <= first.end

    @classmethod
    def load(cls, stored: Stored) -> CoreFile | None:
        """Returns what `save_core` has written, or None if the stored patch is not the core of a tile."""
        if BEGUN not in stored:
            return None
        return cls(stored.folder.path / FILE, _loaded(stored[BEGUN]))

    def finished(self, output: Folder) -> CoreFile:
        """Returns the file after the task `finish_core`, whose output is given."""
        return replace(self, begun=_loaded(output[BEGUN]))


def core_bytes(device: Device, predicted: int, *, labels: bool) -> int:
    """Returns the bytes to expect of a core, or 0 if its file is not worth mapping.

    Args:
        device: where the tile is refined; predicted: its triangles; labels: whether these have labels.
    """
    if device.threads:  # the core is in main memory
        return 0
    expected = int(CORE_SHARE * predicted * (BYTES_PER_TRIANGLE + BYTES_OF_LABELS * labels))
    return expected if expected >= LEAST_MAPPED else 0


class CoreArrays(InMemory):
    """The arrays of a core, on their way from a device to the file of a part.

    The system lets one thread at a time write to a file. In a file system in main memory, a GPU's arrays are therefore
    copied into the mapped file by several threads; its pages are made before, while the tile waits for the device and
    is refined.

    Args:
        path: of the file; expected: its bytes, about; 0 if it is not to be mapped.
        later: as for `InMemory`.

    Attributes:
        path: as given; numbered: whether all vertices have their numbers; set before there are any.
    """

    def __init__(self, path: Path, expected: int, *, later: bool = True) -> None:
        super().__init__(later=later)
        self.path, self.numbered = path, False
        self._expected = expected
        self._pages: Pages | None = None
        self._targets: dict[str, NDArray[np.uint8]] = {}
        self._summing: ThreadPoolExecutor | None = None
        self._sums: dict[str, Future[int]] = {}

    def expect(self) -> None:
        """Makes pages of the file from now on: not while the tile is loaded, which would take longer beside that."""
        if self._expected:
            self._pages = Pages.of(self.path, self._expected)
        if self._pages is not None:
            self._summing = new_pool(1, "dmr-sums")

    def __exit__(self, *exception: object) -> None:
        close(self._summing)
        self._sums.clear()
        self._targets = {}
        super().__exit__(*exception)
        pages, self._pages = self._pages, None
        if pages is not None:
            pages.close()

    def begin(self, core: tuple[int, int], margin: tuple[int, int], rows: np.dtype[Any] | None) -> None:
        """Maps the arrays into the file; arguments as for `InMemory.begin`."""
        if self._pages is None:
            return
        arrays: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {
            "vertices": (np.dtype(np.float64), (core[0], 2)),
            "triangles": (np.dtype(np.int32), (core[1], 3)),
        }
        if rows is not None:
            arrays[ROWS] = rows, (core[1],)
        arrays[NUMBERS] = np.dtype(np.int64), (core[0],)
        most = most_rows({name: shape[0] for name, (_, shape) in arrays.items()}, margin)
        places = places_of_first_rows(arrays, most)
        sizes = {name: dtype.itemsize * math.prod(shape) for name, (dtype, shape) in arrays.items()}
        mapped = self._pages.mapped(max(places[name] + sizes[name] for name in arrays))
        self._targets = {name: mapped[places[name] : places[name] + sizes[name]] for name in arrays}
        if not self._later:
            self._pages.wait()

    def finish(self) -> None:
        """Copies the arrays that `take` has left; the calling thread does not hold the device."""
        if self._copies and self._pages is not None:
            self._pages.wait()
        super().finish()

    @property
    def there(self) -> Collection[str]:
        """The names of the arrays that are in the file."""
        return self._targets.keys()

    @property
    def unknown(self) -> tuple[str, ...]:
        """The names of the arrays that `finish_core` writes."""
        return () if self.numbered else (NUMBERS,)

    @property
    def sums(self) -> dict[str, int]:
        """The checksums of these arrays, except those of numbers that are not all known."""
        return {name: found.result() for name, found in self._sums.items()}

    def take(self, name: str, array: DeviceArray, dtype: DTypeLike, shape: tuple[int, ...]) -> None:
        """Stores an array of a device, as `InMemory.take`."""
        super().take(name, array, dtype, shape)
        if name in self._targets and not any(name == waiting for waiting, _ in self._copies):
            self._arrived(name)

    def _arrived(self, name: str) -> None:
        if name in self._targets and name not in self.unknown:  # while further arrays arrive, and pages are mapped
            self._sums[name] = submit(self._summing, checksum, self[name], SUM_THREADS)

    def _mapped(self, name: str) -> NDArray[np.uint8] | None:
        return self._targets.get(name)


class Pages:
    """The pages of a new file in a file system in main memory, which a thread makes.

    Args:
        path: of the file; file: that file; expected: its bytes, about.
    """

    def __init__(self, path: Path, file: BinaryIO, expected: int) -> None:
        self._path, self._file, self._wanted = path, file, expected
        self._made = 0
        self._mapped: mmap.mmap | None = None
        self._pool = new_pool(1, "dmr-pages")
        self._making = submit(self._pool, self._make_ahead)

    @classmethod
    def of(cls, path: Path, expected: int) -> Pages | None:
        """Makes a file, or returns None if that would not be in main memory; raises FileError."""
        try:
            file = path.open("x+b")
            if hasattr(os, "posix_fallocate") and in_memory(file):
                return cls(path, file, expected)
            file.close()
            path.unlink()
        except OSError as error:
            raise file_error(error, path, "cannot be written") from error
        return None

    def mapped(self, size: int) -> NDArray[np.uint8]:
        """Returns the first bytes of the file, which must not be used before `wait`; raises FileError."""
        self._wanted = size
        try:
            self._file.truncate(size)
            self._mapped = mmap.mmap(self._file.fileno(), size)
            return np.frombuffer(self._mapped, np.uint8)
        except (OSError, ValueError) as error:
            raise file_error(error, self._path, "cannot be written") from error

    def wait(self) -> None:
        """Waits until all pages are there; without them, a write to the mapped file would end the process.

        Raises:
            FileError: there is no memory for them.
        """
        self._making.result()
        try:
            self._make()
        except OSError as error:
            raise file_error(error, self._path, "cannot be written") from error

    def close(self) -> None:
        """Closes the file, and removes it unless it is used."""
        self._wanted = 0
        close(self._pool)
        self._file.close()
        if self._mapped is None:
            self._path.unlink(missing_ok=True)
        elif hasattr(self._mapped, "madvise"):
            # Where the mapping ends with all its pages, no other thread can map memory for 0.03 to 0.1 s.
            for start in range(0, len(self._mapped), LEFT_AT_ONCE):
                self._mapped.madvise(mmap.MADV_DONTNEED, start, min(LEFT_AT_ONCE, len(self._mapped) - start))

    def _make_ahead(self) -> None:
        with contextlib.suppress(OSError):  # `wait` tells, if they are really needed
            self._make()

    def _make(self) -> None:
        while self._made < self._wanted:
            count = min(MADE_AT_ONCE, self._wanted - self._made)
            os.posix_fallocate(self._file.fileno(), self._made, count)
            self._made += count


def in_memory(file: BinaryIO) -> bool:
    """Whether a file is in a file system in main memory."""
    return bool(library().dmr_in_memory(file.fileno()))


def most_rows(rows: Mapping[str, int], margin: tuple[int, int]) -> dict[str, int]:
    """Returns how many rows of each array the file of a part has room for.

    Args:
        rows: of the core, by name; margin: the vertices and triangles beside it, of its margin as a rule.
    """
    of_vertices, of_triangles = (int(ROOM_PER_ROW * each) + LEAST_ROOM for each in margin)
    of_vertex = ("vert", NUMBERS)
    return {name: count + (of_vertices if name.startswith(of_vertex) else of_triangles) for name, count in rows.items()}


def save_core(core: CoreArrays, out: Folder, place: int, margin: tuple[int, int], threads: int) -> None:
    """Stores the core of a tile.

    Args:
        core: its arrays by name; out: for them, where the file of `core` is; place: there.
        margin: the vertices and triangles beside it (`Refined.beside`); threads: that write.

    Raises:
        FileError: a file cannot be written.
    """
    stored = Stored(out, place)
    first = {name: core[name] for name in ARRAYS if name in core}
    for name, array in core.items():
        if name not in first:
            stored[name] = array
    most = most_rows({name: len(array) for name, array in first.items()}, margin)
    begun = begin_core(core.path, first, most, threads, {*core.there, *core.unknown}, exists=bool(core.there))
    begun.update({name: begun[name]._replace(crc=crc) for name, crc in core.sums.items()})
    for name, each in begun.items():
        if name in core.unknown and name not in core.there:
            stored[name] = first[name]
        else:
            stored.refer(name, first[name].dtype, first[name].shape, each.at, FILE)
    stored[BEGUN] = _table(begun)


def finish_core(
    inputs: Sequence[Folder], out: Folder, resources: Resources, *, place: int, first: int
) -> dict[str, Any]:
    """Writes the numbers of a core's vertices to the file of the part, unless these have been known before.

    The numbers may be there already, as far as the task of the tile knew them; those that it did not know are below 0,
    so that this can be repeated. Another task that reads them meanwhile could find half of one.

    Args:
        inputs: the folder of the core; out: for what has been written, as in `CoreFile.begun`.
        resources: the threads that write.
        place: of the core in its folder; first: the number of the first new vertex of its tile.

    Raises:
        FileError: the file cannot be written.
    """
    stored = Stored(inputs[0], place)
    core = CoreFile.load(stored)
    assert core is not None
    if core.begun[NUMBERS].crc != UNKNOWN:
        out[BEGUN] = stored[BEGUN]
        return {}
    threads, column = thread_count(resources.threads), numbered([stored[NUMBERS]], [first])
    try:
        with core.path.open("r+b") as file:
            numbers = write_first_rows(file.fileno(), column, core.begun[NUMBERS], threads)
    except OSError as error:
        raise file_error(error, core.path, "cannot be written") from error
    out[BEGUN] = _table({**core.begun, NUMBERS: numbers})
    return {}


def _table(begun: Mapping[str, Begun]) -> NDArray[np.int64]:
    """Returns what files have begun with as a table with a row for each of `ARRAYS`."""
    return np.array([tuple(begun.get(name, NOT_BEGUN)) for name in ARRAYS], np.int64)


def _loaded(table: NDArray[np.int64]) -> dict[str, Begun]:
    """Returns what `_table` was given."""
    return {name: Begun(*row) for name, row in zip(ARRAYS, table.tolist(), strict=True) if row[0]}


def begin_core(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    most: Mapping[str, int],
    threads: int,
    left_out: Collection[str] = (),
    *,
    exists: bool = False,
) -> dict[str, Begun]:
    """Begins the file of a part with rows of arrays, and room for `most` rows of each; raises FileError.

    Arrays that are `left_out` are in the file already, which then `exists`, or are written later.
    """
    try:
        with path.open("r+b" if exists else "xb") as file:
            return begin_archive(file.fileno(), arrays, most, threads, left_out)
    except OSError as error:
        raise file_error(error, path, "cannot be written") from error
