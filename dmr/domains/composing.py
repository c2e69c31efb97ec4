"""Merges graphs, and adds holes, regions, markers and names."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import checks_keywords, listed, shortened, whole_option
from dmr.common.number_arrays import real_array
from dmr.common.text import counted
from dmr.domains.rings import checked_points
from dmr.errors import InvalidMeshError, WrongTypeError
from dmr.mesh.arguments import check_kind
from dmr.mesh.arrays import whole_table
from dmr.mesh.names import MARKERS, REGIONS, checked_names, free_number, known_markers, merged_names
from dmr.mesh.types import Float, Int, Pslg

log = logging.getLogger("dmr")


def merge(*parts: Pslg) -> Pslg:
    """Merges several graphs into one, such as an outline with its cracks or with the borders of its regions.

    Vertices keep their order, those of the first graph first. Vertices with equal coordinates are merged into the
    first of them, and so are segments between the same two vertices; the result has the first nonzero marker of the
    group. Holes, regions and names are united: the point of a hole must not lie in another part of the domain.

    Args:
        parts: graphs of one domain. If some have vertex attributes, those of the others are 0.

    Raises:
        InvalidMeshError: there are no graphs, they have different numbers of vertex attributes, or they give different
            names to a region or marker.
    """
    for part in parts:
        check_kind(part, Pslg, name="a part")
    return merged(parts)


def merged(parts: Sequence[Pslg], first: int = 0) -> Pslg:
    """Merges as `merge` does, but the segment markers of the parts from number `first` on come before the others'."""
    if not parts:
        raise InvalidMeshError("there is nothing to merge")
    counts = [len(part.vertices) for part in parts]
    offsets = np.cumsum([0, *counts[:-1]])
    vertices = np.concatenate([part.vertices for part in parts])
    marked = [part for part in parts if part.vertex_markers is not None]
    markers = [
        np.zeros(n, np.int32) if p.vertex_markers is None else p.vertex_markers
        for p, n in zip(parts, counts, strict=True)
    ]
    distinct, stands_for = _distinct_rows(vertices)
    ends = np.concatenate([part.segments + at for part, at in zip(parts, offsets, strict=True)])
    ends = stands_for[ends].astype(np.int32)
    kept, same = _distinct_rows(np.sort(ends, axis=1))
    before = sum(len(part.segments) for part in parts[:first])
    segment_markers = np.concatenate([_segment_markers(part) for part in parts])
    return Pslg(
        vertices[distinct],
        ends[kept],
        holes=np.concatenate([part.holes for part in parts]),
        regions=np.concatenate([part.regions for part in parts]),
        segment_markers=_first_markers(np.roll(segment_markers, -before), np.roll(same, -before), len(kept)),
        vertex_markers=_first_markers(np.concatenate(markers), stands_for, len(distinct)) if marked else None,
        vertex_attributes=_attributes(parts)[distinct],
        names=merged_names(part.names for part in parts),
    )


def with_holes(pslg: Pslg, points: ArrayLike) -> Pslg:
    """The graph with additional holes.

    Args:
        pslg: the graph.
        points: (h, 2), one inside each hole.

    Raises:
        InvalidMeshError: `points` is not a table of points, or a point is not finite.
    """
    check_kind(pslg, Pslg, name="pslg")
    more = checked_points(np.empty((0, 2)) if _is_empty(points) else points, "holes")
    return replace(pslg, holes=np.concatenate((pslg.holes, more)))


def with_regions(pslg: Pslg, regions: Iterable[ArrayLike]) -> Pslg:
    """The graph with additional regions.

    Args:
        pslg: the graph.
        regions: each (x, y, attribute) or (x, y, attribute, largest area). The attribute, and the area bound if it is
            given and positive, apply to all triangles that the segments do not separate from (x, y).

    Raises:
        InvalidMeshError: an entry has the wrong length, or is not finite; the message names it.
    """
    check_kind(pslg, Pslg, name="pslg")
    rows = [_region(entry, k) for k, entry in enumerate(listed("regions", regions))]
    return replace(pslg, regions=np.concatenate((pslg.regions, np.array(rows).reshape(-1, 4))))


def with_markers(pslg: Pslg, markers: Mapping[int | str, Callable[[Float], ArrayLike] | ArrayLike]) -> Pslg:
    """The graph with markers on segments that satisfy conditions.

        sides = {"bottom": lambda middle: middle[:, 1] == 0, "lid": lambda middle: middle[:, 1] == 1}
        tank = dmr.domains.with_markers(tank, sides)

    Args:
        pslg: the graph.
        markers: a condition for each marker, a number or a name; a new name gets the first unused number from 2 on, as
            1 is that of boundary segments without a marker. A condition is a function of the (s, 2) midpoints of the
            segments that returns (s,) truth values, or these values. Where several hold, the last one counts; where
            none does, markers stay.

    Raises:
        InvalidMeshError: a condition holds for no segment, or does not give one truth value for each; names the marker.
            A name is invalid (see `Pslg`).
    """
    check_kind(pslg, Pslg, name="pslg")
    if not isinstance(markers, Mapping):
        raise WrongTypeError(f"markers must be a dictionary from markers to conditions, not {shortened(markers)}")
    assert pslg.segment_markers is not None
    found = pslg.segment_markers.astype(np.int64)
    middle = (pslg.vertices[pslg.segments] / 2).sum(axis=1)  # halved first: sums could overflow
    numbers = _numbers_of_names(pslg, markers)
    for marker, condition in markers.items():
        holds = np.asarray(condition(middle) if callable(condition) else condition)
        if holds.shape != found.shape or holds.dtype != bool:
            raise InvalidMeshError(
                f"the condition of marker {shortened(marker)} must give {counted(len(found), 'truth value')}, one for "
                f"each segment, not {holds.dtype} of shape {holds.shape}"
            )
        if not holds.any():
            raise InvalidMeshError(f"no segment satisfies the condition of marker {shortened(marker)}")
        found[holds] = numbers[marker] if isinstance(marker, str) else whole_option("a marker", marker)
    names = merged_names((pslg.names, checked_names({MARKERS: {number: name for name, number in numbers.items()}})))
    return replace(pslg, segment_markers=whole_table(found, (None,), "markers"), names=names)


