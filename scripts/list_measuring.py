"""What the benchmark and the study of lists share: times of rankings, checks, gathers and scans, all on the device."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.memory import Device, DeviceArray, open_device, scan
from static_graph.cost_model import gather_seconds
from static_graph.list_checking import find_heads
from static_graph.lists import random_order
from static_graph.ranking import rank_on_device


@dataclass(frozen=True)
class Timed:
    """Seconds of every turn, the first one (a warm-up) left out; the ranks; what the method says of itself."""

    seconds: list[float]
    ranks: NDArray[np.int32]
    figures: dict[str, int]

    @property
    def best(self) -> float:
        """The best turn."""
        return min(self.seconds)


def seconds_of(device: Device, call: Callable[[], Any]) -> tuple[float, Any]:
    """How long a call takes with all that it launches, and what it returns."""
    device.synchronize()
    begun = time.perf_counter()
    result = call()
    device.synchronize()
    return time.perf_counter() - begun, result


class MeasuredList:
    """A list on a device, with its first elements.

    Attributes:
        successors: (n,) on the host; check: seconds of every check whether these are lists, the first one left out.
    """

    def __init__(self, device: Device, successors: NDArray[np.int32], repeats: int) -> None:
        self.successors = successors
        self._repeats = repeats
        self._on_device = device.array(successors)
        self._spare = device.empty(len(successors), np.int32)
        turns = [seconds_of(device, lambda: find_heads(self._on_device, successors)) for _ in range(repeats + 1)]
        self.check = [seconds for seconds, _ in turns[1:]]
        self.heads: DeviceArray = turns[0][1]

    def ranked(self, method: str, options: Mapping[str, Any]) -> Timed:
        """Ranks it some times; neither the check nor transfers count."""
        device, seconds = self._spare.device, []
        for _ in range(self._repeats + 1):
            self._spare.copy_from(self._on_device)
            taken, ranked = seconds_of(
                device, lambda: rank_on_device(self._spare, self.heads, method=method, **options)
            )
            seconds.append(taken)
        return Timed(seconds[1:], ranked.ranks.download(), dict(ranked.figures))

    def in_sequence(self) -> Timed:
        """The sequential pass on the host, once: memory that it writes is there before."""
        host = open_device("cpu", 1)
        successors, heads = host.array(self.successors), host.array(self.heads.download())
        ranks, lengths = host.zeros(len(self.successors), np.int32), host.empty(heads.size, np.int32)
        ranks.fill(255)
        taken, _ = seconds_of(
            host,
            lambda: host.launch("rank_in_sequence", 1, successors, heads, heads.size, ranks, None, lengths),
        )
        return Timed([taken], ranks.download(), {})


def gathered(device: Device, size: int, repeats: int) -> float:
    """The best time of a random gather of `size` words."""
    places = random_order(device, size, 1)
    return gather_seconds(places, device.empty(size, np.int32), device.empty(size, np.int32), repeats + 1)


def scanned(device: Device, size: int, repeats: int) -> float:
    """The best time of an exclusive scan of `size` ones: what ranking an ordered list comes down to."""
    ones, sums = device.array(np.ones(size, np.int32)), device.empty(size + 1, np.int32)
    return min(seconds_of(device, lambda: scan(ones, out=sums))[0] for _ in range(repeats + 1))
