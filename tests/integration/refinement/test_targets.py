"""`size=`: edges of about the size, points placed by a front, and everything else as in any refinement."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from dmr import Mesh, Pslg, domains
from dmr.errors import OptionError
from dmr.memory import open_device
from dmr.refinement.placement import extension, front, smoothing
from dmr.refinement.placement.cells import Cells
from dmr.refinement.placement.chains import divide
from dmr.refinement.placement.isolated import isolated
from dmr.refinement.placement.outline import Segments
from tests.support.digests import mesh_digest

L_SHAPE = domains.polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)])
SKEW = domains.polygon([(0, 0), (2, 0.3), (1.6, 1.7), (0.3, 1.4)])
SQUARE = domains.polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
BORED = domains.polygon([(0, 0), (4, 0), (4, 2), (0, 2)], holes=[1 + domains.circle_points(0.4, 12)])


def smallest_angles(mesh):
    a, b, c = (mesh.vertices[corner] for corner in mesh.triangles.T)
    sides = np.sort([np.hypot(*(q - p).T) for p, q in ((a, b), (b, c), (c, a))], axis=0)
    return np.degrees(np.arccos((sides[1] ** 2 + sides[2] ** 2 - sides[0] ** 2) / (2 * sides[1] * sides[2])))


def edge_ratios(mesh, size):
    edges = np.unique(np.sort(mesh.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)), axis=0)
    a, b = mesh.vertices[edges[:, 0]], mesh.vertices[edges[:, 1]]
    return np.hypot(*(b - a).T) / size((a + b) / 2)


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


def test_the_front_crosses_gaps_around_a_round_hole(device_options):
    """Its layers become wider until no two nodes of one are neighbours: all of them, at the same time."""
    h = 0.05
    domain = domains.polygon([(0, 0), (4, 0), (4, 3), (0, 3)], holes=[domains.circle_points(4.55 * h, 40, (2, 1.5))])
    fine = dmr.refine(domain, size=h, **device_options)
    assert fine.steiner["circumcenter"] + fine.steiner["off_center"] == 0
    ratios = edge_ratios(fine.mesh, lambda points: h)
    assert (ratios < 1.35).mean() >= 0.99
    assert smallest_angles(fine.mesh).mean() >= 55


def growing(points):
    return 0.02 + 0.15 * np.hypot(*points.T)


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
    for values in (np.ones(4), np.ones((3, 2))):
        with pytest.raises(
            OptionError, match=r"not an array: dmr.SizeField\(mesh, values\) and .from_grid take arrays"
        ):
            dmr.refine(SQUARE, size=values)
    with pytest.raises(OptionError, match=r"SizeField, not a list$"):
        dmr.refine(SQUARE, size=[0.1])


def test_divided_segments_are_even():
    mesh = dmr.refine(domains.polygon([(0, 0), (10.1, 0), (10.1, 3), (0, 3)]), size=1.0, device="cpu").mesh
    bottom = np.sort(mesh.vertices[mesh.vertices[:, 1] == 0, 0])
    assert np.allclose(np.diff(bottom), 1.01, rtol=1e-12)


@pytest.mark.parametrize(("width", "pieces"), [(40.3, 41), (10.3, 10)])
def test_pieces_of_long_segments_are_hardly_longer_than_the_size(width, pieces):
    mesh = dmr.refine(domains.rectangle(width, 5.0), size=1.0, device="cpu").mesh
    assert (mesh.vertices[:, 1] == 0).sum() == pieces + 1


@pytest.mark.parametrize(("place", "least"), [(0.12, 0.01), (0.24, 0.0005), (0.48, 0.01), (0.5, 0.0005), (0.5, 0.002)])
def test_segments_at_acute_corners_are_divided_in_order(place, least):
    """Where sizes fall away from the corner, the power of 2 nearest to the first vertex can exceed the second one."""
    wedge = Pslg([[0, 0], [1, 0], [1, 0.3]], [[0, 1], [1, 2], [2, 0]])
    fine = dmr.refine(wedge, size=lambda points: least + 1.5 * np.abs(points[:, 0] - place), min_angle=10, device="cpu")
    report = dmr.validate(fine.mesh, input=wedge)
    assert report.ok, report.failures


@settings(max_examples=30, deadline=None)
@given(
    sizes=st.lists(st.floats(1e-4, 0.6), min_size=5, max_size=5),
    acute=st.tuples(st.booleans(), st.booleans()),
    most=st.integers(1, 4000),
)
def test_places_on_a_segment_ascend(sizes, acute, most):
    none = np.zeros(1, bool)
    segment = Segments(np.array([[0, 1]], np.int32), 1, np.ones(1, np.int32), none, np.array(acute, np.uint8), none)
    field = dmr.SizeField.from_grid(np.linspace(0, 1, 5), [-1, 1], [sizes] * 2)
    found = divide(np.array([[0.0, 0], [1, 0]]), segment, field, open_device("cpu", 1), most, even=False)
    places = np.concatenate([[0], found.parameter, [1]])
    assert (np.diff(places) > 0).all() and len(found.parameter) <= most


def test_chains_carry_the_error_of_rounding():
    """Four collinear segments of 3.4 sizes each are 13.6 sizes long: 14 pieces, not 12."""
    outline = [(3.4 * k, 0) for k in range(5)] + [(13.6, 3), (0, 3)]
    mesh = dmr.refine(domains.polygon(outline), size=1.0, device="cpu").mesh
    assert np.count_nonzero(mesh.vertices[:, 1] == 0) - 1 == 14


def test_chains_with_a_short_segment_elsewhere_carry_no_error():
    """Pieces of 3.3 sizes would be longer than the size in a chain, and shorter alone: then the interior is coarser."""
    outline = [(3.3 * k, 0) for k in range(5)] + [(13.2, 2), (0, 2)]
    mesh = dmr.refine(domains.polygon(outline), size=1.0, device="cpu").mesh
    assert np.count_nonzero(mesh.vertices[:, 1] == 0) - 1 == 16


@pytest.mark.parametrize("kept", ["boundary", "all"])
def test_kept_segments_are_not_divided(kept, device_options):
    fine = dmr.refine(SQUARE, size=0.2, keep_segments=kept, **device_options)
    assert len(fine.mesh.segments) == 4 and fine.steiner["segment"] == 0 and fine.steiner["front"] > 5
    assert dmr.validate(fine.mesh, input=SQUARE, min_angle=30, unrefined=fine.unrefined_triangles).ok


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


def test_a_finer_outline_makes_the_interior_finer_unless_sizes_depend_on_the_place(device_options):
    """One size: lengths of pieces are interpolated across the domain. A function: they matter near the outline only."""
    disc = domains.polygon(domains.circle_points(1, 128))  # pieces of 0.05
    even = dmr.refine(disc, size=0.1, **device_options).mesh
    graded = dmr.refine(disc, size=lambda points: np.full(len(points), 0.1), **device_options).mesh
    assert dmr.validate(even, input=disc, min_angle=30).ok and dmr.validate(graded, input=disc, min_angle=30).ok
    assert edge_ratios(even, lambda points: 2 * np.sin(np.pi / 128)).mean() == pytest.approx(1, abs=0.07)
    middle = np.hypot(*graded.vertices[graded.edges].mean(axis=1).T) < 0.5
    lengths = np.hypot(*(graded.vertices[graded.edges[:, 0]] - graded.vertices[graded.edges[:, 1]]).T)
    assert lengths[middle].mean() == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(("length", "pieces"), [(1.0, 1), (1.005, 1), (1.02, 2), (2.0, 2), (2.3, 3), (7, 7)])
def test_pieces_of_short_segments_are_not_longer_than_the_size(length, pieces):
    mesh = dmr.refine(domains.polygon([(0, 0), (length, 0), (length, 4), (0, 4)]), size=1.0, device="cpu").mesh
    assert np.count_nonzero(mesh.vertices[:, 1] == 0) == pieces + 1


@pytest.mark.parametrize(("height", "pieces"), [(4, 3), (2, 4)])
def test_pieces_are_about_as_long_as_the_size_where_all_segments_are_long(height, pieces):
    """The mean edge is within 3% of the size there; where a segment is short, pieces are no longer than the size."""
    mesh = dmr.refine(domains.rectangle(3.3, height), size=1.0, device="cpu").mesh
    assert np.count_nonzero(mesh.vertices[:, 1] == 0) == pieces + 1


def test_a_small_size_between_samples_is_seen():
    """Sizes are 0.1 where a long segment is evaluated first, and twelve times smaller between."""

    def size(points):
        return np.clip(0.01 + 0.2 * np.abs(points[:, 0] - 1.2), 0.012, 0.1)

    mesh = dmr.refine(domains.rectangle(4, 1.5), size=size, device="cpu").mesh
    places = np.sort(mesh.vertices[mesh.vertices[:, 1] == 1.5, 0])
    middles = np.stack([0.5 * (places[1:] + places[:-1]), np.full(len(places) - 1, 1.5)], axis=1)
    ratios = np.diff(places) / size(middles)
    assert ratios.min() > 0.8 and ratios.max() < 1.2
    assert smallest_angles(mesh).min() > 36


@pytest.mark.parametrize("gap", [0.2, 0.02, 0.002])
def test_the_front_stays_within_long_segments_beside_a_fine_hole(gap):
    """Long segments near short ones are divided as the sizes there are; a front would pass between their vertices."""
    hole = domains.circle_points(0.3, 200, (2, 0.3 + gap))
    plate = domains.polygon([(0, 0), (4, 0), (4, 2), (0, 2)], [hole])
    fine = dmr.refine(plate, size=0.3, device="cpu")
    assert dmr.validate(fine.mesh, input=plate, min_angle=30).ok
    assert sum(fine.steiner.values()) < 5000


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


def test_grading_holds_beside_short_segments_too():
    hole = domains.circle_points(0.3, 200, (2, 1))
    plate = domains.polygon([(0, 0), (4, 0), (4, 2), (0, 2)], [hole])
    counts = [len(dmr.refine(plate, size=0.3, grading=g, device="cpu").mesh.triangles) for g in (0.5, None, 0.08)]
    assert counts[0] * 1.2 < counts[1] and counts[1] * 1.5 < counts[2]


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


def test_a_jump_of_sizes_along_a_segment_is_integrated_exactly():
    """20 pieces of 0.02 and 2 of 0.3 on a side of length 1 whose sizes jump at 0.4."""
    square = domains.polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
    mesh = dmr.refine(square, size=lambda points: np.where(points[:, 0] < 0.4, 0.02, 0.3), device="cpu").mesh
    bottom = np.sort(mesh.vertices[mesh.vertices[:, 1] == 0, 0])
    assert np.count_nonzero(bottom < 0.39) == pytest.approx(20, abs=1)
    assert np.count_nonzero(bottom > 0.45) <= 6


def test_the_cells_of_the_front_get_more_slots_when_they_need_them(monkeypatch):
    """Sizes that grow fast need many blocks of cells: the rounds stop for the host, and the mesh is the same."""

    def steep(points):
        return 0.001 + 0.06 * np.hypot(*points.T)

    expected = mesh_digest(dmr.refine(SQUARE, size=steep, device="cpu", threads=1).mesh)
    tables = []

    class FewSlots(Cells):
        def __init__(self, device, low, capacity, blocks, *, counted=False):
            super().__init__(device, low, capacity, 1 if counted and not tables else blocks, counted=counted)
            tables.extend([self.slots] if counted else [])

    monkeypatch.setattr(front, "Cells", FewSlots)
    assert mesh_digest(dmr.refine(SQUARE, size=steep, device="cpu", threads=1).mesh) == expected
    assert tables[-1] > tables[0]


def test_all_arrays_of_nodes_have_the_same_capacity(monkeypatch):
    """A long outline and a lattice of few points: those that had grown before were larger than the others."""
    lollipop = domains.polygon([(0, 0), (2200, 0), (2200, -4), (2212, -4), (2212, 8), (2200, 8), (2200, 2.9), (0, 2.9)])
    capacities, reserve = [], front.Front._reserve

    def noted(self, pending):
        reserve(self, pending)
        capacities.append([array.size for array in (self._points, self._node_sizes, self._beside_gap)])

    monkeypatch.setattr(front.Front, "_reserve", noted)
    dmr.refine(lollipop, size=1.0, device="cpu")
    assert capacities and all(len(set(sizes)) == 1 for sizes in capacities)


@pytest.mark.parametrize(("layers", "fitting"), [(2.2, 2), (2.6, 3), (3.6, 4), (4.6, 5)])
def test_layers_divide_the_width_of_a_strip(layers, fitting, device_options):
    height = layers * np.sqrt(3) / 2
    strip = domains.polygon([(0, 0), (40, 0), (40, height), (0, height)])
    fine = dmr.refine(strip, size=1.0, **device_options)
    assert dmr.validate(fine.mesh, input=strip, min_angle=30).ok
    middle = fine.mesh.vertices[fine.mesh.triangles].mean(axis=1)
    count = ((middle[:, 0] > 5) & (middle[:, 0] < 35)).sum()
    assert count == pytest.approx(2 * 30 * fitting, rel=0.1)


def test_sizes_grow_faster_from_a_much_finer_outline(device_options):
    """Around a hole of pieces of 0.63 sizes they grow by a half per unit of distance, around one of 0.31 by more."""
    counts = []
    for pieces, as_by_half in ((100, True), (200, False)):
        domain = domains.polygon([(-2, -2), (2, -2), (2, 2), (-2, 2)], holes=[domains.circle_points(1.0, pieces)])
        size = lambda points: np.full(len(points), 0.1)  # noqa: E731
        fine, by_half = (dmr.refine(domain, size=size, grading=g, **device_options).mesh for g in (None, 0.5))
        assert dmr.validate(fine, input=domain, min_angle=30).ok
        assert (mesh_digest(fine) == mesh_digest(by_half)) == as_by_half
        counts.append(len(fine.triangles) / len(by_half.triangles))
    assert counts[1] < 0.95


def test_sizes_between_two_slits_are_not_those_of_their_ends(device_options):
    """An edge of the coarse triangulation joins both ends."""
    slits = [np.array([(x, -0.002), (x + 0.8, -0.002), (x + 0.8, 0.002), (x, 0.002)]) for x in (-1.4, 0.6)]
    domain = domains.polygon([(-2, -1), (2, -1), (2, 1), (-2, 1)], holes=slits)
    mesh = dmr.refine(domain, size=0.05, **device_options).mesh
    start, end = (mesh.vertices[ends] for ends in mesh.edges.T)
    near = np.hypot(*(0.5 * (start + end)).T) < 0.2
    assert np.hypot(*(end - start).T)[near].mean() > 0.03  # 0.021 without points on that edge


def test_sizes_between_pieces_are_means_of_their_neighbours():
    """By the definition: the cotangent of each angle is a weight of the edge across."""
    random = np.random.default_rng(3)
    mesh = dmr.triangulate(random.random((40, 2)), convex_hull=True)
    given, values = random.random(40) < 0.4, random.uniform(1, 2, 40)
    given[mesh.boundary.ravel()] = True  # weights at edges of the hull can be negative
    weights = np.zeros((40, 40))
    for triangle in mesh.triangles:
        for k in range(3):
            apex, one, other = np.roll(triangle, -k)
            u, v = mesh.vertices[one] - mesh.vertices[apex], mesh.vertices[other] - mesh.vertices[apex]
            weight = u @ v / abs(u[0] * v[1] - u[1] * v[0]) + 1e-6
            weights[one, other] += weight
            weights[other, one] += weight
    found = extension._harmonic(mesh.vertices, mesh.triangles, values, given, open_device("cpu", 1))
    assert np.array_equal(found[given], values[given])
    means = (weights @ found / weights.sum(axis=1))[~given]
    assert np.allclose(found[~given], means, rtol=1.01 * extension.ACCURACY, atol=0)
    assert values[given].min() <= found[~given].min() and found[~given].max() <= values[given].max()


def test_sizes_beside_a_fine_hole_are_those_of_a_logarithm():
    """Needles join its vertices to a few others: the weights of the two at an edge nearly cancel."""
    radii, counts = (1.0, 2.0, 4.0), (240, 8, 8)
    rings = [domains.circle_points(radius, count) for radius, count in zip(radii, counts, strict=True)]
    mesh = dmr.triangulate(domains.polygon(rings[2], holes=[rings[0]]))
    mesh = dmr.triangulate((np.concatenate([mesh.vertices, rings[1]]), mesh.segments))
    place = np.hypot(*mesh.vertices.T)
    values, given = np.where(place < 3.0, 1.0, 3.0), np.abs(place - 2.0) > 0.1
    found = extension._harmonic(mesh.vertices, mesh.triangles, values, given, open_device("cpu", 1))
    assert found[~given] == pytest.approx(2.0, abs=0.2)  # 1.3 with weights that are not negative in each needle


@pytest.mark.parametrize(
    ("hole", "around", "size", "in_gmsh"),
    [(domains.circle_points(0.02, 6), (2.0, 1.5), 0.085, 1968), (domains.circle_points(1.0, 200), (6, 6), 0.24, 5674)],
    ids=["tiny hole", "fine hole"],
)
def test_sizes_around_a_hole_give_as_many_triangles_as_in_gmsh(hole, around, size, in_gmsh, device_options):
    x, y = 0.5 * np.array(around)
    domain = domains.polygon([(-x, -y), (x, -y), (x, y), (-x, y)], [hole])
    fine = dmr.refine(domain, size=size, **device_options)
    assert dmr.validate(fine.mesh, input=domain, min_angle=30).ok
    assert len(fine.mesh.triangles) == pytest.approx(in_gmsh, rel=0.1)  # 0.81 and 1.48 of it before


def holes_on_a_grid(holes_per_row, radius):
    places = (np.arange(holes_per_row) + 1) / (holes_per_row + 1)
    centres = [np.array([x, y]) for x in places for y in places]
    return [centre + domains.circle_points(radius, 12) for centre in centres]


def test_many_tiny_holes_need_few_triangles(device_options):
    """There were 2,068,150: edges between the holes made the sizes small in the whole domain."""
    domain = domains.polygon(SQUARE.vertices, holes=holes_on_a_grid(6, 1e-4))
    fine = dmr.refine(domain, size=0.05, **device_options)
    assert dmr.validate(fine.mesh, input=domain, min_angle=30).ok
    assert len(fine.mesh.triangles) < 20_000
    assert smallest_angles(fine.mesh).mean() >= 48  # 37 without a size
    centroids = fine.mesh.vertices[fine.mesh.triangles].mean(axis=1)
    is_far = np.hypot(*(centroids - (0.5, 1.0)).T) < 0.06  # from all holes
    assert fine.mesh.areas[is_far].mean() == pytest.approx(np.sqrt(3) / 4 * 0.05**2, rel=0.2)
    assert mesh_digest(dmr.refine(domain, size=0.05, device="cpu", threads=3).mesh) == mesh_digest(fine.mesh)


def isolated_pieces(domain):
    mesh = dmr.triangulate(domain)
    return isolated(mesh, domain.segments, domain.vertices, domain.segments, np.arange(len(domain.segments)))


def test_isolated_parts_of_an_outline_are_far_from_others():
    wall, pin = SQUARE.vertices, domains.circle_points(0.0005, 5)
    several = domains.polygon(
        wall, holes=[pin + 0.3, pin + 0.7, pin + np.array((0.303, 0.3)), 0.5 + domains.circle_points(0.1, 8)]
    )
    assert isolated_pieces(several)[4:19].all()  # also two that are near to each other
    assert not isolated_pieces(several)[:4].any() and not isolated_pieces(several)[19:].any()
    alone = domains.polygon(wall, holes=[pin + 0.3, 0.5 + domains.circle_points(0.1, 8)])
    near = domains.polygon(wall, holes=[4 * pin + np.array((0.3, 0.08 * k + 0.1)) for k in range(10)])
    assert not isolated_pieces(alone).any() and not isolated_pieces(near).any()


def test_plates_far_from_each_other_are_not_isolated():
    plates = [SQUARE.vertices + np.array((100.0 * k, 0.0)) for k in range(3)]
    rings = np.arange(12).reshape(3, 4)
    segments = np.stack([rings, np.roll(rings, -1, axis=1)], axis=2).reshape(-1, 2)
    assert not isolated_pieces(Pslg(np.concatenate(plates), segments)).any()


@pytest.mark.parametrize("corners", [300, 700])
def test_a_round_outline_of_short_pieces_makes_the_whole_interior_as_fine(corners, device_options):
    """Gmsh does so, too. 50 steps of Jacobi's iteration left sizes in the interior as large as the requested one."""
    outline, piece = domains.polygon(domains.circle_points(1, corners)), 2 * np.sin(np.pi / corners)
    for h in (0.08, 0.5):
        mesh = dmr.refine(outline, size=h, **device_options).mesh
        ratios = edge_ratios(mesh, lambda points: piece)
        assert ratios.mean() == pytest.approx(1, abs=0.03) and ratios.max() <= 1.5
        assert smallest_angles(mesh).mean() >= 57  # as in a lattice


