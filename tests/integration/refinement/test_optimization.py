"""Optimisation of meshes: better angles, and everything that must stay as it was."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from dmr import domains
from dmr.errors import OptionError, WrongTypeError
from dmr.refinement.optimization import rounds as optimization
from dmr.refinement.optimization.snapshot import Snapshot
from dmr.refinement.rounds.time_limit import TimeLimit
from tests.support.digests import digest, mesh_digest
from tests.support.meshes import triangulated

PLATE = {"kind": "plate", "n": 40, "seed": 0}


def smallest_angles(mesh):
    """Degrees, by the C library's arc tangent."""
    corners = mesh.vertices[mesh.triangles]
    angles = []
    for k in range(3):
        u, v = corners[:, (k + 1) % 3] - corners[:, k], corners[:, (k + 2) % 3] - corners[:, k]
        angles.append(np.arctan2(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0], (u * v).sum(axis=1)))
    return np.degrees(np.min(angles, axis=0))


def lattice(n, jitter, seed=1):
    """Equilateral triangles in the unit square, n to a side, with inner points moved at random; corners come last."""
    spacing, rows = 1 / n, round(n / math.sqrt(0.75))
    even = np.linspace(0, 1, n + 1)
    odd = np.concatenate([[0], (even[:-1] + even[1:]) / 2, [1]])
    points = np.concatenate([[(x, row / rows) for x in (odd if row % 2 else even)] for row in range(rows + 1)])
    inner = ((points > 0) & (points < 1)).all(axis=1)
    points[inner] += np.random.default_rng(seed).uniform(-jitter * spacing, jitter * spacing, (inner.sum(), 2))
    return triangulated(points), inner


def test_random_points_gain_more_than_a_degree_and_a_half(device_options):
    mesh = dmr.generate("random", 3000, seed=1)
    plain = dmr.refine(mesh, **device_options)
    fine = dmr.refine(mesh, optimize=True, **device_options)
    assert dmr.validate(fine.mesh, input=mesh, min_angle=30).ok
    before, after = smallest_angles(plain.mesh), smallest_angles(fine.mesh)
    assert after.mean() > before.mean() + 1.5
    assert after.min() >= before.min()
    assert fine.smoothing.mean_min_angle_before == pytest.approx(before.mean(), abs=1e-9)
    assert fine.smoothing.mean_min_angle == pytest.approx(after.mean(), abs=1e-9)
    assert len(fine.mesh.triangles) == len(plain.mesh.triangles)
    assert np.array_equal(fine.mesh.vertices[: len(mesh.vertices)], mesh.vertices)


@pytest.mark.slow
@pytest.mark.parametrize(
    "bounds",
    [
        {"max_area": 1e-3},
        {"max_edge": 0.05},
        {"max_edge": lambda points: 0.03 + 0.05 * points[:, 0]},
        {"max_area": 1e-3, "conforming": True},
    ],
    ids=["area", "edge", "function", "conforming"],
)
def test_bounds_hold_and_the_same_bits_come_from_every_device(bounds, device_options):
    mesh = dmr.generate(**PLATE)
    fine = dmr.refine(mesh, optimize=True, **bounds, **device_options)
    report = dmr.validate(fine.mesh, input=mesh, min_angle=30, **{k: bounds[k] for k in bounds if k != "conforming"})
    assert report.ok, report.failures
    assert fine.smoothing.mean_min_angle > 49 > fine.smoothing.mean_min_angle_before
    if "conforming" in bounds:  # without segments, inner edges only: Delaunay without constraints
        whole = dmr.Mesh(fine.mesh.vertices, fine.mesh.triangles)
        assert dmr.validate(whole).ok
    reference = dmr.refine(mesh, optimize=True, **bounds, device="cpu", threads=1)
    assert mesh_digest(fine.mesh) == mesh_digest(reference.mesh)
    assert fine.smoothing == reference.smoothing


