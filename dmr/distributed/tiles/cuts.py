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

from dmr.distributed.tiles.patch import Mask, Patch
from dmr.mesh.edges import edge_keys
from dmr.mesh.types import Float, Int


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a patch's triangles.

    Attributes:
        neighbours: (m, 3) int32, as `Mesh.neighbours`.
        segments: (m, 3) int32, the row of the segment on an edge, -1 if there is none.
    """

    neighbours: Int
    segments: Int

    @property
    def frozen(self) -> Mask:
        """(m,) bool: whether a triangle has a cut edge."""
        cut = (self.neighbours < 0) & (self.segments < 0)
        return cut[:, 0] | cut[:, 1] | cut[:, 2]


def edges_of(patch: Patch) -> Edges:
    """Returns the edges of a patch."""
    triangles, segments = patch.mesh.triangles, patch.mesh.segments
    keys = edge_keys(segments[:, 0], segments[:, 1])
    order = np.argsort(keys)
    keys = keys[order]
    found = np.full(triangles.shape, -1, np.int32)
    if len(keys):
        is_end = np.zeros(len(patch.numbers), np.bool_)
        is_end[segments] = True
        for k in range(3):
            starts, ends = triangles[:, (k + 1) % 3], triangles[:, (k + 2) % 3]
            between = np.flatnonzero(is_end[starts] & is_end[ends])  # few, as a rule
            edge = edge_keys(starts[between], ends[between])
            place = np.minimum(np.searchsorted(keys, edge), len(keys) - 1)
            found[between, k] = np.where(keys[place] == edge, order[place], -1)
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


def cut_edges(patch: Patch, edges: Edges, frozen: Mask) -> CutEdges:
    """Returns the edges between the active and the frozen triangles of a patch."""
    triangles, across = patch.mesh.triangles, edges.neighbours
    meets = (across >= 0) & (edges.segments < 0) & ~frozen[:, None] & frozen[across]
    triangle, k = np.nonzero(meets)
    starts, ends = triangles[triangle, (k + 1) % 3], triangles[triangle, (k + 2) % 3]
    corners: NDArray[np.int64] = triangles[across[triangle, k]].sum(axis=1, dtype=np.int64)
    return CutEdges(starts, ends, patch.mesh.vertices[corners - starts - ends])


def active_sides(patch: Patch, edges: Edges, frozen: Mask) -> NDArray[np.int64]:
    """Returns (s,) the number of active triangles beside each segment."""
    beside = edges.segments[~frozen]
    return np.bincount(beside[beside >= 0], minlength=len(patch.mesh.segments))


def border_vertices(patch: Patch, edges: Edges, inside: Mask) -> Int:
    """Returns the vertices on the border of a patch with the rest of the domain.

    Args:
        inside: (s,) bool, whether a segment is inside the domain, not on its boundary.
    """
    open_edge = edges.neighbours < 0
    on_segment = edges.segments >= 0
    open_edge &= ~on_segment | np.append(inside, False)[edges.segments]
    triangle, k = np.nonzero(open_edge)
    triangles = patch.mesh.triangles
    found: Int = np.unique(np.concatenate([triangles[triangle, (k + 1) % 3], triangles[triangle, (k + 2) % 3]]))
    return found
