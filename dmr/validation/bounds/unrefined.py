"""Verification of the reasons for unrefined triangles: triangles that violate a bound although refinement has ended.

A refinement lists the triangles that it leaves unrefined, by reason. These reasons are verified independently: a
triangle is excused only if it is listed *and* the geometry of the mesh explains it. (Small input corners are a separate
reason: see `dmr.validation.bounds.small_angles`.)

To eliminate triangle t, refinement inserts a point at its circumcenter, or elsewhere on the straight path from the
midpoint of its shortest edge to the circumcenter (off-centers). The point is rejected if it encroaches upon a
constrained edge. Each such edge is within reach of t: its diametral circle contains a point of that path, and no other
constrained edge lies between (the edge bounds triangles whose circumcircles meet the path, and which are connected to
t).

* "precision": the coordinates cannot resolve the required point. Either an edge of t has a length of at most 2^-48 of
  its largest coordinate (16 to 32 units in the last place), or t is a needle, with an altitude of at most 2^-49 of its
  largest coordinate (8 to 16 units), or a constrained edge within reach cannot be split: because it is that short,
  relative to the coordinates of the segment of which it is a piece, or because it lies beside such a needle. The
  kernels use the same fractions (`resolvable` and `on_line` in cuda_src/geometry/steiner.cuh). Units in the last place
  would not be suitable: up to the next power of two, the same fraction of a coordinate corresponds to twice as many
  units.
* "kept_segment": a constrained edge within reach has never been split: it is an entire segment that was to be kept.

Distances are measured in float64, with a relative tolerance of 1e-6. Circumcircles for which float64 is not accurate
enough are computed in exact arithmetic.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import shortened
from dmr.common.number_arrays import distinct, given_array
from dmr.common.text import option
from dmr.errors import OptionError, WrongTypeError
from dmr.mesh.types import Mesh
from dmr.validation.bounds.routes import Routes
from dmr.validation.report import GIVEN_REASONS, REASONS, Findings
from dmr.validation.triangulation.chains import Chains
from dmr.validation.triangulation.topology import Mask, Topology, describe

Float = NDArray[np.float64]
Point = tuple[float, float]
Number = TypeVar("Number", float, Fraction)

_ALLOWANCE = 1e-6
_SHORTEST = 2.0**-48
_FLATTEST = 2.0**-49
# Refinement rejects coordinates outside this range, because products of them would overflow or underflow.
_SMALLEST, _LARGEST = 2.0**-142, 2.0**201
# Fewer triangles are searched from one by one in less time than routes take.
_FEWEST_ON_ROUTES = 64
# A float64 difference that is a smaller fraction of its terms may have a larger error than the tolerance.
_CANCELLED = 2.0**-32


@dataclass(frozen=True, eq=False)
class Unrefined:
    """Triangles that a refinement lists as unrefined.

    Attributes:
        listed: (m,) mask of the triangles listed under any reason.
        excused: (m,) mask of the triangles listed under "precision" or "kept_segment" and confirmed by the geometry.
        by_reason: the excused triangles, by reason.
    """

    listed: Mask
    excused: Mask
    by_reason: dict[str, NDArray[np.int64]]

    @classmethod
    def none(cls, count: int) -> Unrefined:
        """Return an instance with no listed triangles."""
        return cls(np.zeros(count, bool), np.zeros(count, bool), {})

    @classmethod
    def of(
        cls,
        mesh: Mesh,
        topology: Topology,
        chains: Chains,
        given: Mapping[str, ArrayLike],
        complete: Mask | None = None,
    ) -> Unrefined:
        """Verify the reasons of listed triangles.

        Args:
            mesh, topology: the result.
            chains: its constrained edges, grouped by the segment of which they are pieces.
            given: triangle indices, by reason (`Refinement.unrefined_triangles`).
            complete: (n,) mask of the vertices at which segments are known to end where their chains do; None for all.
                In a part of a mesh, a segment may go on outside.

        Raises:
            OptionError: refinements do not give one of the reasons, or an index is not that of a triangle.
        """
        count = len(mesh.triangles)
        result = cls.none(count)
        surroundings = _Surroundings(mesh, topology, chains, complete)
        measurable = _SMALLEST <= np.abs(mesh.vertices).max(initial=0.0) <= _LARGEST
        if not isinstance(given, Mapping):
            raise WrongTypeError(
                f"{option('unrefined')} must be a dictionary of lists of triangles, not {shortened(given)}"
            )
        for reason, numbers in given.items():
            if reason not in GIVEN_REASONS:
                raise OptionError(
                    f"{option('unrefined')}: there is no reason {shortened(reason)}; "
                    f"refinements give {', '.join(map(repr, GIVEN_REASONS))}"
                )
            try:
                triangles = given_array(numbers).reshape(-1)
            except ValueError as error:
                raise OptionError(
                    f"{option('unrefined')}: {reason!r} must list numbers of triangles ({error})"
                ) from None
            if len(triangles) and (triangles.dtype.kind not in "iu" or triangles.min() < 0 or triangles.max() >= count):
                raise OptionError(
                    f"{option('unrefined')}: {reason!r} must list numbers of the mesh's {count} triangles"
                )
            triangles = distinct(triangles).astype(np.int64)
            result.listed[triangles] = True
            if reason in REASONS:
                agreed = surroundings.explained(triangles.tolist(), reason) if measurable else []
                result.by_reason[reason] = np.array(agreed, np.int64)
                result.excused[result.by_reason[reason]] = True
        return result


def check_listed(mesh: Mesh, below: NDArray[np.int64], unrefined: Unrefined, findings: Findings) -> None:
    """Check that every triangle below the angle bound is listed under some reason.

    Args:
        below: the triangles below the bound.
    """
    findings.start("unrefined")
    forgotten = below[~unrefined.listed[below]]
    findings.add(
        "unrefined",
        "triangle",
        forgotten,
        lambda i: (
            "is below the angle bound, but no reason is given for it; "
            f"its corners are {describe(mesh.vertices, *mesh.triangles[forgotten[i]])}"
        ),
    )


class _Surroundings:
    """Queries about the surroundings of a triangle."""

    def __init__(self, mesh: Mesh, topology: Topology, chains: Chains, complete: Mask | None) -> None:
        self._x, self._y = mesh.vertices[:, 0], mesh.vertices[:, 1]
        self._triangles = mesh.triangles
        self._twins = topology.twins
        half_edges = chains.arcs.half_edges
        self._constrained = np.zeros(len(topology.starts), bool)
        self._constrained[half_edges[half_edges >= 0]] = True
        self._largest = _largest_coordinates(mesh, topology, chains)
        single = np.diff(chains.offsets) == 1
        if complete is not None:
            single &= complete[chains.tails] & complete[chains.heads]
        whole = half_edges[chains.order[chains.offsets[:-1][single]]]
        self._whole = np.zeros(len(topology.starts), bool)
        self._whole[whole[whole >= 0]] = True
        self._circles: dict[int, tuple[Point, float]] = {}  # beside a long kept segment, searches meet the same ones

    def explained(self, triangles: list[int], reason: str) -> list[int]:
        """Return those of some triangles of which the geometry explains why they were left unrefined."""
        by_themselves: set[int] = set()
        if reason == "precision":
            by_themselves = {t for t in triangles if self._has_short_edge(t) or self._is_needle(t)}
        explains = self._is_unsplittable if reason == "precision" else self._is_whole
        open_ones = [t for t in triangles if t not in by_themselves]
        found = by_themselves | self._on_routes(open_ones, explains)
        return [t for t in triangles if t in found or any(map(explains, self._within_reach(t)))]

    def _on_routes(self, triangles: list[int], explains: Callable[[int], bool]) -> set[int]:
        """Return those triangles that reach an edge which explains them on routes that are the same for all."""
        if len(triangles) < _FEWEST_ON_ROUTES:
            return set()
        edges = {half_edge for half_edge in np.flatnonzero(self._constrained).tolist() if explains(half_edge)}
        targets, found = dict.fromkeys(half_edge // 3 for half_edge in edges), set[int]()
        for shortest in (False, True):
            left = [t for t in triangles if t not in found]
            if len(left) < _FEWEST_ON_ROUTES:
                break
            routes = Routes(self, targets, left, shortest=shortest)
            paths = [self._path(t) for t in left]
            starts, stops = (np.array([path[end] for path in paths]) for end in (0, 1))
            for t, path, end in zip(left, paths, routes.follow(left, starts, stops), strict=True):
                if end >= 0 and any(k in edges and self._encroached(k, *path) for k in range(3 * end, 3 * end + 3)):
                    found.add(t)
        return found

    def beside(self, triangle: int) -> list[int]:
        """Return the neighbours across edges that are not constrained."""
        return [int(self._twins[k]) // 3 for k in range(3 * triangle, 3 * triangle + 3) if not self._constrained[k]]

    def _corners(self, triangle: int) -> list[Point]:
        return [self._at(int(v)) for v in self._triangles[triangle]]

    def circle_of(self, triangle: int) -> tuple[Point, float]:
        """Return the center and the radius of a triangle's circumcircle."""
        found = self._circles.get(triangle)
        if found is None:
            found = self._circles[triangle] = _circle(self._corners(triangle))
        return found

    def _at(self, vertex: int) -> Point:
        return float(self._x[vertex]), float(self._y[vertex])

    def _ends(self, half_edge: int) -> tuple[Point, Point]:
        t, k = divmod(half_edge, 3)
        corners = self._triangles[t]
        return self._at(int(corners[(k + 1) % 3])), self._at(int(corners[(k + 2) % 3]))

    def _has_short_edge(self, triangle: int) -> bool:
        return any(_is_short(*self._ends(3 * triangle + k)) for k in range(3))

    def _is_needle(self, triangle: int) -> bool:
        a, b, c = self._corners(triangle)
        return abs(_cross(a, b, c)) <= _flattest(a, b, c) * max(math.dist(a, b), math.dist(b, c), math.dist(c, a))

    def _is_unsplittable(self, half_edge: int) -> bool:
        beside = [half_edge // 3] + ([int(self._twins[half_edge]) // 3] if self._twins[half_edge] >= 0 else [])
        short = _is_short(*self._ends(half_edge), float(self._largest[half_edge]))
        return short or any(self._is_needle(t) for t in beside)

    def _is_whole(self, half_edge: int) -> bool:
        return bool(self._whole[half_edge])

    def _path(self, triangle: int) -> tuple[Point, Point]:
        """Return the ends of the path to a triangle's circumcenter."""
        corners = self._corners(triangle)
        p, q = min(((corners[k], corners[k - 1]) for k in range(3)), key=lambda edge: math.dist(*edge))
        return ((p[0] + q[0]) / 2, (p[1] + q[1]) / 2), self.circle_of(triangle)[0]

    def _encroached(self, half_edge: int, start: Point, stop: Point) -> bool:
        """Test whether a point of a path may encroach upon a half-edge."""
        a, b = self._ends(half_edge)
        return _meets(((a[0] + b[0]) / 2, (a[1] + b[1]) / 2), math.dist(a, b) / 2, start, stop)

    def _within_reach(self, triangle: int) -> Iterator[int]:
        """Yield the constrained half-edges upon which a point on the path to a triangle's circumcenter may encroach."""
        path = self._path(triangle)
        seen, waiting = {triangle}, [(0.0, triangle)]
        while waiting:
            _, t = heapq.heappop(waiting)
            for half_edge in range(3 * t, 3 * t + 3):
                if self._constrained[half_edge]:
                    if self._encroached(half_edge, *path):
                        yield half_edge
                    continue
                other = int(self._twins[half_edge]) // 3
                if other not in seen and _meets(*self.circle_of(other), *path):
                    seen.add(other)
                    heapq.heappush(waiting, (-self.circle_of(other)[1], other))


def _largest_coordinates(mesh: Mesh, topology: Topology, chains: Chains) -> Float:
    """(3 m,) the largest coordinate of the segment of which a half-edge is a piece; 0 if there is none."""
    of_vertex = np.abs(mesh.vertices).max(axis=1)
    of_chain = np.maximum(of_vertex[chains.tails], of_vertex[chains.heads])
    arcs, chain = chains.arcs, chains.chain_of_arc
    known = np.flatnonzero((arcs.half_edges >= 0) & (chain >= 0))
    result = np.zeros(len(topology.starts))
    result[arcs.half_edges[known]] = of_chain[chain[known]]
    return result


def _is_short(a: Point, b: Point, largest: float = 0.0) -> bool:
    """Test whether two points are too close to place another between them, relative to the largest coordinate.

    `largest` may give a larger coordinate, from which these points are derived.
    """
    return math.dist(a, b) <= _SHORTEST * (1 + _ALLOWANCE) * max(largest, *map(abs, (*a, *b)))


def _flattest(*points: Point) -> float:
    """Compute the distance from a line below which the coordinates cannot distinguish a point from the line."""
    return _FLATTEST * (1 + _ALLOWANCE) * max(abs(x) for point in points for x in point)


def _cross(a: Point, b: Point, c: Point) -> float:
    """Compute twice the signed area of a triangle."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _circle(corners: list[Point]) -> tuple[Point, float]:
    """Compute the circumcircle of a triangle; for a degenerate triangle, its center is at infinity."""
    a, b, c = corners
    ux, uy, vx, vy = b[0] - a[0], b[1] - a[1], c[0] - a[0], c[1] - a[1]
    if abs(ux * vy - uy * vx) > _CANCELLED * (abs(ux * vy) + abs(uy * vx)):
        x, y = _center(ux, uy, vx, vy)
    else:
        x, y = _center(*(Fraction(end[k]) - Fraction(a[k]) for end in (b, c) for k in (0, 1)))
    return (a[0] + x, a[1] + y), math.hypot(x, y)


def _center(ux: Number, uy: Number, vx: Number, vy: Number) -> Point:
    """Compute the center of the circle through (0, 0), u and v."""
    twice = 2 * (ux * vy - uy * vx)
    if not twice:
        return math.inf, math.inf
    u, v = ux * ux + uy * uy, vx * vx + vy * vy
    return float((vy * u - uy * v) / twice), float((ux * v - vx * u) / twice)


def _meets(center: Point, radius: float, start: Point, stop: Point) -> bool:
    """Test whether a disk meets the line segment between two points; returns True if this is undecidable."""
    dx, dy = stop[0] - start[0], stop[1] - start[1]
    length = dx * dx + dy * dy
    along = ((center[0] - start[0]) * dx + (center[1] - start[1]) * dy) / length if length else 0.0
    along = min(max(along, 0.0), 1.0)
    away = math.dist(center, (start[0] + along * dx, start[1] + along * dy))
    return not away > radius * (1 + _ALLOWANCE)
