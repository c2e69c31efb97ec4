"""The value objects of the public interface: `Mesh` and `Pslg`.

They are frozen, hold numpy arrays, and are cheap to make: the constructor checks shapes, dtypes, index ranges and
finite coordinates (vectorised), but no geometry. `dmr.refine` checks its input for being a valid triangulation, and
`dmr.validate` checks it exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.cached import cached_property
from dmr.common.frozen import HoldsFrozen, freeze, frozen
from dmr.errors import InvalidMeshError
from dmr.mesh.arrays import Float, Int, check_table, real_table, whole_table
from dmr.mesh.edges import unique_edges
from dmr.mesh.names import Names, checked_names, no_names
from dmr.mesh.provenance import links_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.tri import Triangulation
    from skfem import MeshTri

__all__ = ["Float", "Int", "Mesh", "Pslg", "check_indices"]


_Made = TypeVar("_Made", "Mesh", "Pslg")

MANY_NUMBERS = 2**20  # from which on several threads check them: a millisecond for one


def check_indices(item: Mesh | Pslg) -> None:
    """Checks the indices of a mesh or PSLG again, before native code follows them.

    An object shares its data with the arrays that it was made from, and these can be changed.

    Raises:
        InvalidMeshError: an index is now out of range; names the element.
    """
    vertices = len(item.vertices)
    check_table(item.segments, vertices, "segment")
    if isinstance(item, Mesh):
        check_table(item.triangles, vertices, "triangle")


def _check_finite(vertices: Float) -> None:
    if vertices.size >= MANY_NUMBERS and vertices.flags.c_contiguous:
        from dmr.memory import all_finite, available_threads

        if all_finite(vertices, available_threads()):
            return
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(vertices.sum()):  # one pass; a sum of finite values may still overflow
            return
    wrong = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
    if not wrong.size:
        return
    index = int(wrong[0])
    x, y = vertices[index]
    raise InvalidMeshError(f"coordinates ({x}, {y}) are not finite", "vertex", index)


@dataclass(frozen=True, eq=False)
class Mesh(HoldsFrozen):
    """A triangulation in the plane.

    ::

                 2                 Corner k of triangle t is vertices[triangles[t, k]]; the corners run
                / \\                counter-clockwise. Edge k is the one opposite corner k, from corner k + 1
        edge 1 /   \\ edge 0        to corner k + 2 (modulo 3); neighbours[t, k] is the triangle across it,
              / t   \\              or -1 if there is none.
             0-------1
               edge 2

    Attributes:
        vertices: (n, 2) float64, in the user's own units.
        triangles: (m, 3) int32, indices into `vertices`.
        segments: (s, 2) int32, constrained edges by their end vertices. Boundary edges are constrained whether they are
            listed or not.
        segment_markers: (s,) int32, 0 for unmarked segments.
        vertex_markers: (n,) int32 or None.
        vertex_attributes: (n, a) float64, a >= 0.
        triangle_attributes: (m, c) float64, c >= 0; column 0 is the region by Triangle's convention.
        area_bounds: (m,) float64 or None: area bound within each triangle; <= 0 means none.
        holes, regions: those of the `Pslg` that the mesh was made from, if any: they are not used, but written to the
            .poly file beside the mesh, which otherwise would not describe the domain.
        names: of regions (values of triangle attribute 0) and markers, as for `Pslg`.

    Raises:
        InvalidMeshError: a wrong shape or dtype, an index out of range, or a coordinate that is not finite.
    """

    vertices: Float
    triangles: Int
    segments: Int = field(default_factory=lambda: np.empty((0, 2), np.int32))
    segment_markers: Int | None = None
    vertex_markers: Int | None = None
    vertex_attributes: Float | None = None
    triangle_attributes: Float | None = None
    area_bounds: Float | None = None
    holes: Float = field(default_factory=lambda: np.empty((0, 2)))
    regions: Float = field(default_factory=lambda: np.empty((0, 4)))
    names: Names = field(default_factory=no_names)

    def __post_init__(self) -> None:
        self._shape()
        _check_finite(self.vertices)
        check_table(self.triangles, len(self.vertices), "triangle")
        check_table(self.segments, len(self.vertices), "segment")

    @classmethod
    def sound(cls, **arrays: Any) -> Mesh:
        """Makes a mesh from trusted arrays: neither indices nor coordinates are checked.

        Args:
            arrays: the fields by name; omitted ones have their defaults.

        Raises:
            InvalidMeshError: a wrong shape or dtype.
        """
        mesh = _made(cls, arrays)
        mesh._shape()
        return mesh

    @classmethod
    def unchecked(cls, **arrays: Any) -> Mesh:
        """Makes a mesh that only the project sees, about ten times as fast as `sound`: its arrays stay writable.

        Args:
            arrays: the fields by name, contiguous and with the shapes and dtypes that `Mesh` has; omitted ones have
                their defaults, markers and attributes those of a checked mesh.
        """
        n, m, s = len(arrays["vertices"]), len(arrays["triangles"]), len(arrays.get("segments", ()))
        return _made(cls, {**_no_labels(n, s), "triangle_attributes": np.empty((m, 0)), **_given(arrays)})

    def _shape(self) -> None:
        """Converts all arrays to their shapes and dtypes, or names the one that does not fit."""
        vertices = real_table(self.vertices, (None, 2), "vertices")
        triangles = whole_table(self.triangles, (None, 3), "triangles")
        segments = whole_table(self.segments, (None, 2), "segments")
        n, m, s = len(vertices), len(triangles), len(segments)
        checked: dict[str, NDArray[Any] | None] = {
            "vertices": vertices,
            "triangles": triangles,
            "segments": segments,
            **_labels(self, n, s),
            "triangle_attributes": np.empty((m, 0))
            if self.triangle_attributes is None
            else real_table(self.triangle_attributes, (m, None), "triangle_attributes"),
            "area_bounds": None if self.area_bounds is None else real_table(self.area_bounds, (m,), "area_bounds"),
            "holes": real_table(self.holes, (None, 2), "holes"),
            "regions": real_table(self.regions, (None, 4), "regions"),
        }
        freeze(self, checked)
        object.__setattr__(self, "names", checked_names(self.names))

    @cached_property
    def neighbours(self) -> Int:
        """(m, 3) int32: entry k is the triangle across the edge opposite corner k, -1 if there is none.

        Computed on first access, on all cores, unless the triangulation has found them.

        Raises:
            InvalidMeshError: an edge with two triangles on the same side.
        """
        from dmr.mesh.adjacency import find_neighbours

        links = links_of(self)
        if links is not None:
            return frozen(links.neighbours)
        check_indices(self)
        return frozen(find_neighbours(self.triangles, len(self.vertices)))

    @cached_property
    def edges(self) -> Int:
        """(e, 2) int32: every edge once, the smaller vertex first, sorted. Computed on first access."""
        check_indices(self)
        return frozen(unique_edges(self)[0])

    @cached_property
    def areas(self) -> Float:
        """(m,) float64: the area of each triangle, negative for clockwise ones. Computed on first access."""
        from dmr.mesh.shapes import triangle_areas

        return frozen(triangle_areas(self))

    @cached_property
    def boundary(self) -> Int:
        """(b, 2) int32: the edges of one triangle only, directed so that the mesh is on their left.

        They are in the order of the triangles. Computed on first access.

        Raises:
            InvalidMeshError: as for `neighbours`.
        """
        triangle, edge = np.nonzero(self.neighbours < 0)
        return frozen(self.triangles[triangle[:, None], (edge[:, None] + (1, 2)) % 3])

    @property
    def triangulation(self) -> Triangulation:
        """A `matplotlib.tri.Triangulation`, for `ax.tricontourf(mesh.triangulation, values)` and the like.

        Raises:
            DmrError: matplotlib is missing, or the mesh has no triangles.
        """
        from dmr.mesh.pictures.plotting import triangulation_of

        return triangulation_of(self)

    def plot(self, values: str | ArrayLike | None = None, *, ax: Axes | None = None, **style: Any) -> Axes:
        """Draws the mesh with matplotlib: triangles, thin edges (unless too many), bold boundary and segments.

        Args:
            values: colours: None for one colour, "min_angle", "area", "region", or numbers, (n,) for the vertices or
                (m,) for the triangles; with as many vertices as triangles, for the vertices.
            ax: the axes to draw on; None for those of a new figure.
            style: passed to `Axes.tripcolor`, such as `cmap="magma"`, `vmin=0`.

        Returns:
            The axes: `mesh.plot("area").figure.savefig("mesh.png")`.

        Raises:
            OptionError: `values` fits neither vertices nor triangles, or `ax` is not axes.
            DmrError: matplotlib is missing, or the mesh has no triangles.
        """
        from dmr.mesh.pictures.plotting import plot_mesh

        return plot_mesh(self, values, ax, style)

    def to_skfem(self) -> MeshTri:
        """Converts the mesh to a `skfem.MeshTri`, of scikit-fem.

        Triangles keep their numbers. Vertices that no triangle uses are left out, because their unknowns would make
        matrices singular; the others keep their order. Regions (triangle attribute 0) become subdomains, segments
        with a marker boundaries, inside the mesh, too, under their names or as `region_1`, ..., `boundary_1`, ...

        Raises:
            DmrError: scikit-fem is missing.
        """
        from dmr.mesh.exchange.scikit_fem import to_skfem

        return to_skfem(self)

    def unique_segments(self) -> tuple[Int, Int]:
        """Returns the segments without duplicates (in either direction), and their first nonzero markers.

        Returns:
            ((u, 2) int32 with the smaller vertex first, sorted; (u,) int32 markers).
        """
        return self.unique_segment_rows()[:2]

    def unique_segment_rows(self) -> tuple[Int, Int, NDArray[np.intp]]:
        """Returns what `unique_segments` does, and for each segment the first row of `segments` that has it."""
        assert self.segment_markers is not None
        first, second = self.segments[:, 0], self.segments[:, 1]
        keys = np.minimum(first, second).astype(np.int64)
        keys <<= 32
        keys |= np.maximum(first, second)  # one number per segment, which sorts like its ends
        order = np.argsort(keys, kind="stable")  # fast on rings, which contain long sorted runs
        keys = keys[order]
        is_first = np.ones(len(keys), bool)
        is_first[1:] = keys[1:] != keys[:-1]
        markers = self.segment_markers[order]
        if not is_first.all():
            said = np.flatnonzero(markers)[::-1]  # later writes win: the first marker is written last
            given, rank = markers[said], (np.cumsum(is_first) - 1)[said]
            keys, order = keys[is_first], order[is_first]
            markers = np.zeros(len(keys), np.int32)
            markers[rank] = given
        ends = np.empty((len(keys), 2), np.int32)
        ends[:, 0] = keys >> 32
        ends[:, 1] = keys & 0xFFFFFFFF
        return ends, markers, order

    @classmethod
    def from_triangle(cls, data: Mapping[str, Any]) -> Mesh:
        """Makes a mesh from a dictionary of the `triangle` package (vertices, triangles, segments, markers, ...).

        Args:
            data: lists and arrays by name, in any shape that `triangle.triangulate` takes or returns; `neighbors` and
                `edges` are not used.

        Raises:
            WrongTypeError: `data` is not a dictionary.
            InvalidMeshError: it has an entry that the package does not know, lacks one, or has a wrong shape.
        """
        from dmr.mesh.exchange.triangle_dictionaries import mesh_fields

        return cls(**mesh_fields(data))  # type: ignore[arg-type]

    def to_triangle(self) -> dict[str, NDArray[Any]]:
        """Returns the dictionary that the `triangle` package takes, with copies in its order and dtypes."""
        from dmr.mesh.exchange.triangle_dictionaries import mesh_dictionary

        return mesh_dictionary(self)

    def __repr__(self) -> str:
        return f"Mesh({_counts(self, 'vertices', 'triangles', 'segments')})"

    def _repr_html_(self) -> str:
        """Returns a small picture for notebooks."""
        from dmr.mesh.pictures.thumbnails import page, picture_of_mesh

        return page(picture_of_mesh(self), repr(self))


@dataclass(frozen=True, eq=False)
class Pslg(HoldsFrozen):
    """A planar straight-line graph: the outline of a domain to be triangulated.

    Attributes:
        vertices: (n, 2) float64.
        segments: (s, 2) int32; without segments, the convex hull of the vertices is the domain.
        holes: (h, 2) float64, one point inside each hole.
        regions: (r, 4) float64: x, y, attribute, area bound (<= 0: none).
        segment_markers: (s,) int32, 0 for unmarked segments; vertex_markers: (n,) int32 or None;
            vertex_attributes: (n, a) float64.
        names: of regions (their attributes) and markers, such as {"regions": {1: "steel"}, "markers": {10: "inlet"}}.
            A name is printable text without quotation marks and backslashes, and belongs to one number. Boundary
            segments without a marker get one when the graph is triangulated: 1, or the first unused number if 1 has a
            name.

    Raises:
        InvalidMeshError: as for `Mesh`.
    """

    vertices: Float
    segments: Int = field(default_factory=lambda: np.empty((0, 2), np.int32))
    holes: Float = field(default_factory=lambda: np.empty((0, 2)))
    regions: Float = field(default_factory=lambda: np.empty((0, 4)))
    segment_markers: Int | None = None
    vertex_markers: Int | None = None
    vertex_attributes: Float | None = None
    names: Names = field(default_factory=no_names)

    def __post_init__(self) -> None:
        vertices = real_table(self.vertices, (None, 2), "vertices")
        segments = whole_table(self.segments, (None, 2), "segments")
        n, s = len(vertices), len(segments)
        _check_finite(vertices)
        check_table(segments, n, "segment")
        checked: dict[str, NDArray[Any] | None] = {
            "vertices": vertices,
            "segments": segments,
            "holes": real_table(self.holes, (None, 2), "holes"),
            "regions": real_table(self.regions, (None, 4), "regions"),
            **_labels(self, n, s),
        }
        freeze(self, checked)
        object.__setattr__(self, "names", checked_names(self.names))

    @classmethod
    def unchecked(cls, **arrays: Any) -> Pslg:
        """Makes a graph that only the project sees, as `Mesh.unchecked`."""
        n, s = len(arrays["vertices"]), len(arrays.get("segments", ()))
        return _made(cls, {**_no_labels(n, s), **_given(arrays)})

    @classmethod
    def from_triangle(cls, data: Mapping[str, Any]) -> Pslg:
        """Makes a graph from a dictionary of the `triangle` package (vertices, segments, holes, regions, ...).

        Args:
            data: lists and arrays by name, in any shape that `triangle.triangulate` takes. Without segments the graph
                has vertices only, whose convex hull is the domain. Triangles are not used (`Mesh.from_triangle`).

        Raises:
            WrongTypeError, InvalidMeshError: as for `Mesh.from_triangle`.
        """
        from dmr.mesh.exchange.triangle_dictionaries import pslg_fields

        return cls(**pslg_fields(data))  # type: ignore[arg-type]

    def to_triangle(self) -> dict[str, NDArray[Any]]:
        """Returns the dictionary that the `triangle` package takes, with copies in its order and dtypes."""
        from dmr.mesh.exchange.triangle_dictionaries import pslg_dictionary

        return pslg_dictionary(self)

    def __repr__(self) -> str:
        return f"Pslg({_counts(self, 'vertices', 'segments', 'holes')})"

    def _repr_html_(self) -> str:
        """Returns a small picture for notebooks."""
        from dmr.mesh.pictures.thumbnails import page, picture_of_graph

        return page(picture_of_graph(self), repr(self))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draws the graph with matplotlib: segments, vertices, crosses in holes, the attributes of regions.

        Args:
            ax: the axes to draw on; None for those of a new figure.

        Returns:
            The axes.

        Raises:
            OptionError: `ax` is not axes. DmrError: matplotlib is missing, or there are no vertices.
        """
        from dmr.mesh.pictures.plotting import plot_pslg

        return plot_pslg(self, ax)


