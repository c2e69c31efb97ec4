"""Programs that coordinate tasks: in an MPI job, or to be killed.

mpiexec -n 3 python -m mpi4py.futures -m tests.support.distributed.engines STORE [LOG | --gpus]
python -m tests.support.distributed.engines STORE --pool
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dmr.distributed.jobs.mpi import mpi_workers
from dmr.distributed.jobs.process_pool import ProcessPool
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Resources, Task
from tests.support.distributed import functions


def mpi_command(ranks: int, *program: str) -> list[str]:
    """The command that starts an MPI job, also as root, and with more processes than cores."""
    mpiexec = str(Path(sys.executable).with_name("mpiexec"))
    return [
        mpiexec, "-n", str(ranks), "--allow-run-as-root", "--oversubscribe", sys.executable, "-m", "mpi4py.futures",
        *program,
    ]  # fmt: skip


def tell_gpus(store: Store) -> None:
    """Prints the UUIDs of the GPUs that the workers of the MPI job use."""
    with mpi_workers(store, Resources("cuda")) as runner:
        print(json.dumps([each["uuid"] for each in runner.run([Task.of(functions.tell_gpu, n=n) for n in range(4)])]))


def main(store: Store, log: str = "") -> None:
    """Runs tasks by the workers of the MPI job, and prints what they return; with a log a task that dies once."""
    with mpi_workers(store, Resources("cpu")) as runner:
        if log:
            print(json.dumps({"results": runner.run([Task.of(functions.die, log=log, times=1)])}))
            return
        counts = [Task.of(functions.count_up, n=n) for n in range(1, 9)]
        results = runner.run(counts)
        results += runner.run([Task.of(functions.add_up, [task.name for task in counts], factor=2)])
        resources = runner.run([Task.of(functions.tell_resources, n=n) for n in range(4)])
        print(json.dumps({"results": results, "resources": resources}))


def begin_long_task(store: Store) -> None:
    """Gives a worker a short task, and then a long one."""
    with ProcessPool(store, 1) as pool:
        pool.run([Task.of(functions.count_up, n=1)])
        print("began", flush=True)
        pool.run([Task.of(functions.sleep, seconds=600, n=0)])


if __name__ == "__main__":
    where = Store(Path(sys.argv[1]))
    if "--pool" in sys.argv:
        begin_long_task(where)
    elif "--gpus" in sys.argv:
        tell_gpus(where)
    else:
        main(where, *sys.argv[2:])
