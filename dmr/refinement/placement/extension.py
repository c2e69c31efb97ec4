"""Extends the lengths of the pieces of an outline into its domain, about as Gmsh does.

Where one size is wanted everywhere and parts of the outline are finer, the sizes between are interpolated in a
triangulation of the outline, linearly except along its long edges. These join parts of the outline that are far from
each other. From fine parts that are small, sizes grow along them in Gmsh's meshes as the power 0.75 of the distance:
its layers around them widen, and keep their points. From parts as long as the distance they grow linearly. Between the
ends of slots they grow as the root of it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.edges import connected
from dmr.mesh.provenance import Links, record_triangulation
from dmr.mesh.types import Float, Int, Mesh, Pslg
from dmr.refinement.placement.metric import lengths
from dmr.sizing.size_field import SizeField
from dmr.triangulation.native import triangulate_plane

Index = NDArray[np.int64]

LONG = 13.0  # sizes at its finer end: a longer edge gets a point in its middle,
RATIO, NEXT = 4.0, 4.0  # and others nearer to that end, at distances with this ratio, down to this many sizes
STEEPEST = 0.5  # largest growth of sizes up to these points, per unit of distance
APART = 14.0  # sizes at the coarser end: the parts that a longer edge joins are far from each other,
MORE_APART, MOST_APART = 120.0, 4.0  # by 1 for every 120 sizes more, up to 4
TURN = 2.0 * math.pi
OPEN = 0.22  # of the root of the distance times the largest size: the least size between ends of two long parts
BESIDE_FROM, BESIDE_TO, BESIDE = 8.0, 48.0, 1.5  # the same: sizes beside an edge count, from none to this number
BETWEEN_LONG = 2.5  # ratio of the lengths of a long piece and of a short one next to it
OF_LONGER = 0.5  # a vertex has the size of its shorter piece, but at least this share of the longer one, as in Gmsh
SMALLER = 0.995  # factor of sizes, if asked for


def extended(points: Float, pieces: Int, sizes: Float, most: float, *, smaller: bool) -> SizeField:
    """Returns the sizes of the pieces at an outline, and between them in its domain.

    Args:
        points: (n, 2) vertices of the divided outline; pieces: (p, 2) of it; sizes: (p,) of the pieces, at most `most`.
        most: the size where no piece is near.
        smaller: whether all sizes are a little smaller, so that there are as many triangles as in Gmsh's meshes.
    """
    shortest, longest = np.full(len(points), most), np.zeros(len(points))
    np.minimum.at(shortest, pieces.ravel(), np.repeat(sizes, 2))
    np.maximum.at(longest, pieces.ravel(), np.repeat(sizes, 2))
    given = np.maximum(shortest, OF_LONGER * longest)  # the end of a slit does not make all sizes around it small
    mesh = _triangulation(points, pieces)
    beside_short = np.where(longest > BETWEEN_LONG * shortest, longest, 0.0)
    places, between = _along_long_edges(given, beside_short, most, mesh, pieces)
    if len(places):
        mesh = _triangulation(np.concatenate([points, places]), pieces)
    at_crossings = np.full(len(mesh.vertices) - len(given) - len(between), most)
    values = np.concatenate([given, between, at_crossings])
    if len(places):
        _mix(mesh, values, range(len(points), len(points) + len(places)))
    return SizeField(mesh, SMALLER * values if smaller else values, on="vertices")


def _triangulation(points: Float, pieces: Int) -> Mesh:
    """Returns a triangulation of the points, and of those at which pieces cross."""
    plane = triangulate_plane(Pslg.unchecked(vertices=points, segments=pieces))
    links = Links(plane.tables.finding_neighbours(), np.empty(0, np.int32))
    vertices = np.concatenate([points, plane.new_vertices])
    return record_triangulation(Mesh.unchecked(vertices=vertices, triangles=plane.triangles), links)


def _along_long_edges(sizes: Float, beside_short: Float, most: float, mesh: Mesh, pieces: Int) -> tuple[Float, Float]:
    """Returns points on the long edges of a triangulation of an outline, and the sizes there.

    Between two fine parts that are far from each other, sizes are larger than at both: they also grow from the sides of
    the narrow triangles that join them. And the farther the parts are from each other, the less their sizes matter:
    many tiny holes do not make the sizes in a whole domain small.

    Args:
        sizes: (n,) at the first vertices of the mesh, those of the outline; most: the largest size.
        beside_short: (n,) the size of the longer piece at a vertex between a short and a long one, 0 at others.
        mesh: the triangulation; pieces: (p, 2) of the outline.
    """
    corners, n, count = mesh.triangles.T, len(sizes), len(mesh.triangles)
    sizes = np.concatenate([sizes, np.full(len(mesh.vertices) - n, most)])
    start, other = corners.ravel(), corners[[1, 2, 0]].ravel()
    # An edge has points from its finer end on.
    finer = (sizes[start] < sizes[other]) | ((sizes[start] == sizes[other]) & (start < other))
    if len(sizes) > n:  # pieces cross
        finer &= (start < n) & (other < n)
    edge = np.flatnonzero(finer)
    start, other = start[edge], other[edge]
    x, y = mesh.vertices[:, 0].copy(), mesh.vertices[:, 1].copy()  # taken from much faster than rows of two
    along_x, along_y = x[other] - x[start], y[other] - y[start]
    length = np.sqrt(along_x * along_x + along_y * along_y)
    long = np.flatnonzero(length > LONG * sizes[start])  # no piece is: a vertex has half of its longest one
    if not len(long):
        return np.empty((0, 2)), np.empty(0)
    edge, start, other = edge[long], start[long], other[long]
    along_x, along_y, length = along_x[long], along_y[long], length[long]
    here, there = sizes[start], sizes[other]
    beside = _sizes_beside(sizes, mesh, edge % count, edge // count, start, other)
    relative = length / there
    part_of = connected(len(sizes), *pieces.T)
    are_parts = part_of[start] != part_of[other]  # unlike the two sides of a disc
    apart = are_parts * np.clip((relative - APART) / MORE_APART, 0.0, MOST_APART)
    least = are_parts * (OPEN * _share_of_long(sizes, beside_short, most, part_of, start, other))
    near = BESIDE * np.clip((relative - BESIDE_FROM) / (BESIDE_TO - BESIDE_FROM), 0.0, 1.0)
    small = length / (length + _radii(sizes, mesh.vertices, pieces, part_of, start))
    from_start = np.maximum(small * (there - here), np.maximum(apart * (most - here), near * (beside - here)))
    from_end = np.maximum(np.maximum(apart * (most - there), near * (beside - there)), 0.0)
    places, found, distance = [np.empty((0, 2))], [np.empty(0)], 0.5 * length
    while (k := np.flatnonzero(distance >= NEXT * here)).size:
        part = distance[k] / length[k]
        size = here[k] + part * (there[k] - here[k])
        size += from_start[k] * _excess(part) + from_end[k] * _excess(1.0 - part)
        size = np.maximum(size, least[k] * np.sqrt(most * distance[k]))
        found.append(np.minimum(size, np.minimum(here[k] + STEEPEST * distance[k], most)))
        places.append(np.stack([x[start[k]] + part * along_x[k], y[start[k]] + part * along_y[k]], axis=1))
        distance = distance / RATIO
    return np.concatenate(places), np.concatenate(found)


def _radii(sizes: Float, points: Float, pieces: Int, part_of: Index, start: Int) -> Float:
    """Returns the radius of a circle that is as long as the fine part in which each edge starts.

    The part consists of the pieces that are connected with the start. Those that are coarser than the start count
    less, by the square of the ratio: the sides of a slot hardly belong to its ends.

    Args:
        sizes: at the vertices; points: the vertices; pieces: of the outline; part_of: (n,) the connected part of each.
        start: of the edges.
    """
    length = lengths(points[pieces[:, 1]] - points[pieces[:, 0]])
    size, part = 0.5 * (sizes[pieces[:, 0]] + sizes[pieces[:, 1]]), part_of[pieces[:, 0]]
    whole = np.bincount(part, length, len(part_of))[part_of[start]]
    relative = np.bincount(part, length / (size * size), len(part_of))[part_of[start]]
    here = sizes[start]
    return np.minimum(whole, here * here * relative) / TURN


def _share_of_long(sizes: Float, beside_short: Float, most: float, part_of: Index, start: Int, other: Int) -> Float:
    """Returns how far long pieces next to short ones, in both parts that an edge joins, reach up to the largest size.

    It is 1 between the round ends of two slots: the large sizes at their sides leave no fine band between the ends. It
    is 0 between two round holes, and between profiles whose pieces become longer from one to the next.

    Args:
        sizes: at the vertices, those of the outline first; part_of: (n,) the connected part of each.
        start, other: the ends of the edges; beside_short and most are those of `_along_long_edges`.
    """
    longest = np.zeros(len(part_of))
    np.maximum.at(longest, part_of[: len(beside_short)], beside_short)
    both = np.minimum(longest[part_of[start]], longest[part_of[other]])
    coarser = np.maximum(sizes[start], sizes[other])
    share = np.zeros(len(start))
    np.divide(both - coarser, most - coarser, out=share, where=coarser < most)
    found: Float = np.clip(share, 0.0, 1.0)
    return found


def _sizes_beside(sizes: Float, mesh: Mesh, triangle: Index, place: Index, start: Int, other: Int) -> Float:
    """Returns the mean of the sizes at the two vertices opposite each edge: those of the triangles on both sides.

    Args:
        sizes: at the vertices; triangle, place: of each edge, which joins its corners `place` and `place + 1`.
        start, other: these corners.
    """
    opposite = (place + 2) % 3
    left, across = mesh.triangles[triangle, opposite], mesh.neighbours[triangle, opposite]
    right = np.where(across >= 0, mesh.triangles[across].sum(axis=1) - start - other, left)
    return 0.5 * (sizes[left] + sizes[right])


def _excess(part: Float) -> Float:
    """Returns the power 0.75 less the number itself, with the same bits everywhere (numpy.power differs)."""
    root = np.sqrt(part)
    found: Float = root * np.sqrt(root) - part
    return found


def _mix(mesh: Mesh, values: Float, some: range) -> None:
    """Sets the values at some vertices to the means of those of their neighbours.

    The weights are inverse roots of distances. With these, sizes at the sides of a band between two fine parts spread
    into it, and those along an edge do not become a logarithm, as they would with the weights of finite elements.
    """
    start, other = mesh.triangles.T.ravel(), mesh.triangles[:, [1, 2, 0]].T.ravel()
    around = np.flatnonzero((start >= some.start) & (start < some.stop))
    start, other = start[around], other[around]
    weight = 1.0 / np.sqrt(lengths(mesh.vertices[other] - mesh.vertices[start]))
    row = start - some.start
    total = np.bincount(row, weight, len(some))
    mixed = np.flatnonzero(total > 0.0)  # others coincide with a vertex of the outline
    sums = np.bincount(row, weight * values[other], len(some))
    values[some.start + mixed] = sums[mixed] / total[mixed]
