"""Balance "auto" of breadth-first search: it optimises its direction (`cuda_src/graph/traversal/breadth_first.cuh`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dmr.memory import constant, pack
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.incoming import incoming
from static_graph.traversal.distances import DeviceDistances
from static_graph.traversal.frontiers.workspace import Entry, Kernels, Workspace
from static_graph.traversal.schemes.outcome import Outcome

WORD, WORDS, PULLED = (constant(name) for name in ("WORD", "WORDS", "PULLED"))  # of breadth_first.cuh

KERNELS = Kernels("begin_levels", "small_levels", "level_pass", "end_level", "search_breadth_first")


def run(
    graph: DeviceGraph,
    sources: Sequence[int],
    *,
    weighted: bool = False,
    depth_limit: float | None = None,
    transposed: bool | DeviceGraph = True,
    one_launch: bool | None = None,
) -> Outcome:
    """Finds the nodes level by level.

    Args:
        graph, sources, weighted, depth_limit: as for every scheme (`schemes/outcome.py`); weights never count.
        transposed: whether levels may be found bottom-up, from the unreached nodes. This needs the transposed graph,
            which is made on first use and kept with the graph, or given here.
        one_launch: whether one launch does all levels; the default depends on the device.

    Returns:
        The outcome, without scheme-specific figures.
    """
    assert not weighted
    device, nodes = graph.device, graph.nodes
    back = transposed if isinstance(transposed, DeviceGraph) else incoming(graph) if transposed else None
    bits = device.empty(device.tiles(nodes, WORD), np.uint32)
    distances = DeviceDistances(graph, sources, weighted=False, limit=depth_limit, reset=False)
    pulls: dict[Entry, int] = {}
    if back is not None:
        pulls = {Entry.PREPARE: device.tiles(nodes, WORD * WORDS), Entry.OTHER: device.tiles(nodes, PULLED)}
    with Workspace.borrowed(graph) as space:
        arguments = (graph.csr, _NO_EDGES if back is None else back.csr, distances.packed, space.frontier, bits)
        return space.run(KERNELS, arguments, distances, most_teams=pulls, in_one_launch=one_launch)


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
