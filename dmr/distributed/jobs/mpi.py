"""Runs tasks by the processes of an MPI job: one coordinates, the others work.

    mpiexec -n 5 python -m mpi4py.futures -m dmr refine coast.poly --tiles 10e6 -o out/ --mpi

`mpi4py.futures` keeps the other processes waiting for tasks; only the first one gets here. When a process dies, MPI
ends the whole job, and the same command resumes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from dmr.distributed.jobs.over_executor import OverExecutor
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Resources
from dmr.distributed.jobs.worker import begin_under_mpi
from dmr.errors import DeviceUnavailableError, OptionError

LAUNCHER = "mpi4py.futures"


def check_launch() -> None:
    """Checks that this process coordinates an MPI job.

    Raises:
        DeviceUnavailableError: mpi4py is not installed, or finds no MPI.
        OptionError: the process was not started as a part of an MPI job, with `mpi4py.futures`.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # the latter without a library of MPI
        raise DeviceUnavailableError(f"MPI cannot be used ({error}): pip install 'dmr[mpi]'") from error
    if LAUNCHER not in sys.orig_argv or MPI.COMM_WORLD.Get_size() < 2:
        raise OptionError(
            "this is not an MPI job with workers: start it with mpiexec -n 5 python -m mpi4py.futures -m dmr ..., "
            "which gives 4 workers"
        )


@contextmanager
def mpi_workers(store: Store, resources: Resources) -> Iterator[OverExecutor]:
    """Gives a runner over the other processes of this MPI job, whose launch has been checked.

    Args:
        store: where the outputs are; resources: as the user asked.
    """
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor(initializer=begin_under_mpi, initargs=(resources,)) as executor:
        yield OverExecutor(store, executor, None)
