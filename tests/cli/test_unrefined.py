"""Unrefined triangles, from `dmr refine --unrefined` to `dmr validate --unrefined`."""

from __future__ import annotations

import json

import pytest

from dmr import io
from dmr.cli.shared.unrefined import read_list
from dmr.errors import FileError
from tests.support.command_line import dmr, fails, names
from tests.support.meshes import fan


@pytest.fixture
def folder(folder):
    """A folder with a skinny mesh in it, input.ele, as the working directory."""
    io.write("input.ele", fan(), base=1)
    return folder


def test_triangles_left_by_kept_segments_are_valid_with_the_list(folder, capsys):
    code, out, err = dmr(capsys, "refine", "input.ele", "--keep-segments", "all", "--unrefined", "left.json", "--json")
    assert code == 0
    assert "wrote input.1.node, input.1.ele, left.json" in err
    told, left = json.loads(out), json.loads((folder / "left.json").read_text())
    assert left["triangles"] == told["triangles"]
    assert {reason: len(listed) for reason, listed in left["unrefined"].items()} == told["unrefined"]
    assert "kept_segment" in told["unrefined"]
    assert told["files"]["output"][-1] == "left.json"

    check = ("validate", "input.1.ele", "--input", "input.ele", "-q", "30")
    code, out, err = dmr(capsys, *check)
    assert (code, "FAILED  angle" in out) == (5, True)
    assert "`dmr validate MESH --input IN --unrefined left.json`" in err
    code, out, err = dmr(capsys, *check, "--unrefined", "left.json")
    assert (code, err) == (0, "")
    assert "ok  unrefined" in out
    assert "may violate a bound: a segment that is never split stands in the way" in out


def test_reasons_in_a_list_are_verified(folder, capsys):
    count = len(fan().triangles)
    (folder / "left.json").write_text(json.dumps({"triangles": count, "unrefined": {"budget": list(range(count))}}))
    code, out, _ = dmr(capsys, "validate", "input.ele", "-q", "30", "--unrefined", "left.json")
    assert code == 5
    assert "ok  unrefined" in out
    (folder / "left.json").write_text(json.dumps({"triangles": count, "unrefined": {}}))
    code, out, _ = dmr(capsys, "validate", "input.ele", "-q", "30", "--unrefined", "left.json")
    assert "is below the angle bound, but no reason is given for it" in out


def test_an_existing_list_needs_force(folder, capsys):
    (folder / "left.json").write_text("mine")
    before = names(folder)
    assert fails(capsys, 2, "refine", "input.ele", "--unrefined", "left.json") == "left.json exists; -f overwrites it"
    assert "must end in .json" in fails(capsys, 2, "refine", "input.ele", "--unrefined", "input.ele", "-f")
    assert "no folder" in fails(capsys, 1, "refine", "input.ele", "--unrefined", "nowhere/left.json")
    assert names(folder) == before
    assert dmr(capsys, "refine", "input.ele", "--unrefined", "left.json", "-f")[0] == 0
    assert json.loads((folder / "left.json").read_text())["unrefined"] == {}, "nothing was left"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not a list of triangles, as refine --unrefined writes it: "),
        ("[]", "is not a list of triangles"),
        ('{"unrefined": {"budget": [1]}}', "is not a list of triangles"),
        ('{"triangles": 7, "unrefined": {"budget": [7]}}', "is not a list of triangles"),
        ('{"triangles": 7, "unrefined": {"budget": [true]}}', "is not a list of triangles"),
        ('{"unrefined": {}}', "is not a list of triangles"),
        ('{"triangles": 6, "unrefined": {}}', "belongs to a mesh of 6 triangles, and this one has 7"),
    ],
)
def test_a_list_that_does_not_fit_the_mesh_is_refused(folder, capsys, text, words):
    (folder / "left.json").write_text(text)
    sentence = fails(capsys, 1, "validate", "input.ele", "--unrefined", "left.json")
    assert sentence.startswith(f"left.json: {words}")


def test_a_missing_list_is_refused(folder):
    with pytest.raises(FileError, match=r"^left.json: "):
        read_list("left.json", 7)
