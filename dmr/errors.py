"""All exceptions that dmr raises deliberately. Those that static_graph raises as well are in `dmr.common.errors`.

`KindError` is the name of `WrongTypeError` in programs and pickles of earlier versions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dmr.common.errors import (
    USAGE,
    DeviceUnavailableError,
    DmrError,
    ExistingFileError,
    FileContentError,
    FileError,
    FileSystemError,
    FolderError,
    InternalError,
    LostWorkerError,
    MissingFileError,
    NativeLibraryError,
    NoFolderError,
    OptionError,
    OutOfMemoryError,
    RefusedFileError,
    WrongTypeError,
    file_error,
    printable,
    restored_error,
    system_reason,
)

__all__ = [
    "DeviceUnavailableError",
    "DmrError",
    "ExistingFileError",
    "ExistingResultError",
    "FileContentError",
    "FileError",
    "FileSystemError",
    "FolderError",
    "InternalError",
    "InvalidMeshError",
    "KindError",
    "LostWorkerError",
    "MissingFileError",
    "NativeLibraryError",
    "NoFolderError",
    "OptionError",
    "OutOfMemoryError",
    "RefusedFileError",
    "WrongTypeError",
    "file_error",
    "printable",
    "system_reason",
]

KindError = WrongTypeError
_restored = restored_error  # pickles of earlier versions name it


class InvalidMeshError(DmrError, ValueError):
    """The arrays are not a valid triangulation.

    `element` is the kind of the offending element ("vertex", "triangle", "segment" or "mesh"), `index` its 0-based
    number (None for the mesh as a whole), `reason` the message without them.
    """

    def __init__(self, reason: str, element: str = "mesh", index: int | None = None) -> None:
        self.reason = reason
        self.element = element
        self.index = index
        super().__init__(f"{element} {index}: {reason}" if index is not None else reason)


class ExistingResultError(ExistingFileError):
    """A folder holds a finished result, what is left of another job, or other files."""

    exit_code = USAGE


@contextmanager
def mesh_from_file(path: Path) -> Iterator[None]:
    """Makes a FileContentError that names the file of an InvalidMeshError about the mesh that it holds."""
    try:
        yield
    except InvalidMeshError as error:
        raise FileContentError(f"holds no valid mesh: {error}", path) from error
