"""File names and content of feature files (GeoJSON, GeoPackage, shapefile), including compressed ones."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from dmr.common.available import require_memory
from dmr.errors import FileContentError, OutOfMemoryError, file_error

GEOJSON = (".geojson", ".json")
THROUGH_PYOGRIO = (".gpkg", ".shp")
PACKED = (".gz", ".bz2", ".xz")

_READ_BYTES = 1 << 24


def without_packing(path: Path) -> Path:
    """The path without a compression suffix: `a.geojson.gz` gives `a.geojson`."""
    return path.with_suffix("") if path.suffix.lower() in PACKED else path


def holds_features(path: Path) -> bool:
    """Whether a file with this name is read as features; only GeoJSON may be compressed."""
    return path.suffix.lower() in THROUGH_PYOGRIO or without_packing(path).suffix.lower() in GEOJSON


def read_bytes(path: Path, memory_per_byte: int = 1) -> bytes:
    """Reads a file; decompresses it if its suffix is in `PACKED`.

    Args:
        path: the file.
        memory_per_byte: the number of bytes of memory that the caller needs per byte of content.

    Raises:
        FileError: the file cannot be read or decompressed.
        OutOfMemoryError: there is too little memory for its content.
    """
    import zlib
    from lzma import LZMAError

    unpacked = _opener(path.suffix.lower())
    try:
        require_memory(memory_per_byte * path.stat().st_size, path.name)
        if unpacked is None:
            return path.read_bytes()
        pieces: list[bytes] = []
        total = 0
        with unpacked(path, "rb") as file:
            # A few bytes may decompress to gigabytes: check the available memory as the content grows.
            while piece := file.read(_READ_BYTES):
                pieces.append(piece)
                total += len(piece)
                require_memory(memory_per_byte * total, path.name)
        return b"".join(pieces)
    except OutOfMemoryError:
        raise
    except (EOFError, LZMAError, zlib.error) as error:
        raise FileContentError(f"cannot be decompressed: {error}", path) from error
    except (OSError, MemoryError) as error:
        if unpacked is not None and isinstance(error, OSError) and error.errno is None:  # raised by gzip and bz2
            raise FileContentError(f"cannot be decompressed: {error}", path) from error
        raise file_error(error, path, "cannot be read") from error


def _opener(suffix: str) -> Callable[[str | os.PathLike[str], Any], IO[bytes]] | None:
    import bz2
    import gzip
    import lzma

    known: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    found: Callable[..., IO[bytes]] | None = known.get(suffix)
    return found
