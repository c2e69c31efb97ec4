"""Trimming and colour propagation against networkx and naive definitions."""

from __future__ import annotations

from functools import cache
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import static_graph
from dmr.memory import Device, open_device, pack
from static_graph.engine.colours import coloured
from static_graph.engine.loop import BALANCES, LONG_ROW, STRATEGIES, Expansion, Frontier, how, how_for, largest_degree
from static_graph.engine.trimming import trimmed_nodes
from static_graph.errors import OptionError
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph
from tests.support.graphs.traversed import ABLATION, random_graph


def kept(graph: CsrGraph, repeated: bool, allowed: np.ndarray | None = None) -> np.ndarray:
    """Nodes that stay, by sets: nodes with an edge from and to another one."""
    stays = np.ones(graph.nodes, bool) if allowed is None else allowed.copy()
    sources, targets = graph.sources(), graph.targets
    while True:
        live = stays[sources] & stays[targets] & (sources != targets)
        still = stays & np.isin(np.arange(graph.nodes), sources[live]) & np.isin(np.arange(graph.nodes), targets[live])
        if not repeated or np.array_equal(still, stays):
            return still
        stays = still


def colours_of(graph: CsrGraph, allowed: np.ndarray | None = None) -> np.ndarray:
    """The largest number that reaches each node, by searches from the largest number down."""
    found = np.full(graph.nodes, -1)
    for first in range(graph.nodes - 1, -1, -1):
        waiting = [first] if found[first] < 0 else []
        while waiting:
            node = waiting.pop()
            if found[node] < 0 and (node == first or allowed is None or (allowed[node] and allowed[first])):
                found[node] = first
                waiting += graph.targets[graph.offsets[node] : graph.offsets[node + 1]].tolist()
    return found


def paths(count: int) -> dict[str, CsrGraph]:
    """Paths, forwards, backwards and with permuted numbers, and a cycle."""
    node = np.arange(count)
    mixed = np.random.default_rng(1).permutation(count)
    return {
        "forwards": CsrGraph.from_edges(node[:-1], node[1:]),
        "backwards": CsrGraph.from_edges(node[1:], node[:-1]),
        "mixed": CsrGraph.from_edges(mixed[:-1], mixed[1:]),
        "cycle": CsrGraph.from_edges(node, np.roll(node, 1)),
    }


@pytest.fixture(scope="module", autouse=True)
def _arrays_are_freed():
    """Frees the arrays of the cached graphs before the devices go."""
    yield
    uploaded.cache_clear()


@cache
def uploaded(seed: int, device: Device) -> DeviceGraph:
    return DeviceGraph.upload(random_graph(seed), device)


@pytest.mark.parametrize("balance", BALANCES)
def test_trim_and_colours_on_random_graphs(balance, device):
    for seed in range(12):
        host, graph = random_graph(seed), uploaded(seed, device)
        for method in ("complete", "simple"):
            mask = static_graph.trim(graph, method=method, balance=balance)
            assert mask.dtype == bool
            np.testing.assert_array_equal(mask, kept(host, method == "complete"), f"seed {seed}, {method}")
        for atomic in (True, False):
            colours = static_graph.propagate_colours(graph, atomic=atomic, balance=balance)
            assert colours.dtype == np.int32
            np.testing.assert_array_equal(colours, colours_of(host), f"seed {seed}, atomic {atomic}")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("count", range(len(ABLATION) + 1))
def test_options_and_masks_change_no_result(strategy, count, device):
    """The options are added one by one; masked nodes count as absent."""
    chosen = how(strategy, **{name: k < count for k, name in enumerate(ABLATION)})
    for seed in range(12):
        host, graph = random_graph(seed), uploaded(seed, device)
        allowed = np.random.default_rng(seed).random(host.nodes) < 0.7
        mask = device.array(allowed.astype(np.uint8))
        expected = kept(host, True, allowed)
        for alone in (False, True):
            trimmed = trimmed_nodes(graph, chosen, alone=alone, mask=mask)[0].download()
            np.testing.assert_array_equal(trimmed[allowed] == 0, expected[allowed], f"seed {seed}")
        for alone, growth in ((False, None), (True, 1), (True, 3)):
            colours = coloured(graph, chosen, alone=alone, growth=growth, mask=mask)[0].download()
            np.testing.assert_array_equal(colours, colours_of(host, allowed), f"seed {seed}, growth {growth}")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_frontier_of_all_nodes_in_every_round(strategy, device):
    """It has no list, and the global collapse uses the graph's offsets as the sums of the degrees."""
    for seed in range(12):
        host, graph = random_graph(seed), uploaded(seed, device)
        counts = device.empty(host.nodes, np.int32)
        body, frontier = pack("EdgeCounts", counts=counts, other=None, trimmed=None), Frontier(graph, None, whole=True)
        expansion = Expansion(graph, "count_edges", body, frontier, how(strategy), reduces=True)
        for _ in range(2):
            counts.fill(255)
            expansion.launch()
            others = host.sources()[host.sources() != host.targets]
            np.testing.assert_array_equal(counts.download(), np.bincount(others, minlength=host.nodes), f"seed {seed}")


