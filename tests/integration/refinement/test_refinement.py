"""The pipeline on small meshes: proved results, the same bits on every device, limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dmr
from dmr.errors import DeviceUnavailableError, InvalidMeshError, OptionError
from dmr.memory import open_device
from dmr.refinement.pipeline import TOO_FEW_FOR_A_GPU
from dmr.refinement.rounds.host_rounds import HostRounds
from dmr.refinement.run import SMALL_MESH
from dmr.refinement.setup.demand import least_triangles
from dmr.refinement.state.records import TRIANGLE
from tests.support.digests import mesh_digest

KINDS = [("random", 10), ("random", 700), ("clustered", 400), ("graded", 400), ("circle", 150), ("wheel", 150),
         ("grid", 100), ("annulus", 300), ("plate", 300)]  # fmt: skip


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: f"{kind[0]}-{kind[1]}")
def mesh(request):
    kind, n = request.param
    return dmr.generate(kind, n, seed=2)


@pytest.mark.parametrize("marking", ["deterministic", "two-stage"])
@pytest.mark.parametrize("angle", [20, 30, 33])
def test_the_result_is_proved(mesh, angle, marking, device_options):
    fine = dmr.refine(mesh, min_angle=angle, marking=marking, **device_options)
    report = dmr.validate(fine.mesh, input=mesh, min_angle=angle)
    assert report.ok, report.failures
    assert fine.complete and not fine.unrefined and fine.host_processed == 0
    assert len(fine.mesh.vertices) == len(mesh.vertices) + sum(fine.steiner.values())
    assert fine.outcomes["inserted"] == sum(fine.steiner.values())
    assert sum(fine.outcomes.values()) == fine.attempts


@pytest.mark.parametrize(
    "how",
    [{}, {"max_area": 2e-3}, {"conforming": True}, {"steiner": "circumcenter", "min_angle": 20}],
    ids=["default", "area", "conforming", "circumcenter"],
)
def test_the_same_bits_on_every_device(how, device_options):
    mesh = dmr.generate("plate", 2000, seed=3)
    reference = dmr.refine(mesh, device="cpu", threads=1, **how)
    other = dmr.refine(mesh, balance="none", **device_options, **how)
    assert mesh_digest(other.mesh) == mesh_digest(reference.mesh)
    assert mesh_digest(dmr.refine(mesh, **device_options, **how).mesh) == mesh_digest(reference.mesh)


def test_a_larger_mesh_has_the_same_bits_on_every_device(device_options):
    mesh = dmr.generate("random", 18_000, seed=4)
    assert len(mesh.triangles) > SMALL_MESH
    fine = dmr.refine(mesh, **device_options)
    assert mesh_digest(fine.mesh) == mesh_digest(dmr.refine(mesh, device="cpu", threads=2).mesh)
    assert dmr.validate(fine.mesh, input=mesh, min_angle=30).ok


def test_max_area_holds(device_options):
    mesh = dmr.generate("random", 50, seed=5)
    fine = dmr.refine(mesh, max_area=1e-3, **device_options)
    assert dmr.validate(fine.mesh, input=mesh, min_angle=30, max_area=1e-3).ok


SQUARE = dmr.Mesh([[0, 0], [2, 0], [2, 2], [0, 2]], [[0, 1, 2], [0, 2, 3]])


def with_bounds(*bounds):
    return dmr.Mesh(SQUARE.vertices, SQUARE.triangles, area_bounds=bounds)


@pytest.mark.parametrize(
    ("mesh", "max_area", "said"),
    [
        (SQUARE, 1e-30, r"max_area=1e-30 .*4e\+30 .*536,870,911"),
        (SQUARE, 5e-324, "max_area=5e-324"),
        (with_bounds(-1, 1e-9), None, r"2e\+09 triangles"),
        (with_bounds(1e-3, 0), 1e-9, r"max_area=1e-09 .*4e\+09"),
        (
            dmr.Pslg(SQUARE.vertices, [[0, 1], [1, 2], [2, 3], [3, 0]], regions=[[1, 1, 7, 1e-12]]),
            None,
            r"the bounds on areas need at least 4e\+12 triangles",
        ),
    ],
)
def test_infeasible_area_bounds_are_refused_before_the_work(mesh, max_area, said, monkeypatch):
    monkeypatch.setattr("dmr.refinement.pipeline.begin", lambda *_, **__: pytest.fail("the work was begun"))
    with pytest.raises(OptionError, match=said):
        dmr.refine(mesh, max_area=max_area, device="cpu", threads=1)


def test_the_lower_bound_on_triangles_is_not_too_high():
    assert least_triangles(SQUARE, None) == least_triangles(SQUARE, 1.0) == 0
    assert least_triangles(SQUARE, 2.0**-28) == 2.0**30
    thin = dmr.Mesh([[0, 0], [2**16, 0], [2**16, 2**16], [2**15, 2**15 + 1]], [[0, 1, 2]])
    assert least_triangles(thin, 4.0) == 2.0**29  # of the half of its box that it fills
    assert least_triangles(with_bounds(2.0**-28, -1), None) == 2.0**29
    assert least_triangles(with_bounds(0, -1), None) == 0


def test_a_limit_on_points_allows_any_area_bound(device_options):
    fine = dmr.refine(SQUARE, max_area=1e-30, max_steiner=20, **device_options)
    assert not fine.complete and len(fine.mesh.vertices) == 24


@pytest.mark.parametrize("limit", [0, 1, 7, 100])
@pytest.mark.parametrize("marking", ["deterministic", "two-stage"])
def test_the_limit_on_points_is_kept_exactly(limit, marking, device_options):
    mesh = dmr.generate("random", 300, seed=6)
    fine = dmr.refine(mesh, max_steiner=limit, marking=marking, **device_options)
    assert len(fine.mesh.vertices) == len(mesh.vertices) + limit
    assert not fine.complete and fine.unrefined["budget"] > 0
    assert dmr.validate(fine.mesh, input=mesh).ok


def test_progress_stops_the_run(device_options):
    mesh = dmr.generate("random", 300, seed=6)
    seen = []
    fine = dmr.refine(mesh, progress=lambda *figures: seen.append(figures) or len(seen) < 3, **device_options)
    assert len(seen) == 3 and fine.rounds == 3 and not fine.complete
    assert dmr.validate(fine.mesh, input=mesh).ok


@pytest.mark.parametrize("degrees", [0.01, 1, 5, 20, 45, 59])
@pytest.mark.parametrize("leg", [1.0, 1.025, 1.49])
def test_beside_a_small_corner_the_proved_bound_holds(degrees, leg, device_options):
    phi = math.radians(degrees)
    mesh = dmr.Mesh([[0, 0], [leg, 0], [leg * math.cos(phi), leg * math.sin(phi)]], [[0, 1, 2]])
    fine = dmr.refine(mesh, min_angle=30, **device_options)
    report = dmr.validate(fine.mesh, input=mesh, min_angle=30)
    assert report.ok, report.failures
    bound = math.degrees(math.atan2(math.sin(phi), 2 - math.cos(phi)))
    assert fine.min_angle >= min(bound, 30) - 1e-6


def test_exhausted_precision_stops_the_run(device_options):
    mesh = dmr.generate("random", 60, seed=0)
    far = dmr.Mesh(mesh.vertices + np.array([1e14, 0]), mesh.triangles)
    fine = dmr.refine(far, max_steiner=10_000, **device_options)
    assert fine.complete and fine.unrefined["precision"] > 0
    assert dmr.validate(fine.mesh, input=far).ok


@pytest.mark.parametrize("points", [*range(18, 25), *range(90, 97)])
def test_the_second_side_of_a_split_segment_may_find_its_record_full(points, device_options):
    """The cavity of a chord's midpoint has a half circle of vertices: about the capacity of a record."""
    turn = np.arange(1, points + 1) * np.pi / (points + 1)
    arc = np.column_stack([np.cos(turn), np.sin(turn)]) * (1 + np.cos(7 * turn) / 1000)[:, None]
    ring = [1, *range(3, 3 + points), 0, 2]
    buffers = [[ring[i], ring[i - 1]] for i in range(len(ring))]
    graph = dmr.Pslg([[-1, 0], [1, 0], [0, -0.25], *arc.tolist()], [[0, 1], *buffers])
    fine = dmr.refine(graph, max_steiner=1, **device_options)
    assert fine.steiner["segment"] == 1
    assert dmr.validate(fine.mesh, input=graph).ok


