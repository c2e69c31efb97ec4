"""The part of the plane in which a function is sampled: a rectangle, or the triangles of a mesh."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.cached import cached_property
from dmr.common.number_arrays import distinct
from dmr.errors import InvalidMeshError, OptionError
from dmr.memory import Device, DeviceArray, Packed, pack, record
from dmr.mesh.arguments import check_kind
from dmr.mesh.edges import unique_edges
from dmr.mesh.location.locator import Locator
from dmr.mesh.shapes import bounding_box
from dmr.mesh.types import Float, Mesh, Pslg, check_indices
from dmr.sizing.source import numbers

POINT = record("Point")
NEAR = 2.0**-30  # points this near to the boundary, relative to the extent, count as outside
SLACK = 2.0**-50  # so that places on the upper edge of the domain lie in its last quadrants, not in those beyond


class Extent:
    """A rectangle, and the boundary of the domain in it.

    In one direction the domain may fill only a part of it: a power of 1/2, less SLACK, so that the domain ends where
    quadrants do, and these are at most sqrt(2) times as wide as high, or the other way round.

    Attributes:
        low: (2,) the lower left corner; size: (2,) width and height.
        edges: the number of boundary edges; start, end: their ends; device: the CPU.
    """

    def __init__(self, over: Mesh | ArrayLike, device: Device) -> None:
        """Prepares a domain.

        Args:
            over: a mesh with triangles, or the rectangle (x0, y0, x1, y1); device: where points are located.

        Raises:
            OptionError: the rectangle is not one of positive width and height, or the mesh has no triangles.
            InvalidMeshError: all triangles lie on one horizontal or vertical line.
        """
        self._mesh, self.device = over if isinstance(over, Mesh) else None, device
        if isinstance(over, Mesh):
            check_indices(over)
            if not len(over.triangles):
                raise OptionError("sizes are sampled in a mesh with triangles, and this mesh has none")
            box = np.array(bounding_box(over.vertices[distinct(over.triangles)]))
            if not (box[2:] > box[:2]).all():
                raise InvalidMeshError("all triangles lie on one line: there is no area in which sizes are sampled")
            edges, count = unique_edges(over)
            start, end = (over.vertices[edges[count == 1, k]] for k in (0, 1))
        else:
            if isinstance(over, Pslg):
                check_kind(over, Mesh, name="what sizes are sampled in")
            box = numbers(over, "the rectangle")
            if box.shape != (4,) or not np.isfinite(box).all() or not (box[2:] > box[:2]).all():
                raise OptionError(
                    "sizes are sampled in a Mesh or in a rectangle (x0, y0, x1, y1) with x0 < x1, y0 < y1"
                )
            start = end = np.empty((0, 2))
        self.low, domain, self.edges = box[:2], box[2:] - box[:2], len(start)
        self._domain, self._doublings = domain, [_doublings(float(domain.max() / each)) for each in domain]
        self.size = self._without_slack * [1 + SLACK if doublings > 0 else 1.0 for doublings in self._doublings]
        self.start, self.end = device.array(start, POINT), device.array(end, POINT)

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

    def packed_level(self, level: int) -> Packed:
        """Returns the kernel argument with the quadrants of a level."""
        width, height = (self.size / 2.0**level).tolist()
        columns, rows = (1 << max(level - doublings, 0) for doublings in self._doublings)
        return pack(
            "SampledLevel", left=float(self.low[0]), bottom=float(self.low[1]), width=width, height=height,
            columns=columns, rows=rows,
        )  # fmt: skip

    def packed_places(self, level: int) -> Packed:
        """Returns the kernel argument with which columns and rows of a level become points, as by `points`."""
        (width, height), (right, top) = self._without_slack.tolist(), (self.low + self._domain).tolist()
        return pack(
            "SampledPlaces", left=float(self.low[0]), bottom=float(self.low[1]), width=width, height=height,
            right=right, top=top, step=2.0**-level,
        )  # fmt: skip

    def locate(self, unsure: DeviceArray, level: Packed, places: DeviceArray, meets: DeviceArray) -> None:
        """Decides which quadrants meet the domain where edges do not.

        Args:
            unsure: the quadrants that no edge crosses, in rectangles that one crosses, as 4 * row + their number there.
            level: theirs, packed; places: (2k,) columns and rows of the rectangles, by row.
            meets: (4k,) receives 1 for those that meet the domain.
        """
        self.device.launch("locate_quadrants", unsure.size, unsure, self._locator.packed_tree, level, places, meets)


def _doublings(times: float) -> int:
    """Returns how often a side is doubled to come nearest to one that is `times` as long."""
    fraction, doublings = math.frexp(times)  # times = fraction * 2**doublings, 0.5 <= fraction < 1
    return doublings if fraction**2 > 0.5 else doublings - 1
