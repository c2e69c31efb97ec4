"""`dmr refine` and `dmr generate` with outlines: results, messages, and errors with file and line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dmr import Mesh, Pslg, domains, io, validate
from dmr.mesh.shapes import triangle_areas
from tests.support.command_line import dmr, fails, names

SQUARE = "4 2 0 0\n1 0 0\n2 1 0\n3 1 1\n4 0 1\n"
SIDES = "1 1 2\n2 2 3\n3 3 4\n4 4 1\n"


def test_an_outline_becomes_a_mesh(folder, capsys):
    (folder / "domain.poly").write_text(f"{SQUARE}4 0\n{SIDES}0\n1\n1 0.5 0.5 7 0.005\n")
    code, out, err = dmr(capsys, "refine", "domain.poly", "-a", "0.01")
    assert (code, out) == (0, "")
    assert names(folder) == ["domain.1.area", "domain.1.ele", "domain.1.node", "domain.1.poly", "domain.poly"]
    assert "before" not in err
    mesh = io.read("domain.1.ele")
    assert set(mesh.triangle_attributes[:, 0]) == {7}
    assert triangle_areas(mesh).max() <= 0.005
    assert (folder / "domain.1.node").read_text().splitlines()[1].startswith("1 "), "numbered as the outline is"
    assert dmr(capsys, "validate", "domain.1.ele", "--input", "domain.poly", "-q", "30", "-a", "0.01")[0] == 0
    assert dmr(capsys, "refine", "domain.1.ele", "-q", "32")[0] == 0, "and its result can be refined again"


@pytest.mark.parametrize(
    ("rest", "line", "words"),
    [
        (f"4 0\n{SIDES}1\n1 3 3\n", 12, "outside of the domain"),
        (f"4 0\n{SIDES}1\n1 0.5 0\n", 12, "lies on a segment"),
        (f"4 0\n{SIDES}0\n2\n1 0.5 0.5 1\n2 0.6 0.6 2\n", 14, "same part of the domain as region 1"),
        ("3 0\n1 1 2\n2 2 3\n3 3 4\n0\n", None, "not closed"),
    ],
    ids=["hole outside", "hole on a segment", "two regions", "gap"],
)
def test_outlines_that_bound_no_domain_are_refused_with_file_and_line(rest, line, words, folder, capsys):
    (folder / "domain.poly").write_text(SQUARE + rest)
    sentence = fails(capsys, 1, "refine", "domain.poly")
    assert sentence.startswith("domain.poly:" if line is None else f"domain.poly:{line}: ")
    assert words in sentence
    assert names(folder) == ["domain.poly"], "nothing was written"


def test_convex_hull_meshes_an_open_outline(folder, capsys):
    (folder / "domain.poly").write_text(f"{SQUARE}3 0\n1 1 2\n2 2 3\n3 3 4\n0\n")
    assert dmr(capsys, "refine", "domain.poly", "--convex-hull")[0] == 0
    assert triangle_areas(io.read("domain.1.ele")).sum() == 1


def test_convex_hull_meshes_points(folder, capsys):
    (folder / "dots.node").write_text("5 2 0 0\n1 0 0\n2 1 0\n3 1 1\n4 0 1\n5 0.5 0.01\n")
    sentence = fails(capsys, 1, "refine", "dots.node")
    assert sentence.startswith("dots.node: there is no dots.ele beside it, which would hold its triangles; ")
    assert "dmr refine --convex-hull" in sentence
    assert dmr(capsys, "refine", "dots.node", "--convex-hull")[0] == 0
    assert names(folder) == ["dots.1.ele", "dots.1.node", "dots.node"]
    assert triangle_areas(io.read("dots.1.ele")).sum() == pytest.approx(1, rel=1e-15)
    assert (folder / "dots.1.node").read_text().splitlines()[1].startswith("1 "), "numbered as the points are"
    assert dmr(capsys, "validate", "dots.1.ele", "--input", "dots.node", "--convex-hull", "-q", "30")[0] == 0
    assert "outlines" in fails(capsys, 2, "refine", "dots.1.node", "--convex-hull"), "beside an .ele it is that mesh"


@pytest.mark.parametrize("options", [["--convex-hull"], ["--mesher", "triangle"]])
def test_options_for_outlines_are_refused_for_a_mesh(options, folder, capsys):
    io.write("mesh.ele", Mesh([(0, 0), (1, 0), (0, 1)], [(0, 1, 2)]))
    sentence = fails(capsys, 2, "refine", "mesh.ele", *options)
    assert sentence.startswith(f"{options[0]} is for outlines: a mesh ")
    assert names(folder) == ["mesh.ele", "mesh.node"]


def test_conflicts_are_counted_or_refused(folder, capsys):
    (folder / "bowtie.poly").write_text("4 2 0 0\n1 0 0\n2 1 1\n3 1 0\n4 0 1\n4 0\n" + SIDES + "0\n")
    sentence = fails(capsys, 1, "refine", "bowtie.poly", "--on-conflict", "error")
    assert sentence.startswith("bowtie.poly:7: segment 1: crosses segment 3")
    code, _, err = dmr(capsys, "refine", "bowtie.poly")
    assert code == 0
    assert "warning: 1 crossing of segments" in err


def test_size_from_a_file_and_kept_segments(folder, capsys):
    outline = domains.polygon([(0, 0), (4, 0), (4, 4), (0, 4)])
    io.write("domain.poly", outline)
    corners = [(0, 0), (4, 0), (4, 4), (0, 4)]
    io.write("sizes.ele", Mesh(corners, [[0, 1, 2], [0, 2, 3]], vertex_attributes=[[0.2], [0.6], [1], [0.6]]))
    code, out, _ = dmr(capsys, "refine", "domain.poly", "--max-edge", "sizes.ele", "--json")
    assert code == 0
    told = json.loads(out)
    mesh = io.read("domain.1.ele")
    assert told["triangles"] == len(mesh.triangles) > 200
    assert told["seconds"]["triangulate"] >= 0
    assert validate(mesh, input=outline, min_angle=30, max_edge=lambda p: 0.2 + 0.1 * p.sum(axis=1)).ok
    assert dmr(capsys, "refine", "domain.poly", "-a", "0.5", "--no-boundary-steiner")[0] == 0
    assert len(io.read("domain.1.ele").segments) == 4
    assert "sizes must be above 0" in fails(capsys, 1, "refine", "domain.poly", "--max-edge", bad_sizes())


def bad_sizes() -> str:
    io.write("bad.ele", Mesh([(0, 0), (4, 0), (4, 4)], [[0, 1, 2]], vertex_attributes=[[0.2], [0], [1]]))
    return "bad.ele"


def test_triangle_as_mesher(folder, capsys):
    pytest.importorskip("triangle")
    io.write("domain.poly", domains.polygon([(0, 0), (4, 0), (4, 4), (0, 4)], holes=[[(1, 1), (2, 1), (2, 2)]]))
    code, _, err = dmr(capsys, "refine", "domain.poly", "--mesher", "triangle")
    assert code == 0
    assert "non-commercial" in err
    assert dmr(capsys, "validate", "domain.1.ele", "--input", "domain.poly", "-q", "30")[0] == 0
    assert dmr(capsys, "generate", "random", "50", "-o", "points.ele", "--mesher", "triangle")[0] == 0
    ours, theirs = io.read("points.ele"), None
    assert dmr(capsys, "generate", "random", "50", "-o", "own.ele")[0] == 0
    theirs = io.read("own.ele")
    assert {frozenset(t) for t in ours.triangles.tolist()} == {frozenset(t) for t in theirs.triangles.tolist()}


def test_outlines_from_npz_and_geojson(folder, capsys):
    io.write("domain.npz", Pslg(np.array([(0, 0), (1, 0), (0, 1)]), [[0, 1], [1, 2], [2, 0]]))
    assert dmr(capsys, "refine", "domain.npz", "-o", "out.vtu")[0] == 0
    ring = [[0, 0], [3, 0], [3, 2], [0, 2], [0, 0]]
    (folder / "lot.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    assert dmr(capsys, "refine", "lot.geojson", "-a", "0.1")[0] == 0
    assert triangle_areas(io.read("lot.1.ele")).sum() == pytest.approx(6)


def test_size_is_a_number_unless_a_file_has_that_name(folder, capsys):
    io.write("domain.poly", domains.polygon([(0, 0), (4, 0), (4, 4), (0, 4)]))
    assert dmr(capsys, "refine", "domain.poly", "--max-edge", "0.3", "-o", "one.npz")[0] == 0
    assert dmr(capsys, "validate", "one.npz", "--max-edge", "0.3")[0] == 0
    assert dmr(capsys, "validate", "one.npz", "--max-edge", "0.2")[0] == 5
    sides = longest_edges(io.read("one.npz"))
    assert sides.max() <= 0.3
    assert "is a folder" in fails(capsys, 1, "refine", "domain.poly", "--max-edge", ".")
    assert "--max-edge must be a finite number above 0, not -1" in fails(
        capsys, 2, "refine", "domain.poly", "--max-edge", "-1"
    )
    assert "does not exist" in fails(capsys, 1, "refine", "domain.poly", "--max-edge", "0.3.ele")
    (folder / "0.3").write_text("")
    assert "unknown suffix .3" in fails(capsys, 1, "refine", "domain.poly", "--max-edge", "0.3")


def longest_edges(mesh):
    corners = mesh.vertices[mesh.triangles]
    return np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
