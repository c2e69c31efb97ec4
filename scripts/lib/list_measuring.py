"""Times rankings, checks, gathers and scans on the device, for the benchmark and the study of lists."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.memory import Device, DeviceArray, open_device, scan
from static_graph import generate_list
from static_graph.lists.checks import find_heads
from static_graph.lists.cost_model import gather_seconds
from static_graph.lists.generation import random_order
from static_graph.lists.ranking import rank_on_device

LONG = 2**22  # number of elements from which on the slow sequential pass is timed only once


@dataclass(frozen=True)
class Timed:
    """Seconds per turn, without the first (a warm-up); the ranks; the figures that the method reports."""

    seconds: list[float]
    ranks: NDArray[np.int32]
    figures: dict[str, int]

    @property
    def best(self) -> float:
        """Seconds of the best turn."""
        return min(self.seconds)


def seconds_of(device: Device, call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that a call takes, including its launches, and its return value."""
    device.synchronize()
    begun = time.perf_counter()
    result = call()
    device.synchronize()
    return time.perf_counter() - begun, result


class MeasuredList:
    """A list on a device, with its heads.

    Attributes:
        successors: (n,) on the host; check: seconds of each check that these are lists, without the first.
    """

    def __init__(self, device: Device, successors: NDArray[np.int32], repeats: int) -> None:
        self.successors = successors
        self._repeats = repeats
        self._on_device = device.array(successors)
        turns = [seconds_of(device, lambda: find_heads(self._on_device, successors)) for _ in range(repeats + 1)]
        self.check = [seconds for seconds, _ in turns[1:]]
        self.heads: DeviceArray = turns[0][1]

    def ranked(self, method: str, options: Mapping[str, Any], out: NDArray[np.int32] | None = None) -> Timed:
        """Times repeated rankings, without check and transfers. `out`: array for the ranks."""
        device, seconds = self._on_device.device, []
        used = device.empty(len(self.successors), np.int32)
        for _ in range(self._repeats + 1):
            used.copy_from(self._on_device)
            taken, ranked = seconds_of(device, lambda: rank_on_device(used, self.heads, method=method, **options))
            seconds.append(taken)
        return Timed(seconds[1:], ranked.ranks.download(out), dict(ranked.figures))

    @cached_property
    def in_sequence(self) -> Timed:
        """Times the sequential pass on the host, once from `LONG` elements on. Its output pages are touched before."""
        host, size = open_device("cpu", 1), len(self.successors)
        successors, heads = host.array(self.successors), host.array(self.heads.download())
        ranks, lengths = host.empty(size, np.int32), host.empty(heads.size, np.int32)
        ranks.fill(255)
        turns = 1 if size >= LONG else self._repeats + 1
        seconds = [
            seconds_of(
                host,
                lambda: host.launch("rank_in_sequence", 1, successors, size, heads, heads.size, ranks, None, lengths),
            )[0]
            for _ in range(turns)
        ]
        return Timed(seconds[-self._repeats :], ranks.detach(), {})


class MeasuredLists:
    """Lists of a study. Random ones, which several parts share, are made once and ranked once per method."""

    def __init__(self, device: Device, repeats: int) -> None:
        self.device, self.repeats = device, repeats
        self._random: dict[int, MeasuredList] = {}
        self._rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._ranks = np.empty(0, np.int32)

    def of(self, kind: str, size: int) -> MeasuredList:
        """Makes a list of the given kind, or returns a known random one."""
        if kind == "random" and size in self._random:
            return self._random[size]
        threads = self.device.threads or None
        found = MeasuredList(
            self.device, generate_list(kind, size, device=self.device.name, threads=threads), self.repeats
        )
        if kind == "random":
            self._random[size] = found
        return found

    def row(self, given: MeasuredList, method: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """Ranks a list and compares with the sequential pass: method, options, seconds, figures, agrees."""
        size = len(given.successors)
        key = (size, method, *sorted(options.items()))
        known = self._random.get(size) is given
        if known and key in self._rows:
            return self._rows[key]
        if len(self._ranks) < size:
            self._ranks = np.empty(size, np.int32)  # reused: the first touch of a page costs more than its transfer
        found = given.ranked(method, options, self._ranks[:size])
        row = {
            "method": method,
            "options": dict(options),
            "seconds": found.seconds,
            "figures": found.figures,
            "agrees": bool(np.array_equal(found.ranks, given.in_sequence.ranks)),
        }
        if known:
            self._rows[key] = row
        return row


def gathered(device: Device, size: int, repeats: int) -> float:
    """Best time of a random gather of `size` words."""
    places = random_order(device, size, 1)
    return gather_seconds(places, device.empty(size, np.int32), device.empty(size, np.int32), repeats + 1)


def scanned(device: Device, size: int, repeats: int) -> float:
    """Best time of an exclusive scan of `size` ones, to which ranking an ordered list reduces."""
    ones, sums = device.array(np.ones(size, np.int32)), device.empty(size + 1, np.int32)
    return min(seconds_of(device, lambda: scan(ones, out=sums))[0] for _ in range(repeats + 1))
