"""The index of a text's lines, which lets threads parse parts of it; the native libraries fill it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from ctypes import Structure
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dmr.common.errors import FileContentError
from dmr.common.native import members

# Large enough that the overhead per chunk is negligible, small enough that a few megabytes occupy every core.
CHUNK_BYTES = 1 << 18
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

HEAD_BYTES = 1 << 12  # of a text, which show how its lines end
_RETURN_BEFORE_TEXT = re.compile(rb"\r\s*\S")


class IndexedText(Structure):
    """A text and its index (`IndexedText` of text_chunks.hpp)."""

    _fields_: ClassVar[Sequence[tuple[str, Any]]] = members(
        "address text", "int64 size chunk chunks", "address offsets rows lines", "int64 threads"
    )


class TextIndex:
    """The place of each chunk of a text, and the numbers of rows and lines before it. A row is a line with data.

    Args:
        size: bytes of the text; chunk_bytes: bytes of a chunk (default: `CHUNK_BYTES`).
    """

    def __init__(self, size: int, chunk_bytes: int | None = None) -> None:
        self._size = size
        self._chunk_bytes = CHUNK_BYTES if chunk_bytes is None else chunk_bytes
        self._chunks = -(-size // self._chunk_bytes)
        self.offsets, self.rows_before, self.lines_before = np.zeros((3, self._chunks + 1), np.int64)

    def fields(self) -> dict[str, int]:
        """Returns the fields of an `IndexedText`, except the text itself and the threads."""
        return {
            "size": self._size,
            "chunk": self._chunk_bytes,
            "chunks": self._chunks,
            "offsets": self.offsets.ctypes.data,
            "rows": self.rows_before.ctypes.data,
            "lines": self.lines_before.ctypes.data,
        }

    @property
    def rows(self) -> int:
        """The number of rows of the text."""
        return int(self.rows_before[-1])

    @property
    def lines(self) -> int:
        """The number of lines of the text."""
        return int(self.lines_before[-1])


def text_begin(head: bytes | bytearray, path: Path) -> int:
    """Returns the position behind a byte order mark.

    Args:
        head: the first `HEAD_BYTES` of the file, or all if it has fewer; path: the file, for the error.

    Raises:
        FileContentError: the text is UTF-16, or its lines end as on old Macintosh computers.
    """
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileContentError("is UTF-16 text; save it as plain text (ASCII or UTF-8)", path, 1)
    if ends_lines_with_returns(head):
        raise FileContentError(BARE_RETURNS, path, 1)
    return len(_BYTE_ORDER_MARK) if head.startswith(_BYTE_ORDER_MARK) else 0


BARE_RETURNS = (
    "its lines end with carriage returns (CR) alone; convert them to line feeds (LF) first: tr '\\r' '\\n' < IN > OUT"
)


def ends_lines_with_returns(head: bytes | bytearray) -> bool:
    """Whether the beginning of a text has several lines, all of which end with a carriage return alone."""
    return b"\n" not in head and _RETURN_BEFORE_TEXT.search(head) is not None
