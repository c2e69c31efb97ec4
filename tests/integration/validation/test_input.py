"""A refined mesh against the mesh that it was refined from."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dmr.mesh.types import Mesh
from dmr.validation.checker import validate
from tests.support.meshes import grid, triangulated

ALL = {"input", "input vertices", "input segments", "stray segments", "total area"}


def split_mesh(seed=0, offset=0.0, unit=1.0, pieces=6):
    """A polygon with a slanted segment inside, and a finer mesh of it: segments split at points that are rounded once.

    Returns:
        The input, the refined mesh, and the number of input vertices.
    """
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.random(9)) * 2 * np.pi
    vertices = np.stack([np.cos(angles), np.sin(angles)], axis=1) * (0.6 + 0.4 * rng.random((9, 1)))
    vertices = np.vstack([vertices, [[-0.05, -0.04], [0.04, 0.03]]]) * unit + offset
    outline = [(i, (i + 1) % 9) for i in range(9)]
    segments = [*outline, (9, 10)]
    coarse = triangulated(vertices, "p", segments=segments)
    exact = [[Fraction(float(x)) for x in vertex] for vertex in vertices]
    added, chain = [], []
    for a, b in segments:
        last = a
        for k in range(1, pieces):
            t = k / pieces + 0.01 * rng.random()
            added.append([float(p + Fraction(t) * (q - p)) for p, q in zip(exact[a], exact[b], strict=True)])
            chain.append((last, len(vertices) + len(added) - 1))
            last = chain[-1][1]
        chain.append((last, b))
    fine = triangulated(np.vstack([vertices, added]), "p", segments=chain)
    return coarse, fine, len(vertices)


def moved(mesh, vertex, position):
    vertices = mesh.vertices.copy()
    vertices[vertex] = position
    return Mesh(vertices, mesh.triangles, segments=mesh.segments)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("offset", "unit"), [(0.0, 1.0), (1e6, 1.0), (0.0, 1e-9), (0.0, 1e40), (1e15, 1e4)])
def test_split_segments_are_valid(seed, offset, unit):
    coarse, fine, _ = split_mesh(seed, offset, unit)
    report = validate(fine, input=coarse)
    assert report.ok, report.lines()
    assert set(report.checked) >= ALL
    assert validate(coarse, input=coarse).ok


def test_an_input_vertex_moved_by_one_ulp_fails_input_vertices():
    coarse, fine, count = split_mesh()
    for vertex in range(count):
        x, y = fine.vertices[vertex]
        report = validate(moved(fine, vertex, (x, np.nextafter(y, np.inf))), input=coarse)
        assert report.counts["input vertices"] == 1
        assert {f.index for f in report.failures if f.check == "input vertices"} == {vertex}


def test_minus_zero_fails_input_vertices():
    mesh = grid([0.0, 1.0])
    assert validate(moved(mesh, 0, (-0.0, 0.0)), input=mesh).counts == {"input vertices": 1}


def test_fewer_vertices_than_the_input_fail():
    mesh = grid(np.arange(3.0))
    report = validate(grid(np.arange(2.0)), input=mesh)
    assert set(report.counts) == {"input vertices"}
    assert "total area" in report.skipped


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_vertex_shifted_off_its_segment_fails_input_segments(offset):
    coarse, fine, count = split_mesh(1, offset)
    for vertex in range(count, len(fine.vertices), 3):
        a, b = ends(coarse, fine, vertex)
        ulp = np.spacing(np.abs(fine.vertices[[a, b]]).max())
        across = fine.vertices[b] - fine.vertices[a]
        normal = np.array([-across[1], across[0]]) / np.abs(across).max()
        report = validate(moved(fine, vertex, fine.vertices[vertex] + 5 * ulp * normal), input=coarse)
        assert report.counts["input segments"] == 1, vertex
        message = next(f.message for f in report.failures if f.check == "input segments")
        assert f"chain vertex {vertex} at" in message


def ends(coarse, fine, vertex):
    """The segment of the input that a new vertex lies on, by its distance."""
    best = None
    outline = {tuple(sorted(map(int, s))) for s in coarse.segments}
    for a, b in outline:
        p, q, v = coarse.vertices[a], coarse.vertices[b], fine.vertices[vertex]
        d = q - p
        t = np.dot(v - p, d) / np.dot(d, d)
        off = np.abs(v - p - t * d).max() if 0 < t < 1 else np.inf
        best = min(best or (np.inf, a, b), (off, a, b))
    return best[1:]


def test_the_tolerance_is_one_ulp_exactly():
    """The check agrees with rational arithmetic on which positions are within one ulp."""
    coarse = Mesh([[0.3, 0.1], [0.9, 0.7000001], [0.2, 0.9]], [[0, 1, 2]])
    (ax, ay), (bx, by) = ([Fraction(float(x)) for x in coarse.vertices[i]] for i in (0, 1))
    reach = Fraction(float(np.spacing(0.9)))
    outcomes = set()
    middle = (coarse.vertices[0] + coarse.vertices[1]) / 2
    for steps in range(-6, 7):
        y = middle[1] + steps * np.spacing(middle[1])
        fine = Mesh(np.vstack([coarse.vertices, [[middle[0], y]]]), [[0, 3, 2], [3, 1, 2]])
        cross = (bx - ax) * (Fraction(float(y)) - ay) - (by - ay) * (Fraction(float(middle[0])) - ax)
        allowed = abs(cross) <= reach * (abs(bx - ax) + abs(by - ay))
        found = validate(fine, input=Mesh(coarse.vertices, coarse.triangles)).counts
        assert ("input segments" not in found) == allowed
        outcomes.add(allowed)
    assert outcomes == {True, False}


def test_chain_vertices_out_of_order_fail_input_segments():
    coarse = Mesh([[0, 0], [1, 0], [0.5, 1]], [[0, 1, 2]])
    fine = Mesh([*coarse.vertices, [0.6, 0], [0.4, 0]], [[0, 3, 2], [3, 4, 2], [4, 1, 2]])
    report = validate(fine, input=coarse)
    assert report.counts["input segments"] == 1
    assert any("out of order" in f.message for f in report.failures)
    beyond = Mesh([*coarse.vertices, [1.5, 0]], [[0, 3, 2], [3, 1, 2]])
    assert "input segments" in validate(beyond, input=coarse).counts


def test_a_lost_segment_fails_input_segments():
    coarse, fine, _ = split_mesh(2)
    inner = next(i for i, s in enumerate(coarse.segments) if set(s.tolist()) == {9, 10})
    chain = [i for i, s in enumerate(fine.segments) if not on_boundary(fine, s)]
    assert len(chain) == 6
    for lost in (chain, chain[2:3]):
        report = validate(
            Mesh(fine.vertices, fine.triangles, segments=np.delete(fine.segments, lost, axis=0)), input=coarse
        )
        assert report.counts["input segments"] == 1
        assert report.failures[0].element == "input segment"
        assert report.failures[0].index == inner
        assert ("stray segments" in report.counts) == (len(lost) == 1)


def on_boundary(mesh, segment):
    return sum(set(segment.tolist()) <= set(t.tolist()) for t in mesh.triangles) == 1


def test_an_additional_segment_fails_stray_segments():
    mesh = grid(np.arange(6.0))
    extra = Mesh(mesh.vertices, mesh.triangles, segments=[[7, 8], [8, 14], [0, 1]])
    report = validate(extra, input=mesh)
    assert report.counts == {"stray segments": 2}
    coarse, fine, fresh = split_mesh(3)
    known = {frozenset(s) for s in fine.segments.tolist()}
    free = next(t[:2] for t in fine.triangles.tolist() if min(t) >= fresh and frozenset(t[:2]) not in known)
    crossing = Mesh(fine.vertices, fine.triangles, segments=[*fine.segments.tolist(), free])
    assert "stray segments" in validate(crossing, input=coarse).counts


def test_a_closed_line_of_new_vertices_fails_stray_segments():
    coarse = Mesh([[0, 0], [6, 0], [3, 6]], [[0, 1, 2]])
    vertices = [*coarse.vertices, [2, 1], [4, 1], [3, 3]]
    fine = triangulated(np.array(vertices), "p", segments=[[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]])
    assert validate(fine, input=coarse).counts == {"stray segments": 3}


def test_a_filled_hole_fails_the_comparison_with_the_input():
    ring = triangulated(
        np.array([[0, 0], [6, 0], [3, 6], [2, 1], [4, 1], [3, 3.0]]),
        "p",
        segments=[[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]],
        holes=[[3, 2]],
    )
    filled = Mesh(ring.vertices, np.vstack([ring.triangles, [[3, 4, 5]]]), segments=ring.segments)
    report = validate(filled, input=ring)
    assert report.counts == {"input segments": 3, "total area": 1}
    assert validate(ring, input=filled).counts == {"input segments": 3, "total area": 1}


def test_changed_regions_fail():
    square = np.array([[0, 0], [2, 0], [2, 1], [0, 1], [1, 0], [1, 1.0]])
    triangles = [[0, 4, 5], [0, 5, 3], [4, 1, 2], [4, 2, 5]]
    before = Mesh(square, triangles, segments=[[4, 5]], triangle_attributes=[[1.0], [1.0], [2.0], [2.0]])
    assert "regions" in validate(before, input=before).checked
    for values in ([1, 1, 2, 1], [2, 2, 1, 1], [1, 1, 1, 1]):
        after = Mesh(square, triangles, segments=[[4, 5]], triangle_attributes=np.array(values, float)[:, None])
        assert set(validate(after, input=before).counts) == {"regions"}
    loose = Mesh(square, triangles, triangle_attributes=[[1.0], [1.0], [2.0], [2.0]])
    assert "regions" in validate(loose, input=loose).skipped


def test_a_clockwise_input_is_the_same_domain():
    coarse, fine, _ = split_mesh(4)
    turned = Mesh(coarse.vertices, coarse.triangles[:, ::-1], segments=coarse.segments)
    assert validate(fine, input=turned).ok


def test_an_invalid_input_is_reported():
    mesh = grid(np.arange(3.0))
    twice = Mesh(mesh.vertices, np.vstack([mesh.triangles, mesh.triangles[:1]]))
    assert validate(mesh, input=twice).counts == {"input": 3}
    loose = Mesh(mesh.vertices, mesh.triangles, segments=[[0, 8]])
    assert validate(mesh, input=loose).counts == {"input": 1}


def test_an_unused_input_vertex_fails_input_vertices():
    """An interior vertex is removed and the hole retriangulated: same boundary, same area."""
    square = [[0, 0], [2, 0], [2, 2], [0, 2], [0.9, 1.1]]
    before = Mesh(square, [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
    after = Mesh(square, [[0, 1, 2], [0, 2, 3]])
    assert validate(after).ok
    report = validate(after, input=before)
    assert report.counts == {"input vertices": 1}
    assert report.failures[0].index == 4
