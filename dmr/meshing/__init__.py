"""From what a user has, points, outlines or geometries of other packages, to a triangulation without refinement.

conversion      arguments of `refine`, `triangulate` and `validate` as a mesh or an outline
point_sets      the public `delaunay`, with the conventions of scipy
plain           the public `triangulate`
"""

from __future__ import annotations
