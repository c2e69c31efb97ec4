"""Seeded meshes: the same bits on every machine, and the properties of each kind."""

from __future__ import annotations

import hashlib
from collections import Counter

import numpy as np
import pytest

from dmr.domains.generation import KINDS, OUTLINES, THESIS_INPUTS, _distinct, describe, generate
from dmr.errors import OptionError
from dmr.mesh.shapes import triangle_areas
from dmr.mesh.statistics import measure

pytest.importorskip("triangle")

# sha256 of the coordinates of generate(kind, 500, seed=3), shortened. They hold on every machine.
DIGESTS = {
    "random": "c6ea18cb08cb3437",
    "graded": "048d45859008db63",
    "clustered": "35f8e638fdaf19da",
    "circle": "88eff1ceb295c9bf",
    "wheel": "f186b47ec941c16c",
    "grid": "4bf372be09485ddf",
    "annulus": "ae1104539444a06e",
    "plate": "41fbd2245367f2a1",
}


@pytest.mark.parametrize("kind", KINDS)
def test_coordinates_have_the_same_bits_on_every_machine(kind):
    mesh = generate(kind, 500, seed=3)
    little_endian = mesh.vertices.astype("<f8")
    assert hashlib.sha256(little_endian.tobytes()).hexdigest()[:16] == DIGESTS[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_and_seed_give_one_mesh(kind):
    mesh, again, other = generate(kind, 300, 1), generate(kind, 300, 1), generate(kind, 300, 2)
    assert np.array_equal(mesh.vertices, again.vertices)
    assert np.array_equal(mesh.triangles, again.triangles)
    assert kind == "grid" or not np.array_equal(mesh.vertices, other.vertices)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [24, 100, 3000])
def test_every_vertex_is_used_by_a_triangle(kind, n):
    mesh = generate(kind, n, 5)
    assert (triangle_areas(mesh) > 0).all()
    assert len(np.unique(mesh.vertices, axis=0)) == len(mesh.vertices)
    assert np.array_equal(np.unique(mesh.triangles), np.arange(len(mesh.vertices)))
    assert not np.signbit(mesh.vertices[mesh.vertices == 0]).any()
    holes = {"annulus": 1, "plate": 5}.get(kind, 0)
    quality = measure(mesh)
    assert quality.vertices - quality.edges + quality.triangles == 1 - holes
    if kind not in OUTLINES and kind != "grid":
        assert len(mesh.vertices) == n
    elif n == 3000:
        assert abs(len(mesh.vertices) - n) < 0.1 * n


def test_boundaries_are_segments_without_small_corners():
    for kind in OUTLINES:
        mesh = generate(kind, 2000, 0)
        assert len(mesh.segments) == measure(mesh).boundary_edges
        around = Counter(mesh.segments.ravel().tolist())
        assert set(around.values()) == {2}
        ends = {v: [] for v in around}
        for u, v in mesh.segments.tolist():
            ends[u].append(v)
            ends[v].append(u)
        for corner, (a, b) in ends.items():
            u, v = mesh.vertices[a] - mesh.vertices[corner], mesh.vertices[b] - mesh.vertices[corner]
            cosine = u @ v / np.sqrt((u @ u) * (v @ v))
            assert cosine < 1e-9, f"{kind}: a corner under 90 degrees at vertex {corner}"


def test_circles_are_round_and_clusters_are_not_even():
    circle = generate("circle", 1000, 0)
    assert np.abs((circle.vertices**2).sum(axis=1) - 1).max() < 1e-15
    assert len(circle.triangles) == 998
    wheel = generate("wheel", 1000, 0)
    assert measure(wheel, bound=30).below == len(wheel.triangles) == 999
    graded, clustered, even = (measure(generate(kind, 5000, 0)).areas for kind in ("graded", "clustered", "random"))
    for uneven in (graded, clustered):
        assert uneven.percentiles[95] / uneven.percentiles[5] > 2 * even.percentiles[95] / even.percentiles[5]


def test_a_grid_has_at_most_the_requested_points():
    for n in (4, 5, 9, 12, 100, 1000):
        mesh = generate("grid", n)
        assert n - np.sqrt(n) <= len(mesh.vertices) <= n
        assert set(np.unique(triangle_areas(mesh))) == {0.5}


@pytest.mark.parametrize(
    ("kind", "n", "message"),
    [
        ("square", 10, "kind must be one of random"),
        ("random", 3, "at least 4 points"),
        ("random", None, "needs a number of points"),
        ("plate", 5, "at least 24 points"),
        ("random", 10**12, "at most"),
        ("thesis-0.5m", 10, "always has 275000 points"),
    ],
)
def test_invalid_kinds_and_counts_are_refused(kind, n, message):
    with pytest.raises(OptionError, match=message):
        generate(kind, n)


def test_a_negative_seed_is_refused():
    with pytest.raises(OptionError, match="seed"):
        generate("random", 10, -1)


def test_every_kind_is_described():
    for kind in (*KINDS, *THESIS_INPUTS):
        assert describe(kind).endswith(".")


@pytest.mark.slow
def test_the_smallest_thesis_input_equals_the_recorded_one():
    mesh = generate("thesis-0.5m")
    assert len(mesh.triangles) == 549_960
    assert np.array_equal(mesh.vertices[:3], np.random.default_rng(12345).random((3, 2)))
    assert measure(mesh, bound=30).below / len(mesh.triangles) == pytest.approx(0.476, abs=0.001)


def test_the_first_of_equal_points_is_kept():
    rng = np.random.default_rng(4)
    for points in (
        rng.integers(-3, 4, (200, 2)) * rng.choice([-1.0, 1.0], (200, 2)),  # abscissas repeat; signed zeros
        rng.random((200, 2)),
        rng.random((200, 2))[rng.integers(0, 120, 300)],
        np.column_stack((rng.integers(0, 2, 50), rng.random(50))),  # equal abscissas, no equal points
    ):
        expected = list(dict.fromkeys(map(tuple, (points + 0.0).tolist())))
        found = _distinct(points)
        assert found.tolist() == [list(point) for point in expected]
        assert not np.signbit(found[found == 0]).any()
