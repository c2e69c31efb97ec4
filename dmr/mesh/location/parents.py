"""The triangles of a mesh that contain the triangles of another mesh of the same domain."""

from __future__ import annotations

import numpy as np

from dmr.memory import open_device
from dmr.mesh.location.background import DeviceBackground
from dmr.mesh.location.locator import locate
from dmr.mesh.types import Int, Mesh


def find_parents(mesh: Mesh, coarse: Mesh) -> Int:
    """Finds the triangle of `coarse` that contains the centroid of each triangle of `mesh`.

    Returns:
        (m,) int32; for a centroid that rounding puts outside, the triangle of the nearest boundary edge.
    """
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    centroids = ((a + b) + c) / 3
    parents = locate(coarse, centroids)
    outside = np.flatnonzero(parents < 0)
    if len(outside):
        parents[outside] = DeviceBackground(coarse, open_device("cpu")).places(centroids[outside]).triangles
    return parents
