"""Method "blocked": propagation blocking (`cuda_src/graph/pagerank/blocked`)."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray, constant, sort_pairs
from static_graph.graph.building import bits_of, find_rows
from static_graph.graph.checks import check_sortable
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.edge_blocks import edge_blocks
from static_graph.link_analysis.methods.pull import cut
from static_graph.link_analysis.methods.push import leave_nodes
from static_graph.link_analysis.state import State

BIN = constant("RANK_BIN")  # nodes
CHUNK = 1 << 15  # edges that a team adds; those of a bin may be several chunks


def run(state: State) -> float:
    """Iterates until the end; returns the seconds of the iterations.

    Raises:
        GraphError: there are too many edges to sort.
    """
    device, graph = state.device, state.graph
    check_sortable(graph.edges)
    places, targets, *chunks = graph.derived("bins of edges", lambda: _bins(graph))
    placed, incoming = device.empty(graph.edges, np.uint64), device.zeros(graph.nodes, np.uint64)
    ratios = state.edge_ratios(transposed=False)

    def one_iteration() -> None:
        device.launch("place_shares", edge_blocks(graph), state.packed, graph.csr, ratios, places, placed)
        device.launch("add_bins", chunks[0].size, targets, placed, *chunks, graph.nodes, incoming)
        leave_nodes(state, incoming)

    return state.repeat(one_iteration)


def _bins(graph: DeviceGraph) -> tuple[DeviceArray, ...]:
    """Returns the place and the target of each edge, in the order of the bins; and bin, begin and end of each chunk."""
    device, edges = graph.device, graph.edges
    bins = device.tiles(graph.nodes, BIN)
    keys = device.empty(edges, np.uint32)
    device.launch("find_bins", edges, graph.csr, keys)
    keys, order = sort_pairs(keys, bits=bits_of(bins))
    places, targets = device.empty(edges, np.int32), device.empty(edges, np.int32)
    device.launch("place_edges", edges, graph.csr, order, places, targets)
    offsets = find_rows(keys, bins).download().astype(np.int64)
    chunk_bins, begins = cut(offsets[:-1], offsets[1:], CHUNK)
    ends = np.minimum(begins + CHUNK, offsets[1:][chunk_bins])
    return places, targets, device.array(chunk_bins), device.array(begins), device.array(ends)
