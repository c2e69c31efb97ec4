"""`dmr refine` in this process: file names, exit codes, stdout and stderr."""

from __future__ import annotations

import json
import os
import sys

import pytest

from dmr import domains, io, triangulate
from dmr.common.threads import available_threads
from dmr.mesh.shapes import min_angles
from dmr.mesh.types import Mesh
from tests.support.command_line import dmr, fails, names
from tests.support.meshes import fan

KEYS = {
    "device", "threads", "marking", "balance", "vertices", "triangles", "steiner", "rounds", "acceptance", "unrefined",
    "min_angle", "max_angle", "complete", "seconds", "launches", "checks",
}  # fmt: skip


@pytest.fixture
def folder(folder):
    """A folder with a skinny mesh in it, input.ele, as the working directory."""
    io.write("input.ele", fan(), base=1)
    return folder


def test_output_names_count_up_as_those_of_triangle(folder, capsys):
    code, out, err = dmr(capsys, "refine", "input.ele")
    assert (code, out) == (0, "")
    assert names(folder) == ["input.1.ele", "input.1.node", "input.ele", "input.node"]
    assert min_angles(io.read("input.1.ele")).min() > 29.999
    assert "wrote input.1.node, input.1.ele" in err
    assert dmr(capsys, "refine", "input.1.ele", "-q", "20")[0] == 0
    assert "input.2.ele" in names(folder)
    before = (folder / "input.1.ele").read_bytes()
    assert dmr(capsys, "refine", "input.ele", "-q", "20")[0] == 0, "without -o an old result is overwritten"
    assert (folder / "input.1.ele").read_bytes() != before


def test_output_indices_start_where_those_of_the_input_do(folder, capsys):
    assert dmr(capsys, "refine", "input.ele", "-q", "0")[0] == 0
    assert io.numbering_base("input.1.ele") == 1
    assert (folder / "input.1.node").read_text().split("\n")[1].split()[0] == "1"
    io.write("zero.ele", fan(), base=0)
    assert dmr(capsys, "refine", "zero.node")[0] == 0
    assert io.numbering_base("zero.1.ele") == 0


def test_the_table_compares_before_and_after(folder, capsys):
    _, _, err = dmr(capsys, "refine", "input.ele", "-q", "25", "-a", "0.5", "--device", "cpu", "--threads", "1")
    rows = {line.strip().rsplit(None, 2)[0]: line.split()[-2:] for line in err.splitlines() if line.startswith("  ")}
    assert rows["triangles"][0] == "7"
    assert rows["below 25 degrees"] == ["6", "0"]
    assert rows["above area 0.5"] == ["7", "0"]
    assert float(rows["smallest angle"][1]) >= 25
    assert "on cpu, 1 thread\n" in err
    assert "seconds:" not in err
    assert "seconds: read" in dmr(capsys, "refine", "input.ele", "-v")[2]


def test_json_is_one_object_and_all_of_stdout(folder, capsys):
    code, out, _ = dmr(capsys, "refine", "input.ele", "--json", "--device", "cpu")
    found = json.loads(out)
    assert code == 0
    assert out.count("\n") == 1
    assert found.keys() >= KEYS
    mesh = io.read("input.1.ele")
    assert (found["vertices"], found["triangles"]) == (len(mesh.vertices), len(mesh.triangles))
    assert found["steiner"].keys() >= {"off_center", "circumcenter", "segment"}
    assert sum(found["steiner"].values()) == len(mesh.vertices) - len(fan().vertices)
    assert found["files"]["output"] == ["input.1.node", "input.1.ele"]
    assert found["complete"] is True


@pytest.mark.parametrize(("asked", "threads"), [((), 1), (("--threads", "2"), 2), (("--device", "cpu"), None)])
def test_a_tiny_mesh_takes_one_thread_by_default(asked, threads, folder, capsys):
    found = json.loads(dmr(capsys, "refine", "input.ele", "--json", *asked)[1])
    assert found["device"] == "cpu" and found["threads"] == (threads or available_threads())


def test_quiet_prints_nothing(folder, capsys):
    assert dmr(capsys, "refine", "input.ele", "--quiet", "-q", "34") == (0, "", "")


def test_an_output_is_not_overwritten_without_force(folder, capsys):
    assert dmr(capsys, "refine", "input.ele", "-o", "out.vtu")[0] == 0
    assert "out.vtu exists; -f overwrites it" in fails(capsys, 2, "refine", "input.ele", "-o", "out.vtu")
    assert dmr(capsys, "refine", "input.ele", "-o", "out.vtu", "-f")[0] == 0
    assert dmr(capsys, "refine", "input.ele", "-o", "result")[0] == 0
    assert {"result.ele", "result.node"} <= set(names(folder))
    (folder / "result.ele").unlink()
    assert "result.node exists" in fails(capsys, 2, "refine", "input.ele", "-o", "result.ele")


