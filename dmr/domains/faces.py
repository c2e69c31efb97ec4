"""The faces that the segments of a graph enclose, each with a point strictly inside.

A triangulation of the graph provides them, so they are correct even if segments cross, touch or repeat.
"""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from dmr.exact import Points
from dmr.mesh.types import Float, Int, Pslg

log = logging.getLogger("dmr")


def enclosed_faces(graph: Pslg) -> Float:
    """A point in each face that the segments of a graph enclose; holes and regions are ignored.

    A face that is too thin to contain a point with double coordinates is omitted, with a warning in the log.

    Args:
        graph: any graph whose vertices are not all collinear.

    Returns:
        (f, 2) float64, each point proved to lie strictly inside a triangle of its face.

    Raises:
        InvalidMeshError: coordinates are out of range, or the segments cannot be triangulated.
    """
    from dmr.triangulation.native import triangulate_plane
    from dmr.triangulation.plane import OUTSIDE

    plane = triangulate_plane(Pslg(graph.vertices, graph.segments))
    vertices = np.concatenate((graph.vertices, plane.new_vertices))
    enclosed = plane.labels != OUTSIDE
    return _inner_points(vertices, plane.triangles[enclosed], plane.labels[enclosed])


def _inner_points(vertices: Float, triangles: Int, faces: Int) -> Float:
    """For each face, the rounded centroid of its widest triangle that strictly contains it."""
    corners = vertices[triangles]
    middles = corners[:, 0] / 3 + corners[:, 1] / 3 + corners[:, 2] / 3
    order = np.lexsort((-_widths(corners), faces))
    proved = order[_strictly_inside(vertices, triangles[order], middles[order])]
    found, first = np.unique(faces[proved], return_index=True)
    for lost in np.setdiff1d(faces, found):
        x, y = middles[np.flatnonzero(faces == lost)[0]].tolist()
        log.warning("the gap between segments near (%r, %r) is too thin for a point inside; it is left as it is", x, y)
    points: Float = middles[proved[first]]
    return points


def _widths(corners: Float) -> Float:
    """(m,): the smallest height of each triangle, up to rounding."""
    along = corners[:, [2, 0, 1]] - corners[:, [1, 2, 0]]
    with np.errstate(all="ignore"):
        area = np.abs(along[:, 0, 0] * along[:, 1, 1] - along[:, 0, 1] * along[:, 1, 0])
        widths: Float = np.nan_to_num(area / np.hypot(along[..., 0], along[..., 1]).max(axis=1))
    return widths


def _strictly_inside(vertices: Float, triangles: Int, middles: Float) -> NDArray[np.bool_]:
    """(m,): whether each point lies strictly inside its triangle; exact."""
    points = Points(np.concatenate((vertices, middles)))
    middle = len(vertices) + np.arange(len(triangles))
    a, b, c = triangles.T
    inside = np.ones(len(triangles), bool)
    for u, v in ((a, b), (b, c), (c, a)):
        inside &= points.orientation(u, v, middle) > 0
    return inside
