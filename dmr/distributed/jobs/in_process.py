"""Runs tasks in this process, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Resources, Task


class InProcess:
    """The runner without an engine.

    Args:
        store: where the outputs are; resources: what each task may use.
    """

    def __init__(self, store: Store, resources: Resources | None = None) -> None:
        self.store = store
        self._resources = resources or Resources()

    def run(self, tasks: Sequence[Task]) -> list[dict[str, Any]]:
        """Runs tasks in order (`Runner.run`)."""
        return [self.store.run(task, self._resources) for task in tasks]