def test_a_mesh_that_is_not_delaunay_is_flipped_first(device_options):
    square = dmr.Mesh([[0, 0], [4, -1], [8, 0], [4, 1]], [[0, 1, 2], [0, 2, 3]])
    fine = dmr.refine(square, min_angle=0, **device_options)
    assert fine.flips == 1 and "flipped" in fine.warnings[0]
    assert dmr.validate(fine.mesh).ok
    with pytest.raises(InvalidMeshError, match="not Delaunay"):
        dmr.refine(square, strict=True, **device_options)


def test_attributes_of_a_mesh_are_kept(device_options):
    plain = dmr.generate("random", 200, seed=7)
    x, y = plain.vertices.T
    left = plain.vertices[plain.triangles].mean(axis=1)[:, 0] < 0.5
    mesh = dmr.Mesh(
        plain.vertices,
        plain.triangles,
        vertex_markers=np.arange(200),
        vertex_attributes=np.column_stack([2 * x - y, np.ones(200)]),
        triangle_attributes=np.where(left, 1.0, 2.0)[:, None],
        area_bounds=np.where(left, 1e-3, -1.0),
    )
    fine = dmr.refine(mesh, **device_options).mesh
    assert np.array_equal(fine.vertex_markers[:200], np.arange(200))
    x, y = fine.vertices.T
    assert np.allclose(fine.vertex_attributes, np.column_stack([2 * x - y, np.ones(len(x))]), atol=1e-9)
    assert set(np.unique(fine.triangle_attributes)) == {1.0, 2.0}
    a, b, c = fine.vertices[fine.triangles].transpose(1, 0, 2)
    areas = 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
    assert areas[fine.triangle_attributes[:, 0] == 1.0].max() <= 1e-3


