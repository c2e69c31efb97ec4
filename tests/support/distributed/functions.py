"""Small functions of tasks, for the tests of engines."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.steps import step
from dmr.distributed.jobs.task import Resources
from dmr.errors import InvalidMeshError
from dmr.memory import open_device


def count_up(inputs: Sequence[Folder], out: Folder, resources: Resources, *, n: int) -> dict[str, Any]:
    """Writes 0 to n - 1."""
    out["numbers"] = np.arange(n)
    return {"count": n}


def add_up(inputs: Sequence[Folder], out: Folder, resources: Resources, *, factor: int) -> dict[str, Any]:
    """Sums the numbers of all inputs, and multiplies them."""
    total = factor * sum(int(each["numbers"].sum()) for each in inputs)
    out["numbers"] = np.array([total])
    return {"total": total, "range": (0, total)}


def fail(inputs: Sequence[Folder], out: Folder, resources: Resources) -> dict[str, Any]:
    """Raises after it has written a part."""
    out["numbers"] = np.arange(3)
    raise ValueError("as the test wants it")


def count_runs(inputs: Sequence[Folder], out: Folder, resources: Resources, *, log: str, n: int) -> dict[str, Any]:
    """Leaves a file in the folder `log` for each run."""
    (Path(log) / f"{n}-{os.urandom(4).hex()}").touch()
    time.sleep(0.02)
    out["numbers"] = np.arange(n)
    return {"count": n}


def die(inputs: Sequence[Folder], out: Folder, resources: Resources, *, log: str, times: int) -> dict[str, Any]:
    """Kills its process in its first runs, after it has written a part."""
    runs = len(list(Path(log).iterdir()))
    (Path(log) / f"death-{runs}").touch()
    out["numbers"] = np.arange(3)
    if runs < times:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"runs": runs + 1}


def refuse(inputs: Sequence[Folder], out: Folder, resources: Resources) -> dict[str, Any]:
    """Raises an error of this package."""
    raise InvalidMeshError("has no area", "triangle", 7)


def tell_resources(inputs: Sequence[Folder], out: Folder, resources: Resources, *, n: int) -> dict[str, Any]:
    """Returns the resources that it may use, and its process."""
    time.sleep(0.3)  # so that each worker gets one
    return {"device": resources.device, "threads": resources.threads, "process": os.getpid()}


def tell_gpu(inputs: Sequence[Folder], out: Folder, resources: Resources, *, n: int) -> dict[str, Any]:
    """Returns the UUID of its GPU, which PyCUDA does not give."""
    open_device(resources.device)
    time.sleep(0.3)
    driver, device, uuid = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), (ctypes.c_ubyte * 16)()
    assert driver.cuDeviceGet(ctypes.byref(device), int(resources.device.partition(":")[2])) == 0
    assert driver.cuDeviceGetUuid_v2(uuid, device) == 0
    return {"uuid": bytes(uuid).hex()}


def sleep(inputs: Sequence[Folder], out: Folder, resources: Resources, *, seconds: float, n: int) -> dict[str, Any]:
    """Takes a while."""
    time.sleep(seconds)
    out["numbers"] = np.arange(n)
    return {"count": n}


def take_steps(inputs: Sequence[Folder], out: Folder, resources: Resources, *, seconds: float) -> dict[str, Any]:
    """Waits twice, in two steps, one of which has another one inside."""
    with step("first"):
        time.sleep(seconds)
    with step("second"), step("inner"):
        time.sleep(seconds)
    return {}


def get_ready(resources: Resources, options: Mapping[str, Any]) -> None:
    """Leaves a file in the folder `ready`, where the options name one."""
    if "ready" in options:
        (Path(options["ready"]) / f"{os.getpid()}").touch()


def wait_for_another(inputs: Sequence[Folder], out: Folder, resources: Resources, *, ready: str) -> dict[str, Any]:
    """Waits until another worker is ready."""
    deadline = time.monotonic() + 60
    while not any(Path(ready).iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    others = {path.name for path in Path(ready).iterdir()} - {str(os.getpid())}
    return {"others": len(others), "threads": resources.threads}


def make_two(
    inputs: Sequence[Folder], out: Folder, second: Folder, resources: Resources, *, n: int, fault: str = ""
) -> Iterator[dict[str, Any]]:
    """Writes 0 to n - 1, and then their squares, unless there is a `fault`."""
    out["numbers"] = np.arange(n)
    yield {"count": n}
    if fault == "none":
        return
    second["numbers"] = np.arange(n) ** 2
    if fault == "error":
        raise InvalidMeshError("has no area", "triangle", 7)
    yield {"squares": n}


def make_second(
    inputs: Sequence[Folder], out: Folder, resources: Resources, *, n: int, fault: str = ""
) -> dict[str, Any]:
    """Writes the squares of 0 to n - 1."""
    out["numbers"] = np.arange(n) ** 2
    if fault == "error":
        raise InvalidMeshError("has no area", "triangle", 7)
    return {"squares": n, "again": True}
