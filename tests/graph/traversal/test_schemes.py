"""The schemes of the papers against reference distances, scipy and networkx."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmr.memory import Device, open_device
from static_graph.engine.loop import STRATEGIES
from static_graph.errors import GraphError, OptionError
from static_graph.graph.csr import CsrGraph, unchecked_graph
from static_graph.graph.degrees import automatic_mda, degree_distribution, split_distribution
from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal.distances import DistanceKind
from static_graph.traversal.schemes import child_launches, collapse, fixed_point, node_splitting, virtual_warps
from static_graph.traversal.schemes.timeline import BlockColumn, Timeline
from tests.support.graphs.traversed import SCHEMES, random_graph, reference


@cache
def uploaded(seed: int, device: Device) -> DeviceGraph:
    return DeviceGraph.upload(random_graph(seed), device)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_distances_on_random_graphs(scheme, device):
    run, options = SCHEMES[scheme]
    for seed in range(12):  # every kind of weights twice
        graph = random_graph(seed)
        random = np.random.default_rng(seed)
        sources = random.integers(0, graph.nodes, 1 + seed % 3).tolist()
        for weighted in (False, True) if graph.weights is not None else (False,):
            outcome = run(uploaded(seed, device), sources, weighted=weighted, **options)
            expected = reference(graph, sources, weighted)
            found = outcome.distances.download()
            assert found.dtype == (expected.dtype if weighted else np.int32), seed
            np.testing.assert_array_equal(found, expected, f"seed {seed}, weighted {weighted}")
            assert outcome.rounds >= 1 and outcome.launches >= outcome.rounds


@pytest.mark.parametrize("scheme", SCHEMES)
def test_depth_limit(scheme, device):
    run, options = SCHEMES[scheme]
    for seed in range(6):
        graph = random_graph(seed)
        for weighted, limit in (
            (False, 2),
            (False, 0),
            (False, np.inf),
            (True, np.inf),
            (True, 1.5 if seed >= 4 else 60),
        ):
            if weighted and graph.weights is None:
                continue
            outcome = run(uploaded(seed, device), [0], weighted=weighted, depth_limit=limit, **options)
            expected = reference(graph, [0], weighted)
            unreached = np.inf if expected.dtype == np.float64 else -1
            expected[expected > limit] = unreached
            np.testing.assert_array_equal(outcome.distances.download(), expected, f"seed {seed}, limit {limit}")


LEAVES = 300_000  # more than any block, tile or chunk takes


@cache
def star(leaves: int) -> tuple[CsrGraph, np.ndarray, np.ndarray]:
    """Node 0 and its leaves, with edges both ways; and the distances from leaf 7, in steps and in weights."""
    leaf = np.arange(1, leaves + 1)
    center = np.zeros_like(leaf)
    weights = 1 + leaf % 50
    graph = CsrGraph.from_edges(
        np.append(center, leaf), np.append(leaf, center), np.append(weights, weights), leaves + 1
    )
    steps, lengths = np.full(leaves + 1, 2), np.append(8, 8 + weights)
    steps[0], steps[7], lengths[7] = 1, 0, 0
    return graph, steps, lengths


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_distances_on_a_large_star(scheme, device):
    run, options = SCHEMES[scheme]
    on_device, expected = star_on(device), star(LEAVES)[1:]
    for weighted in (False, True):
        outcome = run(on_device, [7], weighted=weighted, **options)
        np.testing.assert_array_equal(outcome.distances.download(), expected[weighted])


@cache
def star_on(device: Device) -> DeviceGraph:
    return DeviceGraph.upload(star(LEAVES)[0], device)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_distances_with_64_bit_offsets(scheme, device):
    run, options = SCHEMES[scheme]
    for seed in range(6):
        graph = random_graph(seed)
        wide = unchecked_graph(graph.offsets.astype(np.int64), graph.targets, graph.weights)
        outcome = run(DeviceGraph.upload(wide, device), [0], weighted=graph.weights is not None, **options)
        expected = reference(graph, [0], graph.weights is not None)
        np.testing.assert_array_equal(outcome.distances.download(), expected, f"seed {seed}")


@cache
def special_graphs():
    """Triples (name, graph, sources)."""
    return tuple(_special_graphs())


def _special_graphs():
    nothing = np.empty(0, np.int64)
    yield "no nodes", CsrGraph.from_edges(nothing, nothing, nothing, 0), []
    yield "one node", CsrGraph.from_edges(nothing, nothing, nothing, 1), [0]
    yield "a loop", CsrGraph.from_edges([0], [0], [0], 1), [0]
    yield "isolated nodes", CsrGraph.from_edges(nothing, nothing, nothing, 700), [5, 5, 699]
    count = 1500
    chain = np.arange(count - 1)
    yield "a path", CsrGraph.from_edges(chain, chain + 1, chain % 7, count), [0]
    yield "a path backwards", CsrGraph.from_edges(chain + 1, chain, chain % 7, count), [count - 1]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_distances_on_special_graphs(scheme, device):
    run, options = SCHEMES[scheme]
    for name, graph, sources in special_graphs():
        on_device = DeviceGraph.upload(graph, device)
        for weighted in (False, True):
            outcome = run(on_device, sources, weighted=weighted, **options)
            if "path" in name:
                steps = graph.weights if weighted else np.ones(graph.edges, np.int64)
                expected = np.concatenate([[0], np.cumsum(steps)])
                if "backwards" in name:
                    expected = np.concatenate([np.cumsum(steps[::-1])[::-1], [0]])
            else:
                expected = reference(graph, sources, weighted)
            np.testing.assert_array_equal(outcome.distances.download(), expected, name)


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=40)
def test_schemes_agree_with_scipy(data):
    from scipy.sparse import csgraph

    nodes = data.draw(st.integers(1, 12))
    node = st.integers(0, nodes - 1)
    edges = data.draw(st.lists(st.tuples(node, node), max_size=40, unique=True))
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(edges), max_size=len(edges)))
    ends = np.array(edges, np.int64).reshape(-1, 2)
    graph = CsrGraph.from_edges(ends[:, 0], ends[:, 1], np.array(weights, np.int64), nodes)
    source = data.draw(node)
    on_device = DeviceGraph.upload(graph, open_device("cpu", 2))
    for weighted in (False, True):
        expected = csgraph.dijkstra(graph.to_scipy(), indices=source, unweighted=not weighted)
        for scheme, (run, options) in SCHEMES.items():
            found = run(on_device, [source], weighted=weighted, **options).distances.download()
            np.testing.assert_array_equal(np.where(found < 0, np.inf, found), expected, scheme)


def test_a_chunk_larger_than_the_graph(device):
    """The 64-bit queue counter must not overflow with a huge chunk."""
    random = np.random.default_rng(0)
    graph = CsrGraph.from_edges(*random.integers(0, 20_000, (2, 60_000)), None, 20_000)
    on_device, expected = DeviceGraph.upload(graph, device), reference(graph, [0], False)
    for chunk in (20_001, 2**62):
        found = virtual_warps.run(on_device, [0], weighted=False, warp_size=8, chunk=chunk)
        np.testing.assert_array_equal(found.distances.download(), expected)


@pytest.mark.parametrize("seed", range(4))
def test_schemes_agree_with_networkx(seed, device):
    """Ten graphs per seed, with self loops and several edges between the same nodes."""
    networkx = pytest.importorskip("networkx")
    for number in range(10 * seed, 10 * (seed + 1)):
        random = np.random.default_rng(1000 + number)
        nodes = int(random.integers(1, 40))
        table = random.integers(0, nodes, (int(random.integers(0, 4 * nodes)), 2)).tolist()
        theirs = networkx.MultiDiGraph()
        theirs.add_nodes_from(range(nodes))
        theirs.add_edges_from((a, b, {"weight": int(random.integers(0, 9))}) for a, b in table)
        on_device = DeviceGraph.upload(CsrGraph.from_networkx(theirs), device)
        assert on_device.edges == len(table)
        for weighted in (False, True):
            if weighted and not table:
                continue
            if weighted:
                reached = networkx.single_source_dijkstra_path_length(theirs, 0)
            else:
                reached = networkx.single_source_shortest_path_length(theirs, 0)
            expected = [reached.get(node, -1) for node in range(nodes)]
            for scheme, (run, options) in SCHEMES.items():
                found = run(on_device, [0], weighted=weighted, **options).distances.download()
                assert found.tolist() == expected, (scheme, number)


# Statistics of the schemes


@pytest.mark.parametrize("mda", [1, 2, 3, 7, 1000])
def test_split_graphs_keep_distances(mda, device):
    for seed in (0, 3, 4, 10):
        graph = random_graph(seed)
        divided = node_splitting.split_graph(uploaded(seed, device), mda)
        degrees = graph.out_degrees
        assert divided.extra == sum(max(-(-int(degree) // mda), 1) - 1 for degree in degrees)
        shared = divided.shared
        offsets, targets = shared.offsets.download(), shared.targets.download()
        found = np.trim_zeros(np.bincount(np.diff(offsets)), "b")
        np.testing.assert_array_equal(found, np.trim_zeros(split_distribution(degree_distribution(degrees), mda), "b"))
        child = graph.nodes
        for node in range(graph.nodes):
            shares = [node, *range(child, child + max(-(-int(degrees[node]) // mda), 1) - 1)]
            child += len(shares) - 1
            sizes = [offsets[share + 1] - offsets[share] for share in shares]
            assert max(sizes) <= mda and max(sizes) - min(sizes) <= 1
            places = np.concatenate([np.arange(offsets[share], offsets[share + 1]) for share in shares])
            own = slice(graph.offsets[node], graph.offsets[node + 1])
            np.testing.assert_array_equal(targets[places], graph.targets[own])
            if graph.weights is not None:
                np.testing.assert_array_equal(shared.weights.download()[places], graph.weights[own])


def test_automatic_and_invalid_mda(device):
    on_device = uploaded(2, device)
    outcome = node_splitting.run(on_device, [0], weighted=False)
    assert outcome.figures["mda"] == automatic_mda(random_graph(2))
    with pytest.raises(OptionError, match="mda = 0"):
        node_splitting.run(on_device, [0], weighted=False, mda=0)


def test_child_launches_are_counted_separately(device):
    """A star of 20 rays with 100 edges each: the center and the rays are above the threshold, once per round."""
    ray = np.arange(1, 21)
    leaves = np.arange(21, 21 + 2000)
    graph = CsrGraph.from_edges(np.append(np.zeros(20, int), np.repeat(ray, 100)), np.append(ray, leaves))
    on_device = DeviceGraph.upload(graph, device)
    whole = child_launches.run(on_device, [0], weighted=False, threshold=19)
    assert whole.figures["children"] >= 21 and whole.figures["in_place"] == 0
    few = child_launches.run(on_device, [0], weighted=False, threshold=19, most_children=5)
    assert 0 < few.figures["children"] <= 5 * few.rounds and few.figures["in_place"] > 0
    none = child_launches.run(on_device, [0], weighted=False, threshold=19, most_children=0)
    assert none.figures["children"] == 0 and none.figures["in_place"] >= 21
    assert child_launches.run(on_device, [0], weighted=False, threshold=100).figures["children"] == 0


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_edge_of_a_reached_node_is_examined_once(strategy, device):
    for seed in range(20):
        graph = random_graph(seed)
        outcome = collapse.run(uploaded(seed, device), [0], weighted=False, strategy=strategy)
        found = outcome.distances.download()
        assert outcome.relaxed == graph.out_degrees[found >= 0].sum()
        assert outcome.rounds == found.max() + 1


@pytest.mark.parametrize("run", [fixed_point.run, node_splitting.run])
def test_timeline_of_blocks(run, device):
    graph = uploaded(8, device)
    timeline = Timeline(device, 1000)
    outcome = run(graph, [0], weighted=False, timeline=timeline)
    lines = timeline.lines()
    assert outcome.rounds <= len(lines) == timeline.blocks
    assert (lines[:, BlockColumn.BEGUN] > 0).all() and (
        lines[:, BlockColumn.BEGUN] <= lines[:, BlockColumn.ENDED]
    ).all()
    assert (lines[:, BlockColumn.PROCESSOR] >= 0).all()
    assert set(lines[:, BlockColumn.ROUND]) == set(range(outcome.rounds))
    for later in range(1, outcome.rounds):  # a round begins when the one before has ended
        before, after = (lines[lines[:, BlockColumn.ROUND] == which] for which in (later - 1, later))
        assert before[:, BlockColumn.ENDED].max() <= after[:, BlockColumn.BEGUN].min()
    assert np.ptp(lines[:, BlockColumn.ENDED]) < 60e9
    short = Timeline(device, 1)
    run(graph, [0], weighted=False, timeline=short)
    assert len(short.lines()) == 1 <= short.blocks


@pytest.mark.parametrize(
    ("run", "options", "words"),
    [
        (virtual_warps.run, {"warp_size": 12}, "warp_size = 12"),
        (virtual_warps.run, {"chunk": 0}, "chunk = 0"),
        (virtual_warps.run, {"defer": -1}, "defer = -1"),
        (child_launches.run, {"threshold": -1}, "threshold = -1"),
        (collapse.run, {"strategy": "flat"}, "'flat'"),
    ],
)
def test_invalid_options_are_refused(run, options, words):
    graph = uploaded(1, open_device("cpu", 1))
    with pytest.raises(OptionError, match=words):
        run(graph, [0], weighted=False, **options)


def test_missing_and_too_large_weights_are_refused():
    device = open_device("cpu", 1)
    with pytest.raises(GraphError, match="no weights"):
        fixed_point.run(DeviceGraph.upload(CsrGraph.from_edges([0], [1]), device), [0], weighted=True)
    heavy = CsrGraph.from_edges([0, 1], [1, 2], [2**62, 2**62])
    with pytest.raises(GraphError, match="longer than 64 bits"):
        fixed_point.run(DeviceGraph.upload(heavy, device), [0], weighted=True)


def test_the_smallest_fitting_distance_type_is_chosen():
    device = open_device("cpu", 1)
    for weights, kind in (
        ([5, 6], DistanceKind.NARROW),
        ([2**30, 6], DistanceKind.WIDE),
        ([0.5, 6], DistanceKind.REAL),
    ):
        graph = DeviceGraph.upload(CsrGraph.from_edges([0, 1], [1, 2], weights), device)
        distances = fixed_point.run(graph, [0], weighted=True).distances
        assert distances.kind == kind and distances.download().tolist() == [0, weights[0], sum(weights)]