@pytest.mark.parametrize(
    ("vertices", "triangles", "element", "index"),
    [
        ([[0, 0], [1, 0], [2, 0]], [[0, 1, 2]], "triangle", 0),
        ([[0, 0], [1, 0], [0, 1]], [[0, 1, 2], [0, 1, 2]], "triangle", 1),
        ([[0, 0], [1, 0], [0, 1]], [[0, 1, 1]], "triangle", 0),
        ([[0, 0], [4, 0], [0, 4], [1, 1], [2, 1], [1, 2]], [[0, 1, 2], [3, 4, 5]], "triangle", 1),
        ([[0, 0], [1e300, 0], [0, 1]], [[0, 1, 2]], "vertex", 1),
    ],
    ids=["no area", "twice", "same vertex", "within another", "out of range"],
)
def test_invalid_triangulations_are_refused(vertices, triangles, element, index, device_options):
    with pytest.raises(InvalidMeshError) as refusal:
        dmr.refine(dmr.Mesh(vertices, triangles), **device_options)
    assert (refusal.value.element, refusal.value.index) == (element, index)


def test_triangles_processed_by_the_host_are_counted(monkeypatch):
    """The counter behind `host_processed` would reveal a serial path."""
    mesh = dmr.generate("random", 100, seed=8)
    original = HostRounds.run_round

    def serial(rounds):
        rounds.work.state.triangles[:5].download()
        return original(rounds)

    monkeypatch.setattr(HostRounds, "run_round", serial)
    fine = dmr.refine(mesh, device="cpu", loop="host")
    assert fine.host_processed == 5 * (fine.rounds + 1) and TRIANGLE.itemsize == 32  # one more finds nothing to do


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        ({}, "cpu"),
        ({"device": "cuda"}, "cuda"),
        ({"max_area": 1e-3}, "auto"),
        ({"max_edge": lambda p: 0 * p[:, 0] + 1}, "auto"),
        ({"min_angle": 31}, "auto"),
        ({"balance": "child-launch"}, "auto"),
    ],
)
def test_small_meshes_are_refined_on_the_cpu_by_default(asked, where, monkeypatch):
    names = []

    def opened(name, threads):
        names.append(name)
        raise DeviceUnavailableError("not here")

    monkeypatch.setattr("dmr.refinement.pipeline.open_device", opened)
    square = dmr.Pslg([(0, 0), (1, 0), (1, 1), (0, 1)], [(0, 1), (1, 2), (2, 3), (3, 0)])
    bounded = dmr.Pslg(square.vertices, square.segments, regions=[(0.5, 0.5, 0.0, 1e-6)])
    elsewhere = asked.get("device", "auto")
    few, many = dmr.generate("random", 500, seed=1), dmr.generate("random", 600, seed=1)
    for mesh, expected in ((few, where), (square, where), (many, elsewhere), (bounded, elsewhere)):
        with pytest.raises(DeviceUnavailableError):
            dmr.refine(mesh, **asked)
        assert names.pop() == expected


