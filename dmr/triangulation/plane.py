"""The triangulated plane around a planar straight-line graph, and the tables of its triangles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.types import Float, Int

OUTSIDE = 0  # the label of the unbounded part of the plane, up to the convex hull
ON_SEGMENT, BEYOND_HULL = -1, -2  # labels of places that are in no part


class Triangles(Protocol):
    """Triangles in their canonical order, in main memory or on a device (`rounds.triangles.DeviceTriangles`)."""

    @property
    def corners(self) -> Int:
        """(t, 3) int32, counter-clockwise; duplicate points are represented by the first."""

    @property
    def neighbours(self) -> Int:
        """(t, 3) int32: the triangles across the edges, numbered as in `Mesh`; -1 beyond the hull."""

    @property
    def labels(self) -> Int:
        """(t,) int32: the part that contains each; `OUTSIDE` if no segment separates it from infinity."""

    def corners_in(self, room: Int | None) -> Int:
        """Returns `corners`; those on a device are downloaded into `room`, (t or more, 3), if they fit it well."""

    def finding_neighbours(self) -> Callable[[], Int]:
        """Returns a function that returns `neighbours`; from a device they are downloaded at its first call."""

    def within(self, kept: NDArray[np.bool_], sides: Int) -> tuple[Triangles, Int]:
        """Returns the triangles of some parts, and half-edges of them, renumbered.

        Args:
            kept: by label, whether the part is kept.
            sides: half-edges of triangles that are kept, as triangle << 2 | edge.
        """


@dataclass(frozen=True, eq=False, kw_only=True)
class Plane:
    """The plane around a PSLG, triangulated within the convex hull and divided into parts by the segments.

    Attributes:
        tables: its triangles; parts: their labels are below this number.
        edges: (e, 2) int32 the edges that are pieces of segments, sorted by segment and along each of them, and
            directed like them; `edge_segments`: (e,) the segment of each.
        left, right: (e,) int32 the parts on their two sides; `BEYOND_HULL` on the outer side of the hull.
        left_side, right_side: (e,) int32 the half-edges there, as triangle << 2 | edge; -1 beyond the hull.
        new_vertices: (c, 2) float64, where segments cross; numbered after the PSLG's.
        conflicts: (f, 4) int32: kind, two segments, a vertex (enum Conflict of serial/segments/segments.hpp).
        same_as: (n,) int32 the first vertex with the same coordinates; None if no two have the same.
        hull: (h,) int32 the vertices of the convex hull, unordered.
        along: (n,) int32 the vertices along the curve of a mesh's order (`rounds.curve`); None if it is not known.
        hole_labels, region_labels: the parts that contain these points, `ON_SEGMENT` or `BEYOND_HULL`.
    """

    tables: Triangles
    parts: int
    edges: Int
    edge_segments: Int
    left: Int
    right: Int
    left_side: Int
    right_side: Int
    new_vertices: Float
    conflicts: Int
    same_as: Int | None
    hull: Int
    hole_labels: Int
    region_labels: Int
    along: Int | None = None

    @property
    def triangles(self) -> Int:
        """(t, 3) int32: the corners of the triangles."""
        return self.tables.corners

    @property
    def neighbours(self) -> Int:
        """(t, 3) int32: the triangles across their edges."""
        return self.tables.neighbours

    @property
    def labels(self) -> Int:
        """(t,) int32: the labels of their parts."""
        return self.tables.labels

    def domain(self, right: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Returns by label whether a part belongs to the domain, which lies on the left of all edges.

        Args:
            right: (e,) whether it lies on the right of an edge, too.
        """
        found = np.zeros(self.parts, bool)
        found[self.left] = True
        found[self.right[right]] = True
        return found
