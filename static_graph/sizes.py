"""Memory that large work on graphs takes on the host, in bytes; it is asked for before the work begins.

Each figure is the sum of the arrays that are held at the same time, by the function that it is about. Offsets count as
int32, weights as eight bytes.
"""

from __future__ import annotations

END = 4  # bytes of a node's number: of a source, a target, an offset
WEIGHT = 8
# `rows_of_edges`: both ends on the device, and two buffers of keys and values each to sort them.
SORTING = 2 * END + 4 * END
# With weights also: the weights on the device, and ends and weights in their new order.
SORTING_WEIGHTS = 2 * WEIGHT + 2 * END


def graph_bytes(nodes: int, edges: int, weighted: bool) -> int:
    """Memory of a graph's arrays."""
    return END * (nodes + 1) + (END + WEIGHT * weighted) * edges


def rows_bytes(nodes: int, edges: int, weighted: bool) -> int:
    """Memory that `rows_of_edges` takes, its result included."""
    return END * (nodes + 1) + (SORTING + SORTING_WEIGHTS * weighted) * edges


def from_edges_bytes(nodes: int, edges: int, weighted: bool) -> int:
    """Memory of `CsrGraph.from_edges`: copies of the edges, and their rows."""
    return rows_bytes(nodes, edges, weighted) + (2 * END + WEIGHT * weighted) * edges


def reversed_bytes(nodes: int, edges: int, weighted: bool) -> int:
    """Memory of `CsrGraph.reversed`: the nodes' numbers repeated for their edges, and the rows."""
    return rows_bytes(nodes, edges, weighted) + END * (nodes + edges)


def symmetrised_bytes(nodes: int, edges: int, weighted: bool) -> int:
    """Memory of `CsrGraph.symmetrised`: sources, both ends of edges in both directions, and the graph of them."""
    listed = END * (nodes + edges) + 2 * (2 * END + WEIGHT * weighted) * edges
    return listed + from_edges_bytes(nodes, 2 * edges, weighted)
