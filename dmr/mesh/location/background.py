"""Places of points in a mesh as corners and weights, also outside: there, those of the nearest point of the mesh."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.errors import InvalidMeshError
from dmr.memory import Argument, Device, pack
from dmr.mesh.arguments import check_kind
from dmr.mesh.coordinates import check_coordinates
from dmr.mesh.location.box_tree import MODULES, POINT, BoxTree, Frame
from dmr.mesh.provenance import is_triangulation
from dmr.mesh.types import Float, Int, Mesh


class Places(NamedTuple):
    """Locations of points.

    Attributes:
        triangles: (n,) int32, the triangle that contains each point; outside the mesh, that of the nearest boundary
            edge.
        corners: (n, 3) int32 vertices, and weights: (n, 3) float64, not negative, with sum 1: the point (or the nearest
            point of the mesh) is the weighted sum of the vertices.
    """

    triangles: Int
    corners: Int
    weights: Float


class DeviceBackground:
    """A mesh on a device in which each point of the plane has a place. It does not change after its construction.

    Holes, several components, overlaps and flat or clockwise triangles are allowed. A point in several triangles is in
    the one with the lowest number; of several edges at equal distance, the first counts.

    Args:
        mesh: a mesh with triangles; device: the device.

    Attributes:
        modules: GPU modules of the kernels that build it, for `Device.prepare`.
        arguments: those of `place_of` (cuda_src/locate/background), for kernels that use it.

    Raises:
        InvalidMeshError: a coordinate is outside the range in which geometry is exact.
    """

    modules = (*MODULES, "locate/background")

    def __init__(self, mesh: Mesh, device: Device) -> None:
        check_kind(mesh, Mesh)
        check_coordinates(mesh.vertices)
        frame = Frame.around(mesh.vertices)
        device.prepare(*self.modules)
        with device.lock, device.current:
            vertices, corners = device.array(mesh.vertices, POINT), device.array(mesh.triangles.reshape(-1))
            triangles = BoxTree(vertices, mesh.triangles, frame)
            ends, owners = boundary_edges(mesh, triangles.flat.download())
            boundary = BoxTree(vertices, ends, frame, edges=True)
            self._kept = {
                "vertices": vertices,
                "corners": corners,
                "ends": device.array(ends.reshape(-1)),
                "owners": device.array(owners),
                # One thread after another looks near the point before; on a GPU, each has its own points.
                "links": device.array(mesh.neighbours.reshape(-1))
                if device.threads and is_triangulation(mesh)
                else None,
            }
            is_simple = bool((np.bincount(ends[:, 0]) <= 1).all())  # at most one begins at each vertex
        self.device = device
        self._trees = triangles, boundary
        self.arguments: tuple[Argument, ...] = (
            triangles.argument,
            boundary.argument,
            pack("Background", **self._kept, is_simple=int(is_simple)),
        )

    def places(self, points: Float) -> Places:
        """Returns the places of points on the host.

        Args:
            points: (n, 2) float64, finite.
        """
        device, n = self.device, len(points)
        with device.lock, device.current:
            triangles, corners = device.empty(n, np.int32), device.empty(3 * n, np.int32)
            weights = device.empty(3 * n, np.float64)
            given = device.array(points, POINT)
            device.launch("place_points", n, *self.arguments, given, triangles, corners, weights)
            return Places(triangles.detach(), corners.detach().reshape(-1, 3), weights.detach().reshape(-1, 3))


def boundary_edges(mesh: Mesh, flat: Int) -> tuple[Int, Int]:
    """Lists the edges with a single triangle, and those of triangles without area, which contain no point.

    Returns:
        (e, 3) int32: the start, the end and again the end of each edge; (e,) int32, the triangle that it belongs to.
    """
    triangles = mesh.triangles
    bounds = _are_single(mesh)
    if flat.any():
        bounds |= np.tile(flat.astype(bool), 3)
    chosen = np.flatnonzero(bounds)
    if not chosen.size:  # a closed surface folded flat
        chosen = np.arange(triangles.size)
    edge, owners = np.divmod(chosen, len(triangles))
    start, end = triangles[owners, edge], triangles[owners, (edge + 1) % 3]
    return np.stack([start, end, end], axis=1), owners.astype(np.int32)


def _are_single(mesh: Mesh) -> NDArray[np.bool_]:
    """Tells which edges have a single triangle: first those from corner 0 to 1, then from 1 to 2, then from 2 to 0."""
    try:
        single: NDArray[np.bool_] = mesh.neighbours.T[[2, 0, 1]].ravel() < 0
    except InvalidMeshError:  # triangles overlap, or some are clockwise
        ends = np.concatenate([mesh.triangles[:, [k, (k + 1) % 3]] for k in range(3)])
        ends = np.sort(ends, axis=1).astype(np.int64)
        keys = ends[:, 0] * len(mesh.vertices) + ends[:, 1]
        _, inverse, count = np.unique(keys, return_inverse=True, return_counts=True)
        single = count[inverse.reshape(-1)] == 1
    return single
