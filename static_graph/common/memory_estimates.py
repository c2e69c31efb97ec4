"""Estimates of the host memory in bytes that large operations on graphs need; they are checked before the work begins.

Each figure is the sum of the arrays that the function in question holds at the same time. Some figures are followed by
the largest measured growth of the process. Offsets count as int32, weights as eight bytes. On a GPU each allocation is
checked instead.
"""

from __future__ import annotations

END = 4  # bytes of a node number (source or target) or an offset
WEIGHT = 8
# `rows_of_edges`: both endpoints on the device, and two buffers each of keys and values for the sort.
SORTING = 2 * END + 4 * END
# In addition with weights: the weights on the device, and endpoints and weights in their new order.
SORTING_WEIGHTS = 2 * WEIGHT + 2 * END


def graph_bytes(nodes: int, edges: int, weighted: bool) -> int:
    """Memory of a graph's arrays."""
    return END * (nodes + 1) + (END + WEIGHT * weighted) * edges


def rows_bytes(nodes: int, edges: int, weighted: bool) -> int:
    """Memory of `rows_of_edges`, including its result."""
    return END * (nodes + 1) + (SORTING + SORTING_WEIGHTS * weighted) * edges


def from_edges_bytes(nodes: int, edges: int, weighted: bool) -> int:
    """Memory of `CsrGraph.from_edges`: copies of the edges, and their rows."""
    return rows_bytes(nodes, edges, weighted) + (2 * END + WEIGHT * weighted) * edges


def reversed_bytes(nodes: int, edges: int, weighted: bool) -> int:
    """Memory of `CsrGraph.reversed`: the nodes' numbers repeated for their edges, and the rows."""
    return rows_bytes(nodes, edges, weighted) + END * (nodes + edges)


def symmetrised_bytes(nodes: int, edges: int, weighted: bool) -> int:
    """Memory of `CsrGraph.symmetrised`: sources, endpoints of edges in both directions, and their graph."""
    listed = END * (nodes + edges) + 2 * (2 * END + WEIGHT * weighted) * edges
    return listed + from_edges_bytes(nodes, 2 * edges, weighted)


# `generate_rmat`, `generate_random`: endpoints as drawn, as sorted by targets, and swapped back; buffers of a sort.
DRAWING = 3 * 2 * END + SORTING - 2 * END  # per edge: measured 40.6
PERMUTING = 6 * END  # per node: keys, their order, and buffers of a sort; measured 16.0


def generation_bytes(nodes: int, edges: int, permuted: bool) -> int:
    """Memory to generate a graph, including its arrays and weights."""
    return max(DRAWING * edges, 2 * END * edges + PERMUTING * nodes * permuted) + END * (nodes + 1)


# `generate_list`: an order, a pattern, flags and their sums, the selection, and the successors; measured 24.2.
LISTING = 7 * END
# `generate_tree`: node numbers by a sort, parents, and free places; measured 20.5.
GROWING = 7 * END


def list_bytes(size: int) -> int:
    """Memory to generate lists of `size` elements."""
    return LISTING * size


def tree_bytes(nodes: int) -> int:
    """Memory to generate a tree."""
    return GROWING * nodes


RANKING = 3 * END  # per element: successors on the device, marks, and ranks on the host; measured 8.1
JUMPING = 2 * 8  # words of pointer jumping, before and after a round; measured 24.0 in total
SUMMING = 4 * 8 + 3 * END  # values as given, ordered, summed and fetched; list numbers; measured 52.3 in total
HEADS = 3 * 8  # per head: words, lengths, and the begin of each list; measured 36.5 in total
JUMPERS = ("wyllie", "lock-step", "on-demand")


def ranking_bytes(size: int, method: str, valued: bool) -> int:
    """Memory to rank lists with few heads."""
    return (RANKING + JUMPING * (method in JUMPERS) + SUMMING * valued) * size


def heads_bytes(heads: int) -> int:
    """Additional memory for the heads."""
    return HEADS * heads


ROOTS = 4 * END  # `find_roots`: parents, their copies on host and device, pointers; measured 12.5


def roots_bytes(nodes: int) -> int:
    """Memory to find the roots of all nodes."""
    return ROOTS * nodes


# `euler_tour`: two arcs per node, each with a successor, a rank and a mark; keys and children in a sort; four numbers.
TOURING = 18 * END  # per node: measured 69.2
ROOTING = (
    26 * END
)  # per undirected edge: two arcs in a sort, in rings, in two states of a search for roots; measured 99.5
ROOTING_NODES = 3 * END
ANCESTORS = 19 * END  # per node: `Tree.lca`; measured 72.5
PATHS = 17 * END  # per node: `Tree.path_sums`; measured 64.2


def tour_bytes(nodes: int, edges: int) -> int:
    """Memory of an Euler tour, including the rooting of a forest of undirected edges (0 edges if already rooted)."""
    return max(TOURING * nodes, ROOTING_NODES * nodes + ROOTING * edges)


SEARCHING = 24  # per node: distances on device and host, frontiers or round states; measured 18.1
NEAR_FAR = 16  # in addition with weights: two queues and wider distances; measured 28.0 and 42.9, with parents
PARENTS = 8  # the parents, on host and device


def search_bytes(nodes: int, weighted: bool, parents: bool) -> int:
    """Memory of a search, without the graph on the device."""
    return (SEARCHING + NEAR_FAR * weighted + PARENTS * parents) * nodes


LOOPING = 2 * END  # per node: the frontiers of the engine


def trimming_bytes(nodes: int, edges: int) -> int:
    """Memory of `trim`, without the graph on the device: the transposed graph, counts, marks on device and host."""
    return rows_bytes(nodes, edges, False) + (LOOPING + 4 * END + 1) * nodes


def colouring_bytes(nodes: int) -> int:
    """Memory of `propagate_colours`, without the graph on the device: colours and epochs."""
    return (LOOPING + 2 * END) * nodes


COMPONENTS = 7 * END  # per node: numbers, labels on device and host, three stacks


def components_bytes(nodes: int) -> int:
    """Memory of a search for components, without the graph on the device."""
    return COMPONENTS * nodes


RANKED = 6 * 8  # `pagerank`, per node: scores on device and host, a double buffer of shares, ratios, and tiles


def pagerank_bytes(nodes: int, edges: int, weighted: bool, transposed: bool, renumbered: bool) -> int:
    """Memory of PageRank by a sparse method, without the graph on the device."""
    back = reversed_bytes(nodes, edges, weighted) if transposed else 0
    numbering = 5 * END * nodes if renumbered else 0  # classes, order, degrees, offsets, numbers
    return RANKED * nodes + WEIGHT * weighted * edges + back + numbering


def dense_bytes(nodes: int, entry: int, matrices: int) -> int:
    """Memory of matrices of nodes x nodes entries of `entry` bytes."""
    return matrices * entry * nodes * nodes
