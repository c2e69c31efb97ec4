"""The first points of an outline around nothing: one in each empty box of a quadtree over its vertices.

They are placed before the rounds, and all are triangulated at once, where nearly all triangles are needles
(`dmr.refinement.strategies.first_points` explains why that is slow). A box that contains more than a few vertices is
divided, and a quarter without vertices gets a point near its center (Bern, Eppstein and Gilbert, "Provably good mesh
generation", 1994, section 3). As the box around it has many vertices, refinement would leave no more room there, and
results do not grow.
"""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray, flagged_indices, pack, scan, total
from dmr.mesh.location import box_tree
from dmr.mesh.location.box_tree import BoxTree, Frame
from dmr.mesh.types import Float, Mesh
from dmr.refinement.placement.outline import Segments
from dmr.refinement.placement.placing import Placement, triangulated_with
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.records import POINT
from dmr.triangulation.rounds.curve import CURVE_CELLS, survey

MODULES = ("geometry/points", "mesh/ordering", "placement/empty_boxes", *box_tree.MODULES)  # for `Device.prepare`
NO_POINTS = np.empty((0, 2))


def with_first_points(mesh: Mesh, state: DeviceMesh, most: int) -> Placement | None:
    """Triangulates a mesh again, with first points.

    Args:
        mesh: a valid mesh; state: the same on a device, as `admit` returns it.
        most: the most points to place.

    Returns:
        The mesh with these points; None if none can be placed.
    """
    state.device.prepare(*MODULES)
    points = first_points(mesh, state)[:most]
    if not len(points):
        return None
    return triangulated_with(mesh, Segments.admitted(state), points, state.device)


def first_points(mesh: Mesh, state: DeviceMesh) -> Float:
    """Returns points near the centers of the empty boxes in the domain; arguments are those of `with_first_points`."""
    device, vertices = state.device, state.points[: state.vertices]
    (low_x, low_y), (high_x, high_y) = survey(vertices)[0]
    extent = max(high_x - low_x, high_y - low_y)
    keys = device.empty(vertices.size, np.uint32)
    device.launch("curve_keys", vertices.size, vertices, low_x, low_y, CURVE_CELLS / extent, keys)
    grid = pack("CurveGrid", points=vertices, keys=keys, count=vertices.size, low_x=low_x, low_y=low_y, extent=extent)
    counts = device.empty(vertices.size, np.int32)
    device.launch("count_empty_boxes", vertices.size, grid, counts)
    first = scan(counts)
    count = int(total(first, vertices.size))
    if not count:
        return NO_POINTS
    placed, sides, kept = (device.empty(count, dtype) for dtype in (POINT, np.float64, np.int32))
    device.launch("place_in_empty_boxes", vertices.size, grid, first, placed, sides)
    edges = _tree(mesh, state)
    device.launch("keep_in_domain", count, edges.argument, state.subsegments, placed, sides, kept)
    return _gathered(placed, *flagged_indices(kept))


def _tree(mesh: Mesh, state: DeviceMesh) -> BoxTree:
    """Returns the subsegments as a tree."""
    records = state.subsegments[: state.subsegments_count].download()
    ends = np.stack([records["from"], records["to"], records["to"]], axis=1)
    return BoxTree(state.points[: state.vertices], ends, Frame.around(mesh.vertices), edges=True)


def _gathered(points: DeviceArray, places: DeviceArray, count: int) -> Float:
    gathered = points.device.empty(count, POINT)
    points.device.launch("gather_points", count, points, places, gathered)
    found: Float = gathered.download().view(np.float64).reshape(-1, 2)
    return found
