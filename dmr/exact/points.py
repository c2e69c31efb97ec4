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

# Tests in one block: its temporaries stay in the cache, and numpy's cost a call stays small beside its work.
BLOCK = 1 << 14


# Calls a function for (start, stop) of pieces of range(count), of a size: (function, count, size).
PieceMap = Callable[[Callable[[int, int], None], int, int], object]


def one_by_one(work: Callable[[int, int], None], count: int, size: int) -> None:
    """Calls `work(start, stop)` for the pieces in turn, on this thread."""
    for start in range(0, count, size):
        work(start, min(start + size, count))


class Points:
    """Points in the plane, and the exact signs of predicates on them.

    Args:
        vertices: (n, 2) float64, finite.
        in_pieces: calls a function for the blocks of a long index array, perhaps in parallel.

    Attributes:
        places: (n,) the points as complex numbers; x, y: their coordinates.
        in_pieces: as given.

    All methods take index arrays of one length and return int8 signs of that length.
    """

    def __init__(self, vertices: Float, in_pieces: PieceMap = one_by_one) -> None:
        self.places = np.ascontiguousarray(vertices).view(np.complex128).reshape(-1)
        self.x, self.y = self.places.real, self.places.imag
        self.in_pieces = in_pieces

    def orientation(self, a: Index, b: Index, c: Index) -> Signs:
        """1 where a, b, c turn left (counter-clockwise), -1 where they turn right, 0 where they are collinear."""
        return self._signs(polynomials.cross, (a, b, c), ((1, 0), (2, 0)))

    def in_circle(self, a: Index, b: Index, c: Index, d: Index) -> Signs:
        """1 where d lies strictly inside the circle through a, b, c (counter-clockwise), 0 where it lies on it."""
        return self._signs(polynomials.in_circle, (a, b, c, d), ((0, 3), (1, 3), (2, 3)))

    def dot(self, a: Index, b: Index, c: Index, d: Index) -> Signs:
        """The sign of the scalar product of b - a and d - c."""
        return self._signs(polynomials.dot, (a, b, c, d), ((1, 0), (3, 2)))

    def corner_below(self, corner: Index, b: Index, c: Index, cosine_squared: tuple[int, int]) -> NDArray[np.bool_]:
        """Whether the angle at `corner` is smaller than the one with this squared cosine (numerator, denominator).

        The bound is an angle of at most 90 degrees.
        """
        narrow = self._signs(polynomials.wider_than(*cosine_squared), (corner, b, c), ((1, 0), (2, 0))) < 0
        # Beyond 90 degrees the squared cosine grows again.
        found = np.flatnonzero(narrow)
        narrow[found] = self.dot(corner[found], b[found], corner[found], c[found]) > 0
        return narrow

    def off_line(self, a: Index, b: Index, v: Index, reach: Float) -> NDArray[np.bool_]:
        """Whether the line through a and b misses the square of half-width `reach` (one for each test) around v.

        With d = b - a, a point q of the line has cross(d, v - a) = cross(d, v - q). A q with both |v - q| coordinates
        at most `reach` exists exactly where |cross(d, v - a)| <= reach (|dx| + |dy|): the right side is the largest
        value that the cross product takes on that square.
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
        """Signs of a polynomial in the coordinates (x, then y) of the differences points[i] - points[j]."""
        count = len(points[0])
        result = np.empty(count, np.int8)

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            x = [self.x[point[part]] for point in points]
            y = [self.y[point[part]] for point in points]
            result[part] = signs(polynomial, [(axis[i], axis[j]) for i, j in differences for axis in (x, y)])

        self.in_pieces(work, count, BLOCK)
        return result
