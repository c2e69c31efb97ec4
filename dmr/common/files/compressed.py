"""Reads whole files, decompressed if their name or content says that they are compressed.

Files are read in pieces: between two of them Ctrl-C takes effect, and the available memory is checked, because a few
bytes may decompress to gigabytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING

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


def read_unpacked(path: Path, memory_per_byte: int = 1, *, by_content: bool = False) -> bytearray:
    """Reads a file and decompresses it.

    Args:
        path: the file.
        memory_per_byte: the number of bytes of memory that the caller needs per byte of content.
        by_content: whether the content tells if the file is compressed, and then by gzip; by default its suffix does.

    Raises:
        FileError: the file cannot be read or decompressed.
        OutOfMemoryError: there is too little memory for its content.
    """
    import lzma
    import zlib

    packing = path.suffix.lower()
    try:
        if by_content:
            with path.open("rb") as file:
                packing = ".gz" if file.read(len(_GZIP)) == _GZIP else ""
        size = path.stat().st_size
        if size == 0 and path.suffix.lower() in PACKED:
            raise FileContentError("is empty, but a compressed file never is: it was truncated", path)
        require_memory(memory_per_byte * size, path.name)
        with _opened(path, packing) as file:
            return _read(file, path.name, memory_per_byte)
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


def _read(file: IO[bytes] | gzip.GzipFile, name: str, memory_per_byte: int) -> bytearray:
    data = bytearray()
    while piece := file.read(READ_BYTES):
        # The array may be moved, to one an eighth larger; what the caller needs comes on top of it.
        require_memory((memory_per_byte - 1) * len(data) + len(data) // 4 + len(piece), name)
        data += piece
    return data
