"""The transition matrix, and PageRank by it."""

from __future__ import annotations

import numpy as np
import pytest

from static_graph import CsrGraph, distance_matrix, pagerank, transition_matrix
from static_graph.errors import GraphError, OptionError, OutOfMemoryError
from static_graph.graph.device_graph import DeviceGraph
from tests.support.graphs.ranked import DENSE, SCORE, exact_matrix, units
from tests.support.graphs.traversed import random_graph


def whole(seed: int) -> CsrGraph:
    graph = random_graph(seed)
    return CsrGraph(graph.offsets, graph.targets, np.random.default_rng(seed).choice([0, 0, 1, 2, 5], graph.edges))


def test_entries(device):
    for seed in range(12):
        graph, weighted = whole(seed), seed % 2 == 1
        dangling = 1.0 + np.arange(graph.nodes) if seed % 3 else None
        on_device = DeviceGraph.upload(graph, device)
        found = transition_matrix(on_device, weighted=weighted, dangling=dangling)
        np.testing.assert_allclose(found, exact_matrix(graph, weighted, dangling), rtol=0, atol=2**-50)
        np.testing.assert_allclose(found.sum(axis=0), 1, rtol=0, atol=2**-44)


def test_faults():
    graph = CsrGraph.from_edges([0], [1])
    assert transition_matrix(CsrGraph([0], [])).shape == (0, 0)
    with pytest.raises(GraphError, match="the graph has no weights"):
        transition_matrix(graph, weighted=True)
    with pytest.raises(OptionError, match="dangling"):
        transition_matrix(graph, dangling=[1, -1])
    large = CsrGraph.from_edges([0], [1], nodes=2_000_000)
    with pytest.raises(OutOfMemoryError, match="a transition matrix of 2,000,000 nodes needs 89,406"):
        transition_matrix(large, device="cpu")
    for method, gigabytes in (("dense", "29,802"), ("dense-sub-scores", "59,604")):
        with pytest.raises(OutOfMemoryError, match=f"PageRank by '{method}' of 2,000,000 nodes .* needs {gigabytes}"):
            pagerank(large, method=method, device="cpu")


@pytest.mark.parametrize("method", DENSE)
def test_scores_are_those_of_the_matrix(method, device):
    for seed in range(8):
        graph, weighted = whole(seed), seed % 2 == 1
        matrix = exact_matrix(graph, weighted)
        for rule in ("brin-page", "report"):
            if weighted and rule == "report":
                continue
            scores = np.full(graph.nodes, 1 / graph.nodes)
            for _ in range(4):
                if rule == "report":
                    scores = 0.85 * scores + 0.15 * (matrix @ scores)
                else:
                    scores = 0.85 * (matrix @ scores) + 0.15 / graph.nodes
            for precision, bound in (("fixed", 1e-14), ("float32", 1e-6)):
                found = units(method, graph, device, 4, weighted=weighted, rule=rule, precision=precision)[0]
                assert np.abs(np.array(found) / SCORE - scores).sum() < bound


def test_dense_methods_give_the_same_bits(device):
    """Dense methods agree with each other, and with the sparse ones if no edge is parallel and no node dangling."""
    nodes = 70
    ring = np.arange(nodes)
    graph = CsrGraph.from_edges(
        np.concatenate([ring, ring[:9]]), np.concatenate([(ring + 1) % nodes, (ring[:9] + 7) % nodes]), nodes=nodes
    )
    start = 1.0 + np.arange(nodes)
    expected = units("pull", graph, device, 5, nstart=start)
    for method in DENSE:
        assert units(method, graph, device, 5, nstart=start) == expected
    for seed in range(4):
        found = [units(method, random_graph(seed), device, 5) for method in DENSE]
        assert found[0] == found[1] == found[2]


@pytest.mark.gpu
def test_matrices_beyond_the_memory_of_a_gpu_are_refused_before_anything_is_allocated(gpu):
    large = CsrGraph.from_edges([0], [1], nodes=2_000_000)
    gpu.launches.clear()
    for call in (
        lambda: pagerank(large, method="dense", device="cuda"),
        lambda: distance_matrix(large, np.arange(200_000), device="cuda"),
    ):
        with pytest.raises(OutOfMemoryError, match="2,000,000 nodes"):
            call()
    assert not gpu.launches
