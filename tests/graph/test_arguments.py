"""What the public functions of static_graph say of the first mistakes: what they got, and what they need."""

from __future__ import annotations

from pathlib import Path

import networkx
import numpy as np
import pytest
import scipy.sparse

import static_graph as sg
from static_graph.errors import WrongTypeError

GRAPH = sg.CsrGraph.from_edges([0], [1], [3])
CPU = {"device": "cpu", "threads": 1}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: sg.bfs([[1, 2]], 0), "graph is a list, and it must be a CsrGraph or a DeviceGraph: CsrGraph.from_e"),
        (lambda: sg.sssp("graph.npz", 0), "graph is a path, 'graph.npz', and .*: static_graph.read it first"),
        (lambda: sg.bfs(Path("g.txt"), 0), "graph is a path, 'g.txt', and .*: static_graph.read it first"),
        (lambda: sg.bfs(scipy.sparse.csr_array((2, 2)), 0), "a csr_array, .*: CsrGraph.from_scipy makes one of it"),
        (lambda: sg.bfs(networkx.Graph(), 0), "graph is a Graph, .*: CsrGraph.from_networkx makes one of it"),
        (lambda: sg.bfs(None, 0), "graph is None, and it must be"),
        (lambda: sg.write("x.npz", 5), "graph is an int, and it must be a CsrGraph: "),
        (lambda: sg.write("x.npz", sg.upload(GRAPH, "cpu", 1)), "a DeviceGraph, .* a CsrGraph: its `host` is one"),
        (lambda: sg.write(5, GRAPH), "path must be the name of a file, not an int"),
        (lambda: sg.read(5), "path must be the name of a file, not an int"),
        (lambda: sg.upload(5), "graph is an int"),
        (lambda: sg.automatic_mda(5), "graph is an int"),
        (lambda: sg.plot_degrees(5, "a.png"), "graph is an int"),
        (lambda: sg.with_random_weights("a.txt"), "graph is a path"),
        (lambda: sg.degree_statistics(GRAPH), "degrees are numbers, not a graph: give graph.out_degrees"),
        (lambda: sg.degree_histogram(GRAPH), "degrees are numbers, not a graph"),
        (lambda: sg.degree_distribution([0.5]), "degrees are one whole number a node, not float64 of shape"),
        (lambda: sg.CsrGraph.from_networkx(5), "graph must be a graph of networkx's, not int"),
        (lambda: sg.CsrGraph.from_edges([0], [1], nodes=2.5), "nodes must be a whole number, not 2.5"),
        (lambda: GRAPH.node_of(0.5), "label must be a whole number, not 0.5"),
        (lambda: sg.generate_rmat(10.5, 20), "nodes must be a whole number, not 10.5"),
        (lambda: sg.generate_rmat(10, 20, noise="much"), "noise must be a number, not 'much'"),
        (lambda: sg.generate_random(10, "20"), "edges must be a whole number, not '20'"),
        (lambda: sg.generate_random(10, 20, seed=0.5, **CPU), "seed must be a whole number, not 0.5"),
        (lambda: sg.generate_list("random", 10.5), "size must be a whole number, not 10.5"),
        (lambda: sg.generate_tree("path", "ten"), "nodes must be a whole number, not 'ten'"),
        (lambda: sg.euler_tour([[0, 1]], nodes=2.5), "nodes must be a whole number, not 2.5"),
    ],
)
def test_what_is_of_another_kind_is_a_type_error_of_ours(call, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sg.DmrError, match=said) as raised:
        call()
    assert isinstance(raised.value, WrongTypeError) and isinstance(raised.value, TypeError)
    assert raised.value.exit_code == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: sg.CsrGraph([[0], [1, 2]], []), "offsets are no array"),
        (lambda: sg.CsrGraph.from_edges([0, 0], [1, 1], weights=[[1], [1, 2]]), "weights are no array"),
        (lambda: sg.degree_statistics([[1], [1, 2]]), "degrees are no array"),
        (lambda: sg.degree_distribution([3, -1]), "degrees are from 0, but that of node 1 is -1"),
        (lambda: sg.generate_rmat(10, 20, probabilities=(0.5, 0.5)), "they must be four numbers"),
        (lambda: sg.generate_rmat(10, 20, probabilities=0.5), "they must be four numbers"),
    ],
)
def test_what_cannot_be_an_array_or_a_tuple_is_said(call, said):
    with pytest.raises(sg.DmrError, match=said):
        call()


def test_what_has_no_weights_is_told_where_they_come_from():
    said = r"give it some \(with_random_weights draws them\), or search by bfs"
    with pytest.raises(sg.GraphError, match=said):
        sg.sssp(sg.CsrGraph.from_edges([0], [1]), 0, **CPU)


def test_degrees_may_be_a_list():
    assert sg.degree_statistics([3, 0, 3]).maximum == 3
    assert sg.degree_distribution([]).tolist() == []
    assert sg.degree_histogram(np.array([1, 2], np.uint8)).sum() == 2
