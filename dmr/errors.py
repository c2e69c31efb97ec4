"""Every exception that dmr raises on purpose.

Each carries the exit code that the command line ends with, and the data that a program needs to react (which
file, which line, which element), not only a sentence.
"""

from __future__ import annotations

from pathlib import Path


class DmrError(Exception):
    """Base of all errors of this package; `exit_code` is what `python -m dmr` ends with."""

    exit_code = 1


class OptionError(DmrError, ValueError):
    """An option has a value that cannot be used (a bound of 60 degrees and more, a negative area, ...)."""

    exit_code = 2


class KindError(OptionError, TypeError):
    """An argument is of another kind than is needed (a file's name where a mesh is to be given, ...)."""


class FileError(DmrError):
    """A file cannot be read or written.

    `path` is the file, `line` its 1-based line where one is to blame (else None), `reason` the sentence without them.
    """

    def __init__(self, reason: str, path: str | Path, line: int | None = None) -> None:
        self.reason = reason
        self.path = Path(path)
        self.line = line
        where = f"{self.path}:{line}" if line is not None else f"{self.path}"
        super().__init__(f"{where}: {reason}")


class InvalidMeshError(DmrError, ValueError):
    """Arrays that are no valid triangulation.

    `element` is the kind of the offending element ("vertex", "triangle", "segment" or "mesh"), `index` its 0-based
    number (None for the mesh as a whole), `reason` the sentence without them.
    """

    def __init__(self, reason: str, element: str = "mesh", index: int | None = None) -> None:
        self.reason = reason
        self.element = element
        self.index = index
        super().__init__(f"{element} {index}: {reason}" if index is not None else reason)


class DeviceUnavailableError(DmrError):
    """The device that was asked for is not there, or its tools (PyCUDA, nvcc, the native library) are missing."""

    exit_code = 4


class OutOfMemoryError(DmrError, MemoryError):
    """The device has too little memory; the message says how much was needed and how much there is."""

    exit_code = 4


class InternalError(DmrError):
    """A check of our own failed, or a kernel faulted: a bug in dmr, never the user's fault."""

    exit_code = 5
