"""Lists the GPUs without creating a context on any of them."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from dmr.memory.cuda.compiler import is_prebuilt


@dataclass(frozen=True)
class Card:
    """A GPU: its description, its memory, and why it cannot be used (None if it can)."""

    description: str
    memory_bytes: int
    reason: str | None


FORKED = (
    "the CUDA driver was started before this process was forked, and does not work in a forked process: start "
    "processes with the method 'spawn'"
)

# The process that started the driver: a child of fork() inherits the number, and sees that it is another process.
# Threads that start the driver at the same time write the same number.
_started_by: int | None = None


def _forked() -> bool:
    """Whether this process was forked from one that had started the driver."""
    return _started_by not in (None, os.getpid())


@cache
def _driver() -> tuple[Any, str | None]:
    """Returns PyCUDA's driver module after cuInit, or None and the reason."""
    global _started_by
    try:
        import pycuda.driver as driver
    except ImportError as error:
        return None, f"PyCUDA cannot be imported ({error}): install the extra [cuda]"
    try:
        driver.init()
    except driver.Error as error:
        return None, f"the CUDA driver does not start ({error})"
    _started_by = os.getpid()
    return driver, None


def absence() -> str | None:
    """Returns why there is no GPU at all, or None if there is one."""
    driver, reason = _driver()
    if _forked():
        return FORKED
    return reason if driver is None else (None if driver.Device.count() else "this machine has no NVIDIA GPU")


def cards() -> tuple[Card, ...]:
    """Returns every GPU that the driver shows; none if PyCUDA or the driver is missing (see `absence`)."""
    found = _cards()
    return tuple(replace(card, reason=FORKED) for card in found) if _forked() else found


@cache
def _cards() -> tuple[Card, ...]:
    driver, _ = _driver()
    if driver is None:
        return ()
    found = []
    for number in range(driver.Device.count()):
        device = driver.Device(number)
        major, minor = device.compute_capability()
        reason = None
        if (major, minor) < (7, 0):
            reason = f"compute capability {major}.{minor}; 7.0 is needed"
        elif shutil.which("nvcc") is None and not is_prebuilt((major, minor)):
            reason = "nvcc, which compiles the kernels on first use, is not on the PATH"
        found.append(Card(f"{device.name()}, compute capability {major}.{minor}", device.total_memory(), reason))
    return tuple(found)
