"""Lists the devices of this machine, and opens one by name."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cache
from typing import Any

from dmr.common.arguments import shortened
from dmr.common.available import physical_memory
from dmr.common.errors import DeviceUnavailableError, NativeLibraryError, OptionError
from dmr.common.text import option
from dmr.common.threads import available_threads, thread_count
from dmr.memory.arrays import Device, DeviceArray
from dmr.memory.exchange import CPU, location_of

log = logging.getLogger("dmr.memory")


@dataclass(frozen=True)
class DeviceInfo:
    """A device of this machine.

    Attributes:
        name: the value for `device=`; description: for people; usable: whether a run can use it; reason: why not.
        memory_bytes: its memory; threads: CPU threads, 0 on a GPU.
    """

    name: str
    description: str
    usable: bool
    reason: str | None
    memory_bytes: int
    threads: int


def devices() -> list[DeviceInfo]:
    """Returns every device of this machine, usable or not; the CPU first."""
    from dmr.memory.cuda import discovery as cuda
    from dmr.memory.host.compiler import library

    reason = None
    try:
        library()
    except NativeLibraryError as error:
        reason = str(error)
    threads = available_threads()
    memory = physical_memory()
    found = [DeviceInfo("cpu", f"{threads} cores", reason is None, reason, memory, threads)]
    return found + [
        DeviceInfo(f"cuda:{i}", card.description, card.reason is None, card.reason, card.memory_bytes, 0)
        for i, card in enumerate(cuda.cards())
    ]


def gpu_absence() -> str | None:
    """Returns why no GPU of this machine can be used; None if one can."""
    from dmr.memory.cuda import discovery as cuda

    reasons = [card.reason for card in cuda.cards()]
    if None in reasons:
        return None
    return cuda.absence() or f"cuda:0 cannot be used: {reasons[0]}"


def open_device(name: str = "auto", threads: int | None = None) -> Device:
    """Opens a device by name.

    Args:
        name: "auto" takes the first GPU that works, otherwise the CPU; "cpu", "cuda" and "cuda:N" take only that one.
        threads: CPU threads, 1 to 1,024 (or the number of cores, if that is larger); by default every core that the
            process may use. Ignored on a GPU.

    Raises:
        DeviceUnavailableError: the named device does not exist or does not work; gives the reason.
        OptionError: a malformed name, or a number of threads out of range.
    """
    thread_count(threads)
    if not isinstance(name, str):
        raise _unknown(name)
    if name in ("auto", "cuda") or name.startswith("cuda:"):
        number = name.partition(":")[2] or "0"
        if not (number.isdecimal() and len(number) < 10):
            raise _unknown(name)
        if name != "auto":
            return _open_cuda(int(number))
        from dmr.memory.cuda import discovery as cuda

        if any(card.reason is None for card in cuda.cards()):
            return _open_cuda(next(i for i, card in enumerate(cuda.cards()) if card.reason is None))
        _note_absence(gpu_absence())
        name = "cpu"
    if name != "cpu":
        raise _unknown(name)
    from dmr.memory.host.device import HostDevice

    return HostDevice(threads)


@cache
def _note_absence(reason: str | None) -> None:
    """Logs why "auto" takes the CPU, once per process and reason."""
    log.info("no usable GPU (%s): running on the CPU", reason)


def device_of(array: Any, threads: int | None = None) -> Device:
    """Opens the device where an array is.

    Args:
        array: a `DeviceArray`, an array with `__dlpack__` or `__cuda_array_interface__`, or one that numpy converts.
        threads: CPU threads, for an array in main memory.

    Raises:
        WrongTypeError: it is on a device of another kind. DeviceUnavailableError: the device cannot be used.
    """
    if isinstance(array, DeviceArray):
        return array.device
    location = location_of(array)
    if location == (CPU, 0):
        return open_device("cpu", threads)
    if location is not None:
        return open_device(f"cuda:{location[1]}")
    pointer = int(array.__cuda_array_interface__["data"][0] or 0)
    first: Any = open_device("cuda")  # the driver reports where memory is, in the context of any GPU
    return open_device(f"cuda:{first.number_of(pointer)}") if pointer else first  # an empty array is on any


def _unknown(name: object) -> OptionError:
    return OptionError(f"{option('device')} must be auto, cpu, cuda or cuda:N, not {shortened(name)}")


def _open_cuda(number: int) -> Device:
    from dmr.memory.cuda import discovery as cuda

    cards = cuda.cards()
    if number >= len(cards):
        raise DeviceUnavailableError(
            cuda.absence() or f"there is no cuda:{number}: this machine has {len(cards)} GPU(s)"
        )
    reason = cards[number].reason
    if reason is not None:
        raise DeviceUnavailableError(f"cuda:{number} cannot be used: {reason}")
    from dmr.memory.cuda.device import cuda_device

    return cuda_device(number)


def warm(name: str = "auto") -> list[str]:
    """Compiles all kernels for a device ahead of their first use; returns the names of the modules.

    Does nothing for the CPU, whose kernels were compiled when the package was built.

    Args:
        name: the device, as for `open_device`.

    Raises:
        DeviceUnavailableError: the device is not there, or kernels cannot be compiled.
    """
    device = open_device(name)
    modules = getattr(device, "warm", None)
    return list(modules()) if modules else []
