"""docs/guide/migration.md: every program runs if its package is installed; both of a section mesh the same domain."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dmr
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "guide" / "migration.md").read_text(encoding="utf-8")
SECTIONS = {
    text.partition("\n")[0]: re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for text in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
}
PACKAGES = {"Triangle": "triangle", "MeshPy": "meshpy", "Gmsh": "gmsh", "dmsh": "dmsh", "scipy": "scipy"}


def executed(section: str, program: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that a program of a section defines, run in a folder."""
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {"__name__": section}
    exec(compile(program, f"migration.md, {section}", "exec"), names)
    return names


def area(points: Any, triangles: Any) -> float:
    (ax, ay), (bx, by), (cx, cy) = np.asarray(points)[np.asarray(triangles)].transpose(1, 2, 0)[:, :2]
    return float(np.abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)).sum() / 2)


def test_every_section_has_their_program_and_ours():
    assert set(SECTIONS) == set(PACKAGES)
    assert all(len(programs) == 2 and "import dmr" in programs[1] for programs in SECTIONS.values())
    assert all("dmr" not in programs[0] for programs in SECTIONS.values())


@pytest.mark.parametrize("section", SECTIONS)
def test_our_program_makes_a_valid_mesh(section, tmp_path, monkeypatch):
    mesh = executed(section, SECTIONS[section][1], tmp_path, monkeypatch)["mesh"]
    assert dmr.validate(mesh, min_angle=None if section == "scipy" else 30).ok


def test_names_of_groups_are_in_the_file_for_gmsh(tmp_path, monkeypatch):
    executed("Gmsh", SECTIONS["Gmsh"][1], tmp_path, monkeypatch)
    found = dmr.read(tmp_path / "channel.msh")
    assert found.names == {
        "regions": {1: "fluid"},
        "markers": {1: "inlet", 2: "outlet", 3: "cylinder", 4: "walls"},
    }


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS)
def test_their_program_meshes_the_same_domain(section, tmp_path, monkeypatch):
    try:
        import_module(PACKAGES[section])
    except (ImportError, OSError) as error:
        pytest.skip(str(error))
    theirs = executed(section, SECTIONS[section][0], tmp_path, monkeypatch)
    other = tmp_path / "ours"
    other.mkdir()
    mesh = executed(section, SECTIONS[section][1], other, monkeypatch)["mesh"]
    match section:
        case "Triangle":
            found = theirs["found"]["vertices"], theirs["found"]["triangles"]
        case "Gmsh":
            found = dmr.read(tmp_path / "channel.msh")
            assert set(found.names["markers"].values()) == {"inlet", "outlet", "cylinder"}
            found = found.vertices, found.triangles
        case "scipy":
            found = theirs["points"], theirs["found"].simplices
        case _:
            found = theirs["points"], theirs.get("triangles", theirs.get("cells"))
    assert area(*found) == pytest.approx(mesh.areas.sum(), rel=0.003)
    assert 0.6 < len(found[1]) / len(mesh.triangles) < 1.6
