"""The constrained Delaunay triangulation of a planar straight-line graph on a device."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dmr.memory import Device
from dmr.mesh.types import Int, Pslg
from dmr.triangulation.native import DEGENERATE, VERTEX_ON_SEGMENT
from dmr.triangulation.plane import Plane
from dmr.triangulation.rounds import insertion
from dmr.triangulation.rounds.curve import surveyed
from dmr.triangulation.rounds.insertion import GROWTH, Insertion
from dmr.triangulation.rounds.numbering import export_pieces, export_triangles, hull_vertices, number_triangles
from dmr.triangulation.rounds.order import POINT, insertion_order
from dmr.triangulation.rounds.parts import containing, labels_at, labels_beside, part_labels
from dmr.triangulation.rounds.segments import Pieces, insert_segments
from dmr.triangulation.rounds.start import first_plane
from dmr.triangulation.rounds.triangles import DeviceTriangles

MODULES = (
    "geometry/points",
    "mesh/flips",
    "mesh/ordering",
    "mesh/topology",
    "primitives/device_loop",
    "primitives/gathering",
    "primitives/scan",
    "primitives/sorting",
    "refine/marking/marking",
    "triangulate/insertion",
    "triangulate/numbering",
    "triangulate/order",
    "triangulate/parts",
    "triangulate/segments",
)


def plane_by_rounds(
    pslg: Pslg, device: Device, *, convex_hull: bool = False, meanwhile: Callable[[], None] | None = None
) -> Plane | None:
    """Triangulates the convex hull of a graph, and inserts its segments.

    Args:
        pslg: the graph; device: where the rounds run.
        convex_hull: as for `triangulate_plane`.
        meanwhile: work for the host while a GPU inserts the vertices.

    Returns:
        What the serial code returns (`triangulate_plane`), the same bits; its triangles are on the device. None if
        segments overlap or cross, or need many rounds of flips.

    Raises:
        InvalidMeshError: coordinates are out of range, or all points lie on one line.
        OutOfMemoryError: the device has too little memory.
    """
    device.prepare(*MODULES)
    with device.lock, device.current:
        points = device.as_input(pslg.vertices.reshape(-1).view(POINT))
        order = insertion_order(points, surveyed(pslg.vertices, points), GROWTH)
        made = first_plane(order)
        Insertion(made).run(meanwhile)
        pieces = insert_segments(made, device.as_input(pslg.segments.reshape(-1)))
        return None if pieces is None else _exported(pslg, made, pieces, convex_hull=convex_hull)


def _exported(pslg: Pslg, plane: insertion.Plane, pieces: Pieces, *, convex_hull: bool) -> Plane:
    order = plane.order
    numbering = number_triangles(plane)
    corners, neighbours = export_triangles(plane, numbering)
    labels, parts = part_labels(plane, numbering, hull_is_closed=convex_hull)
    table = export_pieces(plane, numbering)
    left, right = labels_beside(labels, table)
    columns = np.ascontiguousarray(table.download().view(np.int32).reshape(-1, 4).T)
    hole_labels, region_labels = (
        labels_at(labels, containing(plane, numbering, places)) for places in (pslg.holes, pslg.regions[:, :2])
    )
    same_as = None
    if order.vertices.size < order.points.size:
        numbers, first = order.numbers.download(), order.first.download()
        same_as = np.empty_like(numbers)
        same_as[numbers] = numbers[first]
    return Plane(
        tables=DeviceTriangles(order, corners, neighbours, labels),
        parts=parts,
        edges=np.ascontiguousarray(columns[:2].T),
        edge_segments=pieces.segments.download(),
        left=left,
        right=right,
        left_side=columns[2],
        right_side=columns[3],
        new_vertices=np.empty((0, 2)),
        conflicts=_conflicts(pslg, same_as, columns[1], pieces.counts.download()),
        same_as=same_as,
        hull=hull_vertices(plane, numbering),
        hole_labels=hole_labels,
        region_labels=region_labels,
    )


def _conflicts(pslg: Pslg, same_as: Int | None, piece_ends: Int, counts: Int) -> Int:
    """Lists the segments with vertices on them, and those without length; columns as in `Plane`."""
    nothing = np.flatnonzero(counts == 0)
    ends = pslg.segments[nothing, 0]
    divided = np.flatnonzero(counts > 1)
    first_met = piece_ends[(np.cumsum(counts) - counts)[divided]]
    rows = [
        (DEGENERATE, nothing, ends if same_as is None else same_as[ends]),
        (VERTEX_ON_SEGMENT, divided, first_met),
    ]
    return np.concatenate(
        [np.stack([np.full_like(met, kind), found, np.full_like(met, -1), met], axis=1) for kind, found, met in rows]
    ).astype(np.int32)
