"""A binary file that is flushed to disk periodically while it is written."""

from __future__ import annotations

import io
import os
from typing import BinaryIO

DRAINED = 1 << 26  # bytes per flush: Ctrl-C cannot interrupt a flush, and a disk writes these in less than a second


class DrainedFile(io.BufferedIOBase):
    """A binary file for writing that is synchronised with the disk every 64 MiB.

    Otherwise the flush at the end would write everything in one call that cannot be interrupted. numpy writes arrays to
    this file in pieces of 16 MiB.
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
        """Returns True."""
        return True

    def seekable(self) -> bool:
        """Returns True, because archives need it."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Sets the position of the next write."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Returns the position of the next write."""
        return self._file.tell()

    def flush(self) -> None:
        """Passes buffered data to the operating system."""
        self._file.flush()
