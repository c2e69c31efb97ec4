"""Restricts a piece to some of its triangles, and unites pieces by the numbers of their vertices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.threaded import flags, rows_taken
from dmr.distributed.tiles.piece import PER_TRIANGLE, Piece
from dmr.distributed.unions.numbering import Union, is_among
from dmr.mesh.edges import edge_keys
from dmr.mesh.types import Mesh

Index = NDArray[Any]

PER_VERTEX = ("vertices", "vertex_markers", "vertex_attributes")


def restricted(piece: Piece, triangles: Index, *, vertices: Index | None = None, threads: int | None = 1) -> Piece:
    """Returns some triangles of a piece, in the order given, with their vertices and segments.

    Args:
        piece: the piece.
        triangles: indices.
        vertices: the vertices to keep, in their order, which include those of the triangles; None for those alone, in
            the order of their numbers.
        threads: that take rows; None for all cores.
    """
    return restricted_mesh(piece.mesh, piece.numbers.__getitem__, triangles, vertices=vertices, threads=threads)


def restricted_mesh(
    mesh: Mesh,
    numbers: Callable[[Index], NDArray[np.int64]],
    triangles: Index,
    *,
    vertices: Index | None = None,
    threads: int | None = 1,
) -> Piece:
    """Returns some triangles of a mesh, as `restricted` does; `numbers` returns those of vertices."""
    corners = rows_taken(mesh.triangles, triangles, threads)
    if vertices is None:
        used = np.flatnonzero(flags(len(mesh.vertices), corners, threads))
        kept, own = _by_number(used, numbers(used))
    else:
        kept, own = vertices, numbers(vertices)
    place = np.full(len(mesh.vertices), -1, np.int32)
    place[kept] = np.arange(len(kept))
    corners = rows_taken(place, corners, threads)
    # A segment belongs to the piece if it is an edge of one of the triangles.
    ends = place[mesh.segments]
    near = np.flatnonzero((ends >= 0).all(axis=1))
    near = near[_are_edges(ends[near], corners, len(kept))]
    arrays: dict[str, Any] = {"triangles": corners, "segments": ends[near]}
    arrays["segment_markers"] = _rows(mesh.segment_markers, near)
    arrays |= {name: _rows(getattr(mesh, name), kept, threads) for name in PER_VERTEX}
    arrays |= {name: _rows(getattr(mesh, name), triangles, threads) for name in PER_TRIANGLE}
    return Piece(Mesh.sound(**arrays), own)


def united(pieces: Sequence[Piece]) -> Piece:
    """Unites pieces: vertices with equal numbers become one, in ascending order; triangles keep their order.

    A segment that several pieces have occurs once. Of what a vertex or segment has in several pieces, the first is
    taken.
    """
    meshes = [piece.mesh for piece in pieces]
    union = Union([piece.numbers for piece in pieces])
    arrays: dict[str, Any] = {
        name: np.concatenate([place[getattr(mesh, name)] for place, mesh in zip(union.places, meshes, strict=True)])
        for name in ("triangles", "segments")
    }
    segments = arrays["segments"]
    once = np.sort(np.unique(edge_keys(*segments.T), return_index=True)[1])
    arrays["segments"] = segments[once]
    arrays["segment_markers"] = _rows(joined_rows(meshes, "segment_markers"), once)
    for name in PER_VERTEX:
        tables = tables_of_vertices(meshes, name)
        arrays[name] = None if tables is None else union.rows(tables)
    arrays |= {name: joined_rows(meshes, name) for name in PER_TRIANGLE}
    return Piece(Mesh.sound(**arrays), union.numbers)


def _by_number(vertices: Index, own: NDArray[np.int64]) -> tuple[Index, NDArray[np.int64]]:
    """Returns vertices, which have these numbers, and the numbers, in the order of the latter."""
    if (own[1:] > own[:-1]).all():
        return vertices, own
    order = np.argsort(own)
    return vertices[order], own[order]


def _are_edges(ends: Index, corners: Index, count: int) -> NDArray[np.bool_]:
    """(k,) which of (k, 2) pairs of vertices are edges of triangles; `count` is the number of vertices."""
    return is_among(edge_keys(*ends.T), np.sort(edge_keys(*edges_between(corners, ends, count)[1].T)))


def edges_between(corners: Index, vertices: Index, count: int) -> tuple[NDArray[np.int64], Index]:
    """Finds the edges of triangles that join two of some vertices; `count` is the number of all vertices.

    Returns:
        (e,) the number 3 t + k of each, which is opposite corner k of triangle t, and (e, 2) its ends.
    """
    marked = np.zeros(count, bool)
    marked[vertices] = True
    at = [marked[corners[:, k]] for k in range(3)]
    triangle, k = np.nonzero(np.stack([at[1] & at[2], at[2] & at[0], at[0] & at[1]], axis=1))
    ends: Index = np.stack([corners[triangle, (k + 1) % 3], corners[triangle, (k + 2) % 3]], axis=1)
    return 3 * triangle + k, ends


def _rows(array: Index | None, rows: Index, threads: int | None = 1) -> Index | None:
    return None if array is None else rows_taken(array, rows, threads)


def joined_rows(meshes: Sequence[Mesh], name: str) -> Index | None:
    """Returns the rows of triangles or segments of all meshes, unless one has none for its elements."""
    element = "triangles" if name in PER_TRIANGLE else "vertices" if name in PER_VERTEX else "segments"
    arrays = [getattr(mesh, name) for mesh in meshes if len(getattr(mesh, element))]
    if not arrays or any(array is None for array in arrays):
        return None
    return np.concatenate(arrays)


def tables_of_vertices(meshes: Sequence[Mesh], name: str) -> list[Index] | None:
    """Returns the tables of vertices, of equal width, unless one is missing; a mesh without vertices has none."""
    full = [getattr(mesh, name) for mesh in meshes if len(mesh.vertices)]
    if not full or any(table is None for table in full):
        return None
    return [getattr(mesh, name) if len(mesh.vertices) else full[0][:0] for mesh in meshes]
