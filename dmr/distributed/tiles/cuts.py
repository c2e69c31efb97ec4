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

from dmr.common.threads import thread_count
from dmr.distributed.threaded import cut_edge_lists, flags, on_border, rows_taken, touching
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
    starts, ends, beyond = cut_edge_lists(edges.neighbours, edges.segments, patch.mesh.triangles, frozen, threads)
    return CutEdges(starts, ends, rows_taken(patch.mesh.vertices, beyond, threads))


def active_sides(patch: Patch, edges: Edges, frozen: Mask) -> NDArray[np.int64]:
    """Returns (s,) the number of active triangles beside each segment."""
    at = edges.on_segments
    return np.bincount(edges.segments.reshape(-1)[at[~frozen[at // 3]]], minlength=len(patch.mesh.segments))


def border_vertices(patch: Patch, edges: Edges, inside: Mask, threads: int | None = None) -> Int:
    """Returns the vertices on the border of a patch with the rest of the domain.

    Args:
        inside: (s,) bool, whether a segment is inside the domain, not on its boundary.
        threads: that compute, None for all cores.
    """
    count = len(patch.mesh.vertices)
    found = on_border(edges.neighbours, edges.segments, patch.mesh.triangles, inside, count, threads)
    return np.flatnonzero(found).astype(np.int32)
