"""Control characters in file names and file contents are escaped on the terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import dmr
from dmr.cli import main

NAME = "a\033[31m\x9bb\x07"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")
ESCAPED = r"a\x1b[31m\x9bb\x07"


@pytest.fixture
def folder(folder: Path) -> Path:
    square = dmr.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]])
    dmr.write(f"{NAME}.ele", square)
    (folder / f"{NAME}.poly").write_text("0 2 0 0\n1 0 0 nonsense\n0\n")
    (folder / "names.geojson").write_text(json.dumps({"type": "Feature", "properties": {NAME: 1}, "geometry": None}))
    return folder


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["info", f"{NAME}.ele"], 1),
        (["info", f"{NAME}.npz"], 1),
        (["info", f"none{NAME}.ele"], 1),
        (["refine", f"{NAME}.poly"], 1),
        (["refine", "names.geojson"], 1),
        (["refine", f"{NAME}.ele", "-q", NAME], 2),
        (["refine", f"{NAME}.ele", "-o", f"no{NAME}/a.ele"], 1),
        ([f"--{NAME}"], 2),
        (["validate", f"{NAME}.ele", "--min-angle", NAME], 2),
    ],
)
def test_escape_characters_in_names_are_escaped_in_messages(folder, capsys, command, code):
    assert main(command) == code
    said = capsys.readouterr()
    assert not CONTROL.search(said.out + said.err)
    assert ESCAPED in said.out + said.err or command[1:2] == ["names.geojson"]


def test_escape_characters_in_data_on_stdout_are_escaped(folder, capsys):
    (folder / f"{NAME}.poly").unlink()
    for command in (["info", f"{NAME}.ele"], ["refine", f"{NAME}.ele", "-v"], ["info", f"{NAME}.ele", "--json"]):
        assert main(command) == 0
        said = capsys.readouterr()
        assert not CONTROL.search(said.out + said.err)
    assert json.loads(said.out)["vertices"] == 4


def test_escape_characters_in_property_names_are_escaped(folder):
    np.testing.assert_equal(json.loads((folder / "names.geojson").read_text())["properties"], {NAME: 1})
    form = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 1]]]}
    (folder / "names.geojson").write_text(json.dumps({"type": "Feature", "properties": {NAME: 1}, "geometry": form}))
    with pytest.raises(dmr.errors.FileError) as caught:
        dmr.domains.from_geojson("names.geojson", attribute="other")
    assert not CONTROL.search(str(caught.value)) and ESCAPED in str(caught.value)
