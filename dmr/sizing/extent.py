"""The part of the plane in which a function is sampled: a rectangle, or the triangles of a mesh."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.cached import cached_property
from dmr.common.number_arrays import distinct
from dmr.errors import OptionError
from dmr.memory import Device, DeviceArray, constant, pack, record
from dmr.mesh.edges import unique_edges
from dmr.mesh.location.locator import Locator
from dmr.mesh.shapes import bounding_box
from dmr.mesh.types import Float, Int, Mesh, check_indices
from dmr.sizing.source import numbers

POINT, QUADRANTS = record("Point"), constant("QUADRANTS", "sizing/sampling.cu")
NEAR = 2.0**-30  # points this near to the boundary, relative to the extent, count as outside
SLACK = 2.0**-50  # so that places on the upper edge of the domain lie in its last quadrants, not in those beyond


class Extent:
    """A rectangle, and the boundary of the domain in it.

    In one direction the domain may fill only a part of it: a power of 1/2, less SLACK, so that the domain ends where
    quadrants do, and these are at most sqrt(2) times as wide as high, or the other way round.

    Attributes:
        low: (2,) the lower left corner; size: (2,) width and height.
        edges: the number of boundary edges; device: the CPU.
    """

    def __init__(self, over: Mesh | ArrayLike, device: Device) -> None:
        """Prepares a domain.

        Args:
            over: a mesh with triangles, or the rectangle (x0, y0, x1, y1); device: where points are located.

        Raises:
            OptionError: the rectangle is not one of positive width and height, or the mesh has no triangles.
        """
        self._mesh, self.device = over if isinstance(over, Mesh) else None, device
        if isinstance(over, Mesh):
            check_indices(over)
            if not len(over.triangles):
                raise OptionError("sizes are sampled in a mesh with triangles, and this mesh has none")
            box = np.array(bounding_box(over.vertices[distinct(over.triangles)]))
            edges, count = unique_edges(over)
            start, end = (over.vertices[edges[count == 1, k]] for k in (0, 1))
        else:
            box = numbers(over, "the rectangle")
            if box.shape != (4,) or not np.isfinite(box).all() or not (box[2:] > box[:2]).all():
                raise OptionError(
                    "sizes are sampled in a Mesh or in a rectangle (x0, y0, x1, y1) with x0 < x1, y0 < y1"
                )
            start = end = np.empty((0, 2))
        self.low, domain, self.edges = box[:2], box[2:] - box[:2], len(start)
        self._domain, self._doublings = domain, np.array([_doublings(float(domain.max() / each)) for each in domain])
        self.size = self._without_slack * np.where(self._doublings > 0, 1 + SLACK, 1)
        self._start, self._end = device.array(start, POINT), device.array(end, POINT)

    @property
    def _without_slack(self) -> Float:
        doubled: Float = np.ldexp(self._domain, self._doublings)
        return doubled

    def points(self, places: Float) -> Float:
        """Returns the points at places, from 0 to 1; those beyond the domain's bounding box are moved to it.

        A function, such as one that interpolates on a grid, may have no value beyond.
        """
        inside: Float = np.minimum(self.low + places * self._without_slack, self.low + self._domain)
        return inside

    @cached_property
    def _locator(self) -> Locator:
        assert self._mesh is not None
        return Locator.on(self._mesh, self.device)

    def holds(self, points: Float) -> NDArray[np.bool_]:
        """Whether each point is inside the domain, and not near its boundary."""
        if self._mesh is None or not len(points):
            return np.ones(len(points), bool)
        step = NEAR * float(self._domain.max())
        around = [points + step * np.array(way) for way in ((-1, -1), (-1, 1), (1, -1), (1, 1))]
        held: NDArray[np.bool_] = np.logical_and.reduce([self._contains(each) for each in around])
        return held

    def _contains(self, points: Float) -> NDArray[np.bool_]:
        inside: NDArray[np.bool_] = self._locator.locate(points) >= 0
        return inside

    def meets(
        self, places: DeviceArray, divided: NDArray[np.int64], rectangles: Int, edges: Int, level: int
    ) -> tuple[DeviceArray, Int, Int]:
        """Finds which quadrants of rectangles meet the domain, given that the rectangles do.

        Args:
            places: (2k,) columns and rows of the rectangles that are divided, and `divided`: (k,) their numbers.
            rectangles, edges: (p,) pairs of a rectangle and a boundary edge that may cross it, also of others.
            level: that of the quadrants.

        Returns:
            (4k,) 1 for those that meet it, and the pairs of a quadrant (4 * row + its number in the rectangle) and an
            edge.
        """
        device, scale, count = self.device, self.size / 2.0**level, QUADRANTS * len(divided)
        row_of = np.full(int(max(rectangles.max(initial=0), divided[-1])) + 1, -1, np.int32)
        row_of[divided] = np.arange(len(divided), dtype=np.int32)
        grid = pack(
            "SampledLevel", left=float(self.low[0]), bottom=float(self.low[1]), width=float(scale[0]),
            height=float(scale[1]),
        )  # fmt: skip
        meets, unsure, counts = device.zeros(count, np.int32), device.empty(count, np.int32), device.empty(2, np.int32)
        crossed, crossing = (device.empty(QUADRANTS * len(edges), np.int32) for _ in range(2))
        device.launch(
            "find_crossed_quadrants", 1, device.array(rectangles), device.array(edges), len(edges),
            device.array(row_of), places, len(divided), self._start, self._end, grid, meets,
            device.zeros(len(divided), np.int32), crossed, crossing, unsure, counts,
        )  # fmt: skip
        pairs, others = counts.content().tolist()
        crossed_by, edge = crossed.content()[:pairs], crossing.content()[:pairs]
        flags = meets.download() if others or self._doublings.any() else None
        if flags is None:
            return meets, crossed_by, edge
        if others:
            inner = unsure.content()[:others]
            flags[inner] = self._contains(self.low + (_corners(places, inner) + 0.5) * scale)
        if self._doublings.any():
            ends = 1 << np.maximum(level - self._doublings, 0)  # the columns and rows that the domain has
            flags[(_corners(places, np.arange(count, dtype=np.int32)) >= ends).any(axis=1)] = 0
            kept = flags[crossed_by] != 0
            crossed_by, edge = crossed_by[kept], edge[kept]
        return device.array(flags), crossed_by, edge


def _corners(places: DeviceArray, quadrants: Int) -> Int:
    """Returns the columns and rows of quadrants, numbered as 4 * row + number in the rectangle of that row."""
    row, number = np.divmod(quadrants, QUADRANTS)
    corners: Int = 2 * places.content().reshape(-1, 2)[row] + np.stack([number % 2, number // 2], axis=1)
    return corners


def _doublings(times: float) -> int:
    """Returns how often a side is doubled to come nearest to one that is `times` as long."""
    fraction, doublings = math.frexp(times)  # times = fraction * 2**doublings, 0.5 <= fraction < 1
    return doublings if fraction**2 > 0.5 else doublings - 1