def test_one_team_lifts_vertices_as_single_launches_do(monkeypatch):
    expected = mesh_digest(dmr.refine(SQUARE, size=growing, device="cpu", threads=2).mesh)
    monkeypatch.setattr(smoothing, "FEW_STARS", 0)
    assert mesh_digest(dmr.refine(SQUARE, size=growing, device="cpu", threads=2).mesh) == expected


@pytest.mark.parametrize("turn", [0.0, 0.07])
def test_two_pieces_in_a_corner_are_about_as_long(turn, device_options):
    """They form a triangle that no step after the division could improve; 40 degrees otherwise (0.09 and 0.077)."""
    c, s = np.cos(turn), np.sin(turn)
    corners = np.array([(0, 0), (5, 0), (5, 0.23), (0, 0.23)]) @ [[c, s], [-s, c]]
    strip = domains.polygon(corners)
    fine = dmr.refine(strip, size=0.09, **device_options).mesh
    assert dmr.validate(fine, input=strip, min_angle=30).ok
    assert smallest_angles(fine).min() > 41.5
    ends = fine.vertices[fine.boundary]
    pieces = np.hypot(*(ends[:, 1] - ends[:, 0]).T)
    for corner in corners:
        one, other = np.sort(pieces[(ends == corner).all(axis=2).any(axis=1)])
        assert other / one < 1.12
    assert pieces.max() / 0.09 < 1.05  # the others hardly change


