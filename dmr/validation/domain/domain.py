"""Checks of a mesh against the planar straight-line graph from which it was made.

The requirements are derived from the graph alone (`dmr.validation.domain.outline`): the faces between its segments, the
faces that form the domain D, and the edges that D requires. The mesh covers C, the union of its triangles. Three checks
prove that C is D and that the constrained edges of the mesh are the segments of the graph.

* "input segments": every run of edges of the outline along one segment, with D on one side or both, is a path of
  constrained edges of the mesh, which stays close to its segment and advances along it (`dmr.validation.domain.paths`).
  The vertices that represent the outline's nodes lie on this path, and each edge corresponds to the subpath between its
  two nodes.
* "domain": consider all edges with D on one side only, directed with D on their left. Together they are the boundary of
  D. Their subpaths, counted with their direction, must be the boundary of C. That is, for each edge of the mesh: the
  number of subpaths along it with D on its left, minus the number with D on its right, equals the number of triangles
  on its left minus the number on its right. (Subpaths share an edge only where rounding merged them; ordinarily, one
  subpath runs along one edge.)
* "stray segments": every other edge of the mesh is neither boundary nor constrained.

*Proof that C is D.* Let T be the set of all points that are as close to a segment as its paths may be, between its
ends. Move every edge of the outline to its subpath in the mesh, by a straight-line homotopy that maps each point to one
equally far along; nodes shared by edges stay shared. During this motion, the boundary of D stays closed and never
leaves T (the part of T that belongs to one segment is convex), and it becomes the boundary of C. Therefore both
boundaries have the same winding number around any point outside T: 1 if it is in D, and 0 if it is not. The winding
number of the boundary of C around a point is the number of triangles that cover it ("orientation" and "edges"). So C
and D agree outside T, which extends no farther from the segments than rounding does. It also follows which segments may
be absent: those with D on neither side.

*Tolerance.* Let u be one ulp of the largest absolute coordinate of the segment's ends a and b, and d = b - a. A vertex
v is within k ulps if |cross(d, v - a)| <= k u (|dx| + |dy|), as in `dmr.validation.domain.input_mesh`.

* k = 1 for ordinary segments. Vertices of the graph that lie on a segment lie on it exactly, and points that refinement
  adds are rounded once.
* k = 2 for *tied* segments: another segment crosses them, or a vertex that is not on them is within two ulps, so that
  another segment that is crossed may be moved across them. The vertex of a crossing is a rounded point, with an error
  of half an ulp in each coordinate, or another vertex within one ulp of that point: 3/2. The function cross(d, v - a)
  is linear in v, so the same bound holds for all points of a piece between such vertices. A point that refinement adds
  to the piece is rounded once more: 3/2 + 1/2.

*Nearly coincident segments.* Where segments coincide within rounding, and cross, neither the faces between them nor the
assignment of chains to segments is determined. There any path that fits is accepted (it may even go back within two
ulps), and three exceptions are made for tied segments. First, an edge of the mesh that is on no path is not stray if it
lies in the tolerance band of a segment (`dmr.validation.domain.tolerance_bands`: its part of T). Second, edges may have
a wrong count where they bound triangles that lie in tolerance bands. The difference between the two boundaries winds
only around such triangles, and these lie in T, so the proof still holds. Third, faces of D that lie in such bands are
taken out of D if the mesh has no paths for their edges (`dmr.validation.domain.thin_faces`). One limitation remains:
gaps thinner than rounding, between segments that bound the domain, may open or close. A mesh that is correct except for
such a gap may be rejected.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dmr.exact import Points
from dmr.mesh.types import Mesh
from dmr.validation.domain.outline import Outline
from dmr.validation.domain.paths import Paths, deviations
from dmr.validation.domain.tolerance_bands import ToleranceBands
from dmr.validation.report import Findings
from dmr.validation.triangulation.topology import Mask, Topology, describe, place

Int64 = NDArray[np.int64]


def check_outline(
    mesh: Mesh, topology: Topology, points: Points, outline: Outline, paths: Paths, findings: Findings
) -> None:
    """Check that the mesh covers the outline's domain, and that its constrained edges are the outline's segments."""
    check_kept(mesh, topology, outline, findings)
    bands = ToleranceBands(mesh, points, outline)
    findings.start("input segments")
    _check_found(outline, paths, findings)
    _check_straight(mesh, points, outline, paths, findings)
    _check_domain(mesh, topology, bands, outline, paths, findings)
    _check_stray(mesh, bands, paths, findings)


def check_kept(mesh: Mesh, topology: Topology, outline: Outline, findings: Findings) -> None:
    """Check that vertices of the graph inside the domain belong to triangles (of coincident vertices, one)."""
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
    """Report failures of wanted edges under their segments; `message` returns the end of the i-th sentence."""
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
    """Check that paths stay close to their segments, and advance along them."""
    arcs = paths.chains.arcs
    edge = np.searchsorted(outline.run, paths.run)  # the first edge of the run
    off, back = deviations(mesh, points, outline, arcs, paths.run_arcs, paths.run)
    for wrong, text in ((off, "lies off it by more than {}"), (back, "is out of order along it")):
        at = np.flatnonzero(wrong)

        def message(i: int, at: Int64 = at, text: str = text) -> str:
            ulps = "two ulps" if outline.tied[outline.line[edge[at[i]]]] else "an ulp"
            vertex = place(mesh.vertices, arcs.heads[paths.run_arcs[at[i]]])
            return f"has the chain vertex {vertex}, which {text.format(ulps)}"

        _add("input segments", outline, edge[at], message, findings)


def _check_domain(
    mesh: Mesh, topology: Topology, bands: ToleranceBands, outline: Outline, paths: Paths, findings: Findings
) -> None:
    """Check that the boundary of the mesh is that of the domain, with the triangles on the same side."""
    findings.start("domain")
    arcs, half_edges = paths.chains.arcs, paths.chains.arcs.half_edges
    pair, forward = paths.arcs // 2, paths.arcs % 2 == 0
    count = len(half_edges) // 2
    wanted = np.zeros(count, np.int64)
    np.add.at(wanted, pair, np.where(forward, 1, -1) * outline.sides[paths.edge])
    left, right = half_edges[0::2] >= 0, half_edges[1::2] >= 0
    wrong = wanted != left.astype(np.int64) - right
    if wrong.any():
        wrong &= ~_around_slivers(mesh, topology, bands, half_edges, wrong)
    # One failure per wanted edge, at the first wrong edge of its path.
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


def _around_slivers(mesh: Mesh, topology: Topology, bands: ToleranceBands, half_edges: Int64, wrong: Mask) -> Mask:
    """Find the constrained edges whose count is wrong only because they bound triangles thinner than rounding.

    Let the wrong edges be walls: triangles are connected across all other edges, and to the outside across the
    boundary. A component connected to the outside is acceptable. Any other component is acceptable if each of its
    triangles lies in a tolerance band.
    """
    walls = half_edges.reshape(-1, 2)[wrong]
    part = topology.components(walls[walls >= 0])
    outside = np.zeros(len(part) + 1, bool)
    outside[-1] = True  # for edges without a triangle
    outside[part[np.setdiff1d(topology.boundary, walls) // 3]] = True
    # Components that may consist of slivers, by their altitudes; these are tested exactly.
    inner = np.flatnonzero(~outside[part])
    a, b, c = mesh.vertices[mesh.triangles[inner]].transpose(1, 0, 2)
    longest = np.max([np.abs(q - p).max(axis=1) for p, q in ((a, b), (b, c), (c, a))], axis=0, initial=0.0)
    u, v = b - a, c - a
    thick = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) > 8 * bands.widest * longest
    sliver = np.zeros(len(part) + 1, bool)
    sliver[part[inner]] = True
    sliver[part[inner[thick]]] = False
    sliver[part[topology.hidden]] = False
    inner = inner[sliver[part[inner]]]
    sliver[part[inner[~bands.hold(mesh.triangles[inner])]]] = False
    sides = np.where(walls >= 0, part[np.maximum(walls, 0) // 3], -1)
    right = (sides[:, 0] != sides[:, 1]) & (outside | sliver)[sides].all(axis=1) & ~outside[sides].all(axis=1)
    result = np.zeros(len(wrong), bool)
    result[np.flatnonzero(wrong)[right]] = True
    return result


def _check_stray(mesh: Mesh, bands: ToleranceBands, paths: Paths, findings: Findings) -> None:
    """Check that no other edge of the mesh is boundary or constrained."""
    findings.start("stray segments")
    arcs, chains = paths.chains.arcs, paths.chains
    on_path = np.zeros(len(arcs.tails) // 2, bool)
    on_path[paths.run_arcs // 2] = True
    stray = 2 * np.flatnonzero(~on_path)
    # Where rounding has merged segments, some of their edges may lie on no path.
    stray = stray[~bands.hold(np.stack([arcs.tails[stray], arcs.heads[stray]], axis=1))]
    # Report each chain once, not also its reverse; arcs on cycles are reported one by one.
    chain = np.minimum(chains.chain_of_arc[stray], chains.chain_of_arc[stray ^ 1])
    _, first = np.unique(np.where(chain < 0, len(chains.tails) + stray, chain), return_index=True)
    stray = stray[np.sort(first)]

    def message(i: int) -> str:
        kind = "boundary" if arcs.on_boundary[stray[i]] else "constrained"
        ends = describe(mesh.vertices, arcs.tails[stray[i]], arcs.heads[stray[i]])
        return f"has the {kind} edge of vertices {ends}, on no segment of the input"

    half_edges = np.maximum(arcs.half_edges[stray], arcs.half_edges[stray ^ 1])
    findings.add("stray segments", "triangle", half_edges // 3, message)
