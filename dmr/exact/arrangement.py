"""The exact arrangement of line segments in the plane: crossings, edges and faces.

The algorithm is a plane sweep after Bentley and Ottmann (1979), from left to right. Points are ordered by x, then y, as
if the plane were slightly sheared, so that vertical segments are not a special case. A list contains the lines that the
sweep line intersects, from bottom to top; overlapping collinear segments form one line. Events are the vertices, and
the crossings of two lines that have become neighbours. At an event, all lines through its point are adjacent in the
list. Each ends an edge there, and those that continue start the next edge, sorted by direction. Nothing is rounded:
crossings are rational points, and every comparison is decided by a float filter or by rational numbers.

The sweep also finds the faces. Between two neighbouring lines lies a piece of a face. Where lines diverge, pieces of
new faces begin; where lines end and none continues, the pieces below and above them are merged (union-find). So a face
may have any shape, including holes, and points are assigned to their faces wherever the sweep meets them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int64 = NDArray[np.int64]

# The unbounded face.
OUTSIDE = 0
# Points within this many ulps of a segment's coordinates are near the segment.
NEAR = 2
# As in `sweep.side`: two differences and a product on each side, and the final difference.
_ROUNDING, _FLOOR = 2.0**-50, 2.0**-1000


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Nodes (the vertices, and the crossings of segments), the edges between them, and the faces.

    Attributes:
        nodes: number of nodes. Vertices with equal coordinates are one node; crossings come last.
        crossings: the exact coordinates of the nodes that are not vertices.
        vertex_nodes: (n,) the node of each vertex.
        vertex_faces: (n,) the face that contains each vertex, -1 if the vertex lies on a segment.
        tails, heads: (e,) the nodes of each edge, left node first (lower node first if the edge is vertical).
        above, below: (e,) the faces on the left and on the right of each edge, directed from tail to head.
        owners, offsets: edge i is part of the segments owners[offsets[i] : offsets[i + 1]], at least one.
        faces: number of faces; face 0 is the unbounded one.
        point_faces: (q,) the face of each point to be located, -1 if the point lies on a segment.
        near_nodes, near_segments: (p,) pairs of a node and a segment that passes within about `NEAR` ulps of the node,
            but not through it: the lines above and below the node, up to the first one that is farther away.
    """

    nodes: int
    crossings: tuple[tuple[Fraction, Fraction], ...]
    vertex_nodes: Int64
    vertex_faces: Int64
    tails: Int64
    heads: Int64
    above: Int64
    below: Int64
    owners: Int64
    offsets: Int64
    faces: int
    point_faces: Int64
    near_nodes: Int64
    near_segments: Int64

    @classmethod
    def of(cls, vertices: Float, segments: NDArray[np.int32], points: Float) -> Arrangement:
        """Compute the arrangement by a plane sweep.

        Args:
            vertices: (n, 2), finite.
            segments: (s, 2), indices of vertices. A segment of length zero is part of no edge.
            points: (q, 2), points to be located.
        """
        n, s = len(vertices), len(segments)
        # Adding zero turns -0.0 into 0.0.
        places, ranks = np.unique(np.concatenate([vertices, points]) + 0.0, axis=0, return_inverse=True)
        ranks = ranks.reshape(-1)
        ends = np.sort(ranks[segments], axis=1).reshape(s, 2)
        long = np.flatnonzero(ends[:, 0] < ends[:, 1])
        pieces, which = np.unique(ends[long], axis=0, return_inverse=True)
        is_vertex = np.zeros(len(places), bool)
        is_vertex[ranks[:n]] = True
        sweep = _Sweep(places, pieces, is_vertex)
        sweep.run()
        face_of = sweep.faces.numbers()
        nodes = np.cumsum(is_vertex) - 1  # of the ranks that are vertices
        node_of = np.concatenate([nodes, nodes[-1:] + 1 + np.arange(len(sweep.crossings))])
        located = np.array(sweep.located, np.int64).reshape(-1)
        faces_at = np.where(located < 0, -1, face_of[located]) if len(located) else located
        # The owners of each piece are all segments with the same ends.
        by_piece = long[np.argsort(which.reshape(-1), kind="stable")]
        counts = np.bincount(which.reshape(-1), minlength=len(pieces))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

        def owned(members: list[list[int]]) -> tuple[Int64, Int64]:
            """Return the owners of lists of pieces, and the number of owners per list."""
            flat = np.array([member for each in members for member in each], np.int64)
            sizes = starts[flat + 1] - starts[flat]
            owners = by_piece[np.repeat(starts[flat] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())]
            ends = np.concatenate([[0], np.cumsum(sizes)])
            lists = np.cumsum([0, *map(len, members)])
            return owners, np.diff(ends[lists])

        owners, sizes = owned(sweep.members)
        near_segments, near_sizes = owned(sweep.near_members)
        return cls(
            nodes=int(is_vertex.sum()) + len(sweep.crossings),
            crossings=tuple(sweep.crossings),
            vertex_nodes=nodes[ranks[:n]],
            vertex_faces=faces_at[ranks[:n]],
            tails=node_of[np.array(sweep.tails, np.int64)],
            heads=node_of[np.array(sweep.heads, np.int64)],
            above=face_of[np.array(sweep.above, np.int64)],
            below=face_of[np.array(sweep.below, np.int64)],
            owners=owners,
            offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            faces=int(face_of.max()) + 1,
            point_faces=faces_at[ranks[n:]],
            near_nodes=np.repeat(node_of[np.array(sweep.near_nodes, np.int64)], near_sizes),
            near_segments=near_segments,
        )