def test_edges_keep_to_the_size_that_was_asked_for():
    corner = domains.polygon([(0, 0), (1, 0), (1, 0.5), (0.5, 0.5), (0.5, 1), (0, 1)])
    plain = dmr.refine(corner, size=0.03, device="cpu").mesh
    fine = dmr.refine(corner, size=0.03, optimize=True, device="cpu").mesh
    assert dmr.validate(fine, input=corner, min_angle=30).ok
    assert smallest_angles(fine).mean() > max(57.9, smallest_angles(plain).mean())  # 57.9 is the mean of Gmsh's mesh
    lengths = np.hypot(*(fine.vertices[fine.edges[:, 0]] - fine.vertices[fine.edges[:, 1]]).T) / 0.03
    assert 0.97 < lengths.mean() < 1.03 and ((lengths > 0.7) & (lengths < 1.35)).mean() > 0.99


def test_points_on_segments_slide_along_them():
    square = [(0, 0), (1, 0), (1, 1), (0, 1)]
    ends = [(0.1, 0.2), (0.8, 0.9)]
    outline = dmr.Pslg(square + ends, [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5)], segment_markers=[1, 2, 3, 4, 7])
    plain = dmr.refine(outline, max_area=2e-3).mesh
    fine = dmr.refine(outline, max_area=2e-3, optimize=True).mesh
    assert dmr.validate(fine, input=outline, min_angle=30, max_area=2e-3).ok

    def inside(mesh):
        chain = np.unique(mesh.segments[mesh.segment_markers == 7])
        return mesh.vertices[chain[chain >= 6]]

    assert len(inside(fine)) == len(inside(plain)) and not np.array_equal(inside(fine), inside(plain))


def test_triangles_beside_small_input_angles_stay():
    wedge = dmr.Pslg([(0, 0), (10, 0), (10, 1), (10, 5), (0, 5)], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2)])
    fine = dmr.refine(wedge, max_area=0.1, optimize=True)
    report = dmr.validate(fine.mesh, input=wedge, min_angle=30, max_area=0.1, unrefined=fine.unrefined_triangles)
    assert report.ok, report.failures
    assert fine.unrefined == dmr.refine(wedge, max_area=0.1).unrefined != {}
    assert fine.smoothing.moves > 0


def test_a_limit_on_points_leaves_what_it_left():
    mesh = dmr.generate("random", 500, seed=3)
    fine = dmr.refine(mesh, max_steiner=60, optimize=True)
    assert not fine.complete and dmr.validate(fine.mesh, input=mesh).ok
    assert smallest_angles(fine.mesh).min() >= smallest_angles(dmr.refine(mesh, max_steiner=60).mesh).min()


def test_a_time_limit_ends_the_rounds_with_a_warning(monkeypatch):
    begun, take = [], Snapshot.take
    monkeypatch.setattr(Snapshot, "take", lambda self: (begun.append(self), take(self)))
    monkeypatch.setattr(TimeLimit, "over", property(lambda _: bool(begun)))
    fine = dmr.refine(dmr.generate("random", 300, seed=3), max_seconds=1000, optimize=True)
    assert fine.complete and fine.smoothing.rounds == 1
    assert fine.warnings[-1].startswith("the limit of 1000 s passed during the optimisation")


def test_flips_are_repeated_where_a_triangle_would_become_too_large(monkeypatch):
    mesh = dmr.generate(**PLATE)
    fine = dmr.refine(mesh, max_area=1e-4, optimize=True)
    assert fine.smoothing.repeated > 0 and dmr.validate(fine.mesh, input=mesh, min_angle=30, max_area=1e-4).ok
    monkeypatch.setattr(optimization, "MOST_REPEATS", 1)  # a round that needs a repetition is undone
    stopped = dmr.refine(mesh, max_area=1e-4, optimize=True)
    assert stopped.smoothing.rounds < fine.smoothing.rounds
    assert dmr.validate(stopped.mesh, input=mesh, min_angle=30, max_area=1e-4).ok


def test_no_rounds_change_nothing():
    mesh = dmr.generate("random", 200, seed=4)
    plain = dmr.refine(mesh)
    assert plain.smoothing is None and plain.to_json()["smoothing"] is None
    assert mesh_digest(dmr.refine(mesh, optimize=0).mesh) == mesh_digest(plain.mesh)
    one = dmr.refine(mesh, optimize=1)
    assert one.smoothing.rounds == 1 and one.to_json()["smoothing"]["moves"] == one.smoothing.moves


