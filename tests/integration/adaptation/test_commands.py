"""`dmr adapt` and `dmr optimize`, and the sizes from features that `refine` and `adapt` take."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dmr
from dmr import domains, sizing
from dmr.cli.shared import report
from dmr.validation.report import Report
from tests.support.command_line import dmr as command
from tests.support.command_line import fails
from tests.support.digests import mesh_digest

CHANNEL = domains.with_names(
    domains.polygon([(0, 0), (4, 0), (4, 2), (0, 2)], [domains.circle_points(0.3, 48, (1, 1))], markers=[1, 2]),
    markers={1: "walls", 2: "bore"},
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dmr.write("channel.npz", CHANNEL)
    coarse = dmr.refine(CHANNEL, size=0.25, device="cpu").mesh
    sizes = 0.05 + 0.2 * np.abs(coarse.vertices[:, :1] - 1)
    dmr.write("mesh.npz", dmr.Mesh(**{**vars_of(coarse), "vertex_attributes": sizes}))
    return tmp_path


def vars_of(mesh):
    return {name: getattr(mesh, name) for name in ("vertices", "triangles", "segments", "segment_markers", "names")}


def test_adapt_gives_the_mesh_of_the_library(capsys):
    code, _, messages = command(
        capsys, "adapt", "mesh.npz", "--size", "mesh.npz", "-o", "next.npz", "--validate", "--grading", "0.5"
    )
    assert code == 0
    assert "proved in exact arithmetic: " in messages and "before" in messages and "wrote next.npz" in messages
    mesh = dmr.read("mesh.npz")
    field = dmr.SizeField(dmr.Mesh(mesh.vertices, mesh.triangles), mesh.vertex_attributes[:, 0])
    expected = dmr.adapt(mesh, field, grading=0.5).mesh
    assert mesh_digest(dmr.read("next.npz")) == mesh_digest(expected)


def test_adapt_makes_straight_sides_coarser_if_asked(capsys):
    counts = []
    for extra in ([], ["--merge-collinear"]):
        _, out, _ = command(capsys, "adapt", "mesh.npz", "--size", "0.8", "--json", "-o", "next.npz", "-f", *extra)
        found = json.loads(out)
        assert found["files"]["output"] == ["next.npz"] and found["complete"]
        walls = dmr.read("next.npz").segment_markers == 1
        counts.append(np.count_nonzero(walls))
    assert counts[1] < 0.9 * counts[0]
    assert dmr.validate(dmr.read("next.npz"), input=CHANNEL, min_angle=30).ok


def test_adapt_recommends_to_merge_sides_that_stay_finer_than_the_sizes(capsys):
    recommended = "inside straight sides, between segments shorter than half of the size there; --merge-collinear"
    for size, extra, expected in (("0.8", [], True), ("0.8", ["--merge-collinear"], False), ("0.25", [], False)):
        _, _, messages = command(capsys, "adapt", "mesh.npz", "--size", size, "-o", "next.npz", "-f", *extra)
        assert (recommended in messages) == expected, (size, extra)


def test_optimize_gives_the_mesh_of_the_library(capsys):
    code, out, messages = command(
        capsys, "optimize", "mesh.npz", "-o", "better.npz", "--rounds", "2", "--validate", "--json"
    )
    found = json.loads(out)
    assert code == 0
    expected = dmr.optimize(dmr.read("mesh.npz"), rounds=2)
    assert found["smoothing"] == expected.smoothing.to_json()
    assert mesh_digest(dmr.read("better.npz")) == mesh_digest(expected.mesh)
    assert "moves of vertices" in messages and "proved in exact arithmetic: triangles, orientation" in messages


@pytest.mark.parametrize("arguments", [("adapt", "--size", "0.5"), ("optimize",), ("refine", "-a", "0.1")])
def test_a_result_that_is_invalid_ends_with_5(arguments, capsys, monkeypatch):
    monkeypatch.setattr(Report, "ok", property(lambda _: False))
    name, *rest = arguments
    code, _, messages = command(capsys, name, "mesh.npz", *rest, "-o", "out.npz", "--validate")
    assert code == 5 and "please report it" in messages


@pytest.mark.parametrize(
    ("flags", "size", "grading"),
    [
        (["--size-from-curvature", "24"], lambda: sizing.from_curvature(CHANNEL, 24), None),
        (
            ["--size-from-curvature", "24", "--size", "0.4", "--grading", "0.5"],
            lambda: sizing.smallest(0.4, sizing.from_curvature(CHANNEL, 24, grading=0.5)),
            0.5,
        ),
        (
            ["--size-from-distance", "0.05", "0.5", "1", "--along", "bore"],
            lambda: sizing.from_distance(CHANNEL, 0.05, 0.5, 1, along="bore"),
            None,
        ),
        (["--size-from-lengths", "2", "--along", "2"], lambda: sizing.from_lengths(CHANNEL, 2, along=2), None),
    ],
    ids=["curvature", "smallest", "distance", "lengths"],
)
def test_sizes_from_features_are_those_of_the_library(flags, size, grading, capsys):
    assert command(capsys, "refine", "channel.npz", *flags, "-o", "fine.npz", "--validate")[0] == 0
    expected = dmr.refine(CHANNEL, size=size(), grading=grading).mesh
    assert mesh_digest(dmr.read("fine.npz")) == mesh_digest(expected)


@pytest.mark.parametrize(
    ("code", "arguments", "text"),
    [
        (
            2,
            ("adapt", "mesh.npz", "-o", "x.npz"),
            "adapt needs sizes: give --size, --max-edge, --max-area, --size-from-distance",
        ),
        (1, ("adapt", "channel.npz", "--size", "1", "-o", "x.npz"), "is an outline without triangles; adapt needs"),
        (1, ("optimize", "channel.npz", "-o", "x.npz"), "is an outline without triangles; optimize needs"),
        (2, ("refine", "channel.npz", "--along", "bore"), "--along chooses the segments of --size-from-distance"),
        (
            2,
            ("refine", "channel.npz", "--size-from-curvature", "1"),
            "--size-from-curvature must be finite and at least",
        ),
        (
            2,
            ("refine", "channel.npz", "--size-from-lengths", "1", "--along", "sea"),
            "no boundary named 'sea'",
        ),
        (2, ("refine", "channel.npz", "--grading", "0.2"), "--grading bounds the growth of sizes: also give --size"),
        (
            2,
            ("adapt", "mesh.npz", "--size", "1", "--grading", "-1"),
            "--grading must be finite and at least 0, not -1",
        ),
    ],
)
def test_what_is_missing_or_wrong_is_named(code, arguments, text, capsys):
    assert text in fails(capsys, code, *arguments)


def test_bounds_are_not_proved_where_a_limit_ended_the_run(capsys):
    code, _, messages = command(
        capsys, "refine", "channel.npz", "-a", "0.001", "--max-steiner", "9", "-o", "x.npz", "--validate"
    )
    assert code == 3 and "proved in exact arithmetic" in messages
    result = dmr.refine(CHANNEL, max_area=0.001, max_steiner=9)
    assert report.bounds_of(result, min_angle=30) == {}
