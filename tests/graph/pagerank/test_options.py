"""Options, errors, edge cases and results of PageRank."""

from __future__ import annotations

import copy
import logging
import pickle

import numpy as np
import pytest

from static_graph import CsrGraph, PageRank, pagerank, upload
from static_graph.errors import GraphError, OptionError, WrongTypeError
from static_graph.link_analysis.table import METHODS

TRIANGLE = CsrGraph.from_edges([0, 1, 2], [1, 2, 0])
NOTHING = np.empty(0, np.int64)

FAULTS = [
    ({"alpha": 1.5}, "alpha = 1.5: it must be from 0 to 1"),
    ({"alpha": -0.1}, "alpha = -0.1: it must be from 0 to 1"),
    ({"alpha": float("nan")}, "alpha = nan: it must be from 0 to 1"),
    ({"tol": 0}, "tol = 0.0: it must be above 0, and finite"),
    ({"tol": float("nan")}, "tol = nan: it must be above 0, and finite"),
    ({"tol": 1e-6, "iterations": 3}, "tol and iterations exclude each other: iterations is an exact number"),
    ({"max_iter": -1}, "max_iter = -1: it must be from 0 to 2^31 - 1"),
    ({"iterations": -1}, "iterations = -1: it must be from 0 to 2^31 - 1"),
    ({"personalization": [1, -2, 3]}, "personalization[1] = -2.0: it must be at least 0, and finite"),
    ({"nstart": [1, 2, float("nan")]}, "nstart[2] = nan: it must be at least 0, and finite"),
    ({"dangling": [0, 0, 0]}, "dangling has only zeros: at least one number must be above 0"),
    ({"nstart": [1, 2]}, "nstart must be one number for each of the 3 nodes, not of shape (2,)"),
    (
        {"rule": "report", "personalization": [1, 1, 1]},
        "personalization is not an option of rule = 'report', but of 'brin-page'",
    ),
    ({"rule": "report", "dangling": [1, 1, 1]}, "dangling is not an option of rule = 'report', but of 'brin-page'"),
    ({"rule": "report", "weighted": False}, "weighted is not an option of rule = 'report', but of 'brin-page'"),
    ({"rule": "google"}, "rule must be one of brin-page, report, not 'google'"),
    ({"precision": "float16"}, "precision must be one of fixed, float32, not 'float16'"),
]


@pytest.mark.parametrize(("options", "sentence"), FAULTS, ids=[str(list(options)) for options, _ in FAULTS])
def test_faulty_options_are_named(options, sentence):
    with pytest.raises(OptionError) as caught:
        pagerank(TRIANGLE, **options)
    assert str(caught.value) == sentence


def test_other_faults_are_named():
    with pytest.raises(GraphError, match="the graph has no weights"):
        pagerank(TRIANGLE, weighted=True)
    with pytest.raises(OptionError, match="method must be one of auto, "):
        pagerank(TRIANGLE, method="guess")
    with pytest.raises(OptionError, match="balance is not an option of method = 'sequential', but of "):
        pagerank(TRIANGLE, method="sequential", balance="warp")
    with pytest.raises(OptionError, match="balance must be one of auto, baseline, "):
        pagerank(TRIANGLE, balance="split")
    for options in ({"alpha": "much"}, {"personalization": "abc"}, {"iterations": 2.5}, {"weighted": "yes"}):
        with pytest.raises(WrongTypeError, match=next(iter(options))):
            pagerank(TRIANGLE, **options)
    with pytest.raises(WrongTypeError, match="graph is a list"):
        pagerank([[1], [2]])
    with pytest.raises(OptionError, match="the graph is on cpu"):
        pagerank(upload(TRIANGLE, "cpu", 1), device="cpu")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rule", ["brin-page", "report"])
def test_special_graphs(method, rule, device_options):
    def scores(sources, targets, nodes, **options):
        graph = CsrGraph.from_edges(sources, targets, nodes=nodes)
        found = pagerank(graph, method=method, rule=rule, tol=1e-12, max_iter=500, **device_options, **options)
        assert found.converged
        return found.scores

    empty = pagerank(CsrGraph.from_edges(NOTHING, NOTHING, nodes=0), method=method, rule=rule, **device_options)
    assert empty.scores.shape == (0,) and empty.converged and empty.iterations == 0 and empty.top(5).size == 0
    assert scores(NOTHING, NOTHING, 1).tolist() == [1]
    np.testing.assert_allclose(scores(NOTHING, NOTHING, 300), 1 / 300, rtol=1e-12)  # all are dangling
    np.testing.assert_allclose(scores(range(7), range(7), 7), 1 / 7, rtol=1e-12)  # only self loops
    np.testing.assert_allclose(scores([0, 1, 2], [1, 2, 0], 3), 1 / 3, rtol=1e-12)
    found = pagerank(
        CsrGraph.from_edges([0, 1], [1, 0], [0, 0]), method=method, weighted=True, dangling=[0, 1], **device_options
    )  # no edge has weight
    np.testing.assert_allclose(found.scores, [0.075, 0.925])


