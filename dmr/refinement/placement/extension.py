"""Extends the lengths of the pieces of an outline into its domain.

Where one size is wanted everywhere and parts of the outline are finer, the sizes between are those of a harmonic
function, in a coarse triangulation: of the outline, and a few points between its parts. Without these points, edges
and narrow triangles that join fine parts of an outline would give bands of small sizes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dmr.memory import Device, record
from dmr.mesh.provenance import Links, record_triangulation
from dmr.mesh.shapes import bounding_box
from dmr.mesh.types import Float, Int, Mesh, Pslg
from dmr.sizing.size_field import SizeField
from dmr.triangulation.native import triangulate_plane

FEWEST_POINTS, POINTS_PER_SEGMENT, MOST_POINTS = 5, 0.08, 4096  # in the rectangle around the outline
FAR = 32.0  # sizes: on longer edges between fine parts of an outline there are points,
NEAR = 8.0  # on those between short pieces that are alone if they are longer than this many sizes;
BETWEEN_LONG = 2.5  # a piece is alone if its neighbours are this many times as long,
OF_NEIGHBOURS = 0.25  # and the sizes at its ends have this share of the difference;
NEXT, GROWTH = 20.0, 4.0  # sizes to the first of them, and the ratio of their distances
RESOLVED = 2.0**-20  # least distance from an end, in lengths of the edge
POINT = record("Point")
STEPS, ACCURACY = 1000, 1e-4  # of conjugate gradients, at most, and the largest relative residual


def extended(points: Float, pieces: Int, sizes: Float, most: float, segments: int, device: Device) -> SizeField:
    """Returns the sizes of the pieces at an outline, and between them in its domain.

    Args:
        points: (n, 2) vertices of the divided outline; pieces: (p, 2) of it; sizes: (p,) of the pieces, at most `most`.
        most: the size where no piece is near; segments: how many the outline has; device: a CPU.
    """
    rows = _rows(points, min(FEWEST_POINTS + POINTS_PER_SEGMENT * segments, MOST_POINTS))
    shortest, longest = np.full(len(points), most), np.zeros(len(points))
    np.minimum.at(shortest, pieces.ravel(), np.repeat(sizes, 2))
    np.maximum.at(longest, pieces.ravel(), np.repeat(sizes, 2))
    is_alone = np.zeros(len(points), bool)
    is_alone[pieces[longest[pieces].min(axis=1) > BETWEEN_LONG * sizes]] = True
    # One short piece, such as the end of a slit, is of little weight beside the long ones: Gmsh's triangles are larger.
    given = np.where(is_alone, shortest + OF_NEIGHBOURS * (longest - shortest), shortest)
    mesh = outline_triangulation(np.concatenate([points, rows]), pieces)
    between = _between(shortest, is_alone, mesh)
    if len(between):
        mesh = outline_triangulation(np.concatenate([mesh.vertices, between]), pieces)
    values = np.full(len(mesh.vertices), most)
    values[: len(points)] = given
    is_given = np.zeros(len(mesh.vertices), bool)
    is_given[: len(points)] = True  # also points of interest, which lie on no piece
    return SizeField(mesh, _harmonic(mesh.vertices, mesh.triangles, values, is_given, device), on="vertices")


def outline_triangulation(points: Float, pieces: Int) -> Mesh:
    """Returns a triangulation of the points, and of those at which pieces cross."""
    plane = triangulate_plane(Pslg.unchecked(vertices=points, segments=pieces))
    links = Links(plane.tables.finding_neighbours(), np.empty(0, np.int32))
    vertices = np.concatenate([points, plane.new_vertices])
    return record_triangulation(Mesh.unchecked(vertices=vertices, triangles=plane.triangles), links)


def _between(sizes: Float, is_alone: NDArray[np.bool_], mesh: Mesh) -> Float:
    """Returns points on long edges of a triangulation, at distances from their ends that grow.

    Sizes on an edge that joins two fine parts of an outline, such as the ends of two slits, would be as small as there
    all along, and those around a short piece between long ones would grow too slowly.

    Args:
        sizes: (n,) of the shortest piece at each point of the outline.
        is_alone: (n,) whether that piece is between long ones.
        mesh: a triangulation of the points, and others after them.
    """
    places, corners, n = mesh.vertices, mesh.triangles.T, len(sizes)
    others = len(places) - n
    size = np.concatenate([sizes, np.full(others, np.inf)])
    is_alone = np.concatenate([is_alone, np.zeros(others, bool)])
    start, other = corners.ravel(), corners[[1, 2, 0]].ravel()
    # Only edges between two points of the outline, or from one that is alone, can be long compared with their sizes.
    some = np.flatnonzero(((start < n) & (other < n)) | is_alone[start])
    start, other = start[some], other[some]
    x, y = places[:, 0].copy(), places[:, 1].copy()  # taken from much faster than rows of two
    along_x, along_y = x[other] - x[start], y[other] - y[start]
    length = np.sqrt(along_x * along_x + along_y * along_y)
    least = np.where(is_alone[start] & is_alone[other], NEAR, FAR)
    joins = length > least * np.maximum(size[start], size[other])
    far = np.flatnonzero(joins | (is_alone[start] & (length > FAR * size[start])))
    if not far.size:
        return np.empty((0, 2))
    start, other, length, joins = start[far], other[far], length[far], joins[far]
    halved = joins & (start < other)
    found = [0.5 * (places[start[halved]] + places[other[halved]])]
    distance = np.maximum(NEXT * size[start], RESOLVED * length)
    while (near := distance < 0.4 * length).any():
        part = (distance[near] / length[near])[:, None]
        found.append(places[start[near]] + part * (places[other[near]] - places[start[near]]))
        distance = GROWTH * distance
    return np.concatenate(found)


def _rows(points: Float, count: float) -> Float:
    """Returns about `count` points of a lattice of equilateral triangles in the rectangle around some points."""
    left, bottom, right, top = bounding_box(points)
    width, height = right - left, top - bottom
    step = math.sqrt(width * height / (0.866 * count))
    column, row = np.arange(int(width / step) + 1), np.arange(int(height / (0.866 * step)) + 1)[:, None]
    found = np.empty((len(row), len(column), 2))
    found[:, :, 0] = left + (column + 0.25 + 0.5 * (row & 1)) * step
    found[:, :, 1] = bottom + (row + 0.5) * (0.866 * step)
    return found.reshape(-1, 2)


def _harmonic(points: Float, triangles: Int, values: Float, is_given: NDArray[np.bool_], device: Device) -> Float:
    """Returns values of which each is the weighted mean of its neighbours, except the given ones."""
    n, m = len(points), len(triangles)
    rows, moved, listed = device.empty(n, np.int32), device.empty(n, np.int32), device.empty(1, np.int32)
    first, totals = device.empty(n + 1, np.int32), device.empty(n, np.float64)
    ends, weights, found = device.empty(6 * m, np.int32), device.empty(6 * m, np.float64), device.array(values)
    given = device.array(is_given.astype(np.int32))
    device.launch(
        "weigh_neighbours", 1, device.array(points, POINT), n, device.array(triangles.reshape(-1)), m,
        given, rows, moved, first, ends, weights, totals, listed,
    )  # fmt: skip
    count = int(listed.download()[0])
    scratch = device.empty(3 * count, np.float64)
    device.launch(
        "solve_means", 1, moved, rows, given, first, ends, weights, totals, count, STEPS, ACCURACY, scratch, found
    )
    harmonic: Float = np.clip(found.detach(), values.min(), values.max())
    return harmonic
