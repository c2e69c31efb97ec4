"""The backend's answers on random graphs are networkx's, with the same keys, order, types and exceptions."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from functools import partial
from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from static_graph import networkx_backend as backend

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
LABELS = (int, str, lambda k: (k, "x"), lambda k: k * 10**17, lambda k: k / 4)
WEIGHTS = (
    lambda draw: draw.randrange(4),
    lambda draw: draw.random(),
    lambda draw: 2 * draw.random() // 1,  # 0.0 or 1.0
    lambda draw: draw.randrange(2**40),
    lambda draw: draw.random() < 0.5,
)
descending = partial(sorted, key=repr, reverse=True)


def random_graph(seed: int) -> nx.Graph:
    """A graph of any class with loops, isolated nodes, keys of any type, and weights that some edges lack."""
    draw = random.Random(seed)
    nodes = draw.randrange(1, 30)
    named, weigh = draw.choice(LABELS), draw.choice(WEIGHTS)
    graph = draw.choice(KINDS)()
    order = list(range(nodes))
    draw.shuffle(order)
    graph.add_nodes_from(map(named, order))
    for _ in range(draw.randrange(3 * nodes)):
        data = {"weight": weigh(draw)} if draw.random() < 0.9 else {}
        graph.add_edge(*(named(draw.randrange(nodes)) for _ in range(2)), **data)
    return graph


def plain(value):
    """A value with the order of its items and the types of its numbers; a set's items without order."""
    if isinstance(value, dict):
        return [(plain(key), plain(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, set):
        return {plain(item) for item in value} if all(isinstance(item, tuple) for item in value) else value
    assert value is None or type(value) in (int, float, str, bool), type(value)
    return value


def outcome(function, *args, **options):
    """Returns the result of a call, with the items of generators, or the exception that it raises."""
    try:
        found = function(*args, **options)
        if isinstance(found, nx.Graph):
            return type(found), dict(found.graph), dict(found.nodes(data=True)), list(found.edges(data=True))
        return (
            found
            if isinstance(found, (int, set))
            else plain(found if isinstance(found, (dict, tuple, list)) else list(found))
        )
    except Exception as error:
        return type(error), str(error)


def calls(graph: nx.Graph, draw: random.Random):
    """Functions that have networkx's order, each with arguments; some are wrong."""
    node = draw.choice([*graph, *graph, "missing"])
    limit = draw.choice([None, 0, 1, 2, 1.5, -1, math.inf, math.nan])
    some = draw.sample(list(graph), min(len(graph), draw.randrange(4)))
    yield "ancestors", (node,), {}
    yield "bfs_edges", (node,), {"reverse": draw.random() < 0.5, "depth_limit": limit}
    yield "bfs_edges", (node,), {"sort_neighbors": descending, "reverse": draw.random() < 0.5}
    yield "bfs_layers", (draw.choice([node, some, set(some), [*some, "missing"]]),), {}
    yield "bfs_predecessors", (node,), {"depth_limit": limit}
    yield "bfs_predecessors", (node,), {"sort_neighbors": descending}
    yield "bfs_successors", (node,), {"depth_limit": limit}
    yield "bfs_successors", (node,), {"sort_neighbors": descending}
    yield "bfs_tree", (node,), {"reverse": draw.random() < 0.5, "depth_limit": limit}
    yield "bfs_tree", (node,), {"sort_neighbors": descending}
    yield "descendants", (node,), {}
    yield "descendants_at_distance", (node, draw.choice([0, 1, 2, 1.0, 1.5, -1])), {}
    yield "has_path", (node, draw.choice(list(graph))), {}
    yield "has_path", (draw.choice(list(graph)), node), {}
    for name in ("single_source_shortest_path", "single_target_shortest_path"):
        yield name, (node,), {"cutoff": limit}
        yield f"{name}_length", (node,), {"cutoff": limit}
    for name in ("all_pairs_shortest_path", "all_pairs_shortest_path_length"):
        yield name, (), {"cutoff": limit}


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def check_searches(seed):
    graph = random_graph(seed)
    converted = backend.convert_from_nx(graph)
    for name, args, options in calls(graph, random.Random(seed)):
        expected = outcome(getattr(nx, name), graph, *args, **options)
        assert outcome(getattr(backend, name), converted, *args, **options) == expected, (name, args, options)


def test_searches_have_the_order_of_networkx(on_device):
    check_searches()


def length(graph: nx.Graph, path, weigh) -> float:
    """The sum of the weights along a path, added from its begin on, of the lightest parallel edges."""
    total = 0
    for begin, end in pairwise(path):
        data = graph.adj[begin][end]
        total += weigh(begin, end, data)
    return total


def weightings(graph: nx.Graph, hidden):
    """Arguments `weight`, each with the weight that Dijkstra's algorithm gives an edge."""

    def lightest(begin, end, data):
        return min(each.get("weight", 1) for each in data.values()) if graph.is_multigraph() else data.get("weight", 1)

    def by_name(begin, end, data):
        return None if hidden in (begin, end) else 1 + len(str(end))

    def one(begin, end, data):
        return 1

    return ("weight", lightest), ("absent", one), (None, one), (by_name, by_name)


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def check_shortest_paths(seed):
    draw = random.Random(seed)
    graph = random_graph(seed)
    converted = backend.convert_from_nx(graph)
    weight, weigh = draw.choice(weightings(graph, hidden=draw.choice(list(graph))))
    options = {"weight": weight, "cutoff": draw.choice([None, None, 0, 1, 2.5, math.inf, math.nan])}
    sources = draw.sample(list(graph), draw.randrange(1, min(4, len(graph)) + 1))
    source, target = sources[0], draw.choice(list(graph))
    expected = nx.single_source_dijkstra_path_length(graph, source, **options)
    lengths, paths = backend.single_source_dijkstra(converted, source, **options)
    assert lengths == backend.single_source_dijkstra_path_length(converted, source, **options) == expected
    assert list(lengths) == list(paths) and next(iter(lengths)) == source
    assert list(lengths.values()) == sorted(lengths.values())
    assert plain(lengths)
    assert backend.single_source_dijkstra_path(converted, source, **options) == paths
    for end, path in paths.items():
        assert (path[0], path[-1]) == (source, end)
        assert length(graph, path, weigh) == expected[end]
    several = backend.multi_source_dijkstra_path_length(converted, sources, **options)
    assert several == nx.multi_source_dijkstra_path_length(graph, sources, **options)
    assert list(several)[: len(sources)] == sources
    if target in expected:
        found = backend.single_source_dijkstra(converted, source, target, **options)
        assert found == (expected[target], paths[target])
    else:
        wanted = outcome(nx.single_source_dijkstra, graph, source, target, **options)
        assert wanted == (nx.NetworkXNoPath, f"No path to {target}.")
        assert outcome(backend.single_source_dijkstra, converted, source, target, **options) == wanted


def test_shortest_paths_by_weights(on_device):
    check_shortest_paths()


def test_the_distance_of_a_source_is_the_integer_zero():
    """networkx's is, beside distances that are floats: a program may print them."""
    graph = nx.Graph([(1, 2, {"weight": 0.5}), (2, 3, {"weight": 0.0})])
    converted = backend.convert_from_nx(graph)
    for sources in ({2}, {1, 3}):
        found = backend.multi_source_dijkstra_path_length(converted, sources)
        assert repr(sorted(found.items())) == repr(sorted(nx.multi_source_dijkstra_path_length(graph, sources).items()))
    assert repr(backend.single_source_dijkstra(converted, 1)) == repr(nx.single_source_dijkstra(graph, 1))


DIRECTED = ("weakly_connected_components", "number_weakly_connected_components", "is_weakly_connected")
DIRECTED += ("number_strongly_connected_components", "is_strongly_connected")
UNDIRECTED = ("connected_components", "number_connected_components", "is_connected")


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def check_components(seed):
    graph = random_graph(seed)
    converted = backend.convert_from_nx(graph)
    for name in DIRECTED if graph.is_directed() else UNDIRECTED:
        assert outcome(getattr(backend, name), converted) == outcome(getattr(nx, name), graph), name
    if not graph.is_directed():
        for node in ("missing", next(iter(graph))):
            expected = outcome(nx.node_connected_component, graph, node)
            assert outcome(backend.node_connected_component, converted, node) == expected


def test_components_have_the_order_of_networkx(on_device):
    check_components()


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def check_strong_components(seed):
    graph = random_graph(seed)
    if not graph.is_directed():
        graph = graph.to_directed()
        graph.remove_edges_from(list(graph.edges)[::3])
    converted = backend.convert_from_nx(graph)
    found = list(backend.strongly_connected_components(converted))
    assert sorted(map(sorted, found), key=repr) == sorted(
        map(sorted, nx.strongly_connected_components(graph)), key=repr
    )
    acyclic = nx.condensation(graph, found)
    assert all(begin > end for begin, end in acyclic.edges)
    first = {node: number for number, node in reversed(list(enumerate(graph)))}
    levels = dict.fromkeys(acyclic, 0)
    for number in range(len(found)):
        levels[number] = max((1 + levels[end] for end in acyclic[number]), default=0)
    order = [(levels[number], min(first[node] for node in component)) for number, component in enumerate(found)]
    assert order == sorted(order)
    for given_scc in (None, found, list(nx.strongly_connected_components(graph))):
        expected = nx.condensation(graph, given_scc or found)
        contracted = backend.condensation(converted, given_scc)
        assert type(contracted) is nx.DiGraph and list(contracted) == list(expected)
        assert contracted.graph == expected.graph and nx.utils.graphs_equal(contracted, expected)


def test_strong_components_are_in_reverse_topological_order(on_device):
    check_strong_components()


def test_components_of_a_graph_without_nodes(registered):
    strong = ("strongly_connected_components", "condensation")
    for kind, names in ((nx.Graph, UNDIRECTED), (nx.DiGraph, (*DIRECTED, *strong))):
        for name in names:
            expected = outcome(getattr(nx, name), kind())
            assert outcome(getattr(backend, name), backend.convert_from_nx(kind())) == expected
    with pytest.raises(nx.NetworkXNotImplemented):
        nx.is_connected(nx.DiGraph([(0, 1)]), backend="static_graph")


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def check_scores(seed):
    draw = random.Random(seed)
    graph = random_graph(seed)
    vector = {node: draw.random() for node in graph if draw.random() < 0.7} | {"elsewhere": 2, next(iter(graph)): 1}
    options = {name: vector for name in ("personalization", "nstart", "dangling") if draw.random() < 0.4}
    options |= {"alpha": draw.choice([0.85, 0.5, 0.0]), "weight": draw.choice(["weight", None, "absent"])}
    expected = nx.pagerank(graph, tol=1e-12, max_iter=1000, **options)
    found = backend.pagerank(backend.convert_from_nx(graph), tol=1e-12, max_iter=1000, **options)
    assert list(found) == list(expected) and {*map(type, found.values())} == {float}
    assert sum(abs(found[node] - expected[node]) for node in graph) < 1e-10


def test_scores(on_device):
    check_scores()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"max_iter": 0}, nx.PowerIterationFailedConvergence),
        ({"max_iter": 2, "tol": 1e-15}, nx.PowerIterationFailedConvergence),
        ({"personalization": {0: 0, 9: 1}}, ZeroDivisionError),
        ({"alpha": 1.5}, NotImplementedError),
        ({"tol": 0}, NotImplementedError),
        ({"nstart": {0: -1}}, NotImplementedError),
        ({"dangling": {0: math.nan}}, NotImplementedError),
        ({"dangling": {9: 1}}, NotImplementedError),
    ],
)
def test_scores_that_networkx_refuses_or_the_package_cannot_find(options, error):
    graph = nx.DiGraph([(0, 1), (1, 2), (0, 2)])
    with pytest.raises(error) as raised:
        backend.pagerank(backend.convert_from_nx(graph), **options)
    if error is nx.PowerIterationFailedConvergence:
        assert outcome(nx.pagerank, graph, **options) == (error, str(raised.value))
    assert backend.pagerank(backend.convert_from_nx(nx.Graph()), **options) == {}


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_sources_raise_the_exceptions_of_networkx(kind):
    graph = kind([(0, 1), (1, 2)])
    converted = backend.convert_from_nx(graph)
    for name, args in (
        ("multi_source_dijkstra_path_length", ([],)),
        ("multi_source_dijkstra_path_length", ([0, 7],)),
        ("single_source_dijkstra", (7,)),
        ("single_source_dijkstra", (0, 7)),
        ("single_source_dijkstra", ([0],)),
        ("single_source_dijkstra_path", (7,)),
        ("single_source_dijkstra_path_length", (7,)),
        ("single_source_shortest_path", ([0],)),
        ("has_path", ([0], 1)),
        ("bfs_layers", ([0, 7],)),
        ("bfs_layers", ([],)),
        ("descendants_at_distance", (0, "x")),
    ):
        expected = outcome(getattr(nx, name), graph, *args)
        assert outcome(getattr(backend, name), converted, *args) == expected, (name, args)


