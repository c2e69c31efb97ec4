"""The graph of strong components, against networkx."""

from __future__ import annotations

from functools import cache

import networkx
import numpy as np
import pytest

from static_graph import CsrGraph, condensation, upload
from static_graph.components.condensation import levels_above_sinks
from static_graph.errors import GraphError, OptionError
from tests.support.graphs.components import deep_graphs, graphs


def as_networkx(graph):
    """The same graph in networkx, with all of its nodes."""
    theirs = networkx.DiGraph()
    theirs.add_nodes_from(range(graph.nodes))
    theirs.add_edges_from(np.column_stack([graph.sources(), graph.targets]).tolist())
    return theirs


@cache
def by_networkx(number):
    """The smallest nodes of a graph's components, and the edges between components by their smallest nodes."""
    theirs = networkx.condensation(as_networkx(graphs()[number][1]))
    least = {node: min(members) for node, members in theirs.nodes(data="members")}
    return sorted(least.values()), sorted([least[source], least[target]] for source, target in theirs.edges)


@pytest.mark.slow
def test_condensation_agrees_with_networkx(device_options):
    for number, (name, graph) in enumerate(graphs()):
        least, expected = by_networkx(number)
        for given in (graph, upload(graph, **device_options)):
            contracted, components = condensation(given, **(device_options if given is graph else {}))
            labels = components.component_labels
            assert labels.tolist() == least and contracted.nodes == components.count, name
            ends = np.column_stack([labels[contracted.sources()], labels[contracted.targets]])
            assert ends.tolist() == expected, name  # sorted by source and target, each once


@pytest.mark.slow
def test_levels_give_a_reverse_topological_order():
    for name, graph in graphs():
        acyclic, _ = condensation(graph, device="cpu")
        theirs, expected = as_networkx(acyclic), np.zeros(acyclic.nodes, np.int32)
        for node in reversed(list(networkx.topological_sort(theirs))):
            expected[node] = max((expected[target] + 1 for target in theirs[node]), default=0)
        np.testing.assert_array_equal(levels_above_sinks(acyclic), expected, name)
    (path,) = (graph for name, graph in deep_graphs(100_000) if name == "path")
    np.testing.assert_array_equal(levels_above_sinks(path), np.arange(100_000)[::-1])
    with pytest.raises(GraphError, match="the graph has a cycle"):
        levels_above_sinks(CsrGraph.from_edges([0, 1], [1, 0]))


def test_edges_of_condensations():
    empty, components = condensation(CsrGraph([0], []))
    assert (empty.nodes, empty.edges, components.count) == (0, 0, 0)
    loops, _ = condensation(CsrGraph.from_edges([0, 1, 1], [0, 1, 1], nodes=3), device="cpu")
    assert (loops.nodes, loops.edges) == (3, 0)
    with pytest.raises(OptionError, match="leave device and threads out"):
        condensation(upload(CsrGraph([0, 0], []), "cpu"), threads=1)
