"""Location of an outline in a mesh: the constrained edges and the vertices along which it runs.

Every run of wanted edges of the outline (`dmr.validation.domain.outline`) must be a path of constrained edges that
stays close to its segment and advances along it. The interior nodes of a run are crossings: rational points. For each
of them the mesh has a rounded vertex, shared by the paths of all segments through the crossing.

Ordinarily that vertex is the nearest one with a constrained edge, and between two nodes the run is one chain,
identified by its two ends. Where segments cross almost in one point, or at a very small angle, rounding may merge them:
their paths share vertices and edges, and meet at a vertex that is not the nearest to the crossing
(`dmr.validation.domain.merged_paths`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.exact import Points
from dmr.mesh.types import Mesh
from dmr.validation.domain.merged_paths import MergedPaths
from dmr.validation.domain.outline import Outline
from dmr.validation.triangulation.chains import Arcs, Chains
from dmr.validation.triangulation.topology import Mask, Topology

Int64 = NDArray[np.int64]

# The vertex of a crossing is searched for within this multiple of its segments' tolerance, in each coordinate.
_NEAR_CROSSING = 2.0


@dataclass(frozen=True, eq=False)
class Paths:
    """The paths of an outline in the mesh.

    Attributes:
        vertex_of_node: (nodes,) the vertex that represents each node of the arrangement, -1 if none was found.
        chains: the chains of the mesh between those vertices.
        found: (w,) mask of the wanted edges whose run has a path, and which have a subpath of it.
        run_arcs, run: the arcs of the paths, run by run from left to right; and the run of each arc.
        arcs, edge: the same per wanted edge: the subpath from the vertex of its left node to that of its right node,
            along the path of its run; and the edge (0 to w - 1) of each arc. Where rounding has changed the order of
            crossings, the subpath may run backward.
        searched: segments whose paths had to be searched for, because rounding has merged them with others: where
            several paths are possible, the true one may be another.
    """

    vertex_of_node: Int64
    chains: Chains
    found: Mask
    run_arcs: Int64
    run: Int64
    arcs: Int64
    edge: Int64
    searched: Int64

    @classmethod
    def of(cls, mesh: Mesh, points: Points, outline: Outline, topology: Topology) -> Paths:
        """Find the paths; `found` shows which ones are missing."""
        arcs = Arcs.of(topology, mesh.segments)
        vertex_of_node = _vertices_of_nodes(mesh, outline, topology, arcs)
        inner = np.ones(len(mesh.vertices), bool)
        inner[: len(outline.pslg.vertices)] = False
        inner[vertex_of_node[vertex_of_node >= 0]] = False
        chains = Chains.trace(arcs, inner)
        matched, found = _matched(outline, chains, vertex_of_node)
        if not found.all() and _moved_ends(mesh, outline, chains, vertex_of_node, found):
            matched, found = _matched(outline, chains, vertex_of_node)
        direct = np.flatnonzero(matched >= 0)
        way, owner = chains.arcs_of(matched[direct])
        edge = direct[owner]
        fits = np.ones(len(found), bool)
        off, back = deviations(mesh, points, outline, arcs, way, outline.run[edge])
        fits[edge[(off | back) & outline.tied[outline.line[edge]]]] = False
        if (found & fits).all():
            return cls(vertex_of_node, chains, found, way, outline.run[edge], way, edge, np.zeros(0, np.int64))
        merged_paths = MergedPaths(mesh, outline, arcs, vertex_of_node, (way, edge))
        merged_paths.untie(found, fits)
        return cls(
            vertex_of_node, chains, found, *merged_paths.by_run(), *merged_paths.by_edge(), merged_paths.segments()
        )


def deviations(mesh: Mesh, points: Points, outline: Outline, arcs: Arcs, way: Int64, run: Int64) -> tuple[Mask, Mask]:
    """Find the arcs at which paths deviate from their segments.

    Args:
        arcs: all arcs; way: the arcs of the paths, in order; run: the run of each of these.

    Returns:
        Two masks over the arcs of the paths: the arc's head is too far off the line; the arc does not advance. (On a
        tied segment an arc may go back within two ulps, because crossings that close may have changed their order.)
    """
    tails, heads = arcs.tails[way], arcs.heads[way]
    line = outline.line[np.searchsorted(outline.run, run)]
    a, b = outline.oriented(line)
    reach = outline.reaches[line]
    # The ends of the segment itself are in place.
    within = np.flatnonzero((heads != a) & (heads != b))
    off = np.zeros(len(way), bool)
    off[within] = points.off_line(a[within], b[within], heads[within], reach[within])
    back = points.dot(tails, heads, a, b) <= 0
    step = np.abs(mesh.vertices[heads] - mesh.vertices[tails]).max(axis=1, initial=0.0)
    return off, back & ~(outline.tied[line] & (step <= reach))


def _vertices_of_nodes(mesh: Mesh, outline: Outline, topology: Topology, arcs: Arcs) -> Int64:
    """Find the vertex of each node: of coincident vertices the one that triangles use, of a crossing the nearest."""
    arrangement = outline.arrangement
    result = np.full(arrangement.nodes, -1, np.int64)
    nodes = arrangement.vertex_nodes
    given = np.arange(len(nodes))[::-1]
    for chosen in (given, given[topology.used[given]]):
        result[nodes[chosen]] = chosen
    for node, near in _vertices_near_crossings(mesh, outline, arcs, _crossings(outline)):
        if len(near):
            result[node] = near[0]
    return result


def _vertices_near_crossings(
    mesh: Mesh, outline: Outline, arcs: Arcs, crossings: Mapping[int, float]
) -> Iterator[tuple[int, Int64]]:
    """Yield each crossing and the vertices on arcs within its distance (the values of `crossings`), nearest first."""
    candidates = distinct(arcs.tails)
    candidates = candidates[np.argsort(mesh.vertices[candidates, 0], kind="stable")]
    places = mesh.vertices[candidates]
    for node, around in crossings.items():
        x, y = map(float, outline.arrangement.crossings[node - outline.first_crossing])
        low, high = np.searchsorted(places[:, 0], (x - around, np.nextafter(x + around, np.inf)))
        offset = np.abs(places[low:high] - (x, y))
        farthest = offset.max(axis=1)
        order = np.lexsort((offset.sum(axis=1), farthest))
        yield node, candidates[low + order[farthest[order] <= around]]


def _matched(outline: Outline, chains: Chains, vertex_of_node: Int64) -> tuple[Int64, Mask]:
    """Match wanted edges with chains: the chain between the vertices of its nodes, or -1; and whether it has one."""
    tails, heads = (vertex_of_node[nodes] for nodes in outline.ends())
    known = np.flatnonzero((tails >= 0) & (heads >= 0) & (tails != heads))
    matched = np.full(len(tails), -1, np.int64)
    matched[known] = chains.between(tails[known], heads[known])
    matched[known[_several(chains, matched[known])]] = -1
    # Two nodes may have become one vertex: then the edge between them has vanished.
    return matched, (matched >= 0) | ((tails >= 0) & (tails == heads))


def _moved_ends(mesh: Mesh, outline: Outline, chains: Chains, vertex_of_node: Int64, found: Mask) -> bool:
    """Move crossings at which the domain ends to another vertex nearby, if all their edges then have chains.

    Several vertices may be as near to a crossing as rounding, where a face between it and a vertex has vanished.

    Returns:
        Whether `vertex_of_node` has changed.
    """
    first = outline.first_edges()
    tails, heads = outline.ends()
    ends = np.concatenate([tails[first[:-1]], heads[first[1:] - 1]])
    lost = set(np.intersect1d(ends, (tails[~found], heads[~found])).tolist())
    allowed = {node: around for node, around in _crossings(outline).items() if node in lost}
    moved = False
    for node, near in _vertices_near_crossings(mesh, outline, chains.arcs, allowed):
        others = vertex_of_node[np.concatenate([heads[tails == node], tails[heads == node]])]
        for vertex in near.tolist():
            if (others >= 0).all() and (chains.between(np.full(len(others), vertex), others) >= 0).all():
                vertex_of_node[node], moved = vertex, True
                break
    return moved


def _crossings(outline: Outline) -> dict[int, float]:
    """Compute the largest allowed distance of its vertex from each crossing on a wanted edge."""
    reach = outline.reaches
    owners, edge = outline.owners_of_all()
    result: dict[int, float] = {}
    for nodes in outline.ends():
        node = nodes[edge]
        chosen = np.flatnonzero(node >= outline.first_crossing)
        for at, around in zip(node[chosen].tolist(), (_NEAR_CROSSING * reach[owners[chosen]]).tolist(), strict=True):
            result[at] = max(around, result.get(at, 0.0))
    return result


def _several(chains: Chains, which: Int64) -> Mask:
    """Test whether another chain joins the same two vertices."""
    if not len(chains.tails):
        return np.zeros(len(which), bool)
    scale = len(chains.inner)
    keys, counts = np.unique(chains.tails * scale + chains.heads, return_counts=True)
    own = chains.tails[which] * scale + chains.heads[which]
    result: Mask = (which >= 0) & (counts[np.minimum(np.searchsorted(keys, own), len(keys) - 1)] > 1)
    return result
