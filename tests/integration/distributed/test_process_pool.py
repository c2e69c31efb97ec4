"""Tasks in processes of this machine: results, errors, and processes that die."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from dmr.common.threads import available_threads
from dmr.distributed.jobs import in_process
from dmr.distributed.jobs.in_process import InProcess
from dmr.distributed.jobs.process_pool import LIGHT_SHARE, ProcessPool
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Resources, Task
from dmr.distributed.jobs.worker import share
from dmr.errors import InvalidMeshError, LostWorkerError
from tests.support.distributed import functions

pytestmark = pytest.mark.slow  # a process takes a second to start


def test_a_pool_gives_what_this_process_gives(store, tmp_path):
    tasks = [Task.of(functions.count_up, n=n) for n in range(1, 9)]
    (tmp_path / "alone").mkdir()
    alone = InProcess(Store(tmp_path / "alone"))
    with ProcessPool(store, 2) as pool:
        assert pool.run(tasks) == alone.run(tasks)
        total = Task.of(functions.add_up, [task.name for task in tasks], factor=2)
        assert pool.run([total]) == alone.run([total])
    assert store.folder(total.name)["numbers"] == alone.store.folder(total.name)["numbers"]


def test_a_process_without_a_task_gets_ready_for_one(store, log):
    with ProcessPool(store, 2, Resources("cpu")) as pool:
        assert pool.run([Task.of(functions.wait_for_another, ready=str(log))])[0]["others"] == 1


def test_a_task_given_twice_runs_once(store, log):
    task = Task.of(functions.count_runs, log=str(log), n=1)
    with ProcessPool(store, 2) as pool:
        assert pool.run([task, task]) == [{"count": 1}] * 2
    assert len(list(log.iterdir())) == 1


def test_errors_keep_their_data(store):
    with pytest.raises(InvalidMeshError, match="triangle 7: has no area") as caught, ProcessPool(store, 1) as pool:
        pool.run([Task.of(functions.refuse)])
    assert (caught.value.element, caught.value.index) == ("triangle", 7)


def test_a_task_whose_process_dies_runs_again(store, log, caplog):
    others = [Task.of(functions.sleep, seconds=0.05, n=n) for n in range(4)]
    with ProcessPool(store, 2) as pool:
        results = pool.run([*others[:2], Task.of(functions.die, log=str(log), times=3), *others[2:]])
    assert results[2] == {"runs": 4}
    assert [each["count"] for each in results[:2] + results[3:]] == [0, 1, 2, 3]
    assert len(list(store.path.iterdir())) == 5  # nothing is left of the runs that died
    deaths = [text for text in caplog.messages if text.startswith("a process died, perhaps for lack of memory: ")]
    assert len(deaths) == 3 and all(text.endswith(" begun again") for text in deaths)


def test_shares_of_tasks_of_a_process_that_dies_run_again_one_by_one(store, log):
    """A process with a GPU gets its share of the tasks at once; here one without gets it, too."""
    tasks = [Task.of(functions.sleep, seconds=0.05, n=n) for n in range(5)]
    with ProcessPool(store, 2, Resources("cpu")) as pool:
        pool._on_gpu = True
        assert [len(each) for each in pool._shares(tasks)] == [3, 2]
        results = pool.run([*tasks[:3], Task.of(functions.die, log=str(log), times=3), *tasks[3:]])
    assert results[3] == {"runs": 4}
    assert [each["count"] for each in results[:3] + results[4:]] == [0, 1, 2, 3, 4]


def test_the_fourth_death_is_an_error(store, log):
    with (
        pytest.raises(LostWorkerError, match=r"die-\w+ died 4 times, perhaps for lack of memory"),
        ProcessPool(store, 1) as pool,
    ):
        pool.run([Task.of(functions.die, log=str(log), times=9)])
    assert len(list(log.iterdir())) == 4


def test_a_program_that_workers_cannot_import_is_named_as_the_reason(tmp_path):
    program = f"""
import dmr
try:
    plate, out = dmr.domains.rectangle(4, 2), {str(tmp_path / "out")!r}
    dmr.distributed.refine(plate, out, max_area=1, tile_triangles=500, workers=1)
except dmr.DmrError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-"], input=program, capture_output=True, text=True, timeout=60)
    assert "each imports the main module of the program, which must therefore be a file, not stdin" in run.stdout
    assert "<stdin>" in run.stderr and run.returncode == 0


def test_workers_that_are_killed_before_they_begin_are_no_fault_of_the_program(tmp_path):
    """As by the system for lack of memory; here by the module that they import first."""
    program = tmp_path / "program.py"
    program.write_text(f"""
import os, signal
if __name__ != "__main__":
    os.kill(os.getpid(), signal.SIGKILL)
import dmr
try:
    plate, out = dmr.domains.rectangle(4, 2), {str(tmp_path / "out")!r}
    dmr.distributed.refine(plate, out, max_area=1, tile_triangles=500, workers=2)
except dmr.DmrError as error:
    print(error)
""")
    run = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60)
    assert "were ended by signal 9 before they began, perhaps for lack of memory" in run.stdout
    assert "main module" not in run.stdout and run.returncode == 0


