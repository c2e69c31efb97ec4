"""Checks of the markers that a mesh inherits from a planar straight-line graph.

A segment goes through an edge or a vertex of the mesh if its path does (`dmr.validation.domain.paths`). All
requirements are derived from the graph and these paths.

* "markers": an edge has the marker of a segment through it. (The documented guarantee is the first such segment that
  has a marker. Other programs choose differently among several; that is not a failure.)
* "vertex markers": a vertex of the graph keeps its marker. (If coincident vertices are given and the marker of the one
  that the mesh uses is 0, it has the first of their markers that is not 0.) Any other vertex, and one whose marker is
  0, has the marker of the lowest-numbered segment through it that has one. If there is no such segment, the marker is 0
  inside, and on the boundary 1, or the first unused number if 1 has a name. Where rounding has merged segments, the
  path of one of them is not the only possible one: there, any segment whose tolerance band holds the vertex may pass
  through it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.exact import Points
from dmr.mesh.naming import named
from dmr.mesh.types import Mesh
from dmr.validation.domain.outline import Outline
from dmr.validation.domain.paths import Paths
from dmr.validation.domain.tolerance_bands import ToleranceBands
from dmr.validation.report import Findings
from dmr.validation.triangulation.topology import Mask, Topology, describe, place

Int64 = NDArray[np.int64]


def check_markers(
    mesh: Mesh, topology: Topology, points: Points, outline: Outline, paths: Paths, findings: Findings
) -> None:
    """Check that pieces of a segment have its marker, or that of a coincident one; the default may replace 0.

    An edge of the mesh that is not listed in `mesh.segments` counts as having marker 0.
    """
    findings.start("markers")
    assert mesh.segment_markers is not None
    arcs = paths.chains.arcs
    default = _default(outline)
    edge, allowed = _allowed_markers(outline, paths, default)
    # The edge of each listed segment (arc number divided by 2), -1 if it is not an edge.
    edges = np.full(len(topology.starts) + 1, -1)
    edges[arcs.half_edges] = np.arange(len(arcs.half_edges)) // 2
    edges[-1] = -1  # (the entry for arcs without a half-edge)
    listed = edges[topology.find_either(mesh.segments)]
    unlisted = np.setdiff1d(edge, listed)
    known = np.flatnonzero(np.isin(listed, edge))
    actual = mesh.segment_markers.astype(np.int64)
    wrong = known[~_contains(edge, allowed, listed[known], actual[known])]
    # Where rounding has merged segments, their paths may have been interchanged: any segment there is accepted.
    bands = ToleranceBands(mesh, points, outline)

    def fits_there(i: int) -> bool:
        markers = set(outline.markers[bands.around(mesh.segments[i])].tolist())
        if 0 in markers and arcs.on_boundary[2 * listed[i]]:
            markers.add(default)
        return int(actual[i]) in markers

    wrong = np.array([i for i in wrong.tolist() if not fits_there(i)], np.int64)
    lost = unlisted[~_contains(edge, allowed, unlisted, np.zeros(len(unlisted), np.int64))]

    def expected(which: int) -> str:
        return " or ".join(str(marker) for marker in np.unique(allowed[edge == which]))

    findings.add(
        "markers",
        "segment",
        wrong,
        lambda i: (
            f"from {describe(mesh.vertices, *mesh.segments[wrong[i]])}: has the marker {actual[wrong[i]]}, and must "
            f"have {expected(int(listed[wrong[i]]))}"
        ),
    )
    half_edges = np.maximum(arcs.half_edges[2 * lost], arcs.half_edges[2 * lost + 1])
    findings.add(
        "markers",
        "triangle",
        half_edges // 3,
        lambda i: (
            f"has the edge of vertices {describe(mesh.vertices, arcs.tails[2 * lost[i]], arcs.heads[2 * lost[i]])}, "
            f"which is not listed as a segment, and must have the marker {expected(int(lost[i]))}"
        ),
    )


def _first_marked(outline: Outline) -> Int64:
    """(runs,) the first segment with a marker that contains each run; the number of segments if there is none.

    All edges of a run are part of the same segments.
    """
    owners, edge = outline.owners_of_all()
    owners = np.where(outline.markers[owners] != 0, owners, len(outline.markers))
    first = np.full(int(outline.run[-1]) + 1 if len(outline.run) else 0, len(outline.markers))
    np.minimum.at(first, outline.run[edge], owners)
    return first


def _allowed_markers(outline: Outline, paths: Paths, default: int) -> tuple[Int64, Int64]:
    """List pairs of a constrained edge of the mesh and a marker that it may have."""
    owners, wanted = outline.owners_of_all()
    # All edges of a run are part of the same segments.
    sizes = np.bincount(wanted, minlength=len(outline.wanted))
    first = np.searchsorted(outline.run, paths.run)
    starts, sizes = (np.cumsum(sizes) - sizes)[first], sizes[first]
    edge = np.repeat(paths.run_arcs // 2, sizes)
    within = np.arange(len(edge)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    marker = outline.markers[owners[np.repeat(starts, sizes) + within]].astype(np.int64)
    silent = paths.chains.arcs.on_boundary[2 * edge] & (marker == 0)
    return np.concatenate([edge, edge[silent]]), np.concatenate([marker, np.full(silent.sum(), default)])


def _default(outline: Outline) -> int:
    """Return the marker of what has none on the boundary: 1, or if 1 has a name, the first unused number."""
    pslg = outline.pslg
    named = pslg.names["markers"]
    if 1 not in named:
        return 1
    tables = [
        np.array(list(named)),
        *(each for each in (pslg.segment_markers, pslg.vertex_markers) if each is not None),
    ]
    return int(np.setdiff1d(np.arange(1, sum(map(len, tables)) + 2), np.concatenate(tables))[0])


def _markers_of(outline: Outline, segments: Int64) -> Int64:
    """Look up the markers of segments; 0 for the index one past the last segment."""
    return np.append(outline.markers, 0).astype(np.int64)[segments]


def _contains(keys: Int64, values: Int64, key: Int64, value: Int64) -> Mask:
    """Test which pairs (key, value) occur among (keys, values); values are 32-bit numbers."""
    result: Mask = np.isin((key << 32) + value, (keys << 32) + values)
    return result


def check_vertex_markers(
    mesh: Mesh, topology: Topology, points: Points, outline: Outline, paths: Paths, findings: Findings
) -> None:
    """Check vertex markers: the given one, else that of the first marked segment through it, else the default."""
    if mesh.vertex_markers is None:
        findings.skip("vertex markers", "the mesh has none")
        return
    if not findings.start_after("vertex markers", "input segments"):
        return
    actual = mesh.vertex_markers.astype(np.int64)
    given = _given_markers(outline, len(actual))
    on_boundary = np.zeros(len(actual), np.int64)
    on_boundary[topology.boundary_vertices] = _default(outline)
    first = _first_through(outline, paths, len(actual))
    implied = _markers_of(outline, first)
    expected = np.where(given != 0, given, np.where(implied != 0, implied, on_boundary))
    wrong = np.flatnonzero(topology.used & (actual != expected))
    if len(paths.searched) and len(wrong):
        fits = _FitsThere(mesh, points, outline, paths)
        kept = [given[v] != 0 or not fits(v, int(actual[v]), int(on_boundary[v])) for v in wrong.tolist()]
        wrong = wrong[kept]

    def message(i: int) -> str:
        v = int(wrong[i])
        if given[v]:
            reason = "that of the input"
        elif implied[v]:
            reason = f"that of {named('input segment', int(first[v]))}, the first through it that has one"
        else:
            reason = f"as it lies {'on' if on_boundary[v] else 'inside'} the boundary and no segment through it has one"
        return f"{place(mesh.vertices, v)} has the marker {actual[v]}, and must have {expected[v]}, {reason}"

    findings.add("vertex markers", "vertex", wrong, message)


class _FitsThere:
    """Tests vertex markers where rounding has merged segments, so that their paths may have been interchanged.

    Any segment that may pass through the vertex is accepted. The default is accepted only if all segments of the mesh
    at the vertex have it: then none of them has a marker to give.
    """

    def __init__(self, mesh: Mesh, points: Points, outline: Outline, paths: Paths) -> None:
        self._mesh, self._outline, self._searched = mesh, outline, paths.searched
        self._bands = ToleranceBands(mesh, points, outline)

    def __call__(self, vertex: int, marker: int, default: int) -> bool:
        near = self._bands.around(np.array([vertex]))
        if not np.isin(near, self._searched).any():
            return False
        markers = set(self._outline.markers[near].tolist())
        if marker != 0 and marker in markers:
            return True
        assert self._mesh.segment_markers is not None
        there = self._mesh.segment_markers[(self._mesh.segments == vertex).any(axis=1)]
        return marker == default and 0 in markers and set(there.tolist()) <= {0, default}


def _first_through(outline: Outline, paths: Paths, count: int) -> Int64:
    """(count,) the first marked segment through each vertex of the mesh; the number of segments if there is none."""
    result = np.full(count, len(outline.markers))
    first = _first_marked(outline)[paths.run]
    arcs = paths.chains.arcs
    for ends in (arcs.tails, arcs.heads):
        np.minimum.at(result, ends[paths.run_arcs], first)
    return result


def _given_markers(outline: Outline, count: int) -> Int64:
    """(count,) the markers that the graph gives to vertices, 0 where it gives none.

    The mesh uses one of several vertices with equal coordinates; it represents all of them.
    """
    result = np.zeros(count, np.int64)
    markers = outline.pslg.vertex_markers
    if markers is not None:
        nodes = outline.arrangement.vertex_nodes
        of_node = np.zeros(outline.arrangement.nodes, np.int64)
        marked = np.flatnonzero(markers)[::-1]
        of_node[nodes[marked]] = markers[marked]
        result[: len(nodes)] = np.where(markers != 0, markers, of_node[nodes])
    return result
