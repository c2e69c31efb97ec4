"""Vertex markers that follow from the segments: a file with segments and their markers loses nothing without them."""

from __future__ import annotations

import numpy as np

from dmr.mesh.types import Mesh


def are_implied(mesh: Mesh) -> bool:
    """Whether every vertex marker is 0 or the marker of a segment through the vertex, or 1 on the boundary.

    Refinement and triangulation give such markers to the vertices of a graph without markers of its own.
    """
    markers = mesh.vertex_markers
    assert mesh.segment_markers is not None
    if markers is None:
        return True
    marked = np.flatnonzero(markers)
    ends = _pairs(mesh.segments.ravel(), np.repeat(mesh.segment_markers, 2))
    others = marked[~np.isin(_pairs(marked, markers[marked]), ends)]
    if not len(others):
        return True
    return bool((markers[others] == 1).all() and np.isin(others, mesh.boundary).all())


def _pairs(vertices: np.ndarray, markers: np.ndarray) -> np.ndarray:
    """Packs vertices and markers of 32 bits in one number each."""
    packed: np.ndarray = vertices.astype(np.int64) << 32 | markers.astype(np.int64) & 0xFFFFFFFF
    return packed
