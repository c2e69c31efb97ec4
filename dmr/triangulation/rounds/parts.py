"""The parts into which segments divide a plane, by a parallel flood (cuda_src/triangulate/parts.cu)."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray, scan, total
from dmr.mesh.types import Float, Int
from dmr.triangulation.rounds.insertion import Plane
from dmr.triangulation.rounds.numbering import Numbering
from dmr.triangulation.rounds.order import POINT


def part_labels(plane: Plane, numbering: Numbering, *, hull_is_closed: bool) -> tuple[DeviceArray, int]:
    """Labels the part of each triangle: 0 outside; parts count from 1 on, in the order of their lowest triangles.

    Args:
        plane: with its subsegments; numbering: its triangles.
        hull_is_closed: whether parts end at the convex hull, as if its edges were segments.

    Returns:
        The labels, and a number that all are below.
    """
    device, count = plane.device, numbering.listed.size
    if not plane.subsegments.size:
        labels = device.empty(count, np.int32)
        device.launch("fill_int32", count, int(hull_is_closed), labels)
        return labels, 1 + hull_is_closed
    roots, labels = device.empty(count + 1, np.int32), device.empty(count, np.int32)
    device.launch("fill_indices", count + 1, roots)
    device.launch("join_parts", count, plane.view, numbering.listed, numbering.number, hull_is_closed, roots)
    device.launch("flag_lowest", count, roots, labels)
    before = scan(labels)
    device.launch("label_parts", count, roots, before, labels)
    return labels, total(before, count) + 1


def labels_at(labels: DeviceArray, places: DeviceArray) -> Int:
    """Returns the labels of listed triangles; negative numbers stand for themselves."""
    device = labels.device
    found = device.empty(places.size, np.int32)
    device.launch("gather_labels", places.size, labels, places, found)
    return found.download()


def labels_beside(labels: DeviceArray, pieces: DeviceArray) -> tuple[Int, Int]:
    """Returns the labels on the left and on the right of exported pieces; `BEYOND_HULL` beyond the hull."""
    device = labels.device
    left, right = device.empty(pieces.size, np.int32), device.empty(pieces.size, np.int32)
    device.launch("labels_beside", pieces.size, pieces, labels, left, right)
    return left.download(), right.download()


def containing(plane: Plane, numbering: Numbering, places: Float) -> DeviceArray:
    """Returns the triangle that contains each of (n, 2) places, or `ON_SEGMENT` or `BEYOND_HULL`."""
    device = plane.device
    found = device.empty(len(places), np.int32)
    given = device.array(np.ascontiguousarray(places), POINT)
    device.launch("locate_places", len(places), plane.view, given, numbering.listed, numbering.number, found)
    return found