@pytest.mark.parametrize(("value", "error"), [(-1, OptionError), (1.5, WrongTypeError), ("yes", WrongTypeError)])
def test_what_is_no_number_of_rounds_is_refused(value, error):
    with pytest.raises(error, match=r"^optimize must be True, False or a number of rounds, not "):
        dmr.refine(dmr.generate("random", 10), optimize=value)
    with pytest.raises(error, match=r"^rounds must be True, False or a number of rounds, not "):
        dmr.optimize(dmr.generate("random", 10), rounds=value)


# Meshes that are given


def test_a_lattice_becomes_regular_and_keeps_its_boundary(device_options):
    mesh, inner = lattice(40, 0.25)
    result = dmr.optimize(mesh, rounds=20, **device_options)
    assert dmr.validate(result.mesh).ok and smallest_angles(result.mesh).mean() > 57
    assert smallest_angles(result.mesh).min() >= smallest_angles(mesh).min()
    assert np.array_equal(result.mesh.vertices[~inner], mesh.vertices[~inner])
    assert not (result.mesh.vertices[inner] == mesh.vertices[inner]).all(axis=1).any()
    reference = dmr.optimize(mesh, rounds=20, device="cpu", threads=1)
    assert mesh_digest(result.mesh) == mesh_digest(reference.mesh)


def test_attributes_are_interpolated_where_vertices_go():
    plain, _ = lattice(12, 0.25)
    linear = plain.vertices @ [[3.0, 1.0], [-2.0, 5.0]] + [7.0, 0.0]
    regions = np.arange(len(plain.triangles), dtype=float)[:, None]
    mesh = dmr.Mesh(plain.vertices, plain.triangles, vertex_attributes=linear, triangle_attributes=regions)
    result = dmr.optimize(mesh).mesh
    assert not np.array_equal(result.vertices, mesh.vertices)
    assert np.allclose(result.vertex_attributes, result.vertices @ [[3.0, 1.0], [-2.0, 5.0]] + [7.0, 0.0], atol=1e-12)
    assert sorted(result.triangle_attributes[:, 0]) == sorted(regions[:, 0])


def test_attributes_of_inserted_points_are_interpolated_where_they_go():
    outline = dmr.generate("random", 100, seed=5)
    values = outline.vertices @ [[3.0], [-2.0]]
    mesh = dmr.Mesh(outline.vertices, outline.triangles, vertex_attributes=values)
    fine = dmr.refine(mesh, max_area=2e-3, optimize=True)
    assert fine.smoothing.moves > 0
    assert np.allclose(fine.mesh.vertex_attributes, fine.mesh.vertices @ [[3.0], [-2.0]], atol=1e-12)


def test_segments_and_unused_vertices_stay():
    plain, inner = lattice(12, 0.25)
    line = np.flatnonzero(inner)[:1]
    across = plain.triangles[(plain.triangles == line[0]).any(axis=1)][0]
    ends = [(int(across[k]), int(across[(k + 1) % 3])) for k in range(3)]
    mesh = dmr.Mesh(np.vstack([plain.vertices, [(0.5, 0.5)]]), plain.triangles, segments=ends)
    result = dmr.optimize(mesh).mesh
    kept = [*across, len(mesh.vertices) - 1]
    assert np.array_equal(result.vertices[kept], mesh.vertices[kept])
    assert {frozenset(s) for s in result.segments.tolist()} == {frozenset(s) for s in ends}


def test_a_mesh_that_is_not_delaunay_is_flipped_first():
    mesh = dmr.Mesh([(0, 0), (4, -1), (8, 0), (4, 1)], [(0, 1, 2), (0, 2, 3)])
    result = dmr.optimize(mesh)
    assert result.warnings == ("the mesh was not Delaunay: 1 edges were flipped first",)
    assert dmr.validate(result.mesh).ok and result.smoothing.moves == 0


@settings(max_examples=25)
@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=6, max_size=30))
def test_degenerate_points_give_valid_meshes(points):
    points = np.array(sorted(points), float)
    if np.linalg.matrix_rank(points - points[0]) < 2:
        return
    mesh = dmr.triangulate(points)
    result = dmr.optimize(mesh, rounds=3)
    assert dmr.validate(result.mesh).ok
    assert smallest_angles(result.mesh).min() >= smallest_angles(mesh).min() - 1e-12
    assert result.smoothing.mean_min_angle >= result.smoothing.mean_min_angle_before
    assert digest(result.mesh.vertices) == digest(dmr.optimize(mesh, rounds=3, threads=2).mesh.vertices)