def test_pieces_beside_a_hole_keep_their_lengths(device_options):
    """There the corner of the domain has 270 degrees."""
    hole = [(1, 1), (1.5, 1), (1.5, 1.23), (1, 1.23)]
    plate = domains.polygon([(0, 0), (3, 0), (3, 3), (0, 3)], holes=[hole])
    mesh = dmr.refine(plate, size=0.09, **device_options).mesh
    on_side = np.sort(mesh.vertices[(mesh.vertices[:, 1] == 1) & (np.abs(mesh.vertices[:, 0] - 1.25) <= 0.25), 0])
    assert len(on_side) >= 6 and np.allclose(np.diff(on_side), np.diff(on_side)[0], rtol=1e-9)


def test_sizes_in_the_interior_only_are_met(device_options):
    """Two discs and a ring have sizes, the rest of the plate has none: no front from the outline reaches them."""
    plate = domains.rectangle(4, 2)

    def size(points):
        away = [np.hypot(*(points - center).T) for center in ((1, 1), (3, 0.8), (2.1, 1.1))]
        coarse = np.where(away[1] < 0.35, 0.06, np.where(np.abs(away[2] - 0.35) < 0.1, 0.03, np.inf))
        return np.where(away[0] < 0.4, 0.02, coarse)

    fine = dmr.refine(plate, size=size, **device_options)
    assert dmr.validate(fine.mesh, input=plate, min_angle=30).ok
    reference = dmr.refine(plate, size=size, device="cpu", threads=1)
    assert mesh_digest(fine.mesh) == mesh_digest(reference.mesh)
    centroids = fine.mesh.vertices[fine.mesh.triangles].mean(axis=1)
    for center, radius, h in (((1, 1), 0.4, 0.02), ((3, 0.8), 0.35, 0.06)):
        inside = np.hypot(*(centroids - center).T) < radius
        assert 0.85 < inside.sum() / (np.pi * radius**2 / (0.433 * h**2)) < 1.15
    in_ring = np.abs(np.hypot(*(centroids - (2.1, 1.1)).T) - 0.35) < 0.1
    assert 0.85 < in_ring.sum() / (np.pi * (0.45**2 - 0.25**2) / (0.433 * 0.03**2)) < 1.15


