"""Reads and writes all other formats through meshio, and contains its messages, exits and exceptions."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
import os
import re
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import numpy as np

from dmr.common.arguments import shortened
from dmr.common.available import require_memory
from dmr.common.files.replacing import TEMPORARY_PREFIX, TEMPORARY_SUFFIX, check_target, replace_files, write_bytes
from dmr.common.files.text_index import BARE_RETURNS, HEAD_BYTES, ends_lines_with_returns
from dmr.common.pooling import ForkSafeLock
from dmr.errors import DmrError, FileContentError, FileError, file_error, mesh_from_file
from dmr.io.meshio_files.formats import ANSYS, FORMATS, LEFT_ALONE, READ_ONLY, WRITERS_NEED, WRITTEN_ONLY, Format
from dmr.mesh.names import Names
from dmr.mesh.types import Mesh

if TYPE_CHECKING:
    from dmr.io.meshio_files.writing import Content

log = logging.getLogger("dmr.io")

# meshio signs its files with its version and, in some formats, the time; the signature must not be part of a result.
_SIGNATURE = re.compile(rb"meshio v[0-9][\w.]*(, [0-9]{4}-[0-9:T.+-]+)?")
_SIGNATURE_WITHIN = 512

_FAILURE = re.compile(r" ?\bError: Couldn't read file .* as [\w-]+$")
_OUR_SIGNATURE = b"dmr through meshio"

# The standard streams are redirected for the whole process while meshio runs, so calls are serialised.
_one_at_a_time = ForkSafeLock()

_EMPTY_READS = 1000


def find_format(suffix: str) -> Format | None:
    """The format of a suffix; None if meshio has none for it."""
    if suffix in FORMATS:
        return FORMATS[suffix]
    name = _meshio_suffixes().get(suffix)
    return None if name is None else Format(reader=name, options=dict(WRITTEN_ONLY.get(name, {})))


def check_reader(form: Format, path: Path) -> None:
    """Raises FileError if the format can only be written."""
    if form.reader in WRITTEN_ONLY:
        raise FileError(f"cannot be read: {form.reader} is a format for pictures, which is only written", path)


def check_writer(form: Format, path: Path) -> None:
    """Raises FileError if the format can only be read, or meshio needs a missing package to write it."""
    if form.reader in READ_ONLY:
        raise FileError(f"cannot be written as {form.reader}: triangles in this format can only be read", path)
    for package in ("meshio", WRITERS_NEED.get(form.reader, "meshio")):
        if not _is_installed(package):
            raise FileError(f"cannot be written as {form.reader}: {_missing(package)}", path)


def _is_installed(package: str) -> bool:
    if package in sys.modules:
        return sys.modules[package] is not None
    return importlib.util.find_spec(package) is not None


def _missing(package: str) -> str:
    return f"that needs the package {package} (pip install {package})"


def read_through_meshio(path: Path, form: Format) -> Mesh:
    """Reads the triangles of a file as a planar mesh; its lines become the segments.

    Raises:
        FileError: meshio cannot read the file, it is not flat, or it contains elements other than triangles and lines.
    """
    return _as_mesh(_load(path, form), path, form)


def read_array_through_meshio(path: Path, form: Format, column: int) -> Mesh:
    """As `read_through_meshio`, with one array of the file as vertex attribute 0, and no other attribute.

    Args:
        path: the file.
        form: its format.
        column: the index of the array among the scalar point data arrays, in file order.

    Raises:
        FileError: as for `read_through_meshio`, or there is no such array.
    """
    found = _load(path, form)
    arrays = {}
    for name, values in found.point_data.items():
        array = np.asarray(values)
        if array.size == len(found.points) and array.dtype.kind in "iuf":
            arrays[name] = array.reshape(-1)
    if not 0 <= column < len(arrays):
        there = f"there are {', '.join(map(repr, arrays))}" if arrays else "there is none"
        raise FileContentError(f"has no array {shortened(column)} of one number for each point: {there}", path)
    found.point_data = {"vertex_attribute_0": list(arrays.values())[column]}
    return _as_mesh(found, path, form)


def _load(path: Path, form: Format) -> Any:
    """Reads a file into meshio's mesh object."""
    check_reader(form, path)
    try:
        with path.open("rb") as file:
            require_memory(2 * os.fstat(file.fileno()).st_size, path.name)  # the text, and the arrays of it
            head = file.read(HEAD_BYTES)
            if form.reader == "gmsh" and head.startswith(b"("):
                form = ANSYS
    except DmrError:
        raise
    except OSError as error:
        raise file_error(error, path, "cannot be read") from error
    failure = f"cannot be read as {form.reader}"
    if ends_lines_with_returns(head):  # some readers of meshio take such files
        failure += f" ({BARE_RETURNS})"
    with _contained(path, failure, FileContentError):
        import meshio

        if form.mode is None:
            found = meshio.read(path, file_format=form.reader)
        else:
            with _open_ending(path, form.mode) as buffer:
                found = meshio.read(buffer, file_format=form.reader)
        if form.reader == "permas":
            _put_corners_first(found)
    return found


