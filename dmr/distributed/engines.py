"""The engines that run the tasks of a job: each gives a runner over the job's store, for as long as the job runs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from dmr.common.arguments import shortened, whole_option
from dmr.common.text import option
from dmr.distributed.jobs.boot import spare_flushes
from dmr.distributed.jobs.dask_cluster import DaskCluster, dask_cluster
from dmr.distributed.jobs.in_process import InProcess
from dmr.distributed.jobs.mpi import check_launch, mpi_workers
from dmr.distributed.jobs.over_executor import OverExecutor
from dmr.distributed.jobs.process_pool import ProcessPool
from dmr.distributed.jobs.runner import Runner
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Resources
from dmr.errors import OptionError, WrongTypeError

Engine = Callable[[Store], AbstractContextManager[Runner]]


def chosen_engine(
    resources: Resources,
    *,
    executor: Any = None,
    workers: int | None = None,
    scheduler: str | None = None,
    mpi: bool = False,
) -> Engine:
    """Returns an engine; without further options, this process.

    Args:
        resources: the device and threads that the user asked for.
        executor: an executor of `concurrent.futures`, or a Dask client.
        workers: the number of processes on this machine, from 1.
        scheduler: the address of a Dask scheduler.
        mpi: whether the other processes of this MPI job do the work.

    Raises:
        OptionError: there are several, or no such number of workers, or this process does not coordinate an MPI job; a
            WrongTypeError for an executor of another type.
        DeviceUnavailableError: MPI cannot be used.
    """
    given = {"executor": executor is not None, "workers": workers is not None, "scheduler": scheduler is not None}
    names = [option(name) for name, is_given in {**given, "mpi": mpi}.items() if is_given]
    if len(names) > 1:
        raise OptionError(f"{names[0]} cannot be combined with {names[1]}: tasks run in one way only")
    if workers is not None:
        if whole_option("workers", workers) < 1:
            raise OptionError(f"{option('workers')} must be at least 1, not {workers}")
        return partial(_process_pool, workers=workers, resources=resources)
    if scheduler is not None:
        return partial(dask_cluster, address=scheduler, resources=resources)
    if mpi:
        check_launch()  # before a folder is locked: without mpi4py.futures, all processes of the job get here
        return partial(mpi_workers, resources=resources)
    if isinstance(executor, Executor):
        return lambda store: nullcontext(OverExecutor(store, executor, resources))
    if hasattr(executor, "get_executor"):
        return lambda store: nullcontext(DaskCluster(store, executor, resources))
    if executor is not None:
        raise WrongTypeError(
            f"{option('executor')} must be an executor of concurrent.futures, or a Dask client, "
            f"not {shortened(executor)}"
        )
    return partial(_in_process, resources=resources)


def _process_pool(store: Store, *, workers: int, resources: Resources) -> ProcessPool:
    spare_flushes(store)
    return ProcessPool(store, workers, resources)


def _in_process(store: Store, *, resources: Resources) -> InProcess:
    spare_flushes(store)
    return InProcess(store, resources)