def test_sizes_beside_short_pieces_grow_as_fast_as_those_wanted():
    """Pieces of 1.5 sizes become two short ones; sizes around them would be lowered everywhere if they grew slower."""
    plate = domains.polygon([(0, 0), (3, 0), (3, 2), (0, 2)], [domains.circle_points(0.3, 60, (1, 1))])

    def size(points):
        return 0.02 + 0.7 * np.abs(np.hypot(*(points - 1).T) - 0.3)

    mesh = dmr.refine(plate, size=size, device="cpu").mesh
    assert dmr.validate(mesh, input=plate, min_angle=30).ok
    assert len(mesh.triangles) < 650  # 856 with sizes that grew by 0.5


@pytest.mark.parametrize("h", [0.055, 0.085, 0.1])
def test_pieces_are_alike_in_all_corners_of_a_layer(h):
    """Where an interface meets the outline, two pieces form a triangle on both of its sides."""
    corners = [(0, 0), (3, 0), (3, 1), (0, 1), (0, 1.12), (3, 1.12), (0, 2), (3, 2)]
    segments = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5), (5, 2), (4, 6), (6, 7), (7, 5)]
    layers = Pslg(corners, segments)
    mesh = dmr.refine(layers, size=h, device="cpu").mesh
    assert dmr.validate(mesh, input=layers, min_angle=30).ok
    assert smallest_angles(mesh).min() > 41.5  # 36.5, 36.2 and 31.8 if corners on one side of a layer did not follow


