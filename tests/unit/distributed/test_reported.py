"""The log of a job."""

from __future__ import annotations

import logging
import re
import time
from pathlib import Path

import dmr.distributed.jobs.reported as module
from dmr.distributed.jobs.in_process import InProcess
from dmr.distributed.jobs.reported import Reported
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Resources, Task


def wait(inputs, out, resources, *, seconds):
    time.sleep(seconds)
    return {"seconds": seconds}


def say(inputs, out, resources, *, word):
    return {"word": word}


def test_each_group_of_tasks_is_logged_while_it_runs(tmp_path: Path, caplog, monkeypatch):
    monkeypatch.setattr(module, "SECONDS_BETWEEN", 0.02)
    runner = Reported(InProcess(Store(tmp_path, durable=False), Resources("cpu", 1)))
    tasks = [Task.of(wait, seconds=seconds) for seconds in (0.0, 0.1)]
    with caplog.at_level(logging.INFO, "dmr"):
        assert runner.run(tasks) == [{"seconds": 0.0}, {"seconds": 0.1}]
        assert runner.run([]) == []
    lines = [record.getMessage() for record in caplog.records]
    assert " s: wait: 2 tasks, " in lines[0] and " MiB resident, at most " in lines[0]
    assert any("wait: 1 of 2 tasks done" in line for line in lines[1:-1])
    assert re.search(
        r"wait: 2 tasks done in 0\.[1-9]\d s: 0\.0\d to 0\.[1-9]\d s each, 0\.[1-9]\d s together, ", lines[-1]
    )
    caplog.clear()
    with caplog.at_level(logging.INFO, "dmr"):
        runner.run(tasks)
        runner.run([*tasks, Task.of(wait, seconds=0.01)])
    assert " s: wait: 2 tasks, 2 of them done before, " in caplog.messages[0]
    assert re.search(r"wait: 2 tasks done in 0\.\d+ s, ", caplog.messages[1])  # nothing ran
    assert " s: wait: 3 tasks, 2 of them done before, " in caplog.messages[2]


def test_only_tasks_of_the_first_function_are_counted(tmp_path: Path, caplog):
    found: list[tuple[str, int, int]] = []
    runner = Reported(
        InProcess(Store(tmp_path, durable=False), Resources("cpu", 1)), lambda *called: found.append(called)
    )
    with caplog.at_level(logging.INFO, "dmr"):
        assert runner.run([Task.of(wait, seconds=0.0), Task.of(say, word="yes")]) == [{"seconds": 0.0}, {"word": "yes"}]
    assert " s: wait: 1 task, " in caplog.messages[0] and " s: wait: 1 task done in " in caplog.messages[-1]
    assert found == [("wait", 0, 1), ("wait", 1, 1)]


def test_nothing_is_watched_without_a_log(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(module, "log", logging.getLogger("dmr.silent"))
    module.log.setLevel(logging.WARNING)
    monkeypatch.setattr(module, "threading", None)
    runner = Reported(InProcess(Store(tmp_path, durable=False), Resources("cpu", 1)))
    assert runner.run([Task.of(wait, seconds=0.0)]) == [{"seconds": 0.0}]


def test_a_callback_follows_the_tasks(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(module, "SECONDS_BETWEEN_CALLS", 0.02)
    found: list[tuple[str, int, int]] = []
    runner = Reported(
        InProcess(Store(tmp_path, durable=False), Resources("cpu", 1)), lambda *called: found.append(called)
    )
    assert runner.run([]) == [] and found == []
    runner.run([Task.of(wait, seconds=seconds) for seconds in (0.0, 0.1)])
    assert found[0] == ("wait", 0, 2) and ("wait", 1, 2) in found and found[-1] == ("wait", 2, 2)
    assert found == sorted(found)
