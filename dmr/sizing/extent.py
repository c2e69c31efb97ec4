"""The part of the plane in which a function is sampled: a rectangle, or the triangles of a mesh."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.cached import cached_property
from dmr.errors import OptionError
from dmr.memory import Device
from dmr.mesh.edges import unique_edges
from dmr.mesh.location.locator import Locator
from dmr.mesh.shapes import bounding_box
from dmr.mesh.types import Float, Mesh, check_indices
from dmr.sizing.source import numbers

MARGIN = 2.0**-6  # rectangles are enlarged by this part of their width: much more than any rounding
NEAR = 2.0**-30  # points this near to the boundary, relative to the extent, count as outside


class Extent:
    """A rectangle, and the boundary of the domain in it.

    Attributes:
        low: (2,) the lower left corner; size: (2,) width and height.
    """

    def __init__(self, over: Mesh | ArrayLike, device: Device) -> None:
        """Prepares a domain.

        Args:
            over: a mesh with triangles, or the rectangle (x0, y0, x1, y1); device: where points are located.

        Raises:
            OptionError: the rectangle is not one of positive width and height, or the mesh has no triangles.
        """
        self._mesh, self._device = over if isinstance(over, Mesh) else None, device
        if isinstance(over, Mesh):
            check_indices(over)
            if not len(over.triangles):
                raise OptionError("sizes are sampled in a mesh with triangles, and this mesh has none")
            box = np.array(bounding_box(over.vertices[np.unique(over.triangles)]))
            edges, count = unique_edges(over)
            self._start, self._end = (over.vertices[edges[count == 1, k]] for k in (0, 1))
        else:
            box = numbers(over, "the rectangle")
            if box.shape != (4,) or not np.isfinite(box).all() or not (box[2:] > box[:2]).all():
                raise OptionError(
                    "sizes are sampled in a Mesh or in a rectangle (x0, y0, x1, y1) with x0 < x1, y0 < y1"
                )
            self._start = self._end = np.empty((0, 2))
        self.low, self.size = box[:2], box[2:] - box[:2]

    @cached_property
    def _locator(self) -> Locator:
        assert self._mesh is not None
        return Locator.on(self._mesh, self._device)

    def holds(self, points: Float) -> NDArray[np.bool_]:
        """Whether each point is inside the domain, and not near its boundary."""
        if self._mesh is None or not len(points):
            return np.ones(len(points), bool)
        step = NEAR * float(self.size.max())
        around = [points + step * np.array(way) for way in ((-1, -1), (-1, 1), (1, -1), (1, 1))]
        held: NDArray[np.bool_] = np.logical_and.reduce([self._contains(each) for each in around])
        return held

    def _contains(self, points: Float) -> NDArray[np.bool_]:
        inside: NDArray[np.bool_] = self._locator.locate(points) >= 0
        return inside

    def crossed(self) -> NDArray[np.int64]:
        """(p, 2) pairs of a rectangle and a boundary edge in it, for the rectangle of the whole extent, number 0."""
        edges = np.arange(len(self._start))
        return np.stack([np.zeros_like(edges), edges], axis=1)

    def meets(
        self, quadrants: NDArray[np.int64], crossed: NDArray[np.int64], divided: NDArray[np.int64], level: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Finds which quadrants of rectangles meet the domain, given that the rectangles do.

        Args:
            quadrants: (k, 4, 2) columns and rows of the quadrants of rectangles, at this `level`.
            crossed: (p, 2) pairs of a rectangle and a boundary edge that may cross it.
            divided: (k,) the rectangles that are divided, ascending: the others in `crossed` are ignored.

        Returns:
            (k, 4) truth values, and the pairs of a quadrant and an edge; the quadrants that meet the domain are
            numbered row by row.
        """
        scale = self.size / 2.0**level
        at = np.full(int(crossed[:, 0].max(initial=-1)) + 1, -1)  # by rectangle: its row, if it is divided
        inside = divided < len(at)
        at[divided[inside]] = np.flatnonzero(inside)
        parent = at[crossed[:, 0]]
        kept = parent >= 0
        parent, edge = parent[kept], crossed[kept, 1]
        pair, quadrant = np.nonzero(self._reach(edge, quadrants[parent, 0], scale))
        row = parent[pair]

        meets = np.ones(quadrants.shape[:2], bool)
        meets[parent] = False
        meets[row, quadrant] = True
        unsure = np.nonzero(~meets)
        if len(unsure[0]):
            meets[unsure] = self._contains(self.low + (quadrants[unsure] + 0.5) * scale)
        numbers_of = np.cumsum(meets).reshape(meets.shape) - 1
        return meets, np.stack([numbers_of[row, quadrant], edge[pair]], axis=1)

    def _reach(self, edges: NDArray[np.int64], places: NDArray[np.int64], size: Float) -> NDArray[np.bool_]:
        """Finds which quadrants, slightly enlarged, edges may meet.

        Args:
            edges: (p,); places: (p, 2) column and row of the first quadrant of a rectangle; size: (2,) of quadrants.

        Returns:
            (p, 4) truth values, in the order of the quadrants.
        """
        along, least, most = [], [], []  # by axis: (p, 2) for both halves of the rectangle
        start, end = self._start[edges], self._end[edges]
        ways = end - start
        for axis in range(2):
            low = self.low[axis] + (places[:, axis, None] + [0, 1]) * size[axis]
            low, high = low - MARGIN * size[axis], low + (1 + MARGIN) * size[axis]
            one, other, way = start[:, axis, None], end[:, axis, None], ways[:, 1 - axis, None]
            along.append((np.maximum(one, other) >= low) & (np.minimum(one, other) <= high))
            at_low, at_high = (low - one) * way, (high - one) * way
            least.append(np.minimum(at_low, at_high))
            most.append(np.maximum(at_low, at_high))
        reached: NDArray[np.bool_] = along[1][:, :, None] & along[0][:, None, :]
        # The corners of a quadrant lie on both sides of the line through the edge.
        reached &= least[0][:, None, :] <= most[1][:, :, None]
        reached &= most[0][:, None, :] >= least[1][:, :, None]
        return reached.reshape(-1, 4)
