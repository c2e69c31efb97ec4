"""Triangle adjacency: the neighbour table of a triangle list."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.errors import InvalidMeshError
from dmr.memory import open_device, record, scan
from dmr.mesh.naming import named, number

Int = NDArray[np.int32]


def find_neighbours(triangles: Int, vertex_count: int) -> Int:
    """Compute the neighbour table of a triangle list.

    Args:
        triangles: (m, 3) int32, counter-clockwise; m below 2^29.
        vertex_count: the number of vertices.

    Returns:
        (m, 3) int32, -1 if an edge has no triangle on its other side.

    Raises:
        InvalidMeshError: two triangles share a directed edge (overlap, or an edge of three triangles).
    """
    # List the edges of each vertex, then look up each edge at one of its ends (cuda_src/mesh/topology.cu).
    device = open_device("cpu")
    count = len(triangles)
    corners = device.array(triangles, record("TriangleCorners"))
    degrees = device.zeros(vertex_count, np.int32)
    device.launch("count_sides_out", count, corners, degrees)
    first = scan(degrees)
    degrees.fill(0)
    half_edges = device.empty(3 * count, np.int32)
    device.launch("list_sides_out", count, corners, first, degrees, half_edges)
    neighbours, overlapping = device.empty(3 * count, np.int32), device.zeros(1, np.int32)
    device.launch("find_neighbours", count, corners, first, half_edges, neighbours, overlapping)
    if overlapping.download()[0]:
        _refuse_overlap(triangles, vertex_count)
    table: NDArray[Any] = neighbours.detach()
    return table.reshape(-1, 3)


def _refuse_overlap(triangles: Int, vertex_count: int) -> None:
    """Raise an error that names two triangles on the same side of an edge, for the first such edge by vertices."""
    starts = triangles[:, [1, 2, 0]].ravel().astype(np.int64)
    ends = triangles[:, [2, 0, 1]].ravel().astype(np.int64)
    forward = starts * vertex_count + ends
    order = np.argsort(forward, kind="stable")
    ordered = forward[order]
    twice = np.flatnonzero(ordered[1:] == ordered[:-1])
    first, second = order[twice[0]], order[twice[0] + 1]
    u, v = number("vertex", starts[first]), number("vertex", ends[first])
    raise InvalidMeshError(
        f"lies on the same side of edge ({u}, {v}) as {named('triangle', first // 3)}", "triangle", int(second // 3)
    )
