"""Runs tasks on a Dask cluster.

Of Dask only this is named: the executor of a client, the resource "GPU", of which a task takes one where workers have
it (`dask worker --resources GPU=1`), and `KilledWorker`. A task whose worker died runs again on another one; the
scheduler's setting `distributed.scheduler.allowed-failures` (3) says how often. Exceptions are not retried, because the
result of a task depends on its inputs alone.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from dmr.distributed.jobs.over_executor import OverExecutor
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Resources, Task
from dmr.distributed.jobs.worker import run_task
from dmr.errors import DeviceUnavailableError, LostWorkerError

log = logging.getLogger("dmr.distributed")

GPU = "GPU"  # the resource's name in the documentation of Dask


class DaskCluster(OverExecutor):
    """A runner over the workers of a client.

    Args:
        store: where the outputs are; client: a `distributed.Client`; resources: what each task may use.
    """

    def __init__(self, store: Store, client: Any, resources: Resources) -> None:
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        if not workers:
            log.warning("the Dask cluster has no workers: tasks wait until one is started (dask worker ADDRESS)")
        one_gpu = {"resources": {GPU: 1}} if any(GPU in worker["resources"] for worker in workers) else {}
        super().__init__(store, client.get_executor(**one_gpu), resources)
        # A scheduler would join tasks of equal keys, such as this run's and those of a coordinator that has died.
        self._run = os.urandom(8).hex()

    def run(self, tasks: Sequence[Task]) -> list[dict[str, Any]]:
        """Runs tasks (`Runner.run`)."""
        from distributed.scheduler import KilledWorker

        try:
            return super().run(tasks)
        except KilledWorker as error:
            raise LostWorkerError(
                f"Dask workers died {error.allowed_failures + 1} times with one task, perhaps for lack of memory: "
                "use smaller tiles; Dask's log of the workers says more"
            ) from error

    def _submit(self, task: Task) -> Future[dict[str, Any]]:
        key = f"{task.name}-{self._run}"  # the dashboard shows the part before the first digits: the function's name
        executor: Any = self._executor
        future: Future[dict[str, Any]] = executor.submit(run_task, self.store, task, self._resources, key=key)
        return future


@contextmanager
def dask_cluster(store: Store, address: str, resources: Resources) -> Iterator[DaskCluster]:
    """Connects to a Dask scheduler.

    Args:
        store: where the outputs are; address: "tcp://host:8786"; resources: what each task may use.

    Raises:
        DeviceUnavailableError: Dask is not installed, or there is no scheduler.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise DeviceUnavailableError("Dask is not installed: pip install 'dmr[distributed]'") from error
    try:
        client: Any = Client(address)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise DeviceUnavailableError(f"there is no Dask scheduler at {address}: {error}") from error
    with client:
        yield DaskCluster(store, client, resources)
