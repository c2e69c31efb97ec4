"""Weak components by colours that spread along the edges and against them (`cuda_src/graph/engine/colours.cu`)."""

from __future__ import annotations

import numpy as np

from dmr.memory import pack
from static_graph.components.outcome import Outcome
from static_graph.components.strong.pivots import label_by_smallest
from static_graph.engine.loop import Expansion, Frontier, how_for, run_rounds
from static_graph.errors import GraphError
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.incoming import MOST_EDGES, incoming


def run(graph: DeviceGraph, *, balance: str) -> Outcome:
    """Colours each node with the largest number of a node of its component, then by the smallest one.

    Args:
        graph: the graph; balance: of the engine.

    Raises:
        GraphError: the graph has 2^31 edges or more.
    """
    device, nodes, back = graph.device, graph.nodes, incoming(graph)
    if back is None:
        raise GraphError(f"{graph.edges} edges are more than the {MOST_EDGES} that can be sorted")
    colours, epochs = device.empty(nodes, np.int32), device.zeros(nodes, np.int32)
    device.launch("begin_colours", nodes, colours)
    bounds = device.array(np.array([0, nodes], np.int32))  # all colours at once
    body = pack("Colours", colours=colours, epochs=epochs, bounds=bounds, atomic=1)
    frontier, how = Frontier(graph, None), how_for(balance)
    counts = run_rounds(frontier, [Expansion(each, "propagate", body, frontier, how) for each in (graph, back)])
    label_by_smallest(colours)
    return Outcome(colours, counts.rounds, figures={"examined edges": counts.examined})