def test_an_error_does_not_wait_for_other_tasks(store):
    began = time.monotonic()
    with pytest.raises(InvalidMeshError), ProcessPool(store, 2) as pool:
        pool.run([Task.of(functions.sleep, seconds=60, n=1), Task.of(functions.refuse)])
    assert time.monotonic() - began < 30
    assert list(store.path.iterdir()) == []


def test_workers_share_the_cores(store):
    tasks = [Task.of(functions.tell_resources, n=n) for n in range(2)]
    with ProcessPool(store, 2, Resources("cpu")) as pool:
        results = pool.run(tasks)
        (alone,) = pool.run([Task.of(functions.tell_resources, n=2)])
    assert {each["device"] for each in results} == {"cpu"}
    assert len({each["process"] for each in results}) == 2
    assert {each["threads"] for each in results} == {max(1, available_threads() // 2)}
    assert alone["threads"] == available_threads()


def test_light_tasks_take_no_share_of_the_cores(store, log):
    heavy = Task.of(functions.wait_for_another, ready=str(log))
    light = replace(Task.of(functions.tell_resources, n=1), light=True)
    with ProcessPool(store, 2, Resources("cpu")) as pool:
        results = pool.run([heavy, light])
    assert results[0]["threads"] == available_threads()
    assert results[1]["threads"] == max(1, available_threads() // 2 // LIGHT_SHARE)
    assert results[0]["others"] == 1


@pytest.mark.parametrize("threads", [0, 2])
def test_light_tasks_are_left_out_if_no_worker_is_idle(threads, store, monkeypatch):
    """A task alone has all threads, whatever the number of light ones."""
    monkeypatch.setattr(in_process, "open_device", lambda *given: SimpleNamespace(threads=threads))
    tasks = [replace(Task.of(functions.tell_resources, n=n), light=n > 0) for n in range(3)]
    runner = InProcess(store, Resources("cuda:0", 16))
    assert [each.get("threads") for each in runner.run(tasks[::-1])] == [None, None, 16]
    assert all(runner.run(tasks[1:]))


@pytest.mark.parametrize(
    ("workers", "light", "expected"),
    [
        (1, "..l", [[0, 1]]),
        (2, "lll.", [[3], [0, 1, 2]]),
        (3, ".llll", [[0], [1, 3], [2, 4]]),
        (3, ".l", [[0], [1]]),
        (2, "..ll", [[0], [1]]),
        (2, "lll", [[0, 2], [1]]),
        (2, "...", [[0, 2], [1]]),
    ],
)
def test_which_workers_with_gpus_get_light_tasks(workers, light, expected, store, monkeypatch):
    """Those without another task, if there are some; otherwise none."""
    tasks = [replace(Task.of(functions.count_up, n=n), light=each == "l") for n, each in enumerate(light)]
    with ProcessPool(store, workers, Resources("cpu")) as pool:
        monkeypatch.setattr(pool, "_on_gpu", True)
        assert [[task.options["n"] for task in share] for share in pool._shares(tasks)] == expected


def test_a_worker_has_one_gpu_and_its_share_of_the_cores(monkeypatch):
    from dmr.memory.cuda import discovery

    usable = discovery.Card("a card", 1 << 30, None)
    monkeypatch.setattr(discovery, "cards", lambda: (usable, discovery.Card("old", 1, "too old"), usable))
    assert [share(k, 4, Resources(), 10) for k in range(4)] == [
        Resources("cuda:0", 2), Resources("cuda:2", 2), Resources("cuda:0", 2), Resources("cuda:2", 2),
    ]  # fmt: skip
    assert share(3, 4, Resources("cuda:1", 5), 10) == Resources("cuda:1", 5)
    assert share(3, 4, Resources("cpu"), 2) == Resources("cpu", 1)
    monkeypatch.setattr(discovery, "cards", tuple)
    assert share(0, 1, Resources(), 2) == Resources("cpu", 2)
    assert share(0, 1, Resources("cuda"), 2) == Resources("cuda", 2)


@pytest.mark.gpu
def test_two_workers_use_two_gpus(store):
    from dmr.memory.cuda.discovery import cards

    if len(cards()) < 2:
        pytest.skip("this machine has one GPU")
    with ProcessPool(store, 2) as pool:
        results = pool.run([Task.of(functions.tell_gpu, n=n) for n in range(2)])
    assert len({each["uuid"] for each in results}) == 2


def test_interrupting_ends_the_processes(store):
    """The exception comes while tasks run, as after Ctrl-C; leaving the block must not wait for them."""
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), ProcessPool(store, 1) as pool:
        pool._pool.submit(time.sleep, 60)
        raise KeyboardInterrupt
    assert time.monotonic() - began < 30
