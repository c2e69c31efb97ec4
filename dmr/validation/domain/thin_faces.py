"""Faces of the domain that are thinner than rounding.

Where two holes, or a hole and the outline, touch within an ulp or so, their segments cross twice, and enclose a face of
the domain beside the place. Rounding the crossings may leave nothing of it: then no triangle lies there, and segments
between it and a hole are edges of no triangle. A face whose every part lies in the tolerance band of a tied segment
lies in the set T of the proof (`dmr.validation.domain.domain`), outside of which the mesh must cover the domain: it may
be missing.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.validation.domain.outline import Outline, node_places
from dmr.validation.triangulation.topology import Mask

Int64 = NDArray[np.int64]
Point = tuple[Fraction, Fraction]

MOST_EDGES = 64  # of a face; those with more are not examined


class _Edge(NamedTuple):
    """An edge of a face, with its left end first."""

    left: Point
    right: Point

    def at(self, x: Fraction) -> Point:
        """The point of the edge at an abscissa."""
        (x0, y0), (x1, y1) = self
        return x, y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def thin_faces(outline: Outline, missing: Mask) -> list[int]:
    """Finds the faces of the domain beside wanted edges without a path that are thinner than rounding.

    Args:
        outline: the outline; missing: (w,) mask of its wanted edges.
    """
    arrangement = outline.arrangement
    edges = outline.wanted[missing]
    faces = np.unique(np.concatenate([arrangement.above[edges], arrangement.below[edges]]))
    faces = faces[outline.covered[faces] & _are_small(outline)[faces]]
    return [face for face in faces.tolist() if _is_thin(outline, face)]


def _are_small(outline: Outline) -> Mask:
    """(f,) mask of the faces with hardly any area: all that are thin, and few others."""
    arrangement = outline.arrangement
    places = node_places(arrangement, outline.pslg.vertices)
    low = places.min(axis=0)
    extent = (places - low).max()
    x, y = ((places - low) / extent).T
    below_edge = (x[arrangement.heads] - x[arrangement.tails]) * (y[arrangement.heads] + y[arrangement.tails]) / 2
    count = arrangement.faces
    areas = np.bincount(arrangement.below, below_edge, count) - np.bincount(arrangement.above, below_edge, count)
    # A face of at most MOST_EDGES edges in bands of this width; and the rounding of the sum.
    small: Mask = np.abs(areas) <= 8 * MOST_EDGES * (outline.reaches.max() / extent + np.finfo(float).eps)
    return small


def _is_thin(outline: Outline, face: int) -> bool:
    arrangement = outline.arrangement
    around = np.flatnonzero((arrangement.above == face) | (arrangement.below == face))
    if len(around) > MOST_EDGES:
        return False
    owners = np.concatenate(
        [arrangement.owners[arrangement.offsets[edge] : arrangement.offsets[edge + 1]] for edge in around.tolist()]
    )
    bands = [_Band(outline, line) for line in np.unique(owners[outline.tied[owners]]).tolist()]
    ends = [(_place(outline, tail), _place(outline, head)) for tail, head in _nodes(outline, around)]
    xs, ys = ([end[k] for edge in ends for end in edge] for k in range(2))
    swapped = max(ys) - min(ys) > max(xs) - min(xs)  # slabs across the longer side
    edges = [_Edge(*sorted(((y, x) if swapped else (x, y)) for x, y in edge)) for edge in ends]

    def held(corners: list[Point]) -> bool:
        places = [(y, x) if swapped else (x, y) for x, y in corners]
        return any(all(band.holds(place) for place in places) for band in bands)

    for low, high in pairwise(sorted({end[0] for edge in edges for end in edge})):
        across = [edge for edge in edges if edge.left[0] <= low and edge.right[0] >= high]
        across.sort(key=lambda edge: edge.at((low + high) / 2)[1])
        # Between the lowest and the highest edge of a slab lies all of the face there.
        if not held([edge.at(x) for edge in (across[0], across[-1]) for x in (low, high)]):
            return False
    return True


def _nodes(outline: Outline, edges: Int64) -> list[tuple[int, int]]:
    arrangement = outline.arrangement
    return list(zip(arrangement.tails[edges].tolist(), arrangement.heads[edges].tolist(), strict=True))


def _place(outline: Outline, node: int) -> Point:
    if node >= outline.first_crossing:
        return outline.arrangement.crossings[node - outline.first_crossing]
    x, y = outline.pslg.vertices[np.flatnonzero(outline.arrangement.vertex_nodes == node)[0]].tolist()
    return Fraction(x), Fraction(y)


class _Band:
    """The tolerance band of a segment, as in `dmr.validation.domain.tolerance_bands`, for rational points."""

    def __init__(self, outline: Outline, line: int) -> None:
        (ax, ay), (bx, by) = ([Fraction(c) for c in outline.pslg.vertices[v].tolist()] for v in outline.segments[line])
        reach = Fraction(float(outline.reaches[line]))
        self._start, self._along = (ax, ay), (bx - ax, by - ay)
        self._width = reach * (abs(bx - ax) + abs(by - ay))
        self._low = min(ax, bx) - reach, min(ay, by) - reach
        self._high = max(ax, bx) + reach, max(ay, by) + reach

    def holds(self, place: Point) -> bool:
        """Whether a point lies in the band."""
        if any(not low <= c <= high for low, c, high in zip(self._low, place, self._high, strict=True)):
            return False
        (dx, dy), (x, y) = self._along, (place[0] - self._start[0], place[1] - self._start[1])
        return abs(dx * y - dy * x) <= self._width
