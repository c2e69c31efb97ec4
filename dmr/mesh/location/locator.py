"""Locates points in a mesh, and interpolates values there, in bulk on a device.

triangles = dmr.locate(mesh, points)                    # (n,) int32, -1 outside
values = dmr.interpolate(mesh, temperature, points)     # (n,) float64, NaN outside
values = dmr.interpolate(mesh, temperature, points, nearest=True)   # outside: that of the nearest point of the mesh

locator = dmr.Locator(mesh)                             # the search structure, for many calls
triangles, values = locator.locate(points), locator.interpolate(temperature, points)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dmr.common.arguments import checks_keywords, switch
from dmr.common.cached import cached_property
from dmr.memory import Device, DeviceArray, Packed, constant, open_device, sort_pairs
from dmr.mesh.arguments import check_kind
from dmr.mesh.coordinates import check_coordinates
from dmr.mesh.location.background import boundary_edges
from dmr.mesh.location.box_tree import MODULES, POINT, BoxTree, Frame
from dmr.mesh.location.edge_nodes import MODULES as EDGE_NODE_MODULES
from dmr.mesh.location.edge_nodes import EdgeNodes, edge_nodes
from dmr.mesh.location.points import checked_points, not_finite
from dmr.mesh.location.values import checked_values
from dmr.mesh.types import Float, Int, Mesh

BLOCK = 2**22  # points located together
SORTED_FROM = 2**13  # points; fewer are located in the order in which they are given
SORTED_LEVELS = constant("SORTED_LEVELS")  # of the curve along which points are sorted, two bits of a key each
TOO_FEW_FOR_A_GPU = 2**16  # triangles and points together
NO_INDEX = constant("NO_INDEX")


class _Boundary(NamedTuple):
    """The boundary edges of a mesh on a device, as `boundary_edges` lists them."""

    tree: BoxTree
    ends: DeviceArray
    owners: DeviceArray


class Locator:
    """The triangles of a mesh, ready for searches. Any number of threads may use it at the same time.

    Building takes about 0.2 s per million triangles on two cores, and 0.04 s on a GPU. The search structure needs 100
    bytes per triangle on the device, however graded the mesh is. A search takes logarithmic time, but longer among
    long slanted slivers, whose bounding boxes overlap.

    Args:
        mesh: any mesh: it may have holes and several components, and need be neither convex nor Delaunay. Triangles
            without area contain no point.
        device: "auto" (a GPU if one works, otherwise the CPU), "cpu", "cuda" or "cuda:N".
        threads: CPU threads; by default every core.

    Raises:
        InvalidMeshError: a coordinate is outside the range in which geometry is exact, or an index is out of range.
        OptionError, DeviceUnavailableError: as for `dmr.refine`.
        OutOfMemoryError: the device has too little memory.
        WrongTypeError: `mesh` is not a Mesh.
    """

    def __init__(self, mesh: Mesh, *, device: str = "auto", threads: int | None = None) -> None:
        check_kind(mesh, Mesh)
        self._build(mesh, open_device(device, threads))

    # A second constructor, as in `SizeField`: its arguments come from the package and need no checks.
    @classmethod
    def on(cls, mesh: Mesh, device: Device) -> Locator:
        """Makes a locator of a mesh on a device that is open already."""
        locator = cls.__new__(cls)
        locator._build(mesh, device)
        return locator

    def _build(self, mesh: Mesh, device: Device) -> None:
        check_coordinates(mesh.vertices)
        self.mesh = mesh
        self._device = device
        self._tree = None
        device.prepare(*MODULES, "geometry/points", "locate/locating", "locate/interpolation")
        with device.lock, device.current:
            self._vertices = device.array(mesh.vertices, POINT)
            self._corners = device.array(mesh.triangles.reshape(-1))
            if len(mesh.triangles):
                self._frame = Frame.around(mesh.vertices)
                self._tree = BoxTree(self._vertices, mesh.triangles, self._frame)

    # ---- Arrays on the host ----------------------------------------------------------------------------------------

    def locate(self, points: ArrayLike, *, nearest: bool = False) -> Int:
        """Finds the triangle that contains each point, exactly.

        Triangles are closed: a point on an edge or a vertex is in all triangles there, and takes the one with the
        lowest number. Coordinates below 1.8e-43 in magnitude count as zero.

        Args:
            points: (n, 2) finite numbers.
            nearest: whether a point outside takes the triangle of the nearest boundary edge. Of several edges at equal
                distance, the first counts.

        Returns:
            (n,) int32 triangles, -1 for a point that is in none, unless `nearest`.

        Raises:
            OptionError: `points` has another shape, or a coordinate is not finite; names the point.
        """
        places = checked_points(points)
        found = np.empty(len(places), np.int32)
        device = self._device
        for block, _, order, triangles in self._blocks(places, nearest=switch("nearest", nearest)):
            part = found[block]
            if order is not None:
                given, triangles = triangles, device.as_output(part)
                device.launch("scatter_triangles", len(given), given, order, triangles)
            triangles.download(part)
        return found

    def interpolate(
        self, values: ArrayLike, points: ArrayLike, *, order: int | None = None, nearest: bool = False
    ) -> Float:
        """Interpolates values at points.

        Args:
            values: (m,) on the m triangles, constant there (order 0); (n,) on the n vertices, linear in each triangle
                (order 1); or (n + e,) on the n vertices and the midpoints of the e edges, quadratic (order 2), in the
                order of `dmr.second_order`. Further axes, such as the k columns of (n, k), are interpolated each.
            points: (q, 2) finite numbers.
            order: 0, 1 or 2, for a mesh with as many triangles as vertices; by default the shape of `values` decides.
            nearest: whether a point outside takes the value at the nearest point of the mesh.

        Returns:
            (q, ...) float64: NaN for a point outside the mesh, unless `nearest`. At a vertex (or midpoint) the result
            is its value. On a common edge, the triangle with the lowest number counts. The bits are the same on every
            device.

        Raises:
            OptionError: `values` or `points` have another shape, or a coordinate is not finite.
        """
        places = checked_points(points)
        table, order = checked_values(self.mesh, values, order, lambda: self._second_order.edges)
        columns = int(np.prod(table.shape[1:], dtype=np.int64))
        result = np.empty((len(places), columns))
        device = self._device
        with device.lock, device.current:
            given, nodes = device.array(table.reshape(-1)), self._nodes(order)
        for block, near, sequence, triangles in self._blocks(places, nearest=switch("nearest", nearest)):
            part = result[block].reshape(-1)
            made = device.as_output(part)
            device.launch(
                "interpolate_points", len(near), self._vertices, self._corners, near, sequence, triangles, order, nodes,
                given, columns, made,
            )  # fmt: skip
            made.download(part)
        return result.reshape(len(places), *table.shape[1:])

    # ---- Arrays on the device --------------------------------------------------------------------------------------

    def locate_array(self, points: DeviceArray) -> DeviceArray:
        """Locates points in the device's memory.

        Args:
            points: records `Point`, finite; those that follow each other should be close to each other.

        Returns:
            int32 triangles, -1 outside.
        """
        device = self._device
        found = device.empty(points.size, np.int32)
        if self._tree is None:
            found.fill(255)
        else:
            device.launch("locate_points", points.size, self._tree.argument, points, found)
        return found

    @property
    def packed_tree(self) -> Packed:
        """The tree of the triangles as an argument of kernels; the mesh has at least one triangle."""
        assert self._tree is not None
        return self._tree.argument

    def _blocks(
        self, places: Float, *, nearest: bool
    ) -> Iterator[tuple[slice, DeviceArray, DeviceArray | None, DeviceArray]]:
        """Locates points in blocks.

        Yields the block, its points, which are sorted along a curve if there are many, the place of each in the block
        if they were sorted, and their triangles, while the device is held.

        Args:
            places: (n, 2) the points; nearest: whether those outside are moved to the nearest point of the mesh.
        """
        device = self._device
        boundary = self._boundary if nearest and self._tree is not None else None
        for start in range(0, len(places), BLOCK):
            block = slice(start, start + BLOCK)
            with device.lock, device.current:
                points = device.as_input(places[block].reshape(-1).view(POINT))
                wrong = device.array(np.array([NO_INDEX], np.int32))
                device.launch("find_not_finite", len(points), points, wrong)
                index = int(wrong.download()[0])
                if index != NO_INDEX:  # the exact predicates need finite coordinates
                    raise not_finite(places, start + index)
                order = self._order(points)
                if order is not None:
                    given, points = points, device.empty(len(points), POINT)
                    device.launch("gather_points", len(points), given, order, points)
                found = self.locate_array(points)
                if boundary is not None:
                    given, points = points, device.empty(len(points), POINT)
                    device.launch(
                        "move_to_boundary", len(points), boundary.tree.argument, self._vertices, boundary.ends,
                        boundary.owners, given, found, points,
                    )  # fmt: skip
                yield block, points, order, found

    def _order(self, points: DeviceArray) -> DeviceArray | None:
        """Returns the order of points along a curve, if sorting pays."""
        if self._tree is None or len(points) < SORTED_FROM:
            return None
        keys = self._device.empty(len(points), np.uint32)
        self._device.launch("key_points", len(points), points, *self._frame.scaled(2.0**SORTED_LEVELS), keys)
        return sort_pairs(keys, bits=2 * SORTED_LEVELS)[1]

    def _nodes(self, order: int) -> DeviceArray:
        """Returns the rows of values of each triangle."""
        return self._own_number if order == 0 else self._corners if order == 1 else self._second_order.rows

    @cached_property
    def _boundary(self) -> _Boundary:
        assert self._tree is not None
        device = self._device
        device.prepare("locate/background")
        with device.lock, device.current:
            ends, owners = boundary_edges(self.mesh, self._tree.flat.download())
            tree = BoxTree(self._vertices, ends, self._frame, edges=True)
            return _Boundary(tree, device.array(ends.reshape(-1)), device.array(owners))

    @cached_property
    def _own_number(self) -> DeviceArray:
        return self._device.array(np.arange(len(self.mesh.triangles), dtype=np.int32))

    @cached_property
    def _second_order(self) -> EdgeNodes:
        device = self._device
        device.prepare(*EDGE_NODE_MODULES)
        with device.lock, device.current:
            return edge_nodes(self._corners, len(self.mesh.vertices))

    # ---- Copies ----------------------------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, in another process for example, builds its own structure on the same kind of device."""
        device = self._device
        return _rebuilt, (self.mesh, device.name.partition(":")[0], device.threads or None)

    def __repr__(self) -> str:
        return f"Locator({self.mesh!r}, {self._device.description})"


