"""The circumcircles of frozen triangles, in which no point may be placed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.tiles.patch import Mask
from dmr.distributed.tiles.placement.point_trees import point_tree
from dmr.exact.filters import in_circle, unit
from dmr.mesh.types import Float

SLENDER = 1e4  # radius over shortest edge: circles of more slender triangles are tested with all points
BEYOND = 1.001  # radii within which a point is tested


class Circles:
    """Circumcircles of counter-clockwise triangles.

    Args:
        corners: (k, 3, 2) of the triangles.
    """

    def __init__(self, corners: Float) -> None:
        self._corners = corners
        a, b, c = corners.transpose(1, 0, 2)
        with np.errstate(all="ignore"):
            u, v = b - a, c - a
            uu, vv = (u * u).sum(axis=1), (v * v).sum(axis=1)
            twice = 2.0 * (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
            x, y = (v[:, 1] * uu - u[:, 1] * vv) / twice, (u[:, 0] * vv - v[:, 0] * uu) / twice
            self._centers, self._radii = a + np.stack([x, y], axis=1), np.sqrt(x * x + y * y)
            shortest = np.sqrt(np.minimum(np.minimum(uu, vv), ((v - u) ** 2).sum(axis=1)))
            self._slender = ~(self._radii < SLENDER * shortest)

    def hold(self, points: Float) -> Mask:
        """Returns (n,) which points are inside a circle; those for which rounding leaves it open count as inside."""
        found = np.zeros(len(points), np.bool_)
        if not len(points) or not len(self._corners):
            return found
        usual = np.flatnonzero(~self._slender)
        radii = BEYOND * self._radii[usual]
        if len(usual):  # as a rule few points are near: the others are not sorted into a tree
            farthest = np.nextafter(radii.max(), np.inf)
            reached = np.flatnonzero(
                point_tree(self._centers[usual]).query(points, distance_upper_bound=farthest)[1] < len(usual)
            )
            near = point_tree(points[reached]).query_ball_point(self._centers[usual], radii)
            counts = np.array([len(each) for each in near], np.int64)
            listed = np.concatenate([np.empty(0, np.int64), *(np.asarray(each, np.int64) for each in near)])
            self._test(points, np.repeat(usual, counts), reached[listed], found)
        for each in np.flatnonzero(self._slender):
            rest = np.flatnonzero(~found)
            self._test(points, np.full(len(rest), each), rest, found)
        return found

    def _test(self, points: Float, circles: NDArray[np.int64], listed: NDArray[np.int64], found: Mask) -> None:
        if not len(listed):
            return
        scale = unit(np.concatenate([self._corners.reshape(-1, 2), points]))
        a, b, c = (_complex(self._corners[circles, k], scale) for k in range(3))
        outside = in_circle(a, b, c, _complex(points[listed], scale))[1]
        found[listed[~outside]] = True


def _complex(points: Float, scale: float) -> NDArray[np.complex128]:
    found = np.empty(len(points), np.complex128)
    found.real, found.imag = scale * points[:, 0], scale * points[:, 1]
    return found