def test_huge_and_tiny_weights():
    for weights in ([1e308, 1e308, 1e308, 1e308], [5e-324, 5e-324, 5e-324, 5e-324], [2**62, 2**62, 2**62, 2**62]):
        graph = CsrGraph.from_edges([0, 0, 0, 1], [1, 2, 1, 0], weights, 3)
        plain = CsrGraph.from_edges([0, 0, 0, 1], [1, 2, 1, 0], nodes=3)
        found = pagerank(graph, iterations=9, device="cpu").scores
        np.testing.assert_allclose(found, pagerank(plain, iterations=9, device="cpu").scores, rtol=1e-14)


def test_weights_of_different_nodes_differ_by_any_factor():
    """The huge weights of one node do not make another one, with tiny weights, dangling."""
    for huge in (1e300, 1.7e308):  # the sum of two is finite, and infinite
        weights = [huge, huge / 2, huge / 2, 1.0, 5e-324, 15e-324]
        graph = CsrGraph.from_edges([0, 0, 0, 1, 2, 2], [1, 2, 2, 0, 0, 1], weights, 3)
        like = CsrGraph.from_edges([0, 0, 0, 1, 2, 2], [1, 2, 2, 0, 0, 1], [2, 1, 1, 1, 1, 3], 3)
        expected = pagerank(like, iterations=9, device="cpu").scores
        for method in ("pull", "push"):
            found = pagerank(graph, iterations=9, method=method, device="cpu").scores
            assert np.array_equal(found, expected)


def test_vectors_count_up_to_a_factor():
    graph = CsrGraph.from_edges([0, 1, 1], [1, 0, 2])
    expected = pagerank(graph, personalization=[1, 2, 1], nstart=[4, 0, 4], iterations=5)
    found = pagerank(graph, personalization=[2e307, 4e307, 2e307], nstart=[1e-300, 0, 1e-300], iterations=5)
    assert np.array_equal(found.scores, expected.scores)
    even = pagerank(graph, personalization=np.ones(3), dangling=[7, 7, 7], nstart=[2, 2, 2])
    assert np.array_equal(even.scores, pagerank(graph).scores)


def test_iterations_that_do_not_converge(caplog):
    with caplog.at_level(logging.WARNING, "static_graph"):
        graph = CsrGraph.from_edges([0, 1], [1, 2])
        found = pagerank(graph, max_iter=3)
        assert not found.converged and found.iterations == 3 and found.error > 1e-6
        start = pagerank(graph, max_iter=0, nstart=[1, 0, 0])
        assert not start.converged and start.iterations == 0 and start.error == float("inf")
        assert start.scores.tolist() == [1, 0, 0]
        exactly = pagerank(graph, iterations=3)
        assert not exactly.converged and np.array_equal(exactly.scores, found.scores)
    assert [record.getMessage() for record in caplog.records] == [
        f"PageRank did not converge to a change below 1e-06 in 3 iterations: the last one changed the scores by "
        f"{found.error:.3g}",
        "PageRank did not converge to a change below 1e-06 in 0 iterations",
    ]


def test_any_finite_tolerance():
    graph = CsrGraph.from_edges([0, 1], [1, 2])
    for tol in (4, 1e290, 1.7e308):
        found = pagerank(graph, tol=tol, device="cpu")
        assert found.converged and found.iterations == 1
    assert not pagerank(graph, tol=5e-324, max_iter=2, device="cpu").converged


def test_iterations_that_end_early_have_converged():
    """Also if the last change is below the tolerance by less than the rounding of `error`."""
    random = np.random.default_rng(0)
    ended = 0
    for start in range(20):
        graph = CsrGraph.from_edges(random.integers(0, 50, 200), random.integers(0, 50, 200), nodes=50)
        first = np.arange(50) == start
        error = pagerank(graph, nstart=first, iterations=1, device="cpu").error
        found = pagerank(graph, nstart=first, tol=error, device="cpu")
        assert found.converged
        ended += found.iterations == 1
    assert 0 < ended < 20


def test_iterations_are_exact():
    assert pagerank(TRIANGLE, iterations=7).iterations == 7  # it converged after the first one
    assert pagerank(TRIANGLE).iterations == 1


def test_top_breaks_ties_by_node():
    found = pagerank(CsrGraph.from_edges([0, 1, 2, 3], [4, 4, 5, 5], nodes=6))
    assert found.top(3).tolist() == [4, 5, 0] and found.top(10).tolist() == [4, 5, 0, 1, 2, 3]
    with pytest.raises(WrongTypeError, match="k must be"):
        found.top(-1)


def test_results_are_frozen_and_checked():
    found = pagerank(TRIANGLE, device="cpu")
    for twin in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert np.array_equal(twin.scores, found.scores) and twin.iterations == found.iterations
        with pytest.raises(ValueError, match="read-only"):
            twin.scores[0] = 1
    fields = {name: getattr(found, name) for name in PageRank.__dataclass_fields__}
    for change in ({"scores": [[1.0]]}, {"iterations": -1}, {"converged": "no"}, {"method": 3}, {"error": "small"}):
        with pytest.raises((GraphError, WrongTypeError)):
            PageRank(**fields | change)