@pytest.mark.parametrize(("width", "layers"), [(0.8, 2), (1.0, 2), (1.15, 2), (2.0, 2), (2.5, 3), (2.8, 4), (4.55, 6)])
def test_layers_leave_no_wide_gap_between_those_of_both_walls(width, layers, device_options):
    """Triangles between walls 0.6 to 1 size apart meet halfway; 1, 3 and 5 layers would be high in the other strips."""
    strip = domains.rectangle(40, width)
    mesh = dmr.refine(strip, size=1.0, **device_options).mesh
    assert dmr.validate(mesh, input=strip, min_angle=30).ok
    middle = np.abs(mesh.vertices[mesh.triangles].mean(axis=1)[:, 0] - 20) < 10
    assert middle.sum() / 2 / 20 == pytest.approx(layers, rel=0.05)


def test_points_between_walls_that_do_not_face_each_other_are_shared():
    """The pieces of a duct's inner wall move against those of its outer one by half of their length."""
    inner = [(0.06, 0.06), (2.94, 0.06), (2.94, 1.94), (0.06, 1.94)]
    duct = domains.polygon([(0, 0), (3, 0), (3, 2), (0, 2)], holes=[inner])
    mesh = dmr.refine(duct, size=0.048, device="cpu").mesh
    assert dmr.validate(mesh, input=duct, min_angle=30).ok
    assert 790 < len(mesh.triangles) < 850  # 504 with one layer where pieces do not face each other
    assert smallest_angles(mesh).mean() > 44.5


