"""Tasks beside those that they do not depend on: cores that are completed late, and parts prepared beside a band."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dmr
from dmr.distributed.jobs import in_process
from dmr.distributed.jobs.job_folder import TASKS
from dmr.distributed.jobs.task import Task
from dmr.distributed.output import finish, ghosts
from dmr.distributed.tiles import tasks
from dmr.distributed.tiles.passes import Passes
from dmr.distributed.tiles.result import core_file
from dmr.distributed.tiles.separation import dividing
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
    joined: list[float] = []
    save_core, join = tasks.save_core, tasks.join

    def late(*given: Any) -> None:
        time.sleep(0.3)
        saved.append(time.monotonic())
        if len(saved) <= failures:
            raise OSError(5, "Input/output error")
        save_core(*given)

    def seen(*given: Any, **options: Any) -> Any:
        joined.append(time.monotonic())
        return join(*given, **options)

    seen.__module__, seen.__qualname__ = join.__module__, join.__qualname__
    monkeypatch.setattr(in_process, "open_device", lambda *given: as_on_a_gpu())
    monkeypatch.setattr(tasks, "save_core", late)
    monkeypatch.setattr(tasks, "join", seen)
    options = {**OPTIONS, "threads": 8}  # as many tiles are refined at once
    dmr.distributed.refine(dmr.domains.rectangle(1, 1), tmp_path / "out", **options)
    assert contents(tmp_path / "out") == expected
    assert len(saved) > 3 and min(joined) < saved[0]


@pytest.mark.parametrize("known", [[True], [False], [True, False], [False, True, True]])
def test_vertices_have_the_same_numbers_when_they_get_them_later(known, expected, tmp_path, monkeypatch):
    """The task of a tile numbers the vertices of its core if it knows how many all tiles before it have inserted."""
    later: list[Any] = []
    write, found = core_file.write_first_rows, tasks._first_number
    answers = itertools.cycle(known)
    monkeypatch.setattr(tasks, "_first_number", lambda *given: found(*given) if next(answers) else -1)
    monkeypatch.setattr(core_file, "write_first_rows", lambda *given: (later.append(given), write(*given))[1])
    dmr.distributed.refine(dmr.domains.rectangle(1, 1), tmp_path / "out", **OPTIONS)
    assert contents(tmp_path / "out") == expected
    assert bool(later) == (False in known)


def test_a_run_that_is_killed_before_cores_are_complete_resumes(expected, tmp_path):
    program = f"""
import os, signal, time
import dmr
from dmr.distributed.jobs import in_process
from dmr.distributed.tiles import tasks
from tests.integration.distributed.test_overlaps import OPTIONS, as_on_a_gpu

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


def test_parts_are_prepared_while_the_last_band_is_refined(expected, tmp_path, monkeypatch):
    """The borders of all other pieces are found before the band is complete, and none is found again."""
    called: list[str] = []
    call = Task.call

    def seen(task: Task, *given: Any) -> Any:
        name = task.function.rpartition(":")[2]
        if name == "join":
            deadline = time.monotonic() + 60
            while called.count("find_border") < parts - 1 and time.monotonic() < deadline:
                time.sleep(0.01)
            before.extend(called)
        called.append(name)
        return call(task, *given)

    before: list[str] = []
    parts = sum(name.startswith("part-") for name in expected)
    monkeypatch.setattr(Task, "call", seen)
    options = {name: value for name, value in OPTIONS.items() if name != "threads"}
    with ThreadPoolExecutor(2) as executor:
        dmr.distributed.refine(dmr.domains.rectangle(1, 1), tmp_path / "out", executor=executor, **options)
    assert contents(tmp_path / "out") == expected
    assert before.count("find_border") == parts - 1
    assert called.count("find_border") == parts - 1 == called.count("make_part") - 1
    assert called.count("summarize") == parts + 1  # the band's border is found in its parts, and its triangles counted
    assert called.count("match_borders") == called.count("join") == 1


def test_margins_that_other_tiles_reach_are_divided_again(tmp_path, monkeypatch):
    """The task of a tile of a band divides its margin by its own seeds; here none of these divisions is used."""
    called: list[str] = []
    call = Task.call
    monkeypatch.setattr(Task, "call", lambda task, *rest: (called.append(task.function), call(task, *rest))[1])
    options = {**OPTIONS, "max_area": 1e-3, "tile_triangles": 400}
    own = dmr.distributed.refine(dmr.domains.rectangle(1, 1), tmp_path / "own", **options)
    assert len(own.manifest["passes"]) > 2
    before = sum(name.endswith(":divide") for name in called)
    monkeypatch.setattr(dividing, "are_nearest", lambda tiles, layers: [False] * len(tiles))
    dmr.distributed.refine(dmr.domains.rectangle(1, 1), tmp_path / "again", **options)
    assert sum(name.endswith(":divide") for name in called) > 2 * before
    assert contents(tmp_path / "own") == contents(tmp_path / "again")


def test_neighbours_of_the_last_band_read_its_margin(expected, tmp_path, monkeypatch):
    """Where the boundary touches itself, pieces may meet in the core: then its border is found by a task."""
    read: list[int] = []
    find = finish.find_border

    def seen(inputs: Any, *given: Any, **options: Any) -> Any:
        read.append(len(options["places"]))
        return find(inputs, *given, **options)

    seen.__module__, seen.__qualname__ = find.__module__, find.__qualname__
    monkeypatch.setattr(ghosts, "find_border", seen)
    monkeypatch.setattr(finish, "find_border", seen)
    for pinched in (False, True):
        read.clear()
        if pinched:
            monkeypatch.setattr(Passes, "_outside", lambda passes: None)
        out = tmp_path / str(pinched)
        dmr.distributed.refine(dmr.domains.rectangle(1, 1), out, **OPTIONS)
        assert contents(out) == expected
        assert len(read) == sum(name.startswith("part-") for name in expected) - (not pinched)
    squares = [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (1, 2), (0, 1)]
    edges = [(0, 1), (1, 2), (2, 6), (6, 0), (2, 3), (3, 4), (4, 5), (5, 2)]
    monkeypatch.undo()
    read.clear()
    monkeypatch.setattr(Passes, "_outside", lambda passes, own=Passes._outside: read.append(own(passes) is None))
    touching = dmr.Pslg(squares, edges)
    parts = dmr.distributed.refine(touching, tmp_path / "touching", **{**OPTIONS, "tile_triangles": 20_000})
    assert read == [True] and dmr.validate(parts.gather(), input=touching, min_angle=30).ok
    assert parts.counts["parts"] > 2


def test_many_pieces_have_the_same_bits(expected, tmp_path, monkeypatch):
    """Their borders are found in groups of tasks, because each task that finds several lists all pieces."""
    monkeypatch.setattr(finish, "MOST_TOGETHER", 2)
    dmr.distributed.refine(dmr.domains.rectangle(1, 1), tmp_path / "out", **OPTIONS)
    assert contents(tmp_path / "out") == expected
