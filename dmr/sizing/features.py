"""Sizes from the segments of a domain: from their distance, their lengths, or the curvature of chains.

near_walls = dmr.sizing.from_distance(domain, near=0.01, far=0.2, distance=1.0)
round_arcs = dmr.sizing.from_curvature(domain, 24)               # 24 edges per full turn
like_outline = dmr.sizing.from_lengths(domain)                   # as the segments themselves
fine = dmr.refine(domain, max_edge=dmr.sizing.smallest(near_walls, round_arcs, 0.1))
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import checks_keywords, real_option, shortened
from dmr.common.text import option
from dmr.errors import OptionError
from dmr.mesh.arguments import check_kind
from dmr.mesh.coordinates import check_coordinates
from dmr.mesh.edges import unique_edges
from dmr.mesh.names import MARKERS
from dmr.mesh.types import Float, Int, Mesh, Pslg, check_indices
from dmr.sizing.functions import Size, size_source
from dmr.sizing.segment_sizes import SegmentSizes, SmallestSizes
from dmr.sizing.source import SizeSource

GRADING = 0.2  # growth of sizes per unit of distance, if none is given
TWO_PI = 6.283185307179586

Along = list[int | str] | tuple[int | str, ...] | set[int | str] | range | Int | int | str


@checks_keywords
def from_distance(
    domain: Pslg | Mesh, near: float, far: float, distance: float, *, along: Along | None = None
) -> SegmentSizes:
    """Sizes that grow linearly with the distance from the segments of a domain.

    Args:
        domain: an outline; or a mesh, whose segments are taken, and its boundary if it has none.
        near: the size at the segments; far: the size from `distance` on, not below `near`. Both are finite.
        distance: the distance at which `far` is reached, above 0.
        along: markers or names of the segments that count, or one of them; by default all segments do.

    Raises:
        OptionError: a number is out of range, or no segment has one of the markers or names.
        InvalidMeshError: a coordinate is outside the range in which geometry is exact.
        WrongTypeError: `domain` is neither a Pslg nor a Mesh.
    """
    near, distance = _positive("near", near), _positive("distance", distance)
    far = _positive("far", far)
    if far < near:
        raise OptionError(f"{option('far')} must not be below {option('near')}, {near:g}, but is {far:g}")
    start, end = _segments(domain, along)
    return SegmentSizes(start, end, np.full(len(start), near), (far - near) / distance, far)


@checks_keywords
def from_lengths(
    domain: Pslg | Mesh,
    factor: float = 1.0,
    *,
    far: float = math.inf,
    grading: float = GRADING,
    along: Along | None = None,
) -> SegmentSizes:
    """Sizes as long as the segments of a domain at these, which grow with the distance.

    An outline that is resolved finely in places gets small triangles there, and nowhere else.

    Args:
        domain, along: as for `from_distance`.
        factor: size over length of a segment, above 0. far: an upper bound on the sizes, above 0, or infinity.
        grading: growth of the sizes per unit of distance, from 0.

    Raises:
        OptionError, InvalidMeshError, WrongTypeError: as for `from_distance`.
    """
    factor = _positive("factor", factor)
    start, end = _segments(domain, along)
    lengths = _length(end - start)
    some = lengths > 0
    if not some.any():
        raise OptionError("sizes as long as segments need a segment with a length, and here both ends of each coincide")
    return SegmentSizes(start[some], end[some], factor * lengths[some], _grading(grading), _far(far))


@checks_keywords
def from_curvature(
    domain: Pslg | Mesh,
    per_turn: float,
    *,
    far: float = math.inf,
    grading: float = GRADING,
    along: Along | None = None,
) -> SegmentSizes:
    """Sizes in proportion to the radius of curvature of chains of segments, which grow with the distance.

    The radius at a vertex of two segments is that of the circle through it and its neighbours on the chain. A vertex
    at which the chain turns by more than 45 degrees is a corner and has no curvature, as have ends and branches. A
    segment takes the smaller size of its two ends. Gmsh calls this sizes from curvature.

    Args:
        domain, along: as for `from_distance`. Neighbours are those along the segments that count.
        per_turn: edges per full turn, at least 3: 24 divide a quarter of a circle into 6.
        far, grading: as for `from_lengths`.

    Raises:
        OptionError: also if no vertex has a curvature. InvalidMeshError, WrongTypeError: as for `from_distance`.
    """
    per_turn = real_option("per_turn", per_turn)
    if not (math.isfinite(per_turn) and per_turn >= 3):
        raise OptionError(f"{option('per_turn')} must be finite and at least 3, not {per_turn:g}")
    vertices, segments = _chosen(domain, along)
    sizes = (TWO_PI * _radii(vertices, segments) / per_turn)[segments].min(axis=1)
    curved = np.isfinite(sizes)
    if not curved.any():
        raise OptionError("no chain of segments is curved: its vertices are corners, ends, or on straight lines")
    start, end = (vertices[segments[curved, k]] for k in (0, 1))
    return SegmentSizes(start, end, sizes[curved], _grading(grading), _far(far))


def smallest(*sizes: SizeSource | Size | float) -> SizeSource:
    """The smallest of several sizes everywhere.

    Args:
        sizes: numbers (lengths everywhere), fields and functions, as `dmr.refine` takes them; at least one.

    Raises:
        OptionError: there is none, or one is not a size.
    """
    if not sizes:
        raise OptionError("the smallest of no sizes is not defined: give at least one")
    parts = tuple(size_source(size) for size in sizes)
    return parts[0] if len(parts) == 1 else SmallestSizes(parts)


# ---- Segments ------------------------------------------------------------------------------------------------------


def _segments(domain: Pslg | Mesh, along: Along | None) -> tuple[Float, Float]:
    """The ends of the segments that count."""
    vertices, segments = _chosen(domain, along)
    return vertices[segments[:, 0]], vertices[segments[:, 1]]


def _chosen(domain: Pslg | Mesh, along: Along | None) -> tuple[Float, Int]:
    """The vertices, and the segments that count, at least one."""
    check_kind(domain, Pslg, Mesh, name="the domain")
    check_indices(domain)
    check_coordinates(domain.vertices)
    segments, markers = domain.segments, domain.segment_markers
    if isinstance(domain, Mesh) and not len(segments):
        edges, count = unique_edges(domain)
        segments, markers = edges[count == 1], None
    if along is not None:
        wanted = _markers(domain, along)
        chosen = np.isin(np.zeros(len(segments), int) if markers is None else markers, wanted)
        if not chosen.any():
            raise OptionError(f"{option('along')} {shortened(along)}: no segment has such a marker")
        segments = segments[chosen]
    if not len(segments):
        raise OptionError("sizes near segments need a domain with segments, and this one has none")
    return domain.vertices, segments


def _markers(domain: Pslg | Mesh, along: Along) -> list[int]:
    numbers = {name: number for number, name in domain.names[MARKERS].items()}
    several: list[Any] = list(along) if isinstance(along, list | tuple | set | range) else [along]
    if isinstance(along, np.ndarray):
        several = along.reshape(-1).tolist()
    found = []
    for each in several:
        if isinstance(each, str) and each not in numbers:
            known = ", ".join(map(repr, numbers)) or "none"
            raise OptionError(f"{option('along')}: there is no boundary named {each!r}; the names are: {known}")
        if isinstance(each, bool) or not isinstance(each, str | int | np.integer):
            raise OptionError(f"{option('along')} must be markers or names, not {shortened(each)}")
        found.append(numbers[each] if isinstance(each, str) else int(each))
    return found


def _radii(vertices: Float, segments: Int) -> Float:
    """The radius of the circle through each vertex and its two neighbours; infinity where there is no curvature."""
    ends, others = segments.reshape(-1), segments[:, ::-1].reshape(-1)
    proper = ends != others
    order = np.argsort(ends[proper], kind="stable")
    degree = np.bincount(ends[proper], minlength=len(vertices))
    first = np.cumsum(degree) - degree
    neighbours = others[proper][order]
    middle = np.flatnonzero(degree == 2)
    before, after = vertices[neighbours[first[middle]]], vertices[neighbours[first[middle] + 1]]
    u, v = vertices[middle] - before, after - vertices[middle]
    along = u[:, 0] * v[:, 0] + u[:, 1] * v[:, 1]
    doubled_area = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
    sides = _length(u) * _length(v) * _length(after - before)
    radii = np.full(len(vertices), np.inf)
    curved = (along > 0) & (doubled_area > 0) & (doubled_area <= along)  # turns by up to 45 degrees
    radii[middle[curved]] = sides[curved] / (2.0 * doubled_area[curved])
    return radii


def _length(vectors: Float) -> Float:
    length: NDArray[np.float64] = np.sqrt(vectors[:, 0] * vectors[:, 0] + vectors[:, 1] * vectors[:, 1])
    return length


# ---- Numbers -------------------------------------------------------------------------------------------------------


def _positive(name: str, value: float) -> float:
    value = real_option(name, value)
    if not (math.isfinite(value) and value > 0):
        raise OptionError(f"{option(name)} must be a finite number above 0, not {value:g}")
    return value


def _far(value: float) -> float:
    value = real_option("far", value)
    if not value > 0:
        raise OptionError(f"{option('far')} must be a number above 0, or infinity, not {value:g}")
    return value


def _grading(value: float) -> float:
    value = real_option("grading", value)
    if not (math.isfinite(value) and value >= 0):
        raise OptionError(f"{option('grading')} must be finite and at least 0, not {value:g}")
    return value
