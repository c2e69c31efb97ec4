"""The edges of a mesh, each once: their markers, and where in the list an edge stands."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.meshes import Int, Mesh
from dmr.quality import unique_edges


def find_edges(mesh: Mesh) -> tuple[Int, Int]:
    """All edges of a mesh, each once, by ascending vertices; and their markers.

    Args:
        mesh: any mesh.

    Returns:
        (e, 2) int32 with the smaller vertex first; (e,) int32 markers: that of the segment that the edge is; else, and
        where that is 0, 1 on the boundary and 0 inside, as in Triangle.
    """
    edges, uses = unique_edges(mesh)
    markers = (uses == 1).astype(np.int32)
    assert mesh.segment_markers is not None
    said = np.flatnonzero(mesh.segment_markers)[::-1]  # later writes win: the first marker is written last
    places = edge_places(edges, mesh.segments[said], len(mesh.vertices))
    markers[places[places >= 0]] = mesh.segment_markers[said][places >= 0]
    return edges, markers


def edge_places(edges: Int, wanted: Int, vertex_count: int) -> NDArray[np.int64]:
    """Where edges stand in a list such as that of `find_edges`.

    Args:
        edges: (e, 2) int32, the smaller vertex first, by ascending vertices.
        wanted: (w, 2) int32, in either direction.
        vertex_count: more than any index in either.

    Returns:
        (w,) int64, -1 for what is not in the list.
    """
    if not len(edges):
        return np.full(len(wanted), -1, np.int64)
    known = edges[:, 0].astype(np.int64) * vertex_count + edges[:, 1]
    keys = wanted.min(axis=1).astype(np.int64) * vertex_count + wanted.max(axis=1)
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[places] == keys, places, -1)
