"""Each way to break a mesh fails by its own check."""

from __future__ import annotations

import numpy as np
import pytest

from dmr.mesh.types import Mesh
from dmr.validation.checker import validate
from tests.support.meshes import grid, triangulated


def random_mesh(count=400):
    return triangulated(np.random.default_rng(3).random((count, 2)))


def with_vertex(mesh, vertex, position):
    vertices = mesh.vertices.copy()
    vertices[vertex] = position
    return Mesh(vertices, mesh.triangles, segments=mesh.segments)


def with_triangles(mesh, triangles):
    return Mesh(mesh.vertices, np.asarray(triangles, np.int32), segments=mesh.segments)


def test_one_ulp_turns_a_tie_into_a_violation():
    mesh = grid(np.arange(1.0, 21.0) * 0.1)
    assert validate(mesh).ok
    vertex = 5 * 20 + 7
    x, y = mesh.vertices[vertex]
    # The diagonal runs from the vertex to up right: towards there it enters the circles of its other neighbours.
    moved = with_vertex(mesh, vertex, (np.nextafter(x, np.inf), y))
    report = validate(moved)
    assert set(report.counts) == {"delaunay"}
    assert any(f"vertex {vertex} at" in f.message or f"{vertex} at" in f.message for f in report.failures)


def test_a_flipped_edge_fails_delaunay():
    mesh = random_mesh()
    neighbours = mesh.neighbours
    for t in range(100):
        u = int(neighbours[t, 0])
        if u < 0:
            continue
        a, b, c = (int(i) for i in mesh.triangles[t])
        d = next(int(i) for i in mesh.triangles[u] if i not in (b, c))
        triangles = mesh.triangles.copy()
        triangles[t], triangles[u] = (a, b, d), (a, d, c)
        report = validate(with_triangles(mesh, triangles))
        assert not report.ok
        if "orientation" not in report.counts:
            assert report.counts["delaunay"] >= 1
            assert {"delaunay"} == set(report.counts)
            assert {t, u} & {f.index for f in report.failures}
            return
    pytest.fail("no edge could be flipped")


def test_a_dropped_triangle_fails_the_comparison_with_the_input():
    mesh = random_mesh()
    inner = int(np.flatnonzero((mesh.neighbours >= 0).all(axis=1))[0])
    dropped = with_triangles(mesh, np.delete(mesh.triangles, inner, axis=0))
    assert validate(dropped).ok  # a triangular hole, as such, is a domain
    report = validate(dropped, input=mesh)
    assert set(report.counts) == {"stray segments", "total area"}
    object.__setattr__(dropped, "neighbours", np.delete(mesh.neighbours, inner, axis=0))
    assert "neighbours" in validate(dropped).counts


def test_a_swapped_neighbour_fails_neighbours():
    mesh = random_mesh()
    table = mesh.neighbours.copy()
    t = int(np.flatnonzero((table >= 0).all(axis=1))[5])
    table[t, [0, 1]] = table[t, [1, 0]]
    object.__setattr__(mesh, "neighbours", table)
    report = validate(mesh)
    assert report.counts == {"neighbours": 2}
    assert {f.index for f in report.failures} == {t}
    object.__setattr__(mesh, "neighbours", table[1:])
    assert validate(mesh).counts == {"neighbours": 1}


def test_a_repeated_triangle_fails_edges():
    mesh = random_mesh()
    report = validate(with_triangles(mesh, np.vstack([mesh.triangles, mesh.triangles[9:10]])))
    assert report.counts == {"edges": 3}
    assert {f.index for f in report.failures} == {len(mesh.triangles)}
    assert "triangle 9" in report.failures[0].message


def test_a_reversed_triangle_fails_orientation():
    mesh = random_mesh()
    triangles = mesh.triangles.copy()
    triangles[17] = triangles[17][::-1]
    report = validate(with_triangles(mesh, triangles))
    assert report.counts["orientation"] == 1
    assert report.failures[0].index == 17
    assert "overlap" in report.skipped


def test_a_flat_triangle_fails_orientation():
    report = validate(Mesh([[0, 0], [0.1, 0.1], [0.3, 0.3]], [[0, 1, 2]]))
    assert "has no area" in report.failures[0].message or "clockwise" in report.failures[0].message
    assert validate(Mesh([[0, 0], [1, 1.0]], [[0, 1, 1]])).counts["orientation"] == 1


def test_copies_of_vertices_fail_duplicates():
    mesh = Mesh([[0, 0], [1, 0], [0, 1], [1, 0], [1, 1], [-0.0, 1]], [[0, 1, 2], [3, 4, 5]])
    assert validate(mesh).counts["duplicates"] == 2


