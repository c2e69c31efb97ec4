"""The cuts of a patch: which triangles are frozen, and where the others meet them.

::

        next tile  / \\        An edge of a patch without a triangle on its other side, and without a segment, is a cut.
            ------ cut ----    The triangle on this side of it is frozen: no cavity may hold it. The other triangles are
            frozen \\   /      active. Each edge between an active triangle and a frozen one has a number among the
            ------- \\ / --    subsegments of the tile, so that every walk stops there, and the far corner of the
                  active       frozen triangle is stored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.distributed.threaded import by_pieces, flags
from dmr.distributed.tiles.patch import NEXT, Edges, Mask, Patch
from dmr.mesh.edges import edge_keys
from dmr.mesh.types import Float, Int

AFTER_NEXT = NEXT[NEXT]


def edges_of(patch: Patch, threads: int | None = None) -> Edges:
    """Returns the edges of a patch; `threads` compute, None for all cores."""
    if patch.edges is not None:
        return patch.edges
    triangles, segments = patch.mesh.triangles, patch.mesh.segments
    keys = edge_keys(segments[:, 0], segments[:, 1])
    order = np.argsort(keys)
    keys = keys[order]
    found = np.full(triangles.shape, -1, np.int32)
    is_end = flags(len(patch.numbers), segments, threads)

    def find(piece: slice) -> None:
        corners = triangles[piece]
        at = np.take(is_end, corners, mode="clip")
        rows, k = np.nonzero(at[:, NEXT] & at[:, AFTER_NEXT])  # few, as a rule
        edge = edge_keys(corners[rows, NEXT[k]], corners[rows, AFTER_NEXT[k]])
        place = np.minimum(np.searchsorted(keys, edge), len(keys) - 1)
        found[piece][rows, k] = np.where(keys[place] == edge, order[place], -1)

    if len(keys):
        by_pieces(len(triangles), find, threads)
    return Edges(patch.mesh.neighbours, found)


@dataclass(frozen=True, eq=False)
class CutEdges:
    """The edges between active and frozen triangles.

    Attributes:
        starts, ends: (c,) int32, their vertices, with the active triangle on the left.
        beyond: (c, 2) float64, the far corners of the frozen triangles.
    """

    starts: Int
    ends: Int
    beyond: Float


def cut_edges(patch: Patch, edges: Edges, frozen: Mask, threads: int | None = None) -> CutEdges:
    """Returns the edges between the active and the frozen triangles of a patch; `threads` as for `edges_of`."""
    triangles = patch.mesh.triangles

    def meeting(piece: slice) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        across = edges.neighbours[piece]
        is_cut = (across >= 0) & (edges.segments[piece] < 0) & ~frozen[piece, None] & frozen[across]
        rows, k = np.nonzero(is_cut)
        return rows + piece.start, k

    found = by_pieces(len(triangles), meeting, threads)
    triangle, k = (np.concatenate(each) for each in zip(*found, strict=True))
    corners, number = triangles[triangle], np.arange(len(triangle))
    starts, ends = corners[number, NEXT[k]], corners[number, AFTER_NEXT[k]]
    beyond = triangles[edges.neighbours[triangle, k]].sum(axis=1, dtype=np.int64) - starts - ends
    return CutEdges(starts, ends, patch.mesh.vertices[beyond])


def active_sides(patch: Patch, edges: Edges, frozen: Mask, threads: int | None = None) -> NDArray[np.int64]:
    """Returns (s,) the number of active triangles beside each segment; `threads` as for `edges_of`."""

    def beside(piece: slice) -> Int:
        segments = edges.segments[piece]
        rows, k = np.nonzero((segments >= 0) & ~frozen[piece, None])  # few, as a rule
        found: Int = segments[rows, k]
        return found

    found = np.concatenate(by_pieces(len(frozen), beside, threads))
    return np.bincount(found, minlength=len(patch.mesh.segments))


def border_vertices(patch: Patch, edges: Edges, inside: Mask, threads: int | None = None) -> Int:
    """Returns the vertices on the border of a patch with the rest of the domain.

    Args:
        inside: (s,) bool, whether a segment is inside the domain, not on its boundary.
        threads: as for `edges_of`.
    """
    is_open = np.append(inside, True)  # the last is that of edges without a segment, whose number is -1

    def at_border(piece: slice) -> Int:
        rows, k = np.nonzero(edges.neighbours[piece] < 0)  # few, as a rule
        there = is_open[edges.segments[piece][rows, k]]
        rows, k, corners = rows[there], k[there], patch.mesh.triangles[piece]
        found: Int = np.concatenate([corners[rows, NEXT[k]], corners[rows, AFTER_NEXT[k]]])
        return found

    return distinct(*by_pieces(len(patch.mesh.triangles), at_border, threads))
