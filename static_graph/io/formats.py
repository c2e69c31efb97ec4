"""Reading and writing of graphs; the file suffix selects the reader or writer."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeAlias

from dmr.common.arguments import as_path, switch
from dmr.common.errors import file_error, printable
from static_graph.common.arguments import check_graph
from static_graph.common.targets import check_target, replace_file
from static_graph.errors import (
    DmrError,
    FileContentError,
    FolderError,
    GraphError,
    MissingFileError,
    OutOfMemoryError,
    SuffixError,
)
from static_graph.graph.csr import CsrGraph
from static_graph.io.dimacs import read_dimacs, write_dimacs
from static_graph.io.edge_lists import read_csv, read_edge_list, write_csv, write_edge_list
from static_graph.io.matrix_market import read_matrix_market, write_matrix_market
from static_graph.io.npz import read_npz, write_npz

log = logging.getLogger("static_graph.io")

PathLike: TypeAlias = "str | os.PathLike[str]"
Reader = Callable[[Path, "int | None"], CsrGraph]
Writer = Callable[[BinaryIO, CsrGraph], None]

READERS: dict[str, Reader] = {
    ".txt": read_edge_list,
    ".edges": read_edge_list,
    ".el": read_edge_list,
    ".wel": read_edge_list,
    ".tsv": read_edge_list,
    ".csv": read_csv,
    ".mtx": read_matrix_market,
    ".gr": read_dimacs,
    ".npz": lambda path, threads: read_npz(path),
}
WRITERS: dict[str, Writer] = {
    ".npz": write_npz,
    ".txt": write_edge_list,
    ".csv": write_csv,
    ".mtx": write_matrix_market,
    ".gr": write_dimacs,
}


def read(path: PathLike, *, threads: int | None = None) -> CsrGraph:
    """Reads a graph.

    Args:
        path: an edge list in SNAP's format (`.txt`, `.edges`, `.el`, `.wel`, `.tsv`; `.csv`), Matrix Market (`.mtx`),
            DIMACS (`.gr`), or `.npz` written by this package or scipy. All but `.npz` may be compressed by gzip
            (`.txt.gz`).
        threads: CPU threads (default: all cores).

    Returns:
        The graph. If the ids of an edge list have gaps, nodes are numbered without gaps, and `labels` holds the ids.

    Raises:
        FileError: the file cannot be read; the error names the wrong line.
        WrongTypeError: `path` is not a path.
        NativeLibraryError: the native library is missing.
    """
    path = _existing(as_path(path))
    reader = READERS.get(_suffix(path))
    if reader is None:
        raise FileContentError(
            f"{_unknown(path)}; graphs are read from {' '.join(READERS)}, packed by .gz or not", path
        )
    try:
        return reader(path, threads)
    except GraphError as error:
        raise FileContentError(f"holds no valid graph: {error}", path) from error
    except MemoryError as error:
        reason = str(error) if isinstance(error, OutOfMemoryError) else "there is too little memory"
        raise OutOfMemoryError(f"{printable(str(path))} cannot be read: {reason}") from error


def write(path: PathLike, graph: CsrGraph, *, overwrite: bool = True) -> Path:
    """Writes a graph atomically: readers never see a partly written file.

    Args:
        path: `.npz` keeps everything; `.txt` and `.csv` keep integer labels; `.mtx` and `.gr` keep no labels, and `.gr`
            writes weights of 1 for a graph without weights. A warning is logged for anything that is not kept.
        graph: the graph.
        overwrite: whether the file may exist already.

    Returns:
        The file written.

    Raises:
        FileError: the file cannot be written; nothing was changed.
        WrongTypeError: `graph` is not a graph, or `path` is not a path.
    """
    path = as_path(path)
    check_graph(graph, CsrGraph)
    overwrite = switch("overwrite", overwrite)
    check_graph_target(path, overwrite)
    fill = partial(_fill, WRITERS[path.suffix.lower()], path, graph)
    replace_file(path, fill, overwrite=overwrite)
    suffix = path.suffix.lower()
    if graph.labels is not None and suffix in (".mtx", ".gr"):
        log.warning("%s: labels are not kept; the nodes are numbered from 1", path)
    if graph.weights is None and suffix == ".gr":
        log.warning("%s: the graph has no weights; 1 was written for each", path)
    return path


def check_graph_target(path: Path, overwrite: bool) -> None:
    """Raises FileError if a graph cannot be written to a path; called before the work begins."""
    if path.suffix.lower() not in WRITERS:
        raise SuffixError(f"{_unknown(path)}; graphs are written as {' '.join(WRITERS)}", path)
    check_target(path, overwrite)


def _fill(writer: Writer, path: Path, graph: CsrGraph, file: BinaryIO) -> None:
    try:
        writer(file, graph)
    except ValueError as error:
        raise FileContentError(f"cannot be written as {path.suffix}: {error}", path) from error


def _suffix(path: Path) -> str:
    """Returns the suffix of the format, without that of the compression."""
    packed = path.suffix.lower() == ".gz"
    suffix = Path(path.stem).suffix.lower() if packed else path.suffix.lower()
    return "" if packed and suffix == ".npz" else suffix


def _unknown(path: Path) -> str:
    return f"unknown suffix {printable(path.suffix)}" if path.suffix else "the name has no suffix that says what it is"


def _existing(path: Path) -> Path:
    try:
        if path.is_dir():
            raise FolderError("is a folder, not a file", path)
        if not path.exists():
            raise MissingFileError("does not exist", path)
        if path.is_fifo() or path.is_char_device():  # cannot be opened twice, or has no end
            raise FileContentError("is a pipe or a device, not a file on a disk: copy it into one", path)
    except DmrError:
        raise
    except (OSError, ValueError) as error:
        raise file_error(error, path, "cannot be read") from error
    return path
