"""Workspace of frontier traversals: lists of nodes, and the control state of the kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from time import perf_counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dmr.memory import Argument, Device, DeviceCount, Packed, pack
from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal.distances import DeviceDistances
from static_graph.traversal.schemes.outcome import Outcome

TILE = 256  # TILE of cuda_src/graph/traversal/traversal.cuh
TEAMS_A_PROCESSOR = 4  # resident teams per multiprocessor: of HIGH_OCCUPANCY_COOPERATIVE_TEAM_KERNEL
BEGINNING = 2048  # BEGINNING of cuda_src/graph/traversal/traversal.cuh
CHUNK = 2048  # the least CHUNK there
MOST_TEAMS = 4096  # most teams in one launch of a whole traversal, if they fit on the device

# One team alone processes rounds of at most this many nodes and edges; larger rounds involve the other teams.
FEW_ON_GPU = {"few_nodes": 256, "few_edges": 2048}
FEW_ON_ONE_THREAD = {"few_nodes": 2**31, "few_edges": 2**62}
FEW_ON_THREADS = {"few_nodes": 1024, "few_edges": 4096}


class Entry(IntEnum):
    """`Entry` of `cuda_src/graph/traversal/traversal.cuh`."""

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
    """`Total` of `cuda_src/graph/traversal/traversal.cuh`."""

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
        device: the device.
        even, odd: (nodes,) int32: a double buffer of the frontier and the next one.
        progress: (len(Entry),) int32; totals: (len(Total),) int64.
        frontier: the workspace as a kernel argument.
    """

    def __init__(self, graph: DeviceGraph) -> None:
        device = self.device = graph.device
        chunks = 2 * graph.edges // CHUNK + 1  # a node that is cut has more than CHUNK edges
        self.even, self.odd = (device.empty(graph.nodes, np.int32) for _ in range(2))
        self.progress = device.zeros(len(Entry), np.int32)
        self.totals = device.zeros(len(Total), np.int64)
        self._in_one_launch = False  # whether the last traversal was one launch
        self._found: NDArray[np.int64] = np.zeros(len(Total), np.int64)  # totals of the last traversal
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
        """Yields a workspace for exclusive use by one traversal; it stays with the graph for the next one."""
        free: list[W] = graph.derived(cls.__name__, list)
        try:
            space = free.pop()  # atomic: other threads borrow, too
        except IndexError:
            space = cls(graph)
        yield space
        free.append(space)

    def begin(self, kernel: str, distances: DeviceDistances, *arguments: Argument) -> None:
        """Launches the kernel that initialises distances and workspace, with the sources as the first frontier."""
        first, several = self.even[: distances.sources.size], distances.source < 0
        if several:
            first.upload(distances.sources)
        teams = max(self.device.tiles(self.even.size, BEGINNING), 1)
        self.device.launch(kernel, teams, *arguments, first.size, distances.source)
        if several:
            distances.enter_sources(first)

    def count(self, entry: Entry, bound: int) -> DeviceCount:
        """Returns an entry of `progress` as the size of a launch."""
        return DeviceCount(self.progress[entry : entry + 1], bound)

    def run(self, whole: Callable[[], None], part: Callable[[], None], in_one_launch: bool | None) -> float:
        """Runs a traversal to its end.

        Args:
            whole: launches the whole traversal; part: launches the kernels of one round.
            in_one_launch: whether to use `whole`, or to repeat `part`. By default a GPU uses `whole`: a barrier
                among its teams takes less time than a launch. On a CPU, a barrier may wait long for a thread that is
                not scheduled.

        Returns:
            The elapsed seconds, without the recording of a loop.
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
        """Returns the outcome of a completed traversal."""
        totals = self._found
        return Outcome(
            distances,
            rounds=int(totals[Total.ALL_ROUNDS]),
            relaxed=int(totals[Total.FOLLOWED]),
            launches=1 if self._in_one_launch else int(totals[Total.ALL_LAUNCHES]),
            seconds=seconds,
        )


def few_rounds(device: Device) -> dict[str, int]:
    """Returns the limits of rounds that one team of the device processes alone."""
    if device.threads == 0:
        return FEW_ON_GPU
    return FEW_ON_ONE_THREAD if device.threads == 1 else FEW_ON_THREADS
