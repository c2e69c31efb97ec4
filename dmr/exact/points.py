"""Exact predicates over a set of points, by index; long index arrays are processed in blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.exact import polynomials
from dmr.exact.polynomials import Polynomial
from dmr.exact.signs import Signs, signs

Float = NDArray[np.float64]
Index = NDArray[Any]

# Tests per block: small enough to keep temporaries in cache, large enough to amortise numpy's overhead per call.
BLOCK = 1 << 14


# (function, count, size): calls function(start, stop) for pieces of range(count) with `size` elements each.
PieceMap = Callable[[Callable[[int, int], None], int, int], object]


def one_by_one(work: Callable[[int, int], None], count: int, size: int) -> None:
    """Call `work(start, stop)` for the pieces in turn, on this thread."""
    for start in range(0, count, size):
        work(start, min(start + size, count))


class Points:
    """Points in the plane, and the exact signs of predicates on them.

    Args:
        vertices: (n, 2) float64, finite.
        in_pieces: calls a function for the blocks of a long index array, possibly in parallel.

    Attributes:
        places: (n,) the points as complex numbers; x, y: their coordinates.
        in_pieces: the argument.

    All methods take index arrays of equal length and return int8 signs, or masks, of that length.
    """

    def __init__(self, vertices: Float, in_pieces: PieceMap = one_by_one) -> None:
        self.places = np.ascontiguousarray(vertices).view(np.complex128).reshape(-1)
        self.x, self.y = self.places.real, self.places.imag
        self.in_pieces = in_pieces

    def orientation(self, a: Index, b: Index, c: Index) -> Signs:
        """Orientation test: 1 if a, b, c form a left turn (counter-clockwise), -1 if a right turn, 0 if collinear."""
        return self._signs(polynomials.cross, (a, b, c), ((1, 0), (2, 0)))

    def in_circle(self, a: Index, b: Index, c: Index, d: Index) -> Signs:
        """In-circle test: 1 if d lies strictly inside the circle through a, b, c (counter-clockwise), 0 if on it."""
        return self._signs(polynomials.in_circle, (a, b, c, d), ((0, 3), (1, 3), (2, 3)))

    def dot(self, a: Index, b: Index, c: Index, d: Index) -> Signs:
        """Return the sign of the scalar product of b - a and d - c."""
        return self._signs(polynomials.dot, (a, b, c, d), ((1, 0), (3, 2)))

    def corner_below(self, corner: Index, b: Index, c: Index, cosine_squared: tuple[int, int]) -> NDArray[np.bool_]:
        """Test whether the angle at `corner` is smaller than the one with this squared cosine (numerator, denominator).

        The bound must be an angle of at most 90 degrees.
        """
        narrow = self._signs(polynomials.wider_than(*cosine_squared), (corner, b, c), ((1, 0), (2, 0))) < 0
        # Beyond 90 degrees the squared cosine increases again.
        found = np.flatnonzero(narrow)
        narrow[found] = self.dot(corner[found], b[found], corner[found], c[found]) > 0
        return narrow

    def off_line(self, a: Index, b: Index, v: Index, reach: Float) -> NDArray[np.bool_]:
        """Test whether the line through a and b misses the square of half-width `reach` (one per test) around v.

        With d = b - a, every point q of the line satisfies cross(d, v - a) = cross(d, v - q). A point q with both
        coordinates of |v - q| at most `reach` exists if and only if |cross(d, v - a)| <= reach (|dx| + |dy|): the right
        side is the maximum of the cross product on that square.
        """
        result = np.zeros(len(a), bool)
        zero = np.zeros(BLOCK)

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            ax, ay, bx, by = self.x[a[part]], self.y[a[part]], self.x[b[part]], self.y[b[part]]
            vx, vy = self.x[v[part]], self.y[v[part]]
            width = (np.maximum(ax, bx), np.minimum(ax, bx))
            height = (np.maximum(ay, by), np.minimum(ay, by))
            pairs = [(bx, ax), (by, ay), (vx, ax), (vy, ay), width, height, (reach[part], zero[: len(ax)])]
            result[part] = (signs(polynomials.strip_left, pairs) < 0) | (signs(polynomials.strip_right, pairs) < 0)

        self.in_pieces(work, len(a), BLOCK)
        return result

    def _signs(self, polynomial: Polynomial, points: Sequence[Index], differences: Sequence[tuple[int, int]]) -> Signs:
        """Return the signs of a polynomial in the coordinates (x, then y) of the differences points[i] - points[j]."""
        count = len(points[0])
        result = np.empty(count, np.int8)

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            x = [self.x[point[part]] for point in points]
            y = [self.y[point[part]] for point in points]
            result[part] = signs(polynomial, [(axis[i], axis[j]) for i, j in differences for axis in (x, y)])

        self.in_pieces(work, count, BLOCK)
        return result
