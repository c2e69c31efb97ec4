"""The boundary of a mesh on the host, where few things are looked at by Python: does it cross itself?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.errors import InvalidMeshError
from dmr.exact.sweep import OverlapError, sweep_boundary
from dmr.memory import DeviceArray
from dmr.meshes import Float, Int
from dmr.naming import named, number
from dmr.pipeline.records import POINT


@dataclass(frozen=True, eq=False)
class Outline:
    """The subsegments of a mesh and their ends, which are numbered among themselves here.

    Attributes:
        vertices: (k,) int32, rising: the ends, by their numbers on the device.
        points: (k, 2) float64, where they lie.
        subsegments: records; `from` and `to` are places in `vertices`, `left` and `right` triangles of the device.
    """

    vertices: Int
    points: Float
    subsegments: NDArray[Any]


def outline_of(subsegments: DeviceArray, points: DeviceArray) -> Outline:
    """Brings the subsegments and the points that they join to the host, and no others."""
    device = points.device
    listed = subsegments.download()
    joined = np.zeros(points.size, np.int32)
    joined[listed["from"]] = joined[listed["to"]] = 1
    ends = np.flatnonzero(joined).astype(np.int32)
    places = np.cumsum(joined, dtype=np.int32) - 1
    listed["from"], listed["to"] = places[listed["from"]], places[listed["to"]]
    gathered = device.empty(len(ends), POINT)
    device.launch("gather_points", len(ends), points, device.array(ends), gathered)
    return Outline(ends, gathered.download().view(np.float64).reshape(-1, 2), listed)


def check_boundary(outline: Outline, order: DeviceArray, triangle_order: DeviceArray) -> None:
    """Makes sure that the boundary does not cross itself, and that no part of the mesh lies within another.

    Args:
        outline: of the mesh.
        order, triangle_order: the user's numbers of its vertices and triangles.

    Raises:
        InvalidMeshError: it does; names the triangle or the vertex.
    """
    subsegments, points = outline.subsegments, outline.points
    boundary = subsegments[subsegments["right"] < 0]
    tails, heads = boundary["from"], boundary["to"]
    _check_touching(tails, outline, order)
    if _convex(points[tails], points[heads], tails, heads):
        return
    try:
        sweep_boundary(points[tails], points[heads])
    except OverlapError as found:
        ends = order.download()[outline.vertices[[tails[found.edge], heads[found.edge]]]]
        u, v = (number("vertex", end) for end in ends)
        raise InvalidMeshError(
            f"its boundary edge of vertices {u} and {v} {found}",
            "triangle",
            int(triangle_order.download()[boundary["left"][found.edge]]),
        ) from None


def _check_touching(tails: Int, outline: Outline, order: DeviceArray) -> None:
    """Parts that meet in a point share the vertex there: no two boundary vertices have the same coordinates."""
    points = outline.points
    vertices = np.unique(tails)
    places, first, count = np.unique(points[vertices], axis=0, return_index=True, return_counts=True)
    if len(places) == len(vertices):
        return
    twice = np.flatnonzero(count > 1)[0]
    one = vertices[first[twice]]
    other = next(int(v) for v in vertices if v != one and (points[v] == points[one]).all())
    low, high = sorted(int(v) for v in order.download()[outline.vertices[[one, other]]])
    raise InvalidMeshError(
        f"has the same coordinates as {named('vertex', low)}: where parts meet they must share one", "vertex", high
    )


def _convex(tails: Float, heads: Float, first: Int, last: Int) -> bool:
    """Whether the edges are one loop that turns left only, once around, by floating point: then no sweep is needed.

    A turn that rounding cannot tell from a right one counts as right, and the sweep decides.
    """
    if len(np.unique(first)) < len(first):
        return False
    following = np.empty(int(first.max()) + 1, np.int64)
    following[first] = np.arange(len(first))
    after = following[last]
    way = heads - tails
    cross = way[:, 0] * way[after, 1] - way[:, 1] * way[after, 0]
    size = np.abs(way[:, 0] * way[after, 1]) + np.abs(way[:, 1] * way[after, 0])
    upward = way[:, 1] > 0
    return bool((cross > 1e-14 * size).all()) and int((~upward & upward[after]).sum()) == 1