def test_an_outline_with_many_crossings_is_not_a_tiny_mesh(monkeypatch):
    """60 segments that all cross: 120 vertices, but thousands of triangles."""
    names = []
    monkeypatch.setattr(
        "dmr.refinement.pipeline.open_device", lambda *asked: names.append(asked) or open_device("cpu", 1)
    )
    angles = np.linspace(0, np.pi, 60, endpoint=False) + 0.01
    ends = np.column_stack([np.cos(angles), np.sin(angles)]) * np.linspace(1, 2, 60)[:, None]
    shifted = np.column_stack([np.linspace(-0.3, 0.3, 60), np.linspace(0.3, -0.3, 60) ** 3])
    star = dmr.Pslg(np.vstack([shifted + ends, shifted - ends]), np.column_stack([np.arange(60), np.arange(60, 120)]))
    fine = dmr.refine(star, convex_hull=True, max_steiner=0)
    assert len(fine.mesh.triangles) > TOO_FEW_FOR_A_GPU
    assert names == [("cpu", 1), ("auto", None)]


def test_zero_threads_are_refused_for_a_tiny_mesh():
    with pytest.raises(OptionError, match="at least 1"):
        dmr.refine(dmr.generate("random", 20, seed=1), threads=0)


def test_repr_of_a_refinement_is_one_line():
    fine = dmr.refine(dmr.generate("random", 300, seed=6), device="cpu", threads=2)
    assert repr(fine) == (
        f"Refinement({fine.mesh}, {sum(fine.steiner.values())} points in {fine.rounds} rounds on cpu, 2 threads, "
        f"{fine.min_angle:.4g} to {fine.max_angle:.4g} degrees, complete)"
    )
    early = dmr.refine(dmr.generate("random", 300, seed=6), max_steiner=5, device="cpu", threads=1)
    left = sum(early.unrefined.values())
    assert left > 0 and str(early).endswith(f"degrees, ended early, {left} triangles unrefined)")
    assert len(str(early)) < 200


def test_no_rounds_are_prepared_for_a_small_mesh_that_is_good(monkeypatch):
    fine = dmr.refine(SQUARE, max_area=0.01, device="cpu", threads=1).mesh
    monkeypatch.setattr("dmr.refinement.stages.DeviceRounds", lambda *_: pytest.fail("rounds were prepared"))
    again = dmr.refine(fine, max_area=0.01, device="cpu", threads=1)
    assert (again.rounds, again.attempts, again.loop, again.complete) == (0, 0, "device", True)
    np.testing.assert_array_equal(again.mesh.triangles.shape, fine.triangles.shape)


@pytest.mark.parametrize("side", [1.5, 3.0, 7.77])
def test_equilateral_triangles_are_refined_to_the_end(side):
    """Their centers see a side under 120 degrees, which was just outside of the lens: more than 100,000 points."""
    triangle = dmr.Mesh(side * np.array([(0, 0), (1, 0), (0.5, 0.75**0.5)]), [(0, 1, 2)])
    refined = dmr.refine(triangle, max_area=0.0025 * side**2, max_steiner=2000, device="cpu")
    assert refined.complete and len(refined.mesh.triangles) < 300
    assert dmr.validate(refined.mesh, input=triangle, min_angle=30, max_area=0.0025 * side**2).ok
