"""A file that is flushed to disk while it is written."""

from __future__ import annotations

import io
import os
from typing import BinaryIO

DRAINED = 1 << 26  # bytes: a disk takes them in less than a second, and Ctrl-C cannot interrupt a flush


class DrainedFile(io.BufferedIOBase):
    """A binary file to write, whose bytes are brought to the disk every 64 MiB.

    Otherwise the flush at the end would take all of them in one call that nothing can interrupt. numpy writes arrays
    into it in pieces of 16 MiB.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._waiting = 0

    def write(self, data: bytes | bytearray | memoryview) -> int:  # type: ignore[override]
        """Writes all of the data."""
        written = self._file.write(data)
        self._waiting += written
        if self._waiting >= DRAINED:
            self._waiting = 0
            self._file.flush()
            os.fdatasync(self._file.fileno())
        return written

    def writable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always: archives need it."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Moves the place where the next write goes."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """The place where the next write goes."""
        return self._file.tell()

    def flush(self) -> None:
        """Hands what is buffered to the system."""
        self._file.flush()
