"""Weak components by hooking trees of nodes (`cuda_src/graph/components/hooking`, Afforest)."""

from __future__ import annotations

import numpy as np

from static_graph.components.outcome import Outcome
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.edge_blocks import edge_blocks
from static_graph.graph.incoming import incoming, incoming_is_kept


def run(graph: DeviceGraph) -> Outcome:
    """Finds the weak components; leaves the largest one's nodes out if the transposed graph is there."""
    device, nodes = graph.device, graph.nodes
    parents = device.empty(nodes, np.int32)
    device.launch("begin_trees", nodes, graph.csr, parents)
    device.launch("compress_paths", nodes, parents)
    device.launch("hook_first_neighbours", nodes, graph.csr, parents)
    device.launch("compress_paths", nodes, parents)
    back = incoming(graph) if incoming_is_kept(graph) else None
    if back is None:
        device.launch("hook_remaining_edges", edge_blocks(graph), graph.csr, parents)
    else:
        largest, trees = device.empty(1, np.int32), device.empty(nodes, np.int32)
        trees.copy_from(parents)
        device.launch("find_largest_tree", min(nodes, 1), trees, nodes, largest)
        for each in (graph, back):
            device.launch("hook_other_nodes", edge_blocks(each), each.csr, trees, largest, parents)
    device.launch("compress_paths", nodes, parents)
    return Outcome(parents, rounds=2)
