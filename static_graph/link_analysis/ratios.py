"""Ratios in 64-bit fixed point: of nodes, edges and vectors (`cuda_src/graph/pagerank/fixed_point.cuh`)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dmr.memory import Device, DeviceArray, constant, sum_float64
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.edge_blocks import edge_blocks

SCORE_BITS, RATIO_BITS = constant("SCORE_BITS"), constant("RATIO_BITS")
ONE_SCORE, ONE_RATIO = 2**SCORE_BITS, 2**RATIO_BITS
SUM_ROWS = constant("TEAM_SIZE") // constant("SUM_LANES")  # rows per team of `sum_weights`


def ratio(value: float) -> int:
    """Returns a number from 0 to 1 as a ratio, rounded to nearest as by `ratio_of` of the kernels."""
    scaled = value * float(ONE_RATIO)
    return int(scaled + 0.5 if scaled < 2.0**52 else scaled)


def node_ratios(graph: DeviceGraph, order: DeviceArray | None = None, *, weighted: bool) -> DeviceArray:
    """Returns the ratio of each node's score that its edges share, (nodes,) uint64; it is kept with the graph.

    The ratio is 1 / out-degree, or 1 with weights; it is 0 for dangling nodes: those without edges, or whose weights
    sum to 0.

    Args:
        graph: the graph; weighted: whether its weights count.
        order: (nodes,) int32, the number in the graph of each node, if nodes are renumbered.
    """

    def made() -> DeviceArray:
        ratios = graph.device.empty(graph.nodes, np.uint64)
        sums = weight_sums(graph) if weighted else None
        graph.device.launch("find_node_ratios", graph.nodes, graph.csr, order, sums, ratios)
        return ratios

    return graph.derived(("node ratios", weighted, order is not None), made)


def edge_ratios(graph: DeviceGraph, back: DeviceGraph | None = None, order: DeviceArray | None = None) -> DeviceArray:
    """Returns the ratio of each edge's weight to the sum of the weights of its source; it is kept with the graph.

    Args:
        graph: a graph with weights; back: the transposed graph, if the ratios are to be in the order of its edges.
        order: (nodes,) int32, the number in the graph of each node of `back`, if nodes are renumbered.

    Returns:
        (edges,) uint64.
    """
    rows = graph if back is None else back

    def made() -> DeviceArray:
        ratios = graph.device.empty(graph.edges, np.uint64)
        graph.device.launch(
            "find_edge_ratios", edge_blocks(rows), rows.csr, order, weight_sums(graph), int(back is not None), ratios
        )  # fmt: skip
        return ratios

    return graph.derived(("edge ratios", back is None, order is not None), made)


def vector_ratios(
    device: Device, values: NDArray[np.float64] | None, order: DeviceArray | None = None
) -> DeviceArray | None:
    """Returns the ratio of each value to the sum of all, (nodes,) uint64 on a device; None for None.

    Args:
        device: the device; values: (nodes,) numbers, which are summed in their order.
        order: (nodes,) int32, the place among `values` of each ratio (default: the same).
    """
    if values is None:
        return None
    given = device.array(np.ldexp(values, -_exponent(values.max(initial=0.0))))  # so that the sum is finite
    ratios = device.empty(values.size, np.uint64)
    device.launch("find_vector_ratios", values.size, given, sum_float64(given), order, ratios)
    return ratios


def weight_sums(graph: DeviceGraph) -> DeviceArray:
    """Returns the sum of the weights of each node's edges, (nodes,) float64; it is kept with the graph.

    An infinite sum is replaced by a negative number (`sum_weights`).
    """

    def made() -> DeviceArray:
        device = graph.device
        sums = device.empty(graph.nodes, np.float64)
        device.launch("sum_weights", device.tiles(graph.nodes, SUM_ROWS), graph.csr, sums)
        return sums

    return graph.derived("weight sums", made)


def _exponent(largest: float) -> int:
    """Returns the exponent of a number, at least so large that 2^-exponent is finite."""
    return max(math.frexp(largest)[1], -1000)