def _rebuilt(mesh: Mesh, device: str, threads: int | None) -> Locator:
    return Locator(mesh, device=device, threads=threads)


@checks_keywords
def locate(
    mesh: Mesh, points: ArrayLike, *, nearest: bool = False, device: str = "auto", threads: int | None = None
) -> Int:
    """Finds the triangle of a mesh that contains each point, exactly.

    Triangles are closed: a point on an edge or a vertex is in all triangles there, and takes the one with the lowest
    number. The result has the same bits on every device.

    Args:
        mesh: any mesh: it may have holes and several components, and need be neither convex nor Delaunay.
        points: (n, 2) finite numbers. Coordinates below 1.8e-43 in magnitude count as zero.
        nearest: whether a point outside takes the triangle of the nearest boundary edge, for points that rounding may
            have moved out of the mesh. Of several edges at equal distance, the first counts.
        device: "auto" (a GPU if one works, otherwise the CPU; the CPU for fewer than 65,536 triangles and points
            together), "cpu", "cuda" or "cuda:N".
        threads: CPU threads; by default every core.

    Returns:
        (n,) int32 triangles, -1 for a point that is in none, unless `nearest`. In a mesh without triangles it is -1.

    Raises:
        OptionError: `points` has another shape, or a coordinate is not finite; names the point.
        InvalidMeshError: a coordinate of the mesh is outside the range in which geometry is exact.
        WrongTypeError: `mesh` is not a Mesh.
        DeviceUnavailableError: the requested device is not available.
        OutOfMemoryError: the device has too little memory.
    """
    return _locator(mesh, points, device, threads).locate(points, nearest=nearest)


