"""The lattice inside a domain with one size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree

import dmr
from dmr import Pslg, domains
from dmr.memory import open_device, pack, record
from dmr.refinement.placement.cells import Cells, most_blocks
from dmr.refinement.placement.coarse_front import extension
from dmr.refinement.placement.lattice import CLEARANCE, EVEN, lattice_points
from dmr.sizing.functions import EqualSizes
from tests.support.digests import mesh_digest

H = 0.05
# A slanted L with a hole, a slit, and a vertex without segments.
TURN = np.array([[0.8, 0.6], [-0.6, 0.8]])
CORNERS = np.array([(0, 0), (3, 0), (3, 1.2), (1.2, 1.2), (1.2, 3), (0, 3), (0.4, 0.4), (0.8, 0.4), (0.8, 0.8),
                    (0.4, 0.8), (1.6, 0.5), (2.5, 0.7), (0.6, 1.8)]) @ TURN  # fmt: skip
RING = [(k, (k + 1) % 6) for k in range(6)]
HOLE = [(6, 9), (9, 8), (8, 7), (7, 6)]
SLIT, VERTEX = (10, 11), 12


def placed(device, most=10**6):
    pieces = np.array([*RING, *HOLE, SLIT], np.int32)
    boundary = np.array([*RING, *HOLE], np.int32)
    sizes = EqualSizes(H).on(device)
    found = lattice_points(CORNERS, pieces, boundary, H, sizes, device, most)
    assert (found.sizes.download() == H).all() and found.least <= H <= found.most
    return found.places.download().view(np.float64).reshape(-1, 2)[: found.count]


def test_points_keep_their_distances_and_fill_the_domain(device):
    points = placed(device)
    inside = np.linalg.inv(TURN.T) @ points.T
    x, y = inside
    assert ((x > 0) & (y > 0) & (x < 3) & (y < 3) & ((x < 1.2) | (y < 1.2))).all()
    assert not ((np.abs(x - 0.6) < 0.2) & (np.abs(y - 0.6) < 0.2)).any()  # in the hole
    ends = [*RING, *HOLE, SLIT]
    walls = np.concatenate([np.linspace(CORNERS[a], CORNERS[b], 2000) for a, b in ends])
    gaps = cKDTree(walls).query(points)[0]
    assert gaps.min() >= CLEARANCE * H * (1 - 1e-6)  # places are off by a millionth of the spacing
    assert gaps.min() <= (CLEARANCE + 0.2) * H
    assert 0.65 * H <= np.hypot(*(points - CORNERS[VERTEX]).T).min() <= 2 * H
    second = cKDTree(points).query(points, 2)[0][:, 1]
    assert np.allclose(second, second[0], rtol=3e-6) and abs(second[0] - H) <= EVEN * H
    grid = np.stack(np.meshgrid(np.linspace(0, 3, 150), np.linspace(0, 3, 150)), axis=2).reshape(-1, 2)
    wide = ((grid < 3) & (grid > 0)).all(axis=1) & ((grid < 1.2).any(axis=1)) & ~(np.abs(grid - 0.6) < 0.2).all(axis=1)
    places = grid[wide] @ TURN
    free = places[cKDTree(walls).query(places)[0] > (CLEARANCE + 1) * H]
    assert len(free) > 500 and (cKDTree(points).query(free)[0] <= H).all()


def test_there_is_none_beyond_a_limit(device):
    assert len(placed(device)) > 500
    assert len(placed(device, most=500)) == 0


@pytest.mark.parametrize("waves", [0, 3, 7])
def test_sides_are_points_without_six_neighbours(waves, device):
    """Found again by distances. The lattice has several parts, and rows with several spans."""
    pieces, boundary = np.array([*RING, *HOLE, SLIT], np.int32), np.array([*RING, *HOLE], np.int32)
    x, y = np.meshgrid(np.linspace(-3, 4, 60), np.linspace(-3, 4, 60))
    sizes = H * (1 + 0.25 * np.sin(waves * x) * np.cos(waves * y))
    field = dmr.SizeField.from_grid(x[0], y[:, 0], sizes).on(device)
    found = lattice_points(CORNERS, pieces, boundary, 1.3 * H, field, device, 10**6)
    points = found.places.download().view(np.float64).reshape(-1, 2)[: found.count]
    near = cKDTree(points).query_ball_point(points, 1.3 * H, return_length=True) - 1
    expected = near < 6
    assert 100 < expected.sum() < len(points) - 100
    assert (found.sides.download() == expected).all()


def smallest_angles(mesh):
    a, b, c = (mesh.vertices[corner] for corner in mesh.triangles.T)
    sides = np.sort([np.hypot(*(q - p).T) for p, q in ((a, b), (b, c), (c, a))], axis=0)
    return np.degrees(np.arccos((sides[1] ** 2 + sides[2] ** 2 - sides[0] ** 2) / (2 * sides[1] * sides[2])))


@pytest.mark.parametrize("corners", [40, 200])
def test_round_domains_have_nearly_equilateral_triangles(corners, device_options):
    """Layers of a front from a circle would become narrower and lose points: 52 degrees."""
    disc = domains.polygon(domains.circle_points(1, corners))
    fine = dmr.refine(disc, size=H, **device_options)
    assert dmr.validate(fine.mesh, input=disc, min_angle=30).ok
    assert smallest_angles(fine.mesh).mean() >= 57
    assert mesh_digest(fine.mesh) == mesh_digest(dmr.refine(disc, size=H, device="cpu", threads=1).mesh)


def test_an_outline_of_a_lattice_gets_this_lattice(device_options):
    """Gmsh meshes a hexagon with equilateral triangles only; a parallelogram of 60 degrees gets them, too."""
    hexagon = domains.polygon(domains.circle_points(1, 6))
    slanted = domains.polygon([(0, 0), (1, 0), (1.5, 0.5 * np.sqrt(3)), (0.5, 0.5 * np.sqrt(3))])
    for outline, size, count in ((hexagon, H, 2400), (hexagon, 0.0502, 2400), (slanted, H, 800)):
        fine = dmr.refine(outline, size=size, **device_options)
        assert dmr.validate(fine.mesh, input=outline, min_angle=59.99).ok
        assert len(fine.mesh.triangles) == count
    square = dmr.refine(domains.rectangle(1, 1), size=H, **device_options).mesh
    assert smallest_angles(square).min() < 58


def test_kept_segments_slits_and_vertices_are_respected(device_options):
    ends = [*RING, *HOLE, SLIT]
    domain = Pslg(CORNERS, ends, holes=[np.array([0.6, 0.6]) @ TURN])
    for kept in ("none", "all"):
        fine = dmr.refine(domain, size=H, keep_segments=kept, **device_options)
        assert dmr.validate(fine.mesh, input=domain, min_angle=30, unrefined=fine.unrefined_triangles).ok
    fine = dmr.refine(domain, size=H, max_steiner=400, **device_options)
    assert sum(fine.steiner.values()) == 400 and dmr.validate(fine.mesh, input=domain).ok


@given(
    st.integers(0, 2**32 - 1),
    st.floats(0.01, 3.0),
    st.tuples(st.floats(0.01, 2.0), st.floats(0.01, 2.0)),
    st.floats(-10.0, 10.0),
)
def test_points_of_one_size_lie_in_at_most_as_many_blocks_as_their_rectangle_has(seed, size, extent, corner):
    device = open_device("cpu", 1)
    low, high = (corner, -corner), (corner + extent[0], extent[1] - corner)
    points = np.random.default_rng(seed).uniform(low, high, (500, 2))
    points[:4] = [(x, y) for x in (low[0], high[0]) for y in (low[1], high[1])]
    cells = Cells(device, low, len(points), len(points), counted=True)
    given, sizes = device.array(points, record("Point")), device.array(np.full(len(points), size))
    nothing = device.empty(0, np.int32)
    nodes = pack(
        "Nodes", points=given, sizes=sizes, beside_gap=nothing, outline=0, first_piece=nothing, across=nothing,
        low_x=low[0], low_y=low[1], high_x=high[0], high_y=high[1],
    )  # fmt: skip
    device.launch("add_nodes", len(points), nodes, cells.view)
    occupied = cells.blocks
    side = 2.0 ** (np.floor(np.log2(size)) + 4)  # cells of two to four sizes, four in a row
    assert occupied == len(np.unique(np.floor((points - low) / side), axis=0))
    assert occupied <= most_blocks(low, high, size)


def cam(corners):
    """A disc with a nose, of short pieces, around a shaft."""
    turn = np.linspace(0, 2 * np.pi, corners, endpoint=False)
    away = 1 + 0.35 * np.maximum(np.cos(turn), 0) ** 3
    outline = np.stack([away * np.cos(turn), away * np.sin(turn)], axis=1)
    return domains.polygon(outline, holes=[domains.circle_points(0.3, corners // 4, (0.1, 0))])


@pytest.mark.parametrize(("corners", "mean"), [(90, 55), (180, 57)])
def test_where_sizes_vary_a_little_there_is_a_lattice(corners, mean, device_options, monkeypatch):
    """53.9 and 54.7 degrees if only places with the largest size got a lattice: layers from round walls lose points."""
    monkeypatch.setattr(extension, "FEW", 0)
    domain = cam(corners)
    fine = dmr.refine(domain, size=0.2, **device_options)
    assert dmr.validate(fine.mesh, input=domain, min_angle=30).ok
    assert smallest_angles(fine.mesh).mean() >= mean
    assert mesh_digest(fine.mesh) == mesh_digest(dmr.refine(domain, size=0.2, device="cpu", threads=1).mesh)


@pytest.mark.parametrize(
    "grown", [lambda x, y: 1 + 0.2 * y**2, lambda x, y: 1 - 0.13 * np.exp(-((x - 1) ** 2 + (y - 0.5) ** 2) / 0.3)]
)
def test_a_lattice_has_the_number_of_triangles_that_sizes_nearby_want(grown, device_options):
    """1.044 and 1.009 times as many as the sizes want, if the lattice had the most frequent size."""
    domain = domains.rectangle(2, 1)
    mesh = dmr.refine(domain, size=lambda points: 0.03 * grown(*points.T), **device_options).mesh
    x, y = np.meshgrid((np.arange(200) + 0.5) / 100, (np.arange(100) + 0.5) / 100)
    wanted = 2 * np.mean((0.03 * grown(x, y)) ** -2.0) * 4 / np.sqrt(3)
    assert len(mesh.triangles) / wanted == pytest.approx(1.025, abs=0.01)


def test_the_front_continues_behind_a_lattice(device_options):
    """Sizes grow from the fine outline: a ring of the lattice lies between it and the larger ones."""
    disc = domains.polygon(domains.circle_points(1, 400))
    mesh = dmr.refine(disc, size=0.1, grading=0.03, **device_options).mesh
    start, end = (mesh.vertices[ends] for ends in mesh.edges.T)
    wanted = np.minimum(2 * np.sin(np.pi / 400) + 0.03 * (1 - np.hypot(*(0.5 * (start + end)).T)), 0.1)
    ratios = np.hypot(*(end - start).T) / wanted
    assert ((ratios > 0.7) & (ratios < 1.35)).mean() > 0.99  # 0.89 without
    assert smallest_angles(mesh).min() > 40  # 30


def test_sizes_by_place_get_a_lattice_where_they_are_nearly_equal(device_options):
    """54 degrees by the front alone: layers of the wave-like walls become narrower and lose points."""
    x = np.linspace(0, 4, 80)
    low, high = (np.stack([x, shift + 0.3 * np.sin(3 * x)], axis=1) for shift in (0, 0.5))
    channel = domains.polygon(np.concatenate([low, high[::-1]]))

    def size(points):
        return 0.015 + 0.02 * (1 + np.sin(4 * points[:, 0]))

    fine = dmr.refine(channel, size=size, **device_options)
    assert dmr.validate(fine.mesh, input=channel, min_angle=30).ok
    start, end = (fine.mesh.vertices[ends] for ends in fine.mesh.edges.T)
    ratios = np.hypot(*(end - start).T) / size(0.5 * (start + end))
    assert 0.93 < ratios.mean() < 1.03 and ((ratios > 0.7) & (ratios < 1.35)).mean() >= 0.97  # Gmsh: 0.948
    assert smallest_angles(fine.mesh).mean() > 55
    assert mesh_digest(fine.mesh) == mesh_digest(dmr.refine(channel, size=size, device="cpu", threads=1).mesh)