@pytest.mark.parametrize(
    "weights",
    [
        [None, 1],
        [-1, 1],
        [math.inf, 1.0],
        [math.nan, 1.0],
        ["1", "2"],
        [Fraction(1, 3), 1],
        [2**70, 1],
        [2**60 + 1, 0.5],
        [[1], [1, 2]],
        [(1, 2), (3, 4)],
        [2**62, 2**62],
        [1e308, 1e308],
    ],
    ids=str,
)
def test_weights_that_an_array_cannot_hold_are_left_to_networkx(weights):
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((k, k + 1, weight) for k, weight in enumerate(weights))
    converted = backend.convert_from_nx(graph)
    with pytest.raises(NotImplementedError):
        backend.single_source_dijkstra_path_length(converted, 0)
    assert backend.single_source_dijkstra_path_length(converted, 0, weight="other") == {0: 0, 1: 1, 2: 2}


def test_a_cutoff_of_any_size():
    graph = nx.path_graph(4)
    converted = backend.convert_from_nx(graph)
    for cutoff in (10**400, 2**64, 1e308, math.inf, math.nan, True, Fraction(3, 2), 2, 0, -1, -math.inf):
        for name in ("single_source_dijkstra_path_length", "single_source_dijkstra"):
            assert outcome(getattr(backend, name), converted, 0, cutoff=cutoff) == outcome(
                getattr(nx, name), graph, 0, cutoff=cutoff
            )


def test_a_graph_of_the_backend_goes_back_to_networkx():
    for seed in range(30):
        graph = random_graph(seed)
        back = backend.convert_to_nx(backend.convert_from_nx(graph))
        assert type(back) is type(graph)
        assert nx.utils.graphs_equal(back, graph)
    assert backend.convert_to_nx([1]) == [1]
