"""Divisions of segments that rounding has spoiled: the vertices on segments are rounded.

They can make pieces cross, coincide with other vertices, or pass on the wrong side of something that is very near.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.memory import Device, open_device
from dmr.mesh.types import Float, Int, Mesh
from dmr.refinement.placement.chains import Division
from dmr.refinement.placement.outline import Segments
from dmr.triangulation.plane import OUTSIDE, Plane


@dataclass(frozen=True, eq=False)
class Doubles:
    """Places of a division that rounding makes coincide with earlier vertices, which then represent them.

    Attributes:
        rows: (k,) in the division; first: (k,) int32 the vertices that represent them.
        segment, parameter: (k,) those of the division.
        met: the segments that have the same place as another one, which is no vertex of the input.
    """

    rows: NDArray[np.int64]
    first: Int
    segment: Int
    parameter: Float
    met: NDArray[np.int64]

    @classmethod
    def of(cls, division: Division, given: int, same_as: Int | None) -> Doubles:
        """Finds them.

        Args:
            division: whose vertices follow those of the input, `given` in number.
            same_as: the first vertex with the same coordinates, of these and further ones; None if no two have the
                same.
        """
        if same_as is None:
            rows, first = np.empty(0, np.int64), np.empty(0, np.int32)
        else:
            end = given + len(division.segment)
            rows = np.flatnonzero(same_as[given:end] != np.arange(given, end))
            first = same_as[given:end][rows].astype(np.int32)
        segment = division.segment[rows]
        of_division = first >= given
        met = distinct(segment[of_division], division.segment[first[of_division] - given]).astype(np.int64)
        return cls(rows, first, segment, division.parameter[rows], met)

    def refused(self, *, passes: bool) -> NDArray[np.int64]:
        """Returns the segments that may not be divided there: a vertex has its place on one segment only.

        Args:
            passes: whether a segment may pass through vertices of the input.
        """
        if not passes:
            return distinct(self.met, self.segment).astype(np.int64)
        several = np.bincount(self.first)[self.first] > 1 if len(self.first) else np.zeros(0, bool)
        return distinct(self.met, self.segment[several]).astype(np.int64)


def crossing(plane: Plane, origin: Int) -> NDArray[np.int64]:
    """Returns the segments whose division makes pieces meet or cross."""
    if not len(plane.conflicts):
        return np.empty(0, np.int64)
    segments = [origin[plane.conflicts[:, 1]]]
    others = plane.conflicts[:, 2]
    segments.append(origin[others[others >= 0]])
    has_new = np.bincount(origin) > 1
    found = distinct(*segments)
    return found[has_new[found]].astype(np.int64)


def beside_lost(
    mesh: Mesh, segments: Segments, division: Division, count: int, plane: Plane, origin: Int, device: Device
) -> NDArray[np.int64]:
    """Returns the segments whose pieces have moved across vertices or segments of the input, which are outside now.

    Args:
        mesh, segments: the input; division: the vertices on its segments; count: how many vertices there are in all.
        plane: their triangulation; origin: the segment of each piece; device: that of the placement.
    """
    of_edge = origin[plane.edge_segments]
    right = segments.right[of_edge]
    is_beside = _misplaced(plane, right)
    if is_beside.any():
        lost = np.zeros(count, bool)
        lost[plane.edges[is_beside]] = True
    else:
        lost = _lost(mesh, segments, plane, right, count, device)
    if not lost.any():
        return np.empty(0, np.int64)
    for sides in (plane.left_side, plane.right_side):
        half_edges = np.maximum(sides, 0)
        is_beside |= (sides >= 0) & lost[plane.triangles[half_edges >> 2, half_edges & 3]]
    found = distinct(of_edge[is_beside])
    found = found[np.isin(found, division.segment)]
    return (found if found.size else distinct(division.segment)).astype(np.int64)


def _misplaced(plane: Plane, right: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Returns the pieces that have a part of the plane outside of the domain on a side where the domain should be.

    Args:
        right: (e,) whether the domain should be on the right of a piece, too.
    """
    outside = np.zeros(plane.parts, bool)
    outside[OUTSIDE] = True
    outside[plane.right[~right & (plane.right >= 0)]] = True
    on_left, on_right = ((parts < 0) | outside[np.maximum(parts, 0)] for parts in (plane.left, plane.right))
    found: NDArray[np.bool_] = on_left | (right & on_right)
    return found


def _lost(
    mesh: Mesh, segments: Segments, plane: Plane, right: NDArray[np.bool_], count: int, device: Device
) -> NDArray[np.bool_]:
    """Returns for each of `count` vertices whether it is one of the input and outside of the domain now.

    Ends of segments are not: pieces would cross, or be misplaced.

    Args:
        right: (e,) whether the domain is on the right of a piece, too.
    """
    lost = np.zeros(count, bool)
    lost[: len(mesh.vertices)] = True
    lost[segments.ends] = False
    if lost.any():
        lost &= corners_of(mesh.triangles, count, device)
        lost &= ~corners_of(plane.triangles[plane.domain(right)[plane.labels]], count, device)
    return lost


def corners_of(triangles: Int, count: int, device: Device) -> NDArray[np.bool_]:
    """Returns for each of `count` vertices whether it is a corner of a triangle."""
    host = device if device.threads else open_device("cpu")
    marks = host.zeros(count, np.uint8)
    host.launch("mark_corners", triangles.size, host.as_input(np.ascontiguousarray(triangles).reshape(-1)), marks)
    return marks.detach().view(bool)
