"""The transposed graph with nodes numbered by out-degree, so that data of nodes with many edges share cache lines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dmr.memory import DeviceArray, Packed, argsort, pack, scan, sort_pairs
from static_graph.graph.building import bits_of, find_rows
from static_graph.graph.checks import check_sortable
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.edge_blocks import edge_blocks
from static_graph.graph.incoming import gathered_weights
from static_graph.graph.packing import WEIGHT_FIELDS

CLASS_BITS = 6  # of a class of out-degrees, from 0 to 32


class Renumbered(NamedTuple):
    """The transposed graph with new numbers of its nodes.

    Attributes:
        back: the transposed graph; order: (nodes,) int32, the old number of each node.
    """

    back: DeviceGraph
    order: DeviceArray


def by_degree(graph: DeviceGraph, *, weighted: bool) -> Renumbered:
    """Returns the transposed graph with its nodes in the order of decreasing out-degrees; it is kept with the graph.

    Degrees count by their binary digits alone, and nodes whose degrees have equally many keep their order: neighbours
    in a graph with good locality remain near. The edges that lead to a node are in the order of their sources' new
    numbers; parallel edges keep their order.

    Args:
        graph: the graph; weighted: whether its edges keep their weights.

    Raises:
        GraphError: there are too many edges to sort (2^31 or more).
    """
    check_sortable(graph.edges)
    found = graph.derived("by degree", lambda: _renumbered(graph))
    return graph.derived("weighted by degree", lambda: _with_weights(graph, found)) if weighted else found


def _renumbered(graph: DeviceGraph) -> Renumbered:
    device, nodes = graph.device, graph.nodes
    classes = device.empty(nodes, np.uint32)
    device.launch("find_degree_classes", nodes, graph.csr, classes)
    order = argsort(classes, bits=CLASS_BITS)
    targets, sources = _edges(graph, order, "sources")
    keys, ends = sort_pairs(targets, sources, bits_of(nodes))
    back = DeviceGraph(find_rows(keys, nodes), ends, None, 1.0)
    device.synchronize()  # so that this does not count in the time of an algorithm
    return Renumbered(back, order)


def _with_weights(graph: DeviceGraph, found: Renumbered) -> Renumbered:
    targets, edges = _edges(graph, found.order, "edges")
    weights = gathered_weights(graph, sort_pairs(targets, edges, bits_of(graph.nodes))[1])
    graph.device.synchronize()
    return Renumbered(DeviceGraph(found.back.offsets, found.back.targets, weights, graph.largest_weight), found.order)


def _edges(graph: DeviceGraph, order: DeviceArray, wanted: str) -> tuple[DeviceArray, DeviceArray]:
    """Lists the edges by the new numbers of their sources: their targets' new numbers, and what is wanted.

    Args:
        graph: the graph; order: the old number of each node.
        wanted: "sources" (their new numbers), or "edges" (the edges' numbers in the graph).

    Returns:
        (edges,) uint32 and int32.
    """
    device, nodes, edges = graph.device, graph.nodes, graph.edges
    degrees, numbers = device.empty(nodes, np.int32), device.empty(nodes, np.int32)
    device.launch("list_new_numbers", nodes, graph.csr, order, degrees, numbers)
    offsets = scan(degrees)
    rows = _rows(offsets, edges)  # has its address only
    targets, listed = device.empty(edges, np.uint32), device.empty(edges, np.int32)
    columns = [listed if each == wanted else None for each in ("sources", "edges")]
    device.launch("list_renumbered_edges", edge_blocks(graph), graph.csr, rows, order, numbers, targets, *columns)
    return targets, listed


def _rows(offsets: DeviceArray, edges: int) -> Packed:
    """Packs the rows of a graph, without their edges, as a kernel argument."""
    fields = dict.fromkeys(("offsets64", "targets", *WEIGHT_FIELDS.values()))
    return pack("Csr", offsets32=offsets, nodes=offsets.size - 1, edges=edges, **fields)
