"""Geometric oracles independent of the code under test: exact rational arithmetic and brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np


def exact(point):
    """A point as a pair of rationals."""
    x, y = (Fraction(float(value)) for value in point)
    return x, y


def orientation(a, b, c):
    """Twice the area of triangle abc, exactly."""
    (ax, ay), (bx, by), (cx, cy) = exact(a), exact(b), exact(c)
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


def in_circle(a, b, c, d):
    """Exact in-circle determinant: positive if d lies inside the circumcircle of the counter-clockwise triangle abc."""
    (ax, ay), (bx, by), (cx, cy) = ([u - v for u, v in zip(exact(p), exact(d), strict=True)] for p in (a, b, c))
    return (
        (ax * ax + ay * ay) * (bx * cy - by * cx)
        - (bx * bx + by * by) * (ax * cy - ay * cx)
        + (cx * cx + cy * cy) * (ax * by - ay * bx)
    )


def crossing(a, b, c, d):
    """Intersection of the lines ab and cd, as a pair of rationals."""
    (ax, ay), (bx, by) = exact(a), exact(b)
    t = orientation(c, d, a) / (orientation(c, d, a) - orientation(c, d, b))
    return ax + t * (bx - ax), ay + t * (by - ay)


def cross_properly(a, b, c, d):
    """Whether two segments cross in a point interior to both."""
    return (
        orientation(a, b, c) * orientation(a, b, d) < 0 and orientation(c, d, a) * orientation(c, d, b) < 0
    )  # fmt: skip


def nearest_double(value):
    """The double nearest to a rational, because a division of integers is rounded once."""
    return value.numerator / value.denominator


def winding(ring, point):
    """Winding number of a ring around a point; None if the point lies on the ring."""
    px, py = exact(point)
    corners = [exact(corner) for corner in ring]
    number = 0
    for (ax, ay), (bx, by) in pairwise([*corners, corners[0]]):
        turn = (bx - ax) * (py - ay) - (by - ay) * (px - ax)
        if turn == 0 and min(ax, bx) <= px <= max(ax, bx) and min(ay, by) <= py <= max(ay, by):
            return None
        if ay <= py < by and turn > 0:
            number += 1
        if by <= py < ay and turn < 0:
            number -= 1
    return number


def strictly_inside(ring, point):
    """Whether a point lies inside a ring by the even-odd rule, and not on it."""
    found = winding(ring, point)
    return found is not None and found % 2 == 1


def hull_area(points):
    """Exact area of the convex hull (Andrew's monotone chain)."""
    points = sorted({tuple(map(float, point)) for point in points})

    def half(way):
        chain = []
        for point in way:
            while len(chain) > 1 and orientation(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        return chain[:-1]

    corners = half(points) + half(points[::-1])
    return sum(orientation((0, 0), p, q) for p, q in zip(corners, corners[1:] + corners[:1], strict=True)) / 2


def area_of(mesh):
    """Exact total area of the triangles, each of which must be counter-clockwise."""
    areas = [orientation(*mesh.vertices[corners]) for corners in mesh.triangles]
    assert all(area > 0 for area in areas)
    return sum(areas, Fraction(0)) / 2


def triangle_set(triangles):
    """Set of triangles, independent of their order and the rotation of their corners."""
    return {tuple(np.roll(corners, -int(np.argmin(corners))).tolist()) for corners in np.asarray(triangles)}


def edge_set(edges):
    """Set of edges, independent of order and direction."""
    return {tuple(sorted(edge)) for edge in np.asarray(edges).tolist()}


def assert_delaunay(mesh, points):
    """Asserts by brute force that a mesh is a Delaunay triangulation of the points' convex hull (small sets only)."""
    distinct = {tuple(point) for point in np.asarray(points, float).tolist()}
    corners = {tuple(point) for point in mesh.vertices[np.unique(mesh.triangles)].tolist()}
    assert corners == distinct
    assert area_of(mesh) == hull_area(points)
    for triangle in mesh.triangles:
        a, b, c = mesh.vertices[triangle]
        assert all(in_circle(a, b, c, point) <= 0 for point in distinct)
    # Euler: triangles = 2 vertices - 2 - vertices on the hull.
    edges, uses = np.unique(
        np.sort(np.concatenate([mesh.triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])]), axis=1),
        axis=0,
        return_counts=True,
    )
    assert set(uses.tolist()) <= {1, 2}
    assert len(mesh.triangles) == 2 * len(distinct) - 2 - int((uses == 1).sum())
    assert len(edges) == len(distinct) + len(mesh.triangles) - 1


def crossing_pairs(domain):
    """All pairs of segments that cross properly, determined exactly."""
    ends = domain.vertices[domain.segments]
    return [
        (i, j) for i, j in combinations(range(len(ends)), 2) if cross_properly(*ends[i], *ends[j])
    ]  # fmt: skip


def lowest_triangles(mesh, points):
    """The lowest triangle that contains each point, from exact rational arithmetic."""
    vertices = [[Fraction(x) for x in vertex] for vertex in mesh.vertices.tolist()]

    def contains(triangle, p):
        signs = set()
        for k in range(3):
            (ax, ay), (bx, by) = (vertices[triangle[j]] for j in (k, (k + 1) % 3))
            area = (ax - p[0]) * (by - p[1]) - (ay - p[1]) * (bx - p[0])
            signs.add((area > 0) - (area < 0))
        return not {1, -1} <= signs

    places = [[Fraction(x) for x in point] for point in np.asarray(points).tolist()]
    corners = mesh.triangles.tolist()
    return [next((t for t, each in enumerate(corners) if contains(each, p)), -1) for p in places]
