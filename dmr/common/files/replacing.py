"""Writes files so that no reader can mistake a partial result for a complete one.

Every file is written under a temporary name in its target folder, flushed to disk, and renamed. Files that belong
together are renamed one after another. The last one completes the result, and its old version is removed before the
first file is renamed.

One file is flushed while the next is being written; all files are on disk before any is renamed.
"""

from __future__ import annotations

import contextlib
import io
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from dmr.common.errors import DmrError, ExistingFileError, FolderError, MissingFileError, file_error
from dmr.common.files.flushing import flush_file, flush_folder, flushed_meanwhile, flusher
from dmr.common.pooling import submit

if TYPE_CHECKING:
    from concurrent.futures import Future

    from dmr.common.files.flushing import Flushing

# Writes the content of an open, empty file, given by its descriptor; raises OSError on failure.
Fill = Callable[[int], None]

TEMPORARY_PREFIX, TEMPORARY_SUFFIX = ".dmr-", ".tmp"


def replace_files(parts: Sequence[tuple[Path, Fill]], *, overwrite: bool, stale: Sequence[Path] = ()) -> list[Path]:
    """Writes files that belong together, all or none.

    Args:
        parts: each file and the function that writes it; the last one completes the result.
        overwrite: whether existing files may be replaced.
        stale: files of an older result, removed when the new one is complete on disk.

    Returns:
        The files written, in the order of `parts`.

    Raises:
        FileError: writing failed. Nothing was changed, unless the message says so; no temporary file is left.
    """
    for path, _ in parts:
        check_target(path, overwrite)
    flusher()  # before any file exists: a signal that arrives while a thread starts can leave the process hanging
    temporaries: list[Path] = []
    changing, several, path = False, len(parts) > 1 or len(stale) > 0, parts[-1][0]
    try:
        flushes: list[tuple[Path, Future[None]]] = []
        for path, fill in parts:
            temporaries.append(path.parent / f"{TEMPORARY_PREFIX}{os.urandom(8).hex()}{TEMPORARY_SUFFIX}")
            descriptor = _fill_new(temporaries[-1], path, fill)
            flushes.append((path, submit(flusher(), flush_file, descriptor)))
        for path, flush in flushes:  # noqa: B007 - the path is for the error below
            flush.result()
        changing = several
        path = parts[-1][0]
        if len(parts) > 1 and path.exists():
            path.unlink()
            flush_folder(path.parent)
        for path in stale:
            path.unlink(missing_ok=True)
        for temporary, (path, _) in zip(temporaries, parts, strict=True):
            temporary.replace(path)
        flush_folder(path.parent)
    except DmrError:
        raise
    except (OSError, MemoryError) as error:
        state = "files of the old result may be gone" if changing else "nothing was changed"
        raise file_error(error, path, "cannot be written", f"; {state}") from error
    finally:
        for temporary in temporaries:
            with contextlib.suppress(OSError):
                temporary.unlink()
    return [path for path, _ in parts]


def check_target(path: Path, overwrite: bool) -> None:
    """Raises FileError if the parent folder is missing, or `path` is a folder or a file that may not be replaced."""
    try:
        if b"\0" in os.fsencode(path):
            raise ValueError("a file name cannot contain a null character")
        known, folder, there = path.parent.is_dir(), path.is_dir(), os.path.lexists(path)
    except (OSError, ValueError) as error:  # a name that is too long
        raise file_error(error, path, "cannot be written") from error
    if not known:
        raise MissingFileError(f"cannot be written: there is no folder {path.parent}", path)
    if folder:
        raise FolderError("cannot be written: there is a folder of that name", path)
    if there and not overwrite:
        raise ExistingFileError("exists already, and may not be overwritten", path)


def write_bytes(descriptor: int, data: bytes | memoryview) -> None:
    """Writes all of `data`, in as many calls as needed."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def through_file(fill: Callable[[BinaryIO], None]) -> Fill:
    """Adapts a function that writes to a binary file."""

    def fill_descriptor(descriptor: int) -> None:
        with flushed_meanwhile(descriptor) as flushing, open(descriptor, "wb", closefd=False) as file:
            fill(_FlushedFile(file, flushing))  # type: ignore[arg-type]

    return fill_descriptor


class _FlushedFile(io.BufferedIOBase):
    """A binary file for writing that is flushed to disk meanwhile; numpy writes arrays to it in pieces of 16 MiB."""

    def __init__(self, file: BinaryIO, flushing: Flushing) -> None:
        self._file, self._flushing = file, flushing
        self.seek, self.tell, self.flush = file.seek, file.tell, file.flush  # type: ignore[method-assign]

    def write(self, data: bytes | bytearray | memoryview) -> int:  # type: ignore[override]
        """Writes all of the data."""
        written = self._file.write(data)
        self._flushing.wrote(written)
        return written

    def writable(self) -> bool:
        """Returns True."""
        return True

    def seekable(self) -> bool:
        """Returns True, because archives need it."""
        return True


def _fill_new(temporary: Path, path: Path, fill: Fill) -> int:
    """Creates and writes a new file; returns its descriptor. The data may not be on disk yet."""
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with contextlib.suppress(OSError):  # keep the permissions of a replaced file, if the file system has any
            os.fchmod(descriptor, stat.S_IMODE(path.stat().st_mode))
        fill(descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
