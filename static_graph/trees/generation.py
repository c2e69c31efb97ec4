"""Generator of trees for benchmarks: random binary trees, paths, stars, caterpillars."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import checks_keywords, chosen, shortened, switch, whole_option
from dmr.common.available import require_memory
from dmr.common.text import counted
from dmr.memory import open_device
from static_graph.common.memory_estimates import tree_bytes
from static_graph.errors import GraphError
from static_graph.lists.generation import random_order
from static_graph.trees.kinds import KINDS
from static_graph.trees.rooting import MOST_NODES


@checks_keywords
def generate_tree(
    kind: str, nodes: int, *, shuffled: bool = True, seed: int = 0, threads: int | None = None
) -> NDArray[np.int32]:
    """Generates the parents of a tree.

    Args:
        kind: "random-binary" (grown one node at a time at a random free place; the shape of a random search tree),
            "path", "star", or "caterpillar" (a path of half of the nodes, each with a leaf).
        nodes: number of nodes, at least 1.
        shuffled: whether nodes are numbered at random; otherwise parents have smaller numbers than their children.
        seed: seed of the random numbers.
        threads: CPU threads (default: all cores).

    Returns:
        (nodes,) int32, -1 at the root.

    Raises:
        GraphError: the number of nodes is invalid. OptionError: another option is invalid.
        NativeLibraryError, OutOfMemoryError: the native library is missing, or memory is too small.
    """
    nodes = whole_option("nodes", nodes)
    chosen("kind", kind, KINDS)
    shuffled = switch("shuffled", shuffled)
    if not 1 <= nodes <= MOST_NODES:
        raise GraphError(f"a tree has 1 to {MOST_NODES} nodes, not {shortened(nodes)}")
    device = open_device("cpu", threads)
    require_memory(tree_bytes(nodes), f"a tree of {counted(nodes, 'node')}")
    names = random_order(device, nodes, seed)  # even if unused, because it checks the seed
    if kind == "random-binary":
        parents = device.empty(nodes, np.int32)
        device.launch("grow_binary_tree", 1, seed, nodes, device.empty(nodes + 1, np.int32), parents)
    else:
        parents = device.array(_regular(kind, nodes))
    if not shuffled:
        return parents.detach()
    renamed = device.empty(nodes, np.int32)
    device.launch("rename_nodes", nodes, parents, names, renamed)
    return renamed.detach()


def _regular(kind: str, nodes: int) -> NDArray[np.int32]:
    numbers = np.arange(nodes, dtype=np.int32)
    if kind == "path":
        return numbers - 1
    if kind == "star":
        return np.where(numbers == 0, -1, 0).astype(np.int32)
    spine = (nodes + 1) // 2
    return np.where(numbers < spine, numbers - 1, numbers - spine).astype(np.int32)
