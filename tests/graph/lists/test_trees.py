"""Euler tours: numbers of nodes, common ancestors and path sums against plain Python and networkx."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from static_graph import euler_tour, generate_tree
from static_graph.errors import GraphError, OptionError

nx = pytest.importorskip("networkx")


def random_forest(random, size):
    """Parents: -1 at roots; some forests are deep, some are flat."""
    names, reach = random.permutation(size), int(random.choice([1, 3, size]))
    parents = np.full(size, -1)
    for v in range(1, size):
        if random.random() > random.choice([0.02, 0.3]):
            parents[names[v]] = names[random.integers(max(v - reach, 0), v)]
    return parents


def visited(parents):
    """Preorder, postorder, level, subtree size, by a depth-first search."""
    size = len(parents)
    graph = nx.DiGraph()
    graph.add_nodes_from([*range(size), size])
    graph.add_edges_from(sorted((p if p >= 0 else size, v) for v, p in enumerate(parents)))
    preorder, postorder = np.empty(size, int), np.empty(size, int)
    levels, sizes = np.empty(size, int), np.ones(size + 1, int)
    for number, v in enumerate(nx.dfs_preorder_nodes(graph, size)):
        if v < size:
            preorder[v] = number - 1
            levels[v] = levels[parents[v]] + 1 if parents[v] >= 0 else 0
    for number, v in enumerate(nx.dfs_postorder_nodes(graph, size)):
        if v < size:
            postorder[v] = number
            sizes[parents[v]] += sizes[v]
    return preorder, postorder, levels, sizes[:size]


def path_up(parents, v):
    path = [v]
    while parents[path[-1]] >= 0:
        path.append(int(parents[path[-1]]))
    return path


def edges_of(parents, random):
    """Edges of a forest, shuffled and with random directions."""
    children = np.flatnonzero(parents >= 0)
    edges = np.column_stack([children, parents[children]])[random.permutation(len(children))]
    transposed = random.random(len(edges)) < 0.5
    edges[transposed] = edges[transposed, ::-1]
    return edges


@pytest.mark.parametrize("seed", range(10))
def test_preorder_postorder_levels_and_sizes(seed, device_options):
    random = np.random.default_rng(seed)
    size = int(random.choice([1, 2, 5, 40, 300]))
    parents = random_forest(random, size)
    given = np.where((parents < 0) & (random.random(size) < 0.5), np.arange(size), parents)
    tree = euler_tour(given, **device_options)
    preorder, postorder, levels, sizes = visited(parents)
    assert np.array_equal(tree.parent, parents) and np.array_equal(tree.roots, np.flatnonzero(parents < 0))
    assert np.array_equal(tree.preorder, preorder) and np.array_equal(tree.postorder, postorder)
    assert np.array_equal(tree.level, levels) and np.array_equal(tree.subtree_size, sizes)
    values = random.integers(-(2**40), 2**40, size)
    assert tree.path_sums(values).tolist() == [int(sum(values[path_up(parents, v)])) for v in range(size)]


@pytest.mark.parametrize("seed", range(10))
def test_common_ancestors_and_path_sums(seed, device_options):
    random = np.random.default_rng(seed)
    size = int(random.choice([1, 2, 7, 50]))
    parents = random_forest(random, size)
    tree = euler_tour(parents, **device_options)
    paths = [path_up(parents, v) for v in range(size)]
    left, right = (side.ravel() for side in np.meshgrid(np.arange(size), np.arange(size)))
    expected = [next((a for a in paths[x] if a in paths[y]), -1) for x, y in zip(left, right, strict=True)]
    assert tree.lca(left, right).tolist() == expected


@pytest.mark.parametrize("seed", range(10))
def test_trees_from_edges_in_any_order(seed, device_options):
    random = np.random.default_rng(seed)
    size = int(random.choice([1, 2, 5, 40, 300]))
    parents = random_forest(random, size)
    edges = edges_of(parents, random)
    graph = nx.Graph(edges.tolist())
    graph.add_nodes_from(range(size))
    roots, expected = [], np.full(size, -1)
    for component in nx.connected_components(graph):
        root = min(component)
        if random.random() < 0.6:
            root = int(random.choice(list(component)))
            roots.append(root)
        for above, below in nx.bfs_edges(graph, root):
            expected[below] = above
    found = euler_tour(edges, roots or None, nodes=size, **device_options)
    assert np.array_equal(found.parent, expected)
    again = euler_tour(expected, **device_options)
    for name in ("preorder", "postorder", "level", "subtree_size"):
        assert np.array_equal(getattr(found, name), getattr(again, name))
    if roots:
        assert np.array_equal(euler_tour(parents, roots, **device_options).parent, expected)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12))
def test_edges_with_a_cycle_are_refused(edges):
    graph = nx.MultiGraph(edges)
    graph.add_nodes_from(range(10))
    if not nx.is_forest(graph):
        closing = next(k for k in range(len(edges)) if not nx.is_forest(nx.MultiGraph(edges[: k + 1])))
        with pytest.raises(GraphError, match=f"^edge {closing}: ") as caught:
            euler_tour(np.array(edges), nodes=10, device="cpu")
        assert caught.value.index == closing
    else:
        tree = euler_tour(np.array(edges, int).reshape(-1, 2), nodes=10, device="cpu")
        assert len(tree.roots) == nx.number_connected_components(graph)


@given(st.lists(st.integers(-1, 7), min_size=8, max_size=8))
def test_parents_with_a_cycle_are_refused(parents):
    graph = nx.DiGraph([(v, p) for v, p in enumerate(parents) if 0 <= p != v])
    try:
        tree = euler_tour(parents, device="cpu")
    except GraphError as error:
        assert error.element == "node" and any(error.index in nodes for nodes in nx.simple_cycles(graph))
    else:
        assert nx.is_directed_acyclic_graph(graph) and (tree.subtree_size[tree.roots].sum()) == 8


@pytest.mark.parametrize("kind", ["random-binary", "path", "star", "caterpillar"])
def test_tours_of_larger_trees(kind, device_options):
    parents = generate_tree(kind, 200_000, seed=1)
    tree = euler_tour(parents, **device_options)
    others = np.flatnonzero(parents >= 0)
    assert (tree.level[others] == tree.level[parents[others]] + 1).all()
    assert np.array_equal(np.sort(tree.preorder), np.arange(200_000))
    assert np.array_equal(tree.preorder - tree.postorder + tree.subtree_size - 1, tree.level)
    # A node's subtree is an interval of the preorder that begins with it.
    assert (tree.preorder[others] > tree.preorder[parents[others]]).all()
    ends = tree.preorder + tree.subtree_size
    assert (ends[others] <= ends[parents[others]]).all()
    below = np.bincount(parents[others], weights=tree.subtree_size[others], minlength=200_000)
    assert np.array_equal(below.astype(np.int64) + 1, tree.subtree_size)
    rooted = euler_tour(np.column_stack([others, parents[others]]), int(tree.roots[0]), **device_options)
    assert np.array_equal(rooted.parent, tree.parent)
    picked = np.random.default_rng(0).integers(0, 200_000, (2, 5000))
    common = tree.lca(*picked)
    for side in picked:  # an ancestor of both
        assert (tree.preorder[common] <= tree.preorder[side]).all() and (tree.preorder[side] < ends[common]).all()


def test_phases_are_timed(device_options):
    plain, rooting = {"upload", "tour", "rank", "numbers", "download"}, {"root tour", "root rank", "root parents"}
    assert set(euler_tour([-1, 0, 0], **device_options).seconds) == plain
    for forest, root in (([[0, 1], [1, 2]], None), ([-1, 0, 0], 1)):
        seconds = euler_tour(forest, root, **device_options).seconds
        assert set(seconds) == plain | rooting and min(seconds.values()) > 0


def test_tours_of_empty_and_tiny_trees(device_options):
    assert len(euler_tour([], **device_options).parent) == 0
    assert len(euler_tour([], **device_options).roots) == 0
    one = euler_tour([-1], **device_options)
    assert (one.level.tolist(), one.subtree_size.tolist(), one.lca([0], 0).tolist()) == ([0], [1], [0])
    assert euler_tour(np.empty((0, 2), int), nodes=3, **device_options).roots.tolist() == [0, 1, 2]
    assert euler_tour(np.empty((0, 2), int), **device_options).roots.tolist() == [0]
    assert euler_tour([[0, 4]], 4, nodes=5, **device_options).parent.tolist() == [4, -1, -1, -1, -1]
    assert str(euler_tour([-1, 0, 0, 3], **device_options)) == "Tree(4 nodes below 2 roots)"
    assert str(euler_tour([-1], **device_options)) == "Tree(1 node below 1 root)"


# (offending element, its number, parents or edges, options)
INVALID = [
    ("node", 1, [0, 5], {}),
    ("node", 0, [1, 0], {}),  # cycles
    ("node", 1, [-1, 2, 3, 1, 2], {}),
    ("node", 1, [-1, 2, 1], {"root": 0}),
    ("edge", 2, [[0, 1], [1, 2], [2, 0]], {}),
    ("edge", 1, [[0, 1], [1, 1]], {"nodes": 5}),
    ("edge", 1, [[0, 1], [1, 0]], {"nodes": 3}),
    ("edge", 0, [[0, 5]], {"nodes": 5}),
    ("edge", 1, [[0, 1], [3, -1]], {}),
    ("edge", 1, [[0, 1], [1, 2**40]], {}),
    ("node", 3, [[0, 1], [1, 3]], {"root": [0, 3], "nodes": 9}),  # two roots of one tree
    ("graph", None, [[0, 1]], {"root": 7}),
    ("graph", None, [[0, 1]], {"root": 2**40}),
    ("graph", None, [[0, 1, 2]], {}),
    ("graph", None, [[0, 1], [2]], {}),
    ("graph", None, [0.5], {}),
]


@pytest.mark.parametrize(("element", "index", "forest", "options"), INVALID)
def test_invalid_forests_are_refused_with_their_place(element, index, forest, options, device_options):
    with pytest.raises(GraphError) as raised:
        euler_tour(forest, **options, **device_options)
    assert (raised.value.element, raised.value.index) == (element, index)


def test_the_number_of_nodes_is_an_option_of_edges_only():
    with pytest.raises(OptionError, match=r"^nodes\b"):
        euler_tour([-1], nodes=1)


def test_invalid_queries_are_refused(device_options):
    tree = euler_tour([-1, 0, 0], **device_options)
    for left, right, offender in (
        ([0, 1], [2, 3], "pair 1: 1 and 3"),
        ([-1], [0], "pair 0"),
        ([0], [0, 1], "pairs"),
        ([1], [2**40], "pair 0: 1 and 1099511627776"),
        ([1], np.array([2**63], np.uint64), "pair 0: 1 and 9223372036854775808"),
        ([1], [0.5], "nodes"),
    ):
        with pytest.raises(GraphError, match=offender):
            tree.lca(left, right)
    with pytest.raises(GraphError, match=r"^values "):
        tree.path_sums([1, 2])
    assert tree.lca([], []).tolist() == [] and tree.lca(np.uint64(1), np.uint8(2)).tolist() == [0]
