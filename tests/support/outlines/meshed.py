"""A graph with a hole and regions, meshes of graphs by Triangle, and changes of meshes, for tests of validation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dmr.mesh.types import Mesh, Pslg
from tests.support.meshes import triangulated
from tests.support.planar import exact

# A square that segment 9 divides; a triangular hole on its left; a segment inside that touches nothing on its right.
VERTICES = [
    [0, 0], [10, 0], [10, 10], [0, 10], [2.1, 2], [4.3, 2.3],
    [3, 4.7], [5.1, 0], [6.2, 10], [7, 3.3], [8.1, 6.7], [9, 9.2],
]  # fmt: skip
SEGMENTS = [[0, 7], [7, 1], [1, 2], [2, 8], [8, 3], [3, 0], [4, 5], [5, 6], [6, 4], [7, 8], [9, 10]]
MARKERS = [1, 2, 3, 4, 5, 6, 0, 0, 0, 10, 11]
DIVIDER, INSIDE = 9, 10
DOMAIN = Pslg(
    VERTICES, SEGMENTS, holes=[[3, 3]], regions=[[1, 1, 7, 0.9], [9, 1, 9, -1]], segment_markers=MARKERS
)  # fmt: skip


def between(p, q, t):
    """The point of parameter t on the way from p to q, rounded once."""
    return [float(a + Fraction(t) * (b - a)) for a, b in zip(exact(p), exact(q), strict=True)]


def meshed(pslg, pieces=4, options="pA", segments=None, crossings=(), markers=None):
    """A mesh of a graph by Triangle: its segments cut in pieces beforehand, at points that are rounded once.

    Args:
        segments, markers: what to mesh instead of the graph's own segments: ones without conflicts.
        crossings: points where segments cross, which come after the graph's vertices.
    """
    segments = pslg.segments.tolist() if segments is None else segments
    markers = pslg.segment_markers.tolist() if markers is None else markers
    vertices = [*pslg.vertices.tolist(), *map(list, crossings)]
    chains, labels = [], []
    for (a, b), marker in zip(segments, markers, strict=True):
        last = a
        for k in range(1, pieces):
            vertices.append(between(vertices[a], vertices[b], k / pieces + 0.013 * (a % 3)))
            chains.append((last, len(vertices) - 1))
            last = len(vertices) - 1
        chains.append((last, b))
        labels += [marker] * pieces
    # Unused vertices outside the domain are not given to Triangle.
    data = {"vertices": np.array(vertices), "segments": np.array(chains), "segment_markers": np.array(labels)[:, None]}
    if len(pslg.holes):
        data["holes"] = pslg.holes.copy()
    if len(pslg.regions):
        data["regions"] = pslg.regions.copy()
    if pslg.vertex_markers is not None:
        more = len(vertices) - len(pslg.vertices)
        data["vertex_markers"] = np.concatenate([pslg.vertex_markers, np.zeros(more, np.int32)])[:, None]
    return triangulated(data.pop("vertices"), options, **data)


def changed(mesh, **changes):
    """A copy with other arrays."""
    names = ("vertices", "triangles", "segments", "segment_markers", "vertex_markers", "triangle_attributes")
    return Mesh(**{name: changes.get(name, getattr(mesh, name)) for name in names})


def without(mesh, triangles):
    """A copy without some triangles."""
    keep = np.ones(len(mesh.triangles), bool)
    keep[triangles] = False
    return changed(mesh, triangles=mesh.triangles[keep], triangle_attributes=mesh.triangle_attributes[keep])


def indices(report, check):
    """The (element, index) pairs at which a check failed."""
    return {(f.element, f.index) for f in report.failures if f.check == check}


def pieces_of(mesh, pslg, segment):
    """The numbers of the pieces of a segment, and their vertices, by their distance."""
    a, b = (np.array(pslg.vertices[i]) for i in pslg.segments[segment])
    d = (b - a) / np.linalg.norm(b - a)
    ends = mesh.vertices[mesh.segments] - a
    away = np.abs(ends[..., 0] * d[1] - ends[..., 1] * d[0]).max(axis=1)
    along = ends @ d
    chosen = (away < 1e-9) & (along > -1e-9).all(axis=1) & (along < np.linalg.norm(b - a) + 1e-9).all(axis=1)
    return np.flatnonzero(chosen)


def chain_vertices(mesh, pslg, segment):
    """The vertices that were added on a segment."""
    return sorted({v for i in pieces_of(mesh, pslg, segment) for v in mesh.segments[i].tolist()} - set(range(12)))
