"""Runs tasks by any executor of `concurrent.futures`: of Dask, of MPI, or of a program."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, as_completed
from typing import Any

from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Resources, Task
from dmr.distributed.jobs.worker import run_task
from dmr.errors import LostWorkerError, OptionError


class OverExecutor:
    """A runner over an executor, whose workers share the folder of the store.

    Args:
        store: where the outputs are; executor: which submits the tasks.
        resources: what each task may use; None if the start of the workers has decided that.
    """

    def __init__(self, store: Store, executor: Executor, resources: Resources | None) -> None:
        self.store = store
        self._executor = executor
        self._resources = resources

    def run(self, tasks: Sequence[Task]) -> list[dict[str, Any]]:
        """Runs tasks (`Runner.run`).

        Raises:
            LostWorkerError: workers have died, and the executor does not run their tasks again.
            OptionError: a worker lacks this package, or has another version.
        """
        futures: dict[Future[dict[str, Any]], Task] = {}
        done: dict[str, dict[str, Any]] = {}
        try:
            for task in self.store.missing(tasks):
                futures[self._submit(task)] = task
            for future in as_completed(futures):
                done[futures[future].name] = future.result()
        except (BrokenExecutor, CancelledError) as error:
            raise LostWorkerError(
                "the workers have died or cannot be reached; the same call resumes, and keeps the finished tasks"
            ) from error
        except ModuleNotFoundError as error:
            raise OptionError(
                f"a worker cannot import {error.name}: install the same version of dmr everywhere"
            ) from error
        finally:
            for future in futures:
                future.cancel()
        return [done.get(task.name) or self.store.summary(task.name) or {} for task in tasks]

    def _submit(self, task: Task) -> Future[dict[str, Any]]:
        return self._executor.submit(run_task, self.store, task, self._resources)
