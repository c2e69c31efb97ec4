"""The segments of a mesh: those that the user named, and every other boundary edge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import sum_in_order
from dmr.mesh.edges import edge_keys
from dmr.mesh.provenance import links_of
from dmr.mesh.shapes import enclosed_area
from dmr.mesh.types import Float, Int, Mesh
from dmr.refinement.placement.metric import lengths
from dmr.refinement.setup.admission import SplitState
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.triangulation.segment_order import sorted_segments

Flags = NDArray[np.bool_]

LONG_WALLS = 20.0  # mean widths: the length of all walls above which a domain is long
LONG_KEPT, LOW = 3.0, 1.1  # sizes: a longer segment is long, and a triangle with less height is low


@dataclass(frozen=True, eq=False)
class Segments:
    """The segments of a mesh, in the order of `admit`.

    Attributes:
        ends: (s, 2) int32, the vertices that each segment joins: on the boundary, with the domain on the left; named:
            the first ones are those that the user named.
        markers: (named,) int32.
        right: (s,) whether there is a triangle on the right, too.
        acute: (n,) uint8, 1 at vertices with a corner below 60 degrees.
        kept: (s,) whether a segment must not be split.
    """

    ends: Int
    named: int
    markers: Int
    right: Flags
    acute: NDArray[np.uint8]
    kept: Flags

    @classmethod
    def of(cls, mesh: Mesh, acute: NDArray[np.uint8], keep_segments: str) -> Segments:
        """Collects the segments of a valid mesh with counter-clockwise triangles."""
        links = links_of(mesh)
        neighbours = mesh.neighbours if links is None else links.neighbours
        triangle, edge = np.nonzero(neighbours < 0)
        boundary = np.stack([mesh.triangles[triangle, (edge + k) % 3] for k in (1, 2)], axis=1)
        named, markers = mesh.unique_segments() if links is None else sorted_segments(mesh)[:2]
        on_boundary, keys = np.sort(_keys(boundary)), _keys(named)  # both are sorted
        outward = _are_among(on_boundary, _keys(named[:, ::-1]))  # the domain lies on the right only
        inward = _are_among(on_boundary, keys)
        named = np.where(outward[:, None], named[:, ::-1], named)
        unnamed = boundary[~_are_among(keys, _keys(np.sort(boundary, axis=1)))]
        right = np.concatenate([~(inward | outward), np.zeros(len(unnamed), bool)])
        ends = np.concatenate([named, unnamed])
        kept = np.full(len(ends), keep_segments == "all")
        if keep_segments == "boundary":
            kept = ~right
        return cls(ends, len(named), markers, right, acute, kept)

    @classmethod
    def admitted(cls, state: DeviceMesh) -> Segments:
        """Collects the segments of a mesh that `admit` has copied to a device."""
        order = state.order.download()
        records = state.subsegments[: state.subsegments_count].download()
        acute = np.zeros(state.vertices, np.uint8)
        acute[order] = state.acute.download()
        return cls(
            ends=np.stack([order[records["from"]], order[records["to"]]], axis=1),
            named=state.named,
            markers=state.named_markers,
            right=records["right"] >= 0,
            acute=acute,
            kept=state.split_states[: state.subsegments_count].download() == SplitState.KEPT,
        )

    def is_narrow(self, points: Float, width: float) -> bool:
        """Whether the domain is long, and its mean width (twice its area over the length of its walls) below a limit.

        Args:
            points: (n, 2) the vertices of the mesh; width: the limit.
        """
        ways = lengths(points[self.ends[:, 1]] - points[self.ends[:, 0]])
        walls = sum_in_order(np.where(self.right, 2.0, 1.0) * ways)
        across = 2.0 * enclosed_area(points, self.ends[~self.right]) / walls
        return across < width and walls > LONG_WALLS * across

    def beside_narrow(self, mesh: Mesh, sizes: Float) -> Flags:
        """(s,) which segments are long, with only low triangles beside them; `sizes` are those wanted there, (s,)."""
        points, keys = mesh.vertices, edge_keys(*self.ends.T)
        ways = lengths(points[self.ends[:, 1]] - points[self.ends[:, 0]])
        order = np.argsort(keys)
        ascending, height = keys[order], np.zeros(len(keys))
        for k in range(3):
            start, end, apex = (mesh.triangles[:, (k + step) % 3] for step in range(3))
            edges = edge_keys(start, end)
            row = order[np.minimum(np.searchsorted(ascending, edges), len(keys) - 1)]
            here = np.flatnonzero(keys[row] == edges)
            along, across = points[end[here]] - points[start[here]], points[apex[here]] - points[start[here]]
            doubled = along[:, 0] * across[:, 1] - along[:, 1] * across[:, 0]
            np.maximum.at(height, row[here], doubled / ways[row[here]])
        found: Flags = (ways > LONG_KEPT * sizes) & (height < LOW * sizes)
        return found


def _keys(edges: Int) -> NDArray[np.int64]:
    return edges[:, 0].astype(np.int64) << 32 | edges[:, 1]


def _are_among(known: NDArray[np.int64], keys: NDArray[np.int64]) -> Flags:
    """Whether each key is among the known ones, which are sorted (for few keys much faster than numpy.isin)."""
    if not len(known):
        return np.zeros(len(keys), bool)
    found: Flags = known[np.minimum(np.searchsorted(known, keys), len(known) - 1)] == keys
    return found
