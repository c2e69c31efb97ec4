"""Mesh statistics against plain formulas, one triangle at a time."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from dmr.mesh.edges import unique_edges
from dmr.mesh.shapes import enclosed_area, min_angles, triangle_areas
from dmr.mesh.statistics import measure, summarise, united
from dmr.mesh.types import Mesh
from tests.support.meshes import grid


def plain(corners):
    """Angles (degrees), signed area and edge lengths of a triangle: the law of cosines and the shoelace formula."""
    (ax, ay), (bx, by), (cx, cy) = corners
    a, b, c = math.dist((bx, by), (cx, cy)), math.dist((cx, cy), (ax, ay)), math.dist((ax, ay), (bx, by))
    angles = [
        math.degrees(math.acos(max(-1.0, min(1.0, (q * q + r * r - p * p) / (2 * q * r)))))
        for p, q, r in ((a, b, c), (b, c, a), (c, a, b))
    ]
    area = (ax * by - bx * ay + bx * cy - cx * by + cx * ay - ax * cy) / 2
    return angles, area, (a, b, c)


@pytest.fixture
def fan():
    """Random vertices in triangles that share nothing: every edge is on the boundary."""
    vertices = np.random.default_rng(7).random((600, 2))
    triangles = np.arange(600, dtype=np.int32).reshape(-1, 3)
    areas = triangle_areas(Mesh(vertices, triangles))
    triangles[areas < 0] = triangles[areas < 0][:, ::-1]
    return Mesh(vertices, triangles)


def test_each_triangle_matches_the_law_of_cosines(fan):
    expected = [plain(fan.vertices[t]) for t in fan.triangles]
    np.testing.assert_allclose(min_angles(fan), [min(angles) for angles, _, _ in expected], rtol=1e-6)
    np.testing.assert_allclose(triangle_areas(fan), [area for _, area, _ in expected], rtol=1e-10, atol=1e-14)


def test_statistics_match_numpy(fan):
    expected = [plain(fan.vertices[t]) for t in fan.triangles]
    smallest = np.array([min(angles) for angles, _, _ in expected])
    largest = np.array([max(angles) for angles, _, _ in expected])
    areas = np.array([area for _, area, _ in expected])
    lengths = np.array([length for _, _, edges in expected for length in edges])
    radius_edge = np.array([e[0] * e[1] * e[2] / (4 * area) / min(e) for _, area, e in expected])
    aspect = np.array([max(e) / (2 * area / max(e)) for _, area, e in expected])
    quality = measure(fan, bound=20)
    for found, values in (
        (quality.min_angle, smallest),
        (quality.max_angle, largest),
        (quality.areas, areas),
        (quality.edge_lengths, lengths),
        (quality.radius_edge, radius_edge),
        (quality.aspect, aspect),
    ):
        assert found.minimum == pytest.approx(values.min(), rel=1e-6)
        assert found.maximum == pytest.approx(values.max(), rel=1e-6)
        assert found.mean == pytest.approx(values.mean(), rel=1e-6)
        assert list(found.percentiles.values()) == pytest.approx(
            np.percentile(values, list(found.percentiles)).tolist(), rel=1e-6
        )
    assert quality.below == np.count_nonzero(smallest < 20)
    assert list(quality.histogram) == np.histogram(smallest, bins=60, range=(0, 60))[0].tolist()
    assert quality.area == pytest.approx(areas.sum())
    assert quality.bounds == (*fan.vertices.min(axis=0), *fan.vertices.max(axis=0))


def test_known_triangles():
    h = math.sqrt(3) / 2
    equilateral = measure(Mesh([[0, 0], [1, 0], [0.5, h]], [[0, 1, 2]]), bound=59.9)
    assert equilateral.min_angle.minimum == pytest.approx(60)
    assert equilateral.max_angle.maximum == pytest.approx(60)
    assert equilateral.radius_edge.mean == pytest.approx(1 / math.sqrt(3))
    assert equilateral.aspect.mean == pytest.approx(2 / math.sqrt(3))
    assert equilateral.below == 0
    assert equilateral.histogram[59] == 1
    right = measure(Mesh([[0, 0], [4, 0], [0, 3]], [[0, 1, 2]]))
    assert right.max_angle.maximum == 90
    assert right.min_angle.minimum == pytest.approx(math.degrees(math.atan2(3, 4)))
    assert (right.edge_lengths.minimum, right.edge_lengths.maximum, right.area) == (3, 5, 6)
    assert right.below is None


def test_every_edge_counts_once():
    mesh = grid(np.arange(8.0), np.arange(5.0))
    edges, sides = unique_edges(mesh)
    listed = {}
    for triangle in mesh.triangles.tolist():
        for k in range(3):
            edge = tuple(sorted((triangle[k], triangle[k - 1])))
            listed[edge] = listed.get(edge, 0) + 1
    assert dict(zip(map(tuple, edges.tolist()), sides.tolist(), strict=True)) == listed
    quality = measure(mesh)
    assert quality.boundary_edges == 2 * (7 + 4)
    assert quality.edges == len(listed)
    assert quality.edge_lengths.mean == pytest.approx(np.mean([math.dist(*mesh.vertices[list(e)]) for e in listed]))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_angles_do_not_depend_on_position_or_scale(fan, scale):
    base = np.round(fan.vertices * 2**20) / 2**20
    reference = min_angles(Mesh(base, fan.triangles))
    moved = min_angles(Mesh((base + 2.0**20) * scale, fan.triangles))
    np.testing.assert_allclose(moved, reference, atol=2e-4)


def test_summary_agrees_with_measure_over_many_blocks():
    mesh = grid(np.arange(201.0))
    rng = np.random.default_rng(1)
    mesh = Mesh(mesh.vertices + 0.3 * rng.random(mesh.vertices.shape), mesh.triangles)
    quality, summary = measure(mesh, bound=30), summarise(mesh, bound=30, max_area=0.6)
    assert summary.triangles == 80_000
    assert (summary.min_angle, summary.max_angle) == (quality.min_angle.minimum, quality.max_angle.maximum)
    assert summary.mean_min_angle == pytest.approx(quality.min_angle.mean)
    assert (summary.below, summary.max_area) == (quality.below, quality.areas.maximum)
    assert summary.too_large == np.count_nonzero(triangle_areas(mesh) > 0.6)


def test_summaries_of_parts_are_united():
    mesh, nothing = grid(np.array([0.0, 1.0, 3.0, 3.5, 7.0])), np.empty((0, 3), np.int32)
    bounds = {"bound": 30, "max_area": 1.0}
    parts = [Mesh(mesh.vertices, part) for part in (mesh.triangles[:5], nothing, mesh.triangles[5:])]
    whole, found = summarise(mesh, **bounds), united([summarise(part, **bounds) for part in parts], len(mesh.vertices))
    assert found.mean_min_angle == pytest.approx(whole.mean_min_angle)
    assert replace(found, mean_min_angle=0) == replace(whole, mean_min_angle=0) and whole.below and whole.too_large
    assert united([summarise(parts[1], **bounds)], 4).triangles == 0


def test_json_is_plain_and_finite_even_for_flat_triangles():
    mesh = Mesh([[0, 0], [1, 0], [2, 0], [1, 1]], [[0, 1, 2], [0, 2, 3], [0, 0, 0]])
    quality = measure(mesh, bound=30)
    assert quality.min_angle.minimum == 0
    assert quality.radius_edge.maximum == math.inf or math.isnan(quality.radius_edge.maximum)
    text = json.dumps(quality.to_json(), allow_nan=False)
    assert json.loads(text)["aspect"]["maximum"] is None
    assert json.loads(text)["min_angle"]["percentiles"]["50"] is not None


def test_statistics_of_a_mesh_without_triangles():
    quality = measure(Mesh(np.empty((0, 2)), np.empty((0, 3), np.int32)), bound=30)
    assert quality.below == 0
    assert math.isnan(quality.min_angle.mean)
    assert sum(quality.histogram) == 0
    assert json.dumps(quality.to_json(), allow_nan=False)
    assert math.isnan(summarise(Mesh([[0, 0]], np.empty((0, 3), np.int32)), bound=30).min_angle)


@pytest.mark.filterwarnings("error")
def test_huge_and_tiny_coordinates_raise_no_warnings():
    for scale in (1e-200, 1e200):
        quality = measure(Mesh(np.array([[0, 0], [1, 0], [0, 1]]) * scale, [[0, 1, 2]]), bound=30)
        assert json.dumps(quality.to_json(), allow_nan=False)


@pytest.mark.parametrize("seed", range(3))
def test_area_of_an_outline_with_a_hole_in_any_order(seed):
    square = np.array([(0, 0), (8, 0), (8, 6), (0, 6)])
    points = np.add([*square, *(square // 2 + (1, 2))], (1000.0, -500.0))
    outside, hole = ([(first + k, first + (k + 1) % 4) for k in range(4)] for first in (0, 4))
    segments = np.array([*outside, *((end, start) for start, end in hole)])
    assert enclosed_area(points, np.random.default_rng(seed).permutation(segments)) == 8 * 6 - 4 * 3
