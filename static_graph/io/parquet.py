"""Parquet (`.parquet`): an edge list in columns, read and written by pyarrow, as one file or as a folder of them."""

from __future__ import annotations

import logging
import os
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import as_path, checks_keywords, shortened, switch, whole_option
from dmr.common.available import require_memory
from dmr.common.errors import file_error, printable
from dmr.common.files.replacing import replace_files, through_file
from dmr.common.text import counted, option
from static_graph.common.arguments import check_graph
from static_graph.errors import DmrError, ExistingTargetError, FileContentError, FileError, OptionError
from static_graph.graph.checks import MOST
from static_graph.graph.csr import CsrGraph
from static_graph.graph.labels import as_labels
from static_graph.io.edge_lists import graph_of_ids
from static_graph.io.headings import column_of
from static_graph.io.inputs import Input
from static_graph.io.native import SOURCE, TARGET, WEIGHT
from static_graph.io.text import ROW_BYTES, Edges

log = logging.getLogger("static_graph.io")

BATCH = 1 << 20  # rows read at a time
NODES_KEY = b"static_graph_nodes"  # metadata: the number of nodes
_WORDS = ("source", "target", "weight")
_PARTS = "part-*.parquet"  # in a folder


def require_pyarrow(path: Path) -> None:
    """Raises DmrError unless pyarrow is installed; `path` is the file that needs it."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise DmrError(
            f"{printable(str(path))}: Parquet is read and written with pyarrow, the extra [parquet] of this package: "
            f"pip install pyarrow ({error})"
        ) from error


def read_parquet(source: Input, threads: int | None = None, weight: str | None = None) -> CsrGraph:
    """Reads the graph of a table of edges; columns are found by their names, as in the heading of a `.csv`.

    Ids are integers from 0, or strings. Integers are treated as in an edge list; strings are labels, and nodes are
    numbered in their order.

    Args:
        source: the file; threads: CPU threads.
        weight: the column of the weights; by default one with a suitable name.

    Raises:
        FileError: the file is no Parquet file, its columns are not understood, or a value is missing or no id.
        DmrError: pyarrow is not installed.
    """
    require_pyarrow(source.path)
    path = source.path
    try:
        if source.size() == 0:
            raise FileContentError("is empty", path)
        with source.opened() as file:
            return _read(file, path, threads, weight)
    except (DmrError, MemoryError):
        raise
    except Exception as error:  # any exception that pyarrow raises for a damaged file
        raise FileContentError(f"is damaged, or not a Parquet file: {printable(str(error))}", path) from error


def write_parquet(file: BinaryIO, graph: CsrGraph) -> None:
    """Writes the edges as columns source, target and weight; for a graph without labels, metadata has its nodes."""
    _write_edges(file, graph, 0, graph.edges)


@checks_keywords
def write_partitioned(
    folder: str | os.PathLike[str], graph: CsrGraph, *, files: int = 16, overwrite: bool = False
) -> list[Path]:
    """Writes the edges as a folder of Parquet files, from which programs on many machines or GPUs read their parts.

    The files `part-00000.parquet`, ... have about equally many edges, in the graph's order, in the columns source,
    target and, with weights, weight.

    Args:
        folder: is made if it is missing; the folder above it exists.
        graph: its labels are written where it has some, the numbers of the nodes otherwise.
        files: how many, 1 or more.
        overwrite: whether files of that kind in the folder are replaced; other files in it stay.

    Returns:
        The files written.

    Raises:
        FileError: they cannot be written. OptionError: `files` is below 1. DmrError: pyarrow is not installed.
    """
    folder, files = as_path(folder, "folder"), whole_option("files", files)
    check_graph(graph, CsrGraph)
    if files < 1:
        raise OptionError(f"{option('files')} must be at least 1, not {files}")
    require_pyarrow(folder)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise file_error(error, folder, "cannot be made") from error
    except ValueError as error:  # a null character
        raise FileError(f"cannot be made: {error}", folder) from error
    old = sorted(folder.glob(_PARTS))
    if old and not switch("overwrite", overwrite):
        raise ExistingTargetError(f"holds {old[0].name}; {option('overwrite', True)} replaces such files", folder)
    bounds = [k * graph.edges // files for k in range(files + 1)]
    parts = [
        (folder / f"part-{k:05}.parquet", through_file(partial(_write_edges, graph=graph, begin=begin, end=end)))
        for k, (begin, end) in enumerate(pairwise(bounds))
    ]
    try:
        return replace_files(parts, overwrite=True, stale=[path for path in old if path not in dict(parts)])
    except ValueError as error:
        raise FileContentError(f"cannot be written as parquet: {error}", folder) from error


def _write_edges(file: BinaryIO, graph: CsrGraph, begin: int, end: int) -> None:
    """Writes the edges `begin` to `end - 1`."""
    import pyarrow
    import pyarrow.parquet

    nodes = np.arange(graph.nodes, dtype=graph.targets.dtype)
    degrees: NDArray[Any] = np.diff(np.clip(graph.offsets, begin, end))
    ends: dict[str, NDArray[Any]] = {"source": np.repeat(nodes, degrees), "target": graph.targets[begin:end]}
    metadata = {NODES_KEY: str(graph.nodes)}
    if graph.labels is not None:
        metadata = {}  # ids are labels, not node numbers
        if graph.labels.dtype.kind == "O" or (graph.labels.dtype.kind == "i" and graph.labels.min(initial=0) < 0):
            raise ValueError("its labels are neither non-negative whole numbers nor strings: drop them (labels=None)")
        ends = {name: graph.labels[nodes] for name, nodes in ends.items()}
    weights = {} if graph.weights is None else {"weight": graph.weights[begin:end]}
    table = pyarrow.table({**ends, **weights}, metadata=metadata)
    pyarrow.parquet.write_table(table, file)


def _read(file: BinaryIO, path: Path, threads: int | None, weight: str | None) -> CsrGraph:
    import pyarrow
    from pyarrow.parquet import ParquetFile

    table = ParquetFile(file)
    schema, edges = table.schema_arrow, table.metadata.num_rows
    names = _columns(schema.names, path, weight)
    types = [_value_type(schema.field(name).type) for name in names]
    text = [pyarrow.types.is_string(value_type) or pyarrow.types.is_large_string(value_type) for value_type in types]
    for name, value_type, is_text in list(zip(names, types, text, strict=True))[:2]:
        if not (is_text or pyarrow.types.is_integer(value_type)):
            raise FileContentError(f"column {shortened(name)} holds {value_type}, not whole numbers or strings", path)
    if text[SOURCE] != text[TARGET]:
        raise FileContentError(f"the sources are {types[SOURCE]}, but the targets are {types[TARGET]}", path)
    for name, value_type in zip(names[WEIGHT:], types[WEIGHT:], strict=True):
        if not (pyarrow.types.is_integer(value_type) or pyarrow.types.is_floating(value_type)):
            raise FileContentError(f"column {shortened(name)} holds {value_type}, not numbers", path)
    if text[SOURCE]:  # strings of either size make one column
        types[:WEIGHT] = [pyarrow.large_string()] * WEIGHT
    if edges > MOST:
        raise FileContentError(f"holds {edges} edges, more than the {MOST} that can be sorted", path)
    require_memory(2 * ROW_BYTES * edges, f"a table of {counted(edges, 'edge')}")
    parts: list[list[Any]] = [[] for _ in names]
    for batch in table.iter_batches(BATCH, columns=names):
        for part, name, value_type in zip(parts, names, types, strict=True):
            part.append(batch.column(name).cast(value_type))
    columns = [pyarrow.chunked_array(part, value_type) for part, value_type in zip(parts, types, strict=True)]
    for name, column in zip(names, columns, strict=True):
        if column.null_count:
            row = column.is_null().to_numpy().argmax()
            raise FileContentError(f"row {row} (from 0) has no {shortened(name)}", path)
    weights = _numbers(columns[WEIGHT], names[WEIGHT], path) if len(names) > WEIGHT else None
    if text[SOURCE]:
        sources, targets, labels = _numbered(columns[SOURCE], columns[TARGET])
        return CsrGraph.from_edges(sources, targets, weights, len(labels), labels=labels, threads=threads)
    ends = [_numbers(columns[side], names[side], path) for side in (SOURCE, TARGET)]
    for name, numbers in zip(names, ends, strict=False):
        if numbers.min(initial=0) < 0:
            row = int(numbers.argmin())
            raise FileContentError(f"row {row} (from 0) has the {shortened(name)} {numbers[row]}, below 0", path)
    promised = (schema.metadata or {}).get(NODES_KEY, b"")
    nodes = int(promised) if promised.isdigit() else None
    return graph_of_ids(Edges(ends[SOURCE], ends[TARGET], weights), nodes, path, threads)


def _columns(titles: list[str], path: Path, weight: str | None) -> list[str]:
    """Returns the names of the columns of sources, targets and, if there is one, weights."""
    found: dict[int, str] = {}
    for title in titles:
        column = WEIGHT if title == weight else column_of(title)
        if column is None or (column == WEIGHT and weight not in (None, title)):
            continue
        if column in found:
            both = f"{shortened(found[column])} and {shortened(title)}"
            raise FileContentError(f"has two columns of the {_WORDS[column]}: {both}", path)
        found[column] = title
    wanted = [(SOURCE, "source"), (TARGET, "target"), *([(WEIGHT, weight)] if weight is not None else [])]
    for column, name in wanted:
        if column not in found:
            known = ", ".join(map(shortened, titles)) or "none"
            raise FileContentError(f"has no column {shortened(name)}; its columns: {known}", path)
    ignored = [title for title in titles if title not in found.values()]
    if ignored:
        log.warning("%s: other columns are left out: %s", path, ", ".join(map(shortened, ignored)))
    return [found[column] for column in sorted(found)]


def _value_type(column_type: Any) -> Any:
    """Returns the type of the values of a column, which may be dictionary-encoded."""
    import pyarrow

    return column_type.value_type if pyarrow.types.is_dictionary(column_type) else column_type


def _numbers(column: Any, name: str, path: Path) -> NDArray[Any]:
    """Returns a column as int64 or float64."""
    import pyarrow

    wanted = pyarrow.float64() if pyarrow.types.is_floating(column.type) else pyarrow.int64()
    try:
        numbers: NDArray[Any] = column.cast(wanted).to_numpy()
    except pyarrow.ArrowInvalid as error:  # beyond 2^63 - 1
        raise FileContentError(f"column {shortened(name)}: {error}", path) from None
    return numbers


def _numbered(sources: Any, targets: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Returns sources and targets as numbers of nodes, and the nodes' names in order."""
    import pyarrow

    encoded = pyarrow.chunked_array([*sources.chunks, *targets.chunks], sources.type).dictionary_encode()
    encoded = encoded.combine_chunks() if encoded.num_chunks else pyarrow.array([], sources.type).dictionary_encode()
    names = as_labels(encoded.dictionary.to_pylist())
    order = np.argsort(names)
    number = np.empty(len(names), np.int64)
    number[order] = np.arange(len(names))
    ends = number[encoded.indices.to_numpy()]
    return ends[: len(sources)], ends[len(sources) :], names[order]
