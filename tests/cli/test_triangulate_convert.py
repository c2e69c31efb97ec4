"""`dmr triangulate` and `dmr convert`."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dmr as library
from dmr import domains, io
from tests.support.command_line import dmr, fails, names, written
from tests.support.planar import area_of

DOTS = "5 2 0 0\n1 0 0\n2 4 0\n3 4 4\n4 0 4\n5 1 2\n"
PLATE = domains.polygon([(0, 0), (4, 0), (4, 4), (0, 4)], [[(1, 1), (2, 1), (2, 2)]], markers=[7, 9])
MESH = library.triangulate(domains.with_regions(PLATE, [[3, 3, 5, 0]]))


def same(first, second):
    for name in ("vertices", "triangles", "segments", "segment_markers", "triangle_attributes"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name


@pytest.fixture
def plate(folder):
    io.write("plate.poly", PLATE)
    return folder


def test_points_are_triangulated_without_a_warning(folder, capsys):
    written(folder / "dots.node", DOTS)
    code, out, err = dmr(capsys, "triangulate", "dots.node", "--edges")
    assert (code, out) == (0, "")
    assert err == "dmr: 5 vertices, 4 triangles, 0 segments\ndmr: wrote dots.1.node, dots.1.edge, dots.1.ele\n"
    assert (folder / "dots.1.ele").read_text().splitlines()[1].startswith("1 ")  # numbered as the input
    assert area_of(io.read("dots.1.ele")) == 16


def test_an_outline_is_triangulated_as_by_the_library(plate, capsys):
    code, out, _ = dmr(capsys, "triangulate", "plate.poly", "-o", "plate.npz", "--json", "--quiet")
    found = json.loads(out)
    assert code == 0 and found["files"] == {"input": "plate.poly", "output": ["plate.npz"]}
    mesh = io.read("plate.npz")
    same(mesh, library.triangulate(PLATE))
    assert {name: len(getattr(mesh, name)) for name in ("vertices", "triangles", "segments")}.items() <= found.items()
    assert set(found["seconds"]) == {"read", "triangulate", "write"}
    assert dmr(capsys, "triangulate", "plate.poly", "--convex-hull", "-o", "plate.npz", "-f")[0] == 0
    assert dmr(capsys, "validate", "plate.npz", "--input", "plate.poly", "--convex-hull")[0] == 0


def test_faults_of_the_outline_are_located_in_its_file(folder, capsys):
    written(folder / "gap.poly", "3 2 0 0\n1 0 0\n2 1 0\n3 1 1\n2 0\n1 1 2\n2 2 3\n0\n")
    assert "the outline is not closed: segments end at vertex 1" in fails(capsys, 1, "triangulate", "gap.poly")
    written(folder / "cross.poly", "4 2 0 0\n1 0 0\n2 2 2\n3 2 0\n4 0 2\n2 0\n1 1 2\n2 3 4\n0\n")
    said = fails(capsys, 1, "triangulate", "cross.poly", "--on-conflict", "error", "--convex-hull")
    assert said.startswith("cross.poly:") and names(folder) == ["cross.poly", "gap.poly"]


def test_a_mesh_is_not_triangulated_again(folder, capsys):
    io.write("a.ele", MESH)
    assert "is a triangulation already: dmr refine refines it" in fails(capsys, 1, "triangulate", "a.ele", "--quiet")


@pytest.mark.parametrize("suffix", [".npz", ".vtu", ".msh", ".ele", ".vtk"])
def test_a_mesh_goes_through_a_format_and_back(folder, capsys, suffix):
    io.write("a.npz", MESH)
    assert dmr(capsys, "convert", "a.npz", f"b{suffix}")[0] == 0
    assert dmr(capsys, "convert", f"b{suffix}", "c.npz")[0] == 0
    same(io.read("c.npz"), MESH)


def test_an_outline_goes_through_a_format_and_back(plate, capsys):
    assert dmr(capsys, "convert", "plate.poly", "plate.npz") == (0, "", "dmr: wrote plate.npz\n")
    assert dmr(capsys, "convert", "plate.npz", "again.poly")[0] == 0
    assert (plate / "again.poly").read_bytes() == (plate / "plate.poly").read_bytes()
    ring = [[0, 0], [1, 0], [1, 1], [0, 0]]
    feature = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]}, "properties": {"road": 5}}
    written(plate / "land.geojson", json.dumps(feature))
    assert dmr(capsys, "convert", "land.geojson", "land.poly", "--marker", "road")[0] == 0
    assert io.read("land.poly").segment_markers.tolist() == [5, 5, 5]


def test_what_a_format_loses_is_said(folder, capsys):
    io.write("a.npz", MESH)
    _, _, err = dmr(capsys, "convert", "a.npz", "a.stl")
    assert "a.stl: .stl files do not keep 7 segments" in err or "do not keep" in err
    assert dmr(capsys, "convert", "a.npz", "a.inp", "--order", "2")[0] == 0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            "plate.poly out.vtu",
            "plate.poly is an outline without triangles, which .poly and .npz files hold: dmr triang",
        ),
        ("a.npz out.poly", "a .poly file cannot hold a mesh: write out.ele"),
        ("a.npz out.edge", "a .edge file cannot hold a mesh"),
        ("a.npz a.npz", "a.npz exists; -f overwrites it"),
        ("a.npz out.xyz", "unknown suffix .xyz"),
        ("a.npz out.vtkhdf", ".vtkhdf files are made of meshes in parts: dmr convert MESH FOLDER --parts N, then"),
        ("a.npz out.stl --order 2", "second order cannot be written as .stl"),
        ("a.npz -", "a mesh is written to files"),
        ("a.npz out.vtu --marker road", "only files with features"),
        ("a.npz", "the following arguments are required: OUT"),
    ],
)
def test_conversions_that_cannot_be_are_refused_and_write_nothing(plate, capsys, words, text):
    io.write("a.npz", MESH)
    assert text in fails(capsys, 2, "convert", *words.split())
    assert names(plate) == ["a.npz", "plate.poly"]
