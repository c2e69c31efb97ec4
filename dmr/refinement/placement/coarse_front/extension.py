"""Extends the lengths of the pieces of an outline into its domain, as Gmsh's Frontal-Delaunay does.

Where one size is wanted everywhere and parts of the outline are finer, the sizes between are those of a front that
advances from the pieces, and whose points have the sizes that are interpolated where they are inserted. A coarse front
with few points has nearly the same sizes. In a small domain, these points are all that it needs.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.provenance import Links, record_triangulation
from dmr.mesh.shapes import enclosed_area
from dmr.mesh.types import Float, Int, Mesh, Pslg
from dmr.refinement.placement.coarse_front.native import coarse_front
from dmr.refinement.placement.targets import SPACED
from dmr.sizing.size_field import SizeField
from dmr.triangulation.native import triangulate_plane

FEW = 5_000  # points: a domain that needs no more gets those of the coarse front
UNIT_STEPS = 500  # steps of one size of the coarse front in other domains
MOST = 20_000  # points of the coarse front, which would suffice for meshes with 10^9
# Our meshes have fewer triangles than Gmsh's with the same sizes where these grow, and beside the outline: by how much
# sizes are smaller, if asked for, per mean growth, and per piece of the outline for each triangle (fitted to 377
# domains).
SMALLER_PER_GROWTH, SMALLER_PER_PIECE, MOST_PIECES = 0.2, 0.06, 0.3


class Extension(NamedTuple):
    """Sizes in a domain.

    Attributes:
        sizes: first those at the points of the outline; filling: (k, 2) points that fill the domain, if these are few.
    """

    sizes: SizeField
    filling: Float | None


def extended(
    points: Float, pieces: Int, inner: NDArray[np.bool_], most: float, threshold: float, *, smaller: bool, whole: bool
) -> Extension:
    """Extends the sizes of the pieces at an outline into its domain.

    Args:
        points: (n, 2) vertices of the divided outline; pieces: (p, 2) of it, with the domain on their left.
        inner: (p,) whether the domain is on the right of a piece, too.
        most: the size where no piece is near; threshold: length below which pieces make sizes smaller.
        smaller: whether all sizes are a little smaller, so that there are as many triangles as in Gmsh's meshes.
        whole: whether points to fill the domain are wanted.
    """
    plane = triangulate_plane(Pslg.unchecked(vertices=points, segments=pieces))
    vertices = np.concatenate([points, plane.new_vertices])
    side = most / SPACED
    fewest = enclosed_area(points, pieces[~inner]) / side / side / (0.5 * math.sqrt(3.0))
    unit_steps = FEW if whole and fewest <= FEW else UNIT_STEPS
    front = coarse_front(
        vertices, plane, plane.domain(inner[plane.edge_segments]),
        largest=side, threshold=threshold / SPACED, unit_steps=unit_steps, most=MOST,
    )  # fmt: skip
    filling = front.vertices[len(vertices) :]
    is_whole = whole and len(filling) <= unit_steps and len(vertices) == len(points)
    sizes = SPACED * front.sizes
    if smaller:
        share = min(len(pieces) / max(front.wanted, 1.0), MOST_PIECES)
        sizes *= 1.0 - SMALLER_PER_GROWTH * front.growth - SMALLER_PER_PIECE * share
    mesh = Mesh.unchecked(vertices=front.vertices, triangles=front.triangles)
    record_triangulation(mesh, Links(lambda: front.neighbours, np.empty(0, np.int32)))
    return Extension(SizeField(mesh, sizes, on="vertices"), filling if is_whole else None)
