"""Extra output of `dmr refine`: midpoints, edges, neighbours and the Voronoi dual."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dmr
from dmr.cli import main
from dmr.io import read_edges, read_neighbours

ALL = ("--order", "2", "--edges", "--neighbours", "--voronoi")


@pytest.fixture
def folder(folder: Path) -> Path:
    """A folder with input.ele in it, two triangles, as the working directory."""
    square = dmr.Mesh([[0, 0], [9, 0], [9, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]], segments=[[0, 1]], segment_markers=[5])
    dmr.write("input.ele", square, base=1)
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["refine", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_every_extra_is_written_beside_an_ele_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "input.ele", *ALL, "--json", "--device", "cpu")
    suffixes = [".node", ".poly", ".neigh", ".edge", ".v.node", ".v.edge", ".ele"]
    assert code == 0 and json.loads(out)["files"]["output"] == [f"input.1{suffix}" for suffix in suffixes]
    assert (folder / "input.1.ele").read_text().split()[1] == "6"
    assert run(capsys, "input.ele", "-o", "first", "--device", "cpu")[0] == 0
    mesh = dmr.read("first.ele")
    again = dmr.read("input.1.ele")
    assert isinstance(mesh, dmr.Mesh) and isinstance(again, dmr.Mesh)
    assert mesh.vertices.tobytes() == again.vertices.tobytes() and np.array_equal(mesh.triangles, again.triangles)
    assert np.array_equal(read_neighbours("input.1.neigh"), mesh.neighbours)
    edges, _ = read_edges("input.1.edge")
    assert len(edges) == len(mesh.vertices) + len(mesh.triangles) - 1
    assert int((folder / "input.1.v.edge").read_text().split()[0]) == len(edges)
    assert run(capsys, "input.ele", "--device", "cpu")[0] == 0
    left = sorted(path.name for path in folder.glob("input.1.*"))
    assert left == ["input.1.ele", "input.1.node", "input.1.poly"], "nothing of the older result stays"


def test_second_order_in_a_vtu_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "input.ele", "-o", "out.vtu", "--order", "2", "--device", "cpu")[0] == 0
    assert dmr.read("out.vtu").triangles.shape[1] == 3
    meshio = pytest.importorskip("meshio")
    assert {block.type for block in meshio.read("out.vtu").cells} == {"triangle6", "line3"}


@pytest.mark.parametrize(
    ("output", "flags", "sentence"),
    [
        ("a.stl", ["--order", "2"], "a.stl: second order cannot be written as .stl, only as .ele"),
        ("a.npz", ["--order", "2"], "a.npz: second order "),
        ("a.vtu", ["--voronoi"], "a.vtu: the Voronoi dual "),
        ("a.msh", ["--edges"], "a.msh: edges "),
        ("a.npz", ["--neighbours"], "a.npz: neighbours "),
        ("a.ele", ["--order", "3"], "argument --order: 3 is not one of 1, 2"),
    ],
)
def test_extras_that_a_format_cannot_hold_are_refused_before_any_work(
    output: str, flags: list[str], sentence: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "no-such-file.ele", "-o", output, *flags)
    assert (code, out) == (2, "") and err.startswith(f"dmr: error: {sentence}"), err


def test_an_existing_dual_needs_force(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "input.ele", "-o", "a.ele", "--voronoi", "--device", "cpu")[0] == 0
    for name in ("a.ele", "a.node", "a.poly"):
        (folder / name).unlink()
    code, _, err = run(capsys, "input.ele", "-o", "a.ele", "--device", "cpu")
    assert code == 2 and "a.v.node exists; -f overwrites it" in err
    assert run(capsys, "input.ele", "-o", "a.ele", "-f", "--device", "cpu")[0] == 0
    assert not (folder / "a.v.node").exists()
