"""All exceptions that static_graph raises deliberately, including those of `dmr.common`.

All derive from `DmrError`. Besides the message they carry the exit code of the command line, and the data that a
program needs to react, such as the file, line or edge.
"""

from __future__ import annotations

from dmr.common.errors import (
    USAGE,
    DeviceUnavailableError,
    DmrError,
    ExistingFileError,
    FileContentError,
    FileError,
    FolderError,
    InternalError,
    MissingFileError,
    NativeLibraryError,
    OptionError,
    OutOfMemoryError,
    WrongTypeError,
)

__all__ = [
    "DeviceUnavailableError",
    "DmrError",
    "ExistingTargetError",
    "FileContentError",
    "FileError",
    "FolderError",
    "GraphError",
    "InternalError",
    "MissingFileError",
    "NativeLibraryError",
    "OptionError",
    "OutOfMemoryError",
    "SuffixError",
    "TargetError",
    "WrongTypeError",
]


class TargetError(FileError):
    """A file cannot be written to a path."""

    exit_code = USAGE


class ExistingTargetError(TargetError, ExistingFileError):
    """A file exists already and may not be overwritten."""


class SuffixError(TargetError, FileContentError):
    """The suffix of a file name is not one of the formats that can be written."""


class GraphError(DmrError, ValueError):
    """Arrays that do not form a graph, or a node that a graph does not have.

    `element` is the kind of the offending element ("node", "edge" or "graph"), `index` its 0-based number (None for the
    graph as a whole), and `reason` the message without them.
    """

    def __init__(self, reason: str, element: str = "graph", index: int | None = None) -> None:
        self.reason = reason
        self.element = element
        self.index = index
        super().__init__(f"{element} {index}: {reason}" if index is not None else reason)
