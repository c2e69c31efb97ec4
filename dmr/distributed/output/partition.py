"""Partitions of a mesh, for solvers: parts with ghosts, along a Hilbert curve or by METIS."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import chosen, whole_option
from dmr.common.number_arrays import distinct
from dmr.common.text import counted, option
from dmr.distributed.jobs.in_process import InProcess
from dmr.distributed.output.finish import finish, write_manifest
from dmr.distributed.output.methods import PARTITIONS
from dmr.distributed.output.parts import Parts
from dmr.distributed.output.scratch import scratch_store
from dmr.distributed.tiles.piece import BORDER, Piece
from dmr.distributed.tiles.pieces import restricted
from dmr.distributed.tiles.result.sections import PieceSource
from dmr.errors import DmrError, ExistingFileError, OptionError, file_error
from dmr.memory import open_device, record
from dmr.mesh.arguments import check_kind, file_path
from dmr.mesh.types import Mesh
from dmr.triangulation.rounds.curve import order_along_curve, survey

Int64 = NDArray[np.int64]


def partition(mesh: Mesh, out: str | os.PathLike[str], parts: int, *, method: str = "hilbert") -> Parts:
    """Divides a mesh into parts with equally many triangles, and writes them with their ghosts.

    Args:
        mesh: a valid mesh.
        out: a folder, which is made; if it exists, it must be empty.
        parts: how many, at most the number of triangles.
        method: "hilbert" cuts a Hilbert curve through the triangles' centroids; "metis" minimises the edges between
            parts (Karypis and Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs",
            SIAM Journal on Scientific Computing 20, 1998) and needs pymetis. Its parts are equal up to 3%.

    Returns:
        The parts. Vertices keep their numbers; triangles are numbered by part.

    Raises:
        OptionError: the number of parts or the method is not possible.
        DmrError: pymetis is missing.
        FileError: the folder is not empty, or cannot be written.
        InvalidMeshError: with METIS, two triangles that lie on the same side of an edge.
    """
    check_kind(mesh, Mesh)
    method = chosen("method", method, PARTITIONS)
    parts = whole_option("parts", parts)
    if not 1 <= parts <= len(mesh.triangles):
        raise OptionError(
            f"{option('parts')} must be from 1 to the number of triangles, {len(mesh.triangles)}, not {parts}"
        )
    divided = (_by_metis if method == "metis" else _by_curve)(mesh, parts)
    folder = file_path(out, "out")
    make_empty(folder)
    return write_divided(mesh, divided, folder)


def write_divided(mesh: Mesh, divided: Sequence[Int64], folder: Path) -> Parts:
    """Writes a mesh in parts of given triangles; the first one has the vertices without triangles.

    Args:
        mesh: a mesh; divided: the triangles of each part; folder: an empty folder.
    """
    whole = Piece(mesh, np.arange(len(mesh.vertices)))
    with scratch_store(folder) as store:
        vertices = [distinct(mesh.triangles[triangles]) for triangles in divided]
        uses = np.bincount(np.concatenate(vertices), minlength=len(mesh.vertices))
        vertices[0] = np.union1d(vertices[0], np.flatnonzero(uses == 0))  # those without triangles, too
        pieces = []
        for triangles, kept in zip(divided, vertices, strict=True):
            arrays: dict[str, NDArray[np.generic]] = {BORDER: kept[uses[kept] > 1]}
            restricted(whole, triangles, vertices=kept).save(arrays)
            pieces.append(PieceSource(store.put(arrays)))
        write_manifest(folder, finish(InProcess(store), pieces, folder, mesh))
    return Parts(folder)


def make_empty(folder: Path) -> None:
    """Makes a folder, or checks that it is empty.

    Raises:
        FileError: it is not empty, or cannot be made.
    """
    try:
        folder.mkdir(exist_ok=True)
        if any(folder.iterdir()):
            raise ExistingFileError("is not empty: name another folder, or remove it", folder)
    except OSError as error:
        if isinstance(error, DmrError):
            raise
        raise file_error(error, folder, "cannot be made") from error


def _by_curve(mesh: Mesh, parts: int) -> list[Int64]:
    """Cuts the triangles, in their order along a Hilbert curve, into parts whose sizes differ by one at most."""
    device = open_device("cpu")
    a, b, c = (mesh.vertices[corner] for corner in mesh.triangles.T)
    centroids = a + ((b - a) + (c - a)) / 3.0
    points = device.array(centroids, record("Point"))
    _, order = order_along_curve(points, survey(points)[0])
    return np.array_split(order.download().astype(np.int64), parts)


def _by_metis(mesh: Mesh, parts: int) -> list[Int64]:
    """Divides the dual graph by METIS; triangles keep their order within a part."""
    try:
        import pymetis
    except ImportError as error:
        raise DmrError(f"the method metis needs pymetis: pip install pymetis ({error})") from error
    neighbours = mesh.neighbours
    there = neighbours >= 0
    offsets = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    graph = pymetis.CSRAdjacency(offsets, neighbours[there])
    _, numbers = pymetis.part_graph(parts, adjacency=graph)
    part = np.asarray(numbers)
    found = [np.flatnonzero(part == index) for index in range(parts)]
    if not all(map(len, found)):
        raise OptionError(f"METIS leaves some of {counted(parts, 'part')} empty: ask for fewer, or use hilbert")
    return found
