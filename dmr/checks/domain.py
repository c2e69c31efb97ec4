"""Checks of a mesh against the planar straight-line graph that it was made from.

What the graph asks for is derived from it alone (`dmr.checks.outline`): the faces between its segments, which of them
are the domain D, and the edges that D needs. The mesh covers C, the union of its triangles. That C is D, and that its
constrained edges are the graph's segments, is proved by three checks.

* "input segments": every run of edges of the outline along one segment, with D on one side or both, is a path of
  constrained edges of the mesh, which keeps close to its segment and goes forward along it (`dmr.checks.paths`). Nodes
  of the outline have their vertices on it, and each edge has the way between its two.
* "domain": take all edges with D on one side only, directed with D on their left: together they are the boundary of D.
  The ways of the same edges, counted with their direction, must be the boundary of C: as often as they run along an
  edge of the mesh with D on its left, more often than with D on its right, so often has it a triangle on its left, less
  on its right. (Ways share an edge only where rounding joined them; ordinarily it is one way and one edge.)
* "stray segments": every other edge of the mesh is neither boundary nor constrained.

*Proof that C is D.* Let T be all points as close to a segment as its paths may be, between its ends. Move every edge of
the outline along straight lines to its way in the mesh, each point to one as far along; nodes that edges share stay
shared. The boundary of D stays closed all the while and never leaves T (a segment's part of T is convex), and becomes
the boundary of C. So around any point outside of T both wind equally often: once if it is in D, and not at all if it is
not. The boundary of C winds around a point as often as triangles cover it ("orientation" and "edges"). So C and D agree
outside of T, which reaches as far from the segments as rounding does, and no farther. Which segments may be absent
follows: those with D on neither side.

*How close.* u is one ulp of the largest absolute coordinate of the segment's ends a and b; d = b - a. A vertex v keeps
within k ulps if |cross(d, v - a)| <= k u (|dx| + |dy|), as in `dmr.checks.input`.

* k = 1 for segments that no other one crosses. Vertices of the graph that lie on a segment do so exactly, and points
  that refinement adds are rounded once.
* k = 2 for segments that are crossed. A crossing's vertex is a rounded point, off by half an ulp in each coordinate, or
  another vertex within an ulp of that: 3/2. The function cross(d, v - a) is linear in v, so the same holds for all
  points of a piece between such vertices, and a point that refinement adds to it is rounded once more: 3/2 + 1/2.

*Limits.* Where segments that cross keep within a few ulps of each other otherwise (they are nearly one line, or bound
faces thinner than rounding), rounding may change which faces there are: a right mesh may then be refused.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dmr.checks.outline import Outline
from dmr.checks.paths import Paths
from dmr.checks.report import Findings
from dmr.checks.topology import Topology, describe, place
from dmr.exact import Points
from dmr.meshes import Mesh

Int64 = NDArray[np.int64]


def check_outline(
    mesh: Mesh, points: Points, topology: Topology, outline: Outline, paths: Paths, findings: Findings
) -> None:
    """The mesh covers the outline's domain, and its constrained edges are the outline's segments."""
    check_kept(mesh, topology, outline, findings)
    findings.start("input segments")
    _check_found(outline, paths, findings)
    _check_straight(mesh, points, outline, paths, findings)
    _check_domain(mesh, outline, paths, findings)
    _check_stray(mesh, paths, findings)


def check_kept(mesh: Mesh, topology: Topology, outline: Outline, findings: Findings) -> None:
    """Vertices of the graph inside the domain are vertices of triangles (of equal ones, one of them)."""
    nodes, faces = outline.arrangement.vertex_nodes, outline.arrangement.vertex_faces
    used = np.zeros(outline.arrangement.nodes, bool)
    used[nodes[topology.used[: len(nodes)]]] = True
    lost = np.flatnonzero((faces >= 0) & outline.covered[faces] & ~used[nodes])
    findings.add(
        "input vertices",
        "vertex",
        lost,
        lambda i: f"{place(mesh.vertices, lost[i])} lies inside the domain, but is a corner of no triangle",
    )


def _add(check: str, outline: Outline, edges: Int64, message: Callable[[int], str], findings: Findings) -> None:
    """Failures of wanted edges, told of the segments that they are part of; `message` ends the i-th sentence."""
    lines = outline.line[edges]
    own = lines < len(outline.pslg.segments)
    for chosen in (np.flatnonzero(own), np.flatnonzero(~own)):

        def sentence(i: int, chosen: Int64 = chosen) -> str:
            return f"{outline.describe(int(lines[chosen[i]]))} {message(int(chosen[i]))}"

        if own[chosen].all():
            findings.add(check, "input segment", lines[chosen], sentence)
        else:
            findings.add(check, "mesh", [None] * len(chosen), sentence)


def _check_found(outline: Outline, paths: Paths, findings: Findings) -> None:
    missing = np.flatnonzero(~paths.found)
    tails, heads = outline.ends()

    def message(i: int) -> str:
        tail, head = int(tails[missing[i]]), int(heads[missing[i]])
        for node in (tail, head):
            if paths.vertex_of_node[node] < 0:
                return f"has no vertex of the result at {outline.describe_node(node)}"
        return (
            f"has no chain of constrained edges in the result from {outline.describe_node(tail)} "
            f"to {outline.describe_node(head)}"
        )

    _add("input segments", outline, missing, message, findings)


def _oriented(mesh: Mesh, outline: Outline, segments: Int64) -> tuple[Int64, Int64]:
    """The ends of segments, from left to right."""
    a, b = outline.segments[segments].T.astype(np.int64)
    (ax, ay), (bx, by) = mesh.vertices[a].T, mesh.vertices[b].T
    swap = (ax > bx) | ((ax == bx) & (ay > by))
    return np.where(swap, b, a), np.where(swap, a, b)


def _check_straight(mesh: Mesh, points: Points, outline: Outline, paths: Paths, findings: Findings) -> None:
    """Paths keep close to their segments, and go forward along them."""
    tails, heads = paths.chains.arcs.tails[paths.run_arcs], paths.chains.arcs.heads[paths.run_arcs]
    edge = np.searchsorted(outline.run, paths.run)  # the first of the run
    a, b = _oriented(mesh, outline, outline.line[edge])
    # An end of the segment itself is where it must be.
    within = np.flatnonzero((heads != a) & (heads != b))
    off = np.zeros(len(heads), bool)
    off[within] = points.off_line(a[within], b[within], heads[within], outline.reach()[edge[within]])
    back = points.dot(tails, heads, a, b) <= 0
    for wrong, text in ((off, "lies off it by more than {}"), (back, "is out of order along it")):
        at = np.flatnonzero(wrong)

        def message(i: int, at: Int64 = at, text: str = text) -> str:
            ulps = "two ulps" if outline.crossed[edge[at[i]]] else "an ulp"
            return f"has the chain vertex {place(mesh.vertices, heads[at[i]])}, which {text.format(ulps)}"

        _add("input segments", outline, edge[at], message, findings)


def _check_domain(mesh: Mesh, outline: Outline, paths: Paths, findings: Findings) -> None:
    """The boundary of the mesh is that of the domain, with the triangles on the same side."""
    findings.start("domain")
    arcs, half_edges = paths.chains.arcs, paths.chains.arcs.half_edges
    pair, forward = paths.arcs // 2, paths.arcs % 2 == 0
    count = len(half_edges) // 2
    wanted = np.zeros(count, np.int64)
    np.add.at(wanted, pair, np.where(forward, 1, -1) * outline.sides[paths.edge])
    left, right = half_edges[0::2] >= 0, half_edges[1::2] >= 0
    wrong = wanted != left.astype(np.int64) - right
    # One failure for each wanted edge, at the first wrong edge of its path.
    at = np.flatnonzero(wrong[pair])
    edges, first = np.unique(paths.edge[at], return_index=True)
    at = at[first]
    above, below = (sides[outline.wanted[edges]] for sides in (outline.arrangement.above, outline.arrangement.below))

    def message(i: int) -> str:
        arc = int(paths.arcs[at[i]])
        sides = [name for name, half in (("left", arc), ("right", arc ^ 1)) if half_edges[half] >= 0]
        ends = (place(mesh.vertices, vertex) for vertex in (arcs.tails[arc], arcs.heads[arc]))
        return (
            f"has triangles on the {' and on the '.join(sides)} of its part from vertex {' to vertex '.join(ends)}; "
            f"its left lies {outline.describe_face(above[i])}, its right {outline.describe_face(below[i])}"
        )

    _add("domain", outline, edges, message, findings)


def _check_stray(mesh: Mesh, paths: Paths, findings: Findings) -> None:
    """Nothing else of the mesh is boundary or constrained."""
    findings.start("stray segments")
    arcs, chains = paths.chains.arcs, paths.chains
    on_path = np.zeros(len(arcs.tails) // 2, bool)
    on_path[paths.run_arcs // 2] = True
    stray = 2 * np.flatnonzero(~on_path)
    # Each chain is told of once, as itself or its reverse; arcs on closed lines one by one.
    chain = np.minimum(chains.chain_of_arc[stray], chains.chain_of_arc[stray ^ 1])
    _, first = np.unique(np.where(chain < 0, len(chains.tails) + stray, chain), return_index=True)
    stray = stray[np.sort(first)]

    def message(i: int) -> str:
        kind = "boundary" if arcs.on_boundary[stray[i]] else "constrained"
        ends = describe(mesh.vertices, arcs.tails[stray[i]], arcs.heads[stray[i]])
        return f"has the {kind} edge of vertices {ends}, on no segment of the input"

    half_edges = np.maximum(arcs.half_edges[stray], arcs.half_edges[stray ^ 1])
    findings.add("stray segments", "triangle", half_edges // 3, message)
