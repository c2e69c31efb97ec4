"""A lattice of equilateral triangles, whose place depends on the whole domain: tiles continue each other's rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.tiles.patch import Mask
from dmr.mesh.types import Float
from dmr.refinement.placement.lattice import ROOT_OF_THREE

Int64 = NDArray[np.int64]


class Lattice:
    """A lattice: a point in row r and column c is at (c + (r % 2) / 2) spacings along its rows, which rise by r rises.

    Args:
        frame: as `lattice_frame` returns it.

    Attributes:
        spacing: the distance between neighbours; size: the wanted size.
    """

    def __init__(self, frame: Float) -> None:
        self._origin, self._along = frame[:2], frame[2:4]
        self._across = np.array([-frame[3], frame[2]])
        self.spacing, self.size = float(frame[4]), float(frame[5])
        self._rise = 0.5 * ROOT_OF_THREE * self.spacing

    def places_in(self, corners: Float) -> tuple[Int64, Int64, Int64]:
        """Returns the row, the column and the triangle of each point in some triangles; each point once.

        Args:
            corners: (m, 3, 2) of the counter-clockwise triangles.
        """
        relative = corners - self._origin
        x, y = self._dot(relative, self._along) / self.spacing, self._dot(relative, self._across) / self._rise
        first = np.ceil(y.min(axis=1)).astype(np.int64), np.ceil(x.min(axis=1) - 0.5).astype(np.int64)
        last = np.floor(y.max(axis=1)).astype(np.int64), np.floor(x.max(axis=1)).astype(np.int64)
        rows, columns = ((end - begin + 1).clip(0) for begin, end in zip(first, last, strict=True))
        counts = rows * columns
        of = np.repeat(np.arange(len(corners)), counts)
        number = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
        row, column = first[0][of] + number // columns[of], first[1][of] + number % columns[of]
        u, v = column + 0.5 * (row & 1), row.astype(np.float64)
        inside = np.ones(len(of), np.bool_)
        for k in range(3):
            p, q = (k + 1) % 3, (k + 2) % 3
            ax, ay, bx, by = x[of, p], y[of, p], x[of, q], y[of, q]
            inside &= (bx - ax) * (v - ay) >= (by - ay) * (u - ax)
        row, column, of = row[inside], column[inside], of[inside]
        order = np.lexsort((of, column, row))
        row, column, of = row[order], column[order], of[order]
        once = np.ones(len(of), np.bool_)
        once[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])  # points on edges are in two triangles
        return row[once], column[once], of[once]

    def points(self, row: Int64, column: Int64) -> Float:
        """Returns (n, 2) the points in some rows and columns."""
        u, v = (column + 0.5 * (row & 1)) * self.spacing, row * self._rise
        found: Float = self._origin + u[:, None] * self._along + v[:, None] * self._across
        return found

    @staticmethod
    def _dot(ways: Float, direction: Float) -> Float:
        found: Float = ways[..., 0] * direction[0] + ways[..., 1] * direction[1]  # no fused operations, on any machine
        return found


def lacks_neighbours(row: Int64, column: Int64) -> Mask:
    """Returns which points of a lattice lack one of their six neighbours among the points."""
    if not len(row):
        return np.zeros(0, np.bool_)
    width = int(column.max() - column.min()) + 3
    key = (row - row.min()) * width + (column - column.min()) + 1
    keys = np.sort(key)
    right = row & 1  # rows of odd numbers are half a place further
    found = np.zeros(len(key), np.bool_)
    for step in (1, -1, width + right, width + right - 1, -width + right, -width + right - 1):
        wanted = key + step
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        found |= keys[place] != wanted
    return found
