"""Weak components by colours that spread along the edges and against them (`cuda_src/graph/engine/colours.cu`)."""

from __future__ import annotations

from static_graph.components.outcome import Outcome
from static_graph.components.pivots import label_by_smallest
from static_graph.engine.colours import GROWTH, coloured
from static_graph.engine.loop import how_for
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.incoming import required_incoming


def run(graph: DeviceGraph, *, balance: str) -> Outcome:
    """Colours each node with the largest number of a node of its component, then by the smallest one.

    Args:
        graph: the graph.
        balance: of the engine.

    Raises:
        GraphError: the graph has 2^31 edges or more.
    """
    back = required_incoming(graph)
    colours, counts = coloured(graph, how_for(balance, graph, back), alone=True, growth=GROWTH, back=back)
    label_by_smallest(colours)
    return Outcome(colours, counts.rounds, figures={"examined edges": counts.examined})
