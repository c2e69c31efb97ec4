"""The boundary of a mesh on the host: its subsegments and their ends, and the check that it does not cross itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.errors import InvalidMeshError
from dmr.memory import DeviceArray
from dmr.mesh.naming import named, number
from dmr.mesh.types import Float, Int
from dmr.refinement.state.records import POINT
from dmr.triangulation.sweep import CROSSES, INSIDE, ON_ANOTHER, OUTSIDE, SAME_PLACE, TOUCHES, sweep_edges

# Descriptions of a faulty edge, as in `dmr.validate`.
REASONS = {
    TOUCHES: "crosses or touches the boundary near ({x!r}, {y!r})",
    CROSSES: "crosses the boundary near ({x!r}, {y!r})",
    ON_ANOTHER: "lies on another boundary edge near ({x!r}, {y!r})",
    INSIDE: "lies inside another part of the mesh: the mesh overlaps itself",
    OUTSIDE: "lies outside of the part of the mesh it bounds: the mesh overlaps itself",
}


@dataclass(frozen=True, eq=False)
class Outline:
    """The subsegments of a mesh and their ends, with a numbering of their own vertices.

    Attributes:
        vertices: (k,) int32, ascending: the ends, by their numbers on the device.
        points: (k, 2) float64, their coordinates.
        subsegments: records; `from` and `to` are places in `vertices`, `left` and `right` triangles of the device.
    """

    vertices: Int
    points: Float
    subsegments: NDArray[Any]


def outline_of(subsegments: DeviceArray, points: DeviceArray) -> Outline:
    """Copies the subsegments and their end points to the host, and no other points."""
    device = points.device
    listed = subsegments.content()
    joined = np.zeros(points.size, np.bool_)
    joined[listed["from"]] = joined[listed["to"]] = True
    if joined.all():  # the numbers stay the same
        return Outline(np.arange(points.size, dtype=np.int32), points.content().view(np.float64).reshape(-1, 2), listed)
    ends = np.flatnonzero(joined).astype(np.int32)
    places = np.empty(points.size, np.int32)  # only the entries of the ends are written and take memory
    places[ends] = np.arange(len(ends), dtype=np.int32)
    listed = listed.copy()
    listed["from"], listed["to"] = places[listed["from"]], places[listed["to"]]
    gathered = device.empty(len(ends), POINT)
    device.launch("gather_points", len(ends), points, device.array(ends), gathered)
    return Outline(ends, gathered.download().view(np.float64).reshape(-1, 2), listed)


def check_boundary(outline: Outline, order: DeviceArray, triangle_order: DeviceArray) -> None:
    """Checks that the boundary does not cross itself, and that no part of the mesh lies within another.

    Args:
        outline: of the mesh.
        order, triangle_order: the user's numbers of its vertices and triangles.

    Raises:
        InvalidMeshError: one of them does; names the triangle or the vertex.
    """
    boundary = outline.subsegments[outline.subsegments["right"] < 0]
    tails, heads = boundary["from"], boundary["to"]
    found = sweep_edges(outline.points, tails, heads)
    if found is None:
        return
    numbers = order.download()
    if found.verdict == SAME_PLACE:  # parts that meet at a point share the vertex there
        low, high = sorted(int(v) for v in numbers[outline.vertices[[found.vertex, found.other]]])
        raise InvalidMeshError(
            f"has the same coordinates as {named('vertex', low)}: where parts meet they must share one", "vertex", high
        )
    u, v = (number("vertex", end) for end in numbers[outline.vertices[[tails[found.edge], heads[found.edge]]]])
    x, y = outline.points[found.vertex].tolist()
    raise InvalidMeshError(
        f"its boundary edge of vertices {u} and {v} {REASONS[found.verdict].format(x=x, y=y)}",
        "triangle",
        int(triangle_order.download()[boundary["left"][found.edge]]),
    )
