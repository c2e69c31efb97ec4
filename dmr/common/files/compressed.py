"""Reads whole files, decompressed if their name or content says that they are compressed.

Files are read in pieces: between two of them Ctrl-C takes effect, and the available memory is checked, because a few
bytes may decompress to gigabytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO

from dmr.common.available import require_memory
from dmr.common.errors import DmrError, FileContentError, file_error

if TYPE_CHECKING:
    import gzip

PACKED = (".gz", ".bz2", ".xz")

READ_BYTES = 1 << 24  # per piece
_GZIP = b"\x1f\x8b"


def without_packing(path: Path) -> Path:
    """The path without a compression suffix: `a.geojson.gz` gives `a.geojson`."""
    return path.with_suffix("") if path.suffix.lower() in PACKED else path


def read_unpacked(path: Path, memory_per_byte: int = 1) -> bytearray:
    """Reads a file, decompressed if its suffix says that it is compressed.

    Args:
        path: the file.
        memory_per_byte: the number of bytes of memory that the caller needs per byte of content.

    Raises:
        FileError: the file cannot be read or decompressed.
        OutOfMemoryError: there is too little memory for its content.
    """
    with _file_errors(path):
        size = path.stat().st_size
        _refuse_empty(size, path)
        require_memory(memory_per_byte * size, path.name)
        with _opened(path, path.suffix.lower()) as file:
            return read_pieces(file, path.name, memory_per_byte)


@contextmanager
def unpacked_by_content(file: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    """Opens the content of a file, decompressed if it begins as files of gzip do.

    Args:
        file: the file, at its beginning; it can be positioned.
        path: its name, for errors.

    Raises:
        FileError: it cannot be read or decompressed, also while the block reads it.
    """
    import gzip

    with _file_errors(path):
        head = file.read(len(_GZIP))
        _refuse_empty(len(head), path)
        file.seek(0)
        if head != _GZIP:
            yield file
            return
        with gzip.open(file) as content:
            yield content  # type: ignore[misc]  # it reads as a BinaryIO does


def _refuse_empty(size: int, path: Path) -> None:
    if size == 0 and path.suffix.lower() in PACKED:
        raise FileContentError("is empty, but a compressed file never is: it was truncated", path)


@contextmanager
def _file_errors(path: Path) -> Iterator[None]:
    """Converts errors of reading and decompressing to errors that name the file."""
    import lzma
    import zlib

    try:
        yield
    except DmrError:
        raise
    except (EOFError, lzma.LZMAError, zlib.error) as error:
        raise FileContentError(f"cannot be decompressed: {error}", path) from error
    except (OSError, ValueError, MemoryError) as error:
        if isinstance(error, OSError) and error.errno is None:  # raised by gzip and bz2
            raise FileContentError(f"cannot be decompressed: {error}", path) from error
        raise file_error(error, path, "cannot be read") from error


def _opened(path: Path, packing: str) -> IO[bytes] | gzip.GzipFile:
    """Opens a file for reading; `packing` is the suffix of its compression, if any."""
    import bz2
    import gzip
    import lzma

    match packing:
        case ".gz":
            return gzip.open(path, "rb")
        case ".bz2":
            return bz2.open(path, "rb")
        case ".xz":
            return lzma.open(path, "rb")
        case _:
            return path.open("rb")


def read_pieces(file: IO[bytes] | gzip.GzipFile, name: str, memory_per_byte: int = 1) -> bytearray:
    """Reads a file to its end.

    Args:
        file: the file; name: for errors.
        memory_per_byte: the number of bytes of memory that the caller needs per byte of content.

    Raises:
        OutOfMemoryError: there is too little memory for the content.
    """
    data = bytearray()
    while piece := file.read(READ_BYTES):
        # The array may be moved, to one an eighth larger; what the caller needs comes on top of it.
        require_memory((memory_per_byte - 1) * len(data) + len(data) // 4 + len(piece), name)
        data += piece
    return data
