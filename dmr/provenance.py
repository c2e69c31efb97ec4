"""Records the meshes that `dmr.triangulate` made, whose boundary needs no proof.

The triangulation works with exact predicates: its triangles are positively oriented, they cover no place twice, and
vertices in one place are merged. A part of it, such as what is left after carving, has these properties too.

The record holds the object and its two arrays, not their contents: a copy, an unpickled mesh, or one whose arrays were
replaced is a mesh from outside, and is checked like any other.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from dmr.meshes import Float, Int, Mesh

_MADE: WeakKeyDictionary[Mesh, tuple[Float, Int]] = WeakKeyDictionary()


def record_triangulation(mesh: Mesh) -> Mesh:
    """Records that the project's own triangulation made a mesh from arrays that nobody else holds; returns the mesh."""
    _MADE[mesh] = mesh.vertices, mesh.triangles
    return mesh


def is_triangulation(mesh: Mesh) -> bool:
    """Whether the project's own triangulation made exactly this object, with the arrays that it has now."""
    vertices, triangles = _MADE.get(mesh, (None, None))
    return mesh.vertices is vertices and mesh.triangles is triangles
