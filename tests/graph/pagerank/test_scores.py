"""PageRank against an exact model of its arithmetic, Fractions, networkx, scipy and numpy."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from dmr.memory import open_device
from static_graph import CsrGraph, generate_rmat, pagerank, upload
from static_graph.graph.csr import unchecked_graph
from static_graph.graph.device_graph import DeviceGraph
from static_graph.link_analysis.table import METHODS as ALL
from tests.support.graphs.ranked import METHODS, SCORE, exact_scores, fixed_point_scores, units
from tests.support.graphs.traversed import random_graph


def with_whole_weights(graph: CsrGraph) -> CsrGraph:
    """The same graph with small weights, some of them 0: sums of them are exact, and some nodes are dangling."""
    weights = np.random.default_rng(graph.edges).choice([0, 0, 1, 2, 5], graph.edges)
    return CsrGraph(graph.offsets, graph.targets, weights)


SPARSE = {name: method for name, method in ALL.items() if not method.matrices}


@cache
def case(seed: int) -> tuple[CsrGraph, int, dict[str, Any], tuple[list[int], int]]:
    """A graph, a number of iterations, options, and the scores with the last change."""
    graph, random = random_graph(seed), np.random.default_rng(seed)
    options = {"alpha": float(random.choice([0, 0.15, 0.85, 1])), "precision": ("fixed", "float32")[seed % 2]}
    if seed % 3 == 0:
        options["rule"] = "report"
    else:
        graph = with_whole_weights(graph)
        options["weighted"] = seed % 3 == 1
        for number, name in enumerate(("personalization", "nstart", "dangling")):
            if seed >> number & 1:
                options[name] = random.integers(0, 9, graph.nodes) + (np.arange(graph.nodes) == 0)
    iterations = 1 + seed % 5
    expected, changes = fixed_point_scores(graph, iterations, **options)
    return graph, iterations, options, (expected, changes[-1])


@pytest.mark.parametrize("method", METHODS)
def test_all_bits_are_as_documented(method, device):
    for seed in range(24):
        graph, iterations, options, expected = case(seed)
        assert units(method, graph, device, iterations, **options) == expected, seed


@cache
def long_rows() -> tuple[CsrGraph, CsrGraph, list[tuple[list[int], int]]]:
    """A graph with long rows, the same with 64-bit offsets, and the scores without weights and with them."""
    random = np.random.default_rng(3)
    nodes, edges = 4500, 20_000  # more than one tile
    ends = random.integers(0, nodes, (2, edges))
    ends[1, :9000] = 7
    ends[1, 9000:11_000] = nodes - 1
    ends[1, 11_000:12_025] = 2500
    ends[0, :3000] = 11
    graph = CsrGraph.from_edges(*ends, random.integers(0, 4, edges), nodes)
    wide = unchecked_graph(graph.offsets.astype(np.int64), graph.targets, graph.weights)
    expected = [fixed_point_scores(graph, 2, weighted=weighted) for weighted in (False, True)]
    return graph, wide, [(scores, changes[-1]) for scores, changes in expected]


@pytest.mark.parametrize("method", METHODS)
def test_long_rows_and_64_bit_offsets(method, device):
    graph, wide, expected = long_rows()
    for weighted in (False, True):
        for given_graph in (graph, wide):
            assert units(method, given_graph, device, 2, weighted=weighted) == expected[weighted]


@pytest.mark.parametrize("seed", range(6))
def test_the_documented_bound_holds(seed):
    graph, iterations = random_graph(seed), 30
    for alpha in (0.85, 0.5, 0.99):
        found = pagerank(graph, alpha=alpha, iterations=iterations, weighted=False, device="cpu")
        exact = exact_scores(graph, iterations, alpha)
        error = sum(abs(Fraction(score) - each) for score, each in zip(found.scores.tolist(), exact, strict=True))
        per_iteration = Fraction(
            alpha * (graph.edges / 2 + int(graph.out_degrees.max()) / 4) + 2 * graph.nodes
        ) / SCORE + Fraction(1, 2**51)
        assert error <= per_iteration / (1 - Fraction(alpha)) + Fraction(1, 2**52)


def in_networkx(graph: CsrGraph) -> networkx.MultiDiGraph:
    found = networkx.MultiDiGraph()
    found.add_nodes_from(range(graph.nodes))
    weights = np.ones(graph.edges) if graph.weights is None else graph.weights
    found.add_weighted_edges_from(zip(graph.sources().tolist(), graph.targets.tolist(), weights.tolist(), strict=True))
    return found


@pytest.mark.parametrize("weighted", [False, True])
def test_networkx_agrees(weighted, device):
    for seed in range(1, 19):
        graph, random = random_graph(seed), np.random.default_rng(seed)
        if weighted and (graph.weights is None or not graph.edges):
            continue
        vectors = {name: random.random(graph.nodes) for name in ("personalization", "nstart", "dangling")}
        found = pagerank(DeviceGraph.upload(graph, device), tol=1e-12, max_iter=1000, weighted=weighted, **vectors)
        expected = networkx.pagerank(
            in_networkx(graph),
            tol=1e-13 / graph.nodes,
            max_iter=1000,
            weight="weight" if weighted else None,
            **{name: dict(enumerate(vector)) for name, vector in vectors.items()},
        )
        assert found.converged and found.error < 1e-12
        assert np.abs(found.scores - [expected[v] for v in range(graph.nodes)]).sum() <= 1e-10
        assert abs(found.scores.sum() - 1) <= 1e-12


def power_iteration(graph: CsrGraph, alpha: float, tol: float) -> np.ndarray:
    """Scores in float64."""
    nodes, degrees = graph.nodes, graph.out_degrees
    shares = csr_array((1 / np.repeat(degrees, degrees), graph.targets, graph.offsets), shape=(nodes, nodes)).T.tocsr()
    scores, change = np.full(nodes, 1 / nodes), 1.0
    while change >= tol:
        old, loose = scores, scores[degrees == 0].sum()
        scores = alpha * (shares @ scores + loose / nodes) + (1 - alpha) / nodes
        change = np.abs(scores - old).sum()
    return scores


@pytest.fixture(scope="module")
def rmat():
    return generate_rmat(30_000, 300_000, preset="graph500", device="cpu")


@pytest.mark.parametrize(("precision", "tol", "bound"), [("fixed", 1e-12, 1e-10), ("float32", 1e-7, 1e-6)])
def test_scipy_agrees(rmat, device, precision, tol, bound):
    found = pagerank(DeviceGraph.upload(rmat, device), tol=tol, max_iter=500, precision=precision)
    assert found.converged
    assert np.abs(found.scores - power_iteration(rmat, 0.85, 1e-13)).sum() <= bound


def test_numpys_eigenvector_agrees(device):
    graph = random_graph(15)
    matrix = np.full((graph.nodes, graph.nodes), 0.15 / graph.nodes)
    np.add.at(matrix, (graph.targets, graph.sources()), 0.85 / graph.out_degrees[graph.sources()])
    matrix[:, graph.out_degrees == 0] = 1 / graph.nodes
    values, vectors = np.linalg.eig(matrix)
    largest = vectors[:, np.argmax(values.real)].real
    found = pagerank(DeviceGraph.upload(graph, device), tol=1e-12, max_iter=500, weighted=False)
    assert np.abs(found.scores - largest / largest.sum()).sum() <= 1e-10


@given(data=st.data())
@settings(max_examples=25)
def test_methods_give_the_same_bits(data):
    nodes = data.draw(st.integers(1, 12))
    node = st.integers(0, nodes - 1)
    ends = np.array(data.draw(st.lists(st.tuples(node, node), max_size=40)), np.int64).reshape(-1, 2)
    weights = data.draw(st.lists(st.floats(0, 1e300), min_size=len(ends), max_size=len(ends)))
    graph = CsrGraph.from_edges(ends[:, 0], ends[:, 1], np.array(weights, np.float64), nodes)
    vector = st.lists(st.floats(0, 1e308), min_size=nodes, max_size=nodes).filter(any)
    options = {name: data.draw(st.none() | vector) for name in ("personalization", "nstart", "dangling")}
    options |= {
        "alpha": data.draw(st.floats(0, 1)),
        "precision": data.draw(st.sampled_from(["fixed", "float32"])),
        "weighted": data.draw(st.booleans()),
    }
    iterations = data.draw(st.integers(0, 7))
    found = [
        units(method, graph, open_device("cpu", threads), max(iterations, 1), **options)
        for method in METHODS
        for threads in (1, 3)
    ]
    assert all(each == found[0] for each in found)
    assert abs(sum(found[0][0]) / SCORE - 1) < (1e-14 if options["precision"] == "fixed" else 1e-6)


def test_devices_and_threads_give_the_same_bits(rmat, device):
    reference = pagerank(upload(rmat, "cpu", 1), tol=1e-9)
    there = DeviceGraph.upload(rmat, device)
    for method, balance in (
        *((name, "auto") for name in SPARSE),
        *(("pull", each) for each in SPARSE["pull"].balances),
    ):
        found = pagerank(there, tol=1e-9, method=method, balance=balance)
        assert (found.method, found.balance) == (method, balance)
        assert np.array_equal(found.scores, reference.scores)
        assert (found.iterations, found.error) == (reference.iterations, reference.error)