@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_walls_less_than_a_size_apart_have_points_between_pieces_that_face_each_other(shift):
    """Triangles between displaced pieces are about equilateral."""
    strip = domains.polygon([(0, 0), (40, 0), (40 + shift, 0.8), (shift, 0.8)])
    mesh = dmr.refine(strip, size=1.0, device="cpu").mesh
    assert dmr.validate(mesh, input=strip, min_angle=30).ok
    inside = (mesh.vertices[:, 1] > 0) & (mesh.vertices[:, 1] < 0.8)
    assert (inside.sum() < 5) if shift else (inside.sum() == 40)


def test_pieces_in_narrow_domains_are_not_longer_than_the_size():
    """Pieces of both walls of this duct are whole numbers of sizes otherwise, and face each other nearly everywhere."""
    inner = [(0.9, 0.9), (11.4, 0.9), (11.4, 11.4), (0.9, 11.4)]
    duct = domains.polygon([(0, 0), (12.3, 0), (12.3, 12.3), (0, 12.3)], holes=[inner])
    mesh = dmr.refine(duct, size=1.0, device="cpu").mesh
    for low, high in ((0, 13), (0.9, 11)):
        on_wall = (mesh.vertices[:, 1] == low) & (mesh.vertices[:, 0] >= low) & (mesh.vertices[:, 0] <= 12.3 - low)
        assert on_wall.sum() == high + 1


