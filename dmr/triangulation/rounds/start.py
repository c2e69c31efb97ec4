"""The plane with which the rounds begin: a sample of the vertices, triangulated by the serial code.

Rounds that insert the first vertices one or a few at a time would take as long as those that insert the last million.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.errors import InvalidMeshError
from dmr.memory import DeviceArray, constant
from dmr.mesh.types import Int, Pslg
from dmr.triangulation.native import triangulate_plane
from dmr.triangulation.plane import Plane as SerialPlane
from dmr.triangulation.rounds.insertion import NO_INDEX, SUBSEGMENT, TRIANGLE, Plane
from dmr.triangulation.rounds.order import POINT, Order

SAMPLE = 1024  # vertices, which one thread triangulates in 0.3 ms
LEAST_SHARE = 16  # of fewer vertices, the sample is this part
SLOT_BRANCHES = constant("SLOT_BRANCHES", "triangulate/hints.cuh")
GHOST = constant("GHOST", "triangulate/plane.cuh")


def first_plane(order: Order) -> Plane:
    """Makes a plane with the first vertices of an order.

    Raises:
        InvalidMeshError: all vertices lie on one line.
    """
    vertices = order.vertices
    inserted = min(max(vertices.size // LEAST_SHARE, 3), SAMPLE, vertices.size)
    sample = vertices[:inserted].download()
    found = _triangulated(order, sample)
    if found is None:  # the sample lies on one line
        sample = np.append(sample, np.int32(_third(order)))
        found = _triangulated(order, sample)
        assert found is not None
    return _plane_of(order, *found, inserted)


def _triangulated(order: Order, sample: Int) -> tuple[Int, SerialPlane] | None:
    """Triangulates a sample; returns it by the points' numbers, which break ties, and None if it lies on one line."""
    if len(sample) < 3:
        return None
    device = order.points.device
    listed = device.array(sample)
    points, numbers = device.empty(sample.size, POINT), device.empty(sample.size, np.int32)
    device.launch("gather_points", sample.size, order.points, listed, points)
    device.launch("compose", sample.size, listed, order.numbers, numbers)
    by_number = np.argsort(numbers.download())
    graph = Pslg(points.download().view(np.float64).reshape(-1, 2)[by_number], np.empty((0, 2), np.int32))
    try:
        return sample[by_number], triangulate_plane(graph, convex_hull=True, in_range=True)
    except InvalidMeshError:
        return None


def _third(order: Order) -> int:
    """Returns the first vertex of an order that is not on the line through its first two."""
    vertices, device = order.vertices, order.points.device
    third = device.array(np.array([NO_INDEX], np.int32))
    if vertices.size > 2:
        a, b = (int(vertex) for vertex in vertices[:2].download())
        device.launch("find_third", vertices.size, order.points, vertices, a, b, third)
    place = int(third.download()[0])
    if place == NO_INDEX:
        raise InvalidMeshError("all vertices lie on one line (or in one place): they span no triangle")
    return int(vertices[place : place + 1].download()[0])


def _plane_of(order: Order, sample: Int, found: SerialPlane, inserted: int) -> Plane:
    """Copies a triangulation of a sample to the device, and room for all vertices."""
    device, count = order.points.device, order.vertices.size
    records = _records(sample, found.triangles, found.neighbours)
    triangles = device.empty(2 * count, TRIANGLE)  # as many as the plane has in the end
    triangles.fill(0)
    triangles[: records.size].upload(records)
    plane = Plane(device, order, triangles, _no_places(order), records.size, device.empty(0, SUBSEGMENT), inserted)
    slots = np.empty(sample.size, np.int32)
    slots[found.triangles.ravel()] = np.repeat(np.arange(len(found.triangles), dtype=np.int32), 3)
    device.launch("note_vertices", sample.size, plane.view, device.array(sample), device.array(slots))
    return plane


def _records(sample: Int, corners: Int, neighbours: Int) -> NDArray[np.void]:
    """Returns the records of triangles, and of the ghosts (v, u, GHOST) beyond the edges u to v of the hull."""
    count = len(corners)
    inner, edge = np.nonzero(neighbours < 0)
    u, v = corners[inner, (edge + 1) % 3], corners[inner, (edge + 2) % 3]
    ghosts = np.arange(count, count + len(inner), dtype=np.int32)
    starting, ending = np.empty(sample.size, np.int32), np.empty(sample.size, np.int32)
    starting[u], ending[v] = ghosts, ghosts
    records = np.zeros(count + len(inner), TRIANGLE)
    records["vertex"][:count] = sample[corners]
    records["link"][:count] = neighbours
    records["link"][inner, edge] = ghosts
    records["vertex"][count:] = np.stack([sample[v], sample[u], np.full_like(u, GHOST)], axis=1)
    records["link"][count:] = np.stack([ending[u], starting[v], inner], axis=1)
    return records


def _no_places(order: Order) -> DeviceArray:
    """Returns the places of vertices, and the levels above them, without entries (cuda_src/triangulate/hints.cuh)."""
    entries = size = order.points.size
    while size > 1:
        size = -(-size // SLOT_BRANCHES)
        entries += size
    places = order.points.device.empty(entries, np.int32)
    places.fill(255)
    return places
