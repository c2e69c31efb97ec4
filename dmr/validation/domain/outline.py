"""The domain of a planar straight-line graph: the faces that belong to it, and the edges that bound or divide it.

It is derived from the graph alone, in exact arithmetic (`dmr.exact.arrangement`). The segments divide the plane into
faces. The outer face and every face that contains a hole point are removed; all other faces form the domain. An edge is
wanted if the domain lies on at least one of its sides; other edges may be absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dmr.exact import Points
from dmr.exact.arrangement import OUTSIDE, Arrangement, convex_hull
from dmr.mesh.naming import number
from dmr.mesh.types import Pslg
from dmr.validation.triangulation.topology import Mask, place

Float = NDArray[np.float64]
Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Outline:
    """A planar straight-line graph, and the domain that it describes.

    Attributes:
        pslg: the graph.
        segments: (s, 2), its segments, followed by the edges of its convex hull if the hull is the domain.
        markers: (s,), 0 on hull edges.
        arrangement: the arrangement of these segments; its points are the holes, then the regions.
        covered: (faces,) mask of the faces in the domain.
        wanted: (w,) the edges of the arrangement with the domain on one side or both, grouped into runs: a run goes
            along one line from left to right, across crossings, up to a vertex or to the end of the domain.
        run: (w,) the run number of each edge, from 0, ascending.
        sides: (w,) 1 if the domain is only on the left of the edge, -1 if only on the right, 0 if on both sides.
        line: (w,) among the segments that contain the edge, the one with the smallest tolerance.
        tied: (s,) mask of the segments that cross another one, so that the crossing is a rounded point, or that pass
            within two ulps of a vertex not on them, so that other segments that are crossed may be moved across them.
        reaches: (s,) the tolerance of each segment: the largest distance of its vertices from it; see
            `dmr.validation.domain.domain`.
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
        """Derive the domain of a graph.

        Args:
            pslg: the graph.
            hull: whether the domain extends to the convex hull of all vertices.
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
        edge_of = _edges_of_owners(arrangement)
        first_crossing = arrangement.nodes - len(arrangement.crossings)
        at_crossing = (arrangement.tails >= first_crossing) | (arrangement.heads >= first_crossing)
        tied = np.zeros(len(segments), bool)
        tied[arrangement.owners[at_crossing[edge_of]]] = True
        tied |= _near_vertices(pslg.vertices, segments, arrangement)
        reaches = segment_ulps(pslg.vertices, segments) * (1 + tied)
        return cls._of_covered(pslg, segments, markers, arrangement, covered, tied, reaches)

    def without(self, faces: Sequence[int]) -> Outline:
        """Derive the outline of the domain without some of its faces."""
        covered = self.covered.copy()
        covered[list(faces)] = False
        return self._of_covered(
            self.pslg, self.segments, self.markers, self.arrangement, covered, self.tied, self.reaches
        )

    @classmethod
    def _of_covered(
        cls,
        pslg: Pslg,
        segments: NDArray[np.int32],
        markers: NDArray[np.int32],
        arrangement: Arrangement,
        covered: Mask,
        tied: Mask,
        reaches: Float,
    ) -> Outline:
        """Collect the wanted edges of a domain, given its faces."""
        edge_of = _edges_of_owners(arrangement)
        first_crossing = arrangement.nodes - len(arrangement.crossings)
        # All segments that contain an edge lie on one line, so the one with the smallest tolerance represents all.
        order = np.lexsort((arrangement.owners, reaches[arrangement.owners], edge_of))
        line = arrangement.owners[order[arrangement.offsets[:-1]]] if len(order) else np.zeros(0, np.int64)
        above, below = covered[arrangement.above], covered[arrangement.below]
        wanted = np.flatnonzero(above | below)
        # The sweep has created the edges of a line from left to right.
        wanted = wanted[np.argsort(line[wanted], kind="stable")]
        tails, heads = arrangement.tails[wanted], arrangement.heads[wanted]
        goes_on = np.zeros(len(wanted), bool)
        goes_on[1:] = (tails[1:] == heads[:-1]) & (heads[:-1] >= first_crossing)
        goes_on[1:] &= line[wanted[1:]] == line[wanted[:-1]]
        return cls(
            pslg,
            segments,
            markers,
            arrangement,
            covered,
            wanted,
            run=np.cumsum(~goes_on) - 1,
            sides=above[wanted].astype(np.int64) - below[wanted],
            line=line[wanted],
            tied=tied,
            reaches=reaches,
        )

    @property
    def first_crossing(self) -> int:
        """The first node that is a crossing, not a vertex."""
        return self.arrangement.nodes - len(self.arrangement.crossings)

    def ends(self) -> tuple[Int64, Int64]:
        """Return the two nodes of each wanted edge, left node first."""
        return self.arrangement.tails[self.wanted], self.arrangement.heads[self.wanted]

    def first_edges(self) -> Int64:
        """Return the first wanted edge of each run, followed by the number of wanted edges."""
        return np.append(np.flatnonzero(np.diff(self.run, prepend=-1)), len(self.run))

    def oriented(self, lines: Int64) -> tuple[Int64, Int64]:
        """Return the ends of segments, left end first (lower end first if vertical)."""
        a, b = self.segments[lines].T.astype(np.int64)
        (ax, ay), (bx, by) = self.pslg.vertices[a].T, self.pslg.vertices[b].T
        swap = (ax > bx) | ((ax == bx) & (ay > by))
        return np.where(swap, b, a), np.where(swap, a, b)

    def owners_of_all(self) -> tuple[Int64, Int64]:
        """List the segments that contain each wanted edge, edge by edge, and the edge (0 to w - 1) of each entry."""
        offsets = self.arrangement.offsets
        sizes = np.diff(offsets)[self.wanted]
        edge = np.repeat(np.arange(len(self.wanted)), sizes)
        within = np.arange(len(edge)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.arrangement.owners[offsets[self.wanted][edge] + within], edge

    def describe(self, segment: int) -> str:
        """Describe a segment in words."""
        a, b = self.segments[segment]
        kind = "segment" if segment < len(self.pslg.segments) else "edge of the convex hull"
        start, end = (place(self.pslg.vertices, vertex, "input vertex") for vertex in (a, b))
        return f"the {kind} from {start} to {end}"

    def describe_node(self, node: int) -> str:
        """Describe a node in words."""
        if node >= self.first_crossing:
            x, y = self.arrangement.crossings[node - self.first_crossing]
            return f"the crossing at ({float(x)!r}, {float(y)!r})"
        vertex = int(np.flatnonzero(self.arrangement.vertex_nodes == node)[0])
        return place(self.pslg.vertices, vertex, "input vertex")

    def describe_face(self, face: int) -> str:
        """Describe a face in words, as the location of one side of an edge."""
        if self.covered[face]:
            return "inside the domain"
        if face == OUTSIDE:
            return "outside of the domain"
        holes = np.flatnonzero(self.arrangement.point_faces[: len(self.pslg.holes)] == face)
        if not len(holes):  # left out by `without`
            return "in a face that is thinner than rounding"
        hole = int(holes[0])
        x, y = self.pslg.holes[hole]
        return f"in the hole of point {number('input hole', hole)} at ({float(x)!r}, {float(y)!r})"


def _edges_of_owners(arrangement: Arrangement) -> Int64:
    """The edge of each entry of `arrangement.owners`."""
    edges: Int64 = np.repeat(np.arange(len(arrangement.tails)), np.diff(arrangement.offsets))
    return edges


def _near_vertices(vertices: Float, segments: NDArray[np.int32], arrangement: Arrangement) -> Mask:
    """(s,) mask of the segments that pass within two ulps of a node, or end in such a node."""
    place = node_places(arrangement, vertices)
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


def node_places(arrangement: Arrangement, vertices: Float) -> Float:
    """(k, 2) rounded coordinates of the nodes."""
    first_crossing = arrangement.nodes - len(arrangement.crossings)
    places = np.zeros((arrangement.nodes, 2))
    places[arrangement.vertex_nodes] = vertices
    places[first_crossing:] = [(float(x), float(y)) for x, y in arrangement.crossings] or np.empty((0, 2))
    return places


def segment_ulps(vertices: Float, segments: NDArray[np.int32]) -> Float:
    """(s,) one ulp of the largest absolute coordinate of each segment's ends."""
    ulps: Float = np.spacing(np.abs(vertices[segments]).max(axis=(1, 2), initial=0.0))
    return ulps
