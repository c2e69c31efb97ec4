"""Runs tasks in processes of this machine, and again where a process died."""

from __future__ import annotations

import contextlib
import logging
import signal
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import chain
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext, SpawnProcess
from types import TracebackType
from typing import Any

from dmr.common.text import counted
from dmr.common.threads import available_threads
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Resources, Task
from dmr.distributed.jobs.worker import begin_in_pool, get_ready, run_tasks, share
from dmr.errors import LostWorkerError

log = logging.getLogger("dmr")

# The most times that a task runs again after its process died; Dask has the same limit (`allowed-failures`).
MOST_REPEATS = 3
LIGHT_SHARE = 2  # light tasks get this part of a worker's share of the cores; they take about as long as a band
NOT_STARTED = (
    "the worker processes ended before they began (their errors are on stderr): each imports the main module of the "
    "program, which must therefore be a file, not stdin, and call dmr only below: if __name__ == '__main__':"
)
KILLED_EARLY = (
    "the worker processes were ended by signal {signal} before they began, perhaps for lack of memory: run again with "
    "fewer workers"
)


class ProcessPool:
    """A runner over a number of processes, each with a GPU or its share of the cores. A context manager.

    A pool breaks when one of its processes dies: the operating system ended it for lack of memory, for example. It is
    then replaced, and the tasks that ran are submitted again.

    A process with a GPU gets its share of a group of tasks at once: it runs several on threads, so that one uses the
    device while others read and write files (`InProcess`). After a process died, and on a CPU, each gets one task after
    the other. Where there are fewer tasks than workers, each has a larger share of the cores, and light tasks go to the
    other workers; otherwise they are left out.

    Args:
        store: where the outputs are; workers: the number of processes; resources: as the user asked.
    """

    def __init__(self, store: Store, workers: int, resources: Resources | None = None) -> None:
        self.store = store
        self._workers = workers
        self._resources = resources or Resources()
        self._repeats: Counter[str] = Counter()
        self._others_started = False
        self._pool: ProcessPoolExecutor
        self._on_gpu = share(0, workers, self._resources, available_threads()).device.startswith("cuda")
        self._start()

    def __enter__(self) -> ProcessPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def run(self, tasks: Sequence[Task]) -> list[dict[str, Any]]:
        """Runs tasks (`Runner.run`).

        Raises:
            LostWorkerError: the processes that ran a task have died four times, or none could start.
        """
        waiting = deque(self._shares(self.store.missing(tasks)))
        sharing = sum(not each[0].light for each in waiting)
        running: dict[Future[list[dict[str, Any]]], Sequence[Task]] = {}
        while waiting or running:
            # Submitted tasks begin soon: only tasks that can have been the cause count as lost.
            while waiting and len(running) < self._workers:
                try:
                    threads = self._threads(min(self._workers, sharing) or self._workers)
                    if waiting[0][0].light and sharing:  # beside tasks that take longer, and must not be delayed
                        threads = max(1, self._threads(self._workers) // LIGHT_SHARE)
                    running[self._pool.submit(run_tasks, self.store, waiting[0], threads)] = waiting[0]
                except BrokenProcessPool:
                    break
                waiting.popleft()
            self._start_others(tasks)
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            if not any(isinstance(future.exception(), BrokenProcessPool) for future in done) and done:
                for future in done:
                    del running[future]
                    future.result()  # raises what the task raised
                continue
            self._end()
            if not self._begun.value:
                raise LostWorkerError(self._spawn.reason())
            lost = self.store.missing(list(chain.from_iterable(running.values())))
            self._count(lost)
            running.clear()
            waiting = deque([task] for task in [*lost, *chain.from_iterable(waiting)])
            self._start()
        return [self.store.summary(task.name) or {} for task in tasks]

    def _start_others(self, tasks: Sequence[Task]) -> None:
        """Starts the processes that have no task at first, so that they are ready when they get one."""
        if self._others_started or not tasks:
            return
        self._others_started = True
        with contextlib.suppress(BrokenProcessPool):  # the tasks that run will tell
            for _ in range(self._workers - 1):
                self._pool.submit(get_ready, tasks[0])

    def _threads(self, workers: int) -> int:
        """Returns the number of CPU threads per worker if this many share the cores."""
        return self._resources.threads or max(1, available_threads() // workers)

    def _shares(self, tasks: Sequence[Task]) -> list[Sequence[Task]]:
        """Returns what is submitted together, light tasks last: each worker's share of the tasks, or one task each."""
        light, others = ([task for task in tasks if task.light == each] for each in (True, False))
        if len(others) >= self._workers:
            light = []
        if not self._on_gpu:
            return [[task] for task in (*others, *light)]
        if others and light:
            return [*([task] for task in others), *_dealt(light, self._workers - len(others))]
        return _dealt(others or light, self._workers)

    def _count(self, lost: Sequence[Task]) -> None:
        """Counts tasks whose processes have died."""
        self._repeats.update(task.name for task in lost)
        worst = next((task for task in lost if self._repeats[task.name] > MOST_REPEATS), None)
        if worst is not None:
            raise LostWorkerError(
                f"the processes that ran {worst.name} died {counted(MOST_REPEATS + 1, 'time')}, perhaps for lack of "
                "memory: run again with fewer workers, or with smaller tiles"
            )
        if lost:
            log.warning("a process died, perhaps for lack of memory: %s begun again", counted(len(lost), "task"))

    def _start(self) -> None:
        self._spawn = spawn = _Spawn()
        stop, self._stop = spawn.Pipe(duplex=False)
        self._others_started = False
        self._stopped: Connection = stop
        self._begun = spawn.Value("i", 0)  # processes
        self._pool = ProcessPoolExecutor(
            self._workers, spawn, begin_in_pool, (self._begun, stop, self._workers, self._resources)
        )

    def _end(self) -> None:
        """Ends all processes, also those that run a task, and removes what these have written."""
        self._stop.close()
        self._pool.shutdown(cancel_futures=True)
        self._stopped.close()
        self.store.remove_unfinished()


class _Spawn(SpawnContext):
    """Starts processes, and remembers them. A forked process could not use CUDA."""

    def __init__(self) -> None:
        super().__init__()
        self._started: list[SpawnProcess] = []

    def Process(self, *given: Any, **named: Any) -> SpawnProcess:  # type: ignore[override]
        """Makes a process."""
        self._started.append(SpawnProcess(*given, **named))
        return self._started[-1]

    def reason(self) -> str:
        """Returns why processes ended before they began."""
        codes = {process.exitcode for process in self._started} - {None, -signal.SIGTERM}  # the pool ends the others
        by = next((-code for code in codes if code is not None and code < 0), None)
        return NOT_STARTED if by is None else KILLED_EARLY.format(signal=by)


def _dealt(tasks: Sequence[Task], workers: int) -> list[Sequence[Task]]:
    """Deals tasks out to workers; returns those of each that gets any."""
    return [tasks[k::workers] for k in range(min(workers, len(tasks)))]
