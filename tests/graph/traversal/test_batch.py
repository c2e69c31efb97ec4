"""distance_matrix against scipy and single searches."""

from __future__ import annotations

import numpy as np
import pytest

from dmr.memory import OutOfMemoryError
from static_graph import CsrGraph, DeviceGraph, GraphError, bfs, distance_matrix, sssp, upload
from static_graph.engine.loop import STRATEGIES
from static_graph.errors import OptionError
from static_graph.traversal.frontiers import several_sources
from static_graph.traversal.frontiers.several_sources import AT_ONCE
from tests.support.graphs.traversed import random_graph, reference


def test_rows_are_the_distances_of_single_searches(device):
    for seed in range(12):
        graph = random_graph(seed)
        on_device = DeviceGraph.upload(graph, device)
        sources = np.random.default_rng(seed).integers(0, graph.nodes, 5)
        limit = None if seed % 3 else 2
        found = distance_matrix(on_device, sources, limit=limit)
        expected = [bfs(on_device, source, depth_limit=limit).distances for source in sources]
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == np.int32 and found.shape == (5, graph.nodes)
        if graph.weights is not None:
            found = distance_matrix(on_device, sources, weighted=True, limit=limit)
            expected = [sssp(on_device, source, distance_limit=limit).distances for source in sources]
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == expected[0].dtype


@pytest.mark.parametrize("balance", ["auto", *STRATEGIES])
def test_searches_that_share_their_rounds(balance, device):
    for seed in range(12):
        graph = random_graph(seed)
        sources = np.random.default_rng(seed).integers(0, graph.nodes, 1 + 7 * seed % AT_ONCE)
        limit = None if seed % 3 else seed / 2
        distances = device.empty(sources.size * graph.nodes, np.int32)
        several_sources.run(
            DeviceGraph.upload(graph, device), sources.tolist(), distances, depth_limit=limit, balance=balance
        )
        expected = np.array([reference(graph, [source], False) for source in sources.tolist()])
        expected[expected > (np.inf if limit is None else limit)] = -1
        np.testing.assert_array_equal(distances.download().reshape(expected.shape), expected)


def test_many_searches_of_one_call(device_options):
    """Several batches of searches, one of them not full; on a path each node has its own frontier."""
    count = 2 * AT_ONCE + 9
    path = CsrGraph.from_edges(np.arange(count - 1), np.arange(1, count))
    steps = np.arange(count) - np.arange(count)[:, None]
    np.testing.assert_array_equal(distance_matrix(path, **device_options), np.where(steps < 0, -1, steps))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_all_pairs_agree_with_scipy(weighted, threads):
    csgraph, sparse = pytest.importorskip("scipy.sparse.csgraph"), pytest.importorskip("scipy.sparse")
    random = np.random.default_rng(7)
    ends = np.unique(random.integers(0, 60, (2, 150)), axis=1)
    weights = random.integers(1, 30, ends.shape[1])
    graph = CsrGraph.from_edges(*ends, weights, 60)
    matrix = sparse.csr_array((weights, ends), shape=(60, 60))
    expected = csgraph.shortest_path(matrix, method="D", unweighted=not weighted)
    found = distance_matrix(graph, weighted=weighted, device="cpu", threads=threads)
    np.testing.assert_array_equal(np.where(found < 0, np.inf, found), expected)


def test_batches_of_nothing():
    nothing = np.empty(0, np.int64)
    assert distance_matrix(CsrGraph.from_edges(nothing, nothing, None, 0), device="cpu").shape == (0, 0)
    lonely = CsrGraph.from_edges(nothing, nothing, nothing, 2)
    assert distance_matrix(lonely, device="cpu").tolist() == [[0, -1], [-1, 0]]
    assert distance_matrix(lonely, 1, weighted=True, device="cpu").tolist() == [[-1, 0]]


def test_invalid_batches_are_refused():
    graph = CsrGraph.from_edges([0, 1], [1, 2], None, 3)
    with pytest.raises(GraphError, match="no weights"):
        distance_matrix(graph, weighted=True, device="cpu")
    with pytest.raises(OptionError, match="limit = -1: it must be at least 0"):
        distance_matrix(graph, limit=-1, device="cpu")
    with pytest.raises(GraphError, match="node 3"):
        distance_matrix(graph, [0, 3], device="cpu")
    with pytest.raises(OptionError, match="already"):
        distance_matrix(upload(graph, "cpu"), device="cpu")
    many = CsrGraph.from_edges([0], [1], None, 10_000_000)
    with pytest.raises(OutOfMemoryError, match="the distances of 10,000,000 nodes from 10,000,000 sources"):
        distance_matrix(many, device="cpu")
