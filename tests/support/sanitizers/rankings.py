"""Runs every kernel of list ranking and of Euler tours on small lists and trees."""

from __future__ import annotations

from itertools import cycle

import numpy as np

from static_graph import euler_tour, find_roots, generate_list, generate_tree, rank
from static_graph.errors import GraphError
from static_graph.lists.kinds import KINDS
from static_graph.lists.methods.table import FINISHES, RULES, SPACINGS
from static_graph.trees.kinds import KINDS as TREE_KINDS
from tests.support.digests import digest

METHODS = (
    ("wyllie", {}),
    ("wyllie", {"packing": 32}),
    ("lock-step", {}),
    ("on-demand", {}),
    ("sequential", {}),
    *(
        ("helman-jaja", {"finish": finish, "spacing": spacing, "splitters": splitters, "finish_size": 5})
        for finish in FINISHES
        for spacing in SPACINGS
        for splitters in (*RULES, 40)
    ),
)


def rankings(threads):
    """Yields (case, digest) for every method and for trees; for invalid lists, (case, error message)."""
    options = {"device": "cpu", "threads": threads}
    sizes = ((1, 1), (257, 257), (2047, 3), (5000, 1), (5000, 2000))
    for kind, (size, lists) in zip(cycle(KINDS), sizes, strict=False):
        successors = generate_list(kind, size, lists=lists, interval=8, **options)
        for method, more in METHODS:
            found = rank(successors, values=np.arange(size) - 7, method=method, **more, **options)
            yield ["lists", kind, size, lists, method, *more.values()], digest(*found)
    ring = generate_list("random", 3000, **options)
    ring[np.flatnonzero(ring < 0)[0]] = ring[7]
    broken = np.where(np.arange(3000) == 7, -1, ring)
    for method, more in METHODS:
        try:
            rank(broken, method=method, **more, **options)
        except GraphError as error:
            yield ["a cycle", method, *more.values()], str(error)
    for kind in TREE_KINDS:
        for size in (1, 2, 300, 4097):
            parents = generate_tree(kind, size, seed=size, shuffled=size != 300)
            tree = euler_tour(parents, **options)
            nodes = np.arange(size)
            answers = tree.lca(nodes, nodes[::-1])
            numbers = (tree.preorder, tree.postorder, tree.level, tree.subtree_size)
            yield (
                ["trees", kind, size],
                digest(*numbers, answers, tree.path_sums(nodes), find_roots(parents, **options)),
            )
            others = np.flatnonzero(parents >= 0)
            edges = np.column_stack([others, parents[others]])
            for missing, roots in ((0, size - 1), (1, [0]), (7, None)):
                rooted = euler_tour(edges[missing:], roots, nodes=size, **options)
                yield ["rooted", kind, size, missing], digest(rooted.parent)
            try:
                euler_tour(np.vstack([edges, [[0, size - 1]]]), nodes=size, **options)
            except GraphError as error:
                yield ["an edge too many", kind, size], str(error)
