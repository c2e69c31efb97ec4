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
from dmr.common.threads import thread_count
from dmr.distributed.threaded import at_frozen, flags, rows_taken, touching
from dmr.distributed.tiles.patch import NEXT, Edges, Mask, Patch
from dmr.distributed.unions.native import linked
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
    if len(keys):
        is_end = flags(len(patch.numbers), segments, threads)
        with_two = np.flatnonzero(touching(triangles, is_end, threads, least=2))  # few, as a rule
        corners = triangles[with_two]
        at = is_end[corners]
        rows, k = np.nonzero(at[:, NEXT] & at[:, AFTER_NEXT])
        edge = edge_keys(corners[rows, NEXT[k]], corners[rows, AFTER_NEXT[k]])
        place = np.minimum(np.searchsorted(keys, edge), len(keys) - 1)
        found[with_two[rows], k] = np.where(keys[place] == edge, order[place], -1)
    return Edges(linked(triangles, len(patch.numbers), thread_count(threads)), found)


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
    number = np.flatnonzero(at_frozen(edges.neighbours, edges.segments, frozen, threads))
    triangle, k = np.divmod(number, 3)
    starts, ends = (np.take(triangles, 3 * triangle + each[k]) for each in (NEXT, AFTER_NEXT))
    across = np.take(edges.neighbours, number)
    a, b, c = rows_taken(triangles, across, threads).T
    beyond = a ^ b ^ c ^ starts ^ ends  # the corner that is neither start nor end
    return CutEdges(starts, ends, rows_taken(patch.mesh.vertices, beyond, threads))


def active_sides(patch: Patch, edges: Edges, frozen: Mask) -> NDArray[np.int64]:
    """Returns (s,) the number of active triangles beside each segment."""
    at = edges.on_segments
    return np.bincount(edges.segments.reshape(-1)[at[~frozen[at // 3]]], minlength=len(patch.mesh.segments))


def border_vertices(
    patch: Patch, edges: Edges, inside: Mask, frozen: Mask | None = None, threads: int | None = None
) -> Int:
    """Returns the vertices on the border of a patch with the rest of the domain.

    Args:
        inside: (s,) bool, whether a segment is inside the domain, not on its boundary.
        frozen: the triangles with a cut edge, if they are known; threads: that compute, None for all cores.
    """
    rows = np.flatnonzero(edges.frozen(threads) if frozen is None else frozen)  # few, as a rule
    across, on_edges = (rows_taken(each, rows, threads) for each in (edges.neighbours, edges.segments))
    row, k = np.nonzero((across < 0) & (on_edges < 0))
    at = edges.on_segments
    at = at[(edges.neighbours.reshape(-1)[at] < 0) & inside[edges.segments.reshape(-1)[at]]]
    triangle, k = np.concatenate([rows[row], at // 3]), np.concatenate([k, at % 3])
    corners, place = rows_taken(patch.mesh.triangles, triangle, threads), np.arange(len(triangle))
    return distinct(corners[place, NEXT[k]], corners[place, AFTER_NEXT[k]])
