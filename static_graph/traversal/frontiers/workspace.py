"""Workspace of frontier traversals: lists of nodes, the control state of the kernels, and the launches of a round.

`cuda_src/graph/traversal/rounds.cuh` describes the passes of a round, and who runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import NamedTuple, TypeVar

import numpy as np

from dmr.memory import Argument, DeviceCount, Enumeration, Packed, constant, pack
from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal.distances import DeviceDistances
from static_graph.traversal.schemes.outcome import Outcome

TILE = constant("TILE", "graph/traversal/control.cuh")  # most nodes per team
CHUNK = constant("LEAST_CHUNK")  # edges
BEGINNING = constant("BEGINNING")  # nodes that a team initialises
TEAMS_PER_PROCESSOR = constant("HIGH_OCCUPANCY_COOPERATIVE_TEAMS")  # resident per multiprocessor
MOST_TEAMS = 4096  # most teams in one launch of a whole traversal, if they fit on the device

# One team alone processes rounds of at most this many nodes and edges; larger rounds involve the other teams.
SINGLE_BLOCK_ON_GPU = {"single_block_nodes": 256, "single_block_edges": 2048}
SINGLE_BLOCK_ON_ONE_THREAD = {"single_block_nodes": 2**31, "single_block_edges": 2**62}
SINGLE_BLOCK_ON_THREADS = {"single_block_nodes": 1024, "single_block_edges": 4096}

# On a CPU, one thread searches graphs of at most this many edges in one launch: several do not pay off.
EDGES_FOR_ONE_THREAD = 2**14


class Entry(Enumeration, count="ENTRIES"):
    """Indices into the progress of a traversal."""


class Total(Enumeration, count="TOTALS"):
    """Indices into the totals of a traversal."""


W = TypeVar("W", bound="Workspace")


class Kernels(NamedTuple):
    """The kernels of an algorithm.

    All of them take the same arguments, and then: `begin` the number of sources, and the source if it is the only one,
    otherwise -1; `one_pass` the pass, by its `Entry`.

    Attributes:
        begin: initialises the distances and the control state.
        single_block: one team processes consecutive rounds, as long as they fit it.
        one_pass: a pass of a round; end: ends a round, and decides the next one.
        whole: all rounds in one launch.
    """

    begin: str
    single_block: str
    one_pass: str
    end: str
    whole: str


class Workspace:
    """Arrays for traversals of one graph, one at a time.

    Attributes:
        device: the device; one_thread: whether one CPU thread does all the work.
        lists: two arrays, (nodes,) int32 each: a double buffer of the frontier and the next one.
        progress: (len(Entry),) int32; totals: (len(Total),) int64.
        frontier: the workspace as a kernel argument.
    """

    threads_that_gain = 2  # CPU threads: fewer take as long as one, which needs no atomic operations

    def __init__(self, graph: DeviceGraph) -> None:
        device = self.device = graph.device
        few = device.threads < self.threads_that_gain or graph.edges <= EDGES_FOR_ONE_THREAD
        self.one_thread = device.threads > 0 and few
        chunks = 2 * graph.edges // CHUNK + 1  # capacity: a node that is cut has more than CHUNK edges
        self.lists = tuple(device.empty(graph.nodes, np.int32) for _ in range(2))
        self.progress = device.zeros(len(Entry), np.int32)
        self.totals = device.zeros(len(Total), np.int64)
        self._chunks = device.empty(chunks, np.int64)
        self._meeting = device.zeros(constant("MEETING"), np.uint64)
        self.frontier: Packed = pack(
            "Traversal",
            list0=self.lists[0],
            list1=self.lists[1],
            chunks=self._chunks,
            progress=self.progress,
            totals=self.totals,
            meeting=self._meeting,
            teams=TEAMS_PER_PROCESSOR * device.multiprocessors if device.threads == 0 else 1,
            **self.single_block_limits(),
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

    def single_block_limits(self) -> dict[str, int]:
        """Returns the limits of rounds that one team of the device processes alone."""
        if self.device.threads == 0:
            return SINGLE_BLOCK_ON_GPU
        return SINGLE_BLOCK_ON_ONE_THREAD if self.one_thread else SINGLE_BLOCK_ON_THREADS

    def run(
        self,
        kernels: Kernels,
        arguments: tuple[Argument, ...],
        distances: DeviceDistances,
        *,
        most_teams: Mapping[Entry, int],
        in_one_launch: bool | None,
    ) -> Outcome:
        """Runs a traversal from the sources to its end.

        Args:
            kernels: of the algorithm; arguments: of all its kernels.
            distances: from the sources; a kernel initialises them.
            most_teams: the most teams of the algorithm's own passes, by `Entry`; without PREPARE or OTHER, these are
                not launched.
            in_one_launch: whether to launch all rounds at once, or to repeat the launches of a round. By default a GPU
                launches all at once: a barrier among its teams takes less time than a launch. On several CPU threads,
                a barrier may wait long for one that is not scheduled.


        Returns:
            The outcome, without scheme-specific figures. Its seconds do not contain the initialisation, and the
            recording of a loop.
        """
        device = self.device
        if in_one_launch is None:
            in_one_launch = device.threads == 0 or self.one_thread
        self._begin(kernels.begin, distances, arguments)
        work: Callable[[], None]
        if in_one_launch:
            work = partial(device.launch, kernels.whole, 1 if self.one_thread else MOST_TEAMS, *arguments)
        else:
            one_round = partial(self._one_round, kernels, arguments, most_teams)
            with device.rehearsal():
                one_round()
            work = device.loop(one_round, self.progress[Entry.STOP : Entry.STOP + 1]).run
        begun = perf_counter()
        work()
        totals = self.totals.download().tolist()
        while totals[Total.PAUSED]:  # the device returned early, so that signals are handled
            self.progress[Entry.PASS : Entry.PASS + 1].upload(np.array(totals[Total.PAUSED :], np.int32))
            self.totals[Total.PAUSED :].fill(0)
            work()
            totals = self.totals.download().tolist()
        seconds = perf_counter() - begun
        return Outcome(
            distances,
            rounds=totals[Total.ALL_ROUNDS],
            relaxed=totals[Total.FOLLOWED],
            launches=1 if in_one_launch else totals[Total.ALL_LAUNCHES],
            seconds=seconds,
        )

    def _begin(self, kernel: str, distances: DeviceDistances, arguments: tuple[Argument, ...]) -> None:
        """Initialises distances and control state, with the sources as the first frontier."""
        nodes, sources = self.lists[0], distances.sources
        several = distances.source < 0
        if several:
            nodes[: sources.size].upload(sources)
        teams = max(self.device.tiles(nodes.size, BEGINNING), 1)
        self.device.launch(kernel, teams, *arguments, sources.size, distances.source)
        if several:
            distances.enter_sources(nodes[: sources.size])

    def _one_round(self, kernels: Kernels, arguments: tuple[Argument, ...], most_teams: Mapping[Entry, int]) -> None:
        """Launches the passes of one round; passes that the round does not have are empty launches."""
        launch, nodes, chunks = self.device.launch, self.lists[0].size, self._chunks.size

        def teams(entry: Entry, most: int) -> DeviceCount:
            return DeviceCount(self.progress[entry : entry + 1], most)

        launch(kernels.single_block, teams(Entry.ALONE, 1), *arguments)
        for entry, most in sorted({Entry.TILES: nodes, Entry.CHUNKS: chunks, **most_teams}.items()):
            launch(kernels.one_pass, teams(entry, most), *arguments, int(entry))
        launch(kernels.end, teams(Entry.ENDS, 1), *arguments)
