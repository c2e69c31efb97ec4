"""Methods of a dense transition matrix: the report's kernels (`cuda_src/graph/pagerank/dense`)."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray, Packed, pack
from static_graph.link_analysis.methods.push import leave_nodes
from static_graph.link_analysis.ratios import node_ratios, weight_sums
from static_graph.link_analysis.state import State


def run(state: State, *, variant: str = "dense") -> float:
    """Iterates until the end; returns the seconds of the iterations.

    Args:
        state: with the first scores; made with `dense=True`.
        variant: "dense" (a thread per row), "dense-atomic" or "dense-sub-scores" (a thread per entry).

    Raises:
        OutOfMemoryError: the matrix does not fit.
    """
    device, nodes = state.device, state.graph.nodes
    matrix, _arrays = entered(state)
    incoming = device.zeros(nodes, np.uint64)
    sub_scores = device.empty(nodes * nodes if variant == "dense-sub-scores" else 0, np.uint64)

    def one_iteration() -> None:
        if variant == "dense":
            device.launch("multiply_rows", nodes, state.packed, matrix, incoming)
        elif variant == "dense-atomic":
            device.launch("add_entries", nodes * nodes, state.packed, matrix, incoming)
        else:
            device.launch("find_sub_scores", nodes * nodes, state.packed, matrix, sub_scores)
            device.launch("sum_sub_scores", nodes, sub_scores, nodes, incoming)
        leave_nodes(state, incoming)

    return state.repeat(one_iteration)


def entered(state: State) -> tuple[Packed, tuple[DeviceArray, DeviceArray]]:
    """Returns the transition matrix of a graph as a kernel argument, and its arrays: ratios and float32, one empty."""
    device, graph, narrow = state.device, state.graph, state.narrow
    entries = graph.nodes * graph.nodes
    ratios = device.empty(0 if narrow else entries, np.uint64)
    floats = device.empty(entries if narrow else 0, np.float32)
    matrix = pack(
        "TransitionMatrix", ratios=None if narrow else ratios, narrow=floats if narrow else None, nodes=graph.nodes
    )
    sums = weight_sums(graph) if state.weighted else None
    device.launch("update_entries", entries, state.packed, graph.csr, sums, matrix)
    device.launch(
        "enter_edges", graph.nodes, state.back().csr, state.edge_ratios(transposed=True),
        node_ratios(graph, weighted=state.weighted), matrix,
    )  # fmt: skip
    return matrix, (ratios, floats)