def test_a_segment_that_is_no_edge_fails_segments():
    mesh = grid(np.arange(5.0))
    report = validate(Mesh(mesh.vertices, mesh.triangles, segments=[[0, 1], [0, 7], [3, 3]]))
    assert report.counts == {"segments": 2}
    assert [f.index for f in report.failures] == [1, 2]


@pytest.mark.parametrize("turn", np.arange(0, 6.3, 0.7))
def test_a_star_that_winds_twice_fails_stars(turn):
    angles = turn + np.arange(10) * np.radians(72)
    radius = 1 + 0.01 * np.arange(10)
    ring = np.stack([radius * np.cos(angles), radius * np.sin(angles)], axis=1)
    around = np.arange(10)
    triangles = np.stack([np.full(10, 10), around, (around + 1) % 10], axis=1)
    segments = np.stack([np.full(10, 10), around], axis=1)
    report = validate(Mesh(np.vstack([ring, [[0, 0]]]), triangles.astype(np.int32), segments=segments))
    assert set(report.counts) == {"stars", "overlap"}
    assert report.failures[0].index == 10


@pytest.mark.parametrize("turn", np.arange(0, 6.3, 0.7))
def test_a_fan_beyond_a_full_turn_fails_overlap(turn):
    angles = turn + np.arange(6) * np.radians(80)
    ring = (1 + 0.01 * np.arange(6))[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    triangles = [[6, i, i + 1] for i in range(5)]
    mesh = Mesh(np.vstack([ring, [[0, 0]]]), triangles, segments=[[6, i] for i in range(6)])
    assert "overlap" in validate(mesh).counts
    assert set(validate(mesh).counts) <= {"overlap", "stars"}


def ramp(turns, steps, inner=1.0, outer=2.0, closed=False):
    """A strip around the origin that overlaps itself beyond one turn, with valid links and stars."""
    angles = 0.1 + np.arange(steps) * (2 * np.pi * turns / (steps if closed else steps - 1))
    inside = inner * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    vertices = np.vstack([inside, inside * (outer / inner)])
    i = np.arange(steps if closed else steps - 1)
    j = (i + 1) % steps
    triangles = np.vstack([np.stack([i, i + steps, j + steps], axis=1), np.stack([i, j + steps, j], axis=1)])
    return Mesh(vertices, triangles.astype(np.int32), segments=np.stack([i, j + steps], axis=1))


def test_a_ramp_that_runs_over_itself_fails_overlap():
    assert validate(ramp(0.9, 40)).ok
    for mesh in (ramp(1.1, 47), ramp(2, 41, closed=True), ramp(3, 80)):
        report = validate(mesh)
        assert report.counts == {"overlap": 1}
        assert report.failures[0].element == "triangle"
    assert validate(ramp(1, 40, closed=True)).ok


def test_a_disk_within_another_fails_overlap():
    outer = grid(np.arange(8.0))
    count = len(outer.vertices)
    for disk in ([[3.2, 3.1], [3.3, 3.1], [3.3, 3.2]], [[-1, -1], [20, -1], [-1, 20]]):
        mesh = Mesh(np.vstack([outer.vertices, disk]), np.vstack([outer.triangles, [[count, count + 1, count + 2]]]))
        assert validate(mesh).counts == {"overlap": 1}
    apart = Mesh(np.vstack([outer.vertices, [[8, 0], [9, 0], [9, 1]]]), mesh.triangles)
    assert validate(apart).ok


def test_a_disk_in_a_hole_is_valid_and_one_across_its_boundary_fails():
    ring = ramp(1, 32, closed=True)
    for size, ok in ((0.9, True), (1.2, False)):
        disk = size * np.array([[1, 0], [-0.5, 0.8], [-0.5, -0.8]])
        n = len(ring.vertices)
        triangles = np.vstack([ring.triangles, [[n, n + 1, n + 2]]])
        report = validate(Mesh(np.vstack([ring.vertices, disk]), triangles, segments=ring.segments))
        assert report.counts == ({} if ok else {"overlap": 1})


def test_a_vertex_on_another_boundary_edge_fails_overlap():
    """Two triangles that touch, but share no vertex there: the edge of one ends in the middle of the other's."""
    for x in (0.5, 0.25):
        report = validate(Mesh([[0, 0], [1, 0], [0.5, 1], [x, 0], [0, -1], [1, -1]], [[0, 1, 2], [4, 5, 3]]))
        assert report.counts == {"overlap": 1}


def test_huge_tiny_and_distant_meshes_raise_no_warnings():
    for unit in (1e-320, 1e-300, 1e150, 5e307):
        mesh = grid(np.arange(3.0) * unit)
        assert validate(mesh, min_angle=40, input=mesh).ok, unit
        spoiled = with_triangles(mesh, mesh.triangles[:, ::-1])
        assert "orientation" in validate(spoiled).counts
