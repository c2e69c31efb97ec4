"""Valid meshes pass, and verdicts on small meshes agree with brute force."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmr.errors import OptionError
from dmr.mesh.types import Mesh
from dmr.validation.checker import validate
from tests.support.meshes import grid, qhull_mesh, triangulated

ALL = ("triangles", "orientation", "edges", "stars", "duplicates", "segments", "overlap", "delaunay")


def square_with_hole():
    outer, inner = np.array([[0, 0], [4, 0], [4, 4], [0, 4.0]]), np.array([[1, 1], [3, 1.5], [2, 3.0]])
    segments = [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 4]]
    return triangulated(np.concatenate([outer, inner]), "pqa0.05", segments=segments, holes=[[2, 2]])


@pytest.mark.parametrize("unit", [1.0, 1e-40, 1e60, 1e-9, 0.001])
@pytest.mark.parametrize("offset", [0.0, 1e6, 1e15])
def test_grids_pass(unit, offset):
    columns = np.arange(40) * (unit if not offset else max(unit, 0.25) if unit < 1e50 else 1.0) + offset
    report = validate(grid(columns))
    assert report.ok, report.lines()
    assert report.checked == ALL


def test_random_delaunay_meshes_pass():
    points = np.random.default_rng(1).random((3000, 2))
    for scale, offset in ((1.0, 0.0), (1e-9, 0.0), (1e9, 0.0), (1.0, 1e6)):
        mesh = triangulated(points * scale + offset)
        report = validate(mesh)
        assert report.ok, report.lines()


def test_scipy_triangulations_pass():
    """Another implementation as the source; Qhull's triangles have either orientation."""
    spatial = pytest.importorskip("scipy.spatial")
    points = np.random.default_rng(2).random((2000, 2))
    assert validate(qhull_mesh(spatial.Delaunay(points))).ok


def test_holes_segments_and_pinched_vertices_pass():
    assert validate(square_with_hole()).ok
    bow_tie = Mesh([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1.0]], [[0, 1, 2], [0, 3, 4]])
    assert validate(bow_tie).ok


def test_constrained_edges_need_not_be_delaunay():
    kite = [[0, 0], [1, -0.1], [2, 0], [1, 0.1]]
    triangles = [[0, 1, 2], [0, 2, 3]]
    assert validate(Mesh(kite, triangles)).counts == {"delaunay": 1}
    assert validate(Mesh(kite, triangles, segments=[[2, 0]])).ok


def test_right_angles_meet_their_bound_exactly():
    mesh = grid(np.arange(30.0))
    assert validate(mesh, min_angle=45).ok
    assert validate(mesh, min_angle=np.nextafter(45, 46)).counts == {"angle": len(mesh.triangles)}
    assert validate(mesh, max_area=0.5).ok
    assert validate(mesh, max_area=0.499999).counts == {"max area": len(mesh.triangles)}


def test_unused_vertices_and_supplied_neighbours():
    mesh = grid(np.arange(4.0))
    mesh = Mesh(np.vstack([mesh.vertices, mesh.vertices[:2]]), mesh.triangles)  # duplicates, but of no triangle
    assert mesh.neighbours.shape == mesh.triangles.shape
    report = validate(mesh)
    assert report.ok
    assert "neighbours" in report.checked
    assert report.statistics["unused_vertices"] == 2


def test_a_mesh_without_triangles_fails():
    for mesh in (Mesh(np.zeros((0, 2)), np.zeros((0, 3), np.int32)), Mesh([[0, 0.0]], np.zeros((0, 3), np.int32))):
        report = validate(mesh, input=mesh, min_angle=30, max_area=1)
        assert report.counts == {"triangles": 1}
        json.dumps(report.to_json(), allow_nan=False)


@pytest.mark.parametrize(
    "options", [{"min_angle": -1}, {"min_angle": 61}, {"min_angle": float("nan")}, {"max_area": 0}, {"input": "mesh"}]
)
def test_invalid_bounds_are_refused(options):
    with pytest.raises(OptionError):
        validate(grid([0.0, 1.0]), **options)


def test_report_as_text_and_json():
    mesh = grid(np.arange(30.0))
    flipped = Mesh(mesh.vertices, mesh.triangles[:, ::-1])
    report = validate(flipped, min_angle=50)
    assert not report.ok
    assert len([f for f in report.failures if f.check == "orientation"]) == 20
    assert report.counts["orientation"] == len(mesh.triangles)
    text = "\n".join(report.lines())
    assert "FAILED  orientation (1682 times)" in text
    assert "... and 1662 more" in text
    assert "(0.0, 0.0)" in text
    assert text.endswith("invalid: orientation, angle")
    data = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert data["ok"] is False
    assert data["failures"][0]["element"] == "triangle"
    assert data["statistics"]["triangles"] == len(mesh.triangles)


