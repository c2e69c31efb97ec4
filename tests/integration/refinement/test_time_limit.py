"""`max_seconds` ends a run between two rounds, with a valid mesh and the reason."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace

import numpy as np
import pytest

import dmr
from dmr.cli import main
from dmr.mesh.shapes import min_angles
from dmr.refinement.rounds import time_limit
from dmr.refinement.rounds.device_rounds import DeviceRounds
from dmr.refinement.rounds.time_limit import LONGEST, SHORTEST, STEP, TimeLimit
from tests.support.digests import result_summary


@pytest.fixture
def clock(monkeypatch):
    """Clock that a test sets."""
    shown = SimpleNamespace(now=100.0)
    monkeypatch.setattr(time_limit, "time", SimpleNamespace(perf_counter=lambda: shown.now))
    return shown


def channel(length):
    """Channel with irregular walls: tens of thousands of rounds of a few points each with the default marking."""
    x = np.array([0, 1 / 3, 2 / 3, 1]) * length
    below, above = np.column_stack((x, [0.03, 0.08, 0.03, -0.13])), np.column_stack((x, [1.06, 0.95, 1.04, 1.09]))
    points = np.vstack((below, above[::-1]))
    return dmr.Pslg(points, [(k, (k + 1) % 8) for k in range(8)])


@pytest.mark.parametrize("loop", ["host", "device"])
def test_an_unreached_time_limit_changes_nothing(device_options, loop):
    mesh = dmr.generate("random", 2000, seed=4)
    without = dmr.refine(mesh, loop=loop, **device_options)
    assert result_summary(dmr.refine(mesh, loop=loop, max_seconds=600, **device_options)) == result_summary(without)


@pytest.mark.parametrize("loop", ["host", "device"])
def test_a_run_ends_at_its_time_limit(device_options, loop, clock, monkeypatch):
    run = DeviceRounds.run

    def late(self, *arguments):
        clock.now += 1
        return run(self, *arguments)

    monkeypatch.setattr(DeviceRounds, "run", late)
    mesh = dmr.generate("random", 2000, seed=4)
    if loop == "host":

        def progress(*_):
            clock.now += 1

        fine = dmr.refine(mesh, max_seconds=3.5, progress=progress, **device_options)
        assert 0 < fine.rounds <= 4
    else:
        fine = dmr.refine(mesh, loop=loop, max_seconds=3.5, **device_options)
        assert fine.rounds == 4  # one at a time, since each run of the loop seems to take a second
    assert fine.loop == loop and not fine.complete and fine.unrefined["time"] > 0
    assert "stopped at the limit of 3.5 s: the mesh is valid, but not finished" in fine.warnings[-1]
    assert dmr.validate(fine.mesh, input=mesh, min_angle=0).ok


@pytest.mark.slow
def test_a_run_of_many_rounds_ends_soon_after_its_limit(device_options):
    outline = channel(1e6)
    dmr.refine(outline, max_seconds=0.0, **device_options)  # what is compiled on first use is there
    started = time.perf_counter()
    endless = {"min_angle": 45, "max_steiner": 10**8}  # no bound that a run can reach
    fine = dmr.refine(outline, **endless, max_seconds=0.1, **device_options)
    assert time.perf_counter() - started < 10
    assert not fine.complete and fine.unrefined["time"] > 0 and fine.rounds > 1
    assert dmr.validate(fine.mesh, input=outline, min_angle=0).ok


def test_a_time_limit_of_zero_returns_the_input(device_options):
    mesh = dmr.generate("random", 300, seed=4)
    fine = dmr.refine(mesh, max_seconds=0, **device_options)
    assert (fine.rounds, len(fine.mesh.triangles), fine.complete) == (0, len(mesh.triangles), False)
    assert fine.unrefined["time"] == np.count_nonzero(min_angles(mesh) < 30)


def test_a_fine_mesh_is_complete_with_a_time_limit_of_zero(device_options):
    fine = dmr.refine(dmr.generate("grid", 100), max_seconds=0, **device_options)
    assert fine.complete and fine.rounds == 0 and fine.warnings == ()


def test_no_second_strategy_for_a_tiny_mesh_after_its_time_limit(clock, monkeypatch):
    mesh = dmr.generate("random", 30, seed=4)
    assert dmr.refine(mesh, device="cpu", threads=1, max_seconds=5).tries > 1
    monkeypatch.setattr(TimeLimit, "over", property(lambda self: True))
    assert dmr.refine(mesh, device="cpu", threads=1, max_seconds=5).tries == 1


def test_rounds_between_clock_readings_follow_their_duration(clock):
    assert TimeLimit(None).rounds(1000) == 1000 and not TimeLimit(None).over
    limit, seen = TimeLimit(5), []
    for taken in (SHORTEST / 2, SHORTEST / 2, SHORTEST / 2, (SHORTEST + LONGEST) / 2, 2 * LONGEST, 2 * LONGEST):
        seen.append(limit.rounds(50))
        with limit.measured():
            clock.now += taken
    assert seen == [1, STEP, STEP**2, 50, 50, STEP**2]
    assert not limit.over
    clock.now = 105.0
    assert limit.over


def test_the_command_exits_with_3_and_a_valid_mesh(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dmr.write("input.ele", dmr.generate("random", 300, seed=4))
    assert main(["refine", "input.ele", "--max-seconds", "0", "--json", "--device", "cpu"]) == 3
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert found["complete"] is False and found["unrefined"]["time"] > 0
    assert "stopped at the limit of 0 s" in said.err and "left by the time limit" in said.err
    assert dmr.validate(dmr.read("input.1.ele")).ok
    assert main(["refine", "input.ele", "--max-seconds", "-1"]) == 2
    assert "--max-seconds must be a finite number of seconds, at least 0, not -1" in capsys.readouterr().err
