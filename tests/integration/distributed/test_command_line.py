"""Meshes in parts on the command line."""

from __future__ import annotations

import json
import re

import pytest

import dmr
from dmr.distributed import partition
from tests.support import command_line
from tests.support.command_line import fails
from tests.support.meshes import plate, plate_outline


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of parts, `out`, beside its outline; its parent is the working directory."""
    monkeypatch.chdir(tmp_path)
    partition(plate(), "out", 4)
    dmr.write("plate.poly", plate_outline())
    return tmp_path / "out"


def test_validate(folder, capsys):
    code, out, _ = command_line.dmr(capsys, "validate", "out/", "--input", "plate.poly", "--min-angle", "30")
    assert code == 0
    assert out.endswith("valid\n") and "ok  shared edges" in out


def test_validate_as_json(folder, capsys):
    (folder / "part-00002.npz").unlink()
    code, out, _ = command_line.dmr(capsys, "validate", "out", "--json")
    found = json.loads(out)
    assert code == 5
    assert found["counts"] == {"parts": 1} and "part 2 cannot be used" in found["failures"][0]["message"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["out", "--unrefined", "left.json"], "--unrefined is for meshes in files"),
        (["out", "--size", "0.1"], "--size is for meshes in files"),
        (["plate.poly", "--workers", "2"], "--workers is for folders of meshes in parts"),
        (["plate.poly", "--mpi"], "--mpi is for folders of meshes in parts"),
        (["out", "--mpi"], "this is not an MPI job with workers"),
        (["out", "--min-angle", "80"], "--min-angle must be from 0 to 60"),
    ],
)
def test_refused_options(folder, capsys, options, message):
    assert message in fails(capsys, 2, "validate", *options)


def test_a_folder_without_parts(tmp_path, capsys):
    assert "no finished result in parts: it has no manifest.json" in fails(capsys, 1, "validate", tmp_path)


def test_convert_to_parts_and_back(folder, capsys):
    dmr.write("plate.npz", plate())
    code, _, err = command_line.dmr(capsys, "convert", "plate.npz", "parts/", "--parts", "3")
    assert code == 0 and "wrote 3 parts to parts" in err
    for target in ("whole.npz", "whole.pvtu", "whole.vtkhdf"):
        code, _, err = command_line.dmr(capsys, "convert", "parts", target)
        assert code == 0 and f"wrote {target}" in err
        assert f"{target} exists; -f overwrites it" in fails(capsys, 2, "convert", "parts", target)
        assert command_line.dmr(capsys, "convert", "parts", target, "-f")[0] == 0
    assert len(dmr.read("whole.npz").triangles) == len(plate().triangles)
    code, _, err = command_line.dmr(capsys, "convert", "parts", "other", "--parts", "5")
    assert code == 0 and "wrote 5 parts to other" in err
    assert dmr.distributed.Parts("other").counts["triangles"] == len(plate().triangles)
    assert "out: is a folder of parts, not a file: dmr info describes it" in fails(capsys, 1, "triangulate", "out")


@pytest.mark.slow
def test_view_draws_all_parts(folder, capsys):
    pytest.importorskip("pyvista")
    image = pytest.importorskip("PIL.Image")
    dmr.write("whole.npz", dmr.distributed.Parts("out").gather())
    for path in ("out", "whole.npz"):
        assert command_line.dmr(capsys, "view", path, "--screenshot", f"{path}.png", "--size", "300x200")[0] == 0
    with image.open("out.png") as one, image.open("whole.npz.png") as other:
        assert one.tobytes() == other.tobytes()


def test_info_of_parts_agrees_with_that_of_the_whole(folder, capsys):
    whole = dmr.distributed.Parts("out").gather()
    dmr.write("whole.npz", whole)
    measured = dmr.measure(whole, bound=40)
    code, out, _ = command_line.dmr(capsys, "info", "out", "-q", "40", "--json")
    found = json.loads(out)
    assert code == 0 and found["file"] == "out" and found["parts"] == len(dmr.distributed.Parts("out"))
    assert (found["vertices"], found["triangles"], found["below"]) == (
        measured.vertices,
        measured.triangles,
        measured.below,
    )
    assert (found["min_angle"], found["max_angle"]) == (measured.min_angle.minimum, measured.max_angle.maximum)
    assert found["mean_min_angle"] == pytest.approx(measured.min_angle.mean, rel=1e-12)
    code, out, _ = command_line.dmr(capsys, "info", "out")
    assert code == 0 and re.search(rf"triangles +{measured.triangles:,}\n", out)
    assert "a folder of parts has no layers" in fails(capsys, 2, "info", "out", "--layer", "land")
    dmr.distributed.partition(plate(), "one", 1)
    assert re.search(r"triangles in a part +[\d,]+\n", command_line.dmr(capsys, "info", "one")[1])


def test_missing_folders_and_manifests_are_named(folder, capsys):
    assert fails(capsys, 1, "validate", "lost", "--workers", "2") == "lost: does not exist"
    assert fails(capsys, 1, "convert", "lost", "mesh.vtkhdf") == "lost: does not exist"
    for command in ("validate", "info", "refine"):
        message = fails(capsys, 1, command, "out/manifest.json")
        assert message == "out/manifest.json: describes a mesh in parts: name its folder, out"
    assert "dmr refine --tiles N refines them" in fails(capsys, 1, "refine", "out")


def test_companions_of_a_united_mesh_are_written(folder, capsys):
    companions = [".edge", ".neigh", ".v.edge", ".v.node"]
    command_line.dmr(capsys, "convert", "out", "mesh.ele", "--edges", "--neighbours", "--voronoi", "--order", "2")
    assert [suffix for suffix in companions if not folder.with_name(f"mesh{suffix}").is_file()] == []
    order = folder.with_name("mesh.ele").read_text().split()[1]
    assert order == "6"


def test_layers_of_a_folder_of_parts_are_refused(folder, capsys):
    assert "only files with features" in fails(
        capsys, 2, "refine", "out", "--tiles", "999", "-o", "x", "--layer", "land"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["out", "mesh.pvtu", "--single-piece"], "--single-piece is for .vtkhdf files"),
        (["plate.poly", "mesh.vtkhdf", "--single-piece"], "--single-piece is for folders of parts"),
        (["plate.poly", "parts", "--parts", "2"], "an outline without triangles"),
        (["out", "parts", "--parts", "2", "--single-piece"], "--single-piece cannot be combined with --parts"),
        (["out", "parts", "--parts", "2", "--order", "2"], "--order cannot be combined with --parts"),
        (["out", "mesh.vtkhdf", "--edges"], "edges are written beside an .ele file"),
        (["out", "mesh.pvtu", "--order", "2"], "second order cannot be written as .pvtu"),
        (["out", "mesh.stl", "--order", "2"], "second order cannot be written as .stl"),
        (["out", "mesh.ele", "--layer", "land"], "only files with features"),
    ],
)
def test_refused_conversions(folder, capsys, arguments, message):
    assert message in fails(capsys, 2, "convert", *arguments)
