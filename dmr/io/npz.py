"""The package's own binary format: an uncompressed .npz with the fields of a Mesh or a Pslg under their names."""

from __future__ import annotations

import contextlib
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.available import require_memory
from dmr.common.files.replacing import replace_files
from dmr.common.threads import thread_count
from dmr.errors import FileContentError, OutOfMemoryError, file_error, mesh_from_file
from dmr.io.archives import npz as archives
from dmr.io.archives.columns import ArrivingColumn, Column, copied
from dmr.memory import Arriving, rows_of
from dmr.mesh.names import MARKERS, REGIONS
from dmr.mesh.types import Mesh, Pslg

VERSION = 1
VERSION_WITH_LABELS = 2  # of a file in which the labels of triangles are rows of tables
VERSION_KEY = "dmr_format"
LABEL_ROWS, OF_ROWS = "label_rows", "_of_rows"
LABELS = ("triangle_attributes", "area_bounds")

_PIECE_BYTES = 1 << 24  # of an array that is written at once

# The names of regions and markers, as arrays of numbers and of texts.
_NAME_KEYS = [f"{kind[:-1]}_{what}" for kind in (REGIONS, MARKERS) for what in ("numbers", "names")]

# Exceptions that numpy and zipfile raise for a damaged archive; RuntimeError for an encrypted one.
DAMAGE = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OverflowError,
    EOFError,
    SyntaxError,
    zipfile.BadZipFile,
    zlib.error,
    RuntimeError,
)


def read_npz(path: Path) -> Mesh | Pslg:
    """Reads a Mesh if the file contains triangles, else a Pslg; without segments, one of points alone.

    Files from other programs are also read if their arrays have the same names; arrays with other names are ignored.

    Raises:
        FileError: the file is not an .npz, is damaged or of a later version, or its arrays do not form a valid mesh.
    """
    try:
        with path.open("rb") as file, contextlib.ExitStack() as stack:
            if not file.read(6).startswith((b"PK", b"\x93NUMPY")):  # numpy would take it for pickled objects
                raise FileContentError("is damaged, or not an .npz file: it does not begin as one", path)
            file.seek(0)
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise FileContentError("is a single array (.npy), not an .npz archive", path)
            stack.enter_context(archive)
            version = int(archive[VERSION_KEY]) if VERSION_KEY in archive else VERSION
            if version > VERSION_WITH_LABELS:
                raise FileContentError(
                    f"has version {version} of the format; this dmr reads up to {VERSION_WITH_LABELS}", path
                )
            kind: type[Mesh] | type[Pslg] = Mesh if "triangles" in archive else Pslg
            names = [each.name for each in fields(kind) if each.name != "names"]
            if "vertices" not in archive:
                raise FileContentError("holds no array named vertices", path)
            # A small archive can unpack to large arrays.
            members = [] if archive.zip is None else archive.zip.infolist()
            read = {*names, *_NAME_KEYS, LABEL_ROWS}
            unpacked: int = sum(int(each.file_size) for each in members if each.filename[:-4] in read)
            require_memory(unpacked, f"{path.name}, unpacked,")
            arrays: dict[str, Any] = {name: archive[name] for name in names if name in archive}
            if kind is Mesh and LABEL_ROWS in archive:
                arrays |= _labels(archive[LABEL_ROWS], archive, path)
            stored = {key: archive[key] for key in _NAME_KEYS if key in archive}
        with mesh_from_file(path):
            arrays["names"] = _names(stored)
            return kind(**arrays)
    except (FileContentError, OutOfMemoryError):
        raise
    except (OSError, MemoryError) as error:
        raise file_error(error, path, "cannot be read") from error
    except DAMAGE as error:
        raise FileContentError(f"is damaged, or not an .npz file: {error}", path) from error


def _labels(rows: NDArray[Any], archive: Mapping[str, NDArray[Any]], path: Path) -> dict[str, NDArray[Any]]:
    """The labels of triangles that are rows of tables; raises IndexError if there is no such row."""
    if rows.size and int(rows.min()) < 0:
        raise IndexError(f"{LABEL_ROWS} has an entry below 0")
    tables = {name: archive[f"{name}{OF_ROWS}"] for name in LABELS if f"{name}{OF_ROWS}" in archive}
    row_bytes = sum(table[:1].nbytes for table in tables.values())
    require_memory(rows.size * row_bytes, f"{path.name}, unpacked,")
    return {name: table[rows] for name, table in tables.items()}


def _names(stored: dict[str, Any]) -> dict[str, dict[int, str]]:
    """The names of regions and markers; raises ValueError if their arrays do not belong together."""
    names = {}
    for kind in (REGIONS, MARKERS):
        numbers, texts = (stored.get(f"{kind[:-1]}_{what}", np.empty(0, int)).tolist() for what in ("numbers", "names"))
        names[kind] = dict(zip(numbers, texts, strict=True))
    return names


def write_npz(path: Path, item: Mesh | Pslg, *, overwrite: bool, threads: int | None = None) -> list[Path]:
    """Writes every field that is not None, by several threads; the bytes depend on nothing else.

    Args:
        path: the file; item: its content; overwrite: whether it may exist.
        threads: None for all cores.

    Raises:
        FileError: writing failed.
    """
    columns = {name: _column(array) for name, array in mesh_arrays(item).items()}

    def fill(descriptor: int) -> None:
        archives.write_npz(descriptor, columns, thread_count(threads))

    return replace_files([(path, fill)], overwrite=overwrite)


def _column(array: NDArray[Any]) -> Column | ArrivingColumn:
    """Returns an array for the archive: a large one in pieces, between which signals are handled."""
    table = rows_of(array)
    if array.nbytes <= _PIECE_BYTES and not isinstance(table, Arriving):
        return copied(array)
    rows = max(1, _PIECE_BYTES * len(array) // array.nbytes)
    pieces = partial(_pieces, table if isinstance(table, Arriving) else np.ascontiguousarray(array), rows)
    return ArrivingColumn(array.dtype, array.shape, pieces)


def _pieces(array: NDArray[Any] | Arriving, rows: int) -> Iterator[NDArray[Any]]:
    for first in range(0, len(array), rows):
        yield array[first : first + rows]


def mesh_arrays(item: Mesh | Pslg) -> dict[str, Any]:
    """The arrays of a file, by name."""
    arrays: dict[str, Any] = {VERSION_KEY: np.array(VERSION)}
    stored = {f.name: getattr(item, f.name) for f in fields(item) if f.name != "names"}
    arrays |= {name: array for name, array in stored.items() if array is not None}
    for kind, numbered in item.names.items():
        if numbered:
            arrays[f"{kind[:-1]}_numbers"] = np.array(list(numbered), np.int32)
            arrays[f"{kind[:-1]}_names"] = np.array(list(numbered.values()))
    return arrays
