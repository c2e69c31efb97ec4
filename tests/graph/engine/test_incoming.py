"""The transposed graph on its device."""

from __future__ import annotations

import numpy as np
import pytest

from dmr.memory import open_device
from static_graph.errors import GraphError
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.incoming import incoming
from tests.support.graphs.traversed import random_graph


def edges(graph: DeviceGraph) -> list[tuple[int, int, float]]:
    """The edges as (node, target, weight), in order."""
    offsets, targets = graph.offsets.download(), graph.targets.download()
    weights = np.zeros(graph.edges) if graph.weights is None else graph.weights.download()
    nodes = np.repeat(np.arange(graph.nodes), np.diff(offsets))
    return list(zip(nodes.tolist(), targets.tolist(), weights.tolist(), strict=True))


@pytest.mark.parametrize("weighted", [False, True])
def test_edges_are_ordered_by_source_and_keep_their_weights(weighted, device):
    """Parallel edges keep their order, which a stable sort shows."""
    for seed in range(24):
        host = random_graph(seed)
        if weighted and host.weights is None:
            continue
        graph = DeviceGraph.upload(host, device)
        back = incoming(graph, weighted)
        weights = host.weights.tolist() if weighted else [0.0] * host.edges
        forward = zip(host.targets.tolist(), host.sources().tolist(), weights, strict=True)
        assert edges(back) == sorted(forward, key=lambda edge: edge[0]), seed
        assert (back.weights is None) != weighted and back.largest_weight == (graph.largest_weight if weighted else 1)


def test_it_is_made_once_and_arrays_are_shared():
    graph = DeviceGraph.upload(CsrGraph.from_edges([0, 2, 0], [1, 1, 0], [5, 6, 7]), open_device("cpu", 1))
    weighted = incoming(graph, weighted=True)
    assert weighted.weights.download().tolist() == [7, 5, 6]
    assert incoming(graph, weighted=True) is weighted and incoming(graph) is incoming(graph)
    assert weighted.targets is incoming(graph).targets


def test_missing_weights_are_refused():
    graph = DeviceGraph.upload(CsrGraph.from_edges([0], [1]), open_device("cpu", 1))
    with pytest.raises(GraphError, match="no weights"):
        incoming(graph, weighted=True)
