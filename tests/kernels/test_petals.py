"""Points chosen from petals: the first insertion against a search in numpy, guaranteed distances, and mesh sizes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dmr
from dmr.mesh.shapes import min_angles
from dmr.refinement.options import RefineOptions
from dmr.refinement.steps.thresholds import thresholds

# As cuda_src/refine/cavity/petal.cuh has them, found there by a search: the test is of the choice among them.
PLACES = [
    (along, side * aside)
    for along, aside in ((0.679, 0.514), (0.838, 0.421), (0.622, 0.187), (1.0, 0.205))
    for side in (1, -1)
]
TOO_NEAR_TO_TELL = 1e-4  # of a bound: single precision decides in the kernel


def buffers(u, v, w):
    return np.linalg.norm(v - u), np.linalg.norm(w - v), np.linalg.norm(u - w)


def smallest_angle(u, v, w):
    a, b, c = sorted(buffers(u, v, w))
    return math.degrees(math.acos(min(1.0, (b * b + c * c - a * a) / (2 * b * c))))


def doubled_area(u, v, w):
    return (v[0] - u[0]) * (w[1] - u[1]) - (v[1] - u[1]) * (w[0] - u[0])


def star(points, place):
    """Vertices of the cavity of an inserted point, counter-clockwise, by a new triangulation."""
    triangles = pytest.importorskip("scipy.spatial").Delaunay(np.vstack([points, place])).simplices
    ring = np.setdiff1d(triangles[(triangles == len(points)).any(axis=1)], [len(points)])
    around = points[ring] - place
    return points[ring[np.argsort(np.arctan2(around[:, 1], around[:, 0]))]]


def choice(points, triangle, bound):
    """The chosen position for a triangle's point, and whether another was nearly as good."""
    corners = points[triangle]
    lengths = [np.linalg.norm(corners[(k + 1) % 3] - corners[k]) for k in range(3)]
    k = int(np.argmin(lengths))
    p, q, r = corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]
    limit = thresholds(RefineOptions(min_angle=bound)).off_center_limit
    u, v = p - r, q - r
    circumcenter = 0.5 * (u @ v) / (u[0] * v[1] - u[1] * v[0])
    height = min(circumcenter, limit)
    along, normal = q - p, np.array([-(q - p)[1], (q - p)[0]])

    def at(x, y):
        return p + x * along + y * normal

    center = at(0.5, height)
    ring = star(points, center)
    clearance = lengths[k] / (2 * math.sin(math.radians(bound)))

    def skinny(place):
        """The number of skinny triangles of the fan, and how near the nearest is to the bound."""
        angles = [smallest_angle(place, ring[j - 1], ring[j]) for j in range(len(ring))]
        return sum(angle < bound for angle in angles), min(abs(angle - bound) for angle in angles) / bound

    fewest, margin = skinny(center)
    best = center
    for a, b in PLACES:
        place = at(0.5 + limit * b, limit * a)
        radius = math.hypot(0.5, circumcenter) * lengths[k]
        slacks = [
            1 - np.linalg.norm(place - at(0.5, circumcenter)) / radius,
            *(doubled_area(ring[j - 1], ring[j], place) / lengths[k] ** 2 for j in range(len(ring))),
            *(np.linalg.norm(corner - place) / clearance - 1 for corner in ring),
        ]
        margin = min(margin, min(map(abs, slacks)))
        if min(slacks) <= 0:
            continue
        count, near = skinny(place)
        margin = min(margin, near)
        if count < fewest:
            fewest, best = count, place
    nearest = min(np.linalg.norm(star(points, best) - best, axis=1))
    if best is not center and nearest < clearance:
        best = center
    return best, margin


@pytest.mark.slow
@pytest.mark.parametrize("bound", [20, 30, 33])
def test_the_first_point_is_the_best_of_its_petal(bound, device_options):
    """In a mesh whose points lie far from the hull, so that no segment interferes."""
    displaced = compared = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        hull = 40.0 * np.array([[math.cos(t), math.sin(t)] for t in np.linspace(0, 2 * math.pi, 13)[:-1]])
        points = np.vstack([random.random((25, 2)), hull])
        mesh = dmr.Mesh(points, pytest.importorskip("scipy.spatial").Delaunay(points).simplices)
        refined = dmr.refine(mesh, min_angle=bound, max_steiner=1, **device_options)
        if refined.steiner["segment"]:
            continue
        found = refined.mesh.vertices[-1]
        bad = mesh.triangles[min_angles(mesh) < bound]
        # The most urgent one has the shortest edge, up to what its word can tell apart.
        shortest = [min(buffers(*points[triangle])) for triangle in bad]
        urgent = [t for t, length in zip(bad, shortest, strict=True) if length < 1.001 * min(shortest)]
        expected = [choice(points, triangle, bound) for triangle in urgent]
        if min(margin for _, margin in expected) < TOO_NEAR_TO_TELL:
            continue
        nearest = min(np.linalg.norm(place - found) for place, _ in expected)
        assert nearest < 1e-9, (seed, found, expected)
        compared += 1
        off_centered = dmr.refine(mesh, min_angle=bound, max_steiner=1, **device_options, steiner="off-center")
        displaced += bool(np.linalg.norm(off_centered.mesh.vertices[-1] - found) > 1e-6)
    assert compared >= 20 and displaced >= 5


@pytest.mark.parametrize("seed", range(6))
def test_no_edge_becomes_shorter_than_the_shortest_one_was(seed, device_options):
    """At 30 degrees 1 / (2 sin a) is 1: only splits of segments may make shorter edges, and they are far away here."""
    random = np.random.default_rng(seed)
    far = 30.0 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    points = np.vstack([random.random((60, 2)) * 0.2, far])
    mesh = dmr.Mesh(points, pytest.importorskip("scipy.spatial").Delaunay(points).simplices)
    refined = dmr.refine(mesh, **device_options).mesh

    def shortest(mesh):
        a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
        return min(np.linalg.norm(u - v, axis=1).min() for u, v in ((a, b), (b, c), (c, a)))

    assert len(refined.triangles) > len(mesh.triangles)
    assert shortest(refined) >= shortest(mesh) * (1 - 1e-12)


def test_results_are_smaller_than_those_of_off_centers(device_options):
    """Smaller by a fifth for random points, which is more than the variation among 8 meshes."""
    meshes = [dmr.generate("random", 400, seed=seed) for seed in range(8)]
    sizes = {
        rule: sum(len(dmr.refine(mesh, steiner=rule, **device_options).mesh.triangles) for mesh in meshes)
        for rule in ("petal", "off-center", "circumcenter")
    }
    assert sizes["petal"] < 0.85 * sizes["off-center"] < 0.85 * sizes["circumcenter"]


def test_petal_points_keep_the_distance_of_circumcenters():
    assert thresholds(RefineOptions(min_angle=30)).clearance == pytest.approx(1)
    assert thresholds(RefineOptions(min_angle=20)).clearance == pytest.approx(1 / (4 * math.sin(math.radians(20)) ** 2))
    for none in ({"steiner": "off-center"}, {"steiner": "circumcenter"}, {"min_angle": 0}):
        assert thresholds(RefineOptions(**none)).clearance == math.inf
    for tiny in (1e-300, 1e-200, 1e-100, 1e-12):
        assert thresholds(RefineOptions(min_angle=tiny)).clearance > 1e20
