"""A runner that reports progress: a line in the log when a group of tasks begins, while it runs, and when it ends."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dmr.common.system.resident import resident_sets
from dmr.common.text import counted
from dmr.distributed.jobs.runner import Runner
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Task

log = logging.getLogger("dmr")

SECONDS_BETWEEN = 5.0  # lines while a group of tasks runs
SECONDS_BETWEEN_CALLS = 0.5  # of the callback

# Is called with the name of a group of tasks, how many of them have ended, and their number; first with 0.
Watch = Callable[[str, int, int], None]
MEBIBYTE = 2**20


class Reported:
    """The runner of an engine, with a log.

    A line has the seconds since the beginning of the job, and the memory of this process, in which tasks run only if
    there are no workers.

    Args:
        runner: runs the tasks.
        watch: called while they run.
    """

    def __init__(self, runner: Runner, watch: Watch | None = None) -> None:
        self.store: Store = runner.store
        self._runner, self._watch = runner, watch
        self._begun = time.perf_counter()

    def run(self, tasks: Sequence[Task]) -> list[dict[str, Any]]:
        """Runs tasks (`Runner.run`); the lines count those that call the function of the first one."""
        if not tasks:
            return self._runner.run(tasks)
        counted_tasks = [task for task in tasks if task.function == tasks[0].function]
        name = tasks[0].function.rpartition(":")[2]
        with self._called(name, counted_tasks):
            return self._run_logged(name, counted_tasks, tasks)

    def _run_logged(self, name: str, tasks: Sequence[Task], all_tasks: Sequence[Task]) -> list[dict[str, Any]]:
        if not log.isEnabledFor(logging.INFO):
            return self._runner.run(all_tasks)
        todo = self.store.missing(tasks)
        count, before = counted(len(tasks), "task"), len(tasks) - len(todo)
        self._log(f"{name}: {count}{f', {before:,} of them done before' if before else ''}")
        start = time.perf_counter()
        with _repeatedly(SECONDS_BETWEEN, lambda: self._log(f"{name}: {self._ended(tasks)} of {count} done")):
            summaries = self._runner.run(all_tasks)
        seconds = time.perf_counter() - start
        self._log(f"{name}: {count} done in {seconds:.2f} s{self._each(todo)}")
        return summaries

    def _each(self, tasks: Sequence[Task]) -> str:
        """Returns how long the tasks of a group took, which is over, if it had several."""
        times = [self.store.times(task.name) for task in tasks]
        each = [found.ended - found.begun for found in times if found is not None]
        return f": {min(each):.2f} to {max(each):.2f} s each, {sum(each):.2f} s together" if len(each) > 1 else ""

    @contextmanager
    def _called(self, name: str, tasks: Sequence[Task]) -> Iterator[None]:
        """Calls the callback while tasks run."""
        watch = self._watch
        if watch is None:
            yield
            return
        watch(name, 0, len(tasks))
        with _repeatedly(SECONDS_BETWEEN_CALLS, lambda: watch(name, self._ended(tasks), len(tasks))):
            yield
        watch(name, len(tasks), len(tasks))

    def _ended(self, tasks: Sequence[Task]) -> int:
        """Returns how many of the tasks have an output."""
        return sum((self.store.path / task.name).exists() for task in tasks)

    def _log(self, text: str) -> None:
        sets = resident_sets()
        memory = "" if sets is None else f", {sets[0] // MEBIBYTE:,} MiB resident, at most {sets[1] // MEBIBYTE:,}"
        log.info("%s", f"{time.perf_counter() - self._begun:.2f} s: {text}{memory}")


@contextmanager
def _repeatedly(seconds: float, call: Callable[[], None]) -> Iterator[None]:
    """Calls a function from time to time, in a thread."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(seconds):
            call()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
