"""The transposed graph, on its device."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray, argsort
from static_graph.errors import GraphError
from static_graph.graph.building import bits_of, rows_on_device
from static_graph.graph.checks import MOST, check_sortable
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.edge_blocks import edge_blocks
from static_graph.graph.packing import WEIGHT_FIELDS

MOST_EDGES = MOST  # that can be sorted


def incoming(graph: DeviceGraph, weighted: bool = False) -> DeviceGraph | None:
    """Returns the transposed graph; it is made on first use, and kept with the graph.

    Args:
        graph: the graph.
        weighted: whether the edges keep their weights.

    Returns:
        A graph in which the edges of node v lead to the nodes that have an edge to v, in order; parallel edges keep
        their order. None if there are too many edges to sort (2^31 or more). With and without weights, offsets and
        targets are the same arrays.

    Raises:
        GraphError: `weighted`, and the graph has no weights.
    """
    if weighted and graph.weights is None:
        raise GraphError("the graph has no weights")
    if graph.edges > MOST_EDGES:
        return None
    back = graph.derived("incoming", lambda: _transposed(graph))
    return graph.derived("weighted incoming", lambda: _with_weights(graph, back)) if weighted else back


def required_incoming(graph: DeviceGraph, weighted: bool = False) -> DeviceGraph:
    """Returns the transposed graph, as `incoming`, for algorithms that cannot do without it.

    Raises:
        GraphError: there are too many edges to sort (2^31 or more), or no weights.
    """
    check_sortable(graph.edges)
    back = incoming(graph, weighted)
    assert back is not None
    return back


def incoming_is_kept(graph: DeviceGraph) -> bool:
    """Whether the transposed graph is kept with the graph already."""
    return graph.has_derived("incoming")


def _transposed(graph: DeviceGraph) -> DeviceGraph:
    targets, sources = _edges(graph)
    offsets, ends = rows_on_device(targets, sources, graph.nodes)
    graph.device.synchronize()  # so that this does not count in the time of the search
    return DeviceGraph(offsets, ends, None, 1.0)


def _with_weights(graph: DeviceGraph, back: DeviceGraph) -> DeviceGraph:
    order = argsort(_edges(graph)[0], bits=bits_of(graph.nodes))
    weights = gathered_weights(graph, order)
    graph.device.synchronize()
    return DeviceGraph(back.offsets, back.targets, weights, graph.largest_weight)


def gathered_weights(graph: DeviceGraph, order: DeviceArray) -> DeviceArray:
    """Returns the weights of the edges in the given order, (edges,) int32; the graph has weights."""
    assert graph.weights is not None
    device = graph.device
    weights = device.empty(graph.edges, graph.weights.dtype)
    by_kind = {field: weights if dtype == weights.dtype else None for dtype, field in WEIGHT_FIELDS.items()}
    device.launch(
        "gather_weights", graph.edges, graph.csr, order,
        by_kind["weights32"], by_kind["weights64"], by_kind["real_weights"],
    )  # fmt: skip
    return weights


def _edges(graph: DeviceGraph) -> tuple[DeviceArray, DeviceArray]:
    """Returns the target and the source of each edge, (edges,) uint32 and int32."""
    device, edges = graph.device, graph.edges
    targets, sources = device.empty(edges, np.uint32), device.empty(edges, np.int32)
    device.launch("list_edges", edge_blocks(graph), graph.csr, targets, sources)
    return targets, sources
