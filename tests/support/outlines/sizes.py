"""Domains for meshes by size, and figures of such meshes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dmr import Mesh, domains

L_SHAPE = domains.polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)])
SKEW = domains.polygon([(0, 0), (2, 0.3), (1.6, 1.7), (0.3, 1.4)])
SQUARE = domains.polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
BORED = domains.polygon([(0, 0), (4, 0), (4, 2), (0, 2)], holes=[1 + domains.circle_points(0.4, 12)])


def smallest_angles(mesh: Mesh) -> NDArray[np.float64]:
    """The smallest angle of each triangle, in degrees."""
    a, b, c = (mesh.vertices[corner] for corner in mesh.triangles.T)
    sides = np.sort([np.hypot(*(q - p).T) for p, q in ((a, b), (b, c), (c, a))], axis=0)
    found: NDArray[np.float64] = np.degrees(
        np.arccos((sides[1] ** 2 + sides[2] ** 2 - sides[0] ** 2) / (2 * sides[1] * sides[2]))
    )
    return found


def edge_ratios(mesh: Mesh, size: Callable[[NDArray[np.float64]], NDArray[np.float64] | float]) -> NDArray[np.float64]:
    """The length of each edge, in sizes at its midpoint."""
    edges = np.unique(np.sort(mesh.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)), axis=0)
    a, b = mesh.vertices[edges[:, 0]], mesh.vertices[edges[:, 1]]
    found: NDArray[np.float64] = np.hypot(*(b - a).T) / size((a + b) / 2)
    return found


def growing(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sizes that grow with the distance from a point."""
    found: NDArray[np.float64] = 0.02 + 0.15 * np.hypot(*points.T)
    return found
