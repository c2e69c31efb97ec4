"""bfs(order=True): the order of a sequential search and its parents, against that search and networkx."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmr.memory import open_device
from static_graph import CsrGraph, DeviceGraph, GraphError, Traversal, bfs
from static_graph.errors import OptionError
from static_graph.traversal.frontiers import queue_search
from tests.support.graphs.traversed import random_graph


def by_queue(graph: CsrGraph, sources: list[int], limit: float = np.inf) -> tuple[list[int], np.ndarray, np.ndarray]:
    """The order, the distances and the parents of a sequential search."""
    offsets, targets = graph.offsets.tolist(), graph.targets.tolist()
    order = list(dict.fromkeys(sources))
    distances, parents = np.full(graph.nodes, -1), np.full(graph.nodes, -1)
    distances[order] = 0
    for node in order:  # grows meanwhile
        for target in targets[offsets[node] : offsets[node + 1]] if distances[node] < limit else []:
            if distances[target] < 0:
                distances[target], parents[target] = distances[node] + 1, node
                order.append(target)
    return order, distances, parents


def check_order(graph: CsrGraph, found: Traversal, sources: list[int], limit: float = np.inf) -> None:
    order, distances, parents = by_queue(graph, sources, limit)
    assert found.order.tolist() == order and found.order.dtype == np.int32
    np.testing.assert_array_equal(found.distances, distances)
    np.testing.assert_array_equal(found.parents, parents)


def test_the_order_of_a_sequential_search(device):
    for seed in range(20):
        graph = random_graph(seed)
        random = np.random.default_rng(seed)
        sources = random.integers(0, graph.nodes, 1 + seed % 4).tolist()
        limit = None if seed % 3 else int(random.integers(0, 6))
        found = bfs(DeviceGraph.upload(graph, device), sources, order=True, depth_limit=limit)
        check_order(graph, found, sources, np.inf if limit is None else limit)


@pytest.mark.parametrize("one_launch", [False, True])
@pytest.mark.parametrize("threads", [1, queue_search.LEAST_THREADS])
def test_the_order_of_large_levels(one_launch, threads):
    """Levels of many pieces, rows of many runs, and levels that one team takes; eight threads divide them."""
    check_large_order(open_device("cpu", threads), one_launch)


@pytest.mark.gpu
@pytest.mark.parametrize("one_launch", [False, True])
def test_the_order_of_large_levels_on_a_gpu(one_launch, gpu):
    check_large_order(gpu, one_launch)


def check_large_order(device, one_launch):
    for seed, (nodes, edges) in enumerate([(3000, 40_000), (60_000, 150_000), (500, 100_000), (1, 5)]):
        random = np.random.default_rng(seed)
        ends = random.integers(0, nodes, (2, edges))
        ends[0, : edges // 3] = nodes // 2
        graph = CsrGraph.from_edges(*ends, None, nodes)
        sources = random.permutation(nodes)[: 1 + nodes // 50].tolist() if seed % 2 else [nodes // 2]
        found = queue_search.run(DeviceGraph.upload(graph, device), sources, one_launch=one_launch)
        order, distances, parents = by_queue(graph, sources)
        assert found.order.download().tolist() == order
        np.testing.assert_array_equal(found.distances.download(), distances)
        np.testing.assert_array_equal(found.parents.download(), parents)
        assert found.launches == 1 or not one_launch


@given(
    ends=st.integers(1, 12).flatmap(
        lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    ),
    sources=st.lists(st.integers(0, 11), min_size=1, max_size=4),
    threads=st.sampled_from([1, queue_search.LEAST_THREADS]),
)
@settings(max_examples=60)
def test_the_order_is_that_of_networkx(ends, sources, threads):
    networkx = pytest.importorskip("networkx")
    nodes, edges = ends
    source = sources[0] % nodes
    table = np.array(list(dict.fromkeys(edges)), np.int64).reshape(-1, 2)
    graph = CsrGraph.from_edges(table[:, 0], table[:, 1], None, nodes)
    found = bfs(graph, source, order=True, device="cpu", threads=threads)
    peer = networkx.DiGraph()
    peer.add_nodes_from(range(nodes))
    peer.add_edges_from(table.tolist())
    expected = list(networkx.bfs_edges(peer, source))
    assert [(int(found.parents[node]), node) for node in found.order.tolist()[1:]] == expected
    several = [node % nodes for node in sources]
    check_order(graph, bfs(graph, several, order=True, device="cpu", threads=threads), several)


def test_the_order_on_a_long_path(device):
    count = 100_000
    nodes = np.random.default_rng(0).permutation(count)
    graph = DeviceGraph.upload(CsrGraph.from_edges(nodes[:-1], nodes[1:], None, count), device)
    found = bfs(graph, int(nodes[0]), order=True)
    np.testing.assert_array_equal(found.order, nodes)
    np.testing.assert_array_equal(found.parents[nodes[1:]], nodes[:-1])


def test_the_order_of_empty_graphs(device):
    nothing = np.empty(0, np.int64)
    for nodes, sources in ((0, []), (1, [0]), (5, [3, 1, 3])):
        graph = DeviceGraph.upload(CsrGraph.from_edges(nothing, nothing, None, nodes), device)
        found = bfs(graph, sources, order=True)
        assert found.order.tolist() == list(dict.fromkeys(sources)) and (found.parents == -1).all()


def test_invalid_orders_are_refused():
    graph = CsrGraph.from_edges([0, 1], [1, 2], None, 3)
    with pytest.raises(OptionError, match=r"order is not an option of balance = 'warp', but of 'auto'"):
        bfs(graph, 0, balance="warp", order=True)
    with pytest.raises(OptionError, match="order must be True or False"):
        bfs(graph, 0, order="yes")
    with pytest.raises(GraphError, match="an order has different nodes, from 0 to 2"):
        replace(bfs(graph, 0, order=True, device="cpu"), order=np.array([0, 1, 1]))
