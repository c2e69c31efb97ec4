"""The size of a second placement, where Gmsh's mesh has more triangles.

Gmsh's pieces of segments are no longer than the size, and its edges in the interior are as long as they are. Where
all segments are long, ours are as long as the size, whichever way the segments are rounded. If Gmsh's are only a little
shorter, the numbers of triangles are within a tenth of each other if our edges are at most about 0.98 sizes long, or a
hundredth longer than its pieces. Their mean is known from the number of triangles as soon as the points are placed, and
scatters by 0.01. So the points of meshes with longer edges are placed again.
"""

from __future__ import annotations

import math

import numpy as np

from dmr.common.number_arrays import sum_in_order
from dmr.mesh.shapes import enclosed_area
from dmr.mesh.types import Mesh
from dmr.refinement.placement.chains import ALMOST, TOLERANCE, Division
from dmr.refinement.placement.metric import lengths
from dmr.refinement.placement.outline import Segments
from dmr.refinement.placement.targets import SPACED

SHORTEST = 3.0  # sizes: all segments are at least as long
LEAST_PIECE = 0.89  # Gmsh's mean piece, in sizes: its number of triangles is reached by edges that are long enough
# Mean edges of a first placement that are too long, in sizes, and if it is more, in Gmsh's pieces.
TOO_LONG, LONGER = 0.9795, 1.01
AIM, LEAST = 0.977, 0.9705  # mean edges of a further placement, in sizes: wanted, and the shortest
TRIES = 3  # further placements: in small meshes, numbers of rows jump
COVERAGE = 1.002  # triangles, times the area of equilateral ones with the mean edge, over the area of the domain


def longest_mean_edge(mesh: Mesh, segments: Segments, spacing: float) -> float:
    """Returns the longest mean edge, in sizes, with about as many triangles as in Gmsh's mesh.

    It is inf if some segment is short, or Gmsh's pieces are so short that such edges would be too short.

    Args:
        mesh: the input; segments: its segments; spacing: the size with which points are placed.
    """
    ends = mesh.vertices[segments.ends]
    length = lengths(ends[:, 1] - ends[:, 0]) * (SPACED / spacing)
    if length.min() < ALMOST * SHORTEST:
        return math.inf
    piece = sum_in_order(length) / float(np.ceil(length - TOLERANCE).sum())
    return max(TOO_LONG, LONGER * piece) if piece > LEAST_PIECE else math.inf


def mean_edge(mesh: Mesh, segments: Segments, division: Division, placed: int, spacing: float) -> float:
    """Returns about the mean edge of a mesh, in sizes, from the number of its triangles.

    Args:
        mesh: the input; segments: its segments; division: the vertices on them; placed: how many points lie elsewhere.
        spacing: the size with which points are placed.
    """
    on_interfaces = int(segments.right[division.segment].sum())
    on_boundary = len(division.segment) - on_interfaces
    triangles = len(mesh.triangles) + 2 * (placed + on_interfaces) + on_boundary
    area = enclosed_area(mesh.vertices, segments.ends[~segments.right])
    return math.sqrt(COVERAGE * area / (0.25 * math.sqrt(3.0) * triangles)) * (SPACED / spacing)
