"""The constrained Delaunay triangulation of a planar straight-line graph on a device."""

from __future__ import annotations

import numpy as np

from dmr.memory import Device
from dmr.mesh.types import Int, Pslg
from dmr.triangulation import native
from dmr.triangulation.native import BEYOND_HULL, DEGENERATE, VERTEX_ON_SEGMENT
from dmr.triangulation.rounds.insertion import GROWTH, Insertion, Plane, empty_plane
from dmr.triangulation.rounds.numbering import export_pieces, export_triangles, number_triangles
from dmr.triangulation.rounds.order import POINT, insertion_order
from dmr.triangulation.rounds.parts import containing, part_labels
from dmr.triangulation.rounds.segments import Pieces, insert_segments

MODULES = (
    "mesh/flips",
    "mesh/ordering",
    "mesh/topology",
    "primitives/device_loop",
    "primitives/scan",
    "primitives/sorting",
    "refine/marking/marking",
    "triangulate/insertion",
    "triangulate/numbering",
    "triangulate/order",
    "triangulate/parts",
    "triangulate/segments",
)


def plane_by_rounds(pslg: Pslg, device: Device, *, convex_hull: bool = False) -> native.Plane | None:
    """Triangulates the convex hull of a graph whose coordinates are within range, and inserts its segments.

    Returns:
        What the serial code returns (`triangulate_plane`), the same bits but for the labels of parts, which are 0
        outside, otherwise 1 + the lowest triangle of the part. None if segments overlap or cross.

    Raises:
        InvalidMeshError: all points lie on one line.
        OutOfMemoryError: the device has too little memory.
    """
    device.prepare(*MODULES)
    with device.lock, device.current:
        order = insertion_order(device.array(np.ascontiguousarray(pslg.vertices), POINT), GROWTH)
        made = empty_plane(order)
        Insertion(made).run()
        ends = np.ascontiguousarray(pslg.segments, np.int32)
        pieces = insert_segments(made, device.array(ends.reshape(-1)))
        return None if pieces is None else _exported(pslg, made, pieces, convex_hull=convex_hull)


def _exported(pslg: Pslg, plane: Plane, pieces: Pieces, *, convex_hull: bool) -> native.Plane:
    numbering = number_triangles(plane)
    corners, neighbours = (table.detach().reshape(-1, 3) for table in export_triangles(plane, numbering))
    labels = part_labels(plane, numbering, hull_is_closed=convex_hull).detach()
    table = export_pieces(plane, numbering).detach()
    numbers, first = plane.order.numbers.download(), plane.order.first.download()
    same_as = np.empty_like(numbers)
    same_as[numbers] = numbers[first]
    on_hull, opposite = np.nonzero(neighbours < 0)

    def labels_of(triangles: Int) -> Int:
        """Returns the labels of triangles; negative numbers stand for themselves."""
        return np.where(triangles < 0, triangles, labels[np.maximum(triangles, 0)])

    def beside(sides: Int) -> Int:
        return labels_of(np.where(sides < 0, BEYOND_HULL, sides >> 2))

    hole_labels, region_labels = (
        labels_of(containing(plane, numbering, places)) for places in (pslg.holes, pslg.regions[:, :2])
    )
    return native.Plane(
        triangles=corners,
        neighbours=neighbours,
        labels=labels,
        edges=np.stack([table["from"], table["to"]], axis=1),
        edge_segments=pieces.segments.detach(),
        left=beside(table["left"]),
        right=beside(table["right"]),
        left_side=table["left"],
        right_side=table["right"],
        new_vertices=np.empty((0, 2)),
        conflicts=_conflicts(pslg, same_as, table["to"], pieces.counts.download()),
        same_as=same_as,
        hull=corners[on_hull, (opposite + 1) % 3],
        hole_labels=hole_labels,
        region_labels=region_labels,
    )


def _conflicts(pslg: Pslg, same_as: Int, piece_ends: Int, counts: Int) -> Int:
    """Lists the segments with vertices on them, and those without length; columns as in `native.Plane`."""
    nothing = np.flatnonzero(counts == 0)
    divided = np.flatnonzero(counts > 1)
    first_met = piece_ends[(np.cumsum(counts) - counts)[divided]]
    rows = [(DEGENERATE, nothing, same_as[pslg.segments[nothing, 0]]), (VERTEX_ON_SEGMENT, divided, first_met)]
    return np.concatenate(
        [np.stack([np.full_like(met, kind), found, np.full_like(met, -1), met], axis=1) for kind, found, met in rows]
    ).astype(np.int32)
