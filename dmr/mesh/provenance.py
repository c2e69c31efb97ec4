"""Registries of meshes that the project created.

Of meshes created by `dmr.triangulate`, the boundary needs no check, and the links are known; of refined meshes, the
input is known.

The triangulation uses exact predicates: its triangles are positively oriented and do not overlap, and coincident
vertices are merged. A subset of it, such as the triangles that remain after holes are carved, also has these
properties.

A registry identifies the object and its arrays, not their contents. A copy, an unpickled mesh, or a mesh whose
arrays were replaced counts as an external mesh and is checked like any other. Only the input of a refined mesh is also
known if another object has all arrays that its outline consists of; vertices inside may have got markers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary, finalize, ref

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.arrays import Float, Int, MeshArrays
from dmr.mesh.names import Names

_Mesh = TypeVar("_Mesh", bound=MeshArrays)


@dataclass(frozen=True, eq=False)
class Links:
    """Edges of a mesh, and an order of its vertices, as its triangulation has found them.

    Attributes:
        find: returns `neighbours`, which may have to be copied from a device.
        sides: (s,) int32 a triangle on a segment, and which of its edges that is: triangle << 2 | edge.
        along: (n,) int32 the vertices along the curve by which refinements order them; None if it is not known.
    """

    find: Callable[[], Int]
    sides: Int
    along: Int | None = None

    @property
    def neighbours(self) -> Int:
        """(m, 3) int32, as `Mesh.neighbours`."""
        return self.find()


# Kept outside the meshes, because their copies and pickles get all of their attributes. An entry is written before any
# other thread knows the mesh, never changed, and lasts as long as the mesh; a child of fork() inherits both.
_MADE: WeakKeyDictionary[MeshArrays, tuple[Float, Int, Int, Links]] = WeakKeyDictionary()


def record_triangulation(mesh: _Mesh, links: Links) -> _Mesh:
    """Register a mesh that the project's triangulation created from arrays with no other references; returns it."""
    _MADE[mesh] = mesh.vertices, mesh.triangles, mesh.segments, links
    return mesh


def is_triangulation(mesh: MeshArrays) -> bool:
    """Test whether the project's triangulation created exactly this object, with its current arrays."""
    return links_of(mesh) is not None


def links_of(mesh: MeshArrays) -> Links | None:
    """Return the links of a mesh for which `is_triangulation` is true, None for any other."""
    current = mesh.vertices, mesh.triangles, mesh.segments  # first: a mesh is registered when it gets its triangles
    *arrays, links = _MADE.get(mesh, (None, None, None, None))
    return links if all(one is other for one, other in zip(current, arrays, strict=True)) else None


# As _MADE: refined meshes, and their origins. Only the origin is kept alive, not the meshes between. This table knows a
# mesh as an object, also if it has the vertices of its origin; the one below knows it by its vertices, from which other
# objects are made, and must not keep these alive.
_REFINED: WeakKeyDictionary[MeshArrays, tuple[Float, Int, Int, Any]] = WeakKeyDictionary()


class _SameOutline(NamedTuple):
    """The arrays of a refined mesh that hold its outline, without keeping them alive; its names; and its origin."""

    arrays: tuple[ref[NDArray[Any]] | None, ...]
    vertex_markers: ref[NDArray[Any]] | None
    names: Names
    origin: Any

    def holds(self, mesh: MeshArrays) -> bool:
        """Whether a mesh has these arrays, not only equal ones, and these names, apart from markers of vertices."""
        known = [None if array is None else array() for array in self.arrays]
        return all(one is other for one, other in zip(_outline(mesh), known, strict=True)) and self.names == mesh.names

    def newly_marked(self, mesh: Any) -> NDArray[np.intp]:
        """Returns the vertices of such a mesh with a marker that they have not had, ascending."""
        before, now = None if self.vertex_markers is None else self.vertex_markers(), mesh.vertex_markers
        if now is None or now is before:
            return np.empty(0, np.intp)
        return np.flatnonzero((now != 0) & (now != (0 if before is None else before)))


# By the identity of the vertices: a mesh that `dataclasses.replace` has made, with other attributes of vertices or
# bounds of areas, has the outline of the refined mesh. An entry lasts as long as the vertices.
_BY_VERTICES: dict[int, _SameOutline] = {}


def _outline(mesh: Any) -> tuple[NDArray[Any] | None, ...]:
    """Returns the arrays that determine the outline of a mesh."""
    names = ("vertices", "triangles", "segments", "segment_markers", "triangle_attributes")
    return tuple(getattr(mesh, name) for name in names)


def record_refinement(mesh: MeshArrays, source: MeshArrays) -> None:
    """Register a mesh that was refined or optimised from `source`, and so has the same outline."""
    origin = origin_of(source)
    _REFINED[mesh] = mesh.vertices, mesh.triangles, mesh.segments, origin
    if origin.vertices is mesh.vertices:  # the entry would keep its own vertices alive
        return
    key = id(mesh.vertices)
    if key not in _BY_VERTICES:
        finalize(mesh.vertices, _BY_VERTICES.pop, key, None).atexit = False
    *arrays, markers = (
        None if array is None else ref(array) for array in (*_outline(mesh), cast(Any, mesh).vertex_markers)
    )
    _BY_VERTICES[key] = _SameOutline(tuple(arrays), markers, mesh.names, origin)


def record_same(mesh: MeshArrays, source: MeshArrays) -> None:
    """Register a mesh with the vertices, triangles and segments of another one, whose provenance it shares."""
    links = links_of(source)
    if links is not None:
        record_triangulation(mesh, links)
    record_refinement(mesh, source)


def origin_of(mesh: _Mesh) -> _Mesh:
    """Return the mesh from which a mesh was refined, in any number of steps; of a mesh of other origin, itself."""
    return origin_and_marked(mesh)[0]


def origin_and_marked(mesh: _Mesh) -> tuple[_Mesh, NDArray[np.intp]]:
    """Return the origin of a mesh, and the vertices that have got a marker since it was refined.

    Args:
        mesh: any mesh.

    Returns:
        The mesh as `origin_of` returns it, and (k,) vertices inside the domain, ascending. A mesh whose vertices on
        segments, the boundary or between regions have got markers is of other origin.
    """
    none = np.empty(0, np.intp)
    vertices, triangles, segments, origin = _REFINED.get(mesh, (None, None, None, mesh))
    if mesh.vertices is vertices and mesh.triangles is triangles and mesh.segments is segments:
        return cast(_Mesh, origin), none
    shared = _BY_VERTICES.get(id(mesh.vertices))
    if shared is None or not shared.holds(mesh):
        return mesh, none
    marked = shared.newly_marked(mesh)
    if marked.size and np.isin(marked, _constrained_ends(mesh)).any():
        return mesh, none
    return cast(_Mesh, shared.origin), marked


def _constrained_ends(mesh: Any) -> NDArray[Any]:
    """Return the ends of segments, boundary edges and edges between regions, with repetitions."""
    across = mesh.neighbours
    constrained = across < 0
    if mesh.triangle_attributes.shape[1]:
        region = mesh.triangle_attributes[:, 0]
        constrained |= region[:, None] != region[across]
    triangles, edges = np.nonzero(constrained)
    ends = [mesh.triangles[triangles, (edges + k) % 3] for k in (1, 2)]
    return np.concatenate([mesh.segments.reshape(-1), *ends])
