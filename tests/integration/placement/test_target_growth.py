"""`size=`: sizes around parts of an outline that are finer."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr import Pslg, domains
from tests.support.digests import mesh_digest
from tests.support.outlines.sizes import SQUARE, edge_ratios, smallest_angles


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


@pytest.mark.parametrize("gap", [0.2, 0.02, 0.002])
def test_the_front_stays_within_long_segments_beside_a_fine_hole(gap):
    """Long segments near short ones are divided as the sizes there are; a front would pass between their vertices."""
    hole = domains.circle_points(0.3, 200, (2, 0.3 + gap))
    plate = domains.polygon([(0, 0), (4, 0), (4, 2), (0, 2)], [hole])
    fine = dmr.refine(plate, size=0.3, device="cpu")
    assert dmr.validate(fine.mesh, input=plate, min_angle=30).ok
    assert sum(fine.steiner.values()) < 5000


def test_grading_holds_beside_short_segments_too():
    hole = domains.circle_points(0.3, 200, (2, 1))
    plate = domains.polygon([(0, 0), (4, 0), (4, 2), (0, 2)], [hole])
    counts = [len(dmr.refine(plate, size=0.3, grading=g, device="cpu").mesh.triangles) for g in (0.5, None, 0.08)]
    assert counts[0] * 1.2 < counts[1] and counts[1] * 1.5 < counts[2]


def test_sizes_grow_faster_from_a_much_finer_outline(device_options):
    """Around a hole of pieces of 0.63 sizes they grow by a half per unit of distance, around one of 0.31 by more."""
    counts = []
    for pieces, as_by_half in ((100, True), (200, False)):
        domain = domains.polygon([(-2, -2), (2, -2), (2, 2), (-2, 2)], holes=[domains.circle_points(1.0, pieces)])

        def size(points):
            return np.full(len(points), 0.1)

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
    assert np.hypot(*(end - start).T)[near].mean() > 0.024  # 0.0289 in Gmsh, 0.021 without points on that edge


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
    assert len(fine.mesh.triangles) == pytest.approx(in_gmsh, rel=0.15)


def holes_on_a_grid(holes_per_row, radius):
    places = (np.arange(holes_per_row) + 1) / (holes_per_row + 1)
    centers = [np.array([x, y]) for x in places for y in places]
    return [center + domains.circle_points(radius, 12) for center in centers]


def test_many_tiny_holes_need_few_triangles(device_options):
    """There were 2,068,150: edges between the holes made the sizes small in the whole domain."""
    domain = domains.polygon(SQUARE.vertices, holes=holes_on_a_grid(6, 1e-4))
    fine = dmr.refine(domain, size=0.05, **device_options)
    assert dmr.validate(fine.mesh, input=domain, min_angle=30).ok
    assert len(fine.mesh.triangles) < 25_000
    assert smallest_angles(fine.mesh).mean() >= 45  # 37 without a size
    centroids = fine.mesh.vertices[fine.mesh.triangles].mean(axis=1)
    is_far = np.hypot(*(centroids - (0.5, 1.0)).T) < 0.06  # from all holes
    assert fine.mesh.areas[is_far].mean() > 0.5 * np.sqrt(3) / 4 * 0.05**2
    assert mesh_digest(dmr.refine(domain, size=0.05, device="cpu", threads=3).mesh) == mesh_digest(fine.mesh)


def test_numbers_of_triangles_change_steadily_with_the_radius_of_many_holes():
    """There were 8,814 with a radius of 2e-3, and 303,166 with 2.1e-3, which was not small enough to be isolated."""
    radii = 1e-3 * 1.25 ** np.arange(9)
    counts = []
    for radius in radii:
        domain = domains.polygon(SQUARE.vertices, holes=holes_on_a_grid(4, radius))
        counts.append(len(dmr.refine(domain, size=0.05, device="cpu", threads=1).mesh.triangles))
    steps = np.array(counts[1:]) / np.array(counts[:-1])
    assert steps.max() < 2.2 and steps.min() > 1 / 2.2


def test_one_tiny_hole_alone_needs_few_triangles():
    """Gmsh makes 2,844 triangles; there were 4,986."""
    domain = domains.polygon(SQUARE.vertices, holes=[0.5 + domains.circle_points(1e-4, 12)])
    mesh = dmr.refine(domain, size=0.05, device="cpu", threads=1).mesh
    assert dmr.validate(mesh, input=domain, min_angle=30).ok
    assert len(mesh.triangles) < 3600


@pytest.mark.parametrize(("width", "pieces", "in_gmsh"), [(0.1, 12, 2050), (0.05, 4, 1874), (0.03, 3, 1694)])
def test_sizes_around_round_ends_of_slots_grow_as_in_gmsh(width, pieces, in_gmsh):
    """The ends are much finer than the sides: there were 1.27, 1.15 and 1.35 times Gmsh's triangles."""
    turn = np.linspace(-np.pi / 2, np.pi / 2, pieces + 1)
    cap = 0.5 * width * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    slot = np.concatenate([cap + np.array((0.8, 0.0)), -cap - np.array((0.8, 0.0))])
    plate = domains.polygon([(-1.5, -1), (1.5, -1), (1.5, 1), (-1.5, 1)], [slot])
    mesh = dmr.refine(plate, size=0.1, device="cpu", threads=1).mesh
    assert dmr.validate(mesh, input=plate, min_angle=30).ok
    assert len(mesh.triangles) == pytest.approx(in_gmsh, rel=0.1)


