"""`size=`: edges of about the size, and everything else as in any refinement."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dmr
from dmr import Mesh, Pslg, domains, sizing
from dmr.errors import OptionError
from tests.support.digests import mesh_digest
from tests.support.outlines.sizes import BORED, L_SHAPE, SKEW, SQUARE, edge_ratios, growing, smallest_angles


@pytest.mark.parametrize(("domain", "h"), [(L_SHAPE, 0.06), (SKEW, 0.05), (BORED, 0.06)], ids=["L", "skew", "bored"])
def test_edges_have_about_the_size(domain, h, device_options):
    fine = dmr.refine(domain, size=h, **device_options)
    assert dmr.validate(fine.mesh, input=domain, min_angle=30, max_edge=2 * h).ok
    ratios, angles = edge_ratios(fine.mesh, lambda points: h), smallest_angles(fine.mesh)
    assert 0.97 <= ratios.mean() <= 1.03
    assert ((ratios > 0.7) & (ratios < 1.35)).mean() >= 0.97
    assert angles.mean() >= 57 and angles.min() >= 37
    assert len(fine.mesh.triangles) == pytest.approx(fine.mesh.areas.sum() / (np.sqrt(3) / 4 * h * h), rel=0.08)
    assert fine.steiner["front"] > 0 and fine.complete


def arch():
    """Half a ring whose segments are a little more than 3 or 7 sizes long."""
    outer, inner = (np.linspace(0, np.pi, pieces + 1)[:: (1, -1)[k]] for k, pieces in enumerate((40, 36)))
    return domains.polygon([(r * np.cos(t), r * np.sin(t)) for r, turn in ((10, outer), (8.5, inner)) for t in turn])


@pytest.mark.parametrize(("h", "in_gmsh"), [(0.201, 2882), (0.0956, 12728)])
def test_points_are_placed_closer_where_gmsh_rounds_pieces_up(h, in_gmsh, device_options):
    """There were 0.879 and 0.890 of Gmsh's triangles, and edges of 0.993 and 0.987 sizes on average."""
    domain = arch()
    fine = dmr.refine(domain, size=h, **device_options)
    assert dmr.validate(fine.mesh, input=domain, min_angle=30).ok
    assert len(fine.mesh.triangles) == pytest.approx(in_gmsh, rel=0.1)
    assert 0.97 <= edge_ratios(fine.mesh, lambda points: h).mean() <= 0.982
    assert mesh_digest(fine.mesh) == mesh_digest(dmr.refine(domain, size=h, device="cpu", threads=1).mesh)


def test_a_limit_on_points_holds_where_they_are_placed_twice():
    few = dmr.refine(arch(), size=0.201, max_steiner=1000, device="cpu")
    assert few.steiner["front"] + few.steiner["segment"] <= 1000 and not few.complete


def test_sizes_that_grow(device_options):
    fine = dmr.refine(SQUARE, size=growing, **device_options)
    assert dmr.validate(fine.mesh, input=SQUARE, min_angle=30).ok
    ratios = edge_ratios(fine.mesh, growing)
    assert 0.95 <= ratios.mean() <= 1.05
    assert ((ratios > 0.7) & (ratios < 1.35)).mean() >= 0.95
    assert smallest_angles(fine.mesh).mean() >= 52


def test_a_function_is_called_a_few_times():
    calls = []

    def size(points):
        calls.append(len(points))
        return growing(points)

    fine = dmr.refine(SQUARE, size=size, device="cpu")
    assert len(calls) <= 30 and sum(calls) <= 3 * len(fine.mesh.triangles)


def test_threads_do_not_change_the_mesh(device_options):
    for domain, size in ((L_SHAPE, 0.05), (SQUARE, growing)):
        expected = dmr.refine(domain, size=size, device="cpu", threads=1)
        assert mesh_digest(dmr.refine(domain, size=size, **device_options).mesh) == mesh_digest(expected.mesh)


def test_sizes_kept_for_one_device_serve_another():
    """The outline is divided by sizes on all cores, before the front asks for them on its own device."""
    expected, *others = (dmr.refine(BORED, size=growing, device="cpu", threads=threads) for threads in (None, 1, 3))
    assert {mesh_digest(fine.mesh) for fine in others} == {mesh_digest(expected.mesh)}


def test_no_points_where_the_size_is_infinite(device_options):
    fine = dmr.refine(SQUARE, size=lambda points: np.where(points[:, 0] < 0.5, 0.05, np.inf), **device_options)
    assert dmr.validate(fine.mesh, input=SQUARE, min_angle=30).ok
    left = fine.mesh.vertices[:, 0] < 0.5
    assert left.sum() > 150 and (~left).sum() < 100
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nowhere = dmr.refine(SQUARE, size=lambda points: np.full(len(points), np.inf), **device_options)
    assert mesh_digest(nowhere.mesh) == mesh_digest(dmr.refine(SQUARE, **device_options).mesh)


