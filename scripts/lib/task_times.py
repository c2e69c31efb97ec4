"""Records when the tasks of a job ran, in which processes, and what the system did meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from dmr.distributed.jobs.runner import Runner
from dmr.distributed.jobs.store import Store, Times
from dmr.distributed.jobs.task import Task

CLOCK_TICKS = os.sysconf("SC_CLK_TCK")  # per second
TICKS = (1, 3, 5)  # the places of `SystemTimes` in a line of /proc/stat


class SystemTimes(NamedTuple):
    """Times and page faults of the whole machine since it started.

    Attributes:
        user, system: seconds of all cores, the latter in the kernel; disk: seconds in which cores waited for disks.
        faults: memory pages that processes got.
    """

    user: float
    system: float
    disk: float
    faults: float

    @classmethod
    def now(cls) -> SystemTimes | None:
        """Returns the times, or None if the system does not tell."""
        try:
            ticks = Path("/proc/stat").read_text("utf-8").split("\n", 1)[0].split()
            pages = dict(line.split() for line in Path("/proc/vmstat").read_text("utf-8").splitlines())
            user, system, disk = (int(ticks[place]) / CLOCK_TICKS for place in TICKS)
            return cls(user, system, disk, int(pages["pgfault"]))
        except (OSError, ValueError, KeyError):
            return None

    def since(self, earlier: SystemTimes) -> SystemTimes:
        """Returns what has been used since an earlier time."""
        return SystemTimes(*(b - a for a, b in zip(earlier, self, strict=True)))


@dataclass(frozen=True)
class Group:
    """Tasks that a runner was given together.

    Attributes:
        function: what they call; begun, ended: seconds since 1970; times: of each task that ran.
        system: what the machine's processes used meanwhile, if the system tells.
    """

    function: str
    begun: float
    ended: float
    times: tuple[Times, ...]
    system: SystemTimes | None = None

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

    def timeline(self, origin: float) -> list[str]:
        """Returns lines with when the group, its tasks and their steps began and ended, in seconds from `origin`."""
        lines = [f"{self.begun - origin:8.3f} {self.ended - origin:8.3f}  {self.function}"]
        if self.system is not None:
            used = self.system
            lines[0] += f": {used.user:.2f} s user, {used.system:.2f} s system, {used.disk:.2f} s waiting for disks"
            lines[0] += f", {used.faults:,.0f} page faults"
        for found in sorted(self.times, key=lambda each: each.begun):
            lines.append(f"{found.begun - origin:8.3f} {found.ended - origin:8.3f}    process {found.process}")
            steps = sorted(found.steps, key=lambda each: each[1])
            lines[-1] += "".join(f" | {name} {begun - origin:.3f} {ended - begun:.3f}" for name, begun, ended in steps)
        return lines


@dataclass
class Recorder:
    """A runner that records groups of tasks.

    Attributes:
        runner: runs the tasks; groups: those that have ended; begun: seconds since 1970 when this was made.
        later: when second outputs of tasks (`Task.then`) were completed, beside later groups.
    """

    runner: Runner
    groups: list[Group] = field(default_factory=list)
    begun: float = field(default_factory=time.time)
    later: list[Times] = field(default_factory=list)
    _incomplete: list[str] = field(default_factory=list)  # second outputs

    @property
    def store(self) -> Store:
        """The runner's store."""
        return self.runner.store

    def run(self, tasks: Sequence[Task]) -> list[dict[str, Any]]:
        """Runs tasks (`Runner.run`)."""
        todo, begun, before = self.store.missing(tasks), time.time(), SystemTimes.now()
        summaries = self.runner.run(tasks)
        ended, after = time.time(), SystemTimes.now()
        times = (self.store.times(task.name) for task in todo)
        if todo:
            function = todo[0].function.rpartition(":")[2]
            system = None if before is None or after is None else after.since(before)
            found = tuple(each for each in times if each is not None)
            self.groups.append(Group(function, begun, ended, found, system))
        self._incomplete += [task.then.name for task in todo if task.then is not None]
        times_of_second = {name: self.store.times(name) for name in self._incomplete}
        self.later += [found for found in times_of_second.values() if found is not None]
        self._incomplete = [name for name, found in times_of_second.items() if found is None]
        return summaries

    def timeline(self) -> list[str]:
        """Returns the lines of all groups, and those of second outputs as of one."""
        groups = [*self.groups]
        if self.later:
            begun, ended = min(each.begun for each in self.later), max(each.ended for each in self.later)
            groups.append(Group("second outputs", begun, ended, tuple(self.later)))
        return [line for group in groups for line in group.timeline(self.begun)]


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
