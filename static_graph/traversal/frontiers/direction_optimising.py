"""Balance "auto" of breadth-first search: it optimises its direction (`cuda_src/graph/traversal/breadth_first.cuh`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dmr.memory import Argument, DeviceArray, Packed, constant, pack
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.incoming import incoming, incoming_is_kept
from static_graph.traversal.distances import DeviceDistances
from static_graph.traversal.frontiers.workspace import Entry, Kernels, Workspace
from static_graph.traversal.schemes.outcome import Outcome

WORD, WORDS, PULLED = (constant(name) for name in ("WORD", "WORDS", "PULLED"))  # of breadth_first.cuh

KERNELS = Kernels("begin_levels", "single_block_levels", "level_pass", "end_level", "search_breadth_first")


class LevelsWorkspace(Workspace):
    """A workspace with sets of nodes (`Levels` of `breadth_first.cuh`)."""

    threads_that_gain = 3

    def __init__(self, graph: DeviceGraph) -> None:
        super().__init__(graph)
        words = self.device.tiles(graph.nodes, WORD)
        self.bits = [self.device.empty(words, np.uint32) for _ in range(2)]
        self.seen = self.device.empty(words, np.uint32) if self.device.threads else None

    def levels(self, parents: DeviceArray | None) -> Packed:
        """Returns the sets as a kernel argument."""
        return pack("Levels", bits0=self.bits[0], bits1=self.bits[1], seen=self.seen, parents=parents)

    def _begin(self, kernel: str, distances: DeviceDistances, arguments: tuple[Argument, ...]) -> None:
        super()._begin(kernel, distances, arguments)
        if distances.source < 0:
            self.device.launch("enter_first_level", distances.sources.size, self.lists[0], arguments[-1])


# Edges that searches follow, per edge of the graph, in the time that the transposed graph takes to make.
TRANSPOSITION = 16


def run(
    graph: DeviceGraph,
    sources: Sequence[int],
    *,
    weighted: bool = False,
    depth_limit: float | None = None,
    transposed: bool | DeviceGraph | None = True,
    parents: bool = False,
    one_launch: bool | None = None,
) -> Outcome:
    """Finds the nodes level by level.

    Args:
        graph, sources, weighted, depth_limit: as for every scheme (`schemes/outcome.py`); weights never count.
        transposed: whether levels may be found bottom-up, from the unreached nodes. This needs the transposed graph,
            which is made if necessary, and kept with the graph, or given here. None: only if it is kept already, or if
            the searches of this graph so far took as long as it takes to make it.
        parents: whether to find the parents, too (`find_parents` defines them).
        one_launch: whether one launch does all levels; the default depends on the device.

    Returns:
        The outcome, with the parents if requested.
    """
    assert not weighted
    device, nodes = graph.device, graph.nodes
    followed = graph.derived("edges followed", lambda: [0])  # by searches without `back`
    if transposed is None:
        transposed = incoming_is_kept(graph) or followed[0] >= TRANSPOSITION * graph.edges
    back = transposed if isinstance(transposed, DeviceGraph) else incoming(graph) if transposed else None
    distances = DeviceDistances(graph, sources, weighted=False, limit=depth_limit, reset=False)
    tree = device.empty(nodes, np.int32) if parents else None
    pulls: dict[Entry, int] = {}
    if back is not None:
        pulls = {Entry.PREPARE: device.tiles(nodes, WORD * WORDS), Entry.OTHER: device.tiles(nodes, PULLED)}
    with LevelsWorkspace.borrowed(graph) as space:
        opposite = _NO_EDGES if back is None else back.csr
        arguments = (graph.csr, opposite, distances.packed, space.frontier, space.levels(tree))
        outcome = space.run(KERNELS, arguments, distances, most_teams=pulls, in_one_launch=one_launch)
    if back is None:
        followed[0] += outcome.relaxed
    if tree is None:
        return outcome
    device.launch("end_parents", nodes, tree)
    return replace(outcome, parents=tree)


_NO_EDGES = pack(
    "Csr",
    offsets32=None,
    offsets64=None,
    targets=None,
    weights32=None,
    weights64=None,
    real_weights=None,
    nodes=0,
    edges=0,
)
