"""Extends the lengths of the pieces of an outline into its domain, as Gmsh's Frontal-Delaunay does.

Where one size is wanted everywhere and parts of the outline are finer, the sizes between are those of a front that
advances from the pieces, and whose points have the sizes that are interpolated where they are inserted. A coarse front
with few points has nearly the same sizes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.provenance import Links, record_triangulation
from dmr.mesh.types import Float, Int, Mesh, Pslg
from dmr.refinement.placement.coarse_front.native import coarse_front
from dmr.refinement.placement.targets import SPACED
from dmr.sizing.size_field import SizeField
from dmr.triangulation.native import triangulate_plane

MOST = 20_000  # points of the coarse front, which would suffice for meshes with 10^9
# Our meshes have fewer triangles than Gmsh's with the same sizes where these grow, and beside the outline: by how much
# sizes are smaller, if asked for, per mean growth, and per piece of the outline for each triangle (fitted to 377
# domains).
SMALLER_PER_GROWTH, SMALLER_PER_PIECE, MOST_PIECES = 0.2, 0.06, 0.3


def extended(
    points: Float, pieces: Int, inner: NDArray[np.bool_], most: float, threshold: float, *, smaller: bool
) -> SizeField:
    """Returns the sizes of the pieces at an outline, and between them in its domain.

    The sizes at the points of the outline are the first ones.

    Args:
        points: (n, 2) vertices of the divided outline; pieces: (p, 2) of it, with the domain on their left.
        inner: (p,) whether the domain is on the right of a piece, too.
        most: the size where no piece is near; threshold: length below which pieces make sizes smaller.
        smaller: whether all sizes are a little smaller, so that there are as many triangles as in Gmsh's meshes.
    """
    plane = triangulate_plane(Pslg.unchecked(vertices=points, segments=pieces))
    in_domain = np.zeros(plane.parts, bool)
    in_domain[plane.left] = True
    in_domain[plane.right[inner[plane.edge_segments]]] = True
    front = coarse_front(
        np.concatenate([points, plane.new_vertices]), plane, in_domain,
        largest=most, threshold=threshold, spaced=SPACED, most=MOST,
    )  # fmt: skip
    sizes = front.sizes
    if smaller:
        share = min(len(pieces) / max(front.wanted, 1.0), MOST_PIECES)
        sizes *= 1.0 - SMALLER_PER_GROWTH * front.growth - SMALLER_PER_PIECE * share
    mesh = Mesh.unchecked(vertices=front.vertices, triangles=front.triangles)
    record_triangulation(mesh, Links(lambda: front.neighbours, np.empty(0, np.int32)))
    return SizeField(mesh, sizes, on="vertices")
