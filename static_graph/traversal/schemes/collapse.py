"""Balances "hierarchical", "collapse-local", "collapse-global": the loop over a frontier and its edges, expanded or
collapsed (Slota, Rajamanickam, Madduri: High Performance Graph Analytics on Manycore Processors, 2015).

`cuda_src/graph/schemes/collapse.cuh` holds the loops; this module drives the rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from dmr.memory import DeviceArray, DeviceCount, Enumeration, Packed, constant, pack, scan
from static_graph.errors import OptionError
from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal.distances import DeviceDistances, DistanceKind
from static_graph.traversal.schemes.outcome import Outcome
from static_graph.traversal.schemes.rounds import STRIPES, TEAM_SIZE, repeat

TILE_EDGES = constant("TILE_EDGES")
SCAN_TILE = constant("SCAN_TILE")


class Strategy(Enumeration):
    """How the loop over nodes and edges is distributed."""


STRATEGIES = {
    "baseline": Strategy.BASELINE,
    "hierarchical": Strategy.HIERARCHICAL,
    "collapse-local": Strategy.LOCAL,
    "collapse-global": Strategy.GLOBAL,
}


class Entry(Enumeration, enum="FrontierEntry", count="FRONTIER_ENTRIES"):
    """Indices into the progress of a frontier."""


def run(
    graph: DeviceGraph,
    sources: Sequence[int],
    *,
    weighted: bool,
    depth_limit: float | None = None,
    strategy: Literal["baseline", "hierarchical", "collapse-local", "collapse-global"] = "collapse-local",
    coalesced: bool = True,
    shared_queue: bool = True,
    team_primitives: bool = True,
) -> Outcome:
    """Relaxes the edges of a frontier, round by round, until the frontier is empty.

    On a CPU one thread processes a whole batch or tile sequentially, regardless of the options for its lanes.

    Args:
        graph, sources, weighted, depth_limit: as for every scheme (`outcome.py`).
        strategy: how the loop over nodes and edges is distributed.
        coalesced: neighbouring threads read neighbouring edges if the loops are collapsed; otherwise each thread reads
            consecutive edges.
        shared_queue: a block collects the nodes of the next frontier in shared memory; otherwise each thread reserves a
            position per node.
        team_primitives: warps sum and reserve collectively.

    Returns:
        The outcome, without scheme-specific figures.

    Raises:
        OptionError: there is no such strategy.
    """
    if strategy not in STRATEGIES:
        raise OptionError(f"strategy = {strategy!r}: it is one of {', '.join(STRATEGIES)}")
    device = graph.device
    distances = DeviceDistances(graph, sources, weighted=weighted, limit=depth_limit)
    frontier = FrontierLists(graph, sources)
    epochs = None if distances.kind == DistanceKind.HOPS else device.zeros(graph.nodes, np.int32)
    relaxed = device.zeros(STRIPES, np.int64)
    how = pack(
        "Collapse",
        strategy=STRATEGIES[strategy],
        coalesced=int(coalesced),
        shared_queue=int(shared_queue),
        team_primitives=int(team_primitives),
    )

    def expand_batches() -> None:
        batches = frontier.number(Entry.BATCHES, device.tiles(graph.nodes, TEAM_SIZE))
        device.launch(
            "expand_batches", batches, graph.csr, distances.packed, frontier.packed, how, epochs, relaxed
        )  # fmt: skip

    expand = expand_batches
    if strategy == "collapse-global":
        expand = _global_round(graph, distances, frontier, how, epochs, relaxed)

    def one_round() -> None:
        expand()
        device.launch("end_expansion", 1, frontier.packed)

    repeated, rounds = repeat(device, frontier.stop, one_round), frontier.rounds
    edges = int(relaxed.download().sum())
    return Outcome(distances, rounds, edges, rounds * repeated.launches, repeated.seconds)


class FrontierLists:
    """The frontiers of a round and of the next one, on a device; the first frontier is the sources.

    Attributes:
        packed: the frontiers as a kernel argument (`Frontier` of `cuda_src/graph/traversal/frontier.cuh`).
    """

    def __init__(self, graph: DeviceGraph, sources: Sequence[int]) -> None:
        device = graph.device
        first = np.unique(np.asarray(sources, np.int32))
        lists = device.empty(2 * graph.nodes, np.int32)
        if first.size:
            lists[: first.size].upload(first)
        progress = np.zeros(len(Entry), np.int32)
        progress[Entry.FRONTIER] = first.size
        progress[Entry.BATCHES] = device.tiles(first.size, TEAM_SIZE)
        progress[Entry.SCAN_TILES] = device.tiles(first.size, SCAN_TILE)
        self._lists, self._progress = lists, device.array(progress)  # keeps them alive: `packed` has only addresses
        self.packed: Packed = pack("Frontier", lists=lists, capacity=graph.nodes, progress=self._progress)

    def number(self, entry: Entry, bound: int) -> DeviceCount:
        """Returns a counter on the device as the size of a launch."""
        return DeviceCount(self._progress[entry : entry + 1], bound)

    @property
    def stop(self) -> DeviceArray:
        """(1,) int32: 1 if the frontier is empty."""
        return self._progress[Entry.FRONTIER_STOP : Entry.FRONTIER_STOP + 1]

    @property
    def rounds(self) -> int:
        """Number of rounds; waits for the device."""
        return int(self._progress.download()[Entry.FRONTIER_ROUNDS])


def _global_round(
    graph: DeviceGraph,
    distances: DeviceDistances,
    frontier: FrontierLists,
    how: Packed,
    epochs: DeviceArray | None,
    relaxed: DeviceArray,
) -> Callable[[], None]:
    """Returns a function that launches a round of the global collapse: sums of the degrees, then equal edge tiles."""
    device = graph.device
    degrees = device.empty(graph.nodes, graph.offsets.dtype)
    sums = device.empty(graph.nodes + 1, graph.offsets.dtype)
    narrow = sums.dtype == np.int32

    def by_width(array: DeviceArray) -> tuple[DeviceArray | None, DeviceArray | None]:
        return (array, None) if narrow else (None, array)

    def expand() -> None:
        count = frontier.number(Entry.FRONTIER, graph.nodes)
        device.launch(
            "frontier_degrees", count, graph.csr, distances.packed, frontier.packed, *by_width(degrees)
        )  # fmt: skip
        scan(degrees, count, sums, frontier.number(Entry.SCAN_TILES, device.tiles(graph.nodes, SCAN_TILE)))
        device.launch("cut_tiles", 1, frontier.packed, *by_width(sums))
        tiles = frontier.number(Entry.TILES, device.tiles(graph.edges, TILE_EDGES))
        device.launch(
            "expand_tiles", tiles, graph.csr, distances.packed, frontier.packed, how, *by_width(sums), epochs, relaxed
        )  # fmt: skip

    return expand
