"""The Voronoi dual of a mesh, with a vertex for each triangle and a dual edge for each edge."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dmr.common.available import require_memory
from dmr.common.frozen import HoldsFrozen, freeze_fields
from dmr.common.text import counted
from dmr.errors import InvalidMeshError
from dmr.mesh.arguments import check_kind
from dmr.mesh.types import Float, Int, Mesh

# Plain float64 is used if the rounding error of a triangle's area cannot exceed 2^-44 of the area; this holds, for
# instance, if the largest angle is below 179 degrees. The few other triangles are computed in rational arithmetic.
_LARGEST_CANCELLATION = 64.0
BYTES_PER_TRIANGLE = 250  # peak memory, measured
_SMALLEST_PRODUCT = 2.0**-500  # below this, products of three lengths would underflow


@dataclass(frozen=True, eq=False)
class Voronoi(HoldsFrozen):
    """The dual of a mesh: for a Delaunay triangulation, the Voronoi diagram of its vertices.

    Inside the domain, the dual is the Voronoi diagram if every triangle's circumcircle is empty. This always holds for
    a Delaunay triangulation of points, and for meshes refined with `conforming=True`. In a constrained Delaunay mesh, a
    triangle's circumcircle may contain a vertex that is hidden behind a segment; there, edges of the dual can cross.
    Outside the boundary, in holes and bays, rays may also cross.

    Attributes:
        vertices: (m, 2) float64, the circumcenters of the triangles, in the order of the triangles. Cocircular
            vertices give (almost) equal circumcenters, and dual edges of (almost) zero length between them.
        edges: (e, 2) int32: first, for each interior edge of the mesh, the triangles on both sides, the smaller one
            first. Then, for each edge on the boundary, its triangle and -1: a ray.
        rays: (e, 2) float64: the direction of each ray: out of the mesh, perpendicular to its edge, and as long as the
            edge; 0 for finite edges.
    """

    vertices: Float
    edges: Int
    rays: Float

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def finite(self) -> int:
        """The number of finite edges; the edges after them are rays."""
        return int(np.count_nonzero(self.edges[:, 1] >= 0))

    def __repr__(self) -> str:
        return f"Voronoi({len(self.vertices)} vertices, {self.finite} edges, {len(self.edges) - self.finite} rays)"


def voronoi(mesh: Mesh) -> Voronoi:
    """Compute the Voronoi dual of a mesh; `Voronoi` states when it is the Voronoi diagram.

    Args:
        mesh: a mesh without flat or clockwise triangles.

    Raises:
        InvalidMeshError: a triangle is flat or clockwise, or its circumcenter is out of range; or an edge has two
            triangles on one side.
        WrongTypeError: `mesh` is not a Mesh.
    """
    check_kind(mesh, Mesh)
    count = len(mesh.triangles)
    require_memory(BYTES_PER_TRIANGLE * count, f"the dual of {counted(count, 'triangle')}")
    neighbours = mesh.neighbours
    triangle, side = np.nonzero(neighbours > np.arange(len(neighbours))[:, None])
    outer, outer_side = np.nonzero(neighbours < 0)
    start = mesh.vertices[mesh.triangles[outer, (outer_side + 1) % 3]]
    end = mesh.vertices[mesh.triangles[outer, (outer_side + 2) % 3]]
    rays = np.zeros((len(triangle) + len(outer), 2))
    # The triangle lies to the left of its edge, so the outside is to the right.
    with np.errstate(over="ignore"):
        rays[len(triangle) :, 0] = end[:, 1] - start[:, 1]
        rays[len(triangle) :, 1] = start[:, 0] - end[:, 0]
    edges = np.full((len(rays), 2), -1, np.int32)
    edges[: len(triangle)] = np.column_stack([triangle, neighbours[triangle, side]])
    edges[len(triangle) :, 0] = outer
    return Voronoi(circumcenters(mesh), edges, rays)


def circumcenters(mesh: Mesh) -> Float:
    """Compute the circumcenter of each triangle.

    It is computed relative to the corner opposite the longest edge, so that the distance from the origin does not
    affect the accuracy: the error is at most 2^-40 of the circumradius, plus one rounding of the result.

    Returns:
        (m, 2) float64.

    Raises:
        InvalidMeshError: a triangle is flat or clockwise, or its circumcenter is out of range.
    """
    corners = mesh.vertices[mesh.triangles]  # (m, 3, 2)
    if not len(corners):
        return np.empty((0, 2))
    with np.errstate(all="ignore"):
        sides = corners[:, [2, 0, 1]] - corners[:, [1, 2, 0]]
        longest = (sides * sides).sum(axis=2).argmax(axis=1)
        rows = np.arange(len(corners))
        a, b, c = (corners[rows, (longest + k) % 3] for k in range(3))
        ux, uy = (b - a).T
        vx, vy = (c - a).T
        left, right = ux * vy, uy * vx
        area, scale = left - right, np.abs(left) + np.abs(right)  # twice the area
        uu, vv = ux * ux + uy * uy, vx * vx + vy * vy
        centers: Float = a + np.column_stack([vy * uu - uy * vv, ux * vv - vx * uu]) / (2 * area)[:, None]
        sound = (_LARGEST_CANCELLATION * area > scale) & (scale > _SMALLEST_PRODUCT) & np.isfinite(centers).all(axis=1)
    for index in np.flatnonzero(~sound):
        centers[index] = _exact_circumcenter(corners[index], int(index))
    return centers


def _exact_circumcenter(corners: Float, index: int) -> tuple[float, float]:
    """Compute the circumcenter of one triangle in rational arithmetic, rounded once."""
    (ax, ay), (bx, by), (cx, cy) = ((Fraction(x), Fraction(y)) for x, y in corners.tolist())
    ux, uy, vx, vy = bx - ax, by - ay, cx - ax, cy - ay
    area = ux * vy - uy * vx
    if area <= 0:
        what = "is flat: it has no circumcenter" if area == 0 else "runs clockwise: its corners must turn left"
        raise InvalidMeshError(what, "triangle", index)
    uu, vv = ux * ux + uy * uy, vx * vx + vy * vy
    try:
        return float(ax + (vy * uu - uy * vv) / (2 * area)), float(ay + (ux * vv - vx * uu) / (2 * area))
    except OverflowError:
        reason = "is so flat that its circumcenter is beyond the range of floating-point numbers"
        raise InvalidMeshError(reason, "triangle", index) from None
