"""scripts/bench/command.py on a small input, with a program in place of Triangle."""

from __future__ import annotations

import json
import sys

import pytest

import dmr
from scripts.bench import command as bench_command
from scripts.lib.child_processes import ProgramError, run_measured

pytestmark = pytest.mark.slow

# Records its arguments, waits, and copies its input to its output.
FAKE = f"""#!{sys.executable}
import pathlib, shutil, sys, time
with (pathlib.Path(__file__).parent / "calls").open("a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
time.sleep(0.2)
for suffix in (".node", ".ele"):
    shutil.copyfile("input.1" + suffix, "input.2" + suffix)
"""


@pytest.fixture
def fake(tmp_path):
    path = tmp_path / "tools" / "triangle"
    path.parent.mkdir()
    path.write_text(FAKE)
    path.chmod(0o755)
    return path


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def program(folder, text):
    path = folder / "program.py"
    path.write_text(text)
    return [sys.executable, path]


def test_programs_take_turns_and_results_are_proved(tmp_path, fake, capsys):
    kept = tmp_path / "records.jsonl"
    settings = ["--input", "random-60", "--repeats", "2", "--triangle", str(fake), "--json", str(kept)]
    assert bench_command.main([*settings, "--threads", "1", "2", "-q", "25", "--in", str(tmp_path)]) == 0
    found = records(kept)
    assert [(each["name"], each["threads"]) for each in found] == [
        ("dmr .ele", 1), ("dmr .ele", 2), ("dmr .npz", 1), ("dmr .npz", 2), ("triangle .ele", 1)
    ]  # fmt: skip
    *ours, peer = found
    assert fake.with_name("calls").read_text().splitlines() == ["-rq25 input.1"] * 3  # a warm-up, and the repeats
    source = dmr.generate("random", 60, 12345)
    expected = dmr.refine(source, min_angle=25).mesh
    assert peer["triangles"] == len(source.triangles)
    for each in ours:
        assert each["triangles"] == len(expected.triangles)
        assert each["valid"] is True
        assert len(each["costs"]) == 2
        assert each["size"] == len(expected.triangles) / len(source.triangles)
    assert ours[0]["sha256"] == ours[1]["sha256"] != ours[2]["sha256"] == ours[3]["sha256"]
    assert all(cost["wall"] > 0.2 > cost["user"] for cost in peer["costs"])
    assert peer["ratio"] == 1
    assert capsys.readouterr().out.count("proved") == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["records.jsonl", "tools"]  # the input is gone


def test_an_invalid_result_exits_with_5(tmp_path, monkeypatch, capsys):
    # Triangle's place is taken by the input itself, which has angles below the bound.
    def unrefined(name, suffix, threads, options):
        copy = "import shutil; shutil.copyfile('input.1.npz', 'out.npz')"
        return bench_command.Program(
            input=name, name="copy", threads=1, command=[sys.executable, "-c", copy], results=["out.npz"]
        )

    monkeypatch.setattr(bench_command, "ours", unrefined)
    settings = ["--input", "random-60", "--repeats", "1", "--formats", ".npz", "--in", str(tmp_path)]
    assert bench_command.main(settings) == 5
    said = capsys.readouterr()
    assert "INVALID" in said.out
    assert "angle" in said.err


def test_a_result_that_differs_between_runs_is_an_error(tmp_path, fake, capsys):
    fake.write_text(FAKE + "open('input.2.ele', 'a').write(f'# {time.time_ns()}\\n')\n")
    settings = ["--input", "random-60", "--repeats", "1", "--formats", ".npz", "--triangle", str(fake)]
    assert bench_command.main([*settings, "--in", str(tmp_path)]) == 1
    assert "the files of two runs differ" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--input", "nothing"], "there is no input nothing"),
        (["--repeats", "0"], "--repeats must be at least 1"),
        (["--triangle", "no-such-program"], "there is no program no-such-program"),
        (["--input", "random-60", "--device", "cuda:99", "--repeats", "1"], "ended with exit code 4"),
        (["--input", "random-60", "--in", "no-such-folder"], "No such file"),
    ],
)
def test_errors_are_one_sentence(arguments, sentence, capsys):
    assert bench_command.main(arguments) > 0
    said = capsys.readouterr().err
    assert said.startswith("bench_command: ")
    assert sentence in said
    assert "Traceback" not in said


def test_time_and_memory_are_those_of_the_child_process(tmp_path):
    busy = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n"
    large = "block = bytearray(300_000_000)\nblock[::4096] = b'x' * len(block[::4096])\n"
    idle = run_measured(program(tmp_path, "import time; time.sleep(0.3)"), tmp_path)
    heavy = run_measured(program(tmp_path, busy + large), tmp_path)
    assert idle.wall > 0.3 > idle.user + idle.system
    assert heavy.user + heavy.system > 0.3
    assert heavy.peak > 300e6


def test_a_failure_quotes_the_program(tmp_path):
    with pytest.raises(ProgramError, match=r"program.py ended with exit code 7: one \| two"):
        run_measured(program(tmp_path, "import sys; print('one'); print('two'); sys.exit(7)"), tmp_path)
    with pytest.raises(ProgramError, match="exit code -9: it said nothing"):
        run_measured(program(tmp_path, "import os; os.kill(os.getpid(), 9)"), tmp_path)
    with pytest.raises(ProgramError, match="cannot be started"):
        run_measured([tmp_path / "nothing"], tmp_path)
