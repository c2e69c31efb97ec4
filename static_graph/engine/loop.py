"""Rounds of the engine: frontiers, the launches that expand them, and their repetition.

`cuda_src/graph/engine/engine.cuh` describes bodies and strategies. A body `name` is run by

    frontier = Frontier(graph, nodes)
    expansion = Expansion(graph, "name", pack("Body", ...), frontier, how("collapse-local"))
    counts = run_rounds(frontier, [expansion])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dmr.memory import Device, DeviceArray, DeviceCount, Enumeration, Packed, constant, pack, scan
from static_graph.engine.repetition import repeat
from static_graph.errors import OptionError
from static_graph.graph.device_graph import DeviceGraph

STRIPES = constant("STRIPES")  # entries of a striped counter
TEAM_SIZE = constant("TEAM_SIZE")
TILE_EDGES = constant("TILE_EDGES")
SCAN_TILE = constant("SCAN_TILE")

LONG_ROW = 4 * TILE_EDGES  # edges of a node
MOST_ALONE_ON_GPU = TEAM_SIZE  # most nodes of a round that one team follows alone


class Strategy(Enumeration):
    """Distribution of the loop over nodes and edges."""


STRATEGIES = {
    "baseline": Strategy.BASELINE,
    "hierarchical": Strategy.HIERARCHICAL,
    "collapse-local": Strategy.LOCAL,
    "collapse-global": Strategy.GLOBAL,
}


BALANCES = ("auto", *STRATEGIES)


class Entry(Enumeration, enum="FrontierEntry", count="FRONTIER_ENTRIES"):
    """Indices into the progress of a frontier."""


@dataclass(frozen=True)
class How:
    """A strategy with its options.

    Attributes:
        strategy: a value of `STRATEGIES`; packed: strategy and options as a kernel argument.
    """

    strategy: Strategy
    packed: Packed


def how(
    strategy: str = "collapse-local",
    *,
    coalesced: bool = True,
    shared_queue: bool = True,
    team_primitives: bool = True,
) -> How:
    """Chooses how the loop over nodes and edges is distributed.

    On a CPU one thread follows a whole batch or tile sequentially: there the options, and the differences between
    "baseline", "hierarchical" and "collapse-local", have no effect.

    Args:
        strategy: a name of `STRATEGIES`.
        coalesced: neighbouring threads read neighbouring edges if the loops are collapsed; otherwise each thread reads
            consecutive edges.
        shared_queue: a block collects the nodes of the next frontier in shared memory; otherwise each thread reserves a
            position per node.
        team_primitives: warps sum, reserve and combine collectively.

    Raises:
        OptionError: there is no such strategy.
    """
    if strategy not in STRATEGIES:
        raise OptionError(f"strategy = {strategy!r}: it is one of {', '.join(STRATEGIES)}")
    packed = pack(
        "Collapse",
        strategy=STRATEGIES[strategy],
        coalesced=int(coalesced),
        shared_queue=int(shared_queue),
        team_primitives=int(team_primitives),
    )
    return How(STRATEGIES[strategy], packed)


def how_for(balance: str, *graphs: DeviceGraph) -> How:
    """Returns the strategy of a balance, for loops over some graphs.

    "auto" is the local collapse, or, if a node has so many edges that a block would follow them for long, the global
    collapse, whose rounds have more launches.
    """
    if balance != "auto":
        return how(balance)
    return how("collapse-local" if max(map(largest_degree, graphs), default=0) <= LONG_ROW else "collapse-global")


def largest_degree(graph: DeviceGraph) -> int:
    """Returns the largest out-degree of a graph, which is kept with the graph."""

    def find() -> int:
        largest = graph.device.zeros(1, np.int64)
        graph.device.launch("find_largest_degree", graph.nodes, graph.csr, largest)
        return int(largest.download()[0])

    return graph.derived("largest degree", find)


class Frontier:
    """The frontiers of a round and of the next one, on a device.

    Attributes:
        device: the device; nodes: number of nodes of the graph.
        whole: whether every round has all nodes.
        packed: the frontiers as a kernel argument (`Frontier` of `cuda_src/graph/engine/loop.cuh`).
    """

    def __init__(
        self,
        graph: DeviceGraph,
        first: NDArray[np.int32] | None,
        *,
        mask: DeviceArray | None = None,
        whole: bool = False,
        alone: bool = False,
    ) -> None:
        """Makes the first frontier.

        Args:
            graph: the graph.
            first: its nodes, (k,) int32 without repetitions; None for all nodes.
            mask: (nodes,) uint8 on the device: 0 for nodes that count as absent, together with their edges.
            whole: every round has all nodes, and pushes none (`first` is None).
            alone: one team processes rounds with few nodes alone (`run_rounds`), after the first one if that has all
                nodes.
        """
        device, nodes = graph.device, graph.nodes
        count = nodes if first is None else first.size
        lists = None if whole else device.empty(2 * nodes, np.int32)
        if first is not None and first.size:
            assert lists is not None
            lists[: first.size].upload(first)
        self.device, self.nodes, self.whole, self._lists, self._mask = device, nodes, whole, lists, mask
        self._most_alone = _most_alone(device) if alone else 0
        progress = np.zeros(len(Entry), np.int32)
        progress[Entry.FRONTIER] = count
        progress[Entry.WHOLE] = first is None
        progress[Entry.ALONE] = first is not None and 0 < count <= self._most_alone
        if not progress[Entry.ALONE]:
            progress[Entry.BATCHES] = device.tiles(count, TEAM_SIZE)
            progress[Entry.SCAN_TILES] = device.tiles(count, SCAN_TILE)
        self._progress = device.array(progress)  # arrays are kept alive here: `packed` has only addresses
        self._totals = device.zeros(1 + STRIPES, np.int64)
        self.packed: Packed = pack(
            "Frontier",
            lists=lists,
            capacity=nodes,
            progress=self._progress,
            totals=self._totals,
            mask=mask,
            most_alone=self._most_alone,
        )

    def number(self, entry: Entry, bound: int) -> DeviceCount:
        """Returns a counter on the device as the size of a launch."""
        return DeviceCount(self._progress[entry : entry + 1], bound)

    def end_round(self) -> None:
        """Launches the kernel that makes the pushed nodes the frontier."""
        self.device.launch("end_expansion", 1, self.packed)

    @property
    def stop(self) -> DeviceArray:
        """(1,) int32: 1 if the frontier is empty."""
        return self._progress[Entry.FRONTIER_STOP : Entry.FRONTIER_STOP + 1]

    def repeats(self) -> int:
        """Returns how often the launches of a round have run; waits for the device."""
        return int(self._progress.download()[Entry.REPEATS])

    def counts(self, launches: int, seconds: float) -> Counts:
        """Returns the statistics of the rounds up to now, with the given launches and time; waits for the device."""
        rounds, totals = self._progress.download()[Entry.FRONTIER_ROUNDS], self._totals.download()
        return Counts(int(rounds), int(totals[0]), int(totals[1:].sum()), launches, seconds)


def _most_alone(device: Device) -> int:
    """Returns the most nodes of a round that one team of the device follows alone."""
    if device.threads == 0:
        return MOST_ALONE_ON_GPU
    return 2**31 - 1 if device.threads == 1 else TEAM_SIZE


class Expansion:
    """The launches that expand a frontier over the edges of one graph by one body."""

    def __init__(
        self, graph: DeviceGraph, name: str, body: Packed, frontier: Frontier, how: How, *, reduces: bool = False
    ) -> None:
        """Allocates what the strategy needs.

        Args:
            graph: the graph whose edges are followed; it may be a transposed one.
            name: the name of the body's kernels; body: the body as a kernel argument.
            frontier: the nodes; how: the strategy.
            reduces: whether the body has a reduction.
        """
        self.graph, self._name, self._body, self._frontier, self._how = graph, name, body, frontier, how
        self._reduces = reduces
        self._sums: DeviceArray | None = None
        self._degrees: DeviceArray | None = None
        self._values: DeviceArray | None = None
        if how.strategy == Strategy.GLOBAL:
            device = graph.device
            if reduces:
                self._values = device.zeros(frontier.nodes, np.uint64)
            if frontier.whole:
                self._sums = graph.offsets  # the degrees of all nodes, summed
            else:
                self._degrees = device.empty(graph.nodes, graph.offsets.dtype)
                self._sums = device.empty(graph.nodes + 1, graph.offsets.dtype)

    def launch(self) -> None:
        """Launches the expansion of the current frontier."""
        if self._how.strategy == Strategy.GLOBAL:
            self._launch_tiles()
        else:
            self._launch(f"{self._name}_batches", self._batches(), self._how.packed, self._body)

    def _launch(self, kernel: str, count: int | DeviceCount, *arguments: Packed | DeviceArray | None) -> None:
        self.graph.device.launch(kernel, count, self.graph.csr, self._frontier.packed, *arguments)

    def _batches(self) -> int | DeviceCount:
        most = self.graph.device.tiles(self.graph.nodes, TEAM_SIZE)
        return most if self._frontier.whole else self._frontier.number(Entry.BATCHES, most)

    def _launch_tiles(self) -> None:
        """Launches the global collapse: sums of the degrees, equal tiles of edges, the ends of the nodes."""
        graph, frontier, device, sums = self.graph, self._frontier, self.graph.device, self._sums
        assert sums is not None
        most = device.tiles(graph.edges, TILE_EDGES)
        tiles: int | DeviceCount = most
        if not frontier.whole:
            assert self._degrees is not None
            count = frontier.number(Entry.FRONTIER, graph.nodes)
            self._launch(f"{self._name}_degrees", count, self._body, *_by_width(self._degrees))
            scan(self._degrees, count, sums, frontier.number(Entry.SCAN_TILES, device.tiles(graph.nodes, SCAN_TILE)))
            device.launch("cut_tiles", 1, frontier.packed, *_by_width(sums))
            tiles = frontier.number(Entry.TILES, most)
        self._launch(f"{self._name}_tiles", tiles, self._how.packed, self._body, *_by_width(sums), self._values)
        if self._reduces:
            self._launch(f"{self._name}_leave", self._batches(), self._how.packed, self._body, self._values)


def _by_width(array: DeviceArray) -> tuple[DeviceArray | None, DeviceArray | None]:
    """Returns the array as the argument for 32 or 64 bits."""
    return (array, None) if array.dtype == np.int32 else (None, array)


@dataclass(frozen=True)
class Counts:
    """Statistics of rounds.

    Attributes:
        rounds: their number; expanded: sum of the sizes of their frontiers; examined: number of edges examined.
        launches: number of kernels that the host, or a recorded loop, launched.
        seconds: time of the rounds, without allocation and recording.
    """

    rounds: int
    expanded: int
    examined: int
    launches: int
    seconds: float


def run_rounds(
    frontier: Frontier,
    expansions: Sequence[Expansion],
    alone: Callable[[DeviceCount], None] | None = None,
    end: Callable[[], None] | None = None,
) -> Counts:
    """Expands the frontier round by round, until it is empty.

    Args:
        frontier: the first frontier.
        expansions: of a round, over the same frontier.
        alone: launches, with the given number of teams (0 or 1), a kernel in which one team processes rounds with few
            nodes; for a frontier made with `alone`.
        end: launches what follows the end of a round, and may fill an empty frontier.
    """
    device = frontier.device

    def one_round() -> None:
        if alone is not None:
            alone(frontier.number(Entry.ALONE, 1))
        for expansion in expansions:
            expansion.launch()
        frontier.end_round()
        if end is not None:
            end()

    before = frontier.repeats()
    repeated = repeat(device, frontier.stop, one_round)
    return frontier.counts((frontier.repeats() - before) * repeated.launches, repeated.seconds)
