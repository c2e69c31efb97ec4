"""Method "push": each edge adds the share of its source to its target (`cuda_src/graph/pagerank/push`)."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray
from static_graph.graph.edge_blocks import edge_blocks
from static_graph.link_analysis.state import State


def run(state: State) -> float:
    """Iterates until the end; returns the seconds of the iterations."""
    device, graph = state.device, state.graph
    incoming, ratios = device.zeros(graph.nodes, np.uint64), state.edge_ratios(transposed=False)

    def one_iteration() -> None:
        device.launch("push_shares", edge_blocks(graph), state.packed, graph.csr, ratios, incoming)
        leave_nodes(state, incoming)

    return state.repeat(one_iteration)


def leave_nodes(state: State, incoming: DeviceArray) -> None:
    """Launches the kernels that end an iteration, from the sums of the shares that reach each node."""
    state.device.launch("leave_nodes", state.device.pieces(state.graph.nodes), state.packed, incoming)
    state.device.launch("end_ranking", 1, state.packed)
