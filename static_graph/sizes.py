"""Estimates of the host memory that large work on graphs takes, in bytes, which are checked before it begins.

Each figure is the sum of the arrays that are held at the same time, by the function that it is about. The largest
measured growth of the process stands beside some. Offsets count as int32, weights as eight bytes.
On a GPU each allocation is checked instead.
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


# `generate_rmat`, `generate_random`: the ends as drawn, as sorted by targets, and turned back; buffers of a sort.
DRAWING = 3 * 2 * END + SORTING - 2 * END  # an edge: measured 40.6
PERMUTING = 6 * END  # a node: keys, their order, and buffers of a sort; measured 16.0


def generation_bytes(nodes: int, edges: int, permuted: bool) -> int:
    """Memory to draw a graph, its arrays and weights included."""
    return max(DRAWING * edges, 2 * END * edges + PERMUTING * nodes * permuted) + END * (nodes + 1)


# `generate_list`: an order, a pattern, flags and their sums, what was picked, and the successors; measured 24.2.
LISTING = 7 * END
# `generate_tree`: names by a sort, parents, and places to grow; measured 20.5.
GROWING = 7 * END


def list_bytes(size: int) -> int:
    """Memory to make lists of that many elements."""
    return LISTING * size


def tree_bytes(nodes: int) -> int:
    """Memory to make a tree."""
    return GROWING * nodes


RANKING = 3 * END  # an element: successors on the device, marks, and the ranks at home; measured 8.1
JUMPING = 2 * 8  # words of pointer jumping, before and after a round; measured 24.0 in all
SUMMING = 4 * 8 + 3 * END  # values, in order, summed and fetched; the list of each; measured 52.3 in all
HEADS = 3 * 8  # the first element of a list: words, lengths, and where each list begins; measured 36.5 in all
JUMPERS = ("wyllie", "lock-step", "on-demand")


def ranking_bytes(size: int, method: str, valued: bool) -> int:
    """Memory to rank lists, of a few heads."""
    return (RANKING + JUMPING * (method in JUMPERS) + SUMMING * valued) * size


def heads_bytes(heads: int) -> int:
    """Memory that the heads take beside that."""
    return HEADS * heads


ROOTS = 4 * END  # `find_roots`: parents, their copies here and on the device, pointers; measured 12.5


def roots_bytes(nodes: int) -> int:
    """Memory to find the roots of all nodes."""
    return ROOTS * nodes


# `euler_tour`: two arcs a node, each with a successor, a rank and a mark; keys and children in a sort; four numbers.
TOURING = 18 * END  # a node: measured 69.2
ROOTING = (
    26 * END
)  # an undirected edge: two arcs in a sort, in rings, in two states of a search for roots; measured 99.5
ROOTING_NODES = 3 * END
ANCESTORS = 19 * END  # a node: `Tree.lca`; measured 72.5
PATHS = 17 * END  # a node: `Tree.path_sums`; measured 64.2


def tour_bytes(nodes: int, edges: int) -> int:
    """Memory of an Euler tour, after a forest of undirected edges was rooted (0 edges: it is rooted)."""
    return max(TOURING * nodes, ROOTING_NODES * nodes + ROOTING * edges)


SEARCHING = 24  # a node: distances on the device and at home, frontiers or states of rounds; measured 18.1
NEAR_FAR = 16  # more with weights: two queues and wider distances; measured 28.0 and 42.9, with parents
PARENTS = 8  # the parents, here and there


def search_bytes(nodes: int, weighted: bool, parents: bool) -> int:
    """Memory of a search beside the graph on the device."""
    return (SEARCHING + NEAR_FAR * weighted + PARENTS * parents) * nodes