@pytest.mark.parametrize(
    ("slots", "plate", "size", "in_gmsh", "most"),
    [(4, (2.5, 1.8), 0.05, 9184, 1.05), (3, (2.4, 1.8), 0.04, 10564, 1.15)],
)
def test_no_fine_bands_lie_between_the_round_ends_of_slots(slots, plate, size, in_gmsh, most):
    """Their sides are long, unlike those of round holes: there were 1.12 and 1.20 times Gmsh's triangles."""
    turn = np.linspace(-np.pi / 2, np.pi / 2, 13)
    cap = 0.04 * np.stack([-np.sin(turn), np.cos(turn)], axis=1)
    slot = np.concatenate([cap + np.array((0.0, 0.3)), -cap - np.array((0.0, 0.3))])
    (x, y), apart = plate, plate[0] / (slots + 0.5)
    holes = [slot + np.array((apart * (0.75 + k), 0.5 * y)) for k in range(slots)]
    domain = domains.polygon([(0, 0), (x, 0), (x, y), (0, y)], holes)
    mesh = dmr.refine(domain, size=size, device="cpu", threads=1).mesh
    assert dmr.validate(mesh, input=domain, min_angle=30).ok
    assert 0.9 < len(mesh.triangles) / in_gmsh < most


def test_sizes_between_profiles_stay_between_those_of_their_ends():
    """Their pieces become longer from one to the next: there were 0.89 of Gmsh's triangles, as between slots."""
    x = 0.5 - 0.5 * np.cos(np.linspace(0, np.pi, 19))
    y = 0.5 * (0.2969 * np.sqrt(x) - 0.126 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)
    upper, lower = np.stack([x, y], axis=1), np.stack([x, -y], axis=1)[-2:0:-1]
    profile = 0.8 * np.concatenate([upper, lower])
    holes = [profile[::-1] + np.array((0.2, shift)) for shift in (-0.8, 0.0, 0.8)]
    domain = domains.polygon([(-0.5, -1.5), (2.5, -1.5), (2.5, 1.5), (-0.5, 1.5)], holes)
    mesh = dmr.refine(domain, size=0.07, device="cpu", threads=1).mesh
    assert dmr.validate(mesh, input=domain, min_angle=30).ok
    assert len(mesh.triangles) == pytest.approx(11192, rel=0.1)


def test_sizes_between_fine_holes_that_are_far_apart_hardly_grow():
    """There were 26,726 triangles, and 29,904 later."""
    domain = domains.polygon(SQUARE.vertices, holes=holes_on_a_grid(4, 5e-3))
    mesh = dmr.refine(domain, size=0.05, device="cpu", threads=1).mesh
    assert len(mesh.triangles) == pytest.approx(111684, rel=0.1)  # in Gmsh


def island(pieces, radius, center, waves):
    turn = np.arange(pieces) * 2 * np.pi / pieces
    away = radius * (1 + 0.15 * np.cos(waves * turn))
    return center + away[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)


def symmetric_profile(stations):
    x = 0.5 - 0.5 * np.cos(np.linspace(0, np.pi, stations))
    y = 0.75 * (0.2969 * np.sqrt(x) - 0.126 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)
    return np.concatenate([np.stack([x, y], axis=1), np.stack([x, -y], axis=1)[-2:0:-1]])


@pytest.mark.parametrize(
    ("holes", "size", "in_gmsh"),
    [
        ([island(200, 0.5, (-1.5, 0.0), 5), island(200, 0.4, (1.5, 0.6), 7)], 0.15, 39946),
        ([symmetric_profile(50) + place for place in ((-2.3, 0.0), (-0.5, 0.3), (1.5, 0.3))], 0.2, 26542),
    ],
    ids=["islands", "profiles"],
)
def test_sizes_between_fine_parts_of_a_wide_domain_are_as_in_gmsh(holes, size, in_gmsh):
    """There were 0.73 and 0.75 times Gmsh's triangles."""
    domain = domains.polygon([(-4, -4), (4, -4), (4, 4), (-4, 4)], holes)
    mesh = dmr.refine(domain, size=size, device="cpu", threads=1).mesh
    assert dmr.validate(mesh, input=domain, min_angle=30).ok
    assert len(mesh.triangles) == pytest.approx(in_gmsh, rel=0.08)


