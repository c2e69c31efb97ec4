"""What a planar straight-line graph asks for: which faces are the domain, and which edges bound or divide it.

Derived from the graph alone, in exact arithmetic (`dmr.exact.arrangement`). The segments cut the plane into faces;
carved away are the face outside and every face that holds a hole point; the domain is all the others. An edge is wanted
where the domain lies on one of its sides at least; the others may be absent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dmr.checks.topology import Mask, place
from dmr.exact import Points
from dmr.exact.arrangement import OUTSIDE, Arrangement, convex_hull
from dmr.meshes import Pslg
from dmr.naming import number

Float = NDArray[np.float64]
Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Outline:
    """A graph, and the domain that it describes.

    Attributes:
        pslg: the graph.
        segments: (s, 2), its segments, and the edges of its convex hull where that is the domain.
        markers: (s,), 0 on hull edges.
        arrangement: of these segments; its points are the holes, then the regions.
        covered: (faces,) which faces are the domain.
        wanted: (w,) the edges of the arrangement with the domain on one side or both, in runs: a run goes along one
            line from left to right, over crossings, up to a vertex or to where the domain ends.
        run: (w,) the number of the run, from 0, ascending.
        sides: (w,) 1 where it is on the left of such an edge only, -1 on the right only, 0 on both.
        line: (w,) of the segments that the edge is part of, the one with the smallest reach.
        tied: (s,) which segments cross another one, so that the crossing is a rounded point, or come as near as two
            ulps to a vertex that is not on them, so that others that are crossed may be moved across them.
        reaches: (s,) how far vertices of a segment may be from it; see `dmr.checks.domain`.
    """

    pslg: Pslg
    segments: NDArray[np.int32]
    markers: NDArray[np.int32]
    arrangement: Arrangement
    covered: Mask
    wanted: Int64
    run: Int64
    sides: Int64
    line: Int64
    tied: Mask
    reaches: Float

    @classmethod
    def of(cls, pslg: Pslg, *, hull: bool) -> Outline:
        """Prepares a graph.

        Args:
            pslg: the graph.
            hull: whether the domain reaches to the convex hull of all vertices.
        """
        assert pslg.segment_markers is not None
        segments, markers = pslg.segments, pslg.segment_markers
        if hull:
            edges = convex_hull(pslg.vertices)
            segments = np.concatenate([segments, edges])
            markers = np.concatenate([markers, np.zeros(len(edges), np.int32)])
        points = np.concatenate([pslg.holes, pslg.regions[:, :2]])
        arrangement = Arrangement.of(pslg.vertices, segments, points)
        covered = np.ones(arrangement.faces, bool)
        covered[OUTSIDE] = False
        holes = arrangement.point_faces[: len(pslg.holes)]
        covered[holes[holes >= 0]] = False
        edge_of = np.repeat(np.arange(len(arrangement.tails)), np.diff(arrangement.offsets))
        first_crossing = arrangement.nodes - len(arrangement.crossings)
        at_crossing = (arrangement.tails >= first_crossing) | (arrangement.heads >= first_crossing)
        tied = np.zeros(len(segments), bool)
        tied[arrangement.owners[at_crossing[edge_of]]] = True
        tied |= _near_vertices(pslg.vertices, segments, arrangement)
        reaches = segment_ulps(pslg.vertices, segments) * (1 + tied)
        # One edge, several owners: all lie on one line, so that the strictest of them stands for all.
        order = np.lexsort((arrangement.owners, reaches[arrangement.owners], edge_of))
        line = arrangement.owners[order[arrangement.offsets[:-1]]] if len(order) else np.zeros(0, np.int64)
        above, below = covered[arrangement.above], covered[arrangement.below]
        wanted = np.flatnonzero(above | below)
        # The sweep made the edges of a line from left to right.
        wanted = wanted[np.argsort(line[wanted], kind="stable")]
        tails, heads = arrangement.tails[wanted], arrangement.heads[wanted]
        goes_on = np.zeros(len(wanted), bool)
        goes_on[1:] = (tails[1:] == heads[:-1]) & (heads[:-1] >= first_crossing)
        goes_on[1:] &= line[wanted[1:]] == line[wanted[:-1]]
        return cls(
            pslg=pslg,
            segments=segments,
            markers=markers,
            arrangement=arrangement,
            covered=covered,
            wanted=wanted,
            run=np.cumsum(~goes_on) - 1,
            sides=above[wanted].astype(np.int64) - below[wanted],
            line=line[wanted],
            tied=tied,
            reaches=reaches,
        )

    @property
    def first_crossing(self) -> int:
        """The first node that is no vertex."""
        return self.arrangement.nodes - len(self.arrangement.crossings)

    def ends(self) -> tuple[Int64, Int64]:
        """The nodes that each wanted edge joins, from left to right."""
        return self.arrangement.tails[self.wanted], self.arrangement.heads[self.wanted]

    def first_edges(self) -> Int64:
        """The first wanted edge of each run, and behind them the number of all wanted edges."""
        return np.append(np.flatnonzero(np.diff(self.run, prepend=-1)), len(self.run))

    def oriented(self, lines: Int64) -> tuple[Int64, Int64]:
        """The ends of segments, from left to right (from below where they are vertical)."""
        a, b = self.segments[lines].T.astype(np.int64)
        (ax, ay), (bx, by) = self.pslg.vertices[a].T, self.pslg.vertices[b].T
        swap = (ax > bx) | ((ax == bx) & (ay > by))
        return np.where(swap, b, a), np.where(swap, a, b)

    def owners_of_all(self) -> tuple[Int64, Int64]:
        """The segments that wanted edges are part of, one edge after the other, and the edge (0 to w - 1) of each."""
        offsets = self.arrangement.offsets
        sizes = np.diff(offsets)[self.wanted]
        edge = np.repeat(np.arange(len(self.wanted)), sizes)
        within = np.arange(len(edge)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.arrangement.owners[offsets[self.wanted][edge] + within], edge

    def describe(self, segment: int) -> str:
        """A segment in words."""
        a, b = self.segments[segment]
        kind = "segment" if segment < len(self.pslg.segments) else "edge of the convex hull"
        start, end = (place(self.pslg.vertices, vertex, "input vertex") for vertex in (a, b))
        return f"the {kind} from {start} to {end}"

    def describe_node(self, node: int) -> str:
        """A node in words."""
        if node >= self.first_crossing:
            x, y = self.arrangement.crossings[node - self.first_crossing]
            return f"the crossing at ({float(x)!r}, {float(y)!r})"
        vertex = int(np.flatnonzero(self.arrangement.vertex_nodes == node)[0])
        return place(self.pslg.vertices, vertex, "input vertex")

    def describe_face(self, face: int) -> str:
        """What is to be seen on one side of an edge, in words."""
        if self.covered[face]:
            return "inside the domain"
        if face == OUTSIDE:
            return "outside of the domain"
        hole = int(np.flatnonzero(self.arrangement.point_faces[: len(self.pslg.holes)] == face)[0])
        x, y = self.pslg.holes[hole]
        return f"in the hole of point {number('input hole', hole)} at ({float(x)!r}, {float(y)!r})"


def _near_vertices(vertices: Float, segments: NDArray[np.int32], arrangement: Arrangement) -> Mask:
    """(s,) whether a segment passes a node within two ulps, or ends in such a node."""
    first_crossing = arrangement.nodes - len(arrangement.crossings)
    place = np.zeros((arrangement.nodes, 2))
    place[arrangement.vertex_nodes] = vertices
    place[first_crossing:] = [(float(x), float(y)) for x, y in arrangement.crossings] or np.empty((0, 2))
    nodes, passing = arrangement.near_nodes, arrangement.near_segments
    every = Points(np.concatenate([vertices, place[nodes]]))
    a, b = segments[passing].T.astype(np.int64)
    reach = 2 * segment_ulps(vertices, segments[passing])
    near = ~every.off_line(a, b, len(vertices) + np.arange(len(nodes)), reach)
    near_node = np.zeros(arrangement.nodes, bool)
    near_node[nodes[near]] = True
    result: Mask = near_node[arrangement.vertex_nodes[segments[:, 0]]]
    result |= near_node[arrangement.vertex_nodes[segments[:, 1]]]
    result[passing[near]] = True
    return result


def segment_ulps(vertices: Float, segments: NDArray[np.int32]) -> Float:
    """(s,) one ulp of the largest absolute coordinate of each segment's ends."""
    ulps: Float = np.spacing(np.abs(vertices[segments]).max(axis=(1, 2), initial=0.0))
    return ulps
