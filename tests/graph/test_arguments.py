"""Errors of static_graph's public functions for arguments of the wrong type."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import static_graph as sg
from static_graph.errors import WrongTypeError

GRAPH = sg.CsrGraph.from_edges([0], [1], [3])
CPU = {"device": "cpu", "threads": 1}


# Calls by the argument that is wrong; the message begins with its name.
WRONG_TYPES = {
    "graph": [
        lambda: sg.bfs([[1, 2]], 0),
        lambda: sg.bfs(Path("g.txt"), 0),
        lambda: sg.bfs(None, 0),
        lambda: sg.write("x.npz", 5),
        lambda: sg.upload(5),
        lambda: sg.automatic_mda(5),
        lambda: sg.plot_degrees(5, "a.png"),
        lambda: sg.with_random_weights("a.txt"),
        lambda: sg.CsrGraph.from_networkx(5),
    ],
    "path": [lambda: sg.write(5, GRAPH), lambda: sg.read(5)],
    "degrees": [lambda: sg.degree_statistics(GRAPH), lambda: sg.degree_distribution([0.5])],
    "label": [lambda: GRAPH.node_of(0.5)],
    "noise": [lambda: sg.generate_rmat(10, 20, noise="much")],
    "edges": [lambda: sg.generate_random(10, "20")],
    "seed": [lambda: sg.generate_random(10, 20, seed=0.5, **CPU)],
    "size": [lambda: sg.generate_list("random", 10.5)],
    "nodes": [
        lambda: sg.CsrGraph.from_edges([0], [1], nodes=2.5),
        lambda: sg.generate_rmat(10.5, 20),
        lambda: sg.generate_tree("path", "ten"),
        lambda: sg.euler_tour([[0, 1]], nodes=2.5),
    ],
}


@pytest.mark.parametrize(("name", "call"), [(name, call) for name, calls in WRONG_TYPES.items() for call in calls])
def test_arguments_of_wrong_type_are_refused(name, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WrongTypeError, match=f"^{name}\\b") as raised:
        call()
    assert raised.value.exit_code == 2
    assert not list(tmp_path.iterdir())


def test_the_error_for_another_object_names_the_function_that_converts_it(tmp_path):
    scipy, networkx = pytest.importorskip("scipy.sparse"), pytest.importorskip("networkx")
    for wrong, remedy in (
        ("graph.npz", "static_graph.read"),
        (scipy.csr_array((2, 2)), "from_scipy"),
        (networkx.Graph(), "from_networkx"),
        (sg.upload(GRAPH, "cpu", 1), "`host`"),
    ):
        with pytest.raises(WrongTypeError, match=f"^graph is .*{remedy}"):
            sg.write(tmp_path / "x.npz", wrong)
    with pytest.raises(WrongTypeError, match="out_degrees"):
        sg.degree_histogram(GRAPH)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("offsets", lambda: sg.CsrGraph([[0], [1, 2]], [])),
        ("weights", lambda: sg.CsrGraph.from_edges([0, 0], [1, 1], weights=[[1], [1, 2]])),
        ("degrees", lambda: sg.degree_statistics([[1], [1, 2]])),
        ("node 1", lambda: sg.degree_distribution([3, -1])),
        ("probabilities", lambda: sg.generate_rmat(10, 20, probabilities=(0.5, 0.5))),
        ("probabilities", lambda: sg.generate_rmat(10, 20, probabilities=0.5)),
    ],
)
def test_values_that_are_no_array_are_refused(name, call):
    with pytest.raises(sg.DmrError, match=name):
        call()


def test_the_error_for_missing_weights_names_the_remedy():
    said = r"give it some \(with_random_weights draws them\), or search by bfs"
    with pytest.raises(sg.GraphError, match=said):
        sg.sssp(sg.CsrGraph.from_edges([0], [1]), 0, **CPU)


def test_degrees_as_a_list():
    assert sg.degree_statistics([3, 0, 3]).maximum == 3
    assert sg.degree_distribution([]).tolist() == []
    assert sg.degree_histogram(np.array([1, 2], np.uint8)).sum() == 2
