"""Which reader and which writer a file has: by its suffix."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeAlias

from dmr.memory import file_error, printable
from static_graph.doors import as_path, check_graph
from static_graph.errors import (
    DmrError,
    FileContentError,
    FolderError,
    GraphError,
    MissingFileError,
    OutOfMemoryError,
    SuffixError,
)
from static_graph.graphs import CsrGraph
from static_graph.io.dimacs import read_dimacs, write_dimacs
from static_graph.io.edge_lists import read_csv, read_edge_list, write_csv, write_edge_list
from static_graph.io.matrix_market import read_matrix_market, write_matrix_market
from static_graph.io.npz import read_npz, write_npz
from static_graph.io.replacing import check_target, replace_file
from static_graph.options import flag

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
        path: an edge list as SNAP has them (`.txt`, `.edges`, `.el`, `.wel`, `.tsv`; `.csv`), Matrix Market (`.mtx`),
            DIMACS (`.gr`), or `.npz` of ours or scipy's. All but `.npz` may be packed by gzip (`.txt.gz`).
        threads: CPU threads (default: all cores).

    Returns:
        The graph. Where the ids of an edge list have gaps, nodes are numbered without, and `labels` has the ids.

    Raises:
        FileError: it cannot be read; names the line that is wrong.
        WrongTypeError: it is no path.
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
    """Writes a graph; no reader can take a half-written file for a whole one.

    Args:
        path: `.npz` keeps everything; `.txt` and `.csv` keep labels that are whole numbers; `.mtx` and `.gr` keep none,
            and `.gr` writes weights of 1 for a graph that has none. What is not kept is logged as a warning.
        graph: what to write.
        overwrite: whether the file may exist already.

    Returns:
        The file written.

    Raises:
        FileError: it cannot be written; nothing was changed.
        WrongTypeError: it is no graph, or the path is none.
    """
    path = as_path(path)
    check_graph(graph, CsrGraph)
    overwrite = flag("overwrite", overwrite)
    check_graph_target(path, overwrite)
    fill = partial(_fill, WRITERS[path.suffix.lower()], path, graph)
    replace_file(path, fill, overwrite=overwrite)
    suffix = path.suffix.lower()
    if graph.labels is not None and suffix in (".mtx", ".gr"):
        log.warning("%s: what the nodes are called is not kept; they are numbered from 1", path)
    if graph.weights is None and suffix == ".gr":
        log.warning("%s: the graph has no weights; 1 was written for each", path)
    return path


def check_graph_target(path: Path, overwrite: bool) -> None:
    """Raises FileError where a graph cannot be put under a name, before there is one."""
    if path.suffix.lower() not in WRITERS:
        raise SuffixError(f"{_unknown(path)}; graphs are written as {' '.join(WRITERS)}", path)
    check_target(path, overwrite)


def _fill(writer: Writer, path: Path, graph: CsrGraph, file: BinaryIO) -> None:
    try:
        writer(file, graph)
    except ValueError as error:
        raise FileContentError(f"cannot be written as {path.suffix}: {error}", path) from error


def _suffix(path: Path) -> str:
    """The suffix that says what a file holds, below that of its packing."""
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
