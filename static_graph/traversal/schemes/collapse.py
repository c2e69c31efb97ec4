"""Balances "hierarchical", "collapse-local", "collapse-global": the loop over a frontier and its edges, expanded or
collapsed (Slota, Rajamanickam, Madduri: High Performance Graph Analytics on Manycore Processors, 2015).

The relaxation of an edge is a body of the engine (`cuda_src/graph/schemes/relaxation.cu`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dmr.memory import pack
from static_graph.engine.loop import Expansion, Frontier, how, run_rounds
from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal.distances import DeviceDistances, DistanceKind
from static_graph.traversal.schemes.outcome import Outcome


def run(
    graph: DeviceGraph,
    sources: Sequence[int],
    *,
    weighted: bool,
    depth_limit: float | None = None,
    strategy: str = "collapse-local",
    coalesced: bool = True,
    shared_queue: bool = True,
    team_primitives: bool = True,
) -> Outcome:
    """Relaxes the edges of a frontier, round by round, until the frontier is empty.

    Args:
        graph, sources, weighted, depth_limit: as for every scheme (`outcome.py`).
        strategy, coalesced, shared_queue, team_primitives: as for `static_graph.engine.loop.how`.

    Returns:
        The outcome. Its figures: expanded, the sum of the frontiers' sizes.

    Raises:
        OptionError: there is no such strategy.
    """
    chosen = how(strategy, coalesced=coalesced, shared_queue=shared_queue, team_primitives=team_primitives)
    device = graph.device
    distances = DeviceDistances(graph, sources, weighted=weighted, limit=depth_limit)
    narrow = distances.array.dtype == np.int32
    epochs = None if distances.kind == DistanceKind.HOPS else device.zeros(graph.nodes, np.int32)
    body = pack(
        "Relaxations",
        narrow=distances.array if narrow else None,
        wide=None if narrow else distances.array,
        kind=int(distances.kind),
        limit=distances.limit,
        epochs=epochs,
    )
    frontier = Frontier(graph, distances.sources)
    counts = run_rounds(frontier, [Expansion(graph, "relax", body, frontier, chosen)])
    return Outcome(
        distances, counts.rounds, counts.examined, counts.launches, counts.seconds, {"expanded": counts.expanded}
    )
