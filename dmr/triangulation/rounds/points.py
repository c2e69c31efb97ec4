"""The Delaunay triangulation of points on a device."""

from __future__ import annotations

import numpy as np

from dmr.memory import Device
from dmr.mesh.types import Float
from dmr.triangulation.native import Plane
from dmr.triangulation.rounds.insertion import GROWTH, Insertion, empty_plane
from dmr.triangulation.rounds.numbering import numbered_triangles
from dmr.triangulation.rounds.order import POINT, insertion_order

MODULES = (
    "mesh/ordering",
    "mesh/topology",
    "primitives/device_loop",
    "primitives/scan",
    "primitives/sorting",
    "refine/marking/marking",
    "triangulate/insertion",
    "triangulate/numbering",
    "triangulate/order",
)


def plane_of_points(points: Float, device: Device) -> Plane:
    """Triangulates the convex hull of (n, 2) points whose coordinates are within range.

    Returns:
        What the serial code returns for a graph without segments (`triangulate_plane`), the same bits; all triangles
        are in the part with the label 1.

    Raises:
        InvalidMeshError: all points lie on one line.
        OutOfMemoryError: the device has too little memory.
    """
    device.prepare(*MODULES)
    with device.lock, device.current:
        order = insertion_order(device.array(np.ascontiguousarray(points), POINT), GROWTH)
        made = empty_plane(order)
        Insertion(made).run()
        corners, neighbours = (table.detach().reshape(-1, 3) for table in numbered_triangles(made))
        numbers, first = order.numbers.download(), order.first.download()
    same_as = np.empty_like(numbers)
    same_as[numbers] = numbers[first]
    on_hull, opposite = np.nonzero(neighbours < 0)
    nothing = np.empty(0, np.int32)
    return Plane(
        triangles=corners,
        neighbours=neighbours,
        labels=np.ones(len(corners), np.int32),
        edges=np.empty((0, 2), np.int32),
        edge_segments=nothing,
        left=nothing,
        right=nothing,
        left_side=nothing,
        right_side=nothing,
        new_vertices=np.empty((0, 2)),
        conflicts=np.empty((0, 4), np.int32),
        same_as=same_as,
        hull=corners[on_hull, (opposite + 1) % 3],
        hole_labels=nothing,
        region_labels=nothing,
    )
