"""`size=`: points that the front and lattices place, and their smoothing."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr import Pslg, domains
from dmr.refinement.placement import front, smoothing
from dmr.refinement.placement.cells import Cells
from tests.support.digests import mesh_digest
from tests.support.outlines.sizes import L_SHAPE, SQUARE, edge_ratios, growing, smallest_angles


def test_the_front_crosses_gaps_around_a_round_hole(device_options):
    """Its layers become wider until no two nodes of one are neighbours: all of them, at the same time."""
    h = 0.05
    domain = domains.polygon([(0, 0), (4, 0), (4, 3), (0, 3)], holes=[domains.circle_points(4.55 * h, 40, (2, 1.5))])
    fine = dmr.refine(domain, size=h, **device_options)
    assert fine.steiner["circumcenter"] + fine.steiner["off_center"] == 0
    ratios = edge_ratios(fine.mesh, lambda points: h)
    assert (ratios < 1.35).mean() >= 0.99
    assert smallest_angles(fine.mesh).mean() >= 55


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


def test_one_team_lifts_vertices_as_single_launches_do(monkeypatch):
    expected = mesh_digest(dmr.refine(SQUARE, size=growing, device="cpu", threads=2).mesh)
    monkeypatch.setattr(smoothing, "FEW_STARS", 0)
    assert mesh_digest(dmr.refine(SQUARE, size=growing, device="cpu", threads=2).mesh) == expected


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


@pytest.mark.parametrize("width", [0.5, 0.7, 0.95, 1.05])
def test_no_points_are_placed_between_long_kept_walls_less_than_a_size_apart(width):
    """A row of points between them improves no triangle: a width of 0.7 gave 618, most of them listed as unrefined."""
    strip = domains.polygon([(0, 0), (300, 0), (300, width), (0, width)])
    refined = dmr.refine(strip, size=1.0, keep_segments="all", device="cpu", threads=1)
    assert len(refined.mesh.triangles) <= 6