def test_arrays_of_sizes_need_a_field():
    for values in (np.ones(4), np.ones((3, 2)), [0.1, 0.2]):
        with pytest.raises(
            OptionError, match=r"not (an array|a list): dmr.SizeField\(mesh, values\) and .from_grid take arrays"
        ):
            dmr.refine(SQUARE, size=values)


def test_a_mesh_keeps_its_vertices_and_its_data(device_options):
    square = Pslg(
        [(0, 0), (2, 0), (2, 1), (0, 1), (1, 0), (1, 1), (0.3, 0.5)],
        [(0, 4), (4, 1), (1, 2), (2, 5), (5, 3), (3, 0), (4, 5)],
        regions=[(0.5, 0.5, 7, 0), (1.5, 0.5, 8, 0)],
        segment_markers=[2, 2, 3, 4, 4, 5, 6],
        vertex_attributes=np.array([[0.0], [2], [2], [0], [1], [1], [0.3]]),
    )
    coarse = dmr.triangulate(square)
    mesh = Mesh(**{name: getattr(coarse, name) for name in (
        "vertices", "triangles", "segments", "segment_markers", "vertex_attributes", "triangle_attributes",
    )})  # fmt: skip
    fine = dmr.refine(mesh, size=0.1, **device_options).mesh
    assert dmr.validate(fine, input=mesh, min_angle=30).ok
    assert dmr.validate(fine, input=square, min_angle=30).ok
    assert np.array_equal(fine.vertices[: len(mesh.vertices)], mesh.vertices)
    centroids = fine.vertices[fine.triangles].mean(axis=1)
    assert np.array_equal(fine.triangle_attributes[:, 0], np.where(centroids[:, 0] < 1, 7, 8))
    assert np.allclose(fine.vertex_attributes[:, 0], fine.vertices[:, 0], atol=1e-12)


def test_a_clockwise_mesh_and_a_wrong_one():
    mesh = Mesh([(0, 0), (1, 0), (1, 1), (0, 1)], [(0, 2, 1), (0, 2, 3)])
    fine = dmr.refine(mesh, size=0.2, device="cpu")
    assert dmr.validate(fine.mesh, input=SQUARE, min_angle=30).ok and "turned around" in fine.warnings[0]
    with pytest.raises(dmr.errors.InvalidMeshError):
        dmr.refine(Mesh([(0, 0), (1, 0), (1, 1), (0, 1)], [(0, 1, 2), (0, 1, 3)]), size=0.2)


@pytest.mark.parametrize(
    "domain",
    [
        domains.polygon([(0, 0), (3, 0), (3, 0.4)]),
        Pslg([(0, 0), (2, 0), (2, 2), (0, 2), (0.7, 1), (1.4, 1.1)], [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5)]),
        Pslg([(0, 0), (2, 0), (2, 2), (0, 2), (1, 1), (1.01, 1)], [(0, 1), (1, 2), (2, 3), (3, 0)]),
        domains.polygon([(0, 0), (5, 0), (5, 0.03), (0, 0.03)]),
        domains.polygon(domains.circle_points(1, 300)),
    ],
    ids=["wedge", "crack", "vertices", "channel", "fine outline"],
)
def test_hard_domains_are_proved(domain, device_options):
    fine = dmr.refine(domain, size=0.15, **device_options)
    assert fine.complete
    assert dmr.validate(fine.mesh, input=domain, min_angle=30, unrefined=fine.unrefined_triangles).ok


def test_the_smallest_bound_holds(device_options):
    fine = dmr.refine(SQUARE, size=0.2, max_edge=0.1, max_area=0.003, **device_options)
    assert dmr.validate(fine.mesh, input=SQUARE, min_angle=30, max_edge=0.1, max_area=0.003).ok


def test_a_limit_on_points_and_on_time():
    few = dmr.refine(SQUARE, size=0.02, max_steiner=300, device="cpu")
    assert not few.complete and sum(few.steiner.values()) == 300
    assert few.warnings == ("stopped at the limit of 300 Steiner points: the mesh is valid, but not finished",)
    assert dmr.validate(few.mesh, input=SQUARE).ok
    none = dmr.refine(SQUARE, size=0.02, max_seconds=0, device="cpu")
    assert not none.complete and dmr.validate(none.mesh, input=SQUARE).ok


def test_validate_reports_edges_and_never_fails():
    mesh = dmr.refine(SQUARE, size=0.1, device="cpu").mesh
    report = dmr.validate(mesh, size=0.1)
    ratios = edge_ratios(mesh, lambda points: 0.1)
    assert report.ok and report.statistics["mean_edge"] == pytest.approx(ratios.mean())
    assert report.statistics["shortest_edge"] == pytest.approx(ratios.min())
    assert report.statistics["longest_edge"] == pytest.approx(ratios.max())
    assert any("times the size" in line for line in report.lines())
    assert dmr.validate(mesh, size=1e-3).ok
    assert dmr.validate(mesh, size=lambda points: np.full(len(points), np.inf)).statistics["mean_edge"] is None


