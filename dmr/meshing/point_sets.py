"""Delaunay triangulations of points, with the names and conventions of `scipy.spatial.Delaunay`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import checks_keywords
from dmr.common.cached import cached_property
from dmr.common.frozen import HoldsFrozen, frozen
from dmr.errors import OptionError
from dmr.mesh.arrays import real_table
from dmr.mesh.location import Locator
from dmr.mesh.types import Float, Int, Mesh, Pslg
from dmr.meshing.conversion import NO_SEGMENTS
from dmr.meshing.plain import device_for
from dmr.triangulation import triangulate_noting


@checks_keywords
def delaunay(points: ArrayLike, *, method: str = "auto", device: str = "auto", threads: int | None = None) -> Delaunay:
    """Triangulates points in the plane: Delaunay, exact, the same on every machine.

    Args:
        points: (n, 2), at least three that are not on one line. Of points in the same place, triangles use the first.
        method, device, threads: as for `triangulate`.

    Raises:
        InvalidMeshError: the points have another shape, are not finite or outside the range in which geometry is exact,
            or span no triangle.
        DeviceUnavailableError: the requested device is not available.
    """
    pslg = Pslg(real_table(points, (None, 2), "points"), NO_SEGMENTS)
    opened = device_for(pslg, device, threads)
    mesh, *_ = triangulate_noting(
        pslg, on_conflict="resolve", convex_hull=True, mesher="dmr", method=method, device=opened
    )
    return Delaunay(mesh)


class Delaunay(HoldsFrozen):
    """A Delaunay triangulation of points, as `dmr.delaunay` returns it.

    ::

             2           neighbors[t, k] is the triangle opposite corner k of triangle t, -1 on the convex hull, as in
            / \\          scipy; corners run counter-clockwise, also as there. The order of the triangles differs from
           / t \\         scipy's. Of the two diagonals of four points on a circle, the one at the lowest number is an
          0-----1        edge; every point is used, however flat the triangles are.

    Attributes:
        mesh: the same as a `Mesh`, for `dmr.refine`, `dmr.write`, `mesh.plot()`.
    """

    mesh: Mesh

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh

    @property
    def points(self) -> Float:
        """(n, 2) float64: the points, in their order."""
        return self.mesh.vertices

    @property
    def simplices(self) -> Int:
        """(m, 3) int32: the triangles, by the numbers of their points, counter-clockwise."""
        return self.mesh.triangles

    @property
    def neighbors(self) -> Int:
        """(m, 3) int32: the triangle opposite each corner, -1 if there is none."""
        return self.mesh.neighbours

    @property
    def convex_hull(self) -> Int:
        """(h, 2) int32: the edges on the convex hull, with the triangulation on their left."""
        return self.mesh.boundary

    @cached_property
    def coplanar(self) -> Int:
        """(d, 3) int32: each repeated point, a triangle at it, and the point in the same place that triangles use."""
        repeated = np.flatnonzero(self.vertex_to_simplex < 0)
        places = self.points + 0.0  # -0.0 and 0.0 are one place
        _, first, number = np.unique(places, axis=0, return_index=True, return_inverse=True)
        used = first[number.reshape(-1)[repeated]]
        return frozen(np.column_stack([repeated, self.vertex_to_simplex[used], used]).astype(np.int32))

    @cached_property
    def vertex_to_simplex(self) -> Int:
        """(n,) int32: the triangle with the lowest number at each point; -1 for repeated points."""
        count = len(self.simplices)
        found = np.full(len(self.points), count, np.int32)
        np.minimum.at(found, self.simplices.ravel(), np.repeat(np.arange(count, dtype=np.int32), 3))
        return frozen(np.where(found < count, found, -1).astype(np.int32))

    @cached_property
    def vertex_neighbor_vertices(self) -> tuple[Int, Int]:
        """(n + 1,) int32 `indptr` and (2 e,) int32 `indices`, as in a sparse matrix by rows.

        The points joined to point k by an edge are `indices[indptr[k] : indptr[k + 1]]`.
        """
        ends = np.concatenate([self.mesh.edges, self.mesh.edges[:, ::-1]])
        ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
        counts = np.bincount(ends[:, 0], minlength=len(self.points))
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        return frozen(indptr), frozen(np.ascontiguousarray(ends[:, 1]))

    @cached_property
    def transform(self) -> Float:
        """(m, 3, 2) float64: affine maps to barycentric coordinates.

        With `T = transform[t]`, the first two coordinates of point x in triangle t are `T[:2] @ (x - T[2])`.
        """
        corners = self.points[self.simplices]
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            (a, c), (b, d) = (corners[:, :2] - corners[:, 2:]).transpose(1, 2, 0)
            inverse = np.array([[d, -b], [-c, a]]) / (a * d - b * c)
        return frozen(np.concatenate([inverse.transpose(2, 0, 1), corners[:, 2:]], axis=1))

    def find_simplex(self, xi: ArrayLike) -> NDArray[np.int32]:
        """Finds the triangle that contains each point, exactly; edges belong to the triangle with the lowest number.

        Args:
            xi: (..., 2) finite numbers.

        Returns:
            (...) int32 triangles, -1 outside of the convex hull.

        Raises:
            OptionError: `xi` has another shape, or a coordinate is not finite.
        """
        places = np.asarray(xi)
        if not places.ndim or places.shape[-1] != 2:
            raise OptionError(f"xi must have shape (..., 2), not {places.shape}")
        return self._locator.locate(places.reshape(-1, 2)).reshape(places.shape[:-1])

    @cached_property
    def _locator(self) -> Locator:
        return Locator(self.mesh)

    def __repr__(self) -> str:
        return f"Delaunay({len(self.points)} points, {len(self.simplices)} simplices)"

    def _repr_html_(self) -> str:
        """Returns a small picture for notebooks."""
        return self.mesh._repr_html_()
