"""Balance "auto" of breadth-first search: direction-optimising search (`cuda_src/graph/traversal/breadth_first.cu`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dmr.memory import pack
from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal.distances import DeviceDistances
from static_graph.traversal.frontiers.incoming import incoming
from static_graph.traversal.frontiers.workspace import CHUNK, MOST_TEAMS, Entry, Workspace
from static_graph.traversal.schemes.outcome import Outcome

WORD, WORDS, PULLED = 32, 256, 1024  # of cuda_src/graph/traversal/breadth_first.cu


def run(
    graph: DeviceGraph,
    sources: Sequence[int],
    *,
    weighted: bool = False,
    depth_limit: float | None = None,
    transposed: bool = True,
    one_launch: bool | None = None,
) -> Outcome:
    """Finds the nodes level by level.

    Args:
        graph, sources, weighted, depth_limit: as for every scheme (`schemes/outcome.py`); weights never count.
        turned: whether levels may be found bottom-up, from the unreached nodes. This needs the transposed graph, which
            is made on first use and kept with the graph.
        one_launch: whether one launch does all levels; the default depends on the device.

    Returns:
        The outcome, without scheme-specific figures.
    """
    assert not weighted
    with Workspace.borrowed(graph) as space:
        return _run(graph, sources, depth_limit, transposed, one_launch, space)


def _run(
    graph: DeviceGraph,
    sources: Sequence[int],
    depth_limit: float | None,
    transposed: bool,
    one_launch: bool | None,
    space: Workspace,
) -> Outcome:
    device, nodes = graph.device, graph.nodes
    back = incoming(graph) if transposed else None
    edges_in = _NO_EDGES if back is None else back.csr
    bits = device.empty(device.tiles(nodes, WORD), np.uint32)
    distances = DeviceDistances(graph, sources, weighted=False, limit=depth_limit, reset=False)
    csr, frontier, to = graph.csr, space.frontier, distances.packed
    space.begin("begin_levels", distances, csr, edges_in, to, frontier)

    def one_level() -> None:
        count, back_nodes = space.count, nodes if back else 0
        device.launch("few_levels", count(Entry.FEW_TEAMS, 1), csr, edges_in, to, frontier)
        device.launch("push_tiles", count(Entry.TILE_TEAMS, nodes), csr, to, frontier)
        device.launch("push_chunks", count(Entry.CHUNKS, 2 * graph.edges // CHUNK), csr, to, frontier)
        marked, pulled = device.tiles(back_nodes, WORD * WORDS), device.tiles(back_nodes, PULLED)
        device.launch("mark_frontier", count(Entry.FIRST_TEAMS, marked), csr, to, frontier, bits)
        device.launch("pull_tiles", count(Entry.LAST_TEAMS, pulled), csr, edges_in, to, frontier, bits)
        device.launch("end_level", count(Entry.ENDS, 1), csr, edges_in, to, frontier)

    def all_levels() -> None:
        device.launch("search_breadth_first", MOST_TEAMS, csr, edges_in, to, frontier, bits, MOST_TEAMS)

    seconds = space.run(all_levels, one_level, one_launch)
    return space.outcome(distances, seconds)


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