def test_an_unusable_output_fails_before_the_work(folder, capsys, monkeypatch):
    monkeypatch.setattr("dmr.refinement.refine", lambda *_, **__: pytest.fail("the work was begun"))
    assert "no folder nowhere" in fails(capsys, 1, "refine", "input.ele", "-o", "nowhere/out.ele")
    assert "unknown suffix .xyzzy" in fails(capsys, 2, "refine", "input.ele", "-o", "out.xyzzy")
    assert "cannot hold a mesh" in fails(capsys, 2, "refine", "input.ele", "-o", "out.poly")
    assert "this format can only be read" in fails(capsys, 1, "refine", "input.ele", "-o", "out.ugrid")
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert "needs the package h5py" in fails(capsys, 1, "refine", "input.ele", "-o", "out.xdmf")
    (folder / "place.ele").mkdir()
    assert "a folder of that name" in fails(capsys, 1, "refine", "input.ele", "-o", "place.ele")
    assert "a folder of that name; name a file in it" in fails(capsys, 1, "refine", "input.ele", "-o", str(folder))
    for stream in ("-", "/dev/stdout", "/dev/fd/1"):
        assert f"{stream}: a mesh is written to files" in fails(capsys, 2, "refine", "input.ele", "-o", stream)
    assert names(folder) == ["input.ele", "input.node", "place.ele"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("IN", ("refine", "")),
        ("-o/--output", ("refine", "input.ele", "-o", "")),
        ("--max-edge", ("refine", "input.ele", "--max-edge", "")),
        ("MESH", ("info", "")),
        ("--input", ("validate", "input.ele", "--input", "")),
        ("--screenshot", ("view", "input.ele", "--screenshot", "")),
        ("-o/--output", ("generate", "grid", "5", "-o", "")),
    ],
)
def test_an_empty_name_is_refused(folder, capsys, name, arguments):
    assert f"argument {name}: the name of the file is empty" in fails(capsys, 2, *arguments)


@pytest.mark.parametrize("options", [(), ("--device", "cpu"), ("-o", "out.npz")])
def test_an_invalid_number_of_threads_is_refused_before_reading(folder, capsys, monkeypatch, options):
    monkeypatch.setattr("dmr.io.read", lambda *_, **__: pytest.fail("the input was read"))
    said = fails(capsys, 2, "refine", "input.ele", "--threads", "100000", *options)
    assert said.startswith("--threads must be ") and "not 100,000" in said


def test_an_impossible_area_is_refused(folder, capsys):
    assert "536,870,911 at most" in fails(capsys, 2, "refine", "input.ele", "-a", "1e-30")


def test_a_folder_as_input_is_refused(folder, capsys):
    assert fails(capsys, 1, "refine", ".") == ".: is a folder, not a file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_write_permission_fails_before_the_work(folder, capsys):
    folder.chmod(0o555)
    try:
        assert "permission denied" in fails(capsys, 1, "refine", "input.ele")
    finally:
        folder.chmod(0o755)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-q", "60"], "--min-angle must be at least 0 and below 60 degrees, not 60"),
        (["-q", "nan"], "--min-angle must"),
        (["-q", "-1"], "--min-angle must"),
        (["-q", "thirty"], "'thirty' is not a number"),
        (["-a", "0"], "--max-area must be a finite number above 0"),
        (["-a", "-2"], "--max-area must be a finite number above 0"),
        (["--threads", "0"], "is not a positive whole number"),
        (["--threads", "two"], "is not a positive whole number"),
        (["--max-steiner", "1.5"], "is not a non-negative whole number"),
        (["--device", "gpu"], "is not one of auto, cpu, cuda"),
        (["--marking", "fast"], "is not one of"),
        (["--colour"], "unrecognized arguments"),
        (["--min", "20"], "unrecognized arguments"),
    ],
)
def test_usage_errors_exit_with_2(folder, capsys, arguments, sentence):
    assert sentence in fails(capsys, 2, "refine", "input.ele", *arguments)
    assert names(folder) == ["input.ele", "input.node"]


def test_small_option_values_are_not_lost(folder, capsys):
    _, out, _ = dmr(capsys, "refine", "input.ele", "--max-area", "1e-2", "--json", "--quiet")
    assert json.loads(out)["triangles"] >= 1200


def test_unreadable_input_exits_with_1(folder, capsys):
    assert fails(capsys, 1, "refine", "missing.ele").startswith("missing.ele: does not exist")
    assert "nowhere/missing.ele: does not exist" in fails(capsys, 1, "refine", "nowhere/missing.ele")
    (folder / "bad.node").write_text("3 2 0 0\n1 0 0\n2 1 x\n3 0 1\n")
    (folder / "bad.ele").write_text("1 3 0\n1 1 2 3\n")
    assert fails(capsys, 1, "refine", "bad.ele").startswith("bad.node:3: ")


def test_an_invalid_mesh_is_located_in_its_file(folder, capsys):
    (folder / "flat.node").write_text("# three on a line\n4 2 0 0\n1 0 0\n2 1 0\n3 2 0\n4 0 1\n")
    (folder / "flat.ele").write_text("2 3 0\n1 1 2 4\n2 1 2 3\n")
    sentence = fails(capsys, 1, "refine", "flat.ele")
    assert sentence == "flat.ele:3: triangle 2: has no area: its corners 1, 2, 3 lie on one line"
    assert names(folder) == ["flat.ele", "flat.node", "input.ele", "input.node"]


