"""What a traversal by a frontier works in: lists of nodes, and the numbers that its kernels go by."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from time import perf_counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dmr.memory import Argument, Device, DeviceCount, Packed, pack
from static_graph.device_graph import DeviceGraph
from static_graph.distances import DeviceDistances
from static_graph.schemes.outcome import Outcome

TILE = 256  # TILE of cuda_src/graph/traversal.cuh
TEAMS_A_PROCESSOR = 4  # that run at once on a GPU: the bound of CROWDED_GRID_TEAM_KERNEL in cuda_src/graph/lanes.cuh
BEGINNING = 2048  # likewise
CHUNK = 2048  # the least CHUNK there
MOST_TEAMS = 4096  # that work on one launch of a whole traversal, where so many fit on a device

# Rounds that one team does alone: of so many nodes and edges at most. Others have to be woken for a larger one.
FEW_ON_GPU = {"few_nodes": 256, "few_edges": 2048}
FEW_ON_ONE_THREAD = {"few_nodes": 2**31, "few_edges": 2**62}
FEW_ON_THREADS = {"few_nodes": 1024, "few_edges": 4096}


class Entry(IntEnum):
    """`Entry` of `cuda_src/graph/traversal.cuh`."""

    STEP = 0
    ROUND = 1
    SIDE = 2
    LISTED = 3
    NEXT_LISTED = 4
    FAR_SIDE = 5
    FAR_LISTED = 6
    NEXT_FAR = 7
    TILE_NODES = 8
    FEW_TEAMS = 9
    FIRST_TEAMS = 10
    TILE_TEAMS = 11
    LAST_TEAMS = 12
    CHUNKS = 13
    ENDS = 14
    LAUNCHES = 15
    STOP = 16


class Total(IntEnum):
    """`Total` of `cuda_src/graph/traversal.cuh`."""

    EDGES = 0
    NEXT_EDGES = 1
    FOLLOWED = 2
    UNSEEN = 3
    UNSEEN_EDGES = 4
    NEAR = 5
    LAST_NEAR = 6
    FAR_LEAST = 7
    WIDTH = 8
    BAND_ROUND = 9
    BAND_FOLLOWED = 10
    ALL_ROUNDS = 11
    ALL_LAUNCHES = 12
    SLICE_BEGUN = 13
    PAUSED = 14


W = TypeVar("W", bound="Workspace")


class Workspace:
    """Arrays for traversals of one graph, one at a time.

    Attributes:
        device: where they are.
        even, odd: (nodes,) int32: the frontier and the next one, in turn.
        progress: (len(Entry),) int32; totals: (len(Total),) int64.
        frontier: all of it as kernels take it.
    """

    def __init__(self, graph: DeviceGraph) -> None:
        device = self.device = graph.device
        chunks = 2 * graph.edges // CHUNK + 1  # a node that is cut has more than CHUNK edges
        self.even, self.odd = (device.empty(graph.nodes, np.int32) for _ in range(2))
        self.progress = device.zeros(len(Entry), np.int32)
        self.totals = device.zeros(len(Total), np.int64)
        self._in_one_launch = False  # the last traversal
        self._found: NDArray[np.int64] = np.zeros(len(Total), np.int64)  # its totals
        self._chunks = device.empty(chunks, np.int64)
        self._meeting = device.zeros(2, np.int32)
        self.frontier: Packed = pack(
            "Traversal",
            even=self.even,
            odd=self.odd,
            chunks=self._chunks,
            progress=self.progress,
            totals=self.totals,
            meeting=self._meeting,
            teams=TEAMS_A_PROCESSOR * device.multiprocessors if device.threads == 0 else 1,
            **few_rounds(device),
        )

    @classmethod
    @contextmanager
    def borrowed(cls: type[W], graph: DeviceGraph) -> Iterator[W]:
        """One that no other traversal of the graph uses meanwhile; it stays with the graph for the next one."""
        free: list[W] = graph.derived(cls.__name__, list)
        try:
            space = free.pop()  # atomic: other threads borrow, too
        except IndexError:
            space = cls(graph)
        yield space
        free.append(space)

    def begin(self, kernel: str, distances: DeviceDistances, *arguments: Argument) -> None:
        """Launches the kernel that makes distances, lists and numbers ready, and the sources the first frontier."""
        first, several = self.even[: distances.sources.size], distances.source < 0
        if several:
            first.upload(distances.sources)
        teams = max(self.device.tiles(self.even.size, BEGINNING), 1)
        self.device.launch(kernel, teams, *arguments, first.size, distances.source)
        if several:
            distances.enter_sources(first)

    def count(self, entry: Entry, bound: int) -> DeviceCount:
        """A number of the progress, for a launch."""
        return DeviceCount(self.progress[entry : entry + 1], bound)

    def run(self, whole: Callable[[], None], part: Callable[[], None], in_one_launch: bool | None) -> float:
        """Runs a traversal to its end.

        Args:
            whole: launches all of it; part: launches the kernels of one round.
            in_one_launch: whether to do the first, or the second again and again. By default a GPU does the first: its
                teams wait less for each other than for a new launch. On a CPU they may wait long for a thread that
                is kept from running.

        Returns:
            The seconds that it took, the recording of a loop apart.
        """
        device = self.device
        self._in_one_launch = device.threads == 0 if in_one_launch is None else in_one_launch
        if self._in_one_launch:
            work = whole
        else:
            with device.rehearsal():
                part()
            work = device.loop(part, self.progress[Entry.STOP : Entry.STOP + 1]).run
        begun = perf_counter()
        work()
        self._found = self.totals.download()
        while self._found[Total.PAUSED]:  # the device returned early, so that signals are handled
            self.progress[Entry.STEP : Entry.STEP + 1].upload(self._found[Total.PAUSED :].astype(np.int32))
            self.totals[Total.PAUSED :].fill(0)
            work()
            self._found = self.totals.download()
        return perf_counter() - begun

    def outcome(self, distances: DeviceDistances, seconds: float) -> Outcome:
        """What is to be told of a traversal that has ended."""
        totals = self._found
        return Outcome(
            distances,
            rounds=int(totals[Total.ALL_ROUNDS]),
            relaxed=int(totals[Total.FOLLOWED]),
            launches=1 if self._in_one_launch else int(totals[Total.ALL_LAUNCHES]),
            seconds=seconds,
        )


def few_rounds(device: Device) -> dict[str, int]:
    """What one team takes on by itself on a device."""
    if device.threads == 0:
        return FEW_ON_GPU
    return FEW_ON_ONE_THREAD if device.threads == 1 else FEW_ON_THREADS
