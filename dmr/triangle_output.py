"""What a mesh holds when Triangle writes it: the whole boundary as segments, markers everywhere, no idle vertices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dmr.edges import edge_places
from dmr.meshes import Mesh
from dmr.quality import unique_edges


def with_markers(mesh: Mesh) -> Mesh:
    """The mesh with markers by Triangle's rule, where none or 0 was given.

    Args:
        mesh: any mesh.

    Returns:
        The mesh with 1 for segments on the boundary; and for vertices the marker that a segment through them was given,
        else 1 on the boundary and 0 inside.
    """
    edges, uses = unique_edges(mesh)
    boundary = edges[uses == 1]
    assert mesh.segment_markers is not None
    on_boundary = edge_places(boundary, mesh.segments, len(mesh.vertices)) >= 0
    markers = np.where((mesh.segment_markers == 0) & on_boundary, 1, mesh.segment_markers)
    implied = np.zeros(len(mesh.vertices), np.int32)
    implied[boundary] = 1
    said = np.flatnonzero(mesh.segment_markers)[::-1]  # later writes win: the first segment is written last
    implied[mesh.segments[said]] = mesh.segment_markers[said, None]
    given = 0 if mesh.vertex_markers is None else mesh.vertex_markers
    return replace(mesh, segment_markers=markers, vertex_markers=np.where(given != 0, given, implied))


def with_boundary_segments(mesh: Mesh) -> Mesh:
    """The mesh with every edge of its boundary among its segments, as in each .poly file that Triangle writes.

    Args:
        mesh: any mesh.

    Returns:
        The same segments, in their order, then the missing edges of the boundary, with the marker 1.
    """
    edges, uses = unique_edges(mesh)
    places = edge_places(edges, mesh.segments, len(mesh.vertices))
    missing = uses == 1
    missing[places[places >= 0]] = False
    assert mesh.segment_markers is not None
    return replace(
        mesh,
        segments=np.concatenate([mesh.segments, edges[missing]]),
        segment_markers=np.concatenate([mesh.segment_markers, np.ones(int(missing.sum()), np.int32)]),
    )


def without_idle_vertices(mesh: Mesh) -> Mesh:
    """The mesh without the vertices that neither a triangle nor a segment uses; the others move up, in their order."""
    used = np.zeros(len(mesh.vertices), bool)
    used[mesh.triangles] = True
    used[mesh.segments] = True
    if used.all():
        return mesh
    numbers = (np.cumsum(used) - 1).astype(np.int32)
    assert mesh.vertex_attributes is not None
    return replace(
        mesh,
        vertices=mesh.vertices[used],
        triangles=numbers[mesh.triangles],
        segments=numbers[mesh.segments],
        vertex_markers=None if mesh.vertex_markers is None else mesh.vertex_markers[used],
        vertex_attributes=mesh.vertex_attributes[used],
    )
