"""Registry of the meshes created by `dmr.triangulate`, whose boundary needs no check.

The triangulation uses exact predicates: its triangles are positively oriented and do not overlap, and coincident
vertices are merged. A subset of it, such as the triangles that remain after holes are carved, also has these
properties.

The registry identifies the object and its two arrays, not their contents. A copy, an unpickled mesh, or a mesh whose
arrays were replaced counts as an external mesh and is checked like any other.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from dmr.mesh.types import Float, Int, Mesh

# Kept outside the meshes, because their copies and pickles get all of their attributes. An entry is written before any
# other thread knows the mesh, never changed, and lasts as long as the mesh; a child of fork() inherits both.
_MADE: WeakKeyDictionary[Mesh, tuple[Float, Int]] = WeakKeyDictionary()


def record_triangulation(mesh: Mesh) -> Mesh:
    """Register a mesh that the project's triangulation created from arrays with no other references; returns it."""
    _MADE[mesh] = mesh.vertices, mesh.triangles
    return mesh


def is_triangulation(mesh: Mesh) -> bool:
    """Test whether the project's triangulation created exactly this object, with its current arrays."""
    vertices, triangles = _MADE.get(mesh, (None, None))
    return mesh.vertices is vertices and mesh.triangles is triangles
