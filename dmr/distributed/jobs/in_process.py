"""Runs tasks in this process."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

from dmr.common.threads import available_threads
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Resources, Task
from dmr.memory import open_device

MOST_AT_ONCE = 8  # tasks; each may hold a tile in memory
MORE_THREADS = 2  # times a task's share, because tasks wait for the device, for files and for the interpreter


class InProcess:
    """The runner without an engine.

    On a GPU tasks run on several threads, so that one uses the device while others read and write files; they share
    the CPU threads. Second outputs of tasks (`Task.then`) are completed beside later ones. On a CPU, whose threads a
    task shares out itself, tasks run one after another. Light tasks are left out beside others.

    A context manager: its end waits for second outputs that no later task has needed.

    Args:
        store: where the outputs are; resources: what the tasks that run at the same time may use together.
    """

    def __init__(self, store: Store, resources: Resources | None = None) -> None:
        self.store = store
        self._resources = resources or Resources()
        self._completing: list[Future[None]] = []

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *exception: object) -> None:
        wait(self._completing)

    def run(self, tasks: Sequence[Task]) -> list[dict[str, Any]]:
        """Runs tasks (`Runner.run`)."""
        todo = [task for task in tasks if not task.light] or tasks
        if open_device(self._resources.device, self._resources.threads).threads:
            for task in todo:
                self.store.run(task, self._resources)
        else:
            self._run_together(todo)
        return [self.store.summary(task.name) or {} for task in tasks]

    def _run_together(self, tasks: Sequence[Task]) -> None:
        """Runs tasks on several threads."""
        if not tasks:
            return
        threads = self._resources.threads or available_threads()
        at_once = min(MOST_AT_ONCE, threads, len(tasks))
        each = replace(self._resources, threads=min(threads, MORE_THREADS * threads // at_once))
        executor = ThreadPoolExecutor(at_once)
        begun: list[Future[None]] = [Future() for _ in tasks]
        calls = [
            executor.submit(self._run_one, task, each, mine)
            for task, mine in zip({task.name: task for task in tasks}.values(), begun, strict=False)
        ]
        try:
            for mine in begun[: len(calls)]:
                mine.result()
        except BaseException:
            executor.shutdown(cancel_futures=True)
            raise
        executor.shutdown(wait=False)
        self._completing = [call for call in (*self._completing, *calls) if not call.done()]

    def _run_one(self, task: Task, resources: Resources, begun: Future[None]) -> None:
        """Runs a task; `begun` is done when its own output is."""
        try:
            complete = self.store.begin(task, resources)[1]
        except BaseException as error:  # raised by the thread that waits
            begun.set_exception(error)
            return
        begun.set_result(None)
        if complete is not None:
            complete()  # a task that needs the output raises its error
