"""Indices in messages: from 0 in the library, those of the file on the command line."""

from __future__ import annotations

import json

import pytest

import dmr as package
from dmr import Mesh, Pslg, io
from dmr.common.text import counted
from dmr.errors import InvalidMeshError
from dmr.mesh.naming import counting, counting_from, named, number
from tests.support.command_line import dmr, fails

# Vertex 5 lies on side 1-2, and vertex 6 repeats vertex 3.
TWO = "6 2 0 0\n1 0 0\n2 4 0\n3 4 4\n4 0 4\n5 2 0\n6 4 4\n4 0\n1 1 2\n2 2 3\n3 3 4\n4 4 1\n0\n"
# The same, numbered in no particular order.
MIXED = "6 2 0 0\n10 0 0\n20 4 0\n30 4 4\n5 0 4\n7 2 0\n60 4 4\n4 0\n9 10 20\n8 20 30\n7 30 5\n6 5 10\n0\n"


def test_numbering_applies_only_within_its_context():
    assert (number("vertex", 4), named("segment", 0)) == (4, "segment 0")
    with counting(lambda element, index: index + 1):
        assert (number("vertex", 4), named("segment", 0)) == (5, "segment 1")
    with counting_from(1):
        assert named("triangle", 0) == "triangle 1"
    assert named("vertex", 4) == "vertex 4"


def test_counts_have_their_plural():
    assert [counted(count, "triangle") for count in (0, 1, 2000)] == ["0 triangles", "1 triangle", "2,000 triangles"]
    assert counted(1, "vertex", "vertices") == "1 vertex"


@pytest.mark.parametrize(
    ("text", "vertices", "segments"), [(TWO, "356", "1"), (MIXED, ("30", "7", "60"), "9")], ids=["from one", "mixed"]
)
def test_conflicts_are_reported_with_file_indices(folder, capsys, text, vertices, segments):
    (folder / "two.poly").write_text(text)
    third, fifth, sixth = vertices
    code, _, err = dmr(capsys, "refine", "two.poly")
    assert code == 0
    assert f"the first: vertex {sixth} has the same coordinates as vertex {third}, at (4, 4)" in err
    assert f"the first: segment {segments} runs through vertex {fifth}, at (2, 0)" in err
    sentence = fails(capsys, 1, "refine", "two.poly", "--on-conflict", "error")
    assert sentence == f"two.poly:7: vertex {sixth}: has the same coordinates as vertex {third}, at (4, 4)"


def test_the_library_counts_from_0(folder):
    (folder / "two.poly").write_text(TWO)
    with pytest.raises(InvalidMeshError, match=r"^vertex 5: .*vertex 2") as caught:
        package.triangulate(package.read("two.poly"), on_conflict="error")
    assert (caught.value.element, caught.value.index) == ("vertex", 5)


@pytest.mark.parametrize("base", [0, 1])
def test_a_gap_is_reported_with_file_indices(folder, capsys, base):
    io.write("open.poly", Pslg([[0, 0], [4, 0], [4, 4]], [[0, 1], [1, 2]]), base=base)
    sentence = fails(capsys, 1, "refine", "open.poly")
    assert f"segments end at vertex {base} at (0, 0) and vertex {base + 2} at (4, 4)" in sentence


@pytest.mark.parametrize("base", [0, 1])
def test_validate_reports_file_indices(folder, capsys, base):
    io.write("flat.ele", Mesh([[0, 0], [4, 0], [2, 1]], [[0, 1, 2]]), base=base)
    code, out, _ = dmr(capsys, "validate", "flat.ele", "-a", "1")
    assert code == 5
    assert f"    triangle {base}: has an area of 2; " in out
    assert f"its corners are {base} at (0.0, 0.0), {base + 1} at (4.0, 0.0), {base + 2} at (2.0, 1.0)" in out
    assert out.startswith("3 vertices, 1 triangle, 0 segments\n")
    code, out, _ = dmr(capsys, "validate", "flat.ele", "-a", "1", "--json")
    (failure,) = json.loads(out)["failures"]
    assert failure["index"] == 0, "programs count from 0"
    assert "its corners are 0 at" in failure["message"]


def test_validate_reports_input_elements_with_indices_of_the_input_file(folder, capsys):
    square = [[0, 0], [4, 0], [4, 4], [0, 4]]
    io.write("whole.poly", Pslg(square, [[0, 1], [1, 2], [2, 3], [3, 0]]), base=1)
    io.write("half.ele", Mesh(square, [[0, 1, 2]]), base=0)
    code, out, _ = dmr(capsys, "validate", "half.ele", "--input", "whole.poly")
    assert code == 5
    assert "input segment 3: the segment from 3 at (4.0, 4.0) to 4 at (0.0, 4.0) has " in out


def test_locating_an_error_logs_nothing_twice(folder, capsys):
    (folder / "flat.node").write_text("4 2 0 0\n1 0 0\n2 1 0\n3 2 0\n4 0 1\n")
    (folder / "flat.ele").write_text("2 3 0\n1 1 2 4\n2 1 2 3\n")
    (folder / "flat.poly").write_text("0 2 0 0\n1 0\n1 1 4\n0\n")
    _, _, err = dmr(capsys, "refine", "flat.ele")
    assert err.splitlines() == [
        "dmr: flat.poly: its 1 segment is a constraint of the mesh",
        "dmr: error: flat.ele:3: triangle 2: has no area: its corners 1, 2, 3 lie on one line",
    ]


def test_numbers_in_reads_file_indices(folder):
    io.write("mesh.ele", Mesh([[0, 0], [4, 0], [2, 3]], [[0, 1, 2]]), base=1)
    numbers = io.numbers_in("mesh.ele")
    assert [numbers("vertex", index) for index in (0, 2, 3, 5)] == [1, 3, 4, 6], "what was added goes on after them"
    assert numbers("triangle", 0) == 1
    assert numbers("segment", 2) == 2, "there is no .poly that would number it"
    assert io.numbers_in("mesh.vtu")("vertex", 3) == io.numbers_in("missing.ele")("vertex", 3) == 3
    (folder / "dots.node").write_text("2 2 0 0\n7 0 0\n8 1 0\n")
    assert io.numbers_in("dots.node")("vertex", 1) == 8


def test_a_second_order_mesh_keeps_the_numbers_of_its_corners(folder):
    (folder / "six.node").write_text("6 2 0 0\n1 2 0\n2 0 0\n3 4 0\n4 2 4\n5 1 2\n6 3 2\n")
    (folder / "six.ele").write_text("1 6 0\n1 2 3 4 6 5 1\n")
    assert [io.numbers_in("six.ele")("vertex", index) for index in range(3)] == [2, 3, 4]


def test_unread_companion_files_do_not_matter(folder):
    io.write("mesh.ele", Mesh([[0, 0], [4, 0], [2, 3]], [[0, 1, 2]]), base=1)
    (folder / "mesh.poly").write_text("this is no outline\n")
    assert io.numbers_in("mesh.ele", [])("vertex", 2) == 3
    assert io.locate("mesh.ele", "triangle", 0, [])[1] == 2
    (folder / "mesh.ele").write_text("nor is this a table\n")
    assert io.numbers_in("mesh.node", [])("vertex", 2) == 3
    assert io.locate("mesh.node", "vertex", 2, [])[1] == 4
