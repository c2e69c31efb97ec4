"""Tiles with bounds that depend on the position: fields, functions, areas of triangles; and limits on points."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import dmr
from dmr.distributed.tiles.bounds import OF_BUDGET, Bounds, limited
from dmr.errors import OptionError
from dmr.refinement.options import RefineOptions
from dmr.sizing import SizeField, from_distance, sampled
from tests.support import command_line
from tests.support.meshes import plate_outline

MESH = dmr.delaunay([[0, 0], [2, 0], [2, 1], [0, 1], [0.9, 0.4]]).mesh


def length(points: np.ndarray) -> np.ndarray:
    return 0.015 + 0.05 * points[:, 0]


GRID = SizeField.from_grid([-1, 3], [-1, 2], [[0.005, 0.075]] * 2)
AREAS = np.resize([0.002, 0.01, np.inf, 0.0001], len(MESH.triangles))
BOUNDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # the options, and the bounds that must hold
    "field": ({"max_edge": GRID}, {"max_edge": GRID}),
    "segments": ({"max_edge": from_distance(MESH, 0.02, 0.2, 1.0)}, {"max_edge": from_distance(MESH, 0.02, 0.2, 1.0)}),
    "function": ({"max_edge": length}, {"max_edge": sampled(length, MESH)}),
    "area function": ({"area": lambda points: length(points) ** 2 / 2}, {"area": lambda p: 1.03 * length(p) ** 2 / 2}),
    "areas": ({"area": AREAS}, {}),  # which become bounds of the mesh's triangles, and are checked as such
    "area": ({"area": 0.001, "max_area": 0.01}, {"area": 0.001}),
    "size": (
        {"size": lambda points: 0.7 * length(points), "grading": 0.05},
        {"max_edge": lambda points: 1.45 * length(points)},  # edges are split from 2 sizes on
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", BOUNDS)
def test_bounds_hold(kind, tmp_path):
    options, bounds = BOUNDS[kind]
    parts = dmr.distributed.refine(MESH, tmp_path / "out", tile_triangles=2000, device="cpu", threads=1, **options)
    assert len(parts) > 2
    whole = parts.gather()
    report = dmr.validate(whole, input=MESH, min_angle=30, **bounds)
    assert report.ok, report.lines()
    alone = dmr.refine(MESH, device="cpu", threads=1, **options).mesh
    assert 0.75 < len(whole.triangles) / len(alone.triangles) < 1.25


def test_one_tile_gives_the_bits_of_a_plain_run(tmp_path):
    options: dict[str, Any] = {"max_edge": GRID, "size": length, "grading": 0.1}
    parts = dmr.distributed.refine(MESH, tmp_path / "out", tile_triangles=10**6, device="cpu", threads=1, **options)
    expected = dmr.refine(MESH, device="cpu", threads=1, **options).mesh
    np.testing.assert_array_equal(parts.gather().vertices, expected.vertices)
    np.testing.assert_array_equal(parts.gather().triangles, expected.triangles)


def scaled_length(points, *, factor):
    return factor * length(points)


def test_samples_enter_the_digest(tmp_path):
    jobs = []
    for number, factor in enumerate((1.0, 1.0, 1.1)):
        size = partial(scaled_length, factor=factor)
        parts = dmr.distributed.refine(MESH, tmp_path / str(number), tile_triangles=10**5, device="cpu", size=size)
        jobs.append(parts.manifest["job"])
    assert jobs[0] == jobs[1] != jobs[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grading": 0.1}, "grading bounds the growth of sizes: also give size"),
        ({"size": -1.0}, "size must be a finite number above 0"),
        ({"max_edge": lambda points: -points[:, 0]}, "must be above 0 everywhere"),
        ({"area": [1.0]}, r"area must have shape"),
    ],
)
def test_refused(options, message, tmp_path):
    with pytest.raises(OptionError, match=message):
        dmr.distributed.refine(MESH, tmp_path / "out", tile_triangles=500, device="cpu", **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_sizes_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    dmr.write("plate.poly", plate_outline())
    words = ["--size-from-distance", "0.03", "0.2", "1", "--max-edge", "0.25", "--tiles", "2500", "--device", "cpu"]
    code, _, err = command_line.dmr(capsys, "refine", "plate.poly", "-o", "out", *words)
    assert code == 0, err
    sizes = from_distance(plate_outline(), 0.03, 0.2, 1.0)
    whole = dmr.distributed.Parts("out").gather()
    assert dmr.validate(
        whole, input=plate_outline(), min_angle=30, max_edge=lambda p: np.fmin(2.01 * sizes(p), 0.25)
    ).ok


# ---- Angles that cannot be reached: tiles end early, with a valid union --------------------------------------------


@pytest.fixture(scope="module")
def points() -> dmr.Mesh:
    return dmr.triangulate(np.random.default_rng(0).random((50, 2)))


def test_tiles_end_early_if_the_angles_cannot_be_reached(points, tmp_path):
    found = []
    for threads in (1, 2):
        options = {"min_angle": 50, "max_area": 0.05, "device": "cpu", "threads": threads}
        parts = dmr.distributed.refine(points, tmp_path / str(threads), tile_triangles=220, **options)
        assert not parts.manifest["complete"]
        assert parts.manifest["unrefined"]["budget"] > 500
        found.append(parts.gather())
    assert len(found[0].triangles) < 20_000  # each tile alone would grow to two million
    assert dmr.validate(found[0], input=points).ok
    np.testing.assert_array_equal(found[0].triangles, found[1].triangles)
    np.testing.assert_array_equal(found[0].vertices, found[1].vertices)


def test_large_angles_that_can_be_reached_are(points, tmp_path):
    options = {"min_angle": 35, "max_area": 0.002, "device": "cpu", "threads": 1}
    parts = dmr.distributed.refine(points, tmp_path / "parts", tile_triangles=220, **options)
    assert parts.manifest["complete"]
    assert dmr.validate(parts.gather(), input=points, min_angle=35).ok


@pytest.mark.parametrize(("angle", "conforming"), [(33.0, False), (30.0, True)])
def test_no_limit_up_to_the_angles_that_were_always_reached(points, angle, conforming):
    none = np.zeros(len(points.triangles), np.uint8)
    below = Bounds(options=RefineOptions(min_angle=angle, conforming=conforming))
    assert limited(points, below, none).max_steiner is None
    above = Bounds(options=RefineOptions(min_angle=angle + 0.5, conforming=conforming))
    assert 1000 < limited(points, above, none).max_steiner < 10_000


def test_a_tile_beside_one_at_its_limit_inserts_nothing(points):
    reasons = np.zeros(len(points.triangles), np.uint8)
    reasons[5] = OF_BUDGET
    assert limited(points, Bounds(options=RefineOptions(min_angle=40)), reasons).max_steiner == 0