class _Faces:
    """Union-find structure over pieces of faces."""

    def __init__(self) -> None:
        self._parents = [OUTSIDE]

    def fresh(self) -> int:
        """Create a new piece."""
        self._parents.append(len(self._parents))
        return len(self._parents) - 1

    def find(self, piece: int) -> int:
        """Find the representative piece of the face, with path halving."""
        parents = self._parents
        while parents[piece] != piece:
            parents[piece] = piece = parents[parents[piece]]
        return piece

    def join(self, first: int, second: int) -> None:
        """Merge the faces of two pieces. The smaller number is the representative, so the outer face keeps number 0."""
        a, b = self.find(first), self.find(second)
        self._parents[max(a, b)] = min(a, b)

    def numbers(self) -> Int64:
        """Number the faces without gaps, and return the face number of each piece."""
        roots = np.array([self.find(piece) for piece in range(len(self._parents))], np.int64)
        return np.unique(roots, return_inverse=True)[1].reshape(-1).astype(np.int64)


class _Line:
    """A line that the sweep line intersects: one or several collinear segments, since the last node on the line.

    Attributes:
        x, y: the left end of the segment that reaches furthest right; dx, dy: the rounded vector to its right end.
        right: its right end; far: the rank of that end.
        members: the pieces that run along the line; node: the rank or crossing at which its current edge starts.
        above: the piece of a face above it.
        width: upper bound of the cross product of (dx, dy) and the vector to a point, for points near the line.
    """

    __slots__ = ("above", "dx", "dy", "far", "members", "node", "right", "width", "x", "y")

    def __init__(self, left: tuple[float, float], right: tuple[float, float], far: int, members: list[int]) -> None:
        self.x, self.y = left
        self.dx, self.dy = right[0] - left[0], right[1] - left[1]
        self.right = right
        self.far = far
        self.members = members
        self.node = -1
        self.above = -1
        largest = max(abs(left[0]), abs(left[1]), abs(right[0]), abs(right[1]))
        self.width = NEAR * 2.0**-52 * largest * (abs(self.dx) + abs(self.dy))

    def continued(self, members: list[int]) -> _Line:
        """Return the same line beyond a node."""
        return _Line((self.x, self.y), self.right, self.far, members)

    def exactly(self) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        """Return the left end and the vector to the right end, as fractions."""
        x, y = Fraction(self.x), Fraction(self.y)
        return x, y, Fraction(self.right[0]) - x, Fraction(self.right[1]) - y


class _Event:
    """A point that the sweep meets: a vertex or a point to be located (with its rank), or a crossing."""

    __slots__ = ("exact", "number", "rank", "slack_x", "slack_y", "x", "y")

    def __init__(self, x: float, y: float, number: int, rank: int, exact: tuple[Fraction, Fraction] | None) -> None:
        self.x, self.y = x, y
        self.number = number
        # A crossing counts as just before the next rank.
        self.rank = rank
        self.exact = exact
        # Error bounds of the rounded coordinates.
        self.slack_x, self.slack_y = (0.0, 0.0) if exact is None else (abs(x) * 2.0**-52, abs(y) * 2.0**-52)

    def exactly(self) -> tuple[Fraction, Fraction]:
        return (Fraction(self.x), Fraction(self.y)) if self.exact is None else self.exact


