"""A graph whose nodes are numbered by out-degree, so that data of nodes with many edges share cache lines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dmr.memory import DeviceArray, argsort, scan
from static_graph.graph.checks import check_sortable
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.incoming import gathered_weights

CLASS_BITS = 6  # of a class of out-degrees, from 0 to 32


class Renumbered(NamedTuple):
    """A graph with new numbers of its nodes.

    Attributes:
        graph: the graph with the new numbers; order: (nodes,) int32, the old number of each node.
    """

    graph: DeviceGraph
    order: DeviceArray


def by_degree(graph: DeviceGraph, *, weighted: bool) -> Renumbered:
    """Returns the graph with its nodes in the order of decreasing out-degrees; it is kept with the graph.

    Degrees count by their binary digits alone, and nodes whose degrees have equally many keep their order: neighbours
    in a graph with good locality remain near. The edges of a node keep their order.

    Args:
        graph: the graph; weighted: whether its edges keep their weights.

    Raises:
        GraphError: there are too many edges to sort (2^31 or more).
    """
    check_sortable(graph.edges)
    return graph.derived(("by degree", weighted), lambda: _renumbered(graph, weighted))


def _renumbered(graph: DeviceGraph, weighted: bool) -> Renumbered:
    device, nodes, edges = graph.device, graph.nodes, graph.edges
    classes = device.empty(nodes, np.uint32)
    device.launch("find_degree_classes", nodes, graph.csr, classes)
    order = argsort(classes, bits=CLASS_BITS)
    degrees, numbers = device.empty(nodes, np.int32), device.empty(nodes, np.int32)
    device.launch("list_new_numbers", nodes, graph.csr, order, degrees, numbers)
    offsets, targets = scan(degrees), device.empty(edges, np.int32)
    listed = device.empty(edges, np.int32) if weighted else None
    device.launch("renumber_rows", nodes, graph.csr, order, numbers, offsets, targets, listed)
    weights = None if listed is None else gathered_weights(graph, listed)
    device.synchronize()  # so that this does not count in the time of an algorithm
    return Renumbered(DeviceGraph(offsets, targets, weights, graph.largest_weight if weighted else 1.0), order)