def test_a_poly_file_beside_the_mesh_is_announced(folder, capsys):
    (folder / "input.poly").write_text("0 2 0 0\n1 0\n1 1 5\n0\n")
    _, _, err = dmr(capsys, "refine", "input.ele")
    assert "input.poly" in err
    assert "its 1 segment is a constraint of the mesh" in err
    assert "input.1.poly" in names(folder)


def test_a_mesh_that_is_not_delaunay_is_flipped_or_refused(folder, capsys):
    kite = Mesh([[0, 0], [4, -1], [8, 0], [4, 1]], [[0, 1, 2], [0, 2, 3]])
    io.write("kite.ele", kite)
    code, _, err = dmr(capsys, "refine", "kite.ele", "-q", "0")
    assert code == 0
    assert "dmr: warning: " in err
    assert "flip" in err
    assert "Delaunay" in fails(capsys, 1, "refine", "kite.ele", "--strict", "-o", "strict.ele")
    assert "strict.ele" not in names(folder)


def test_a_reached_limit_exits_with_3_and_a_valid_mesh(folder, capsys):
    code, out, err = dmr(capsys, "refine", "input.ele", "--max-steiner", "2", "--json")
    assert code == 3
    assert json.loads(out)["complete"] is False
    assert "dmr: warning: " in err
    assert len(io.read("input.1.ele").vertices) <= len(fan().vertices) + 2


def test_a_bound_without_guarantee_is_warned_of_once(folder, capsys):
    _, _, err = dmr(capsys, "refine", "input.ele", "-q", "33.5")
    assert len([line for line in err.splitlines() if line.startswith("dmr: warning: ") and "33" in line]) == 1


def test_a_missing_device_exits_with_4(folder, capsys):
    fails(capsys, 4, "refine", "input.ele", "--device", "cuda:99")
    assert names(folder) == ["input.ele", "input.node"]


def test_an_unexpected_exception_exits_with_5_and_one_line(folder, capsys, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("dmr.refinement.refine", broken)
    sentence = fails(capsys, 5, "refine", "input.ele")
    assert sentence.startswith("internal error (ZeroDivisionError: a bug): please report it")
    code, _, err = dmr(capsys, "refine", "input.ele", "-v")
    assert code == 5
    assert "Traceback" in err
    assert names(folder) == ["input.ele", "input.node"]


@pytest.mark.parametrize(("error", "code"), [(MemoryError(), 4), (OSError(28, "No space left on device"), 1)])
def test_missing_resources_are_reported_in_one_sentence(folder, capsys, monkeypatch, error, code):
    def failing(*_, **__):
        raise error

    monkeypatch.setattr("dmr.io.write", failing)
    fails(capsys, code, "refine", "input.ele", "--quiet")


def test_reading_and_writing_use_the_given_threads(folder, capsys, monkeypatch):
    seen = []

    def noting(name, real):
        def call(*arguments, **named):
            seen.append((name, named["threads"]))
            return real(*arguments, **named)

        monkeypatch.setattr(f"dmr.io.{name}", call)

    noting("read", io.read)
    noting("write", io.write)
    assert dmr(capsys, "refine", "input.ele", "--device", "cpu", "--threads", "3")[0] == 0
    assert seen == [("read", 3), ("write", 3)]


def test_an_interrupt_exits_with_130_and_writes_nothing(folder, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("dmr.refinement.refine", interrupted)
    assert dmr(capsys, "refine", "input.ele") == (130, "", "dmr: interrupted\n")
    assert names(folder) == ["input.ele", "input.node"]


def test_a_grid_of_adcirc_is_refined_and_written(folder, capsys):
    sea = domains.with_names(domains.rectangle(2, 1, markers=[2, 3, 2, 4]), markers={4: "open sea"})
    io.write("fort.14", triangulate(sea))
    assert dmr(capsys, "refine", "fort.14", "-a", "0.1", "-o", "fine.2dm", "--device", "cpu")[0] == 0
    assert dmr(capsys, "refine", "fine.2dm", "-a", "0.05", "-f", "-o", "fort.14", "--device", "cpu")[0] == 0
    found = io.read("fort.14")
    assert found.names["markers"] == {4: "open sea"} and len(found.triangles) > 40
    assert set(found.segment_markers.tolist()) == {2, 3, 4}


def test_violated_bounds_and_placed_points_are_reported(folder, capsys):
    io.write("square.poly", domains.rectangle(1, 1))
    err = dmr(capsys, "refine", "square.poly", "-a", "1e-3", "--max-steiner", "5")[2]
    count = len(io.read("square.1.ele").triangles)
    assert f"dmr: {count} triangles violate a bound, left by the limit on points" in err
    err = dmr(capsys, "refine", "square.poly", "--size", "0.1")[2]
    assert "points placed in " in err and "rounds" not in err
    message = fails(capsys, 1, "refine", "square.poly", "--size", "input.ele")
    assert message == "input.ele: has no numbers on its vertices: it has no vertex attributes"
