"""Divides segments evenly in the metric 1/h, along whole chains.

A chain runs between corners: vertices where other than two segments meet, or where the direction turns. Rounding the
number of pieces of a segment leaves an error, which the next segment of the chain takes over.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dmr.memory import Device
from dmr.mesh.types import Float, Int
from dmr.refinement.placement.metric import EqualMetric, IntegratedMetric, Metric, lengths
from dmr.refinement.placement.outline import Segments
from dmr.refinement.placement.targets import SPACED
from dmr.sizing.source import SizeSource

# As in Gmsh, pieces are hardly longer than the size if some segment is below `FEWEST_TO_CARRY`, also in chains. Where
# one size is wanted, the same holds in narrow domains, and elsewhere for pieces of long segments.
NARROW = 3.0  # sizes: the mean width below which a domain is narrow
LONG_SEGMENT = 16.0  # sizes
# The most by which a whole segment is longer than its number of pieces, in sizes: where one size is wanted, and where
# sizes vary. Segments as long as their own size are a little longer than those of shorter neighbours.
TOLERANCE, UNEVEN_TOLERANCE = 0.01, 0.1
FEWEST_TO_CARRY = 3.0  # sizes; shorter segments take over no error
ALMOST = 0.9999  # rounding makes a segment of a whole number of sizes slightly shorter
SHORTEST, LONGEST = 0.75, 4 / 3  # lengths of pieces, in sizes, for which a segment takes over an error
SHORTEST_AT_CORNER = 0.62  # least length of a piece shortened at a corner, relative to its length before
STRAIGHT = 0.995  # cosine of the largest turn within a chain
CORNER_TANGENT = 0.9827  # of 44.5 degrees: just above the angles that are lifted, which cannot be done in a corner
WIDEST_CORNER = -0.2  # cosine of the widest corner in which two pieces form a triangle
RESOLUTION = 2.0**-40  # shortest pieces, in units of the largest coordinate: rounding hardly moves their ends
HALF_OCTAVE = 0.7071067811865476  # between two powers of 2
LEAST_LEFT = 0.25  # of the piece behind a vertex that is moved away from an acute corner


@dataclass(frozen=True, eq=False)
class Division:
    """Places at which segments are divided.

    Attributes:
        segment: (k,) int32, ascending: the segment of each new vertex.
        parameter: (k,) float64, ascending along each: its place on the segment, from 0 to 1.
    """

    segment: Int
    parameter: Float

    def without(self, segments: NDArray[np.int64]) -> Division:
        """Returns the division without that of some segments."""
        if not len(segments):
            return self
        stays = ~np.isin(self.segment, segments)
        return Division(self.segment[stays], self.parameter[stays])

    def without_rows(self, rows: NDArray[np.int64]) -> Division:
        """Returns the division without some of its places."""
        return Division(np.delete(self.segment, rows), np.delete(self.parameter, rows)) if len(rows) else self

    def where_coarse(self, finer: Division, segments: int) -> Division:
        """Returns the division with that of `finer` on the segments whose number of pieces it more than doubles."""
        mine, other = (np.bincount(found.segment, minlength=segments) + 1 for found in (self, finer))
        taken = other > 2 * mine
        if not taken.any():
            return self
        return self.without(np.flatnonzero(taken)).joined(finer.without(np.flatnonzero(~taken)))

    def joined(self, other: Division) -> Division:
        """Returns the division of both, which divide different segments."""
        segment = np.concatenate([self.segment, other.segment])
        order = np.argsort(segment, kind="stable")
        return Division(segment[order], np.concatenate([self.parameter, other.parameter])[order])

    def pieces(self, ends: Int, first: int) -> tuple[Int, Int]:
        """Returns the pieces of segments, in order, and the segment of each.

        Args:
            ends: (s, 2) of the segments; first: the number of the first new vertex.
        """
        counts = np.bincount(self.segment, minlength=len(ends)) + 1
        origin = np.repeat(np.arange(len(ends), dtype=np.int32), counts)
        last = np.cumsum(counts) - 1
        start, end = np.empty(len(origin), np.int32), np.empty(len(origin), np.int32)
        new = np.arange(first, first + len(self.segment), dtype=np.int32)
        is_last, is_first = np.zeros(len(origin), bool), np.zeros(len(origin), bool)
        is_last[last] = is_first[last - counts + 1] = True
        start[is_first], start[~is_first] = ends[:, 0], new
        end[is_last], end[~is_last] = ends[:, 1], new
        return np.stack([start, end], axis=1), origin


def divide(
    points: Float,
    segments: Segments,
    sizes: SizeSource,
    device: Device,
    most: int,
    *,
    even: bool,
    fits: bool = False,
) -> Division:
    """Divides all segments into pieces of about the sizes.

    Args:
        points: (n, 2) vertices; sizes: inf where pieces may have any length. They are those with which points are
            placed; a segment as long as the wanted size stays whole.
        device: where sizes are evaluated.
        most: the most new vertices; the last segments stay whole if there are more.
        even: whether one size is wanted everywhere; fits: whether segments are whole numbers of sizes long.
    """
    least = RESOLUTION * float(np.abs(points).max())
    start, end = (points[segments.ends[:, k]] for k in range(2))
    metric: Metric
    if sizes.number is not None:
        metric = EqualMetric(start, end, sizes.number, least)
    else:
        metric = IntegratedMetric(start, end, partial(sizes.at, device=device), least, even=even)
    if fits:
        counts = np.rint(np.clip(metric.total, 1, most + 1)).astype(np.int64)
    else:
        narrow = sizes.number is not None and segments.is_narrow(points, NARROW / SPACED * sizes.number)
        totals = np.minimum(SPACED * metric.total, most + 1)
        counts = _counts(points, segments, totals, even=even, narrow=narrow)
    new = np.minimum(np.cumsum(counts - 1), most)
    new[1:] -= new[:-1].copy()
    owner = np.repeat(np.arange(len(counts)), new)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(new) - new, new) + 1
    place = metric.parameter(owner, number / counts[owner])
    place = _shells(points, segments, owner, number, counts, place)
    if even:
        place = _alike_at_corners(points, segments, counts, new, place)
        if segments.right.any():  # a piece of an interface is in two corners: each follows what the other has changed
            place = _alike_at_corners(points, segments, counts, new, place)
    return Division(owner.astype(np.int32), place)


def _counts(points: Float, segments: Segments, totals: Float, *, even: bool, narrow: bool) -> NDArray[np.int64]:
    """Returns the number of pieces of each segment, at least 1.

    Args:
        points: (n, 2); segments: joined by these; totals: (s,) their lengths in sizes.
        even: whether one size is wanted everywhere; narrow: whether the domain is narrow.
    """
    # The number for which the length of the pieces, as a ratio, is nearest to the size: sqrt(n (n + 1)) separates two.
    tolerance = TOLERANCE if even else UNEVEN_TOLERANCE
    below = np.maximum(np.floor(totals), 1)
    alone = np.where(totals * totals > below * (below + 1), below + 1, below)
    if narrow or (totals < ALMOST * FEWEST_TO_CARRY).any():
        carries, rounded_up = np.zeros(len(totals), bool), np.ones(len(totals), bool)
    else:
        carries, rounded_up = totals >= FEWEST_TO_CARRY, even & (totals >= LONG_SEGMENT)
    alone = np.where(rounded_up, np.maximum(np.floor(totals + (1 - tolerance)), 1), alone)
    counts: NDArray[np.int64] = alone.astype(np.int64)
    fewest, most = np.ceil(totals / LONGEST), np.floor(totals / SHORTEST)
    for chain in _chains(points, segments, carries & (fewest <= most)):
        error = 0.0
        for k in chain:
            counts[k] = int(min(max(round(totals[k] + error), fewest[k]), most[k]))
            error += totals[k] - counts[k]
    return counts


def _chains(points: Float, segments: Segments, carries: NDArray[np.bool_]) -> list[list[int]]:
    """Returns the segments of each chain, in order.

    Args:
        points: (n, 2); segments: joined by these; carries: the segments that take over an error: others end a chain,
            but belong to it in that a chain of one has a neighbour.
    """
    ends = segments.ends
    if not carries.any():
        return []
    degree = np.bincount(ends.ravel(), minlength=len(points))
    both = np.argsort(ends.ravel(), kind="stable")  # the ends at each vertex, as 2 * segment + end
    first = np.cumsum(degree) - degree
    joints = np.flatnonzero(degree == 2)
    one, other = both[first[joints]], both[first[joints] + 1]
    some = carries[one >> 1] | carries[other >> 1]
    joints, one, other = joints[some], one[some], other[some]
    before, after = (points[ends.ravel()[each ^ 1]] - points[joints] for each in (one, other))
    with np.errstate(all="ignore"):
        cosine = -(before[:, 0] * after[:, 0] + before[:, 1] * after[:, 1]) / (lengths(before) * lengths(after))
    straight = cosine > STRAIGHT
    if not straight.any():
        return []
    one, other = one[straight], other[straight]
    joined = np.zeros(len(ends), bool)
    joined[one >> 1] = joined[other >> 1] = True
    inner = carries[one >> 1] & carries[other >> 1]
    across = np.full(2 * len(ends), -1, np.int64)
    across[one[inner]], across[other[inner]] = other[inner], one[inner]
    following, seen, chains = across.tolist(), set[int](), []
    sides = across.reshape(-1, 2) >= 0
    loops, joined = sides.all(axis=1), joined & carries
    for k in (*np.flatnonzero(joined & ~loops).tolist(), *np.flatnonzero(loops).tolist()):  # open chains, then loops
        if k in seen:
            continue
        end = 2 * k + (1 if following[2 * k] < 0 or following[2 * k + 1] >= 0 else 0)
        chain = []
        while end >= 0 and end >> 1 not in seen:
            seen.add(end >> 1)
            chain.append(end >> 1)
            end = following[end]
            end = end ^ 1 if end >= 0 else -1
        chains.append(chain)
    return chains


def _alike_at_corners(
    points: Float, segments: Segments, counts: NDArray[np.int64], new: NDArray[np.int64], place: Float
) -> Float:
    """Shortens the longer one of two pieces that form a triangle in a corner, where it would have an angle below
    44.5 degrees, and stretches the other pieces of its segment.

    No front or smoothing could improve this triangle: its vertices lie on segments.

    Args:
        points: (n, 2); segments: joined by these; counts: (s,) the pieces of each; new: (s,) its new vertices.
        place: of the new vertices, ascending along each segment.
    """
    ends = segments.ends
    pair = _neighbouring_ends(points, segments)
    if not len(pair):
        return place
    corner = points[ends.ravel()[pair[:, 0]]]
    ways = points[ends.ravel()[pair ^ 1]] - corner[:, None]
    length = np.stack([lengths(ways[:, k]) for k in range(2)], axis=1)
    product = ways[:, 0, 0] * ways[:, 1, 0] + ways[:, 0, 1] * ways[:, 1, 1]
    cosine = product / (length[:, 0] * length[:, 1])
    sine = np.sqrt(np.maximum(1.0 - cosine * cosine, 0.0))
    # The places of the first and of the last new vertex of each segment.
    first = np.cumsum(new) - new
    has = (new >= 2) & (new == counts - 1)  # at least three pieces
    steps = np.ones((len(ends), 2))
    divided = new > 0
    steps[divided, 0] = place[first[divided]]
    steps[divided, 1] = 1.0 - place[first[divided] + new[divided] - 1]
    piece = steps[pair >> 1, pair & 1] * length
    longer = np.argmax(piece, axis=1)
    rows = np.arange(len(pair))
    most = piece[rows, 1 - longer] * np.maximum(cosine + sine / CORNER_TANGENT, 1.0)
    end, length = pair[rows, longer], length[rows, longer]
    chosen = (cosine > WIDEST_CORNER) & has[end >> 1] & (most < piece[rows, longer])
    if not chosen.any():
        return place
    wanted = steps.copy()
    shorter = np.maximum(most, SHORTEST_AT_CORNER * piece[rows, longer])
    np.minimum.at(wanted, (end[chosen] >> 1, end[chosen] & 1), (shorter / length)[chosen])
    changed = np.zeros(len(ends), bool)
    changed[end[chosen] >> 1] = True
    k = np.flatnonzero(changed)
    stretch = np.ones(len(ends))
    stretch[k] = (1.0 - wanted[k, 1] - wanted[k, 0]) / (1.0 - steps[k, 1] - steps[k, 0])
    owner = np.repeat(np.arange(len(ends)), new)
    moved = np.where(changed[owner], wanted[owner, 0] + (place - steps[owner, 0]) * stretch[owner], place)
    last = first[k] + new[k] - 1
    moved[last] = np.where(wanted[k, 1] == steps[k, 1], place[last], 1.0 - wanted[k, 1])
    return moved


def _neighbouring_ends(points: Float, segments: Segments) -> NDArray[np.int64]:
    """Returns (k, 2) pairs of ends of segments, as 2 * segment + end, that meet at a corner of the domain.

    The second one follows the first one counter-clockwise, by less than 180 degrees, with the domain in between.
    Corners below 60 degrees, and vertices with such a corner, are left out.
    """
    ends = segments.ends
    both = np.arange(ends.size)
    vertex = ends.ravel()
    ways = points[ends.ravel()[both ^ 1]] - points[vertex]
    # In order around each vertex, without a function that rounds differently on other machines.
    upper = (ways[:, 1] > 0.0) | ((ways[:, 1] == 0.0) & (ways[:, 0] > 0.0))
    slope = ways[:, 0] / lengths(ways)
    order = np.lexsort((np.where(upper, -slope, slope), ~upper, vertex))
    degree = np.bincount(vertex, minlength=len(points))
    first = np.cumsum(degree) - degree
    of = vertex[order]
    last = np.arange(len(order)) == first[of] + degree[of] - 1
    following = order[np.where(last, first[of], np.minimum(np.arange(len(order)) + 1, len(order) - 1))]
    turn = ways[order, 0] * ways[following, 1] - ways[order, 1] * ways[following, 0]
    # The domain is on the left of a segment: it lies behind a first one that starts here, or has it on the right, too.
    inside = ((order & 1) == 0) | segments.right[order >> 1]
    chosen = (degree[of] >= 2) & ~segments.acute[of].astype(bool) & (turn > 0.0) & inside
    found: NDArray[np.int64] = np.stack([order[chosen], following[chosen]], axis=1)
    return found


def _shells(
    points: Float,
    segments: Segments,
    owner: NDArray[np.int64],
    number: NDArray[np.int64],
    counts: NDArray[np.int64],
    place: Float,
) -> Float:
    """Moves the vertices next to acute corners to distances that are powers of 2, so that all segments of a corner are
    cut alike (Ruppert 1995, section 5). A vertex stays before the next one on its segment."""
    if not segments.acute.any():
        return place
    ends = segments.ends
    length = lengths(points[ends[:, 1]] - points[ends[:, 0]])[owner]
    acute = segments.acute[ends].astype(bool)[owner]
    place = place.copy()
    is_last = np.append(owner[1:] != owner[:-1], True)  # also of a segment that is not divided to its end
    for side, next_to in ((0, number == 1), (1, number == counts[owner] - 1)):
        moved = np.flatnonzero(acute[:, side] & next_to & (counts[owner] > 2))
        if side == 0:
            part = place[moved]
            following = np.where(is_last[moved], 1.0, place[moved + 1 - is_last[moved]])
        else:
            part, following = 1 - place[moved], 1 - place[moved - 1]
        mantissa, exponent = np.frexp(part * length[moved])
        nearest = np.ldexp(1.0, exponent - (mantissa < HALF_OCTAVE)) / length[moved]
        # Where pieces become shorter away from the corner, the nearest power may be beyond the next vertex, or just
        # before it; the power below is nearer to the corner than the vertex was.
        part = np.where(following - nearest < LEAST_LEFT * (following - part), 0.5 * nearest, nearest)
        place[moved] = part if side == 0 else 1 - part
    return place
