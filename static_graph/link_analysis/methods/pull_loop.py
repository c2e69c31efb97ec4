"""Method "pull" by a strategy of the engine (`cuda_src/graph/pagerank/pull_loop`)."""

from __future__ import annotations

import numpy as np

from dmr.memory import pack
from static_graph.engine.loop import Expansion, Frontier, how
from static_graph.link_analysis.methods.push import leave_nodes
from static_graph.link_analysis.state import State


def run(state: State, *, balance: str = "collapse-local") -> float:
    """Iterates until the end; returns the seconds of the iterations.

    Args:
        state: with the first scores.
        balance: a strategy of the engine (`static_graph/engine/loop.py`).
    """
    back = state.back()
    incoming = state.device.zeros(back.nodes, np.uint64)
    body = pack(
        "Pull", **state.buffers, progress=state.progress, ratios=state.edge_ratios(transposed=True), incoming=incoming
    )
    frontier = Frontier(back, None, whole=True)
    expansion = Expansion(back, "pull_loop", body, frontier, how(balance), reduces=True)

    def one_iteration() -> None:
        expansion.launch()
        leave_nodes(state, incoming)

    return state.repeat(one_iteration)
