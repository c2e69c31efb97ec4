"""Point location by a hierarchical grid: crowded cells are subdivided by grids.

    +-----------+-----+-----+      A cell of the root grid contains a list of the triangles that overlap it or, if
    |           |     |     |      there are many, another grid, and so on. The number of cells is chosen from the mean
    |           +-----+-----+      extent of the triangles, separately in x and y, so that graded meshes and long thin
    |           |     |     |      triangles require neither much memory nor long lists.
    +-----------+-----+-----+
    |           |           |
    |           |           |
    +-----------+-----------+

All cells of a level are built together, and all points descend together. A point's cell is floor((x - x0) * scale),
which is monotone in x despite rounding. Therefore a triangle is in the list of every cell that contains one of its
points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.types import Float, Int
from dmr.sizing.ranges import ranges

CROWDED = 8  # a cell with more triangles than this may be subdivided
DEEPEST = 16
BLOCK = 2**15  # points located at a time: their dozen temporaries stay in a core's cache

# orient2d in float64 has the correct sign unless it is below this multiple of the sum of its two products' magnitudes.
ROUNDING = 4 * 2.0**-53
# A triangle whose area is below this multiple of the same sum counts as flat.
FLAT = 64 * ROUNDING


class _Cells(NamedTuple):
    """The cells of one level during construction."""

    low: Float  # (k, 2) lower left corners
    size: Float  # (k, 2)
    owner: NDArray[np.int64]  # (p,) the cell of each entry, ascending
    triangle: NDArray[np.int64]  # (p,) ascending within a cell


class TriangleGrid:
    """The triangles of a mesh, sorted into cells; triangles may overlap, and flat ones are ignored.

    Attributes:
        triangles: (m, 3) int32, the corners in counter-clockwise order, whatever their order was.
        flat: (m,) bool, triangles of zero area, up to rounding.
    """

    def __init__(self, vertices: Float, triangles: Int) -> None:
        a, b, c = (vertices[triangles[:, k]] for k in range(3))
        twice, rounding = _cross(b - a, c - a)
        self.flat: NDArray[np.bool_] = np.abs(twice) <= FLAT / ROUNDING * rounding
        self.triangles = np.where((twice < 0)[:, None], triangles[:, [0, 2, 1]], triangles)
        self._corners = vertices[self.triangles].reshape(-1, 6)
        # For each cell: the origin, scale and shape of its grid and its first child, or (if child < 0) its list.
        self._low = np.zeros((1, 2))
        self._scale = np.zeros((1, 2))
        self._shape = np.ones((1, 2), np.int64)
        self._child = np.full(1, -1)
        self._first = np.zeros(1, np.int64)
        self._count = np.zeros(1, np.int64)
        self._listed = np.empty(0, np.int64)
        self._build()

    # ---- Queries ---------------------------------------------------------------------------------------------------

    def find(self, points: Float) -> tuple[Int, Float]:
        """Find the triangle that contains each point; of several (on a common edge), the one with the smallest number.

        Args:
            points: (n, 2), finite.

        Returns:
            (n,) int32 triangles, -1 if no triangle contains the point; (n, 3) float64 barycentric coordinates in the
            triangle: not negative, with sum 1, and exactly 1 at the corners.
        """
        found = np.full(len(points), -1, np.int32)
        weights = np.zeros((len(points), 3))
        for start in range(0, len(points), BLOCK):
            block = slice(start, start + BLOCK)
            self._find(points[block], found[block], weights[block])
        return found, weights

    def _find(self, points: Float, found: Int, weights: Float) -> None:
        """Scan the lists of the points' cells, until every point has a triangle or its list is exhausted."""
        cell = self._cells_of(points)
        waiting = np.flatnonzero(self._count[cell])
        first, count = self._first[cell], self._count[cell]
        step = 0
        while len(waiting):
            tried = self._listed[first[waiting] + step]
            inside, share = self._contain(tried, points[waiting])
            hits = waiting[inside]
            found[hits] = tried[inside]
            weights[hits] = share[inside]
            step += 1
            waiting = waiting[~inside]
            waiting = waiting[count[waiting] > step]

    def _cells_of(self, points: Float) -> NDArray[np.int64]:
        """Find the leaf cell that contains each point; points outside the grid get a cell at its border."""
        cell = np.zeros(len(points), np.int64)
        inner = np.flatnonzero(self._child[cell] >= 0)
        while len(inner):
            parents = cell[inner]
            cell[inner] = self._child[parents] + self._step(parents, points[inner])
            inner = inner[self._child[cell[inner]] >= 0]
        return cell

    def _step(self, parents: NDArray[np.int64], points: Float) -> NDArray[np.int64]:
        """Compute the number of each point's cell in the grid of `parents`, in row-major order."""
        shape = self._shape[parents]
        place = _floor(points, self._low[parents], self._scale[parents], shape)
        return place[:, 1] * shape[:, 0] + place[:, 0]

    def _contain(self, triangles: NDArray[np.int64], points: Float) -> tuple[NDArray[np.bool_], Float]:
        """Test whether each triangle contains its point, up to rounding; also returns barycentric coordinates."""
        corners = self._corners[triangles]
        a, b, c = (corners[:, 2 * k : 2 * k + 2] - points for k in range(3))
        products = [_cross(b, c), _cross(c, a), _cross(a, b)]
        inside = (products[0][0] >= -products[0][1]) & (products[1][0] >= -products[1][1])
        inside &= products[2][0] >= -products[2][1]
        share = np.stack([np.maximum(value, 0) for value, _ in products], axis=1)
        whole = share[:, 0] + share[:, 1] + share[:, 2]
        inside &= whole > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            return inside, share / whole[:, None]

    # ---- Construction ----------------------------------------------------------------------------------------------

    def _build(self) -> None:
        chosen = np.flatnonzero(~self.flat)
        if not len(chosen):
            return
        corners = self._corners.reshape(-1, 3, 2)
        self._lower, self._upper = corners.min(axis=1), corners.max(axis=1)
        low, high = self._lower[chosen].min(axis=0), self._upper[chosen].max(axis=0)
        # Cells much smaller than the resolution of the coordinates would not separate any triangles.
        self._finest = 2.0**-40 * np.maximum(np.abs(low), np.abs(high))
        self._room = 64 * len(chosen) + 2**22
        cells = _Cells(low[None], (high - low)[None], np.zeros(len(chosen), np.int64), chosen)
        levels: list[tuple[Float, Float, NDArray[np.int64], NDArray[np.int64]]] = []
        lists: list[NDArray[np.int64]] = []
        counts: list[NDArray[np.int64]] = []
        for depth in range(DEEPEST + 1):
            shape = self._shapes(cells) if depth < DEEPEST else np.ones((len(cells.low), 2), np.int64)
            split = shape[:, 0] * shape[:, 1] > 1
            within = np.where(split, shape[:, 0] * shape[:, 1], 0)
            start = len(cells.low) + sum(len(level[0]) for level in levels) + np.cumsum(within) - within
            levels.append((cells.low, shape / cells.size, shape, np.where(split, start, -1)))
            kept = ~split[cells.owner]
            lists.append(cells.triangle[kept])
            counts.append(np.where(split, 0, np.bincount(cells.owner, minlength=len(split))))
            if not split.any():
                break
            cells = self._next(cells, shape, split)
        self._low, self._scale, self._shape, self._child = (
            np.concatenate(parts) for parts in zip(*levels, strict=True)
        )
        self._count = np.concatenate(counts)
        self._first = np.cumsum(self._count) - self._count
        self._listed = np.concatenate(lists)
        del self._lower, self._upper

    def _shapes(self, cells: _Cells) -> NDArray[np.int64]:
        """(k, 2): the number of cells into which each cell is divided in x and in y; 1 by 1 denotes a list."""
        k = len(cells.low)
        low, high = cells.low[cells.owner], (cells.low + cells.size)[cells.owner]
        extent = np.minimum(self._upper[cells.triangle], high) - np.maximum(self._lower[cells.triangle], low)
        share = np.clip(extent / cells.size[cells.owner], 0, 1)
        count = np.bincount(cells.owner, minlength=k)
        sums = np.stack([np.bincount(cells.owner, share[:, axis], k) for axis in (0, 1)], axis=1)
        covered = np.bincount(cells.owner, share[:, 0] * share[:, 1], k)
        most = np.maximum(np.maximum(count, 1)[:, None], 1.0)
        wanted = np.clip(count[:, None] / np.maximum(sums, 1e-300), 1, most)
        # Limit the number of cells so that large triangles do not fill more cells than there are triangles.
        limit = count / np.maximum(covered, 1e-300)
        over = wanted[:, 0] * wanted[:, 1] / np.maximum(np.minimum(limit, count), 1)
        wanted /= np.sqrt(np.maximum(over, 1))[:, None]
        wanted = np.minimum(wanted, cells.size / self._finest)
        shape: NDArray[np.int64] = np.maximum(wanted, 1).astype(np.int64)
        # Thin slanted triangles fill their boxes, but not the cells.
        shape[
            (shape[:, 0] * shape[:, 1] == 1) & (count > 3 * CROWDED) & (cells.size > 2 * self._finest).all(axis=1)
        ] = 2
        shape[count <= CROWDED] = 1
        entries = shape[:, 0] * shape[:, 1] * covered + shape[:, 0] * sums[:, 0] + shape[:, 1] * sums[:, 1] + count
        if entries[shape[:, 0] * shape[:, 1] > 1].sum() > self._room:
            shape[:] = 1
        return shape

    def _next(self, cells: _Cells, shape: NDArray[np.int64], split: NDArray[np.bool_]) -> _Cells:
        """Build the cells of the next level, in the order of their parents, row by row."""
        parents = np.flatnonzero(split)
        shape, low, scale = shape[parents], cells.low[parents], (shape / cells.size)[parents]
        size = cells.size[parents] / shape
        within = shape[:, 0] * shape[:, 1]
        parent, number = np.repeat(np.arange(len(parents)), within), ranges(within)
        place = np.stack([number % shape[parent, 0], number // shape[parent, 0]], axis=1)
        child_low = low[parent] + place * size[parent]
        starts = np.cumsum(within) - within

        kept = split[cells.owner]
        owner = (np.cumsum(split) - 1)[cells.owner[kept]]
        triangle = cells.triangle[kept]
        first = _floor(self._lower[triangle], low[owner], scale[owner], shape[owner])
        last = _floor(self._upper[triangle], low[owner], scale[owner], shape[owner])
        span = last - first + 1
        reached = span[:, 0] * span[:, 1]
        entry, number = np.repeat(np.arange(len(triangle)), reached), ranges(reached)
        column = first[entry, 0] + number % span[entry, 0]
        row = first[entry, 1] + number // span[entry, 0]
        child = starts[owner[entry]] + row * shape[owner[entry], 0] + column
        triangle = triangle[entry]
        near = self._reach(triangle, child_low[child], size[owner[entry]])
        child, triangle = child[near], triangle[near]
        order = np.argsort(child, kind="stable")
        return _Cells(child_low, size[parent], child[order], triangle[order])

    def _reach(self, triangles: NDArray[np.int64], low: Float, size: Float) -> NDArray[np.bool_]:
        """Test whether triangles overlap cells that are known to overlap the triangles' bounding boxes.

        A cell, enlarged by a margin that is much larger than any rounding, must not lie beyond one of the triangle's
        edges.
        """
        low, high = low - size / 64, low + size * (65 / 64)
        corners = self._corners[triangles].reshape(-1, 3, 2)
        reached = np.ones(len(triangles), bool)
        for k in range(3):
            start, edge = corners[:, k], corners[:, (k + 1) % 3] - corners[:, k]
            x = np.where(edge[:, 1] > 0, low[:, 0], high[:, 0]) - start[:, 0]
            y = np.where(edge[:, 0] > 0, high[:, 1], low[:, 1]) - start[:, 1]
            reached &= edge[:, 0] * y >= edge[:, 1] * x
        return reached


def _cross(u: Float, v: Float) -> tuple[Float, Float]:
    """Compute u x v, and a bound of its rounding error."""
    left, right = u[:, 0] * v[:, 1], u[:, 1] * v[:, 0]
    return left - right, ROUNDING * (np.abs(left) + np.abs(right))


def _floor(points: Float, low: Float, scale: Float, shape: NDArray[np.int64]) -> NDArray[np.int64]:
    """Compute the column and row of each point in a grid, clipped to the grid."""
    places: NDArray[np.int64] = np.clip((points - low) * scale, 0, shape - 1).astype(np.int64)
    return places
