"""CsrGraph: construction, validation and conversions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dmr.common.text import counted, numbered
from static_graph import CsrGraph, GraphError
from static_graph.errors import WrongTypeError


def edges_of(graph):
    """The edges in order, as tuples (source, target, weight)."""
    weights = [None] * graph.edges if graph.weights is None else graph.weights.tolist()
    return list(zip(graph.sources().tolist(), graph.targets.tolist(), weights, strict=True))


@st.composite
def edge_lists(draw, most_nodes=40, most_edges=200):
    nodes = draw(st.integers(1, most_nodes))
    ends = st.integers(0, nodes - 1)
    kind = draw(st.sampled_from([None, st.integers(0, 2**40), st.floats(0, 1e300), st.integers(0, 9)]))
    edges = draw(st.lists(st.tuples(ends, ends, st.none() if kind is None else kind), max_size=most_edges))
    return nodes, edges, kind is not None


@given(edge_lists(), st.sampled_from([1, 3]))
def test_rows_keep_the_order_of_the_edges(case, threads):
    nodes, edges, weighted = case
    sources, targets, weights = ([edge[k] for edge in edges] for k in range(3))
    graph = CsrGraph.from_edges(sources, targets, weights if weighted else None, nodes, threads=threads)
    assert edges_of(graph) == sorted(edges, key=lambda edge: edge[0])
    assert (graph.nodes, graph.edges) == (nodes, len(edges))
    back = graph.reversed()
    assert edges_of(back) == sorted(((t, s, w) for s, t, w in edges_of(graph)), key=lambda edge: edge[0])
    assert back is graph.reversed()
    assert edges_of(graph.with_sorted_rows()) == sorted(edges_of(graph), key=lambda edge: edge[:2])
    both = edges_of(graph) + [(t, s, w) for s, t, w in edges_of(graph) if s != t]
    assert edges_of(graph.symmetrised()) == sorted(both, key=lambda edge: edge[0])
    counts = [sum(edge[0] == node for edge in edges) for node in range(nodes)]
    assert graph.out_degrees.tolist() == counts


def test_arrays_are_copied_and_read_only():
    offsets, targets, weights = np.array([0, 2, 2]), np.array([1, 0]), np.array([1.5, -0.0])
    graph = CsrGraph(offsets, targets, weights)
    offsets[:], targets[:], weights[:] = 0, 0, 7
    assert graph.offsets.tolist() == [0, 2, 2]
    assert graph.targets.tolist() == [1, 0]
    assert graph.weights.tolist() == [1.5, 0.0]
    assert not np.signbit(graph.weights).any()
    assert [a.dtype for a in (graph.offsets, graph.targets, graph.weights)] == [np.int32, np.int32, np.float64]
    for array in (graph.offsets, graph.targets, graph.weights, graph.out_degrees):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("weights", "kept"),
    [([1, 2**31 - 1], np.int32), ([1, 2**31], np.int64), ([1, 0.5], np.float64), (np.float32([1, 2]), np.float64)],
)
def test_weights_keep_their_type(weights, kept):
    graph = CsrGraph([0, 2], [0, 0], weights)
    assert graph.weights.dtype == kept
    assert graph.weights.tolist() == list(map(float if kept == np.float64 else int, weights))


# Arrays by the element that the error must name.
INVALID = {
    ("graph", None): [  # the arrays as a whole
        ([], []),
        ([1, 1], []),
        ([0, 2], [0]),
        ([0.0, 1.0], [0]),
        ([0, 1], [[0]]),
        ([0, 2], [0, 0], [1]),
        ([0, 1], [0], ["a"]),
        ([0, 1], [0], [1j]),
        ([0, 0, 0], [], None, [5, 5]),  # labels
        ([0, 0, 0], [], None, [5]),
    ],
    ("node", 0): [([0, 0], [], None, np.array([2**63], np.uint64))],
    ("node", 1): [([0, 2, 1], [0])],
    ("edge", 0): [
        ([0, 2, 2], [-1, 0]),
        ([0, 2], [0, 0], [np.inf, np.nan]),
        ([0, 1], [0], np.array([2**63], np.uint64)),
    ],
    ("edge", 1): [
        ([0, 2, 2], [0, 2]),
        ([0, 2], [0, 0], [1, -3]),
        ([0, 2], [0, 0], [1, np.nan]),
        ([0, 2], [0, 0], [0.5, -1e-300]),
    ],
}


@pytest.mark.parametrize(("place", "arrays"), [(place, arrays) for place, cases in INVALID.items() for arrays in cases])
def test_invalid_arrays_are_refused_with_their_place(place, arrays):
    with pytest.raises(GraphError) as raised:
        CsrGraph(*arrays)
    assert (raised.value.element, raised.value.index) == place


def test_invalid_edges_are_refused():
    with pytest.raises(GraphError, match="edge 1: leaves node 5"):
        CsrGraph.from_edges([0, 5], [1, 1], nodes=3)
    with pytest.raises(GraphError, match="edge 0: leads to node -1"):
        CsrGraph.from_edges([0, 5], [-1, 1])
    with pytest.raises(GraphError, match="2 sources, but 1 target:"):
        CsrGraph.from_edges([0, 5], [1])
    with pytest.raises(GraphError, match="not 4294967296"):
        CsrGraph.from_edges([0], [2**32 - 1])


def test_many_edges_have_offsets_of_64_bits(monkeypatch):
    monkeypatch.setattr("static_graph.graph.csr.MOST", 4)  # more than 2^31 - 1 take gigabytes
    graph = CsrGraph(np.array([0, 5, 5], np.int32), [0, 1, 0, 1, 1])
    assert graph.offsets.dtype == graph.out_degrees.dtype == np.int64
    assert CsrGraph([0, 4], [0] * 4).offsets.dtype == np.int32
    for make in (graph.reversed, graph.symmetrised, lambda: CsrGraph.from_edges([0] * 5, [0] * 5)):
        with pytest.raises(GraphError, match=r"\d edges "):
            make()


def test_empty_graphs():
    assert (CsrGraph([0], []).nodes, CsrGraph.from_edges([], []).nodes) == (0, 0)
    assert CsrGraph.from_edges([], [], [], nodes=3).offsets.tolist() == [0, 0, 0, 0]
    assert CsrGraph([0], []).reversed().offsets.tolist() == [0]
    with pytest.raises(GraphError, match="there are no nodes"):
        CsrGraph([0], []).node_of(0)


@given(edge_lists())
def test_conversion_to_scipy_and_back(case):
    nodes, edges, weighted = case
    graph = CsrGraph.from_edges(
        *([e[k] for e in edges] for k in (0, 1)), [e[2] for e in edges] if weighted else None, nodes
    )
    pytest.importorskip("scipy")
    matrix = graph.to_scipy()
    assert edges_of(CsrGraph.from_scipy(matrix, weighted=weighted)) == edges_of(graph)
    assert edges_of(CsrGraph.from_scipy(matrix.tocoo(), weighted=weighted)) == edges_of(graph)


def test_invalid_scipy_matrices_are_refused():
    sparse = pytest.importorskip("scipy.sparse")

    with pytest.raises(GraphError, match="square"):
        CsrGraph.from_scipy(sparse.csr_array((2, 3)))
    with pytest.raises(GraphError, match="sparse matrix or array"):
        CsrGraph.from_scipy(np.eye(2))
    with pytest.raises(GraphError, match="negative weight"):
        CsrGraph.from_scipy(sparse.csr_array([[0, -1], [0, 0]]))
    assert CsrGraph.from_scipy(sparse.csc_array([[False, True], [False, False]])).weights is None


def test_networkx_graphs_keep_names_and_weights():
    networkx = pytest.importorskip("networkx")
    plain = networkx.Graph([(0, 1), (1, 2), (2, 2)])
    graph = CsrGraph.from_networkx(plain)
    assert edges_of(graph) == [(0, 1, None), (1, 0, None), (1, 2, None), (2, 1, None), (2, 2, None)]
    assert graph.labels is None
    named = networkx.MultiDiGraph()
    named.add_edge("b", "a", weight=2.5)
    named.add_edge("b", "a")
    graph = CsrGraph.from_networkx(named)
    assert edges_of(graph) == [(0, 1, 2.5), (0, 1, 1.0)]
    assert graph.node_of("a") == 1
    grid = CsrGraph.from_networkx(networkx.grid_2d_graph(2, 2))
    assert (grid.edges, grid.labels[3]) == (8, (1, 1))


@pytest.mark.parametrize("kind", ["Graph", "DiGraph", "MultiGraph", "MultiDiGraph"])
@pytest.mark.parametrize("weighted", [False, True])
def test_graphs_come_back_to_networkx(kind, weighted):
    networkx = pytest.importorskip("networkx")
    original = getattr(networkx, kind)()
    original.add_nodes_from("edcba")
    edges = ["ab", "bc", "bb", "ca", "ab", "ad", "cb", "da", "dd", "dd"]
    original.add_edges_from((*edge, {"cost": k / 4} if weighted else {}) for k, edge in enumerate(edges))
    graph = CsrGraph.from_networkx(original, weight="cost")
    for node, label in enumerate(graph.labels.tolist()):
        rows = original.adj[label].items()
        expected = [end for end, data in rows for _ in (data if original.is_multigraph() else [0])]
        assert graph.labels[graph.neighbors(node)].tolist() == expected
    back = graph.to_networkx(type(original), weight="cost")
    assert type(back) is type(original)
    assert list(back) == list(original)
    assert networkx.utils.graphs_equal(back, original)
    assert {type(data.get("cost", 0.0)) for _, _, data in back.edges(data=True)} == {float}


def test_networkx_cannot_hold_every_graph():
    networkx = pytest.importorskip("networkx")
    plain = CsrGraph.from_edges([0, 0, 1], [1, 2, 0])
    assert list(plain.to_networkx().edges) == [(0, 1), (0, 2), (1, 0)]
    with pytest.raises(GraphError, match="edge 1: has no opposite edge"):
        plain.to_networkx(networkx.Graph)
    with pytest.raises(GraphError, match="edge 2: has no opposite edge"):
        CsrGraph.from_edges([0, 1, 1], [1, 0, 0]).to_networkx(networkx.MultiGraph)
    with pytest.raises(GraphError, match="edge 0: has no opposite edge"):
        CsrGraph.from_edges([0, 1], [1, 0], [1, 2]).to_networkx(networkx.Graph)
    with pytest.raises(GraphError, match=r"edge 1: is parallel.*networkx\.MultiDiGraph"):
        CsrGraph.from_edges([0, 1, 0], [1, 1, 1]).to_networkx()
    with pytest.raises(WrongTypeError, match="create_using = 'Graph'"):
        plain.to_networkx("Graph")


def test_degrees_and_neighbours():
    graph = CsrGraph.from_edges([2, 0, 0, 2, 0], [1, 2, 1, 2, 2], nodes=4)
    assert graph.in_degrees.tolist() == [0, 2, 3, 0]
    assert graph.in_degrees.dtype == graph.offsets.dtype
    assert [graph.neighbors(node).tolist() for node in range(4)] == [[2, 1, 2], [], [1, 2], []]
    assert CsrGraph([0], []).in_degrees.tolist() == []
    with pytest.raises(ValueError, match="read-only"):
        graph.in_degrees[0] = 1
    for node in (4, -1):
        with pytest.raises(GraphError, match=f"there is no node {node}"):
            graph.neighbors(node)
    with pytest.raises(WrongTypeError, match="node must be a node's number"):
        graph.neighbors("a")


def test_counts_have_their_plural():
    assert repr(CsrGraph([0, 1], [0])) == "CsrGraph(1 node, 1 edge, no weights)"
    assert [counted(0, "node"), counted(1, "entry"), counted(2000, "entry")] == [
        "0 nodes",
        "1 entry",
        "2,000 entries",
    ]
    assert [numbered(k, "node") for k in (0, 1, 3)] == [
        "there are no nodes",
        "the only node is 0",
        "the 3 nodes are 0 to 2",
    ]
    for labels, said in (([7], "its only node is 7"), (["a", "b"], "its 2 nodes have names, the first of which is a")):
        graph = CsrGraph.from_edges([0], [0], nodes=len(labels), labels=labels)
        with pytest.raises(GraphError, match=said):
            graph.node_of("x")


def test_nodes_are_found_by_their_labels():
    graph = CsrGraph.from_edges([0], [1], labels=[7, 3])
    assert [graph.node_of(7), graph.node_of(3)] == [0, 1]
    with pytest.raises(GraphError, match="no node 0: "):
        graph.node_of(0)
    with pytest.raises(GraphError, match="no node 2: the 2 nodes are 0 to 1"):
        CsrGraph.from_edges([0], [1]).node_of(2)
