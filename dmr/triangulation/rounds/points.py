"""The Delaunay triangulation of points on a device."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dmr.memory import Device
from dmr.mesh.types import Float, Int
from dmr.triangulation.rounds.insertion import GROWTH, Insertion, empty_plane
from dmr.triangulation.rounds.numbering import numbered_triangles
from dmr.triangulation.rounds.order import POINT, insertion_order

MODULES = (
    "mesh/ordering",
    "mesh/topology",
    "primitives/scan",
    "primitives/sorting",
    "refine/marking/marking",
    "triangulate/insertion",
    "triangulate/numbering",
    "triangulate/order",
)


@dataclass(frozen=True)
class Triangulated:
    """A Delaunay triangulation of points.

    Attributes:
        triangles: (t, 3) corners, counter-clockwise, by the points' numbers; equal points are represented by the first.
        neighbours: (t, 3) the triangles across the edges, numbered as in `Mesh`; -1 beyond the hull.
        same_as: (n,) the first point with the same coordinates.
    """

    triangles: Int
    neighbours: Int
    same_as: Int


def triangulate_points(points: Float, device: Device) -> Triangulated:
    """Triangulates (n, 2) points whose coordinates are within range.

    Raises:
        InvalidMeshError: all points lie on one line.
        OutOfMemoryError: the device has too little memory.
    """
    device.prepare(*MODULES)
    with device.lock, device.current:
        given = device.array(np.ascontiguousarray(points), POINT)
        order = insertion_order(given, GROWTH)
        plane = empty_plane(order)
        Insertion(plane).run()
        corners, neighbours = numbered_triangles(plane)
        numbers, first = order.numbers.download(), order.first.download()
        same_as = np.empty_like(numbers)
        same_as[numbers] = numbers[first]
        return Triangulated(corners.download().reshape(-1, 3), neighbours.download().reshape(-1, 3), same_as)
