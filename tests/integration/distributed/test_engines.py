"""Tasks by executors of `concurrent.futures`, by a Dask cluster, and by an MPI job."""

from __future__ import annotations

import importlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from dmr.distributed.engines import chosen_engine
from dmr.distributed.jobs.dask_cluster import DaskCluster, dask_cluster
from dmr.distributed.jobs.over_executor import OverExecutor
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Resources, Task
from dmr.errors import DeviceUnavailableError, InvalidMeshError, LostWorkerError, MissingFileError, OptionError
from tests.support.distributed import functions
from tests.support.distributed.engines import mpi_command
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow
CPU = Resources("cpu", 1)


def chain(runner: Any) -> list[dict[str, Any]]:
    """Runs eight tasks, and one that needs them all."""
    counts = [Task.of(functions.count_up, n=n) for n in range(1, 9)]
    return [*runner.run(counts), *runner.run([Task.of(functions.add_up, [task.name for task in counts], factor=2)])]


EXPECTED = [*({"count": n} for n in range(1, 9)), {"total": 168, "range": [0, 168]}]


def test_any_executor_runs_tasks(store):
    with ThreadPoolExecutor(3) as executor:
        assert chain(OverExecutor(store, executor, CPU)) == EXPECTED


def test_finished_tasks_are_not_submitted(store, log):
    tasks = [Task.of(functions.count_runs, log=str(log), n=n) for n in (1, 2, 1)]
    with ThreadPoolExecutor(2) as executor:
        for _ in range(2):
            assert OverExecutor(store, executor, CPU).run(tasks) == [{"count": n} for n in (1, 2, 1)]
    assert len(list(log.iterdir())) == 2


def test_a_worker_that_does_not_see_the_folder_says_so(tmp_path):
    """It is not under this name on the worker's machine."""
    with ThreadPoolExecutor(1) as executor, pytest.raises(MissingFileError, match="all workers must see it"):
        OverExecutor(Store(tmp_path / "elsewhere"), executor, CPU).run([Task.of(functions.count_up, n=3)])


def test_a_pool_of_the_user_that_breaks_is_an_error(store, log):
    with (
        ProcessPoolExecutor(1, get_context("spawn")) as executor,
        pytest.raises(LostWorkerError, match="the same call resumes"),
    ):
        OverExecutor(store, executor, CPU).run([Task.of(functions.die, log=str(log), times=1)])
    assert len(list(log.iterdir())) == 1


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A cluster of four processes, as `dask scheduler` and `dask worker` make it."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None, resources={"GPU": 1}) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_a_cluster_of_dask_runs_tasks(store, client):
    with dask_cluster(store, client.scheduler.address, CPU) as runner:
        assert chain(runner) == EXPECTED


def test_an_executor_of_dask_runs_tasks(store, client):
    executor: Executor = client.get_executor(pure=False)
    assert chain(OverExecutor(store, executor, CPU)) == EXPECTED


def test_errors_of_dask_keep_their_data(store, client):
    with pytest.raises(InvalidMeshError, match="triangle 7: has no area") as caught:
        DaskCluster(store, client, CPU).run([Task.of(functions.refuse)])
    assert (caught.value.element, caught.value.index) == ("triangle", 7)


def test_a_task_whose_worker_of_dask_dies_runs_again(store, client, log):
    tasks = [Task.of(functions.die, log=str(log), times=2), Task.of(functions.count_up, n=3)]
    assert DaskCluster(store, client, CPU).run(tasks) == [{"runs": 3}, {"count": 3}]


def test_the_fourth_death_of_a_worker_of_dask_is_an_error(store, client, log):
    with pytest.raises(LostWorkerError, match="Dask workers died 4 times with one task"):
        DaskCluster(store, client, CPU).run([Task.of(functions.die, log=str(log), times=9)])
    assert len(list(log.iterdir())) == 4


def test_a_cluster_without_workers_is_reported(store, caplog):
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        dask_cluster(store, cluster.scheduler_address, CPU),
    ):
        pass
    assert "the Dask cluster has no workers: tasks wait until one is started" in caplog.text


def test_a_scheduler_that_is_not_there_is_an_error(store):
    import dask

    importlib.import_module("distributed")  # or its defaults would be removed with the timeout, for later tests
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "200ms"}),
        pytest.raises(DeviceUnavailableError, match=r"there is no Dask scheduler at tcp://127\.0\.0\.1:9"),
        dask_cluster(store, "tcp://127.0.0.1:9", CPU),
    ):
        pass


def test_a_job_of_mpi_runs_tasks(store):
    program = ["-m", "tests.support.distributed.engines", str(store.path)]
    ended = subprocess.run(mpi_command(3, *program), cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["results"] == EXPECTED
    assert len({each["process"] for each in told["resources"]}) == 2
    assert {each["device"] for each in told["resources"]} == {"cpu"}


@pytest.mark.gpu
def test_two_workers_of_mpi_use_two_gpus(store):
    from dmr.memory.cuda.discovery import cards

    pytest.importorskip("mpi4py")
    if len(cards()) < 2:
        pytest.skip("this machine has one GPU")
    command = mpi_command(3, "-m", "tests.support.distributed.engines", str(store.path), "--gpus")
    if not Path(command[0]).exists():
        pytest.skip("there is no mpiexec beside this Python: openmpi is not installed")
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert len(set(json.loads(ended.stdout))) == 2


def test_the_death_of_a_process_ends_the_job_of_mpi(store, log):
    program = ["-m", "tests.support.distributed.engines", str(store.path), str(log)]
    ended = subprocess.run(mpi_command(2, *program), cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode != 0
    assert len(list(log.iterdir())) == 1
    ended = subprocess.run(mpi_command(2, *program), cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["results"] == [{"runs": 2}]


def test_a_process_outside_of_mpi_is_told_how_to_start():
    """Before it takes a folder: without `mpi4py.futures`, all processes of a job get here."""
    message = r"start it with mpiexec -n 5 python -m mpi4py\.futures"
    with pytest.raises(OptionError, match=message):
        chosen_engine(CPU, mpi=True)


def test_workers_end_with_a_killed_coordinator(store):
    program = ["-m", "tests.support.distributed.engines", str(store.path), "--pool"]
    with subprocess.Popen([sys.executable, *program], cwd=ROOT, stdout=subprocess.PIPE, text=True) as coordinator:
        assert coordinator.stdout is not None
        assert coordinator.stdout.readline() == "began\n"
        coordinator.send_signal(signal.SIGKILL)
        coordinator.communicate(timeout=60)  # ends when no process has the pipe open
