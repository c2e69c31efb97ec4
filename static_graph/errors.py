"""Every exception that static_graph raises on purpose: those of the memory layer, and its own.

All derive from `DmrError`, carry the exit code that the command line ends with, and the data that a program needs to
react (which file, which line, which edge), not only a sentence.
"""

from __future__ import annotations

from dmr.memory import (
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


class WrongTypeError(OptionError, TypeError):
    """Something that is of another kind than what is needed: a path for a graph, 10.5 for a number of nodes."""


class TargetError(FileError):
    """A file cannot be written under a name."""

    exit_code = 2


class ExistingTargetError(TargetError, ExistingFileError):
    """A file exists already, and may not be overwritten."""


class SuffixError(TargetError, FileContentError):
    """The suffix of a name is none of those that are written."""


class GraphError(DmrError, ValueError):
    """Arrays that are no graph, or a node that a graph does not have.

    `element` is the kind of the offending element ("node", "edge" or "graph"), `index` its 0-based number (None for the
    graph as a whole), `reason` the sentence without them.
    """

    def __init__(self, reason: str, element: str = "graph", index: int | None = None) -> None:
        self.reason = reason
        self.element = element
        self.index = index
        super().__init__(f"{element} {index}: {reason}" if index is not None else reason)
