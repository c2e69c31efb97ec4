"""Plane sweep that tests whether a boundary is free of self-crossings and encloses every point at most once.

The domain lies on the left of each edge. It is covered once if and only if the winding number of the boundary is 0 or
1 everywhere. Equivalently, the boundary does not cross itself, and every upward line meets edges alternately directed
rightward (into the domain) and leftward (out of it). This detects overlaps that no local test at single vertices can: a
strip that bends round and overlaps itself, or a component that lies within another one.

The sweep is that of Bentley and Ottmann, except that it need not find crossings, only prove that there are none. It
keeps the edges that intersect the sweep line in a list from bottom to top. At each point, the edges that end there must
be adjacent in the list, the next one below must be strictly below the point and the next one above strictly above. This
suffices: two neighbours in the list that cross have the wrong order from then on, and the first later event that
touches either of them, or lies between them, compares them with its point and fails. All comparisons are exact. Points
are ordered by x, then y, as if the plane were slightly sheared, so that vertical edges are not a special case.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]
# An edge in the sweep: left end, right end, whether it is directed from left to right, its number.
Edge = tuple[Point, Point, bool, int]


class OverlapError(Exception):
    """Raised if the sweep finds an overlap; has the number of an edge and a sentence that describes the overlap."""

    def __init__(self, edge: int, reason: str) -> None:
        super().__init__(reason)
        self.edge = edge


def side(left: Point, right: Point, point: Point) -> int:
    """Return 1 if the point lies above the edge (to the left of left -> right), -1 if below, 0 if collinear; exact."""
    first = (right[0] - left[0]) * (point[1] - left[1])
    second = (right[1] - left[1]) * (point[0] - left[0])
    difference = first - second
    # Each product has a relative error of at most 3 e + O(e^2) (two differences, one product; e = 2^-53), the final
    # difference one of e: 2^-50 = 8 e covers it. The other term covers underflow; on overflow, both comparisons fail.
    error = 2.0**-50 * (abs(first) + abs(second)) + 2.0**-1000
    if difference > error:
        return 1
    if difference < -error:
        return -1
    (ax, ay), (bx, by), (px, py) = ((Fraction(x), Fraction(y)) for x, y in (left, right, point))
    exact = (bx - ax) * (py - ay) - (by - ay) * (px - ax)
    return (exact > 0) - (exact < 0)


def sweep_boundary(tails: NDArray[np.float64], heads: NDArray[np.float64]) -> None:
    """Prove that boundary edges enclose a domain that is covered once.

    Args:
        tails, heads: (b, 2) the start and the end of each edge, with the domain on its left.

    Raises:
        OverlapError: the boundary overlaps itself; names one edge and describes the overlap.
    """
    starting: dict[Point, list[Edge]] = {}
    ending: dict[Point, int] = {}
    for h, ((ux, uy), (vx, vy)) in enumerate(zip(tails.tolist(), heads.tolist(), strict=True)):
        u, v = (ux, uy), (vx, vy)
        edge: Edge = (u, v, True, h) if u < v else (v, u, False, h)
        starting.setdefault(edge[0], []).append(edge)
        ending[edge[1]] = ending.get(edge[1], 0) + 1
    status: list[Edge] = []
    for point in sorted(starting.keys() | ending.keys()):
        place = _first_not_below(status, point)
        stop = place + ending.get(point, 0)
        _check_neighbours(status, place, stop, point)
        fresh = starting.get(point, [])
        if len(fresh) > 1:
            fresh = _bottom_to_top(point, fresh)
        status[place:stop] = fresh
        for i, edge in enumerate(fresh, place):
            # Every upward line begins outside: the first edge must lead into the domain, the next one out, and so on.
            if edge[2] != (i % 2 == 0):
                where = "inside another part of the mesh" if edge[2] else "outside of the part of the mesh it bounds"
                raise OverlapError(edge[3], f"lies {where}: the mesh overlaps itself")


def _first_not_below(status: list[Edge], point: Point) -> int:
    """Count the edges, from the bottom, that lie strictly below the point, if the list is in order."""
    low, high = 0, len(status)
    while low < high:
        middle = (low + high) // 2
        left, right, _, _ = status[middle]
        if right != point and side(left, right, point) > 0:
            low = middle + 1
        else:
            high = middle
    return low


def _check_neighbours(status: list[Edge], place: int, stop: int, point: Point) -> None:
    """Check that the edges place .. stop - 1 end at the point, and that their neighbours do not touch it."""
    for edge in status[place:stop]:
        if edge[1] != point:
            raise OverlapError(edge[3], f"crosses or touches the boundary near ({point[0]!r}, {point[1]!r})")
    if stop > len(status):
        raise OverlapError(status[-1][3] if status else 0, f"crosses the boundary near ({point[0]!r}, {point[1]!r})")
    for i, sign in ((place - 1, 1), (stop, -1)):
        if 0 <= i < len(status):
            left, right, _, h = status[i]
            if right == point or side(left, right, point) != sign:
                raise OverlapError(h, f"crosses or touches the boundary near ({point[0]!r}, {point[1]!r})")


def _bottom_to_top(point: Point, edges: list[Edge]) -> list[Edge]:
    """Sort edges that start at one point by direction."""

    def compare(first: Edge, second: Edge) -> int:
        return -side(point, first[1], second[1])

    ordered = sorted(edges, key=cmp_to_key(compare))
    for below, above in pairwise(ordered):
        if side(point, below[1], above[1]) <= 0:
            raise OverlapError(above[3], f"lies on another boundary edge near ({point[0]!r}, {point[1]!r})")
    return ordered
