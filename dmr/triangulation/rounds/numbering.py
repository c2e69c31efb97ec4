"""The canonical numbering of the triangles of a plane (cuda_src/triangulate/numbering.cu)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dmr.memory import DeviceArray, flagged_indices, scan, sort_pairs
from dmr.mesh.types import Int
from dmr.triangulation.rounds.insertion import SUBSEGMENT, Plane


@dataclass(frozen=True)
class Numbering:
    """The triangles within the hull, in their canonical order.

    Attributes:
        listed: by triangle, its slot << 2 | the corner where it begins.
        number: by slot, its triangle; -1 for ghosts.
    """

    listed: DeviceArray
    number: DeviceArray


def number_triangles(plane: Plane) -> Numbering:
    """Numbers the triangles of a plane."""
    device, listed = plane.device, _listed(plane)
    number = device.empty(plane.slots, np.int32)
    number.fill(255)
    device.launch("number_triangles", listed.size, listed, number)
    return Numbering(listed, number)


def export_triangles(plane: Plane, numbering: Numbering) -> tuple[DeviceArray, DeviceArray]:
    """Returns the corners of the triangles, by the points' numbers, and their neighbours: 3 of each."""
    device, count = plane.device, numbering.listed.size
    corners, neighbours = device.empty(3 * count, np.int32), device.empty(3 * count, np.int32)
    device.launch("export_triangles", count, plane.view, numbering.listed, numbering.number, corners, neighbours)
    return corners, neighbours


def hull_vertices(plane: Plane, numbering: Numbering) -> Int:
    """Returns the vertices of the convex hull, by the points' numbers, unordered."""
    device = plane.device
    flags = device.empty(plane.slots, np.int32)
    device.launch("flag_ghosts", plane.slots, numbering.number, flags)
    ghosts, count = flagged_indices(flags)
    hull = device.empty(count, np.int32)
    device.launch("export_hull", count, plane.view, ghosts, hull)
    return hull.download()


def export_pieces(plane: Plane, numbering: Numbering) -> DeviceArray:
    """Returns the subsegments, with points as ends, and half-edges as sides: triangle << 2 | edge, -1 for none."""
    pieces = plane.device.empty(plane.subsegments.size, SUBSEGMENT)
    plane.device.launch("export_pieces", pieces.size, plane.view, numbering.listed, numbering.number, pieces)
    return pieces


def _listed(plane: Plane) -> DeviceArray:
    """Returns the triangles in their canonical order, each as slot << 2 | the corner where it begins."""
    device, view, ranks = plane.device, plane.view, plane.order.ranks
    points = plane.order.points.size
    counts = device.zeros(points, np.int32)
    device.launch("count_triangles", plane.slots, view, ranks, counts)
    starts = scan(counts)
    listed = device.empty(int(starts[points : points + 1].download()[0]), np.int32)
    many = device.zeros(1, np.int32)
    device.launch("list_triangles", plane.slots, view, ranks, starts, counts, listed)
    device.launch("sort_triangles", points, view, starts, listed, many)
    if many.download()[0]:
        keys = device.empty(listed.size, np.uint32)
        device.launch("second_keys", listed.size, view, listed, keys)
        listed = sort_pairs(keys, listed)[1]
        device.launch("lowest_keys", listed.size, view, listed, ranks, keys)
        listed = sort_pairs(keys, listed)[1]
    return listed
