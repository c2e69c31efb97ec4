"""Merges the pieces of straight runs of segments."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.types import Float, Int, Pslg
from dmr.sizing.functions import size_source
from dmr.sizing.source import SizeSource

ULPS_AT_A_VERTEX = 4  # of three points of one line that are rounded each
FINER = 0.5  # of the size: a vertex between shorter segments makes edges shorter than wanted


def merge_straight_runs(
    vertices: Float, ends: Int, markers: Int, vertex_markers: Int | None
) -> tuple[Int, Int, NDArray[np.bool_]]:
    """Merges segments that follow each other on a line, up to one ulp, and have one marker.

    A run is divided where it leaves the line between its ends (Douglas and Peucker, "Algorithms for the reduction of
    the number of points required to represent a digitized line", 1973).

    Args:
        vertices: (n, 2); ends: (s, 2) segments, each once; markers: (s,) theirs.
        vertex_markers: (n,) or None; a vertex whose marker is not 0, 1 or that of its segments stays.

    Returns:
        The segments, their markers, and a mask of the vertices that are left out.
    """
    segments_at = _segments_at(ends, len(vertices))
    middle = np.zeros(len(vertices), bool)  # may be inside a straight run
    both = np.flatnonzero((segments_at >= 0).all(axis=1))
    first, second = markers[segments_at[both]].T
    own = np.zeros(len(both), np.int32) if vertex_markers is None else vertex_markers[both]
    before, after = (ends[segments_at[both, k]].sum(axis=1) - both for k in (0, 1))  # the other ends
    middle[both] = (first == second) & ((own == 0) | (own == 1) | (own == first))
    middle[both] &= _is_straight(vertices[before], vertices[both], vertices[after], ULPS_AT_A_VERTEX)
    done = np.zeros(len(ends), bool)
    kept: list[tuple[int, int]] = []
    kept_markers: list[int] = []
    for start in np.flatnonzero(~middle[ends].all(axis=1)).tolist():
        if done[start]:
            continue
        run = _run(start, ends, segments_at, middle, done)
        for k, j in _straight_parts(vertices[run]):
            kept.append((run[k], run[j]))
            kept_markers.append(int(markers[start]))
    rest = ~done
    merged = np.concatenate([np.array(kept, np.int32).reshape(-1, 2), ends[rest]])
    removed = np.zeros(len(vertices), bool)
    removed[ends] = True
    removed[merged] = False
    return np.sort(merged, axis=1), np.concatenate([np.array(kept_markers, np.int32), markers[rest]]), removed


def count_finer_vertices(graph: Pslg, size: SizeSource | float) -> int:
    """Counts the vertices inside straight runs whose segments are at most half as long as the size there.

    Args:
        graph: an outline whose segments are listed once; size: the target edge lengths.
    """
    markers = np.zeros(len(graph.segments), np.int32) if graph.segment_markers is None else graph.segment_markers
    _, _, inside = merge_straight_runs(graph.vertices, graph.segments, markers, graph.vertex_markers)
    places = np.flatnonzero(inside)
    if not len(places):
        return 0
    longest = np.zeros(len(graph.vertices))
    start, end = graph.vertices[graph.segments].transpose(1, 0, 2)
    np.maximum.at(longest, graph.segments.ravel(), np.repeat(np.hypot(*(end - start).T), 2))
    return int(np.count_nonzero(longest[places] <= FINER * size_source(size, "size")(graph.vertices[places])))


def _segments_at(ends: Int, count: int) -> Int:
    """Returns (n, 2): the two segments at each vertex that has exactly two, otherwise -1."""
    order = np.argsort(ends.ravel(), kind="stable")
    vertex, degree = ends.ravel()[order], np.bincount(ends.ravel(), minlength=count)
    place = np.cumsum(degree) - degree
    two = np.flatnonzero(degree == 2)
    table = np.full((count, 2), -1, np.int32)
    table[two] = order[place[two][:, None] + np.arange(2)] // 2
    assert (vertex[place[two]] == two).all()
    return table


def _run(start: int, ends: Int, segments_at: Int, middle: NDArray[np.bool_], done: NDArray[np.bool_]) -> list[int]:
    """Follows segments from an end of a run to the other one; returns the vertices on the way."""
    u, v = ends[start].tolist()
    if middle[u]:
        u, v = v, u
    run, segment = [u, v], start
    done[segment] = True
    while middle[run[-1]]:
        one, other = segments_at[run[-1]].tolist()
        segment = other if one == segment else one
        done[segment] = True
        u, v = ends[segment].tolist()
        run.append(v if u == run[-1] else u)
    return run


def _straight_parts(points: Float) -> list[tuple[int, int]]:
    """Divides a polyline into parts that are straight up to one ulp; returns the first and last point of each."""
    parts, waiting = [], [(0, len(points) - 1)]
    while waiting:
        k, j = waiting.pop()
        way, rest = points[j] - points[k], points[k : j + 1] - points[k]
        along = way[0] * rest[:, 0] + way[1] * rest[:, 1]
        start, stop = (np.broadcast_to(points[end], (j - k - 1, 2)) for end in (k, j))
        if _is_straight(start, points[k + 1 : j], stop, 1).all() and (np.diff(along) > 0).all():
            parts.append((k, j))
            continue
        beside = np.abs(way[0] * rest[1:-1, 1] - way[1] * rest[1:-1, 0])
        split = k + 1 + int(beside.argmax())
        waiting += [(split, j), (k, split)]
    return parts


def _is_straight(start: Float, middle: Float, stop: Float, ulps: int) -> NDArray[np.bool_]:
    """Whether points lie between two others, and within some ulps of the line through them."""
    way, rest, left = stop - start, middle - start, stop - middle
    ulp = np.spacing(np.maximum(np.abs(start), np.abs(stop)).max(axis=1, initial=0))
    beside = np.abs(way[:, 0] * rest[:, 1] - way[:, 1] * rest[:, 0])
    advances = ((way * rest).sum(axis=1) > 0) & ((way * left).sum(axis=1) > 0)
    straight: NDArray[np.bool_] = advances & (beside <= ulps * ulp * np.abs(way).sum(axis=1))
    return straight