def _side(line: _Line, event: _Event) -> int:
    """Return 1 if the event's point lies above the line, -1 if below, 0 if on it."""
    first = line.dx * (event.y - line.y)
    second = line.dy * (event.x - line.x)
    difference = first - second
    error = _ROUNDING * (abs(first) + abs(second)) + _FLOOR
    if event.exact is not None:
        error += 2.0 * (abs(line.dx) * event.slack_y + abs(line.dy) * event.slack_x)
    if difference > error:
        return 1
    if difference < -error:
        return -1
    x, y, dx, dy = line.exactly()
    px, py = event.exactly()
    exact = dx * (py - y) - dy * (px - x)
    return (exact > 0) - (exact < 0)


def _is_near(line: _Line, event: _Event) -> bool:
    """Test whether a point may be within `NEAR` ulps of a line."""
    first = line.dx * (event.y - line.y)
    second = line.dy * (event.x - line.x)
    return not abs(first - second) > 2.0 * line.width + _ROUNDING * (abs(first) + abs(second)) + _FLOOR


def _turn(first: _Line, second: _Line) -> int:
    """Return 1 if the second line's direction is left of the first one's, -1 if right, 0 if they are equal."""
    plus, minus = first.dx * second.dy, first.dy * second.dx
    difference = plus - minus
    error = _ROUNDING * (abs(plus) + abs(minus)) + _FLOOR
    if difference > error:
        return 1
    if difference < -error:
        return -1
    _, _, ax, ay = first.exactly()
    _, _, bx, by = second.exactly()
    exact = ax * by - ay * bx
    return (exact > 0) - (exact < 0)


@cmp_to_key
def _bottom_to_top(first: _Line, second: _Line) -> int:
    return -_turn(first, second)


