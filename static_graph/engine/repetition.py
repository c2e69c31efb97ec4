"""Repetition of rounds until one changes nothing, by the device alone or with a check by the host after each round.

The thesis copies `changed` to the host after each round (Algorithm 1). Here a round is recorded once, as a sequence
that restarts itself, if the device supports it: a path of 100,000 nodes takes 100,000 rounds, each of them shorter than
a check by the host.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from dmr.memory import Device, DeviceArray


@dataclass(frozen=True)
class Repeated:
    """Cost of a repetition.

    Attributes:
        seconds: time of all rounds, without their recording; launches: kernels per round.
    """

    seconds: float
    launches: int


def run_once(device: Device, one_round: Callable[[], None]) -> Repeated:
    """Runs the launches of `one_round` once, and waits for them."""
    with device.rehearsal():
        one_round()
    device.synchronize()
    before, begun = sum(device.launches.values()), perf_counter()
    one_round()
    device.synchronize()
    return Repeated(perf_counter() - begun, sum(device.launches.values()) - before)


def repeat(device: Device, stop: DeviceArray, one_round: Callable[[], None]) -> Repeated:
    """Makes the device repeat the launches of `one_round`.

    Args:
        device: the device.
        stop: (1,) int32, which a kernel of the round sets if no further round follows.
        one_round: launches the kernels of a round, and does nothing else.
    """
    launches = 0

    def counted_round() -> None:
        nonlocal launches
        before = sum(device.launches.values())
        one_round()
        launches = sum(device.launches.values()) - before

    with device.rehearsal():
        one_round()
    loop = device.loop(counted_round, stop)
    device.synchronize()
    begun = perf_counter()
    loop.run()
    device.synchronize()
    return Repeated(perf_counter() - begun, launches)


def repeat_from_host(device: Device, stop: DeviceArray, one_round: Callable[[], None]) -> Repeated:
    """Repeats rounds with a check by the host after each, for kernels that cannot be recorded.

    Kernels that launch kernels are an example: a CUDA graph launched from the device must not contain them.
    """
    with device.rehearsal():
        one_round()
    device.synchronize()
    before, begun = sum(device.launches.values()), perf_counter()
    one_round()
    launches = sum(device.launches.values()) - before
    while not stop.download()[0]:
        one_round()
    return Repeated(perf_counter() - begun, launches)
