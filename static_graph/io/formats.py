"""Reading and writing of graphs; the suffix of a file, or an option, selects the reader or writer."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from dmr.common.arguments import as_path, checks_keywords, chosen, shortened, switch
from dmr.common.errors import printable
from dmr.common.text import option
from static_graph.common.arguments import check_graph
from static_graph.common.targets import check_target, replace_file
from static_graph.errors import (
    FileContentError,
    GraphError,
    OptionError,
    OutOfMemoryError,
    SuffixError,
    WrongTypeError,
)
from static_graph.graph.csr import CsrGraph
from static_graph.io.dimacs import read_dimacs, write_dimacs
from static_graph.io.edge_lists import read_csv, read_edge_list, write_csv, write_edge_list
from static_graph.io.graphml import read_graphml, write_graphml
from static_graph.io.inputs import Source, given_input, unknown_suffix
from static_graph.io.matrix_market import read_matrix_market, write_matrix_market
from static_graph.io.metis import read_metis, write_metis
from static_graph.io.npz import read_npz, write_npz
from static_graph.io.parquet import read_parquet, require_pyarrow, write_parquet

log = logging.getLogger("static_graph.io")

PathLike: TypeAlias = "str | os.PathLike[str]"
Writer = Callable[[BinaryIO, CsrGraph], None]


@dataclass(frozen=True)
class Format:
    """A format of files.

    Attributes:
        suffixes: of its files; read, write: its functions. A reader takes an `Input`, a number of threads, and `weight`
            if `named`.
        packed: whether gzip may compress its files; named: whether its weights have a name.
        labels: whether it can keep labels.
    """

    suffixes: tuple[str, ...]
    read: Callable[..., CsrGraph]
    write: Writer
    packed: bool = True
    named: bool = False
    labels: bool = True


FORMATS = {
    "npz": Format((".npz",), read_npz, write_npz, packed=False),
    "txt": Format((".txt", ".edges", ".el", ".wel", ".tsv"), read_edge_list, write_edge_list),
    "csv": Format((".csv",), read_csv, write_csv),
    "mtx": Format((".mtx",), read_matrix_market, write_matrix_market, labels=False),
    "gr": Format((".gr",), read_dimacs, write_dimacs, labels=False),
    "metis": Format((".graph", ".metis"), read_metis, write_metis, labels=False),
    "graphml": Format((".graphml",), read_graphml, write_graphml, named=True),
    "parquet": Format((".parquet",), read_parquet, write_parquet, packed=False, named=True),
}
_SUFFIXES = {suffix: name for name, found in FORMATS.items() for suffix in found.suffixes}


@checks_keywords
def read(
    source: Source, *, format: str | None = None, weight: str | None = None, threads: int | None = None
) -> CsrGraph:
    """Reads a graph.

    Args:
        source: a file, or a stream that is open in binary mode, such as `sys.stdin.buffer`: an edge list in SNAP's
            format (`.txt`, `.edges`, `.el`, `.wel`, `.tsv`; `.csv`), Matrix Market (`.mtx`), DIMACS (`.gr`), METIS
            (`.graph`, `.metis`), GraphML (`.graphml`), Parquet (`.parquet`; needs pyarrow), or `.npz` written by this
            package or scipy. All but `.npz` and `.parquet` may be compressed by gzip (`.txt.gz`).
        format: "npz", "txt", "csv", "mtx", "gr", "metis", "graphml" or "parquet"; by default the suffix of the file
            decides.
        weight: for GraphML the attribute of the edges that holds the weights (default: "weight", if there is one); for
            Parquet the column (default: one with a name that headings of `.csv` may have).
        threads: CPU threads (default: all cores).

    Returns:
        The graph. If the ids of an edge list have gaps, nodes are numbered without gaps, and `labels` holds the ids,
        as it does if ids are names (GraphML, Parquet).

    Raises:
        FileError: the file cannot be read; the error names the wrong line.
        OptionError: there is no such format; `source` is neither a path nor a binary stream (WrongTypeError).
        NativeLibraryError: the native library is missing.
    """
    name = None if format is None else chosen("format", format, FORMATS)
    given = given_input(source)
    name = name or _SUFFIXES.get(_suffix(given.path))
    if name is None:
        raise FileContentError(
            f"{unknown_suffix(given.path)}; graphs are read from {' '.join(_SUFFIXES)}, with or without .gz",
            given.path,
        )
    try:
        return FORMATS[name].read(given, threads, **_named(name, weight))
    except GraphError as error:
        raise FileContentError(f"holds no valid graph: {error}", given.path) from error
    except MemoryError as error:
        reason = str(error) if isinstance(error, OutOfMemoryError) else "there is too little memory"
        raise OutOfMemoryError(f"{printable(str(given.path))} cannot be read: {reason}") from error


def _named(name: str, weight: str | None) -> dict[str, Any]:
    """Returns the keyword for the name of the weights, if there is one."""
    if weight is None:
        return {}
    if not isinstance(weight, str):
        raise WrongTypeError(
            f"{option('weight')} must be the name of an attribute or a column, not {shortened(weight)}"
        )
    if not FORMATS[name].named:
        having = " and ".join(other for other, found in FORMATS.items() if found.named)
        raise OptionError(
            f"{option('weight')} = {shortened(weight)}: weights have names in {having} only, not in {name}"
        )
    return {"weight": weight}


@checks_keywords
def write(path: PathLike, graph: CsrGraph, *, format: str | None = None, overwrite: bool = True) -> Path:
    """Writes a graph atomically: readers never see a partly written file.

    Args:
        path: `.npz` keeps everything; `.graphml` and `.parquet` keep labels; `.txt` and `.csv` keep integer labels;
            `.mtx`, `.gr` and `.graph` keep no labels, `.gr` writes weights of 1 for a graph without weights, and
            `.graph` holds undirected graphs only. A warning is logged for anything that is not kept.
        graph: the graph.
        format: as for `read`; by default the suffix of the file decides.
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
    name = check_graph_target(path, overwrite, format)
    replace_file(path, partial(_fill, name, path, graph), overwrite=overwrite)
    if graph.labels is not None and not FORMATS[name].labels:
        log.warning("%s: labels are not kept; the nodes are numbered from 1", path)
    if graph.weights is None and name == "gr":
        log.warning("%s: the graph has no weights; 1 was written for each", path)
    return path


def check_graph_target(path: Path, overwrite: bool, format: str | None = None) -> str:
    """Returns the format in which a graph is written to a path; called before the work begins.

    Raises:
        FileError: it cannot be written. OptionError: there is no such format.
    """
    name = _SUFFIXES.get(path.suffix.lower()) if format is None else chosen("format", format, FORMATS)
    if name is None:
        raise SuffixError(f"{unknown_suffix(path)}; graphs are written as {' '.join(_SUFFIXES)}", path)
    check_target(path, overwrite)
    if name == "parquet":
        require_pyarrow(path)
    return name


def _fill(name: str, path: Path, graph: CsrGraph, file: BinaryIO) -> None:
    try:
        FORMATS[name].write(file, graph)
    except ValueError as error:
        raise FileContentError(f"cannot be written as {name}: {error}", path) from error


def _suffix(path: Path) -> str:
    """Returns the suffix of the format, without that of the compression."""
    if path.suffix.lower() != ".gz":
        return path.suffix.lower()
    suffix = Path(path.stem).suffix.lower()
    return suffix if suffix in _SUFFIXES and FORMATS[_SUFFIXES[suffix]].packed else ""
