"""The benchmarks of refinement: measurements, verdicts, output and records."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dmr

pytest.importorskip("triangle")

from scripts.bench import refine as bench_refine
from scripts.bench import scaling as bench_scaling
from scripts.bench import small as bench_small
from scripts.lib import apart

pytestmark = pytest.mark.slow

SMALL = "random-300"


def sha256(mesh):
    return hashlib.sha256(mesh.vertices.tobytes() + mesh.triangles.tobytes()).hexdigest()


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def refined():
    """The standard input of 300 points, and its refinement by one thread."""
    mesh = dmr.generate("random", 300, 12345)
    return mesh, dmr.refine(mesh, device="cpu", threads=1).mesh


@pytest.fixture
def file(tmp_path, refined):
    """The input, in a file."""
    return dmr.write(tmp_path / "input.npz", refined[0])[0]


def test_the_record_holds_every_requested_measurement(tmp_path, refined, capsys):
    found = tmp_path / "found.jsonl"
    arguments = ["--inputs", SMALL, "--threads", "1", "2", "--repeats", "2", "--commit", "abc", "--json", str(found)]
    assert bench_refine.main(arguments) == 0
    mesh, fine = refined
    for row, threads in zip(records(found), (1, 2), strict=True):
        assert (row["input"], row["device"], row["threads"], row["commit"]) == (SMALL, "cpu", threads, "abc")
        assert (row["triangles_in"], row["triangles"], row["vertices"]) == (
            len(mesh.triangles), len(fine.triangles), len(fine.vertices),
        )  # fmt: skip
        assert row["sha256"] == [sha256(fine)]
        assert (row["valid"], row["same"], row["complete"]) == (True, True, True)
        assert len(row["wall"]) == len(row["refine"]) == len(row["peer"]["refining"]) == 2
        assert all(0 < inner < outer for inner, outer in zip(row["refine"], row["wall"], strict=True))
        assert row["size"] == len(fine.triangles) / row["peer"]["triangles"]
        assert row["ratio"] == sum(row["refine"]) / 2 / row["peer"]["seconds"]
        assert row["memory"]["points"] == len(fine.vertices)
        assert row["machine"]["numpy"] == np.__version__
    said = capsys.readouterr()
    table = said.out.splitlines()[1:]
    assert all(len(line) <= 140 for line in table)
    assert [line.split()[2] for line in table[1:]] == ["Triangle", "cpu,", "cpu,"]
    assert all("proved, same" in line for line in table[2:])
    assert said.err == ""


def test_unrequested_targets_are_not_judged(tmp_path):
    found = tmp_path / "found.jsonl"
    off = ["--no-triangle", "--no-validate", "--no-reference", "--no-memory"]
    assert bench_refine.main(["--inputs", SMALL, "--threads", "1", "--repeats", "1", "--json", str(found), *off]) == 0
    (row,) = records(found)
    unknown = [row[key] for key in ("valid", "same", "size", "ratio", "memory")]
    assert (unknown, row["peer"]) == ([None] * 5, {})


def test_racing_markings_are_not_compared_with_one_thread(tmp_path):
    found = tmp_path / "found.jsonl"
    arguments = ["--inputs", SMALL, "--threads", "2", "--repeats", "1", "--no-triangle", "--no-memory"]
    assert bench_refine.main([*arguments, "--marking", "two-stage", "--json", str(found)]) == 0
    (row,) = records(found)
    assert (row["valid"], row["same"]) == (True, None)


def test_invalid_results_are_named(capsys, monkeypatch):
    monkeypatch.setattr(bench_refine, "LARGEST_SIZE", 0.5)
    monkeypatch.setattr(bench_refine, "digest", lambda mesh: "0" * 64)
    monkeypatch.setattr(dmr, "validate", lambda mesh, **how: Refused)
    arguments = ["--inputs", SMALL, "--threads", "1", "--repeats", "1", "--no-memory"]
    assert bench_refine.main(arguments) == 5
    said = capsys.readouterr()
    start = f"bench_refine: {SMALL}, cpu, 1 thread: "
    assert [line.removeprefix(start) for line in said.err.splitlines()] == [
        "the checker refuses a result",
        "a result does not have the bits of one CPU thread",
        "more than 0.5 of Triangle's size",
    ]
    assert "INVALID, OTHER" in said.out


class Refused:
    """A report of a checker that refuses."""

    ok = False


def test_names_are_checked_before_anything_runs(capsys):
    assert bench_refine.main(["--inputs", SMALL, "no-such-input"]) == 2
    said = capsys.readouterr()
    assert "there is no input no-such-input" in said.err
    assert said.out == ""


# ---- A separate process --------------------------------------------------------------------------------------------


def test_another_process_refines_and_proves(file, refined):
    found = apart.refine_apart(file, {"device": "cpu", "threads": 2}, repeats=2, validate=True)
    _, fine = refined
    assert (found.device, found.threads, found.valid, found.complete) == ("cpu", 2, True, True)
    assert (found.sha256, found.vertices, found.triangles) == (sha256(fine), len(fine.vertices), len(fine.triangles))
    assert len(found.wall) == len(found.refine) == 2
    assert found.memory.points == len(fine.vertices)


def test_a_failing_process_reports_its_error(file, tmp_path):
    with pytest.raises(apart.ApartError, match=r"ended with 2: apart: .*30 apples") as refused:
        apart.refine_apart(file, {"steiner": "30 apples"})
    assert refused.value.exit_code == 2
    with pytest.raises(apart.ApartError, match=r"ended with 1: apart: .*nowhere\.npz"):
        apart.refine_apart(tmp_path / "nowhere.npz", {})
    assert apart.ApartError(-9, "").exit_code == 5


GAUGED = """
import numpy as np, apart
before = np.ones(2**26, np.uint8)  # what was there, and what is gone, does not count
del before
gauge = apart.Gauge("cpu")
during = np.ones(2**26, np.uint8)
del during
print(*gauge.read())
"""


def test_memory_is_the_peak_between_two_readings():
    """In a fresh process, because earlier work leaves memory that the allocator reuses."""
    size = 2**26
    environment = {**os.environ, "PYTHONPATH": str(Path(apart.__file__).parent)}
    done = subprocess.run(
        [sys.executable, "-c", GAUGED], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    taken, peak = map(int, done.stdout.split())
    assert 0.95 * size < taken < 1.1 * size  # the system counts pages with some slack
    assert peak > taken


def test_memory_of_a_refinement_holds_its_result(file, refined):
    """A mesh twice the size takes more, and no run takes less than its arrays."""
    small = apart.refine_apart(file, {"device": "cpu", "threads": 1}).memory
    large_file = dmr.write(file.with_name("large.npz"), dmr.generate("random", 30_000, 12345))[0]
    large = apart.refine_apart(large_file, {"device": "cpu", "threads": 1}, hashed=False)
    assert large.sha256 == ""
    assert large.memory.taken > 16 * large.vertices + 2 * 12 * large.triangles
    assert large.memory.taken > small.taken
    assert large.memory.a_point == large.memory.taken / large.vertices


@pytest.mark.gpu
def test_memory_of_a_gpu_holds_the_mesh(tmp_path):
    large = dmr.write(tmp_path / "large.npz", dmr.generate("random", 100_000, 12345))[0]
    found = apart.refine_apart(large, {"device": "cuda"}, repeats=1)
    assert found.threads == 0
    assert found.memory.taken > 32 * found.triangles + 16 * found.vertices
    assert found.memory.peak > found.memory.taken


# ---- Small meshes, and how times grow --------------------------------------------------------------------------------


def test_small_meshes_have_the_requested_size(tmp_path, capsys):
    found = tmp_path / "found.jsonl"
    arguments = ["--triangles", "20", "150", "--threads", "1", "--repeats", "2", "--json", str(found)]
    assert bench_small.main(arguments) == 0
    (record,) = records(found)
    assert set(record["first_ms"]) == {"import numpy", "import dmr", "dmr.refine", "first call, cpu"}
    assert all(len(times) == 2 and min(times) > 0 for times in record["first_ms"].values())
    rows = {row["mesh"]: row for row in record["rows"]}
    # The samples with at most as many triangles as the largest requested mesh.
    assert list(rows) == ["random 20", "random 150", "bracket.poly", "corner.ele", "corner.poly"]
    for name, row in rows.items():
        assert len(row["call"]) == len(row["cpu"]) == len(row["refine"]) == 2
        assert row["tries"] > 1 or row["triangles_in"] > 128
        assert row["launches"] > 0 < row["rounds"]
        if name.startswith("random"):
            assert int(name.split()[1]) <= row["triangles_in"] <= int(name.split()[1]) + 2
    fine = dmr.refine(dmr.read(bench_small.SAMPLES / "bracket.poly"), device="cpu")
    assert rows["bracket.poly"]["triangles"] == len(fine.mesh.triangles)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].endswith(f"of {len(rows)} within the targets")
    assert [" over" in line for line in lines[-len(rows) - 1 : -1]] == [
        sorted(row["call"])[0] + sorted(row["call"])[1] > 100 for row in rows.values()
    ]


def test_a_gpu_has_its_own_target():
    row = {"mesh": "", "triangles_in": 1, "triangles": 1, "device": "", "rounds": 1, "launches": 1, "tries": 1}
    fast = {"call": [49.0, 49.0, 90.0], "cpu": [1.0]}
    slow = {"call": [51.0, 51.0, 1.0], "cpu": [1.0]}
    for threads, times, refine, over in (
        (1, fast, 40.0, False), (1, slow, 1.0, True), (0, fast, 2.9, False), (0, fast, 3.1, True), (0, slow, 2.9, True),
    ):  # fmt: skip
        assert bench_small.Row(**row, **times, threads=threads, refine=[refine]).over() == over


def test_failing_code_in_a_fresh_process_is_reported():
    with pytest.raises(dmr.DmrError, match="no_such_name"):
        bench_small.in_fresh_processes(("", "no_such_name"), 1)
    (slow,) = bench_small.in_fresh_processes(("import time", "time.sleep(0.05)"), 1)
    assert slow >= 50


def test_times_and_memory_by_size(tmp_path, capsys):
    found = tmp_path / "found.jsonl"
    arguments = ["--points", "300", "3000", "--threads", "1", "--repeats", "2", "--validate-up-to", "5000"]
    assert bench_scaling.main([*arguments, "--json", str(found), "--folder", str(tmp_path)]) == 0
    assert list(tmp_path.iterdir()) == [found]  # inputs are gone
    times = []
    for row, points in zip(records(found), (300, 3000), strict=True):
        fine = dmr.refine(dmr.generate("random", points, 12345), device="cpu", threads=1).mesh
        assert (row["points"], row["found"]["triangles"], row["found"]["sha256"]) == (
            points, len(fine.triangles), sha256(fine),
        )  # fmt: skip
        assert row["found"]["valid"] is (True if points == 300 else None)
        assert row["found"]["memory"]["points"] == len(fine.vertices)
        times.append(1e9 * sum(row["found"]["refine"]) / 2 / len(fine.triangles))
        assert row["refine_ns_a_triangle"] == pytest.approx(times[-1])
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 140 for line in lines[1:])
    assert lines[-1] == f"ns/out, largest over smallest: {max(times) / min(times):.2f}"


def test_invalid_sizes_are_refused(capsys):
    assert bench_scaling.main(["--points", "3"]) == 2
    assert "random needs at least 4 points" in capsys.readouterr().err