@checks_keywords
def interpolate(
    mesh: Mesh,
    values: ArrayLike,
    points: ArrayLike,
    *,
    order: int | None = None,
    nearest: bool = False,
    device: str = "auto",
    threads: int | None = None,
) -> Float:
    """Interpolates values on the triangles or vertices of a mesh at points.

    Args:
        mesh: any mesh, as for `locate`.
        values: (m,) on the m triangles, constant there (order 0); (n,) on the n vertices, linear in each triangle
            (order 1); or (n + e,) on the n vertices and the midpoints of the e edges, quadratic (order 2), in the order
            of `dmr.second_order`. Further axes, such as the k columns of (n, k), are interpolated each.
        points: (q, 2) finite numbers.
        order: 0, 1 or 2, for a mesh with as many triangles as vertices; by default the shape of `values` decides.
        nearest: whether a point outside takes the value at the nearest point of the mesh. Vertices on the boundary of
            another mesh of the same domain, from `adapt` for example, may lie outside by a rounding.
        device, threads: as for `locate`.

    Returns:
        (q, ...) float64: NaN for a point outside the mesh, unless `nearest`. At a vertex (or midpoint) the result is
        its value. On a common edge, the triangle with the lowest number counts. The bits are the same on every device.

    Raises:
        OptionError: `values` or `points` have another shape, or a coordinate is not finite.
        InvalidMeshError, WrongTypeError, DeviceUnavailableError, OutOfMemoryError: as for `locate`.
    """
    return _locator(mesh, points, device, threads).interpolate(values, points, order=order, nearest=nearest)


def _locator(mesh: Mesh, points: ArrayLike, device: str, threads: int | None) -> Locator:
    check_kind(mesh, Mesh)
    if device == "auto" and len(mesh.triangles) + len(checked_points(points)) < TOO_FEW_FOR_A_GPU:
        device = "cpu"
    return Locator(mesh, device=device, threads=threads)
