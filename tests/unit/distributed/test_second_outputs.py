"""Second outputs of tasks, which are completed beside tasks that do not need them."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dmr.distributed.jobs import in_process, making
from dmr.distributed.jobs.in_process import InProcess
from dmr.distributed.jobs.making import Making
from dmr.distributed.jobs.store import MAKING_PREFIX, Store
from dmr.distributed.jobs.task import Resources, Task
from dmr.errors import InvalidMeshError
from tests.support.distributed import functions
from tests.support.paths import ROOT


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path, durable=False)


def two(**options: object) -> tuple[Task, Task]:
    """Returns a task with two outputs, and one that sums both."""
    then = Task.of(functions.make_second, **options)
    task = replace(Task.of(functions.make_two, **options), then=then)
    return task, replace(Task.of(functions.add_up, [task.name, then.name], factor=1), needs=(then,))


def test_a_task_makes_both_outputs(store):
    task, total = two(n=4)
    assert store.run(task, Resources()) == {"count": 4}
    assert store.summary(task.then.name) == {"squares": 4}
    assert store.run(total, Resources())["total"] == 6 + 14
    assert {path.name for path in store.path.iterdir()} == {task.name, task.then.name, total.name}


def test_a_task_that_needs_the_second_output_waits_for_it(store):
    task, total = two(n=4)
    summary, complete = store.begin(task, Resources())
    assert summary == store.summary(task.name) == {"count": 4}
    assert store.summary(task.then.name) is None
    threading.Timer(0.2, complete).start()
    began = time.monotonic()
    assert store.run(total, Resources())["total"] == 6 + 14
    assert time.monotonic() - began > 0.1
    assert store.summary(task.then.name) == {"squares": 4}  # not made again


def test_what_follows_the_last_summary_runs_when_the_second_output_is_in_its_place(store, monkeypatch):
    task, _ = two(n=4)
    seen, make_two = [], functions.make_two

    def followed(*given, **options):
        yield from make_two(*given, **options)
        seen.append(store.summary(task.then.name))

    monkeypatch.setattr(functions, "make_two", followed)
    store.run(task, Resources())
    assert seen == [{"squares": 4}]


def test_a_task_may_have_no_second_output(store):
    task, _ = two(n=4, fault="none")
    store.run(task, Resources())
    assert [path.name for path in store.path.iterdir()] == [task.name]


def test_a_second_output_that_fails_is_an_error_of_the_task_that_needs_it(store, monkeypatch):
    task, total = two(n=4, fault="error")
    monkeypatch.setattr(in_process, "open_device", lambda *given: SimpleNamespace(threads=0))
    with InProcess(store, Resources("cuda:0", 2)) as runner:
        assert runner.run([task]) == [{"count": 4}]
        with pytest.raises(InvalidMeshError, match="triangle 7: has no area"):
            runner.run([total])
    assert [path.name for path in store.path.iterdir()] == [task.name]


def test_the_end_of_a_runner_waits_for_second_outputs(store, monkeypatch):
    task, _ = two(n=4)
    monkeypatch.setattr(in_process, "open_device", lambda *given: SimpleNamespace(threads=0))
    with InProcess(store, Resources("cuda:0", 2)) as runner:
        runner.run([task])
    assert store.summary(task.then.name) == {"squares": 4}


def test_a_second_output_is_made_anew_if_its_process_has_died(store):
    task, total = two(n=4)
    program = f"""
import os, signal
from pathlib import Path
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Resources
from tests.unit.distributed.test_second_outputs import two
Store(Path({str(store.path)!r}), durable=False).begin(two(n=4)[0], Resources())
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=60)
    assert (store.path / f"{MAKING_PREFIX}{task.then.name}").exists()
    assert store.summary(task.name) == {"count": 4}
    assert store.summary(task.then.name) is None
    assert store.run(total, Resources())["total"] == 6 + 14
    assert store.summary(task.then.name) == {"squares": 4, "again": True}
    store.remove_unfinished()
    assert {path.name for path in store.path.iterdir()} == {task.name, task.then.name, total.name}


def test_without_locks_both_outputs_are_complete_at_once(store, monkeypatch):
    def refuse(descriptor: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(making, "take_lock", refuse)
    task, _ = two(n=4)
    assert store.begin(task, Resources()) == ({"count": 4}, None)
    assert store.summary(task.then.name) == {"squares": 4}


def test_an_output_that_is_made_twice_at_the_same_time_is_complete(store, monkeypatch):
    """Without locks, all tasks that need it may make it: none sees that of another one."""
    monkeypatch.setattr(Path, "exists", lambda path: False)
    with store._new("output") as second:
        second["numbers"] = np.array([2])
        with store._new("output") as first:
            first["numbers"] = np.array([1])
    assert store.folder("output")["numbers"].tolist() == [1]
    assert [path.name for path in store.path.iterdir()] == ["output"]


def test_a_mark_that_cannot_be_opened_is_not_waited_for(tmp_path, monkeypatch):
    """It may belong to another user."""

    def refuse(*given: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    mark = Making(tmp_path / "mark")
    monkeypatch.setattr(making.os, "open", refuse)
    assert not mark.take()
    assert not mark.works


def test_a_mark_is_released_although_another_process_has_inherited_its_file(tmp_path):
    mark = Making(tmp_path / "mark")
    assert mark.take()
    waiter = threading.Thread(target=Making(tmp_path / "mark").wait, daemon=True)
    with subprocess.Popen(["sleep", "60"], pass_fds=[mark._descriptor]) as heir:
        waiter.start()
        time.sleep(0.2)
        assert waiter.is_alive()
        mark.release()
        waiter.join(10)
        is_waiting = waiter.is_alive()
        heir.kill()
    assert not is_waiting
