"""Method "sequential": one thread of the device computes each iteration (`cuda_src/graph/pagerank/sequential.cu`)."""

from __future__ import annotations

import numpy as np

from static_graph.link_analysis.state import State


def run(state: State) -> float:
    """Iterates until the end; returns the seconds of the iterations."""
    device = state.device
    sums = device.zeros(state.graph.nodes, np.uint64)
    ratios = state.edge_ratios(transposed=False)
    return state.repeat(lambda: device.launch("iterate_in_sequence", 1, state.packed, state.graph.csr, ratios, sums))
