"""Finds parts of an outline that are tiny compared with their distances from all others.

Between many of them, such as hundreds of tiny holes, a harmonic function is nearly everywhere as small as at these
parts, since edges of its triangulation join them: there would be millions of triangles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.edges import connected
from dmr.mesh.types import Float, Int, Mesh
from dmr.refinement.placement.extension import outline_triangulation
from dmr.refinement.placement.metric import lengths
from dmr.refinement.placement.outline import Flags

Index = NDArray[np.int64]

AWAY = 24.0  # an isolated part is farther from others than this many times the diagonal of its bounding box


def isolated(mesh: Mesh, segments: Int, points: Float, pieces: Int, origin: Int) -> Flags:
    """Returns the pieces of isolated parts of an outline, if there are at least two such parts.

    A part is a connected component of the segments, or several that are near to each other compared with their
    distances from others: single-linkage clusters. One part alone is not isolated: sizes then grow from it up to the
    walls around it.

    Args:
        mesh: a triangulation of the domain; segments: (s, 2) of it.
        points: (n, 2) of the divided outline, first the vertices of the mesh; pieces: (p, 2) of it.
        origin: (p,) the segment of each piece.
    """
    none = np.zeros(len(pieces), bool)
    component = connected(len(mesh.vertices), *segments.T)
    on_segments = np.flatnonzero(np.bincount(segments.ravel(), minlength=len(component)))
    heads, part = np.unique(component[on_segments], return_inverse=True)
    if len(heads) < 3:
        return none
    low, high = np.full((len(heads), 2), np.inf), np.full((len(heads), 2), -np.inf)
    np.minimum.at(low, part, mesh.vertices[on_segments])
    np.maximum.at(high, part, mesh.vertices[on_segments])
    farthest = lengths((high.max(axis=0) - low.min(axis=0))[None])[0]
    if np.count_nonzero(AWAY * lengths(high - low) < farthest) < 2:
        return none
    of_vertex = np.full(len(component), -1)
    of_vertex[on_segments] = part
    # Distances of vertices first: those of the divided outline, which need a triangulation, are not larger.
    if not _clusters(*_links(mesh.vertices, mesh.triangles, of_vertex), low, high).any():
        return none
    of_piece = of_vertex[segments[:, 0]][origin]
    of_point = np.full(len(points), -1)
    of_point[pieces] = of_piece[:, None]
    used = np.flatnonzero(of_point >= 0)
    place = np.empty(len(points), np.int32)
    place[used] = np.arange(len(used))
    plane = outline_triangulation(points[used], place[pieces])
    part = np.full(len(plane.vertices), -1)  # also at points where pieces cross
    part[: len(used)] = of_point[used]
    start, end, length = _links(plane.vertices, plane.triangles, part)
    # Parts of the domain that are not connected, such as two plates, are not near or far from each other.
    start_of, end_of = mesh.triangles[:, [0, 1]].ravel(), mesh.triangles[:, [1, 2]].ravel()
    domain = connected(len(mesh.vertices), start_of, end_of)[heads]
    within = domain[start] == domain[end]
    found: Flags = _clusters(start[within], end[within], length[within], low, high)[of_piece]
    return found


def _links(points: Float, triangles: Int, part: Index) -> tuple[Index, Index, Float]:
    """Returns pairs of parts that edges of a triangulation join, and the lengths of the shortest ones, ascending.

    Args:
        points, triangles: the triangulation; part: (n,) of each point, -1 for those of none.
    """
    start, end = triangles.T.ravel(), triangles[:, [1, 2, 0]].T.ravel()
    one, other = part[start], part[end]
    joins = np.flatnonzero((one != other) & (one >= 0) & (other >= 0))
    length = lengths(points[end[joins]] - points[start[joins]])
    low, high = np.minimum(one, other)[joins], np.maximum(one, other)[joins]
    order = np.lexsort((length, high, low))
    is_first = (np.diff(low[order], prepend=-1) != 0) | (np.diff(high[order], prepend=-1) != 0)
    order = order[is_first]
    order = order[np.argsort(length[order], kind="stable")]
    return low[order], high[order], length[order]


def _clusters(start: Index, end: Index, length: Float, low: Float, high: Float) -> Flags:
    """Returns the parts in isolated clusters; none if there are fewer than two such clusters.

    Args:
        start, end, length: pairs of parts, and their distances, ascending; low, high: (c, 2) bounding boxes of parts.
    """
    count = len(low)
    head, members = list(range(count)), [[part] for part in range(count)]
    low, high = low.copy(), high.copy()
    reach = (AWAY * lengths(high - low)).tolist()
    found, clusters = np.zeros(count, bool), 0
    for one, other, distance in zip(start.tolist(), end.tolist(), length.tolist(), strict=True):
        a, b = head[one], head[other]
        if a == b:
            continue
        for cluster in (a, b):
            if reach[cluster] < distance:
                found[members[cluster]] = True
                clusters += 1
        if len(members[a]) < len(members[b]):
            a, b = b, a
        low[a], high[a] = np.minimum(low[a], low[b]), np.maximum(high[a], high[b])
        reach[a] = float(AWAY * lengths((high[a] - low[a])[None])[0])
        for part in members[b]:
            head[part] = a
        members[a] += members[b]
    return found if clusters > 1 else np.zeros(count, bool)