def test_layers_of_a_ring_are_as_many_as_the_sizes_at_both_walls_ask_for():
    """Pieces at the outer wall are longer: with the size there alone, one layer is missing."""
    ring = domains.polygon(domains.circle_points(1.0, 90), holes=[domains.circle_points(0.86, 90)])
    mesh = dmr.refine(ring, size=0.076, device="cpu").mesh
    assert dmr.validate(mesh, input=ring, min_angle=30).ok
    assert len(mesh.triangles) == pytest.approx(3 * 180, rel=0.05)


def test_layers_divide_a_strip_of_five_and_a_half_sizes():
    """Six layers and a half: fronts that met in the middle left a layer out, and edges were 1.03 sizes long."""
    mesh = dmr.refine(domains.rectangle(10, 0.555), size=0.1, device="cpu").mesh
    assert edge_ratios(mesh, lambda points: 0.1).mean() < 1.02


@pytest.mark.parametrize("h", [0.03, 0.06])
def test_points_of_interest_leave_no_voids(h):
    """Points of the lattice near to a vertex without segments stay."""
    corners = [(0, 0), (2, 0), (2, 1.5), (0, 1.5)]
    points = [(0.3, 0.3), (0.5, 1.1), (0.81, 0.62), (0.95, 0.62), (1.5, 0.3), (1.8, 1.3)]
    plate = Pslg(corners + points, [(0, 1), (1, 2), (2, 3), (3, 0)])
    mesh = dmr.refine(plate, size=h, device="cpu").mesh
    assert dmr.validate(mesh, input=plate, min_angle=30).ok
    assert smallest_angles(mesh).min() > 40  # 39.3 and 38.3 before


