"""Routes to constrained edges through triangles with large circumcircles.

Whether a constrained edge is within reach of a triangle (see `unrefined.py`) is a search through the triangles in
between. Beside a long segment that is kept, thousands of triangles reach the same edge, each through thousands of
others. So all of them are first tried on routes that are the same for all: from every triangle, a route leads to an
edge, through the widest circles possible (a maximum bottleneck forest, by Prim's algorithm). For 1, 2, 4, ... steps of
a route from each triangle, a disk that lies in all of their circles is stored, so that a test takes logarithmic time: a
line that meets that disk meets all of these circles. A route that fails proves nothing, and the search decides.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]

# Triangles to look at for each one that asks: most of a mesh whose triangles between long walls do.
_MOST_PER_SOURCE = 16
# Relative errors of the disks, many times those of float64: a disk is shrunk by more than it may be wrong.
_MARGIN = 2.0**-40


@dataclass(frozen=True)
class Disks:
    """Disks: (n, 2) centers and (n,) radii, negative where there is none."""

    centers: Float
    radii: Float

    def __getitem__(self, index: Int) -> Disks:
        """Select disks."""
        return Disks(self.centers[index], self.radii[index])

    def meet(self, start: Float, stop: Float) -> NDArray[np.bool_]:
        """Test which of the disks meet the line segments from `start` to `stop`; False where this is undecidable."""
        way, to = stop - start, self.centers - start
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            along = np.clip(np.nan_to_num((to * way).sum(axis=1) / (way * way).sum(axis=1)), 0.0, 1.0)
            found: NDArray[np.bool_] = np.hypot(*(to - along[:, None] * way).T) <= self.radii
        return found

    def common(self, other: Disks) -> Disks:
        """Find disks that lie in both of each pair."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            between = other.centers - self.centers
            distance = np.hypot(*between.T)
            radii = (self.radii + other.radii - distance) / 2
            part = (self.radii - radii) / distance
            centers = self.centers + part[:, None] * between
            radii -= _MARGIN * (self.radii + other.radii + np.abs(self.centers).max(axis=1))
            in_other, in_self = distance + self.radii <= other.radii, distance + other.radii <= self.radii
        for inside, disks in ((in_other, self), (in_self, other)):
            centers[inside], radii[inside] = disks.centers[inside], disks.radii[inside]
        exists = (self.radii > 0) & (other.radii > 0) & (radii > 0)
        return Disks(centers, np.where(exists, radii, -1.0))


class Search(Protocol):
    """The circles and the neighbours of triangles, through which routes lead."""

    def circle_of(self, triangle: int) -> tuple[tuple[float, float], float]:
        """Center and radius of the circumcircle."""

    def beside(self, triangle: int) -> Iterable[int]:
        """Neighbours across edges that are not constrained."""


class Routes:
    """Routes from some triangles to the triangles beside some edges."""

    def __init__(
        self, search: Search, targets: Iterable[int], sources: Collection[int], *, shortest: bool = False
    ) -> None:
        """Find the routes.

        Args:
            search: the circles and neighbours of triangles.
            targets: the triangles where routes end; sources: those where routes may be asked to begin.
            shortest: of the fewest triangles, instead of the widest circles.
        """
        found = _routes(search, targets, sources, shortest=shortest)
        self._place = {triangle: place for place, triangle in enumerate(found)}
        self._triangles = np.fromiter(found, np.int64, len(found))
        ahead = np.array([self._place[t] for t in found.values()], np.int64)
        circles = [search.circle_of(t) for t in found.values()]
        disks = Disks(
            np.array([center for center, _ in circles]).reshape(-1, 2), np.array([radius for _, radius in circles])
        )
        self._is_end = ahead == np.arange(len(ahead))
        disks.radii[self._is_end] = -1.0
        self._levels = [(ahead, disks)]
        while disks.radii.max(initial=-1.0) > 0:
            ahead, disks = ahead[ahead], disks.common(disks[ahead])
            self._levels.append((ahead, disks))

    def follow(self, triangles: list[int], start: Float, stop: Float) -> list[int]:
        """Follow the routes of triangles as far as all circles on them meet the lines from `start` to `stop`.

        Returns:
            For each the target that it has reached, or -1.
        """
        at = np.array([self._place.get(t, -1) for t in triangles], np.int64)
        active = np.flatnonzero(at >= 0)
        while len(active):
            before = at[active]
            for ahead, disks in reversed(self._levels):
                meet = disks[at[active]].meet(start[active], stop[active])
                at[active[meet]] = ahead[at[active[meet]]]
            active = active[at[active] != before]
        ended = at >= 0
        ended[ended] = self._is_end[at[ended]]
        found = np.full(len(at), -1)
        found[ended] = self._triangles[at[ended]]
        numbers: list[int] = found.tolist()
        return numbers


def _routes(search: Search, targets: Iterable[int], sources: Collection[int], *, shortest: bool) -> dict[int, int]:
    """Find the next triangle on each route, the triangle itself where the route ends, until all sources have a route.

    Ends after a multiple of the number of sources, too.
    """
    ahead: dict[int, int] = {}
    wanted, most = set(sources), _MOST_PER_SOURCE * len(sources)
    numbers = itertools.count()  # of circles of one size the first one met, from a wider one, comes first

    def entry(t: int, origin: int) -> tuple[float, int, int, int]:
        return 0.0 if shortest else -search.circle_of(t)[1], next(numbers), t, origin

    waiting = [entry(t, t) for t in targets]
    heapq.heapify(waiting)
    while waiting and wanted and len(ahead) < most:
        *_, t, origin = heapq.heappop(waiting)
        if t in ahead:
            continue
        ahead[t] = origin
        wanted.discard(t)
        for other in search.beside(t):
            if other not in ahead:
                heapq.heappush(waiting, entry(other, t))
    return ahead
