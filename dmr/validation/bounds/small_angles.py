"""Check of the angle bound; a smaller angle is excused beside an input corner of less than 60 degrees.

Two segments that meet at phi < 60 degrees are split at equal distances from their common vertex p (concentric
shells). The edge between two such points is shorter than both distances, and splitting it would never terminate. A
triangle on this edge has an angle of at least arctan(sin phi / (2 - cos phi)): the angle that a shell edge subtends
from the next shell, twice as far from p. So a triangle below the bound is excused in these cases:

* "corner": one of its corners is such a p, and it lies between the two segments;
* "shell": its shortest edge joins the two segments, at distances from p that differ by at most one thousandth;
* "cluster", a weaker reason: a triangle across one of its edges is of one of the first two kinds.

Its angle must reach the arctan bound, unless it is the corner's own angle phi. The triangles below the bound are
determined exactly; the reasons are measured in float64, from the geometry alone.

Segments are those of the input if it is given. Otherwise they are chains of constrained edges that are straight up to
a few ulps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.naming import named
from dmr.mesh.types import Mesh
from dmr.validation.report import Findings, SmallAngle
from dmr.validation.triangulation.chains import Arcs, Chains
from dmr.validation.triangulation.shapes import smallest_angle
from dmr.validation.triangulation.topology import Mask, Topology, describe

Float = NDArray[np.float64]

SMALL_CORNER = 60.0
# Largest relative difference of two distances on the same shell.
_SHELL = 1e-3
# Tolerance for float64 errors of an angle: this relative error, plus this number of coordinate ulps over edge length.
_ANGLE_SLACK = 1e-9
_ULPS = 8.0


def straight_candidates(mesh: Mesh, arcs: Arcs) -> Mask:
    """(n,) mask of the vertices at which two constrained edges are collinear within a few ulps of the coordinates."""
    count = len(mesh.vertices)
    straight = np.zeros(count, bool)
    two = np.bincount(arcs.tails, minlength=count) == 2
    order = np.argsort(arcs.tails, kind="stable")
    order = order[two[arcs.tails[order]]].reshape(-1, 2)
    vertex, first, second = arcs.tails[order[:, 0]], arcs.heads[order[:, 0]], arcs.heads[order[:, 1]]
    with np.errstate(all="ignore"):
        along = mesh.vertices[second] - mesh.vertices[first]
        before = mesh.vertices[vertex] - mesh.vertices[first]
        after = mesh.vertices[second] - mesh.vertices[vertex]
        offset = np.abs(along[:, 0] * before[:, 1] - along[:, 1] * before[:, 0])
        ulp = np.spacing(np.abs(mesh.vertices[np.stack([vertex, first, second])]).max(axis=(0, 2), initial=0.0))
        fits = (offset <= _ULPS * ulp * np.abs(along).sum(axis=1)) & ((before * after).sum(axis=1) > 0)
    straight[vertex[fits]] = True
    return straight


@dataclass(frozen=True)
class Explanation:
    """Reason for a small angle: the corner, its angle phi in degrees, the kind of reason, whether the angle is phi."""

    corner: int
    phi: float
    reason: str
    own: bool = False

    @property
    def bound(self) -> float:
        """The smaller bound that the angle must still satisfy, in degrees."""
        phi = math.radians(self.phi)
        return 0.0 if self.own else math.degrees(math.atan(math.sin(phi) / (2 - math.cos(phi))))


class Corners:
    """The small input corners of a mesh, where two consecutive segments meet at less than 60 degrees."""

    def __init__(self, mesh: Mesh, chains: Chains) -> None:
        self.mesh = mesh
        self.chains = chains
        self._positions: dict[int, tuple[float, float]] = {}
        with np.errstate(all="ignore"):
            reach = mesh.vertices[chains.heads] - mesh.vertices[chains.tails]
            angles = np.degrees(np.arctan2(reach[:, 1], reach[:, 0]))
        order = np.lexsort((angles, chains.tails))
        # Chains sorted by start vertex, then by direction.
        self._order = order
        self._angles = angles[order]
        counts = np.bincount(chains.tails, minlength=len(mesh.vertices))
        self._offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        self.constrained = chains.inner.copy()
        self.constrained[chains.tails] = True
        tails = chains.tails[order]
        following = np.arange(1, len(order) + 1)
        last = self._offsets[tails + 1] - 1 == np.arange(len(order))
        following[last] = self._offsets[tails[last]]
        gaps = (self._angles[following] - self._angles) % 360 if len(order) else np.zeros(0)
        several = np.diff(self._offsets)[tails] > 1
        self.small = np.zeros(len(mesh.vertices), bool)
        self.small[tails[several & (gaps < SMALL_CORNER)]] = True

    def explain(self, corners: list[int]) -> Explanation | None:
        """Find the reason ("corner" or "shell") that permits a small angle, if any; of several, the weakest bound."""
        found = []
        for k in range(3):
            if self.small[corners[k]]:
                found.append(self._at_corner(corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3], corners))
        _, u, v = self._by_length(corners)
        if self.constrained[u] and self.constrained[v]:
            found.append(self._on_shell(u, v))
        return min((reason for reason in found if reason is not None), key=lambda reason: reason.bound, default=None)

    def _at(self, vertex: int) -> tuple[float, float]:
        """Return the position of a vertex, as Python floats."""
        if vertex not in self._positions:
            x, y = self.mesh.vertices[vertex].tolist()
            self._positions[vertex] = (x, y)
        return self._positions[vertex]

    def _distance(self, u: int, v: int) -> float:
        return math.dist(self._at(u), self._at(v))

    def _by_length(self, corners: list[int]) -> tuple[int, int, int]:
        """Rotate the corners so that the one opposite the shortest edge comes first."""
        rotations = [(corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]) for k in range(3)]
        return min(rotations, key=lambda r: self._distance(r[1], r[2]))

    def _at_corner(self, p: int, u: int, v: int, corners: list[int]) -> Explanation | None:
        """Test whether the triangle p, u, v lies between two segments that meet at p at a small angle."""
        low, high = int(self._offsets[p]), int(self._offsets[p + 1])
        angles = self._angles[low:high]
        # Use the direction halfway between the two sides, so that rounding cannot move it out of its wedge.
        first, second = self._direction(p, u), self._direction(p, v)
        turn = (second - first) % 360
        direction = (first + turn / 2 + 180) % 360 - 180
        place = int(np.searchsorted(angles, direction))
        before, after = low + (place - 1) % len(angles), low + place % len(angles)
        phi = float((self._angles[after] - self._angles[before]) % 360)
        if before == after or phi >= SMALL_CORNER:
            return None
        sides = {self._segment(int(self._order[before])), self._segment(int(self._order[after]))}
        spans = self._lines(u).get(p, set()) | self._lines(v).get(p, set())
        own = sides <= spans and self._by_length(corners)[0] == p
        return Explanation(p, phi, "corner", own)

    def _on_shell(self, u: int, v: int) -> Explanation | None:
        """Test whether u and v lie on two segments that meet at a small angle, equally far from the common vertex."""
        lines_u, lines_v = self._lines(u), self._lines(v)
        for p in sorted(lines_u.keys() & lines_v.keys()):
            for first in lines_u[p]:
                for second in lines_v[p] - {first}:
                    phi = self._angle_between(p, first, second)
                    near, far = sorted((self._distance(p, u), self._distance(p, v)))
                    if phi < SMALL_CORNER and far - near <= _SHELL * far:
                        return Explanation(p, phi, "shell")
        return None

    def _segment(self, chain: int) -> int:
        """Return one number for a chain and its reverse: the smaller of their numbers."""
        chains = self.chains
        last = chains.order[chains.offsets[chain + 1] - 1]
        return min(chain, int(chains.chain_of_arc[last ^ 1]))

    def _lines(self, vertex: int) -> dict[int, set[int]]:
        """Return the segments through a vertex, grouped by their end vertices other than this vertex."""
        chains = self.chains
        lines: dict[int, set[int]] = {}
        if chains.inner[vertex]:
            chain = int(chains.chain_of_vertex[vertex])
            if chain >= 0:
                for end in (chains.tails[chain], chains.heads[chain]):
                    lines.setdefault(int(end), set()).add(self._segment(chain))
            return lines
        for chain in self._order[self._offsets[vertex] : self._offsets[vertex + 1]]:
            lines.setdefault(int(chains.heads[chain]), set()).add(self._segment(int(chain)))
        return lines

    def _angle_between(self, p: int, first: int, second: int) -> float:
        """Compute the angle at p between two segments that end there, degrees."""
        directions = []
        for segment in (first, second):
            tail, head = int(self.chains.tails[segment]), int(self.chains.heads[segment])
            directions.append(self._direction(p, head if tail == p else tail))
        turn = abs(directions[0] - directions[1]) % 360
        return min(turn, 360 - turn)

    def _direction(self, p: int, q: int) -> float:
        """Compute the direction from p to q, degrees from the x axis, -180 to 180."""
        (px, py), (qx, qy) = self._at(p), self._at(q)
        return math.degrees(math.atan2(qy - py, qx - px))


def check_angles(
    mesh: Mesh,
    topology: Topology,
    chains: Chains,
    below: NDArray[np.int64],
    min_angle: float,
    findings: Findings,
) -> tuple[SmallAngle, ...]:
    """Check that only triangles excused by small input corners are below the angle bound.

    Args:
        below: the triangles below the bound, ascending.

    Returns:
        The excused triangles.
    """
    findings.start("angle")
    corners = Corners(mesh, chains)
    excused: dict[int, SmallAngle] = {}
    too_small: dict[int, SmallAngle] = {}
    if corners.small.any():
        for t, found in _explanations(mesh, topology, corners, below).items():
            angle = smallest_angle(mesh, t)
            small = SmallAngle(t, angle, found.corner, found.phi, found.bound, found.reason)
            (excused if angle >= _lowered(mesh, t, found.bound) else too_small)[t] = small
    wrong = below[~np.isin(below, np.fromiter(excused, np.int64, len(excused)))]

    def message(i: int) -> str:
        t = int(wrong[i])
        if t not in too_small:
            return describe_angle(mesh, t, min_angle)
        corner = named("vertex", too_small[t].corner)
        beside = f", and below {too_small[t].bound:.9g}, the bound beside the corner at {corner}"
        return describe_angle(mesh, t, min_angle, beside)

    findings.add("angle", "triangle", wrong, message)
    return tuple(excused[t] for t in sorted(excused))


def describe_angle(mesh: Mesh, triangle: int, min_angle: float, more: str = "") -> str:
    """Format the angle of a triangle below the bound, with `more` about the bound."""
    return (
        f"has an angle of {smallest_angle(mesh, triangle)!r} degrees, below {min_angle!r}{more}; "
        f"its corners are {describe(mesh.vertices, *mesh.triangles[triangle])}"
    )


def _lowered(mesh: Mesh, triangle: int, bound: float) -> float:
    """Lower a bound by the amount that rounding of coordinates may reduce an angle of this triangle."""
    corners = mesh.vertices[mesh.triangles[triangle]]
    length = min(math.dist(p, q) for p, q in pairwise([*corners, corners[0]]))
    ulp = float(np.spacing(np.abs(corners).max()))
    return bound * (1 - _ANGLE_SLACK) - math.degrees(_ULPS * ulp / length) if length else 0.0


def _explanations(mesh: Mesh, topology: Topology, corners: Corners, below: NDArray[np.int64]) -> dict[int, Explanation]:
    """Find the reasons of those triangles below the bound that have one."""
    triangles = mesh.triangles
    # Only triangles at a small corner, or with an edge between two constrained vertices, can have a reason other than
    # "cluster".
    near = corners.small[triangles].any(axis=1) | (corners.constrained[triangles].sum(axis=1) >= 2)
    known: dict[int, Explanation | None] = {}

    def explained(t: int) -> Explanation | None:
        if t < 0 or not near[t]:
            return None
        if t not in known:
            known[t] = corners.explain(triangles[t].tolist())
        return known[t]

    neighbours = topology.neighbours_of(below)
    candidates = near[below] | (near[neighbours] & (neighbours >= 0)).any(axis=1)
    result: dict[int, Explanation] = {}
    for t, around in zip(below[candidates].tolist(), neighbours[candidates].tolist(), strict=True):
        found = explained(t)
        if found is None:
            beside = [other for other in map(explained, around) if other is not None]
            if not beside:
                continue
            best = min(beside, key=lambda other: (other.phi, other.corner))
            found = Explanation(best.corner, best.phi, "cluster")
        result[t] = found
    return result
