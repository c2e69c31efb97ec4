"""Where an outline runs in a mesh: along which constrained edges, and through which vertices.

Every run of wanted edges of the outline (`dmr.checks.outline`) must be a path of constrained edges, which keeps close
to its segment and goes forward along it. Its inner nodes are crossings: rational points, for each of which the mesh has
a rounded vertex, that the paths of all segments through it share.

Ordinarily that vertex is the nearest one that has a constrained edge, and between two nodes the run is one chain, found
by its two ends. Where segments cross almost in one point, or under almost no angle, rounding may bring them together
otherwise: paths share vertices and edges, and meet elsewhere than nearest to the crossing (`dmr.checks.knots`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dmr.checks.chains import Arcs, Chains
from dmr.checks.knots import Knots
from dmr.checks.outline import Outline
from dmr.checks.topology import Mask, Topology
from dmr.exact import Points
from dmr.meshes import Mesh

Int64 = NDArray[np.int64]

# The vertex of a crossing is looked for within so many times the reach of its segments, in each coordinate.
_NEAR_CROSSING = 2.0


@dataclass(frozen=True, eq=False)
class Paths:
    """The outline in the mesh.

    Attributes:
        vertex_of_node: (nodes,) the vertex that stands for a node of the arrangement, -1 where none was found.
        chains: the chains of the mesh between those vertices.
        found: (w,) which wanted edges belong to a run that has a path, and have their part of it.
        run_arcs, run: the arcs of the paths, run by run from left to right; and the run of each.
        arcs, edge: the same by wanted edge: the way from its left node's vertex to its right node's, along the path
            of its run; and the edge (0 to w - 1) of each arc. Where rounding has changed the order of crossings, that
            may be the way back.
        mixed: vertices on paths that had to be searched for, as rounding has tied their segments together: another
            segment's path may be the true one there.
    """

    vertex_of_node: Int64
    chains: Chains
    found: Mask
    run_arcs: Int64
    run: Int64
    arcs: Int64
    edge: Int64
    mixed: Int64

    @classmethod
    def of(cls, mesh: Mesh, points: Points, outline: Outline, topology: Topology) -> Paths:
        """Finds the paths; those that are missing are left to `found`."""
        arcs = Arcs.of(topology, mesh.segments)
        vertex_of_node = _vertices_of_nodes(mesh, outline, topology, arcs)
        inner = np.ones(len(mesh.vertices), bool)
        inner[: len(outline.pslg.vertices)] = False
        inner[vertex_of_node[vertex_of_node >= 0]] = False
        chains = Chains.trace(arcs, inner)
        tails, heads = (vertex_of_node[nodes] for nodes in outline.ends())
        known = np.flatnonzero((tails >= 0) & (heads >= 0) & (tails != heads))
        matched = np.full(len(tails), -1, np.int64)
        matched[known] = chains.between(tails[known], heads[known])
        matched[known[_several(chains, matched[known])]] = -1
        # Two nodes may have become one vertex: then nothing is left of the edge between.
        found = (matched >= 0) | ((tails >= 0) & (tails == heads))
        direct = np.flatnonzero(matched >= 0)
        way, owner = chains.arcs_of(matched[direct])
        edge = direct[owner]
        fits = np.ones(len(found), bool)
        off, back = deviations(mesh, points, outline, arcs, way, outline.run[edge])
        fits[edge[(off | back) & outline.tied[outline.line[edge]]]] = False
        if (found & fits).all():
            return cls(vertex_of_node, chains, found, way, outline.run[edge], way, edge, np.zeros(0, np.int64))
        knots = Knots(mesh, outline, arcs, vertex_of_node, (way, edge))
        knots.untie(found, fits)
        return cls(vertex_of_node, chains, found, *knots.by_run(), *knots.by_edge(), knots.vertices())


def deviations(mesh: Mesh, points: Points, outline: Outline, arcs: Arcs, way: Int64, run: Int64) -> tuple[Mask, Mask]:
    """Where paths leave their segments.

    Args:
        arcs: all arcs; way: those of the paths, in order; run: the run of each of them.

    Returns:
        For each arc of the paths whether its head is too far off the line, and whether it does not go forward. (On a
        tied segment it may go back within two ulps: crossings that near may have changed their order.)
    """
    tails, heads = arcs.tails[way], arcs.heads[way]
    line = outline.line[np.searchsorted(outline.run, run)]
    a, b = outline.oriented(line)
    reach = outline.reaches[line]
    # An end of the segment itself is where it must be.
    within = np.flatnonzero((heads != a) & (heads != b))
    off = np.zeros(len(way), bool)
    off[within] = points.off_line(a[within], b[within], heads[within], reach[within])
    back = points.dot(tails, heads, a, b) <= 0
    step = np.abs(mesh.vertices[heads] - mesh.vertices[tails]).max(axis=1, initial=0.0)
    return off, back & ~(outline.tied[line] & (step <= reach))


def _vertices_of_nodes(mesh: Mesh, outline: Outline, topology: Topology, arcs: Arcs) -> Int64:
    """The vertex of each node: of equal ones the one that triangles use, of a crossing the nearest."""
    arrangement = outline.arrangement
    result = np.full(arrangement.nodes, -1, np.int64)
    nodes = arrangement.vertex_nodes
    given = np.arange(len(nodes))[::-1]
    for chosen in (given, given[topology.used[given]]):
        result[nodes[chosen]] = chosen
    candidates = np.unique(arcs.tails)
    candidates = candidates[np.argsort(mesh.vertices[candidates, 0], kind="stable")]
    places = mesh.vertices[candidates]
    for node, around in _crossings(outline).items():
        x, y = map(float, arrangement.crossings[node - outline.first_crossing])
        low, high = np.searchsorted(places[:, 0], (x - around, np.nextafter(x + around, np.inf)))
        offset = np.abs(places[low:high] - (x, y)).max(axis=1)
        if len(offset) and offset.min() <= around:
            result[node] = candidates[low + offset.argmin()]
    return result


def _crossings(outline: Outline) -> dict[int, float]:
    """How far from each crossing on a wanted edge its vertex may be."""
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
    """Whether another chain joins the same two vertices."""
    if not len(chains.tails):
        return np.zeros(len(which), bool)
    scale = len(chains.inner)
    keys, counts = np.unique(chains.tails * scale + chains.heads, return_counts=True)
    own = chains.tails[which] * scale + chains.heads[which]
    result: Mask = (which >= 0) & (counts[np.minimum(np.searchsorted(keys, own), len(keys) - 1)] > 1)
    return result
