"""The benchmark of first calls, with scripts in place of nvcc, PyCUDA and processes that need a GPU."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dmr.memory.declarations import source_folder
from scripts.bench import start as bench_start

pytestmark = pytest.mark.slow

NVCC = '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho "machine code" > "$2"\n'
DRIVER = """
class Device:
    def __init__(self, number): pass
    def make_context(self): return self
    def pop(self): pass
    def get_function(self, name): return name
def init(): pass
def module_from_file(path):
    assert open(path).read() == "machine code\\n"
    return Device(0)
"""


@pytest.fixture
def pretended(tmp_path, monkeypatch):
    """Simulates a machine with a GPU; returns the processes run, as (command, environment)."""
    (tmp_path / "pycuda").mkdir()
    (tmp_path / "pycuda" / "__init__.py").write_text("")
    (tmp_path / "pycuda" / "driver.py").write_text(DRIVER)
    (tmp_path / "nvcc").write_text(NVCC)
    (tmp_path / "nvcc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv(bench_start.VARIABLE, "")
    monkeypatch.setattr(bench_start, "visible_architectures", lambda: ["sm_90"])
    run = []

    def run_process(command, environment, folder):
        run.append((command, environment))
        ahead = Path(environment["PYTHONPATH"].split(os.pathsep)[0], "dmr", "memory", "cuda", "prebuilt")
        assert ahead.is_dir() == ("unused" in environment["XDG_CACHE_HOME"])
        return float(len(run))

    monkeypatch.setattr(bench_start, "run_process", run_process)
    return run


def test_all_processes_and_modules_are_measured_and_recorded(pretended, tmp_path, capsys):
    bench_start.main(["--repeats", "2", "--json", str(tmp_path / "found.jsonl")])
    (record,) = map(json.loads, (tmp_path / "found.jsonl").read_text().splitlines())
    assert record["seconds"].pop("compile all")[0] > 0
    assert {name: len(runs) for name, runs in record["seconds"].items()} == dict.fromkeys(
        ("bare", "bare numpy", "imports", "empty cache", "cached", "built ahead"), 2
    )
    refinements = [environment["XDG_CACHE_HOME"] for command, environment in pretended if "refine" in command]
    assert len(set(refinements)) == 4 and refinements[0] == refinements[1] and refinements[3] == refinements[4]
    assert set(record["modules"]) == {
        path.relative_to(source_folder()).with_suffix("").as_posix() for path in source_folder().rglob("*.cu")
    }
    for row in record["modules"].values():
        assert set(row) == {"compile_wall", "compile_cpu", "load", "bytes"} and row["compile_wall"] > 0
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["empty", "cache", "7.000", "3.000", "10"] in shown  # runs 4 and 10 beyond runs 1 and 7
    assert any(line[:1] == ["refine/rounds/persistent_rounds"] for line in shown)


def test_a_missing_gpu_is_reported(monkeypatch):
    monkeypatch.setattr(bench_start, "visible_architectures", lambda: [])
    with pytest.raises(SystemExit, match="no GPU"):
        bench_start.main([])
