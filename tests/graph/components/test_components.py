"""Weak and strong components: every method against scipy and networkx, the same labels on every device."""

from __future__ import annotations

import pickle
from time import perf_counter

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components as by_scipy

from static_graph import Components, CsrGraph, connected_components, read, upload
from static_graph.components.table import METHODS
from static_graph.engine.loop import BALANCES, STRATEGIES
from static_graph.errors import GraphError, OptionError, WrongTypeError
from tests.support.graphs.components import deep_graphs, graphs, smallest_labels
from tests.support.paths import ROOT

WEB = ROOT.parent / "shared" / "graphs" / "web-Stanford.txt.gz"
WAYS = [(connection, method) for connection, methods in METHODS.items() for method in methods]


def options_of(connection, method, device_options):
    """The device's options; a serial method runs on the CPU."""
    if METHODS[connection][method].serial and device_options["device"] == "cuda":
        pytest.skip("runs on the CPU only")
    return device_options


@pytest.mark.parametrize(("connection", "method"), WAYS)
def test_labels_agree_with_scipy(connection, method, device_options):
    options = options_of(connection, method, device_options)
    for name, graph in graphs():
        expected = smallest_labels(by_scipy(graph.to_scipy(), connection=connection)[1])
        found = connected_components(graph, connection=connection, method=method, **options)
        np.testing.assert_array_equal(found.labels, expected, name)
        uploaded = upload(graph, **options)
        for _ in range(2):  # the second one finds what the first has kept with the graph
            again = connected_components(uploaded, connection=connection, method=method)
            np.testing.assert_array_equal(again.labels, expected, name)


@pytest.mark.gpu
@pytest.mark.parametrize("method", ["auto", "signatures"])
def test_strong_components_are_the_same_each_time(method, gpu):
    """Passes of all teams of a GPU alternate with those of the team that is last at a barrier: it must see what the
    others wrote, although its cache has earlier values of the same words."""
    random = np.random.default_rng(4)
    nodes = 100_000
    path, back = np.arange(nodes - 1), random.integers(50, nodes, 4000)
    inputs = {
        "sparse": random.integers(0, nodes, (2, 130_000)),
        "short cycles on a path": (
            np.append(path, back),
            np.append(path + 1, back - random.integers(1, 50, back.size)),
        ),
    }
    for name, (sources, targets) in inputs.items():
        graph = CsrGraph.from_edges(sources, targets, nodes=nodes)
        expected = smallest_labels(by_scipy(graph.to_scipy(), connection="strong")[1])
        uploaded = upload(graph, gpu.name)
        for _ in range(20):
            found = connected_components(uploaded, connection="strong", method=method)
            np.testing.assert_array_equal(found.labels, expected, name)


@pytest.mark.slow
@pytest.mark.parametrize(("connection", "method"), WAYS)
def test_deep_graphs_take_a_fraction_of_a_second(connection, method, device_options):
    options = options_of(connection, method, device_options)
    for name, graph in deep_graphs(20_000 if method == "signatures" else 100_000):  # 4 s by three threads otherwise
        expected = smallest_labels(by_scipy(graph.to_scipy(), connection=connection)[1])
        found = connected_components(upload(graph, **options), connection=connection, method=method)
        np.testing.assert_array_equal(found.labels, expected, name)


@pytest.mark.parametrize("balance", STRATEGIES)
def test_deep_graphs_need_no_launch_per_level_by_any_balance(balance, device_options):
    begun = perf_counter()
    for _, graph in deep_graphs(20_000):
        uploaded = upload(graph, **device_options)
        for connection, method in (("weak", "colouring"), ("strong", "fw-bw"), ("strong", "colouring")):
            found = connected_components(uploaded, connection=connection, method=method, balance=balance)
            expected = by_scipy(graph.to_scipy(), connection=connection)[0]
            assert found.count == expected, (connection, method)
    assert perf_counter() - begun < 30  # 0.5 s on an idle machine; all colours at once would take minutes


def test_colours_take_the_components_of_a_path_whichever_way_their_numbers_go(device_options):
    """One component per turn would take more than 2,000,000 rounds."""
    first = np.arange(0, 6_000, 3)
    triangles = (np.r_[first, first + 1, first + 2], np.r_[first + 1, first + 2, first])
    path = (first[1:], first[:-1] + 2)
    for ends in (np.concatenate([triangles, path], axis=1), np.concatenate([triangles, path], axis=1)[::-1]):
        graph = CsrGraph.from_edges(*ends, nodes=6_000)
        options = {"connection": "strong", "method": "multistep", "cutoff": 0, **device_options}
        found = connected_components(graph, **options)
        np.testing.assert_array_equal(found.labels, np.repeat(first, 3))
        assert found.rounds < 100_000


@pytest.mark.parametrize("balance", BALANCES)
def test_colours_of_weak_components_are_seldom_sent_in_vain(balance, device_options):
    for name, graph in deep_graphs(2000):
        found = connected_components(graph, method="colouring", balance=balance, **device_options)
        assert found.count == 1, name
        assert found.figures["examined edges"] <= 40 * graph.edges, name  # all at once: up to n * n / 2


@given(
    ends=st.integers(1, 12).flatmap(
        lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40))
    ),
    way=st.sampled_from(WAYS),
    threads=st.sampled_from([1, 3]),
)
@settings(max_examples=80)
def test_arbitrary_small_graphs_agree_with_networkx(ends, way, threads):
    nodes, edges = ends
    connection, method = way
    graph = networkx.MultiDiGraph(edges)
    graph.add_nodes_from(range(nodes))
    find = networkx.weakly_connected_components if connection == "weak" else networkx.strongly_connected_components
    expected = np.empty(nodes, int)
    for component in find(graph):
        expected[list(component)] = min(component)
    sources, targets = zip(*edges, strict=True) if edges else ([], [])
    csr = CsrGraph.from_edges(sources, targets, nodes=nodes)
    found = connected_components(upload(csr, "cpu", threads), connection=connection, method=method)
    np.testing.assert_array_equal(found.labels, expected)


