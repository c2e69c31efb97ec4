"""A runner that logs progress: a line when a group of tasks begins, while it runs, and when it ends."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dmr.common.system.resident import resident_sets
from dmr.common.text import counted
from dmr.distributed.jobs.runner import Runner
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Task

log = logging.getLogger("dmr")

SECONDS_BETWEEN = 5.0  # lines while a group of tasks runs
MEBIBYTE = 2**20


class Reported:
    """The runner of an engine, with a log.

    A line has the seconds since the beginning of the job, and the memory of this process, in which tasks run only if
    there are no workers.

    Args:
        runner: runs the tasks.
    """

    def __init__(self, runner: Runner) -> None:
        self.store: Store = runner.store
        self._runner = runner
        self._begun = time.perf_counter()

    def run(self, tasks: Sequence[Task]) -> list[dict[str, Any]]:
        """Runs tasks (`Runner.run`); all are calls of one function."""
        if not tasks or not log.isEnabledFor(logging.INFO):
            return self._runner.run(tasks)
        name = tasks[0].function.rpartition(":")[2]
        todo = self.store.missing(tasks)
        self._log(f"{name}: {counted(len(tasks), 'task')}")
        start = time.perf_counter()
        with self._watched(name, tasks):
            summaries = self._runner.run(tasks)
        seconds = time.perf_counter() - start
        self._log(f"{name}: {counted(len(tasks), 'task')} done in {seconds:.2f} s{self._each(todo)}")
        return summaries

    def _each(self, tasks: Sequence[Task]) -> str:
        """Returns how long the tasks of a group took, which is over, if it had several."""
        times = [self.store.times(task.name) for task in tasks]
        each = [found.ended - found.begun for found in times if found is not None]
        return f": {min(each):.2f} to {max(each):.2f} s each, {sum(each):.2f} s together" if len(each) > 1 else ""

    @contextmanager
    def _watched(self, name: str, tasks: Sequence[Task]) -> Iterator[None]:
        """Logs from time to time how many of the tasks have an output."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(SECONDS_BETWEEN):
                done = sum((self.store.path / task.name).exists() for task in tasks)
                self._log(f"{name}: {done} of {counted(len(tasks), 'task')} done")

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()

    def _log(self, text: str) -> None:
        sets = resident_sets()
        memory = "" if sets is None else f", {sets[0] // MEBIBYTE:,} MiB resident, at most {sets[1] // MEBIBYTE:,}"
        log.info("%s", f"{time.perf_counter() - self._begun:.2f} s: {text}{memory}")
