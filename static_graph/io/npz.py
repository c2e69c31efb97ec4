"""Binary .npz files with the arrays of a CsrGraph by their names; scipy's .npz files can also be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dmr.common.errors import file_error, printable
from static_graph.errors import DmrError, FileContentError, GraphError
from static_graph.graph.csr import CsrGraph
from static_graph.io.inputs import Input

VERSION = 1
_VERSION_KEY = "static_graph_format"
_FIELDS = ("offsets", "targets", "weights", "labels")


def read_npz(source: Input, threads: int | None = None) -> CsrGraph:
    """Reads a graph from a file written by this package or by `scipy.sparse.save_npz`; `threads` is not used.

    Raises:
        FileError: the file is not an .npz, is damaged or of a later version, or its arrays do not form a graph.
    """
    path = source.path
    try:
        if source.size() == 0:
            raise FileContentError("is empty", path)
        with source.opened() as file:  # numpy would leave a file open if it failed to read it
            if not file.read(6).startswith((b"PK", b"\x93NUMPY")):  # numpy would take it for pickled objects
                raise FileContentError("is damaged, or not an .npz file: it does not begin as one", path)
            file.seek(0)
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise FileContentError("is a single array (.npy), not an .npz archive", path)
            if "indptr" in archive or "format" in archive:
                file.seek(0)
                return _read_scipy(path, file)
            version = int(archive[_VERSION_KEY]) if _VERSION_KEY in archive else VERSION
            if version > VERSION:
                raise FileContentError(f"has version {version} of the format; up to {VERSION} can be read", path)
            for name in _FIELDS[:2]:
                if name not in archive:
                    raise FileContentError(f"holds no array named {name}", path)
            arrays: dict[str, Any] = {name: archive[name] for name in _FIELDS if name in archive}
        return CsrGraph(**arrays)
    except GraphError as error:
        raise FileContentError(f"holds no valid graph: {error}", path) from error
    except (DmrError, MemoryError):
        raise
    except OSError as error:
        raise file_error(error, path, "cannot be read") from error
    except Exception as error:  # any exception that readers of archives and arrays raise for a damaged file
        raise FileContentError(f"is damaged, or not an .npz file: {printable(str(error))}", path) from error


def write_npz(file: BinaryIO, graph: CsrGraph) -> None:
    """Writes all arrays of the graph that are not None."""
    arrays: dict[str, Any] = {_VERSION_KEY: np.array(VERSION)}
    arrays |= {name: getattr(graph, name) for name in _FIELDS if getattr(graph, name) is not None}
    if graph.labels is not None and graph.labels.dtype.kind == "O":
        raise ValueError(
            "its labels are objects of Python, which files cannot hold: use whole numbers or strings, or drop them "
            "(labels=None)"
        )
    np.savez(file, **arrays)


def _read_scipy(path: Path, file: BinaryIO) -> CsrGraph:
    try:
        from scipy.sparse import load_npz
    except ImportError:
        raise FileContentError("was written by scipy, and scipy is not installed to read it", path) from None
    return CsrGraph.from_scipy(load_npz(file))
