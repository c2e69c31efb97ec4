"""Interface of an engine to loops over tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Task


class Runner(Protocol):
    """Runs tasks, whose outputs are in a store."""

    @property
    def store(self) -> Store:
        """The folder of the outputs."""

    def run(self, tasks: Sequence[Task]) -> list[dict[str, Any]]:
        """Runs tasks that do not depend on each other; those whose output is there are not run again.

        Returns:
            Their summaries, in the order of `tasks`, when all have ended; of light ones that are left out, {}.

        Raises:
            What a task raises.
        """
