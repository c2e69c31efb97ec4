"""The list of edges of a mesh, each once, with their markers, look-up in this list, and what edges connect."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.arrays import Int, MeshArrays


def unique_edges(mesh: MeshArrays) -> tuple[Int, Int]:
    """List every edge once, smaller vertex first, in ascending order, and its number of triangles (1: boundary)."""
    n = max(len(mesh.vertices), 1)
    ends = mesh.triangles[:, [1, 2, 2, 0, 0, 1]].reshape(-1, 2)
    keys = np.minimum(ends[:, 0], ends[:, 1]).astype(np.int64)
    keys *= n
    keys += np.maximum(ends[:, 0], ends[:, 1])
    del ends
    keys.sort()
    first = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    places = np.flatnonzero(first)
    counts = np.diff(places, append=len(keys)).astype(np.int32)
    keys = keys[places]
    edges = np.empty((len(keys), 2), np.int32)
    edges[:, 0] = keys // n
    edges[:, 1] = keys - edges[:, 0].astype(np.int64) * n
    return edges, counts


def find_edges(mesh: MeshArrays) -> tuple[Int, Int]:
    """List all edges of a mesh, each once, sorted by vertices, and their markers.

    Args:
        mesh: any mesh.

    Returns:
        (e, 2) int32 edges with the smaller vertex first; (e,) int32 markers: that of the segment if the edge is a
        segment with a marker other than 0; otherwise 1 on the boundary and 0 inside, as in Triangle.
    """
    edges, uses = unique_edges(mesh)
    markers = (uses == 1).astype(np.int32)
    assert mesh.segment_markers is not None
    said = np.flatnonzero(mesh.segment_markers)[::-1]  # later writes win: the first marker is written last
    places = edge_places(edges, mesh.segments[said], len(mesh.vertices))
    markers[places[places >= 0]] = mesh.segment_markers[said][places >= 0]
    return edges, markers


def edge_places(edges: Int, wanted: Int, vertex_count: int) -> NDArray[np.int64]:
    """Find the positions of edges in a list such as that of `find_edges`.

    Args:
        edges: (e, 2) int32, the smaller vertex first, sorted by vertices.
        wanted: (w, 2) int32, in either direction.
        vertex_count: larger than any index in either array.

    Returns:
        (w,) int64, -1 for edges that are not in the list.
    """
    if not len(edges):
        return np.full(len(wanted), -1, np.int64)
    known = edges[:, 0].astype(np.int64) * vertex_count + edges[:, 1]
    keys = wanted.min(axis=1).astype(np.int64) * vertex_count + wanted.max(axis=1)
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[places] == keys, places, -1)


def edge_keys(starts: NDArray[Any], ends: NDArray[Any]) -> NDArray[np.int64]:
    """Returns one number per edge, which does not depend on its direction.

    Args:
        starts, ends: the vertices of each edge, below 2^31; two arrays of one shape.
    """
    low, high = np.minimum(starts, ends).astype(np.int64), np.maximum(starts, ends)
    keys: NDArray[np.int64] = low << 32 | high
    return keys


def connected(count: int, t: NDArray[Any], u: NDArray[Any]) -> NDArray[np.int64]:
    """Compute the connected components of a graph.

    Args:
        count: the number of nodes; t, u: (k,) the two nodes of each edge.

    Returns:
        (count,) the smallest node in the component of each node.
    """
    label = np.arange(count)
    # Each round merges every component that has a neighbour with one of its neighbours: at most half of them remain.
    while True:
        first, second = label[t], label[u]
        apart = first != second
        if not apart.any():
            return label
        t, u, first, second = t[apart], u[apart], first[apart], second[apart]
        np.minimum.at(label, np.maximum(first, second), np.minimum(first, second))
        while True:
            jumped = label[label]
            if np.array_equal(jumped, label):
                break
            label = jumped
