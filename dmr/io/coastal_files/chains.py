"""Chains of edges: the rings of a mesh's boundary, and segments joined to paths."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.edges import edge_places
from dmr.mesh.types import Int, Mesh

Chain = tuple[int, list[int]]  # a marker, and vertices; in closed chains the last repeats the first


def boundary_chains(mesh: Mesh) -> list[Chain]:
    """The boundary as chains of one marker each, with the mesh on their left, in the order of their first vertices.

    Boundary edges that are not segments have marker 0. Rings that touch in a vertex stay separate.
    """
    ends, following = _boundary_edges(mesh)
    markers = _markers_of(mesh, ends).tolist()
    starts, follower = ends[:, 0].tolist(), following.tolist()
    seen = [False] * len(starts)
    chains: list[Chain] = []
    for first in np.argsort(ends[:, 0], kind="stable").tolist():
        if seen[first]:
            continue
        ring = [first]
        seen[first] = True
        while not seen[edge := follower[ring[-1]]]:
            ring.append(edge)
            seen[edge] = True
        for simple in _simple_rings(ring, starts):
            chains += _by_marker(simple, starts, markers)
    return chains


def segment_chains(segments: Int, markers: Int) -> list[Chain]:
    """Segments joined to paths of one marker each; a path ends where other than two of its marker's segments meet."""
    chains: list[Chain] = []
    for marker in np.unique(markers).tolist():
        rows = segments[markers == marker].tolist()
        at: dict[int, list[int]] = {}
        for k, row in enumerate(rows):
            for vertex in row:
                at.setdefault(vertex, []).append(k)
        free = [True] * len(rows)
        ends = [vertex for vertex, touching in at.items() if len(touching) != 2]
        for start in [*ends, *at]:
            for k in at[start]:
                if free[k]:
                    chains.append((marker, _path(start, k, rows, at, free)))
    return chains


def is_clockwise(mesh: Mesh, chain: list[int]) -> bool:
    """Whether a closed chain runs clockwise, as the boundary around a hole does."""
    x, y = (mesh.vertices[chain] - mesh.vertices[chain[0]]).T
    return bool((x[:-1] * y[1:] - x[1:] * y[:-1]).sum() < 0)


def _path(start: int, segment: int, rows: list[list[int]], at: dict[int, list[int]], free: list[bool]) -> list[int]:
    path = [start]
    following: int | None = segment
    while following is not None:
        free[following] = False
        a, b = rows[following]
        path.append(b if a == path[-1] else a)
        touching = at[path[-1]]
        following = next((k for k in touching if free[k]), None) if len(touching) == 2 else None
    return path


def _simple_rings(ring: list[int], starts: list[int]) -> Iterator[list[int]]:
    """Divides a ring of edges where it returns to a vertex, as around holes that touch."""
    open_edges: list[int] = []
    place: dict[int, int] = {}
    for edge in ring:
        vertex = starts[edge]
        if vertex in place:
            loop = open_edges[place[vertex] :]
            del open_edges[place[vertex] :]
            for done in loop:
                del place[starts[done]]
            yield loop
        place[vertex] = len(open_edges)
        open_edges.append(edge)
    yield open_edges


def _by_marker(ring: list[int], starts: list[int], markers: list[int]) -> list[Chain]:
    """Divides a ring of edges where the marker changes."""
    change = next((k for k in range(len(ring)) if markers[ring[k]] != markers[ring[k - 1]]), 0)
    ring = ring[change:] + ring[:change]
    chains = []
    place = 0
    for marker, edges in groupby(ring, key=lambda edge: markers[edge]):
        run = list(edges)
        place += len(run)
        chains.append((marker, [*(starts[edge] for edge in run), starts[ring[place % len(ring)]]]))
    return chains


def _boundary_edges(mesh: Mesh) -> tuple[Int, NDArray[np.intp]]:
    """The boundary edges, directed with the mesh on their left, and the number of the edge that follows each."""
    neighbours, triangles = mesh.neighbours, mesh.triangles
    triangle, edge = np.nonzero(neighbours < 0)
    place = np.full(3 * len(triangles), -1, np.intp)
    place[3 * triangle + edge] = np.arange(len(edge))
    ends = triangles[triangle[:, None], (edge[:, None] + (1, 2)) % 3]
    # Around the end of the edge, from triangle to triangle, to the next boundary edge.
    at, side = triangle.copy(), (edge + 1) % 3
    while (inner := np.flatnonzero(neighbours[at, side] >= 0)).size:
        at[inner] = neighbours[at[inner], side[inner]]
        corner = np.argmax(triangles[at[inner]] == ends[inner, 1, None], axis=1)
        side[inner] = (corner + 2) % 3
    return ends, place[3 * at + side]


def _markers_of(mesh: Mesh, ends: Int) -> Int:
    segments, markers, _ = mesh.unique_segment_rows()
    places = edge_places(segments, ends, len(mesh.vertices))
    return np.append(markers, np.int32(0))[places]  # the last one is for edges that are not segments, at -1
