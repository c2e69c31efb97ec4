"""Balance "none": one thread per node relaxes all its edges, in every round (thesis, Algorithm 1 without the split).

This is the baseline: one node of large degree keeps a whole block waiting.
"""

from __future__ import annotations

from collections.abc import Sequence

from static_graph.engine.repetition import repeat
from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal.distances import DeviceDistances
from static_graph.traversal.schemes.outcome import Outcome
from static_graph.traversal.schemes.rounds import RoundState
from static_graph.traversal.schemes.timeline import Timeline, packed_timeline


def run(
    graph: DeviceGraph,
    sources: Sequence[int],
    *,
    weighted: bool,
    depth_limit: float | None = None,
    atomic: bool = True,
    timeline: Timeline | None = None,
) -> Outcome:
    """Relaxes all edges until nothing changes.

    Args:
        graph, sources, weighted, depth_limit: as for every scheme (`outcome.py`).
        atomic: relax by an atomic minimum, otherwise by plain stores, whose races only cost rounds
            (`cuda_src/graph/schemes/fixed_point` explains why).
        timeline: records when each block ran; or None.

    Returns:
        The outcome, without scheme-specific figures.
    """
    device = graph.device
    distances = DeviceDistances(graph, sources, weighted=weighted, limit=depth_limit)
    state, recorded = RoundState.on(device), packed_timeline(timeline)

    def one_round() -> None:
        device.launch(
            "relax_nodes", graph.nodes, graph.csr, distances.packed, int(atomic), state.progress, state.relaxed,
            recorded,
        )  # fmt: skip
        state.end_round()

    return state.outcome(distances, repeat(device, state.stop, one_round))