def _as_mesh(found: Any, path: Path, form: Format) -> Mesh:
    from dmr.io.meshio_files.heads import read_head
    from dmr.io.meshio_files.reading import from_meshio

    try:
        with mesh_from_file(path):
            return from_meshio(found, path, read_head(path, form), plain_labels=form.names == "abaqus")
    except OSError as error:
        raise file_error(error, path, "cannot be read") from error


def _put_corners_first(found: Any) -> None:
    """Reorders PERMAS triangles: the format lists their six points in order along the boundary; meshio keeps that."""
    for block in found.cells:
        if block.type == "triangle6":
            block.data = block.data[:, [0, 2, 4, 1, 3, 5]]


def write_through_meshio(path: Path, mesh: Mesh, form: Format, *, overwrite: bool, order: int = 1) -> list[Path]:
    """Writes a mesh; the log lists what the format does not store.

    Raises:
        FileError: meshio cannot write the mesh, or the file cannot be created.
        InvalidMeshError: order is 2, and a segment is not an edge of a triangle.
    """
    check_target(path, overwrite)
    check_writer(form, path)
    from dmr.io.meshio_files.writing import to_meshio

    return write_content(path, to_meshio(mesh, form, path, order=order), form, mesh.names, overwrite=overwrite)


def write_content(path: Path, content: Content, form: Format, names: Names, *, overwrite: bool) -> list[Path]:
    """Writes what meshio's mesh object has, with the names of regions and markers.

    Raises:
        FileError: meshio cannot write it, or the file cannot be created.
    """
    from dmr.io.meshio_files.heads import insertion

    data = _bytes_of(content, form, path)
    signature = _SIGNATURE.search(data, 0, _SIGNATURE_WITHIN)
    begin, end = signature.span() if signature else (0, 0)
    place, text = insertion(data, form, names, content.field_data)
    changes = sorted([(begin, end, _OUR_SIGNATURE if signature else b""), (place, place, text)])

    def fill(descriptor: int) -> None:
        whole, done = memoryview(data), 0
        for start, stop, replacement in changes:
            write_bytes(descriptor, whole[done:start])
            write_bytes(descriptor, replacement)
            done = stop
        write_bytes(descriptor, whole[done:])

    return replace_files([(path, fill)], overwrite=overwrite)


def _bytes_of(content: Content, form: Format, path: Path) -> bytes:
    """The bytes that meshio writes for a mesh. It writes to a temporary folder beside the target, because some of its
    writers store file names in the output.
    """
    name = form.writer or form.reader
    with (
        _contained(path, f"cannot be written as {name}", FileError),
        tempfile.TemporaryDirectory(TEMPORARY_SUFFIX, TEMPORARY_PREFIX, path.parent) as folder,
    ):
        import meshio

        made = Path(folder) / path.name
        mesh = meshio.Mesh(**content._asdict())
        meshio.write(made, mesh, file_format=name, **form.options)
        return made.read_bytes()


