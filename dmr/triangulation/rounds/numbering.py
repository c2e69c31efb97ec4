"""The canonical numbering of the triangles of a plane (cuda_src/triangulate/numbering.cu)."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray, scan, sort_pairs
from dmr.triangulation.rounds.insertion import Plane


def numbered_triangles(plane: Plane) -> tuple[DeviceArray, DeviceArray]:
    """Returns the corners of the triangles within the hull, by the points' numbers, and their neighbours: 3 of each."""
    device, view = plane.device, plane.view
    listed = _listed(plane)
    number = device.empty(plane.count, np.int32)
    number.fill(255)
    device.launch("number_triangles", listed.size, listed, number)
    corners, neighbours = device.empty(3 * listed.size, np.int32), device.empty(3 * listed.size, np.int32)
    device.launch("export_triangles", listed.size, view, listed, number, corners, neighbours)
    return corners, neighbours


def _listed(plane: Plane) -> DeviceArray:
    """Returns the triangles in their canonical order, each as slot << 2 | the corner where it begins."""
    device, view, ranks = plane.device, plane.view, plane.order.ranks
    points = plane.order.points.size
    counts = device.zeros(points, np.int32)
    device.launch("count_triangles", plane.count, view, ranks, counts)
    starts = scan(counts)
    listed = device.empty(int(starts[points : points + 1].download()[0]), np.int32)
    many = device.zeros(1, np.int32)
    device.launch("list_triangles", plane.count, view, ranks, starts, counts, listed)
    device.launch("sort_triangles", points, view, starts, listed, many)
    if many.download()[0]:
        keys = device.empty(listed.size, np.uint32)
        device.launch("second_keys", listed.size, view, listed, keys)
        listed = sort_pairs(keys, listed)[1]
        device.launch("lowest_keys", listed.size, view, listed, ranks, keys)
        listed = sort_pairs(keys, listed)[1]
    return listed
