"""Exceptions of dmr and static_graph, and the exit codes of their command lines.

Each carries the exit code of the command line, and the data that a program needs to react (which file, which line,
which element), not only a message. All of them survive pickling and copying with that data.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

DONE = 0
INVALID_INPUT = 1
USAGE = 2
STOPPED = 3  # by a limit; a valid mesh, or the last scores, were written
UNAVAILABLE = 4  # the device is not there, or too small
INTERNAL = 5  # an internal check failed, or validation found a fault
INTERRUPTED = 130  # the shells' convention: 128 plus the signal's number
TERMINATED = 143


class DmrError(Exception):
    """Base of all errors of this package; `exit_code` is the exit code of `python -m dmr`."""

    exit_code = INVALID_INPUT

    def __reduce__(self) -> tuple[Any, ...]:
        # By default exceptions are rebuilt from `args`, which hold the message and not the constructor's arguments.
        return restored_error, (type(self), self.args, self._state())

    def _state(self) -> dict[str, Any]:
        """Returns the attributes that a copy gets."""
        return dict(self.__dict__)


def restored_error(error_type: type[DmrError], args: tuple[Any, ...], state: dict[str, Any]) -> DmrError:
    """Makes an exception with these arguments and attributes, without calling its constructor."""
    maker: Any = OSError if issubclass(error_type, OSError) else Exception  # the base whose layout it has
    error: DmrError = maker.__new__(error_type)
    error.args = args
    for name, value in state.items():
        setattr(error, name, value)
    return error


class OptionError(DmrError, ValueError):
    """An option has a value that cannot be used (a bound of 60 degrees or more, a negative area, ...)."""

    exit_code = USAGE


class WrongTypeError(OptionError, TypeError):
    """An argument has the wrong type (a file name instead of a mesh, 10.5 as a number of nodes, ...)."""


class FileError(DmrError):
    """A file cannot be read or written.

    Attributes:
        reason: the message without file and line.
        path: the file; filename: the same as a string, as in `OSError`.
        line: the 1-based number of the offending line, or None.
        errno: the system's error code, or None if the error is not the system's.
    """

    errno: int | None
    filename: str

    def __init__(self, reason: str, path: str | Path, line: int | None = None, code: int | None = None) -> None:
        self.reason = reason
        self.path = Path(path)
        self.line = line
        where = f"{self.path}:{line}" if line is not None else f"{self.path}"
        super().__init__(f"{printable(where)}: {reason}")
        self.errno = code
        self.filename = str(self.path)

    def __str__(self) -> str:
        return str(self.args[0])  # OSError's own would prepend the code and the name

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "errno": self.errno, "filename": self.filename}  # OSError stores them elsewhere


class FileContentError(FileError, ValueError):
    """A file has content that cannot be used."""


class FileSystemError(FileError, OSError):
    """The system refuses to read or write a file: the disk is full, a name is too long, ..."""

    default_code: int | None = None

    def __init__(self, reason: str, path: str | Path, line: int | None = None, code: int | None = None) -> None:
        super().__init__(reason, path, line, self.default_code if code is None else code)
        self.strerror = reason

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "strerror": self.strerror}


class MissingFileError(FileSystemError, FileNotFoundError):
    """There is no such file, or no folder for it."""

    default_code = errno.ENOENT


class ExistingFileError(FileSystemError, FileExistsError):
    """A file exists and may not be replaced."""

    default_code = errno.EEXIST


class RefusedFileError(FileSystemError, PermissionError):
    """The system does not permit reading or writing a file."""

    default_code = errno.EACCES


class FolderError(FileSystemError, IsADirectoryError):
    """The name of a file belongs to a folder."""

    default_code = errno.EISDIR


class NoFolderError(FileSystemError, NotADirectoryError):
    """A part of a path is not a folder."""

    default_code = errno.ENOTDIR


_TYPES_BY_CODE: dict[int, type[FileSystemError]] = {
    errno.ENOENT: MissingFileError,
    errno.EEXIST: ExistingFileError,
    errno.EACCES: RefusedFileError,
    errno.EPERM: RefusedFileError,
    errno.EISDIR: FolderError,
    errno.ENOTDIR: NoFolderError,
}

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would be larger than is allowed here",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only",
    errno.ENOENT: "there is no such file or folder",
    errno.ENOTDIR: "a part of its path is not a folder",
    errno.EISDIR: "it is a folder",
    errno.EEXIST: "there is a file of that name; name a folder",
    errno.ENAMETOOLONG: "its name is too long",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open",
    errno.ENOMEM: "there is too little memory",
}


def system_reason(error: BaseException) -> str:
    """Returns why the system refused, as the end of a sentence."""
    if isinstance(error, MemoryError):
        return _REASONS[errno.ENOMEM]
    code = error.errno if isinstance(error, OSError) else None
    if code is None:
        return str(error) or type(error).__name__
    return _REASONS.get(code) or os.strerror(code)


def file_error(error: BaseException, path: str | Path, failure: str, state: str = "") -> FileError:
    """Converts a system error to the matching FileError.

    Args:
        error: an OSError, a MemoryError, or the ValueError for a name that no file can have.
        path: the file that could not be read or written.
        failure: what failed, the beginning of the message: "cannot be read".
        state: text to append to the reason: "; nothing was changed".
    """
    reason = f"{failure}: {system_reason(error)}{state}"
    if isinstance(error, MemoryError):
        return FileSystemError(reason, path, code=errno.ENOMEM)
    if not isinstance(error, OSError):
        return FileContentError(reason, path)
    error_type = FileSystemError if error.errno is None else _TYPES_BY_CODE.get(error.errno, FileSystemError)
    return error_type(reason, path, code=error.errno)


class DeviceUnavailableError(DmrError):
    """The requested device is not available, or its tools (PyCUDA, nvcc) are missing."""

    exit_code = UNAVAILABLE


class NativeLibraryError(DmrError):
    """A native library of the package is missing, cannot be loaded, or belongs to another version.

    `library` is its file, `reason` the message without the file and the remedy.
    """

    exit_code = UNAVAILABLE

    def __init__(self, library: str | Path, reason: str) -> None:
        self.library = Path(library)
        self.reason = reason
        super().__init__(
            f"the package is not fully installed: the native library {printable(str(library))} {reason}; "
            "install it again with a C++17 compiler such as g++ (pip install .)"
        )


class OutOfMemoryError(DmrError, MemoryError):
    """The device has too little memory; the message gives the amounts needed and available."""

    exit_code = UNAVAILABLE


class LostWorkerError(DmrError):
    """A process that ran tasks has died, or cannot be reached; finished tasks are kept for the next run."""

    exit_code = UNAVAILABLE


class InternalError(DmrError):
    """An internal check failed, or a kernel faulted: a bug, never the user's fault."""

    exit_code = INTERNAL


# Escape sequences move a terminal's cursor, set its title or clear it: C0 controls, DEL and C1 controls.
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}


def printable(text: str) -> str:
    """Returns `text` with its control characters escaped; for text from files, and for file names."""
    return text.translate(_CONTROLS)