def _numbers_of_names(pslg: Pslg, markers: Mapping[int | str, Any]) -> dict[str, int]:
    """Returns the markers of a graph that have the given names, and unused ones for new names."""
    known = {name: number for number, name in pslg.names[MARKERS].items()}
    used = known_markers(pslg.names, pslg.segment_markers, pslg.vertex_markers)
    used.update(marker for marker in markers if not isinstance(marker, str))
    numbers: dict[str, int] = {}
    for name in markers:
        if isinstance(name, str):
            numbers[name] = known[name] if name in known else free_number({*used, *numbers.values()}, 2)
    return numbers


@checks_keywords
def with_names(
    pslg: Pslg, *, regions: Mapping[int, str] | None = None, markers: Mapping[int, str] | None = None
) -> Pslg:
    """The graph with additional names, which meshes and files keep.

    Args:
        pslg: the graph.
        regions: names of region attributes, such as {1: "steel"}.
        markers: names of markers, such as {10: "inlet"}.

    Raises:
        InvalidMeshError: a number has a different name already, or a name is invalid (see `Pslg`).
    """
    check_kind(pslg, Pslg, name="pslg")
    added = checked_names({REGIONS: {} if regions is None else regions, MARKERS: {} if markers is None else markers})
    _warn_of_unused(added[REGIONS], "region", pslg.regions[:, 2])
    _warn_of_unused(added[MARKERS], "marker", pslg.segment_markers, pslg.vertex_markers)
    return replace(pslg, names=merged_names((pslg.names, added)))


def _warn_of_unused(names: Mapping[int, str], noun: str, *tables: NDArray[Any] | None) -> None:
    """Logs the first name whose number occurs nowhere in a graph: programs that look it up will not find it."""
    used = {int(number) for table in tables if table is not None for number in np.unique(table)} - {0}
    for number, name in names.items():
        if number and number not in used:
            known = ", ".join(map(str, sorted(used)))
            log.warning(
                "nothing has the %s %d, which is named %r; %s",
                noun,
                number,
                name,
                f"there are {noun}s {known}" if known else f"there are no {noun}s",
            )
            return


def _is_empty(points: ArrayLike) -> bool:
    return isinstance(points, Sized) and getattr(points, "ndim", 1) > 0 and len(points) == 0


def _region(entry: ArrayLike, k: int) -> list[float]:
    try:
        table = real_array(entry)
        numbers = table.tolist() if table.ndim == 1 else []
    except ValueError:
        numbers = []
    if len(numbers) not in (3, 4):
        raise InvalidMeshError(
            f"region {k} must be (x, y, attribute) or (x, y, attribute, largest area), not {shortened(entry)}"
        )
    if not np.isfinite(numbers).all():
        raise InvalidMeshError(f"region {k} has a number that is not finite: {shortened(entry)}")
    return numbers if len(numbers) == 4 else [*numbers, 0.0]


def _distinct_rows(table: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The indices of the first occurrences of distinct rows, in order; and for each row, the one that it equals."""
    order = np.lexsort(table.T[::-1])
    ordered = table[order]
    fresh = np.ones(len(table), bool)
    fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    # The sort is stable: the first of equal rows comes first.
    leaders = order[fresh]
    group = np.empty(len(table), np.intp)
    group[order] = np.cumsum(fresh) - 1
    by_place = np.argsort(leaders)
    number = np.empty(len(leaders), np.intp)
    number[by_place] = np.arange(len(leaders))
    return leaders[by_place], number[group]


def _segment_markers(part: Pslg) -> Int:
    assert part.segment_markers is not None
    return part.segment_markers


def _first_markers(markers: Int, group: NDArray[np.intp], count: int) -> Int:
    """The first nonzero marker of each group."""
    found = np.zeros(count, np.int32)
    marked_rows = np.flatnonzero(markers)[::-1]  # later writes win: the first marker is written last
    found[group[marked_rows]] = markers[marked_rows]
    return found


def _attributes(parts: Sequence[Pslg]) -> Float:
    tables = [np.empty((len(p.vertices), 0)) if p.vertex_attributes is None else p.vertex_attributes for p in parts]
    widths = sorted({table.shape[1] for table in tables if len(table)} - {0})
    if len(widths) > 1:
        raise InvalidMeshError(f"the parts have different numbers of vertex attributes: {widths[0]} and {widths[1]}")
    width = widths[0] if widths else 0
    return np.concatenate([t if t.shape[1] == width else np.zeros((len(t), width)) for t in tables])
