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

* k = 1 for ordinary segments. Vertices of the graph that lie on a segment do so exactly, and points that refinement
  adds are rounded once.
* k = 2 for segments that are *tied*: another one crosses them, or a vertex that is not on them is as near as two ulps,
  so that one that is crossed may be moved across them. A crossing's vertex is a rounded point, off by half an ulp in
  each coordinate, or another vertex within an ulp of that: 3/2. The function cross(d, v - a) is linear in v, so the
  same holds for all points of a piece between such vertices, and a point that refinement adds to it is rounded once
  more: 3/2 + 1/2.

*Segments along one another.* Where segments run along one another within rounding, and cross, it is not determined
which faces there are between them, nor which of several chains is whose. There a path may be any that fits (it may
even go back within two ulps), and two exceptions are made, for tied segments: an edge of the mesh that no path took is
not stray if it lies in the tube of a segment (`dmr.checks.tubes`: its part of T); and edges may be counted wrong where
they bound triangles that lie in tubes. The difference between the two boundaries winds around such triangles only, and
these are in T: the proof holds. A limit remains: gaps thinner than rounding, between segments that bound the domain,
may open or close; a mesh that is right but for one of these may be refused.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dmr.checks.outline import Outline
from dmr.checks.paths import Paths, deviations
from dmr.checks.report import Findings
from dmr.checks.topology import Mask, Topology, components, describe, place
from dmr.checks.tubes import Tubes
from dmr.exact import Points
from dmr.meshes import Mesh

Int64 = NDArray[np.int64]


def check_outline(
    mesh: Mesh, topology: Topology, points: Points, outline: Outline, paths: Paths, findings: Findings
) -> None:
    """The mesh covers the outline's domain, and its constrained edges are the outline's segments."""
    check_kept(mesh, topology, outline, findings)
    tubes = Tubes(mesh, points, outline)
    findings.start("input segments")
    _check_found(outline, paths, findings)
    _check_straight(mesh, points, outline, paths, findings)
    _check_domain(mesh, topology, tubes, outline, paths, findings)
    _check_stray(mesh, tubes, paths, findings)


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


def _check_straight(mesh: Mesh, points: Points, outline: Outline, paths: Paths, findings: Findings) -> None:
    """Paths keep close to their segments, and go forward along them."""
    arcs = paths.chains.arcs
    edge = np.searchsorted(outline.run, paths.run)  # the first of the run
    off, back = deviations(mesh, points, outline, arcs, paths.run_arcs, paths.run)
    for wrong, text in ((off, "lies off it by more than {}"), (back, "is out of order along it")):
        at = np.flatnonzero(wrong)

        def message(i: int, at: Int64 = at, text: str = text) -> str:
            ulps = "two ulps" if outline.tied[outline.line[edge[at[i]]]] else "an ulp"
            vertex = place(mesh.vertices, arcs.heads[paths.run_arcs[at[i]]])
            return f"has the chain vertex {vertex}, which {text.format(ulps)}"

        _add("input segments", outline, edge[at], message, findings)


def _check_domain(
    mesh: Mesh, topology: Topology, tubes: Tubes, outline: Outline, paths: Paths, findings: Findings
) -> None:
    """The boundary of the mesh is that of the domain, with the triangles on the same side."""
    findings.start("domain")
    arcs, half_edges = paths.chains.arcs, paths.chains.arcs.half_edges
    pair, forward = paths.arcs // 2, paths.arcs % 2 == 0
    count = len(half_edges) // 2
    wanted = np.zeros(count, np.int64)
    np.add.at(wanted, pair, np.where(forward, 1, -1) * outline.sides[paths.edge])
    left, right = half_edges[0::2] >= 0, half_edges[1::2] >= 0
    wrong = wanted != left.astype(np.int64) - right
    if wrong.any():
        wrong &= ~_around_slivers(mesh, topology, tubes, half_edges, wrong)
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


def _around_slivers(mesh: Mesh, topology: Topology, tubes: Tubes, half_edges: Int64, wrong: Mask) -> Mask:
    """Constrained edges where the count is wrong only because they bound triangles that are thinner than rounding.

    Let wrong edges be walls: triangles hang together across all other edges, and with the outside across the boundary.
    What hangs together with the outside is counted right. Any other part is if each of its triangles is in a tube.
    """
    walls = half_edges.reshape(-1, 2)[wrong]
    links = topology.twins.copy()
    links[walls[walls >= 0]] = -1
    part = components(links.reshape(-1, 3))
    outside = np.zeros(len(part) + 1, bool)
    outside[-1] = True  # of edges without a triangle
    outside[part[np.setdiff1d(topology.boundary, walls) // 3]] = True
    # Parts that may be slivers, by their altitudes; these are looked at exactly.
    inner = np.flatnonzero(~outside[part])
    a, b, c = mesh.vertices[mesh.triangles[inner]].transpose(1, 0, 2)
    longest = np.max([np.abs(q - p).max(axis=1) for p, q in ((a, b), (b, c), (c, a))], axis=0, initial=0.0)
    u, v = b - a, c - a
    thick = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) > 8 * tubes.widest * longest
    sliver = np.zeros(len(part) + 1, bool)
    sliver[part[inner]] = True
    sliver[part[inner[thick]]] = False
    inner = inner[sliver[part[inner]]]
    sliver[part[inner[~tubes.hold(mesh.triangles[inner])]]] = False
    sides = np.where(walls >= 0, part[np.maximum(walls, 0) // 3], -1)
    right = (sides[:, 0] != sides[:, 1]) & (outside | sliver)[sides].all(axis=1) & ~outside[sides].all(axis=1)
    result = np.zeros(len(wrong), bool)
    result[np.flatnonzero(wrong)[right]] = True
    return result


def _check_stray(mesh: Mesh, tubes: Tubes, paths: Paths, findings: Findings) -> None:
    """Nothing else of the mesh is boundary or constrained."""
    findings.start("stray segments")
    arcs, chains = paths.chains.arcs, paths.chains
    on_path = np.zeros(len(arcs.tails) // 2, bool)
    on_path[paths.run_arcs // 2] = True
    stray = 2 * np.flatnonzero(~on_path)
    # Where rounding has tied segments together, a path may leave some of their edges to none.
    stray = stray[~tubes.hold(np.stack([arcs.tails[stray], arcs.heads[stray]], axis=1))]
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
