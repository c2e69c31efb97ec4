"""Names and bytes of files with features (GeoJSON, GeoPackages, shapefiles), also of compressed ones."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from dmr.errors import FileContentError, OutOfMemoryError, file_error
from dmr.memory.host.available import require_memory

GEOJSON = (".geojson", ".json")
THROUGH_PYOGRIO = (".gpkg", ".shp")
PACKED = (".gz", ".bz2", ".xz")

_READ_BYTES = 1 << 24


def without_packing(path: Path) -> Path:
    """The name without the suffix of a compressed file: `a.geojson.gz` gives `a.geojson`."""
    return path.with_suffix("") if path.suffix.lower() in PACKED else path


def holds_features(path: Path) -> bool:
    """Whether a file of this name is read as features; only GeoJSON may be compressed."""
    return path.suffix.lower() in THROUGH_PYOGRIO or without_packing(path).suffix.lower() in GEOJSON


def read_bytes(path: Path, memory_per_byte: int = 1) -> bytes:
    """The content of a file; decompressed where its suffix is one of `PACKED`.

    Args:
        path: the file.
        memory_per_byte: how many bytes of memory the caller needs for each byte of the content.

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
            # A few bytes may hold gigabytes: memory is asked for as the content grows.
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
        if unpacked is not None and isinstance(error, OSError) and error.errno is None:  # as gzip and bz2 have it
            raise FileContentError(f"cannot be decompressed: {error}", path) from error
        raise file_error(error, path, "cannot be read") from error


def _opener(suffix: str) -> Callable[[str | os.PathLike[str], Any], IO[bytes]] | None:
    import bz2
    import gzip
    import lzma

    known: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    found: Callable[..., IO[bytes]] | None = known.get(suffix)
    return found
