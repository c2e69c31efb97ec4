"""Inserts segments into a plane by rounds of kernels (cuda_src/triangulate/segments).

divide the segments at the vertices on them
make the pieces that are edges subsegments
until no piece waits: claim the triangles that each crosses, insert those that own theirs
flip edges until the plane is constrained Delaunay
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dmr.errors import InternalError
from dmr.memory import DeviceArray, compact, flagged_indices, scan, total
from dmr.triangulation.rounds.epochs import Epochs
from dmr.triangulation.rounds.flips import TooManyRounds, flip_all
from dmr.triangulation.rounds.insertion import SUBSEGMENT, Plane

# Uniform points, grids and outlines need up to 21 rounds of flips. Where a piece lies between rows of n vertices, there
# may be n / 2 rounds with a few flips each: the serial code, which takes expected linear time, is faster (40,000
# vertices a row took an H100 6.2 s, and its host 0.07 s).
MOST_FLIP_ROUNDS = 128


@dataclass(frozen=True)
class Pieces:
    """The pieces of segments, by segment and along each; the plane's subsegments are in the same order.

    Attributes:
        counts: (s,) int32 the pieces of each segment, 0 if its ends are the same vertex.
        segments: the segment of each piece.
    """

    counts: DeviceArray
    segments: DeviceArray


def insert_segments(plane: Plane, ends: DeviceArray) -> Pieces | None:
    """Inserts segments, each given by two points.

    Returns:
        The pieces; None if segments overlap or cross, or need many rounds of flips, which leaves the plane unfinished.
    """
    device, count = plane.device, ends.size // 2
    vertex_of = _vertices_of_points(plane)
    counts = device.empty(count, np.int32)
    device.launch("count_pieces", count, plane.view, ends, vertex_of, counts)
    offsets = scan(counts)
    pieces = total(offsets, count)
    segments, plane.subsegments = device.empty(pieces, np.int32), device.empty(pieces, SUBSEGMENT)
    device.launch("list_pieces", count, plane.view, ends, vertex_of, offsets, segments)
    missing, conflict = device.empty(pieces, np.int32), device.zeros(1, np.int32)
    device.launch("find_edges", pieces, plane.view, missing)
    device.launch("constrain_edges", pieces, plane.view, missing, conflict)
    waiting, left = flagged_indices(missing)
    if not conflict.download()[0] and (not left or _insert_waiting(plane, waiting, conflict)):
        return Pieces(counts, segments)
    return None


def _vertices_of_points(plane: Plane) -> DeviceArray:
    """Returns the vertex of each point: of equal ones, that of the first."""
    device, order, count = plane.device, plane.order, plane.order.points.size
    places, vertex_of = device.empty(count, np.int32), device.empty(count, np.int32)
    device.launch("invert_order", count, order.numbers, places)
    device.launch("compose", count, places, order.first, vertex_of)
    return vertex_of


def _insert_waiting(plane: Plane, waiting: DeviceArray, conflict: DeviceArray) -> bool:
    """Inserts pieces that are not edges; returns whether none met another segment or needed many flips."""
    device, epochs = plane.device, Epochs()
    epochs.start_again(plane)
    changed = device.zeros(plane.slots, np.int32)
    left = waiting.size
    while left:
        epoch = epochs.next(plane)
        ways, lost = device.empty(left, np.int32), device.empty(left, np.int32)
        device.launch("claim_strips", left, plane.view, waiting, epoch, ways, conflict)
        if conflict.download()[0]:
            return False
        device.launch("check_strips", left, plane.view, waiting, ways, epoch, lost)
        device.launch("insert_strips", left, plane.view, waiting, ways, lost, changed)
        before = left
        waiting, left = compact(waiting, lost, left)
        if left == before:
            raise InternalError("a round of segments has no winner: please report this input")

    def find(listed: DeviceArray, count: int, edges: DeviceArray, flags: DeviceArray) -> None:
        device.launch("find_plane_flips", count, plane.view, listed, edges, flags)

    try:
        flip_all(plane, epochs, changed, find, MOST_FLIP_ROUNDS)
    except TooManyRounds:
        return False
    return True
