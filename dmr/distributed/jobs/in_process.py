"""Runs tasks in this process."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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
    the CPU threads; light tasks follow, because beside a task that has the device they would delay it. On a CPU, whose
    threads a task shares out itself, they run one after another.

    Args:
        store: where the outputs are; resources: what the tasks that run at the same time may use together.
    """

    def __init__(self, store: Store, resources: Resources | None = None) -> None:
        self.store = store
        self._resources = resources or Resources()

    def run(self, tasks: Sequence[Task]) -> list[dict[str, Any]]:
        """Runs tasks (`Runner.run`)."""
        on_gpu = open_device(self._resources.device, self._resources.threads).threads == 0
        if not on_gpu or len(tasks) < 2:
            return [self.store.run(task, self._resources) for task in tasks]
        for light in (False, True):
            self._run_together([task for task in tasks if task.light == light])
        return [self.store.summary(task.name) or {} for task in tasks]

    def _run_together(self, tasks: Sequence[Task]) -> None:
        """Runs tasks on several threads."""
        if not tasks:
            return
        threads = self._resources.threads or available_threads()
        at_once = min(MOST_AT_ONCE, threads, len(tasks))
        each = replace(self._resources, threads=min(threads, MORE_THREADS * threads // at_once))
        with ThreadPoolExecutor(at_once) as executor:
            futures = {task.name: executor.submit(self.store.run, task, each) for task in tasks}
            try:
                for task in tasks:
                    futures[task.name].result()
            finally:
                for future in futures.values():
                    future.cancel()