class _OfThread(io.TextIOBase):
    """A standard stream that captures the output of the calling thread and passes on that of other threads."""

    def __init__(self, stream: TextIO | None, caught: TextIO) -> None:
        self._stream, self._caught = stream, caught
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        """Writes to the capture buffer or to the original stream, depending on the thread."""
        target = self._caught if threading.get_ident() == self._thread else self._stream
        return len(text) if target is None else target.write(text)

    def flush(self) -> None:
        """Flushes the stream."""
        if self._stream is not None and threading.get_ident() != self._thread:
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def _contained(path: Path, failure: str, error_type: type[FileError]) -> Iterator[None]:
    """Converts any failure of meshio into a FileError of the given type, and its printed output into log lines."""
    said = io.StringIO()
    try:
        with (
            _one_at_a_time,
            contextlib.redirect_stdout(_OfThread(sys.stdout, said)),
            contextlib.redirect_stderr(_OfThread(sys.stderr, said)),
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
        ):
            warnings.simplefilter("ignore")
            yield
    except FileError:
        raise
    except ImportError as error:
        raise FileError(f"{failure}: {_missing(error.name or 'meshio')}", path) from error
    except (OSError, MemoryError) as error:
        raise file_error(error, path, failure) from error
    except SystemExit as error:
        unknown = "it is damaged, or in another format" if error_type is FileContentError else "meshio gives no reason"
        reason = _sentence(said.getvalue()) or unknown
        raise error_type(f"{failure}: {reason}", path) from error
    except Exception as error:  # meshio's parsers can fail with any exception
        reason = _sentence(str(error)) or _sentence(said.getvalue())
        known = type(error).__name__ in ("ReadError", "WriteError") or isinstance(error, EOFError)
        what = "" if known else f" ({type(error).__name__})"
        raise error_type(f"{failure}: {reason or 'meshio gives no reason'}{what}", path) from error
    for line in said.getvalue().splitlines():
        if line.strip():
            log.debug("%s: meshio: %s", path, line.strip())


def _sentence(text: str) -> str:
    """The output of meshio, on one line, without the name of the file, which our message has."""
    return _FAILURE.sub("", " ".join(text.split()))[:300]


_Data = TypeVar("_Data", str, bytes)


class _EndingText(io.TextIOWrapper):
    """A text file whose reader cannot loop forever at its end."""

    empty = 0

    def readline(self, *size: Any) -> str:  # type: ignore[override]
        """Reads a line; raises EOFError if the reader keeps reading long after the end."""
        return _counted(self, super().readline(*size))


class _EndingBytes(io.BufferedReader):
    """A binary file whose reader cannot loop forever at its end."""

    empty = 0

    def readline(self, *size: Any) -> bytes:
        """Reads a line; raises EOFError if the reader keeps reading long after the end."""
        return _counted(self, super().readline(*size))

    def read(self, *size: Any) -> bytes:
        """Reads bytes; raises EOFError if the reader keeps reading long after the end."""
        return _counted(self, super().read(*size))


def _counted(file: _EndingText | _EndingBytes, data: _Data) -> _Data:
    if not data:
        file.empty += 1
        if file.empty > _EMPTY_READS:
            raise EOFError("the file ends too early")
    return data


def _open_ending(path: Path, mode: str) -> io.TextIOWrapper | io.BufferedReader:
    raw = _EndingBytes(io.FileIO(path))
    return raw if mode == "rb" else _EndingText(raw, encoding="utf-8")


def _meshio_suffixes() -> dict[str, str]:
    """meshio's suffixes and formats, without those in `LEFT_ALONE`; empty if meshio is not installed."""
    try:
        from meshio import extension_to_filetypes
    except ImportError:
        return {}
    return {
        suffix: names[0]
        for suffix, names in extension_to_filetypes.items()
        if names and names[0] not in LEFT_ALONE and suffix.count(".") == 1
    }