def test_optimised_meshes_keep_their_sizes():
    plain, better = (dmr.refine(SKEW, size=0.05, optimize=optimize, device="cpu") for optimize in (False, True))
    assert dmr.validate(better.mesh, input=SKEW, min_angle=30).ok
    assert smallest_angles(better.mesh).mean() >= smallest_angles(plain.mesh).mean()
    assert np.array_equal(better.mesh.vertices[: len(SKEW.vertices)], SKEW.vertices)


def test_grading_bounds_the_growth_of_sizes(device_options):
    """Sizes that jump from 0.02 to 0.5 grow steadily then; finer meshes result, the finer the less they grow."""
    plate = domains.rectangle(4, 2)

    def jump(points):
        return np.where(np.hypot(points[:, 0] - 2, points[:, 1] - 1) < 0.2, 0.02, 0.5)

    counts = []
    for grading in (None, 0.5, 0.2):
        fine = dmr.refine(plate, size=jump, grading=grading, **device_options)
        assert dmr.validate(fine.mesh, input=plate, min_angle=30).ok
        centroids = fine.mesh.vertices[fine.mesh.triangles].mean(axis=1)
        in_disc = np.hypot(*(centroids - (2, 1)).T) < 0.2
        counts.append(len(in_disc))
        assert 0.9 < in_disc.sum() / 726 < 1.1  # equilateral ones with the area of the disc
        reference = dmr.refine(plate, size=jump, grading=grading, device="cpu", threads=1)
        assert mesh_digest(fine.mesh) == mesh_digest(reference.mesh)
    # Without a bound, sizes grow as fast as the angle bound allows, which is hardly faster than by 0.5.
    assert counts[0] * 1.05 <= counts[1] and counts[1] * 1.3 < counts[2]
    ends = fine.mesh.vertices[fine.mesh.edges]
    away = np.maximum(np.hypot(*(ends.mean(axis=1) - (2, 1)).T) - 0.2, 0)
    assert (np.hypot(*(ends[:, 1] - ends[:, 0]).T) < 2 * (0.02 + 0.2 * away)).all()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"grading": 0.2}, "grading bounds the growth of sizes: also give size"),
        ({"grading": -1, "size": 1}, "grading must be finite and at least 0, not -1"),
        ({"grading": "slow", "size": 1}, "grading must be a number, not 'slow'"),
    ],
)
def test_a_grading_that_cannot_be_used_is_named(options, text):
    with pytest.raises(OptionError, match=text):
        dmr.refine(domains.rectangle(1, 1), **options)


@pytest.mark.parametrize("least", [1e-6, 1e-9, 1e-12, 1e-18])
@pytest.mark.parametrize("corner", [0.0, 1e6, 3e6])  # at the last, rounding puts points on segments
def test_tiny_sizes_in_a_corner(least, corner):
    """Also below the spacing of float64, where pieces are no shorter than coordinates can resolve."""
    square = domains.polygon(SQUARE.vertices + corner)
    fine = dmr.refine(square, size=lambda points: least + 0.3 * np.hypot(*(points - corner).T), device="cpu")
    assert dmr.validate(fine.mesh, input=square, min_angle=30, unrefined=fine.unrefined_triangles).ok
    assert set(fine.unrefined) <= {"precision"} or not any(fine.unrefined.values())
    assert 300 < len(fine.mesh.triangles) < 3000


@pytest.mark.parametrize("size", [1e-9, 5e-324])
def test_a_size_that_needs_too_many_triangles_is_refused_unless_points_are_limited(size):
    for name in ("size", "max_edge"):
        with pytest.raises(OptionError, match=f"^{name}=.* needs more than 536,870,911 triangles"):
            dmr.refine(SQUARE, **{name: size}, device="cpu")
        few = dmr.refine(SQUARE, **{name: size}, max_steiner=100, device="cpu")
        assert not few.complete and dmr.validate(few.mesh, input=SQUARE).ok


@pytest.mark.parametrize("name", ["size", "max_edge"])
@pytest.mark.parametrize("least", [1e-9, 1e-200])
def test_sizes_that_need_too_many_triangles_in_half_of_the_domain_are_refused(name, least):
    """Such as metres where kilometres were meant. Before, the run ended minutes later, for lack of memory."""
    forms = {
        "function": lambda points: np.where(points[:, 0] < 0.9 * SQUARE.vertices.max(), least, 1.0),
        "smallest": sizing.smallest(dmr.SizeField.from_grid([0, 1], [0, 1], [[1, 1], [1, 2]]), least),
    }
    for size in forms.values():
        with pytest.raises(OptionError, match=f"^{name} asks for edges of at most {least:g} in half of the domain"):
            dmr.refine(SQUARE, **{name: size}, device="cpu")
    few = dmr.refine(SQUARE, **{name: forms["smallest"]}, max_steiner=100, device="cpu")
    assert not few.complete and dmr.validate(few.mesh, input=SQUARE).ok