STEPS = [
    ("weak", "colouring", {}),
    ("strong", "colouring", {}),
    ("strong", "fw-bw", {"trim": False}),
    *(
        ("strong", "multistep", {"trim": trim, "search": search, "cutoff": cutoff})
        for trim in (True, False)
        for search in (True, False)
        for cutoff in (0, 500)
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("connection", "method", "options"), STEPS)
def test_every_balance_and_step_finds_the_same(connection, method, options, device_options):
    for name in ("random 3", "random 9", "two rings"):
        graph = dict(graphs())[name]
        uploaded = upload(graph, **device_options)
        expected = connected_components(uploaded, connection=connection).labels
        for balance in BALANCES:
            found = connected_components(uploaded, connection=connection, method=method, balance=balance, **options)
            np.testing.assert_array_equal(found.labels, expected, f"{name}, {balance}")
            assert (found.method, found.balance) == (method, balance)
            if method == "multistep":
                steps = {"trim": options["trim"], "search": options["search"], "finish": True}
                assert steps.items() <= {step: step in found.seconds for step in steps}.items()
                assert options["cutoff"] or found.figures["finished nodes"] == 0


def test_the_result_describes_the_components():
    graph = CsrGraph.from_edges([1, 4, 5, 5], [4, 1, 2, 6], nodes=7, labels=list("abcdefg"))
    found = connected_components(graph, device="cpu")
    assert found.labels.tolist() == [0, 1, 2, 3, 1, 2, 2] and found.labels.dtype == np.int32
    assert found.count == 4 and found.component_labels.tolist() == [0, 1, 2, 3]
    assert found.sizes().tolist() == [1, 2, 3, 1] and found.largest() == 2
    assert found.numbers().tolist() == [0, 1, 2, 3, 1, 2, 2]
    assert found.members(2).tolist() == [2, 5, 6]
    assert (found.connection, found.method, found.device) == ("weak", "auto", "cpu")
    assert str(found) == "Components(4 weak components of 7 nodes, auto)"
    strong = connected_components(graph, connection="strong", device="cpu")
    assert strong.labels.tolist() == [0, 1, 2, 3, 1, 5, 6]
    copy = pickle.loads(pickle.dumps(found))
    assert copy.members(1).tolist() == [1, 4] and not copy.labels.flags.writeable
    with pytest.raises(GraphError, match="5 is not a label: node 5 is in the component 2"):
        found.members(5)
    with pytest.raises(GraphError, match="there is no node 7: the 7 nodes are 0 to 6"):
        found.members(7)
    with pytest.raises(WrongTypeError, match="label"):
        found.members("a")


def test_graphs_without_nodes_have_no_component(device_options):
    for connection in METHODS:
        found = connected_components(CsrGraph([0], []), connection=connection, **device_options)
        assert found.count == 0 and found.sizes().tolist() == [] and found.labels.dtype == np.int32
        with pytest.raises(GraphError, match="without nodes has no largest component"):
            found.largest()


def test_invalid_results_are_refused():
    found = connected_components(CsrGraph.from_edges([0], [1], nodes=3), device="cpu")
    state = list(found.__reduce__()[1])
    for labels, message in (([0, 0, 5], "not 0 to 5"), ([1, 1, 2], "smallest"), ([0, 0, 1], "smallest")):
        with pytest.raises(GraphError, match=message):
            Components(labels, *state[1:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"connection": "both"}, "connection must be one of weak, strong, not 'both'"),
        ({"method": "signatures"}, "method must be one of auto, .*, not 'signatures'"),
        ({"connection": "strong", "method": "best"}, "method must be one of auto, .*, not 'best'"),
        ({"method": "sequential", "device": "cuda"}, "method = 'sequential' runs on the CPU"),
        (
            {"balance": "baseline"},
            "balance is not an option of method = 'auto', but of colouring and fw-bw and multistep",
        ),
        (
            {"connection": "strong", "trim": True},
            "trim is not an option of method = 'auto', but of fw-bw and multistep",
        ),
        ({"connection": "strong", "method": "multistep", "cutoff": -1}, "cutoff = -1: it must be at least 0"),
        ({"connection": "strong", "method": "colouring", "balance": "warp"}, "balance must be one of auto, baseline"),
    ],
)
def test_invalid_options_are_named(options, message):
    with pytest.raises(OptionError, match=message):
        connected_components(CsrGraph([0, 0], []), **options)


def test_a_path_is_no_graph():
    with pytest.raises(WrongTypeError, match="graph is a path"):
        connected_components("web-Stanford.txt.gz")


def test_a_graph_on_a_device_stays_there():
    uploaded = upload(CsrGraph([0, 0], []), "cpu")
    with pytest.raises(OptionError, match="leave device and threads out"):
        connected_components(uploaded, threads=1)


@pytest.mark.slow
@pytest.mark.skipif(not WEB.exists(), reason="the graph is not here")
def test_web_stanford(device_options):
    host = read(WEB)
    assert (host.nodes, host.edges, host.labels) == (281_903, 2_312_497, None)
    graph = upload(host, **device_options)
    strong = connected_components(graph, connection="strong")
    assert strong.count == 29_914 and strong.sizes().max() == len(strong.members(strong.largest())) == 150_532
    assert connected_components(graph).count == 365