# Brute force: what the checks decide by counting and sweeping, from the definition, on small whole numbers.


def area(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def inside(point, corners):
    return all(area(corners[k], corners[(k + 1) % 3], point) >= 0 for k in range(3))


def interiors_meet(first, second):
    """Whether no line of an edge separates two triangles."""
    for one, other in ((first, second), (second, first)):
        for k in range(3):
            if all(area(one[k], one[(k + 1) % 3], p) <= 0 for p in other):
                return False
    return True


def in_circle(a, b, c, d):
    rows = [(x - d[0], y - d[1], (x - d[0]) ** 2 + (y - d[1]) ** 2) for x, y in (a, b, c)]
    (p, q, r), (s, t, u), (v, w, z) = rows
    return p * (t * z - u * w) - q * (s * z - u * v) + r * (s * w - t * v) > 0


def is_delaunay_complex(points, triangles):
    """Positive triangles that meet in common vertices and edges only, each pair across an edge Delaunay."""
    shapes = [[points[i] for i in t] for t in triangles]
    if any(area(*shape) <= 0 for shape in shapes):
        return False
    for (t, first), (u, second) in combinations(zip(triangles, shapes, strict=True), 2):
        if interiors_meet(first, second):
            return False
        for one, shape, other in ((t, first, u), (u, second, t)):
            if any(i not in one and inside(points[i], shape) for i in other):
                return False
        shared = set(t) & set(u)
        if len(shared) == 2:
            (d,) = (points[i] for i in u if i not in shared)
            if in_circle(*first, d):
                return False
    return True


SPOTS = [(x, y) for x in range(4) for y in range(4)]
corner_lists = st.permutations(range(16)).map(lambda p: tuple(p[:3]))


def turned(t):
    return t if area(*(SPOTS[i] for i in t)) > 0 else t[::-1]


@pytest.mark.slow
@settings(max_examples=200)
@given(st.lists(corner_lists.map(turned), min_size=1, max_size=4))
def test_few_arbitrary_triangles_agree_with_brute_force(triangles):
    mesh = Mesh(np.array(SPOTS, float), np.array(triangles, np.int32))
    assert validate(mesh).ok == is_delaunay_complex(SPOTS, triangles)


@settings(max_examples=75)
@given(st.integers(0, 2**32 - 1), st.integers(0, 2))
def test_nearly_right_meshes_agree_with_brute_force(seed, damage):
    """Parts of a grid's triangulation with flipped diagonals, dropped triangles and inserted triangles."""
    rng = np.random.default_rng(seed)
    triangles = []
    for x in range(3):
        for y in range(3):
            a, b, c, d = 4 * x + y, 4 * (x + 1) + y, 4 * (x + 1) + y + 1, 4 * x + y + 1
            triangles += [(a, b, c), (a, c, d)] if rng.random() < 0.5 else [(a, b, d), (b, c, d)]
    triangles = [t for t in triangles if rng.random() < 0.8]
    for _ in range(damage):
        triangles.append(turned(tuple(int(i) for i in rng.choice(16, 3, replace=False))))
    if triangles:
        mesh = Mesh(np.array(SPOTS, float), np.array(triangles, np.int32))
        assert validate(mesh).ok == is_delaunay_complex(SPOTS, triangles)


@settings(max_examples=75)
@given(st.lists(st.integers(-6, 6), min_size=6, max_size=6), st.sampled_from([1.0, 10.0, 30.0, 45.0, 60.0]))
def test_angles_agree_with_fractions(coordinates, degrees):
    points = np.array(coordinates, float).reshape(3, 2)
    corners = [tuple(map(int, p)) for p in points]
    if area(*corners) <= 0:
        return
    squared = {30.0: Fraction(3, 4), 45.0: Fraction(1, 2), 60.0: Fraction(1, 4)}.get(
        degrees, Fraction(float(np.cos(np.radians(degrees)) ** 2))
    )
    narrow = False
    for k in range(3):
        (px, py), (ux, uy), (vx, vy) = corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]
        dot = (ux - px) * (vx - px) + (uy - py) * (vy - py)
        lengths = ((ux - px) ** 2 + (uy - py) ** 2) * ((vx - px) ** 2 + (vy - py) ** 2)
        narrow |= dot > 0 and dot * dot > squared * lengths
    report = validate(Mesh(points, [[0, 1, 2]]), min_angle=degrees)
    assert (report.counts.get("angle", 0) + len(report.exceptions) > 0) == narrow


def test_a_report_is_described_in_one_line() -> None:
    mesh = Mesh([(0, 0), (1, 0), (1, 1), (0, 1)], [(0, 1, 2), (0, 2, 3)])
    assert repr(validate(mesh)) == "Report(valid; 8 checks made, 1 skipped)"
    assert repr(validate(mesh, min_angle=46)) == "Report(invalid: angle (2); 9 checks made, 2 skipped)"