@pytest.mark.parametrize("path", paths(3))
def test_paths_and_cycles(path, device):
    """Deep graphs take a fraction of a second: no launch per round, and few colours sent in vain."""
    host = paths(100_000)[path]
    graph = static_graph.upload(host, device.name, device.threads or None)
    begun = perf_counter()
    mask, colours = static_graph.trim(graph), static_graph.propagate_colours(graph)
    assert perf_counter() - begun < 20  # 0.1 s on an idle machine; a round per node and colour would take minutes
    assert mask.all() if path == "cycle" else not mask.any()
    if path == "forwards":
        assert (colours == np.arange(host.nodes)).all()
    elif path == "mixed":
        np.testing.assert_array_equal(colours, colours_of(host))
    else:
        assert (colours == host.nodes - 1).all()


@given(data=st.data())
@settings(max_examples=25)
def test_trimmed_nodes_and_colours_agree_with_networkx(data):
    networkx = pytest.importorskip("networkx")
    nodes = data.draw(st.integers(1, 14))
    node = st.integers(0, nodes - 1)
    table = data.draw(st.lists(st.tuples(node, node), max_size=40))
    theirs = networkx.DiGraph(table)
    theirs.add_nodes_from(range(nodes))
    graph = CsrGraph.from_edges(*np.array(table, np.int64).reshape(-1, 2).T, None, nodes)
    mask = static_graph.trim(graph, device="cpu", threads=2)
    large = [component for component in networkx.strongly_connected_components(theirs) if len(component) > 1]
    assert mask[[each for component in large for each in component]].all()
    for each in np.flatnonzero(~mask):  # a trimmed node is on no cycle with others, and not between two such cycles
        before, after = networkx.ancestors(theirs, each), networkx.descendants(theirs, each)
        assert not before & after
        assert not (any(before >= component for component in large) and any(after >= part for part in large))
    colours = static_graph.propagate_colours(graph, device="cpu", threads=2)
    assert colours.tolist() == [max(networkx.ancestors(theirs, each) | {each}) for each in range(nodes)]


def special():
    nothing = np.empty(0, np.int64)
    yield "no nodes", CsrGraph.from_edges(nothing, nothing, None, 0), [], []
    yield "no edges", CsrGraph.from_edges(nothing, nothing, None, 3), [False] * 3, [0, 1, 2]
    yield "self loops", CsrGraph.from_edges([0, 1], [0, 1]), [False] * 2, [0, 1]
    yield "parallel edges", CsrGraph.from_edges([0, 0, 1, 1], [1, 1, 0, 2]), [True, True, False], [1, 1, 2]


@pytest.mark.parametrize("balance", BALANCES)
def test_special_graphs(balance, device_options):
    for name, graph, stays, colours in special():
        assert static_graph.trim(graph, balance=balance, **device_options).tolist() == stays, name
        assert static_graph.propagate_colours(graph, balance=balance, **device_options).tolist() == colours, name


def test_auto_follows_long_rows_by_the_global_collapse(device):
    edges = np.arange(LONG_ROW + 1)
    star = CsrGraph.from_edges(np.append(0 * edges, edges + 1), np.append(edges + 1, 0 * edges))
    graph = DeviceGraph.upload(star, device)
    assert largest_degree(graph) == LONG_ROW + 1 and how_for("auto", graph) == how("collapse-global")
    assert how_for("auto", uploaded(0, device)) == how("collapse-local")
    assert static_graph.trim(graph).all() and (static_graph.propagate_colours(graph) == star.nodes - 1).all()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_counts_of_rounds_nodes_and_edges(strategy, device):
    """On a path backwards all nodes send their colours: n rounds, whose frontiers shrink by 1."""
    count = 40
    graph = DeviceGraph.upload(paths(count)["backwards"], device)
    _, counts = coloured(graph, how(strategy))
    assert counts.rounds == count or device.threads != 0  # a CPU thread may send a colour on in the same round
    assert counts.expanded <= count * (count + 1) // 2 and counts.examined <= count * (count - 1) // 2
    _, counts = trimmed_nodes(graph, how(strategy))
    assert counts.examined == 4 * (count - 1) and counts.expanded == 2 * count
    assert 2 <= counts.rounds <= 1 + count // 2 and counts.launches >= counts.rounds - 1


def test_invalid_options_are_refused():
    graph = CsrGraph.from_edges([0], [1])
    for options, words in (({"method": "half"}, "method"), ({"balance": "flat"}, "balance")):
        with pytest.raises(OptionError, match=f"{words} must be one of"):
            static_graph.trim(graph, **options)
    for options, words in (({"balance": "flat"}, "balance must be one of"), ({"atomic": "yes"}, "atomic")):
        with pytest.raises(OptionError, match=words):
            static_graph.propagate_colours(graph, **options)
    on_device = static_graph.upload(graph, "cpu", 1)
    with pytest.raises(OptionError, match="already"):
        static_graph.trim(on_device, threads=2)
    with pytest.raises(OptionError, match="graph is"):
        static_graph.trim([[0, 1]])
    assert (open_device("cpu", 1).threads, static_graph.trim(graph).tolist()) == (1, [False, False])