def _made(cls: type[_Made], arrays: Mapping[str, Any]) -> _Made:
    """Makes a mesh or graph from its fields as they are; omitted ones have their defaults."""
    item = cls.__new__(cls)
    for name, default, factory in _fields(cast(Any, cls)):
        value = arrays[name] if name in arrays else default if factory is None else factory()
        object.__setattr__(item, name, value)
    assert arrays.keys() <= vars(item).keys(), f"{cls.__name__} has no field for one of {', '.join(arrays)}"
    return item


@cache
def _fields(cls: type) -> list[tuple[str, Any, Callable[[], Any] | None]]:
    """Returns the name of each field of a dataclass, and its default, or what makes it."""
    return [
        (each.name, each.default, None if each.default_factory is MISSING else each.default_factory)
        for each in fields(cls)
    ]


def _given(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {name: array for name, array in arrays.items() if array is not None}


def _no_labels(vertices: int, segments: int) -> dict[str, NDArray[Any]]:
    """Returns what `_labels` gives to an object without markers and attributes."""
    return {"segment_markers": np.zeros(segments, np.int32), "vertex_attributes": np.empty((vertices, 0))}


def _labels(holder: Mesh | Pslg, vertices: int, segments: int) -> dict[str, NDArray[Any] | None]:
    """Converts what both types store for each vertex and segment."""
    segment_markers, markers, attributes = holder.segment_markers, holder.vertex_markers, holder.vertex_attributes
    return {
        "segment_markers": np.zeros(segments, np.int32)
        if segment_markers is None
        else whole_table(segment_markers, (segments,), "segment_markers"),
        "vertex_markers": None if markers is None else whole_table(markers, (vertices,), "vertex_markers"),
        "vertex_attributes": np.empty((vertices, 0))
        if attributes is None
        else real_table(attributes, (vertices, None), "vertex_attributes"),
    }


def _counts(item: Mesh | Pslg, *names: str) -> str:
    """Counts the rows of arrays: "4 vertices, 1 segment"."""
    counts = [(len(getattr(item, name)), name) for name in names]
    return ", ".join(f"{count} {_SINGULAR[name] if count == 1 else name}" for count, name in counts)


_SINGULAR = {"vertices": "vertex", "triangles": "triangle", "segments": "segment", "holes": "hole"}
