"""Records when the tasks of a job ran, and in which processes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dmr.distributed.jobs.runner import Runner
from dmr.distributed.jobs.store import Store, Times
from dmr.distributed.jobs.task import Task


@dataclass(frozen=True)
class Group:
    """Tasks that a runner was given together.

    Attributes:
        function: what they call; begun, ended: seconds since 1970; times: of each task that ran.
    """

    function: str
    begun: float
    ended: float
    times: tuple[Times, ...]

    def row(self) -> dict[str, Any]:
        """Returns the seconds of the group, with one busy process or none, of the longest task and of all together."""
        each = [found.ended - found.begun for found in self.times]
        return {
            "function": self.function,
            "tasks": len(self.times),
            "seconds": self.ended - self.begun,
            "longest": max(each, default=0.0),
            "together": sum(each),
            "alone": self.ended - self.begun - shared_seconds(self.times),
        }


class Recorder:
    """A runner that records groups of tasks.

    Args:
        runner: runs the tasks.
    """

    def __init__(self, runner: Runner) -> None:
        self.store: Store = runner.store
        self.groups: list[Group] = []
        self._runner = runner

    def run(self, tasks: Sequence[Task]) -> list[dict[str, Any]]:
        """Runs tasks (`Runner.run`)."""
        todo, begun = self.store.missing(tasks), time.time()
        summaries = self._runner.run(tasks)
        times = (self.store.times(task.name) for task in todo)
        if todo:
            function = todo[0].function.rpartition(":")[2]
            self.groups.append(Group(function, begun, time.time(), tuple(each for each in times if each is not None)))
        return summaries


def shared_seconds(times: Sequence[Times]) -> float:
    """Returns the seconds in which tasks ran in several processes."""
    events = sorted(
        [(each.begun, 1, each.process) for each in times] + [(each.ended, -1, each.process) for each in times]
    )
    running: dict[int, int] = {}
    shared, last = 0.0, 0.0
    for now, change, process in events:
        if sum(count > 0 for count in running.values()) > 1:
            shared += now - last
        running[process] = running.get(process, 0) + change
        last = now
    return shared
