"""The parts into which segments divide a plane, by a parallel flood (cuda_src/triangulate/parts.cu)."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray
from dmr.mesh.types import Float, Int
from dmr.triangulation.rounds.insertion import Plane
from dmr.triangulation.rounds.numbering import Numbering
from dmr.triangulation.rounds.order import POINT


def part_labels(plane: Plane, numbering: Numbering, *, hull_is_closed: bool) -> DeviceArray:
    """Labels the part of each triangle: 0 outside, otherwise 1 + the lowest triangle of the part.

    Args:
        plane: with its subsegments; numbering: its triangles.
        hull_is_closed: whether parts end at the convex hull, as if its edges were segments.
    """
    device, count = plane.device, numbering.listed.size
    roots, labels = device.empty(count + 1, np.int32), device.empty(count, np.int32)
    device.launch("fill_indices", count + 1, roots)
    device.launch("join_parts", count, plane.view, numbering.listed, numbering.number, hull_is_closed, roots)
    device.launch("label_parts", count, roots, labels)
    return labels


def containing(plane: Plane, numbering: Numbering, places: Float) -> Int:
    """Returns the triangle that contains each of (n, 2) places, or `ON_SEGMENT` or `BEYOND_HULL`."""
    device = plane.device
    found = device.empty(len(places), np.int32)
    given = device.array(np.ascontiguousarray(places), POINT)
    device.launch("locate_places", len(places), plane.view, given, numbering.listed, numbering.number, found)
    return found.download()
