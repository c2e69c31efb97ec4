"""Errors of static_graph's public functions for arguments of the wrong type."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import static_graph as sg
from static_graph.errors import WrongTypeError

GRAPH = sg.CsrGraph.from_edges([0], [1], [3])
CPU = {"device": "cpu", "threads": 1}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: sg.bfs([[1, 2]], 0), "graph is a list"),
        (lambda: sg.sssp("graph.npz", 0), "graph is a path, 'graph.npz', and .*: static_graph.read it first"),
        (lambda: sg.bfs(Path("g.txt"), 0), "graph is a path, 'g.txt'"),
        (
            lambda: sg.bfs(pytest.importorskip("scipy.sparse").csr_array((2, 2)), 0),
            "a csr_array, .*from_scipy",
        ),
        (
            lambda: sg.bfs(pytest.importorskip("networkx").Graph(), 0),
            "graph is a Graph, .*from_networkx",
        ),
        (lambda: sg.bfs(None, 0), "graph is None"),
        (lambda: sg.write("x.npz", 5), "graph is an int"),
        (lambda: sg.write("x.npz", sg.upload(GRAPH, "cpu", 1)), "a DeviceGraph, .*`host`"),
        (lambda: sg.write(5, GRAPH), "path must be the name of a file, not an int"),
        (lambda: sg.read(5), "path must be the name of a file, not an int"),
        (lambda: sg.upload(5), "graph is an int"),
        (lambda: sg.automatic_mda(5), "graph is an int"),
        (lambda: sg.plot_degrees(5, "a.png"), "graph is an int"),
        (lambda: sg.with_random_weights("a.txt"), "graph is a path"),
        (lambda: sg.degree_statistics(GRAPH), "graph.out_degrees"),
        (lambda: sg.degree_histogram(GRAPH), "degrees "),
        (lambda: sg.degree_distribution([0.5]), "degrees .*float64"),
        (lambda: sg.CsrGraph.from_networkx(5), "graph .*networkx.* not int"),
        (lambda: sg.CsrGraph.from_edges([0], [1], nodes=2.5), "nodes must be .*, not 2.5"),
        (lambda: GRAPH.node_of(0.5), "label must be .*, not 0.5"),
        (lambda: sg.generate_rmat(10.5, 20), "nodes must be .*, not 10.5"),
        (lambda: sg.generate_rmat(10, 20, noise="much"), "noise must be .*, not 'much'"),
        (lambda: sg.generate_random(10, "20"), "edges must be .*, not '20'"),
        (lambda: sg.generate_random(10, 20, seed=0.5, **CPU), "seed must be .*, not 0.5"),
        (lambda: sg.generate_list("random", 10.5), "size must be .*, not 10.5"),
        (lambda: sg.generate_tree("path", "ten"), "nodes must be .*, not 'ten'"),
        (lambda: sg.euler_tour([[0, 1]], nodes=2.5), "nodes must be .*, not 2.5"),
    ],
)
def test_arguments_of_wrong_type_are_refused(call, said, tmp_path, monkeypatch):
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
def test_values_that_are_no_array_are_refused(call, said):
    with pytest.raises(sg.DmrError, match=said):
        call()


def test_the_error_for_missing_weights_names_the_remedy():
    said = r"give it some \(with_random_weights draws them\), or search by bfs"
    with pytest.raises(sg.GraphError, match=said):
        sg.sssp(sg.CsrGraph.from_edges([0], [1]), 0, **CPU)


def test_degrees_as_a_list():
    assert sg.degree_statistics([3, 0, 3]).maximum == 3
    assert sg.degree_distribution([]).tolist() == []
    assert sg.degree_histogram(np.array([1, 2], np.uint8)).sum() == 2