def test_points_of_interest_have_the_size_beside_a_fine_bore():
    """The lengths of a bore's pieces are extended as far as to points that lie on no segment."""
    corners = np.array([(0, 0), (2, 0), (2, 1.5), (0, 1.5), (0.81, 0.62), (1.0, 1.3), (1.1, 0.4), (1.75, 1.2)])
    bore, count = domains.circle_points(0.2, 24, (1.4, 0.9)), len(corners)
    ring = [(count + k, count + (k + 1) % 24) for k in range(24)]
    outline = [(0, 1), (1, 2), (2, 3), (3, 0), *ring]
    plate = Pslg(np.concatenate([corners, bore]), outline, holes=[(1.4, 0.9)])
    without = domains.polygon(corners[:4], [bore])
    with_points, plain = (dmr.refine(domain, size=0.048, device="cpu").mesh for domain in (plate, without))
    assert len(with_points.triangles) < 0.98 * len(plain.triangles)


@pytest.mark.parametrize("h", [0.02, 0.01])
def test_triangles_beside_a_kept_segment_do_not_disturb_others(h):
    """Long segments that must not be split have needles beside them, which no move of a vertex improves."""
    kept = dmr.refine(L_SHAPE, size=h, keep_segments="all", device="cpu").mesh
    free = dmr.refine(L_SHAPE, size=h, device="cpu").mesh
    assert smallest_angles(kept).mean() > smallest_angles(free).mean() - 100 * h


def test_a_few_thousand_triangles_of_slowly_varying_sizes_get_a_lattice():
    """Where 300 places or more have nearly one size, a lattice is placed there."""

    def size(points):
        return 0.027 + 0.027 * points[:, 0]

    plate = domains.polygon([(0, 0), (3, 0), (3, 1), (2, 1), (2, 2), (0, 2)])
    mesh = dmr.refine(plate, size=size, device="cpu").mesh
    assert smallest_angles(mesh).mean() > 56  # 54.9 with the front alone


def test_sizes_around_narrow_slits_grow_as_in_gmsh():
    """Gmsh makes 3,702 triangles; sizes that grow more slowly from the slits' ends gave 4,150."""
    slits = [[(x, 0.4), (x + 0.005, 0.4), (x + 0.005, 1.6), (x, 1.6)] for x in (0.5, 1.0, 1.5, 2.0, 2.5)]
    plate = domains.polygon([(0, 0), (3, 0), (3, 2), (0, 2)], slits)
    mesh = dmr.refine(plate, size=0.072, device="cpu").mesh
    assert len(mesh.triangles) < 4050


@pytest.mark.parametrize(("width", "size", "in_gmsh"), [(0.02, 0.08, 3428), (0.02, 0.15, 1044), (0.05, 0.3, 372)])
def test_sizes_between_the_ends_of_a_row_of_slits_grow(width, size, in_gmsh):
    """The short pieces at the ends gave bands of small triangles between the slits: 1.4, 2.4 and 1.7 times Gmsh's."""
    places = np.linspace(0.5, 2.5, 6)
    slits = [[(x, 0.5), (x + width, 0.5), (x + width, 1.5), (x, 1.5)] for x in places]
    plate = domains.polygon([(0, 0), (3, 0), (3, 2), (0, 2)], slits)
    refined = dmr.refine(plate, size=size, threads=1)
    assert 0.9 < len(refined.mesh.triangles) / in_gmsh < 1.2
    assert dmr.validate(refined.mesh, input=plate, min_angle=30).ok


@pytest.mark.parametrize("width", [0.5, 0.7, 0.95, 1.05])
def test_no_points_are_placed_between_long_kept_walls_less_than_a_size_apart(width):
    """A row of points between them improves no triangle: a width of 0.7 gave 618, most of them listed as unrefined."""
    strip = domains.polygon([(0, 0), (300, 0), (300, width), (0, width)])
    refined = dmr.refine(strip, size=1.0, keep_segments="all", device="cpu", threads=1)
    assert len(refined.mesh.triangles) <= 6
