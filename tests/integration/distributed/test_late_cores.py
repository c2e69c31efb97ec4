"""Cores that are completed beside later tasks, as on a GPU: the same bits, also if their process dies meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dmr
from dmr.distributed.jobs import in_process
from dmr.distributed.jobs.job_folder import TASKS
from dmr.distributed.tiles import tasks
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow

OPTIONS: dict[str, Any] = {"max_area": 5e-5, "tile_triangles": 8000, "device": "cpu", "threads": 2}


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> dict[str, bytes]:
    """The files of the result, of which each task is complete before the next one begins."""
    out = tmp_path_factory.mktemp("expected") / "out"
    parts = dmr.distributed.refine(dmr.domains.rectangle(1, 1), out, **OPTIONS)
    assert parts.counts["parts"] > 3
    return contents(out)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def as_on_a_gpu() -> SimpleNamespace:
    """The device that a runner asks whether tasks run beside each other; they themselves use the CPU."""
    return SimpleNamespace(threads=0)


@pytest.mark.parametrize("failures", [0, 2])
def test_late_cores_have_the_same_bits(failures, expected, tmp_path, monkeypatch):
    """Bands begin before cores are complete; cores that fail are made anew."""
    saved: list[float] = []
    divided: list[float] = []
    save_core, divide = tasks.save_core, tasks.divide

    def late(*given: Any) -> None:
        time.sleep(0.3)
        saved.append(time.monotonic())
        if len(saved) <= failures:
            raise OSError(5, "Input/output error")
        save_core(*given)

    def seen(*given: Any, **options: Any) -> Any:
        divided.append(time.monotonic())
        return divide(*given, **options)

    seen.__module__, seen.__qualname__ = divide.__module__, divide.__qualname__
    monkeypatch.setattr(in_process, "open_device", lambda *given: as_on_a_gpu())
    monkeypatch.setattr(tasks, "save_core", late)
    monkeypatch.setattr(tasks, "divide", seen)
    options = {**OPTIONS, "threads": 8}  # as many tiles are refined at once
    dmr.distributed.refine(dmr.domains.rectangle(1, 1), tmp_path / "out", **options)
    assert contents(tmp_path / "out") == expected
    assert len(saved) > 3 and min(divided) < saved[0]


def test_a_run_that_is_killed_before_cores_are_complete_resumes(expected, tmp_path):
    program = f"""
import os, signal, time
import dmr
from dmr.distributed.jobs import in_process
from dmr.distributed.tiles import tasks
from tests.integration.distributed.test_late_cores import OPTIONS, as_on_a_gpu

def die(*given):
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)

in_process.open_device = lambda *given: as_on_a_gpu()
tasks.save_core = die
dmr.distributed.refine(dmr.domains.rectangle(1, 1), {str(tmp_path / "out")!r}, **OPTIONS)
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    done = [path.name for path in (tmp_path / "out" / TASKS).iterdir()]
    assert any(name.startswith("refine-") for name in done)
    assert not any(name.startswith("store_core-") for name in done)
    dmr.distributed.refine(dmr.domains.rectangle(1, 1), tmp_path / "out", **OPTIONS)
    assert contents(tmp_path / "out") == expected
