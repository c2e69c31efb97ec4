"""Converts meshes to the form that Triangle writes: the whole boundary as segments, all markers, no unused vertices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dmr.mesh.edges import edge_places, unique_edges
from dmr.mesh.types import Mesh


def with_markers(mesh: Mesh, default: int = 1) -> Mesh:
    """Sets markers that are missing or 0 by Triangle's rule.

    Args:
        mesh: any mesh.
        default: the marker of the boundary, 1 in Triangle.

    Returns:
        The mesh with the default marker for segments on the boundary. Vertices take the given marker of a segment
        through them, else the default on the boundary and 0 inside.
    """
    edges, uses = unique_edges(mesh)
    boundary = edges[uses == 1]
    assert mesh.segment_markers is not None
    on_boundary = edge_places(boundary, mesh.segments, len(mesh.vertices)) >= 0
    markers = np.where((mesh.segment_markers == 0) & on_boundary, default, mesh.segment_markers)
    implied = np.zeros(len(mesh.vertices), np.int32)
    implied[boundary] = default
    said = np.flatnonzero(mesh.segment_markers)[::-1]  # later writes win: the first segment is written last
    implied[mesh.segments[said]] = mesh.segment_markers[said, None]
    given = 0 if mesh.vertex_markers is None else mesh.vertex_markers
    return replace(mesh, segment_markers=markers, vertex_markers=np.where(given != 0, given, implied))


def with_boundary_segments(mesh: Mesh, default: int = 1) -> Mesh:
    """Adds all boundary edges to the segments, as in each .poly file that Triangle writes.

    Args:
        mesh: any mesh.
        default: the marker of added segments, 1 in Triangle.

    Returns:
        The mesh with the same segments, in their order, followed by the missing boundary edges, with this marker.
    """
    edges, uses = unique_edges(mesh)
    places = edge_places(edges, mesh.segments, len(mesh.vertices))
    missing = uses == 1
    missing[places[places >= 0]] = False
    assert mesh.segment_markers is not None
    return replace(
        mesh,
        segments=np.concatenate([mesh.segments, edges[missing]]),
        segment_markers=np.concatenate([mesh.segment_markers, np.full(int(missing.sum()), default, np.int32)]),
    )


def without_idle_vertices(mesh: Mesh) -> Mesh:
    """Removes the vertices that neither a triangle nor a segment uses; the others are renumbered in their order."""
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
