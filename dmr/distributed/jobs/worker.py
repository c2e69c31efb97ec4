"""Runs the tasks sent to a worker process, with its share of the machine's cores and memory."""

from __future__ import annotations

import importlib
import os
import platform
import signal
import threading
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing import connection, parent_process
from typing import Any

from dmr.common.threads import available_threads, cpu_quota
from dmr.distributed.jobs.in_process import InProcess
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Resources, Task
from dmr.errors import MissingFileError

# The environment variables in which launchers of MPI tell a process its number on its machine, and how many there are:
# Open MPI, MPICH and Intel MPI, MVAPICH, Slurm (which gives the second only as a list for all machines).
LOCAL_RANKS = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID")
LOCAL_SIZES = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE")

# Resources of the tasks of this process, decided when it starts.
_resources = Resources()


def run_task(store: Store, task: Task, resources: Resources | None = None) -> dict[str, Any]:
    """Runs a task in this process; returns its summary.

    Args:
        store: where the outputs are; resources: what the task may use, by default what the process was given.

    Raises:
        MissingFileError: this machine does not have the folder of the store. Whatever the task raises.
    """
    if not store.path.is_dir():
        raise MissingFileError(
            f"does not exist on {platform.node()}, where a worker runs: all workers must see it under this name",
            store.path,
        )
    return store.run(task, resources or _resources)


def run_tasks(store: Store, tasks: Sequence[Task], threads: int) -> list[dict[str, Any]]:
    """Runs tasks in this process, on the device that it was given (`InProcess`); returns their summaries.

    Args:
        store: where the outputs are; tasks: which do not depend on each other; threads: CPU threads of each.
    """
    return InProcess(store, replace(_resources, threads=threads)).run(tasks)


def get_ready(task: Task) -> None:
    """Loads what tasks like this one need, where its module says how: `get_ready(resources, options)`."""
    ready = getattr(importlib.import_module(task.function.partition(":")[0]), "get_ready", None)
    if ready is not None:
        ready(_resources, task.options)


def begin_in_pool(counter: Any, stop: connection.Connection, workers: int, resources: Resources) -> None:
    """Begins a worker process of a pool on this machine.

    Args:
        counter: a number that all workers of the pool share, 0 at first.
        stop: the process ends at once when the other end of this pipe is closed, or when its parent has died.
        workers: the number of workers; resources: as the user asked.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, too, which then ends the workers
    threading.Thread(target=_end_with, args=(stop,), daemon=True).start()
    with counter.get_lock():
        number = counter.value
        counter.value += 1
    _take(share(number, workers, resources, available_threads()))


def begin_under_mpi(resources: Resources) -> None:
    """Begins a worker process of MPI.

    Args:
        resources: as the user asked.
    """
    from mpi4py import MPI

    world = MPI.COMM_WORLD  # stands in where the launcher does not tell what is on this machine
    number, workers = (
        _number_in_environment(LOCAL_RANKS, world.Get_rank()),
        _number_in_environment(LOCAL_SIZES, world.Get_size()),
    )
    cores = min(os.cpu_count() or 1, cpu_quota() or os.cpu_count() or 1)  # of all processes; this one may be bound
    mine = share(number, workers, resources, cores)
    threads = mine.threads if resources.threads else min(mine.threads or 1, available_threads())
    _take(Resources(mine.device, threads))


def share(number: int, workers: int, resources: Resources, cores: int) -> Resources:
    """Returns the share of a worker: one GPU, modulo their number, and as many cores as the others have.

    Args:
        number: of the worker on its machine, from 0; workers: the number of workers there.
        resources: as the user asked: a device "auto" or "cuda" is any GPU, no threads are a share of the cores.
        cores: the cores of the machine.
    """
    device = resources.device
    if device in ("auto", "cuda"):
        from dmr.memory.cuda.discovery import cards

        usable = [k for k, card in enumerate(cards()) if card.reason is None]
        device = f"cuda:{usable[number % len(usable)]}" if usable else {"auto": "cpu"}.get(device, device)
    return Resources(device, resources.threads or max(1, cores // workers))


def _take(resources: Resources) -> None:
    global _resources
    _resources = resources


def _number_in_environment(names: tuple[str, ...], otherwise: int) -> int:
    """Returns the number in the first of these environment variables that is set."""
    return next((int(os.environ[name]) for name in names if os.environ.get(name, "").isdecimal()), otherwise)


def _end_with(stop: connection.Connection) -> None:
    """Ends this process when its parent wants it, or has died; a pool would leave it waiting forever."""
    parent = parent_process()
    connection.wait([stop, parent.sentinel] if parent else [stop])
    os._exit(1)
