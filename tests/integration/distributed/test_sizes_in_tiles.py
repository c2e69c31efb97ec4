"""Tiles that place points by size: counts and lengths of edges as on one device, and what the union is."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from dmr.distributed.jobs.task import Resources
from dmr.distributed.tiles.bounds import Bounds
from dmr.distributed.tiles.cutting import cut
from dmr.distributed.tiles.placement import patches
from dmr.distributed.tiles.placement.circles import Circles
from dmr.distributed.tiles.placement.coarse import place_coarsely
from dmr.distributed.tiles.placement.lattices import Lattice, lacks_neighbours
from dmr.memory import open_device
from dmr.refinement.options import RefineOptions
from dmr.sizing.functions import size_source
from tests.support.digests import mesh_digest
from tests.support.distributed.tiled import tiled

SQUARE = dmr.domains.rectangle(1, 1)
HOLE = dmr.Pslg(
    [(0, 0), (4, 0), (4, 2), (2, 2), (2, 4), (0, 4), (0.5, 0.5), (1.5, 0.5), (1.5, 1.5), (0.5, 1.5), (3, 1)],
    [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (6, 7), (7, 8), (8, 9), (9, 6)],
    regions=[(1, 1, 2.0, -1.0), (3, 0.5, 1.0, 0.01)],
    segment_markers=range(2, 12),
    vertex_markers=np.arange(11) + 20,
    vertex_attributes=[[2 * x + 3 * y] for x, y in [(0, 0), (4, 0), (4, 2), (2, 2), (2, 4), (0, 4)]]
    + [[2 * x + 3 * y] for x, y in [(0.5, 0.5), (1.5, 0.5), (1.5, 1.5), (0.5, 1.5), (3, 1)]],
)


def growing(points: np.ndarray) -> np.ndarray:
    return 0.015 + 0.03 * points[:, 0]


def lengths_in_sizes(mesh: dmr.Mesh, size: Any) -> np.ndarray:
    """The length of each edge over the size at its midpoint."""
    start, end = mesh.vertices[mesh.edges].transpose(1, 0, 2)
    wanted = size((start + end) / 2) if callable(size) else size
    return np.hypot(*(end - start).T) / wanted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("domain", "size", "tile", "options"),
    [
        (SQUARE, 0.02, 1500, {}),
        (dmr.domains.rectangle(2, 1), growing, 1500, {"grading": 0.3}),
        (HOLE, 0.08, 1200, {}),
        (SQUARE, 0.06, 400, {"conforming": True, "max_area": 0.001}),
        (dmr.generate("random", 100, seed=2), 0.03, 900, {}),
    ],
    ids=["number", "function", "hole and regions", "bounds", "given points"],
)
def test_points_are_placed_as_on_one_device(domain, size, tile, options, tmp_path):
    done, union = tiled(domain, tile, tmp_path, size=size, **options)
    plain = dmr.refine(domain, size=size, device="cpu", threads=1, **options).mesh
    assert done.passes[0][0] >= 3
    report = dmr.validate(union, input=domain, min_angle=30, max_area=options.get("max_area"))
    assert report.ok, report.lines()
    assert 0.95 < len(union.triangles) / len(plain.triangles) < 1.05
    found, expected = (lengths_in_sizes(mesh, size) for mesh in (union, plain))
    shares = [5, 25, 50, 75, 95]
    np.testing.assert_allclose(np.percentile(found, shares), np.percentile(expected, shares), atol=0.07)
    assert found.max() < 1.15 * max(expected.max(), 1.5)


def ring(radius: float, center: tuple[float, float]) -> np.ndarray:
    """200 points on a circle."""
    turns = 2 * np.pi * np.arange(200) / 200
    return np.array(center) + radius * np.stack([np.cos(turns), np.sin(turns)], axis=1)


@pytest.mark.slow
def test_fine_parts_of_the_outline_get_no_more_points_than_on_one_device(tmp_path):
    # In small tiles fronts place points again that are there, because their sizes differ much from those around them.
    around = np.stack([np.arange(200), (np.arange(200) + 1) % 200], axis=1)
    domain = dmr.Pslg(
        np.concatenate([SQUARE.vertices, ring(0.01, (0.5, 0.5)), ring(0.003, (0.3, 0.7))]),
        np.concatenate([SQUARE.segments, 4 + around, 204 + around]),
    )

    def size(points: np.ndarray) -> np.ndarray:
        return 0.2 + 0.1 * points[:, 0]

    done, union = tiled(domain, 400, tmp_path, size=size)
    plain = dmr.refine(domain, size=size, device="cpu", threads=1).mesh
    assert done.passes[0][0] >= 3
    report = dmr.validate(union, input=domain, min_angle=30)
    assert report.ok, report.lines()
    assert len(union.triangles) < 1.1 * len(plain.triangles)


def test_pieces_in_sharp_corners_are_not_cut_as_channels():
    # Between two long sides of an arm, pieces as long as the size are 600 times as long as the arm is wide.
    turns = np.pi * np.arange(48) / 24
    corners = np.where(np.arange(48) % 2, 1.0, 0.002)[:, None] * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    star = dmr.triangulate(dmr.Pslg(corners, np.stack([np.arange(48), (np.arange(48) + 1) % 48], axis=1)))
    bounds = Bounds.checked(RefineOptions(), {"size": size_source(0.06, "size")}, lambda: star)
    device = open_device("cpu", 1)
    patch, edges, whole, *_ = place_coarsely(star, bounds, device, predicted=300, tile_triangles=100, most=2**22)
    predicted = cut(patch, edges, bounds, 100, 0, 1, whole=whole).predicted.sum()
    triangles = len(dmr.refine(star, size=0.06, device="cpu", threads=1).mesh.triangles)
    assert triangles / 4 < predicted < 4 * triangles  # and not 50 times as many


def test_points_of_a_front_on_vertices_and_segments_are_left_out(tmp_path, monkeypatch):
    class OnOutline(patches.Front):
        def run(self, *args):
            nodes, pieces = self._given.points, self._given.pieces
            return np.concatenate([super().run(*args), nodes, nodes[pieces].mean(axis=1)])

    monkeypatch.setattr(patches, "Front", OnOutline)
    done, union = tiled(SQUARE, 60, tmp_path, size=lambda points: 0.1 + 0.05 * points[:, 0])
    assert done.passes[0][0] >= 3
    report = dmr.validate(union, input=SQUARE, min_angle=30)
    assert report.ok, report.lines()


@pytest.mark.slow
def test_regions_markers_and_attributes_stay_with_placed_points(tmp_path):
    _, union = tiled(HOLE, 1200, tmp_path, size=0.08)
    regions = union.triangle_attributes[:, 0]
    assert union.areas[regions == 2].sum() == pytest.approx(1.0)
    assert union.areas[regions == 1].sum() == pytest.approx(11.0)
    assert union.areas[union.area_bounds > 0].max() <= 0.01
    np.testing.assert_allclose(union.vertex_attributes, union.vertices @ [[2.0], [3.0]], atol=1e-12)
    np.testing.assert_array_equal(union.vertex_markers[:11], HOLE.vertex_markers)
    np.testing.assert_array_equal(union.vertices[:11], HOLE.vertices)


@pytest.mark.slow
def test_bits_do_not_depend_on_threads(tmp_path):
    digests = {
        mesh_digest(tiled(SQUARE, 400, tmp_path / str(threads), Resources("cpu", threads), size=0.05)[1])
        for threads in (1, 3)
    }
    assert len(digests) == 1


@pytest.mark.gpu
def test_a_gpu_places_the_points_of_the_cpu(gpu, tmp_path):
    def refined(device: str) -> str:
        domain = dmr.domains.rectangle(2, 1)
        return mesh_digest(tiled(domain, 1500, tmp_path / device, Resources(device, None), size=growing)[1])

    assert refined("cuda") == refined("cpu")


def test_lattice_points_in_triangles_and_on_their_boundary():
    frame = np.array([0.1, 0.2, 0.8, 0.6, 0.07, 0.07])  # rows in the direction (4, 3) / 5
    lattice = Lattice(frame)
    square = np.array([[[0, 0], [1, 0], [1, 1]], [[0, 0], [1, 1], [0, 1]]], float)
    row, column, of = lattice.places_in(square)
    found = lattice.points(row, column)
    k, j = (each.ravel() for each in np.mgrid[-40:40, -40:40])
    everywhere = lattice.points(k, j)
    inside = ((everywhere >= 0) & (everywhere <= 1)).all(axis=1)
    assert set(zip(row.tolist(), column.tolist(), strict=True)) == set(
        zip(k[inside].tolist(), j[inside].tolist(), strict=True)
    )
    assert len(found) == inside.sum() and ((found[:, 0] >= found[:, 1]) == (of == 0)).all()
    apart = np.hypot(*(found[:, None] - found[None]).transpose(2, 0, 1))
    neighbours = (np.abs(apart - 0.07) < 1e-9).sum(axis=1)
    assert apart[apart > 1e-9].min() > 0.07 - 1e-9
    np.testing.assert_array_equal(lacks_neighbours(row, column), neighbours < 6)


def test_a_missing_scipy_is_named_before_points_are_placed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.spatial", None)
    with pytest.raises(dmr.DmrError, match=r"size with tiles needs scipy, .* pip install scipy"):
        tiled(SQUARE, 1500, tmp_path / "placed", size=0.03)
    assert tiled(SQUARE, 1500, tmp_path / "bounded", max_edge=0.05)[
        0
    ].complete  # no points are placed: it is not needed


def incircle(triangle: np.ndarray, point: np.ndarray) -> Fraction:
    """Above 0 if a point is strictly inside the circle of a counter-clockwise triangle: exact."""
    x, y = (Fraction(float(value)) for value in point)
    (ax, ay), (bx, by), (cx, cy) = ((Fraction(float(p)) - x, Fraction(float(q)) - y) for p, q in triangle)
    a, b, c = ax * ax + ay * ay, bx * bx + by * by, cx * cx + cy * cy
    return a * (bx * cy - by * cx) - b * (ax * cy - ay * cx) + c * (ax * by - ay * bx)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_circles_hold_what_is_inside_and_nothing_clearly_outside(data):
    """Also of slivers, of cocircular points, and of points that are an ulp beside them."""
    place = st.tuples(st.integers(0, 9), st.integers(0, 9))
    flat = np.array([1.0, data.draw(st.sampled_from([1.0, 1e-6]))])
    triangles = flat * np.array(data.draw(st.lists(st.tuples(place, place, place), min_size=1, max_size=4)), float)
    u, v = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    triangles = triangles[u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0] > 0]
    points = flat * np.array(data.draw(st.lists(place, min_size=1, max_size=12, unique=True)), float)
    points = np.concatenate([points, np.nextafter(points, 100)])
    for point, held in zip(points, Circles(triangles).hold(points), strict=True):
        deepest = max((incircle(triangle, point) for triangle in triangles), default=Fraction(-1))
        assert held or deepest <= 0
        assert not held or deepest > -1e-9
