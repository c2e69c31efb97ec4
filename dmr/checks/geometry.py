"""Checks of single triangles and of edges between two: orientation, Delaunay, angles; and the statistics."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dmr.checks.report import Findings
from dmr.checks.topology import Mask, Topology, describe, place
from dmr.exact import Points
from dmr.exact.points import blocks
from dmr.exact.trigonometry import cosine_squared_above
from dmr.meshes import Mesh
from dmr.naming import named

Float = NDArray[np.float64]


def check_orientation(mesh: Mesh, points: Points, findings: Findings) -> Mask:
    """Every triangle is counter-clockwise, with a positive area; returns (m,) which ones are."""
    findings.start("orientation")
    signs = points.orientation(*mesh.triangles.T)
    wrong = np.flatnonzero(signs <= 0)

    def message(i: int) -> str:
        fault = "has no area" if signs[wrong[i]] == 0 else "is clockwise"
        return f"{fault}; its corners are {describe(mesh.vertices, *mesh.triangles[wrong[i]])}"

    findings.add("orientation", "triangle", wrong, message)
    return signs > 0


def check_delaunay(mesh: Mesh, topology: Topology, points: Points, positive: Mask, findings: Findings) -> None:
    """No edge but boundary and segments has an opposite vertex strictly inside the circle of the triangle across.

    Args:
        positive: (m,) which triangles are positively oriented; edges of others are left out.
    """
    findings.start("delaunay")
    twins = topology.twins
    # Each edge once: the test from the other side has the same sign, as both triangles are positively oriented.
    tested = np.flatnonzero((twins > np.arange(len(twins))) & ~topology.edge_mask(mesh.segments))
    tested = tested[positive[tested // 3] & positive[twins[tested] // 3]]
    corners = mesh.triangles.ravel()  # corner 3 t + k is the one opposite half-edge 3 t + k
    apex = corners[twins[tested]]
    inside = points.in_circle(topology.starts[tested], topology.ends[tested], corners[tested], apex) > 0
    wrong = tested[inside]

    def message(i: int) -> str:
        h = wrong[i]
        u, v = topology.starts[h], topology.ends[h]
        across = named("triangle", twins[h] // 3)
        return (
            f"vertex {place(mesh.vertices, corners[twins[h]])} of {across}, across the edge of "
            f"vertices {describe(mesh.vertices, u, v)}, lies inside its circle"
        )

    findings.add("delaunay", "triangle", wrong // 3, message)


def triangles_below(mesh: Mesh, points: Points, min_angle: float) -> NDArray[np.int64]:
    """Triangles with an angle below `min_angle` degrees (at most 90), decided exactly; ascending."""
    fraction = cosine_squared_above(min_angle)
    below = np.zeros(len(mesh.triangles), bool)
    corners = mesh.triangles.T
    for k in range(3):
        below |= points.corner_below(corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3], fraction)
    return np.flatnonzero(below)


def shape_statistics(mesh: Mesh, points: Points) -> tuple[dict[str, float | int | None], Float]:
    """Extremes of angles (degrees) and areas in float64, and (m,) the smallest angle of each triangle."""
    count = len(mesh.triangles)
    smallest = np.empty(count)
    if not count:
        return {"min_angle": None, "max_angle": None, "min_area": None, "max_area": None}, smallest
    # Scaled by a power of two, so that no square over- or underflows for coordinates of any ordinary spread.
    exponent = int(np.frexp(np.abs(mesh.vertices).max())[1])
    all_x, all_y = np.ldexp(points.x, -exponent), np.ldexp(points.y, -exponent)
    largest_angle, least, most = 0.0, math.inf, -math.inf
    for part in blocks(count):
        corners = mesh.triangles[part].T
        x, y = all_x[corners], all_y[corners]
        # Edge k runs from corner k + 1 to corner k + 2; the least angle stands opposite the shortest edge.
        ex, ey = x[[2, 0, 1]] - x[[1, 2, 0]], y[[2, 0, 1]] - y[[1, 2, 0]]
        length = ex * ex + ey * ey
        twice = ex[1] * ey[2] - ey[1] * ex[2]
        products = -(ex[[1, 2, 0]] * ex[[2, 0, 1]] + ey[[1, 2, 0]] * ey[[2, 0, 1]])
        columns = np.arange(x.shape[1])
        shortest, longest = length.argmin(axis=0), length.argmax(axis=0)
        smallest[part] = np.degrees(np.arctan2(np.abs(twice), products[shortest, columns]))
        widest = np.degrees(np.arctan2(np.abs(twice), products[longest, columns]))
        largest_angle = max(largest_angle, float(widest.max()))
        least, most = min(least, float(twice.min())), max(most, float(twice.max()))
    with np.errstate(over="ignore", under="ignore"):
        areas = np.ldexp([least, most], 2 * exponent - 1)
    numbers: dict[str, float | int | None] = {
        "min_angle": float(smallest.min()),
        "max_angle": largest_angle,
        "min_area": float(areas[0]),
        "max_area": float(areas[1]),
    }
    return numbers, smallest