class _Sweep:
    """The sweep and its results: edges, by the ranks of their ends (crossings are numbered after the last rank)."""

    def __init__(self, places: Float, pieces: Int64, is_vertex: NDArray[np.bool_]) -> None:
        self._places: list[tuple[float, float]] = [(x, y) for x, y in places.tolist()]
        self._is_vertex = is_vertex.tolist()
        self._starting: dict[int, list[int]] = {}
        self._far: list[int] = []
        for number, (low, high) in enumerate(pieces.tolist()):
            self._starting.setdefault(low, []).append(number)
            self._far.append(high)
        self._status: list[_Line] = []
        self._queue: list[tuple[float, Fraction, Fraction]] = []
        self.faces = _Faces()
        self.crossings: list[tuple[Fraction, Fraction]] = []
        self.located: list[int] = []  # for each rank, the piece of a face that contains it, -1 on a segment
        self.tails: list[int] = []
        self.heads: list[int] = []
        self.above: list[int] = []
        self.below: list[int] = []
        self.members: list[list[int]] = []
        self.near_nodes: list[int] = []
        self.near_members: list[list[int]] = []

    def run(self) -> None:
        """Process all events, from left to right."""
        for rank, (x, y) in enumerate(self._places):
            self._cross_before(rank, x, y)
            self.located.append(self._meet(_Event(x, y, rank, rank, None)))
        assert not self._status, "every segment has ended"

    def _cross_before(self, rank: int, x: float, y: float) -> None:
        """Process the crossings before a point; a crossing at a vertex is processed with the vertex."""
        while self._queue and self._queue[0][0] <= x:
            here = Fraction(x), Fraction(y)
            rounded, *exact = self._queue[0]
            crossing = exact[0], exact[1]
            if crossing > here:
                return
            heappop(self._queue)
            if self.crossings[-1:] == [crossing] or (crossing == here and self._is_vertex[rank]):
                continue
            number = len(self._places) + len(self.crossings)
            self.crossings.append(crossing)
            self._meet(_Event(rounded, float(crossing[1]), number, rank - 1, crossing))

    def _meet(self, event: _Event) -> int:
        """Process one event: end the edges that reach its point, and start those that leave it.

        Returns:
            The piece of a face that contains the point, -1 if the point lies on a segment.
        """
        status = self._status
        place, stop = self._lines_through(event)
        starting = self._starting.get(event.rank, ()) if event.exact is None else ()
        beneath = status[place - 1].above if place else OUTSIDE
        if event.exact is None and not self._is_vertex[event.rank]:
            return beneath if place == stop else -1
        self._look_around(event, place, stop)
        if place == stop and not starting:
            return beneath
        ended = status[place:stop]
        over = ended[-1].above if ended else beneath
        self._emit(ended, beneath, event.number)
        fresh = self._leaving(ended, starting, event.rank)
        for line in fresh:
            line.node = event.number
            line.above = over if line is fresh[-1] else self.faces.fresh()
        status[place:stop] = fresh
        if fresh:
            self._watch(place - 1)
            self._watch(place + len(fresh) - 1)
        else:
            self.faces.join(beneath, over)
            self._watch(place - 1)
        return -1

    def _lines_through(self, event: _Event) -> tuple[int, int]:
        """Find the range of the lines that contain the event's point."""
        status, rank = self._status, event.rank
        exact = event.exact is not None
        low, high = 0, len(status)
        while low < high:
            middle = (low + high) // 2
            line = status[middle]
            if (exact or line.far != rank) and _side(line, event) > 0:
                low = middle + 1
            else:
                high = middle
        stop = low
        while stop < len(status) and ((not exact and status[stop].far == rank) or _side(status[stop], event) == 0):
            stop += 1
        return low, stop

    def _look_around(self, event: _Event, place: int, stop: int) -> None:
        """Record the lines that pass near a node."""
        status = self._status
        for others in (range(place - 1, -1, -1), range(stop, len(status))):
            for i in others:
                if not _is_near(status[i], event):
                    break
                self.near_nodes.append(event.number)
                self.near_members.append(status[i].members)

    def _emit(self, ended: Iterable[_Line], beneath: int, node: int) -> None:
        for line in ended:
            self.tails.append(line.node)
            self.heads.append(node)
            self.below.append(beneath)
            self.above.append(line.above)
            self.members.append(line.members)
            beneath = line.above

    def _leaving(self, ended: Sequence[_Line], starting: Sequence[int], rank: int) -> list[_Line]:
        """Collect the lines that leave a point, bottom to top: continuing lines and segments that start there."""
        far = self._far
        leaving = [line.continued([m for m in line.members if far[m] > rank]) for line in ended if line.far > rank]
        leaving += [_Line(self._places[rank], self._places[far[m]], far[m], [m]) for m in starting]
        if len(leaving) < 2:
            return leaving
        leaving.sort(key=_bottom_to_top)
        merged = leaving[:1]
        for line in leaving[1:]:
            if _turn(merged[-1], line):
                merged.append(line)
                continue
            longer = merged[-1] if merged[-1].far >= line.far else line
            merged[-1] = longer.continued(merged[-1].members + line.members)
        return merged

    def _watch(self, place: int) -> None:
        """Queue the crossing of a line with the next one above it, if they cross to the right of the sweep line."""
        status = self._status
        if place < 0 or place + 1 >= len(status):
            return
        lower, upper = status[place], status[place + 1]
        if lower.far == upper.far:
            return
        # They cross if the first of their right ends lies on the wrong side. If it lies on the other line, the event at
        # this end processes both lines.
        if lower.far < upper.far:
            if _side(upper, _Event(*lower.right, -1, -1, None)) <= 0:
                return
        elif _side(lower, _Event(*upper.right, -1, -1, None)) >= 0:
            return
        ax, ay, ux, uy = lower.exactly()
        bx, by, vx, vy = upper.exactly()
        way = ((bx - ax) * vy - (by - ay) * vx) / (ux * vy - uy * vx)
        x, y = ax + way * ux, ay + way * uy
        heappush(self._queue, (float(x), x, y))


def convex_hull(vertices: Float) -> NDArray[np.int32]:
    """Compute the edges of the convex hull of points, exactly (Andrew's monotone chain).

    Points in the interior of a hull edge do not split it. If all points are collinear, there are no edges.

    Args:
        vertices: (n, 2), finite.

    Returns:
        (h, 2) indices of vertices, counter-clockwise.
    """
    places, first = np.unique(vertices + 0.0, axis=0, return_index=True)
    points: list[tuple[float, float]] = [(x, y) for x, y in places.tolist()]

    def half(order: Iterable[int]) -> list[int]:
        chain: list[int] = []
        for i in order:
            while len(chain) > 1 and not _left_turn(points[chain[-2]], points[chain[-1]], points[i]):
                chain.pop()
            chain.append(i)
        return chain[:-1]

    ring = half(range(len(points))) + half(range(len(points) - 1, -1, -1))
    if len(ring) < 3:
        return np.empty((0, 2), np.int32)
    corners = first[ring]
    return np.stack([corners, np.roll(corners, -1)], axis=1).astype(np.int32)


def _left_turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Test whether a, b, c form a strict left turn."""
    if (b[0] - a[0], b[1] - a[1]) == (0.0, 0.0):
        return False
    line = _Line(a, b, 0, [])
    return _side(line, _Event(*c, -1, -1, None)) > 0
