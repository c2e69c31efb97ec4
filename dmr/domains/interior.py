"""Points and closed rings: an exact point-in-polygon test, and a point strictly inside, far from the boundary.

A point is inside if a ray from it crosses an odd number of edges (even-odd rule), so rings in a list cut holes into
each other. Exact signs decide the side of a point. Candidates for interior points come from rounded arithmetic, and
are accepted only if the exact test confirms them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from dmr.common.arguments import listed
from dmr.domains.rings import checked_ring
from dmr.errors import InvalidMeshError
from dmr.exact import signs
from dmr.exact.polynomials import cross
from dmr.mesh.types import Float

INSIDE, BOUNDARY, OUTSIDE = 1, 0, -1

_LINES = 24  # initial scan lines per direction: enough to find a wide place in ordinary outlines
# A centroid is accepted at once if its distance to the boundary exceeds this fraction of the bounding box's diagonal.
_GOOD_CLEARANCE = 0.12


def interior_point(outline: ArrayLike, holes: Sequence[ArrayLike] = ()) -> Float:
    """A point strictly inside a closed outline and strictly outside its holes, well away from both.

    `Pslg.holes` requires such a point for a hole, and `Pslg.regions` for a region.

    Args:
        outline: (n, 2), in either direction, closed or not.
        holes: likewise; their interior does not count as inside.

    Returns:
        (2,) float64, proved to be inside.

    Raises:
        InvalidMeshError: a ring is invalid, or the interior is too thin to contain a point with double coordinates.
    """
    rings = [checked_ring(outline, "the outline")]
    rings += [checked_ring(hole, f"hole {k}") for k, hole in enumerate(listed("holes", holes))]
    return point_inside(rings, "the outline")


def side_of_rings(rings: Sequence[Float], point: Float) -> int:
    """Locates a point by the number of edges that a ray from it crosses: `INSIDE`, `BOUNDARY` or `OUTSIDE`; exact.

    Args:
        rings: (n, 2) each, closed by an edge from the last corner to the first.
        point: (2,).
    """
    return _side(*_edges(rings), point)


@np.errstate(over="ignore", invalid="ignore")  # coordinates may be as large as floats are; the side is exact
def point_inside(rings: Sequence[Float], name: str) -> Float:
    """As `interior_point`, for rings that are already checked; `name` is the name of the outline in messages."""
    starts, ends = _edges(rings)
    if len(rings) == 1:
        centroid = _centroid(rings[0])
        good = _GOOD_CLEARANCE * float(np.hypot(*_extent(rings[0])))
        if _clearances(starts, ends, centroid[None])[0] > good and _side(starts, ends, centroid) == INSIDE:
            return centroid
    # The widest places on a few scan lines, in order of decreasing clearance.
    some = np.array([point for axis in (1, 0) for point in _widest_places(starts, ends, axis, _LINES)]).reshape(-1, 2)
    for k in np.argsort(-_clearances(starts, ends, some), kind="stable"):
        if _side(starts, ends, some[k]) == INSIDE:
            return np.array(some[k])
    # The domain is thin everywhere: try a scan line between every two consecutive corner heights.
    for axis in (1, 0):
        for point in _widest_places(starts, ends, axis, None):
            if _side(starts, ends, point) == INSIDE:
                return point
    x, y = rings[0][0].tolist()
    raise InvalidMeshError(
        f"{name}, with a corner at ({x!r}, {y!r}), is too thin: no point with double coordinates lies strictly inside"
    )


def _edges(rings: Sequence[Float]) -> tuple[Float, Float]:
    """The start and end points of the edges of closed rings: (e, 2) and (e, 2)."""
    return np.concatenate(rings), np.concatenate([np.roll(ring, -1, axis=0) for ring in rings])


def _side(starts: Float, ends: Float, point: Float) -> int:
    x, y = point
    if ((starts[:, 0] == x) & (starts[:, 1] == y)).any():
        return BOUNDARY
    level = (starts[:, 1] == y) & (ends[:, 1] == y)
    if (level & ((starts[:, 0] < x) != (ends[:, 0] < x))).any():
        return BOUNDARY
    # An edge includes its lower end and excludes its upper one, so a ray through a corner gives the correct parity.
    rising = (starts[:, 1] <= y) & (ends[:, 1] > y)
    spans = np.flatnonzero(rising | ((starts[:, 1] > y) & (ends[:, 1] <= y)))
    a, b = starts[spans], ends[spans]
    here = np.broadcast_to(point, a.shape)
    turn = signs(cross, [(b[:, 0], a[:, 0]), (b[:, 1], a[:, 1]), (here[:, 0], a[:, 0]), (here[:, 1], a[:, 1])])
    if (turn == 0).any():
        return BOUNDARY
    crossed = np.count_nonzero(turn == np.where(rising[spans], 1, -1))
    return INSIDE if crossed % 2 else OUTSIDE


def _widest_places(starts: Float, ends: Float, axis: int, count: int | None) -> Iterator[Float]:
    """Yields the midpoint of the widest interior interval on each of several scan lines across the rings.

    Args:
        starts, ends: the edges.
        axis: 1 for horizontal lines, 0 for vertical ones.
        count: the number of evenly spaced lines; None for one between every two consecutive corner heights.
    """
    across = 1 - axis
    heights = np.unique(starts[:, axis])
    lower, upper = heights[:-1], heights[1:]
    if count is not None and len(lower) > count:
        spread = np.linspace(heights[0], heights[-1], count + 2)[1:-1]
        chosen = np.unique(np.clip(np.searchsorted(heights, spread) - 1, 0, len(lower) - 1))
        lower, upper = lower[chosen], upper[chosen]
    # No corner lies on a line between two heights. Halve before adding: the sum of two huge coordinates could overflow.
    for height in lower / 2 + upper / 2:
        cut = np.flatnonzero((starts[:, axis] < height) != (ends[:, axis] < height))
        a, b = starts[cut], ends[cut]
        part = (height - a[:, axis]) / (b[:, axis] - a[:, axis])
        places = np.sort(a[:, across] * (1 - part) + b[:, across] * part)
        if len(places) < 2:
            continue
        inner = np.arange(0, len(places) - 1, 2)
        best = inner[np.argmax(places[inner + 1] - places[inner])]
        point = np.empty(2)
        point[axis], point[across] = height, places[best] / 2 + places[best + 1] / 2
        yield point


def _clearances(starts: Float, ends: Float, points: Float) -> Float:
    """(k,): the distance from each point to the nearest edge, up to rounding."""
    found = np.empty(len(points))
    along = ends - starts
    with np.errstate(all="ignore"):
        lengths = (along * along).sum(axis=1)
        for k, point in enumerate(points):
            off = point - starts
            part = np.clip((off * along).sum(axis=1) / lengths, 0, 1)
            gap = off - part[:, None] * along
            found[k] = np.sqrt((gap * gap).sum(axis=1).min())
    found[~np.isfinite(found)] = 0.0
    return found


def _centroid(ring: Float) -> Float:
    """The centroid, up to rounding; the mean of the corners if the area is too small to compute it."""
    middle: Float = ring.mean(axis=0)
    x, y = (ring - middle).T
    next_x, next_y = np.roll(x, -1), np.roll(y, -1)
    with np.errstate(all="ignore"):
        twice = x * next_y - y * next_x
        area = twice.sum()
        center: Float = middle + np.array([((x + next_x) * twice).sum(), ((y + next_y) * twice).sum()]) / (3 * area)
    return center if np.isfinite(center).all() else middle


def _extent(ring: Float) -> Float:
    size: Float = ring.max(axis=0) / 2 - ring.min(axis=0) / 2
    return 2 * size
