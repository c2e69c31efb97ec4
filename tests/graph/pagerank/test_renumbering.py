"""Graphs whose nodes are numbered by out-degree."""

from __future__ import annotations

import numpy as np
import pytest

from dmr.memory import open_device
from static_graph import CsrGraph, pagerank, upload
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.renumbering import by_degree
from static_graph.link_analysis import ranking
from tests.support.graphs.traversed import random_graph


@pytest.mark.parametrize("seed", range(2, 8))
def test_edges_and_their_order_stay(seed, device):
    graph = random_graph(seed)
    weighted = graph.weights is not None
    back, order = by_degree(DeviceGraph.upload(graph, device), weighted=weighted)
    old = order.download()
    assert sorted(old.tolist()) == list(range(graph.nodes))
    classes = [int(degree).bit_length() for degree in graph.out_degrees]
    assert old.tolist() == sorted(range(graph.nodes), key=lambda v: -classes[v])  # a stable sort
    wanted: list[list[tuple[int, float]]] = [[] for _ in range(graph.nodes)]
    new = np.argsort(old)
    weights = graph.weights if weighted else np.ones(graph.edges)
    for k, v in enumerate(old):
        its = slice(graph.offsets[v], graph.offsets[v + 1])
        for target, weight in zip(new[graph.targets[its]], weights[its], strict=True):
            wanted[target].append((k, weight))
    offsets, sources = back.offsets.download(), back.targets.download()
    found = back.weights.download() if weighted else np.ones(graph.edges)
    assert offsets[-1] == graph.edges
    for k, edges in enumerate(wanted):
        mine = slice(offsets[k], offsets[k + 1])
        assert list(zip(sources[mine], found[mine], strict=True)) == edges


def test_scores_of_large_graphs_have_the_same_bits(monkeypatch):
    random = np.random.default_rng(7)
    ends = (3000 * random.random((2, 20_000)) ** 3).astype(np.int64)
    graph = CsrGraph.from_edges(*ends, random.random(20_000), 3000)
    vectors = {name: random.random(3000) for name in ("personalization", "nstart", "dangling")}
    for options in ({}, vectors, {"weighted": False}, {"rule": "report"}):
        for method in ("pull", "pull/collapse-local", "blocked"):
            name, _, balance = method.partition("/")
            found = []
            for least in (1 << 19, 3000):
                monkeypatch.setattr(ranking, "WORTH_RENUMBERING", least)
                uploaded = upload(graph, "cpu", 2)
                found.append(pagerank(uploaded, method=name, balance=balance or "auto", **options))
                assert uploaded.has_derived("by degree") == (least == 3000 and name == "pull")
                by_weight = options.get("weighted", "rule" not in options)
                assert uploaded.has_derived("weighted by degree") == (uploaded.has_derived("by degree") and by_weight)
            assert np.array_equal(found[0].scores, found[1].scores)
            assert (found[0].iterations, found[0].error) == (found[1].iterations, found[1].error)


def test_no_edges():
    graph = CsrGraph.from_edges([], [], nodes=3)
    back, order = by_degree(DeviceGraph.upload(graph, open_device("cpu", 1)), weighted=False)
    assert (back.nodes, back.edges, order.download().tolist()) == (3, 0, [0, 1, 2])