def test_functions_on_outlines_with_short_segments_give_as_many_triangles_as_in_gmsh(device_options):
    """Gmsh's edges are shorter than wanted there: there were 0.84 times its 526 triangles."""

    def size(points):
        return 1.6 * np.minimum(0.02 + 0.12 * np.hypot(points[:, 0] - 0.7, points[:, 1]), 0.12)

    ring = domains.polygon(domains.circle_points(1.0, 60), [domains.circle_points(0.4, 30)])
    mesh = dmr.refine(ring, size=size, **device_options).mesh
    assert dmr.validate(mesh, input=ring, min_angle=30).ok
    assert len(mesh.triangles) == pytest.approx(526, rel=0.1)


def test_sizes_around_a_profile_grow_as_in_gmsh():
    """Pieces at both of its ends are much finer than those between: there were 1.11 times Gmsh's triangles."""
    turn = np.linspace(0, np.pi, 22)
    x = 0.5 * (1 - np.cos(turn))
    y = 0.9 * (0.2969 * np.sqrt(x) - 0.126 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)
    profile = np.concatenate([np.stack([x, y], axis=1), np.stack([x, -y], axis=1)[-2:0:-1]])
    channel = domains.polygon([(-1, -1), (2.5, -1), (2.5, 1), (-1, 1)], [profile])
    mesh = dmr.refine(channel, size=0.07, device="cpu", threads=1).mesh
    assert dmr.validate(mesh, input=channel, min_angle=30).ok
    assert len(mesh.triangles) == pytest.approx(5686, rel=0.1)


@pytest.mark.parametrize("corners", [300, 700])
def test_a_round_outline_of_short_pieces_makes_the_whole_interior_as_fine(corners, device_options):
    """Gmsh does so, too. 50 steps of Jacobi's iteration left sizes in the interior as large as the requested one."""
    outline, piece = domains.polygon(domains.circle_points(1, corners)), 2 * np.sin(np.pi / corners)
    for h in (0.08, 0.5):
        mesh = dmr.refine(outline, size=h, **device_options).mesh
        ratios = edge_ratios(mesh, lambda points: piece)
        assert ratios.mean() == pytest.approx(1, abs=0.03) and ratios.max() <= 1.5
        assert smallest_angles(mesh).mean() >= 57  # as in a lattice


def test_sizes_beside_short_pieces_grow_as_fast_as_those_wanted():
    """Pieces of 1.5 sizes become two short ones; sizes around them would be lowered everywhere if they grew slower."""
    plate = domains.polygon([(0, 0), (3, 0), (3, 2), (0, 2)], [domains.circle_points(0.3, 60, (1, 1))])

    def size(points):
        return 0.02 + 0.7 * np.abs(np.hypot(*(points - 1).T) - 0.3)

    mesh = dmr.refine(plate, size=size, device="cpu").mesh
    assert dmr.validate(mesh, input=plate, min_angle=30).ok
    assert len(mesh.triangles) < 650  # 856 with sizes that grew by 0.5


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


def test_sizes_around_narrow_slits_grow_as_in_gmsh():
    """Gmsh makes 3,702 triangles; there were 4,675 without points on edges of 17 sizes, and 4,271 with smaller sizes at
    the ends of the slits than half of the pieces beside them."""
    slits = [[(x, 0.4), (x + 0.005, 0.4), (x + 0.005, 1.6), (x, 1.6)] for x in (0.5, 1.0, 1.5, 2.0, 2.5)]
    plate = domains.polygon([(0, 0), (3, 0), (3, 2), (0, 2)], slits)
    mesh = dmr.refine(plate, size=0.072, device="cpu").mesh
    assert len(mesh.triangles) < 1.1 * 3702


def test_sizes_grow_linearly_from_a_long_fine_shore():
    """Gmsh makes 3,048 triangles; there were 2,392 with sizes that grew as the power 0.75 of the distance."""
    island = domains.circle_points(1, 300)
    sea = domains.polygon([(-1.7, -1.7), (1.7, -1.7), (1.7, 1.7), (-1.7, 1.7)], [island])
    mesh = dmr.refine(sea, size=0.25, device="cpu", threads=1).mesh
    assert dmr.validate(mesh, input=sea, min_angle=30).ok
    assert 0.9 < len(mesh.triangles) / 3048 < 1.1


@pytest.mark.parametrize(("width", "size", "in_gmsh"), [(0.02, 0.08, 3428), (0.02, 0.15, 1044), (0.05, 0.3, 372)])
def test_sizes_between_the_ends_of_a_row_of_slits_grow(width, size, in_gmsh):
    """The short pieces at the ends gave bands of small triangles between the slits: 1.4, 2.4 and 1.7 times Gmsh's."""
    places = np.linspace(0.5, 2.5, 6)
    slits = [[(x, 0.5), (x + width, 0.5), (x + width, 1.5), (x, 1.5)] for x in places]
    plate = domains.polygon([(0, 0), (3, 0), (3, 2), (0, 2)], slits)
    refined = dmr.refine(plate, size=size, threads=1)
    assert 0.81 < len(refined.mesh.triangles) / in_gmsh < 1.2
    assert dmr.validate(refined.mesh, input=plate, min_angle=30).ok
