"""Second-order meshes, with the midpoint of every edge as a node, for quadratic finite elements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dmr.common.available import require_memory
from dmr.common.frozen import HoldsFrozen, freeze_fields
from dmr.common.text import counted
from dmr.errors import InvalidMeshError
from dmr.mesh.arguments import check_kind
from dmr.mesh.arrays import check_table, whole_table
from dmr.mesh.edges import edge_places, find_edges
from dmr.mesh.names import Names
from dmr.mesh.naming import named
from dmr.mesh.types import Float, Int, Mesh

BYTES_PER_TRIANGLE = 95  # peak memory, measured


@dataclass(frozen=True, eq=False)
class SecondOrder(HoldsFrozen):
    """A mesh of straight-sided six-node triangles.

    ::

                 2                 Points 3, 4, 5 of a triangle are the midpoints of the edges opposite its corners
                / \\                0, 1, 2. Triangle's files have this order; VTK, Gmsh and meshio put the midpoint
               4   3               of edge (0, 1) first, then (1, 2) and (2, 0): columns 0, 1, 2, 5, 3, 4.
              /     \\
             0---5---1

    Attributes:
        vertices: (n + e, 2) float64: the vertices of the mesh, then the midpoints of its e edges.
        triangles: (m, 6) int32.
        edges: (e, 2) int32, the smaller vertex first, sorted by vertices; the midpoint of edge k has index n + k.
        vertex_markers: (n + e,) int32, or None if the mesh has none. If its edge is a segment with a marker other than
            0, a midpoint has this marker; otherwise it has 1 on the boundary and 0 inside.
        vertex_attributes: (n + e, a) float64: a midpoint has the mean of the attributes at its edge's ends.
        names: of regions and markers, those of the mesh.
    """

    vertices: Float
    triangles: Int
    edges: Int
    vertex_markers: Int | None
    vertex_attributes: Float
    names: Names

    def __post_init__(self) -> None:
        freeze_fields(self)

    def __repr__(self) -> str:
        return f"SecondOrder({len(self.vertices)} vertices, {len(self.triangles)} triangles, {len(self.edges)} edges)"

    def with_midpoints(self, segments: Int) -> Int:
        """Convert segments to elements of three points: both ends, then the midpoint.

        Args:
            segments: (s, 2) int32, edges of the mesh in either direction.

        Returns:
            (s, 3) int32.

        Raises:
            InvalidMeshError: a segment is not an edge of the mesh, and so has no midpoint.
        """
        count = len(self.vertices) - len(self.edges)
        segments = whole_table(segments, (None, 2), "segments")
        check_table(segments, count, "segment")
        places = edge_places(self.edges, segments, count)
        missing = np.flatnonzero(places < 0)
        if missing.size:
            index = int(missing[0])
            a, b = (named("vertex", end) for end in segments[index])
            raise InvalidMeshError(
                f"goes from {a} to {b}, which is not an edge of any triangle: it has no midpoint",
                "segment",
                index,
            )
        return np.column_stack([segments, count + places]).astype(np.int32)


def second_order(mesh: Mesh) -> SecondOrder:
    """Add the midpoints of the edges to a mesh, for quadratic elements.

    Args:
        mesh: any mesh; its vertices keep their numbers.

    Raises:
        InvalidMeshError: there are more points than 32-bit indices can represent.
        WrongTypeError: `mesh` is not a Mesh.
    """
    check_kind(mesh, Mesh)
    triangles = len(mesh.triangles)
    require_memory(BYTES_PER_TRIANGLE * triangles, f"second order of {counted(triangles, 'triangle')}")
    edges, edge_markers = find_edges(mesh)
    count = len(mesh.vertices)
    if count + len(edges) > 2**31 - 1:
        raise InvalidMeshError(f"{count} vertices and {len(edges)} midpoints are more than 32-bit indices can name")
    assert mesh.vertex_attributes is not None
    places = [edge_places(edges, mesh.triangles[:, [j, k]], count) for j, k in ((1, 2), (2, 0), (0, 1))]
    return SecondOrder(
        vertices=_with_means(mesh.vertices, edges),
        triangles=np.column_stack([mesh.triangles, count + np.stack(places, axis=1)]).astype(np.int32),
        edges=edges,
        vertex_markers=None if mesh.vertex_markers is None else np.concatenate([mesh.vertex_markers, edge_markers]),
        vertex_attributes=_with_means(mesh.vertex_attributes, edges),
        names=mesh.names,
    )


def _with_means(values: Float, edges: Int) -> Float:
    """Append the mean of each edge's two rows to the rows of values."""
    with np.errstate(invalid="ignore"):  # attributes may be infinite
        means = 0.5 * values[edges[:, 0]] + 0.5 * values[edges[:, 1]]  # halves first: sums may overflow
    return np.concatenate([values, means])
