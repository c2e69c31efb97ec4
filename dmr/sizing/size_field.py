"""Sizing functions: local bounds on edge lengths from a background mesh or grid, or from a user's function.

    field = dmr.SizeField(mesh, sizes)              # one size per vertex, or per triangle, of any mesh
    fine = dmr.refine(domain, max_edge=field)        # no edge of a triangle longer than the size at its centroid
    fine = dmr.refine(domain, max_edge=lambda points: 0.01 + 0.1 * abs(points[:, 0]))
    fine = dmr.refine(domain, max_edge=0.1)         # the same everywhere

Only +, -, *, / and square roots are used, for each point separately and in a fixed order: a field gives bitwise
identical results on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import shortened
from dmr.common.frozen import HoldsFrozen, frozen
from dmr.common.number_arrays import distinct
from dmr.errors import OptionError
from dmr.memory import Device, DeviceArray, Number
from dmr.mesh.arguments import check_kind
from dmr.mesh.edges import unique_edges
from dmr.mesh.location.background import DeviceBackground
from dmr.mesh.types import Float, Mesh, check_indices
from dmr.sizing.quadtree import Quadtree
from dmr.sizing.ranges import ranges
from dmr.sizing.source import DeviceSizes, SizeSource, Step, checked_gradient, numbers, place_text
from dmr.sizing.support import Support


class SizeField(HoldsFrozen, SizeSource):
    """Sizes in the plane: a function from (n, 2) points to (n,) sizes, for `dmr.refine(..., size=field)`.

    Sizes on vertices are interpolated linearly. With sizes on triangles, a point on a common edge takes the size of the
    triangle with the smaller index. A point outside the background takes the size at the nearest point of the
    background; if several are equally near, the one on the first edge.

    Args:
        mesh: the background: any triangulation, Delaunay or not; it may have holes and several components.
        values: (n,) sizes of the vertices or (m,) sizes of the triangles, > 0, in the units of the coordinates; inf
            means no bound (a vertex with inf removes the bound inside all triangles around it).
        on: "vertices" or "triangles", for a mesh with equally many of both.

    Raises:
        OptionError: the number of sizes is wrong, a size is not > 0, or the mesh has no triangles.
    """

    def __init__(self, mesh: Mesh, values: ArrayLike, *, on: str | None = None) -> None:
        check_kind(mesh, Mesh, name="the background of a size field")
        if not len(mesh.triangles):
            raise OptionError("a size field needs a background with triangles, and this mesh has none")
        sizes = numbers(values, "sizes")
        support = {"vertices": _OnVertices, "triangles": _OnTriangles}[_chosen(mesh, sizes, on)]
        self._set(support(mesh), sizes)

    @classmethod
    def from_grid(cls, x: ArrayLike, y: ArrayLike, values: ArrayLike) -> SizeField:
        """Creates a field from sizes on a grid of points, with bilinear interpolation.

        Args:
            x: (nx,) strictly increasing coordinates, nx >= 2, not necessarily equally spaced.
            y: (ny,) likewise.
            values: (ny, nx): values[j, i] is the size at (x[i], y[j]), as in `numpy.meshgrid(x, y)`.

        Raises:
            OptionError: coordinates do not increase, `values` has the wrong shape, or a size is not > 0.
        """
        columns, rows = _rising(x, "x"), _rising(y, "y")
        sizes = numbers(values, "values")
        shape = (len(rows), len(columns))
        if sizes.shape != shape:
            advice = ": transpose them" if sizes.shape == shape[::-1] else ""
            raise OptionError(f"values must have shape (len(y), len(x)) = {shape}, not {sizes.shape}{advice}")
        return cls.on_support(_OnGrid(columns, rows), sizes.reshape(-1))

    @classmethod
    def on_support(cls, support: Support, sizes: Float) -> SizeField:
        """Creates a field from a support, and the sizes there."""
        field = cls.__new__(cls)
        field._set(support, sizes)
        return field

    def _set(self, support: Support, sizes: Float) -> None:
        wrong = np.flatnonzero(~(sizes > 0))
        if wrong.size:
            k = int(wrong[0])
            raise OptionError(f"the size at {support.name(k)} is {sizes[k]:g}: sizes must be above 0")
        self._support = support
        self.values = frozen(sizes.copy())

    def _upload(self, device: Device) -> DeviceSizes:
        return DeviceSizes((self._support.step(device, self.values),))

    @property
    def support(self) -> Support:
        """The places of the sizes."""
        return self._support

    @property
    def deviation(self) -> float | None:
        """Largest relative difference between a sampled function and this field, where both were compared.

        None for other fields (`dmr.sizing.sampled`).
        """
        return self._support.deviation if isinstance(self._support, Quadtree) else None

    def limited(self, gradient: float) -> SizeField:
        """The largest field below this one that grows by at most `gradient` per unit length along every edge.

        `h(v) <= h(u) + gradient * |uv|` for all edges uv of the background (the lines of a grid): small sizes extend
        into their neighbourhood. Gmsh and other meshers call this smoothing or grading; 0.1 to 0.5 is usual. Sizes on
        triangles, which are discontinuous, first become sizes on vertices: the smallest of the triangles around each.

        Args:
            gradient: finite and >= 0; 0 gives one size per component of the mesh.

        Raises:
            OptionError: the gradient is invalid.
        """
        gradient = checked_gradient(gradient)
        if isinstance(self._support, _OnTriangles):
            return self.on_support(*self._support.on_vertices(self.values)).limited(gradient)
        points, edges = self._support.network()
        along = points[edges[:, 1]] - points[edges[:, 0]]
        growth = gradient * np.sqrt(along[:, 0] * along[:, 0] + along[:, 1] * along[:, 1])
        return self.on_support(self._support, _lowered(self.values, edges, growth))

    def __repr__(self) -> str:
        return f"SizeField({self._support}, sizes {self.values.min():g} to {self.values.max():g})"


# ---- Supports of size fields ---------------------------------------------------------------------------------------


class _OnMesh(Support):
    """The vertices or triangles of a mesh."""

    on_triangles = False

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh

    def step(self, device: Device, values: Float) -> Step:
        check_indices(self.mesh)
        background, given = DeviceBackground(self.mesh, device), device.array(values)

        def lower(points: DeviceArray, count: Number, sizes: DeviceArray) -> None:
            arguments = (*background.arguments, points, given, self.on_triangles, sizes)
            points.device.launch("lower_by_mesh", count, *arguments)

        return lower


class _OnVertices(_OnMesh):
    def network(self) -> tuple[Float, NDArray[Any]]:
        return self.mesh.vertices, unique_edges(self.mesh)[0]

    def name(self, place: int) -> str:
        return f"vertex {place} {place_text(self.mesh.vertices[place])}"

    def __str__(self) -> str:
        return f"on {len(self.mesh.vertices)} vertices"


class _OnTriangles(_OnMesh):
    on_triangles = True

    def on_vertices(self, values: Float) -> tuple[_OnVertices, Float]:
        """Returns the vertices, and the smallest value of the triangles around each; inf where there is none."""
        found = np.full(len(self.mesh.vertices), np.inf)
        for corner in self.mesh.triangles.T:
            np.minimum.at(found, corner, values)
        return _OnVertices(self.mesh), found

    def network(self) -> tuple[Float, NDArray[Any]]:
        raise NotImplementedError("sizes on triangles are limited on vertices")

    def name(self, place: int) -> str:
        return f"triangle {place}"

    def __str__(self) -> str:
        return f"on {len(self.mesh.triangles)} triangles"


@dataclass(frozen=True, eq=False)
class _OnGrid(Support):
    """The points of a grid.

    Attributes:
        x: (nx,), y: (ny,) the coordinates of its lines.
    """

    x: Float
    y: Float

    def step(self, device: Device, values: Float) -> Step:
        grid = (device.array(self.x), len(self.x), device.array(self.y), len(self.y), device.array(values))
        return lambda points, count, sizes: points.device.launch("lower_by_grid", count, points, *grid, sizes)

    def network(self) -> tuple[Float, NDArray[Any]]:
        x, y = np.meshgrid(self.x, self.y)
        number = np.arange(x.size).reshape(x.shape)
        across = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
        upwards = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
        return np.stack([x.ravel(), y.ravel()], axis=1), np.concatenate([across, upwards])

    def name(self, place: int) -> str:
        row, column = divmod(place, len(self.x))
        return f"[{row}, {column}], the point ({self.x[column]:.17g}, {self.y[row]:.17g}),"

    def __str__(self) -> str:
        return f"on a grid of {len(self.x)} by {len(self.y)}"


def _lowered(sizes: Float, edges: NDArray[Any], growth: Float) -> Float:
    """Lowers sizes until sizes[v] <= sizes[u] + growth along all edges, from changed nodes to their neighbours.

    Rounded sums are monotonic in their terms, so the result does not depend on the order.
    """
    start = np.concatenate([edges[:, 0], edges[:, 1]])
    order = np.argsort(start, kind="stable")
    end = np.concatenate([edges[:, 1], edges[:, 0]])[order]
    growth = np.concatenate([growth, growth])[order]
    degree = np.bincount(start, minlength=len(sizes))
    first = np.cumsum(degree) - degree
    sizes = sizes.copy()
    changed = np.flatnonzero(np.isfinite(sizes))
    while len(changed):
        many = degree[changed]
        along = np.repeat(first[changed], many) + ranges(many)
        reached, offered = end[along], np.repeat(sizes[changed], many) + growth[along]
        lower = offered < sizes[reached]
        reached, offered = reached[lower], offered[lower]
        np.minimum.at(sizes, reached, offered)
        changed = distinct(reached)
    return sizes


# ---- Checks of arguments -------------------------------------------------------------------------------------------


def _chosen(mesh: Mesh, sizes: Float, on: str | None) -> str:
    """Determines from their number whether the sizes are those of the vertices or of the triangles."""
    counts = {"vertices": len(mesh.vertices), "triangles": len(mesh.triangles)}
    fitting = [name for name, count in counts.items() if sizes.shape == (count,)]
    if on is None:
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise OptionError(f"the mesh has {len(sizes)} vertices and as many triangles: choose one of them by on=...")
        fit = f"({counts['vertices']},), one for each vertex, or ({counts['triangles']},), one for each triangle"
        raise OptionError(f"sizes must have shape {fit}, not {sizes.shape}")
    if not (isinstance(on, str) and on in counts):
        raise OptionError(f'on must be "vertices" or "triangles", not {shortened(on)}')
    if on not in fitting:
        raise OptionError(f"sizes on {on} must have shape ({counts[on]},), not {sizes.shape}")
    return on


def _rising(coordinates: ArrayLike, name: str) -> Float:
    array = numbers(coordinates, name)
    if array.ndim != 1 or len(array) < 2:
        raise OptionError(f"{name} must have shape (n,) with n at least 2, not {array.shape}")
    wrong = np.flatnonzero(~((array[1:] > array[:-1]) & np.isfinite(array[1:]) & np.isfinite(array[:-1])))
    if wrong.size:
        k = int(wrong[0])
        raise OptionError(f"{name} must rise: {name}[{k}] = {array[k]:g}, {name}[{k + 1}] = {array[k + 1]:g}")
    return array.copy()
