"""The nodes of second-order elements on a device (cuda_src/locate/edge_nodes)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dmr.errors import InvalidMeshError
from dmr.memory import DeviceArray, scan, sort_pairs, total

MODULES = ("locate/edge_nodes", "primitives/gathering", "primitives/scan", "primitives/sorting")  # `Device.prepare`


class EdgeNodes(NamedTuple):
    """The nodes of second-order elements, in the order of `dmr.second_order`.

    Attributes:
        rows: (6 m,) int32, the nodes of each triangle; edges: the number of edges.
    """

    rows: DeviceArray
    edges: int


def edge_nodes(corners: DeviceArray, vertices: int) -> EdgeNodes:
    """Numbers the vertices and the midpoints of the edges of triangles; the device is held.

    Args:
        corners: (3 m,) int32 vertices of each triangle; vertices: their number.

    Raises:
        InvalidMeshError: there are more nodes than 32-bit indices can represent.
    """
    device, count = corners.device, corners.size
    rows = device.empty(2 * count, np.int32)
    if count == 0:
        return EdgeNodes(rows, 0)
    bits = max(vertices - 1, 1).bit_length()
    lower, higher, by_higher = (device.empty(count, np.uint32) for _ in range(3))
    device.launch("list_edge_ends", count, corners, lower, higher)
    order = sort_pairs(higher, bits=bits)[1]
    device.launch("gather_uint32", count, lower, order, by_higher)
    order = sort_pairs(by_higher, order, bits)[1]
    is_first = device.empty(count, np.int32)
    device.launch("flag_first_of_edges", count, lower, higher, order, is_first)
    before = scan(is_first)
    edges = total(before, count)
    if vertices + edges > 2**31 - 1:
        raise InvalidMeshError(f"{vertices} vertices and {edges} midpoints are more than 32-bit indices can name")
    device.launch("set_edge_nodes", count, corners, order, is_first, before, vertices, rows)
    return EdgeNodes(rows, edges)
