"""The record of when tasks ran."""

from __future__ import annotations

import pytest

from dmr.distributed.jobs.in_process import InProcess
from dmr.distributed.jobs.store import Store, Times
from dmr.distributed.jobs.task import Resources, Task
from scripts.lib.task_times import Group, Recorder, SystemTimes
from tests.support.distributed import functions


def test_seconds_in_which_one_process_works_alone():
    # Process 1 runs two tasks at once, from 1 to 5; process 2 one from 4 to 9, and a second one from 11 to 12.
    times = (Times(1, 1.0, 4.5), Times(1, 2.0, 5.0), Times(2, 4.0, 9.0), Times(2, 11.0, 12.0))
    row = Group("refine", 0.0, 13.0, times).row()
    assert row == {
        "function": "refine", "tasks": 4, "seconds": 13.0, "alone": 12.0, "longest": 5.0,
        "together": pytest.approx(12.5),
    }  # fmt: skip


def test_groups_of_tasks_are_recorded_once(tmp_path):
    runner = Recorder(InProcess(Store(tmp_path, durable=False), Resources("cpu", 1)))
    tasks = [Task.of(functions.sleep, seconds=seconds, n=1) for seconds in (0.05, 0.1)]
    assert runner.run(tasks) == runner.run(tasks) == [{"count": 1}] * 2
    (group,) = runner.groups
    row = group.row()
    assert (row["function"], row["tasks"]) == ("sleep", 2)
    assert 0.1 <= row["longest"] < row["together"] <= row["seconds"] + 1e-3 and row["alone"] == row["seconds"]


def test_a_timeline_has_a_line_per_group_and_per_task():
    earlier, later = SystemTimes(10.0, 2.0, 0.5, 1000), SystemTimes(13.25, 2.5, 1.5, 3500)
    steps = (("write", 103.0, 103.5), ("load", 102.0, 102.25))
    times = (Times(7, 102.5, 104.0), Times(7, 102.0, 103.5, steps))
    lines = Group("refine", 101.0, 105.0, times, later.since(earlier)).timeline(100.0)
    assert lines == [
        "   1.000    5.000  refine: 3.25 s user, 0.50 s system, 1.00 s waiting for disks, 2,500 page faults",
        "   2.000    3.500    process 7 | load 2.000 0.250 | write 3.000 0.500",
        "   2.500    4.000    process 7",
    ]
    assert Group("refine", 101.0, 105.0, times).timeline(100.0)[0] == "   1.000    5.000  refine"
