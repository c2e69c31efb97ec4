"""Checks that arrays describe one rooted forest, because kernels rely on that.

Let size, first and level be a node's subtree size, preorder number and level. Suppose that `first` is a permutation,
that each size is 1 plus the sizes of the children, and that the interval [first, first + size) of a child lies inside
its parent's, behind the parent itself. Then no node is its own ancestor, and each subtree fills its interval: by
induction from the leaves, it has `size` nodes, whose numbers are distinct and in the interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from static_graph.common.arrays import as_whole
from static_graph.common.pieces import bounds
from static_graph.errors import GraphError

ARRAYS = ("parent", "subtree_size", "preorder", "postorder", "level")


def checked_tree(given: Mapping[str, Any]) -> dict[str, NDArray[np.int32]]:
    """Checks the arrays `ARRAYS`, and returns copies as int32.

    Raises:
        GraphError: the arrays do not describe one forest; the error names the array and the node.
    """
    arrays = {name: as_whole(given[name], name) for name in ARRAYS}
    nodes = len(arrays["parent"])
    for name, array in arrays.items():
        if len(array) != nodes:
            raise GraphError(f"{name} has {len(array)} numbers, but there are {nodes} nodes")
        low, high = bounds(array)
        if low < -1 or high > nodes:
            raise GraphError(f"{name} has numbers from {low} to {high}, which {nodes} nodes do not have")
    copies = {name: array.astype(np.int32) for name, array in arrays.items()}
    parent, size, first, last, level = copies.values()
    below = np.flatnonzero(parent >= 0)
    if nodes and int(parent.max()) >= nodes:
        node = int(parent.argmax())
        raise GraphError(f"its parent is {int(parent[node])}, but the {nodes} nodes are 0 to {nodes - 1}", "node", node)
    above = parent[below]
    expected_size = np.ones(nodes, np.int64)
    expected_size += np.bincount(above, weights=size[below], minlength=nodes).astype(np.int64)
    _demand(size == expected_size, "subtree_size", "1 and those of its children")
    seen = np.zeros(nodes + 1, np.bool_)
    seen[first] = True
    _demand((first >= 0) & (first < nodes) & bool(seen[:nodes].all()), "preorder", "a different one for each node")
    inside = np.ones(nodes, np.bool_)
    inside[below] = (first[below] > first[above]) & (first[below] + size[below] <= first[above] + size[above])
    _demand(inside & (first + size <= nodes), "preorder", "within those of its parent's subtree")
    expected_level = np.zeros(nodes, np.int32)
    expected_level[below] = level[above] + 1
    _demand(level == expected_level, "level", "one more than its parent's, or 0 of a root")
    _demand(last == first + size - 1 - level, "postorder", "preorder + subtree_size - 1 - level")
    return copies


def _demand(fits: NDArray[np.bool_], name: str, rule: str) -> None:
    if not fits.all():
        node = int(np.argmin(fits))
        raise GraphError(f"its {name} is wrong: it must be {rule}", "node", node)
