"""bfs and sssp: distances, parents and paths of every scheme against Dijkstra's algorithm."""

from __future__ import annotations

import copy
import gc
import heapq
import pickle
from weakref import ref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import static_graph
from dmr.common.native import address_of
from dmr.memory import InternalError, open_device
from dmr.memory.host.prepared import PreparedLaunch
from static_graph import CsrGraph, DeviceGraph, GraphError, bfs, generate_random, sssp, upload
from static_graph.errors import OptionError
from static_graph.graph.device_graph import MOST_KEPT, kept_upload
from static_graph.traversal.frontiers import direction_optimising, near_far, small_search
from static_graph.traversal.parents import find_parents
from static_graph.traversal.schemes.table import BALANCES

OPTIONS = {"split": {"mda": 3}, "child-launch": {"threshold": 3}, "warp": {"warp_size": 8, "chunk": 3, "defer": 4}}


def dijkstra(graph: CsrGraph, sources: list[int], weighted: bool, limit: float = np.inf) -> np.ndarray:
    """The distances by a heap, in Python's numbers."""
    offsets, targets = graph.offsets.tolist(), graph.targets.tolist()
    weights = graph.weights.tolist() if weighted else [1] * graph.edges
    distances = dict.fromkeys(sources, 0)
    heap = [(0, source) for source in sources]
    while heap:
        distance, node = heapq.heappop(heap)
        if distance > distances[node]:
            continue
        for edge in range(offsets[node], offsets[node + 1]):
            further = distance + weights[edge]
            if further <= limit and further < distances.get(targets[edge], np.inf):
                distances[targets[edge]] = further
                heapq.heappush(heap, (further, targets[edge]))
    real = weighted and graph.weights.dtype == np.float64
    found = [distances.get(node, np.inf if real else -1) for node in range(graph.nodes)]
    return np.array(found, np.float64 if real else np.int64 if weighted else np.int32)


def check_parents(graph: CsrGraph, found: static_graph.Traversal, weighted: bool) -> None:
    """Every node reached has a parent with an edge of the right length, and all lead to a source."""
    distances, parents = found.distances, found.parents
    reached = found.reached()
    offsets, targets = graph.offsets, graph.targets
    for node in range(graph.nodes):
        parent = int(parents[node])
        if node in found.sources or not reached[node]:
            assert parent == -1
            continue
        edges = range(offsets[parent], offsets[parent + 1])
        weights = graph.weights if weighted else np.ones(graph.edges, np.int32)
        assert any(targets[e] == node and distances[parent] + weights[e] == distances[node] for e in edges)
        closer = [
            origin
            for origin in np.flatnonzero(reached & (distances < distances[node])).tolist()
            for e in range(offsets[origin], offsets[origin + 1])
            if targets[e] == node and distances[origin] + weights[e] == distances[node]
        ]
        assert parent == min(closer) if closer else distances[parent] == distances[node]
    for node in np.flatnonzero(reached).tolist():
        path = found.path_to(node)
        assert path[0] in found.sources and path[-1] == node and len(set(path.tolist())) == len(path)


def random_graph(seed: int) -> CsrGraph:
    """A small graph with self loops, multiple edges, hubs, and weights of which many are 0 or lost in a sum."""
    random = np.random.default_rng(seed)
    nodes = int(random.integers(1, 50))
    edges = int(random.integers(0, 4 * nodes))
    ends = random.integers(0, nodes, (2, edges))
    if seed % 4 == 0:
        ends[0, : edges // 2] = random.integers(0, nodes)
    weights = (
        random.integers(0, 3, edges),
        random.integers(1, 101, edges),
        random.integers(0, 2, edges) * 2**40,
        np.where(random.random(edges) < 0.5, 1e-30, random.random(edges)),
        np.zeros(edges),
    )[seed % 5]
    return CsrGraph.from_edges(*ends, weights, nodes)


@pytest.mark.parametrize("balance", BALANCES)
def test_distances_and_parents_on_random_graphs(balance, device):
    options = OPTIONS.get(balance, {})
    for seed in range(15):
        graph = random_graph(seed)
        random = np.random.default_rng(seed)
        sources = random.integers(0, graph.nodes, 1 + seed % 3).tolist()
        limit = None if seed % 3 else int(random.integers(0, 6))
        on_device = DeviceGraph.upload(graph, device)
        levels = bfs(on_device, sources, balance=balance, depth_limit=limit, parents=True, **options)
        expected = dijkstra(graph, sources, False, np.inf if limit is None else limit)
        np.testing.assert_array_equal(levels.distances, expected, f"seed {seed}")
        assert levels.distances.dtype == np.int32
        check_parents(graph, levels, False)
        paths = sssp(on_device, sources, balance=balance, distance_limit=limit, parents=True, **options)
        expected = dijkstra(graph, sources, True, np.inf if limit is None else limit)
        np.testing.assert_array_equal(paths.distances, expected, f"seed {seed}")
        assert paths.distances.dtype == expected.dtype
        check_parents(graph, paths, True)


@pytest.mark.parametrize("one_launch", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
def test_bfs_levels_with_every_direction(one_launch, transposed, device):
    """Tiles, chunks and pulls need graphs that are not tiny."""
    for seed, (nodes, edges) in enumerate([(3000, 40_000), (20_000, 30_000), (500, 100_000), (1, 5)]):
        random = np.random.default_rng(seed)
        ends = random.integers(0, nodes, (2, edges))
        ends[0, : edges // 3] = nodes // 2
        graph = CsrGraph.from_edges(*ends, None, nodes)
        sources = [0, nodes // 3]
        on_device, expected = DeviceGraph.upload(graph, device), dijkstra(graph, sources, False)
        for parents in (False, True):
            found = direction_optimising.run(
                on_device, sources, transposed=transposed, parents=parents, one_launch=one_launch
            )
            np.testing.assert_array_equal(found.distances.download(), expected)
            assert found.launches == 1 or not one_launch
        assert found.parents is not None
        parents = find_parents(on_device, found.distances, weighted=False)
        np.testing.assert_array_equal(found.parents.download(), parents)


@pytest.mark.parametrize("transposed", [False, True])
def test_threads_push_large_frontiers_by_ranges_of_nodes(transposed):
    """Levels of a random graph: few nodes, a considerable part of all, nearly all, and the last few."""
    random = np.random.default_rng(4)
    nodes = 10_000 + random.integers(1000)  # the last range is not whole
    ends = random.integers(0, nodes, (2, 6 * nodes))
    ends[0, :20_000] = nodes // 2  # a row that is cut into chunks
    graph = CsrGraph.from_edges(*ends, None, nodes)
    expected = dijkstra(graph, [3], False)
    assert np.bincount(expected[expected >= 0]).max() > nodes / 4
    for threads in (2, 3):
        on_device = DeviceGraph.upload(graph, open_device("cpu", threads))
        for parents in (False, True):
            found = direction_optimising.run(on_device, [3], transposed=transposed, parents=parents)
            np.testing.assert_array_equal(found.distances.download(), expected)
        assert found.parents is not None
        tree = find_parents(on_device, found.distances, weighted=False)
        np.testing.assert_array_equal(found.parents.download(), tree)


@pytest.mark.parametrize("limit", [None, 0, 1, 2**40])
@pytest.mark.parametrize("asked", [{}, {"parents": True}, {"order": True}])
def test_one_thread_finds_what_rounds_find_in_small_graphs(asked, limit, monkeypatch):
    random = np.random.default_rng(7)
    for nodes, edges in [(1, 0), (2, 9), (60, 40), (300, 900), (40, 1500)]:
        graph = CsrGraph.from_edges(*random.integers(0, nodes, (2, edges)), None, nodes)
        alone = static_graph.bfs(graph, nodes // 2, **asked, depth_limit=limit, device="cpu", threads=1)
        assert alone.launches == 1
        again = static_graph.bfs(graph, nodes // 2, **asked, depth_limit=limit, device="cpu", threads=1)
        np.testing.assert_array_equal(alone.distances, again.distances)
        with monkeypatch.context() as patched:
            patched.setattr(small_search, "MOST", 0)
            rounds = static_graph.bfs(graph, nodes // 2, **asked, depth_limit=limit, device="cpu", threads=1)
        for name in ("distances", "parents", "order"):
            np.testing.assert_array_equal(getattr(alone, name), getattr(rounds, name))
        expanded = (alone.distances >= 0) & (alone.distances < (nodes if limit is None else limit))
        assert alone.edges_followed == np.diff(graph.offsets)[expanded].sum()
        # A search by queue on several teams does not count a last level without edges.
        assert alone.rounds - rounds.rounds in ((0, 1) if "order" in asked else (0,))


def test_pulling_examines_fewer_edges(device):
    random = np.random.default_rng(2)
    nodes, edges = 20_000, 400_000
    graph = CsrGraph.from_edges(*random.integers(0, nodes, (2, edges)), None, nodes)
    on_device = DeviceGraph.upload(graph, device)
    pushed, pulled = (direction_optimising.run(on_device, [3], transposed=transposed) for transposed in (False, True))
    np.testing.assert_array_equal(pushed.distances.download(), pulled.distances.download())
    assert pushed.relaxed == graph.out_degrees[pushed.distances.download() >= 0].sum()
    assert pulled.relaxed < pushed.relaxed / 3


def test_the_transposed_graph_is_made_when_it_has_paid(device):
    random = np.random.default_rng(3)
    nodes, edges = 2000, 80_000  # more than one thread searches alone
    graph = CsrGraph.from_edges(*random.integers(0, nodes, (2, edges)), None, nodes)
    on_device = DeviceGraph.upload(graph, device)
    counts = [bfs(on_device, 3).edges_followed for _ in range(direction_optimising.TRANSPOSITION + 2)]
    assert counts[0] == counts[direction_optimising.TRANSPOSITION - 1] > 2 * counts[-1]
    ready = static_graph.upload(graph, device.name, device.threads or None, transposed=True)
    assert bfs(ready, 3).edges_followed == counts[-1]
    assert bfs(graph, 3, device=device.name, threads=device.threads or None).edges_followed == counts[0]


@pytest.mark.parametrize("one_launch", [False, True])
@pytest.mark.parametrize("delta", [None, 1, 1e9])
def test_near_far_with_every_delta(one_launch, delta, device):
    for seed, kind in enumerate((np.int32, np.int64, np.float64)):
        random = np.random.default_rng(seed)
        nodes, edges = 3000, 20_000
        ends = random.integers(0, nodes, (2, edges))
        ends[0, : edges // 2] = 7
        weights = random.integers(0, 101, edges).astype(kind) * (2**40 if kind == np.int64 else 1)
        graph = CsrGraph.from_edges(*ends, weights, nodes)
        found = near_far.run(DeviceGraph.upload(graph, device), [7, 9], delta=delta, one_launch=one_launch)
        np.testing.assert_array_equal(found.distances.download(), dijkstra(graph, [7, 9], True))


@given(
    ends=st.integers(1, 12).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(0, 4)))
        )
    ),
    source=st.integers(0, 11),
    threads=st.sampled_from([1, 3]),
    real=st.booleans(),
)
@settings(max_examples=60)
def test_distances_on_arbitrary_small_graphs(ends, source, threads, real):
    nodes, edges = ends
    table = np.array(edges, np.int64).reshape(-1, 3)
    graph = CsrGraph.from_edges(table[:, 0], table[:, 1], table[:, 2] * (0.1 if real else 1), nodes)
    for weighted, search in ((False, bfs), (True, sssp)):
        found = search(graph, source % nodes, parents=True, device="cpu", threads=threads)
        np.testing.assert_array_equal(found.distances, dijkstra(graph, [source % nodes], weighted))
        check_parents(graph, found, weighted)


def test_distances_on_a_long_path(device):
    count = 100_000
    nodes = np.arange(count - 1)
    graph = DeviceGraph.upload(CsrGraph.from_edges(nodes, nodes + 1, nodes % 3, count), device)
    levels = bfs(graph, 0, parents=True)
    np.testing.assert_array_equal(levels.distances, np.arange(count))
    np.testing.assert_array_equal(levels.path_to(count - 1), np.arange(count))
    paths = sssp(graph, 0, parents=True)
    np.testing.assert_array_equal(paths.distances[1:], np.cumsum(nodes % 3))
    np.testing.assert_array_equal(paths.parents, np.arange(count) - 1)
    assert bfs(graph, 0, depth_limit=70_000).distances.max() == 70_000


def test_parents_on_cycles_of_length_zero(device):
    """A circle of zeros between the source and others: no parents in a circle, whatever its length."""
    count = 30_000
    nodes = np.arange(count)
    edges = np.concatenate([nodes, nodes]), np.concatenate([(nodes + 1) % count, (nodes - 1) % count])
    for weights in (np.zeros(2 * count, np.int64), np.full(2 * count, 1e-300)):
        lead = 1 if weights.dtype == np.int64 else 1.0
        ends = np.append(edges[0], count), np.append(edges[1], 17)
        graph = CsrGraph.from_edges(*ends, np.append(weights, lead), count + 1)
        found = sssp(DeviceGraph.upload(graph, device), count, parents=True)
        assert (found.distances[:count] == 1).all()
        # Each direction as far as it is shorter; the opposite node has the smaller of two parents.
        expected = np.where((nodes - 17) % count <= (17 - nodes) % count, (nodes - 1) % count, (nodes + 1) % count)
        expected[(17 + count // 2) % count] = min((16 + count // 2) % count, (18 + count // 2) % count)
        expected[17] = count
        np.testing.assert_array_equal(found.parents[:count], expected)


def test_distances_on_a_star(device):
    """A node with 60,000 edges: more than a team takes at once, both ways."""
    leaves = np.arange(1, 60_001)
    hub = np.zeros_like(leaves)
    ends = np.concatenate([hub, leaves]), np.concatenate([leaves, hub])
    graph = DeviceGraph.upload(CsrGraph.from_edges(*ends, np.concatenate([leaves, leaves])), device)
    for source in (0, 5):
        levels, paths = bfs(graph, source, parents=True), sssp(graph, source, parents=True)
        expected = np.full(60_001, 1 if source == 0 else 2, np.int32)
        expected[0], expected[source] = (1, 0) if source else (0, 0)
        np.testing.assert_array_equal(levels.distances, expected)
        lengths = np.arange(60_001) + source
        lengths[[0, source]] = source, 0
        np.testing.assert_array_equal(paths.distances, lengths)
        for found in (levels, paths):
            others = np.setdiff1d(leaves, [source])
            assert (found.parents[others] == 0).all() and found.parents[source] == -1


def test_searches_of_empty_graphs(device):
    nothing = np.empty(0, np.int64)
    for nodes, sources in ((0, []), (1, [0]), (5, [3, 3])):
        graph = DeviceGraph.upload(CsrGraph.from_edges(nothing, nothing, nothing, nodes), device)
        expected = np.full(nodes, -1)
        expected[sources] = 0
        for balance in BALANCES:
            for search in (bfs, sssp):
                found = search(graph, sources, balance=balance, parents=True)
                np.testing.assert_array_equal(found.distances, expected)
                assert (found.parents == -1).all()


def test_distances_near_the_largest_integer(device):
    """Sums up to the largest whole number, a delta that would go beyond it, and reals that overflow."""
    huge = 2**61 - 1
    graph = CsrGraph.from_edges([0, 1, 2, 0], [1, 2, 0, 2], [huge, huge, 1, huge], 3)
    assert sssp(DeviceGraph.upload(graph, device), 0).distances.tolist() == [0, huge, huge]
    assert sssp(DeviceGraph.upload(graph, device), 1).distances.tolist() == [huge + 1, 0, huge]
    narrow = CsrGraph.from_edges([0, 1], [1, 2], [2**31 - 1, 2**31 - 1], 3)
    assert sssp(DeviceGraph.upload(narrow, device), 0).distances.tolist() == [0, 2**31 - 1, 2**32 - 2]
    real = CsrGraph.from_edges([0, 1, 2], [1, 2, 3], [1.7e308, 1.7e308, 1.0], 4)
    found = sssp(DeviceGraph.upload(real, device), 0, parents=True)
    assert found.distances.tolist() == [0, 1.7e308, np.inf, np.inf] and found.parents.tolist() == [-1, 0, -1, -1]


def test_several_searches_of_one_graph(device):
    """A search does not depend on the state left by the previous one."""
    graph = random_graph(1)
    on_device = DeviceGraph.upload(graph, device)
    for source in range(0, graph.nodes, 3):
        for search, weighted in ((bfs, False), (sssp, True)):
            np.testing.assert_array_equal(search(on_device, source).distances, dijkstra(graph, [source], weighted))


def test_small_graphs_stay_on_the_devices_that_have_searched_them():
    small, large = (generate_random(50, edges, weights=9, device="cpu") for edges in (MOST_KEPT, MOST_KEPT + 1))
    for threads in (1, 2, 1):
        for graph in (small, large):
            found = sssp(graph, 0, device="cpu", threads=threads)
            np.testing.assert_array_equal(found.distances, dijkstra(graph, [0], True))
    one, two = (open_device("cpu", threads) for threads in (1, 2))
    assert kept_upload(small, one) is kept_upload(small, one) is not kept_upload(small, two)
    assert kept_upload(large, one) is not kept_upload(large, one)
    dropped = ref(small)
    del small, graph
    gc.collect()
    assert dropped() is None


def test_results_of_a_search():
    graph = CsrGraph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [4, 1, 1, 1], 6)
    found = sssp(graph, 0, parents=True, device="cpu", threads=2)
    assert found.distances.tolist() == [0, 4, 1, 2, -1, -1] and found.parents.tolist() == [-1, 0, 0, 2, -1, -1]
    assert found.path_to(3).tolist() == [0, 2, 3] and found.path_to(0).tolist() == [0] and found.path_to(4) is None
    assert (found.balance, found.device, found.threads, found.sources) == ("auto", "cpu", 2, (0,))
    assert found.edges_followed >= 4 and found.rounds >= 1 and found.launches >= 1
    assert set(found.seconds) == {"upload", "prepare", "rounds", "parents", "download"}
    assert "4 of 6 nodes" in repr(found)
    split = bfs(graph, 0, balance="split", mda=1, device="cpu")
    assert split.figures["extra_nodes"] == 1 and split.parents is None


def test_invalid_arguments_are_refused():
    graph = CsrGraph.from_edges([0, 1], [1, 2], [1, 2], 3)
    with pytest.raises(OptionError, match=f"balance must be one of {', '.join(BALANCES)}"):
        bfs(graph, 0, balance="best")
    with pytest.raises(OptionError, match=r"mda .*'split'"):
        bfs(graph, 0, balance="warp", mda=3)
    with pytest.raises(OptionError, match=r"delta .*'auto'"):
        sssp(graph, 0, balance="hierarchical", delta=3)
    with pytest.raises(OptionError, match=r"atomic .*'none'"):
        bfs(graph, 0, atomic=False)
    for source, words in ((3, "node 3: the 3 nodes are 0 to 2"), (-1, "node -1"), ([], "at least one")):
        with pytest.raises(GraphError, match=words):
            bfs(graph, source)
    with pytest.raises(OptionError, match="depth_limit"):
        bfs(graph, 0, depth_limit=-1)
    for limit in (-1, float("nan")):
        with pytest.raises(OptionError, match="distance_limit"):
            sssp(graph, 0, distance_limit=limit)
    with pytest.raises(OptionError, match="delta = 0"):
        sssp(graph, 0, delta=0)
    with pytest.raises(GraphError, match="no weights"):
        sssp(CsrGraph.from_edges([0], [1]), 0)
    with pytest.raises(OptionError, match="already"):
        bfs(DeviceGraph.upload(graph, open_device("cpu")), 0, threads=2)
    with pytest.raises(OptionError, match="parents=True"):
        bfs(graph, 0, device="cpu").path_to(1)
    with pytest.raises(GraphError, match="no node 9"):
        bfs(graph, 0, device="cpu", parents=True).path_to(9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"balance": "split", "mda": 2.5}, 'mda must be a whole number, or "auto", not 2.5'),
        ({"balance": "split", "mda": "best"}, "mda must be .*, not 'best'"),
        ({"balance": "split", "mda": 2**70}, "2\\^62 at most"),
        ({"balance": "child-launch", "threshold": 1.5}, "threshold must be a whole number, not 1.5"),
        ({"balance": "warp", "chunk": "4"}, "chunk must be a whole number, not '4'"),
        ({"balance": "warp", "defer": -(2**65)}, "2\\^62"),
        ({"balance": "none", "atomic": "no"}, "atomic must be True or False, not 'no'"),
        ({"delta": "wide"}, "delta must be a number, not 'wide'"),
        ({"delta": float("inf")}, "above 0, and finite"),
        ({"distance_limit": "far"}, "distance_limit must be .*, not 'far'"),
        ({"source": 1.0}, "source must be .*, not 1.0"),
        ({"source": "a"}, "source must be .*, not 'a'"),
        ({"source": [0, None]}, "source must be .*, not None"),
    ],
)
def test_values_of_wrong_type_are_refused(options, words):
    graph = CsrGraph.from_edges([0, 1], [1, 2], [1, 2], 3)
    with pytest.raises(OptionError, match=words):
        sssp(graph, **{"source": 0, "device": "cpu", **options})


def test_every_integer_type_is_accepted():
    graph = CsrGraph.from_edges([0, 1], [1, 2], [1, 2], 3)
    found = bfs(graph, np.array([1]), balance="split", mda=np.int8(1), depth_limit=10**30, parents=True, device="cpu")
    assert found.distances.tolist() == [-1, 0, 1] and found.path_to(np.uint64(2)).tolist() == [1, 2]
    assert bfs(graph, 0, balance="child-launch", threshold=2**62, device="cpu").distances.tolist() == [0, 1, 2]
    with pytest.raises(OptionError, match=r"node must be a whole number, not 1\.5"):
        found.path_to(1.5)
    with pytest.raises(OptionError, match=r"depth_limit must be a whole number, not 1\.5"):
        bfs(graph, 0, depth_limit=1.5)


@pytest.mark.parametrize("balance", BALANCES)
def test_a_depth_limit_of_minus_zero(balance):
    """Its bits are the smallest of all integers."""
    graph = CsrGraph.from_edges([0, 1], [1, 2], [0.0, 0.5], 3)
    found = sssp(graph, 0, balance=balance, distance_limit=-0.0, device="cpu")
    assert found.distances.tolist() == [0, 0, np.inf]


@pytest.mark.parametrize(
    "labels",
    [["d", "a", "c", "b"], [30, 10, 20, 0], [(0, 1), (1, 0), "c", None], None],
    ids=["text", "int", "object", "-"],
)
def test_labels_go_in_and_come_out(labels, device_options):
    graph = CsrGraph.from_edges([0, 1, 3], [1, 3, 0], [2, 3, 4], nodes=4, labels=labels)
    names = list(range(4)) if labels is None else labels
    on_device = static_graph.upload(graph, **device_options)
    for found in (bfs(on_device, 0, order=True), sssp(on_device, 0, parents=True)):
        assert [found.of(name) for name in names] == found.distances.tolist()
        assert all(type(found.of(name)) is int for name in names)
        assert found.path_to(3).tolist() == [0, 1, 3]
        assert found.path_to(2) is None
        if labels is None or None not in labels:
            assert found.path_to(label=names[3]).tolist() == [names[0], names[1], names[3]]
            assert found.path_to(label=names[2]) is None
        if labels is not None and not isinstance(labels[0], int):
            assert found.path_to(names[0]).tolist() == [names[0]]
        with pytest.raises(GraphError, match="the graph has no node 77"):
            found.of(77)
        for twin in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
            assert [twin.of(name) for name in names] == found.distances.tolist()
    assert bfs(on_device, 0, order=True).labels_of([0, 1, 3]).tolist() == [names[0], names[1], names[3]]
    ranked = static_graph.pagerank(on_device)
    assert [ranked.of(name) for name in names] == ranked.scores.tolist()
    assert ranked.labels_of(ranked.top(4)).tolist() == [names[node] for node in ranked.top(4).tolist()]
    for connection in ("weak", "strong"):
        components = static_graph.connected_components(on_device, connection=connection)
        assert [components.of(name) for name in names] == components.labels.tolist()
        members = components.labels_of(components.members(components.of(names[3])))
        assert members.tolist() == [names[0], names[1], names[3]]
        assert pickle.loads(pickle.dumps(components)).of(names[3]) == 0
    with pytest.raises(GraphError, match="there is no node 4: the 4 nodes are 0 to 3"):
        ranked.labels_of([0, 4])


def test_strings_are_labels_and_integers_are_numbers():
    graph = CsrGraph.from_edges([0, 1], [1, 2], labels=["2", "b", "0"])
    assert bfs(graph, "b").distances.tolist() == bfs(graph, 1).distances.tolist() == [-1, 0, 1]
    assert bfs(graph, ["b", 0]).sources == (1, 0)
    found = bfs(graph, "2", parents=True)
    assert found.path_to("0").tolist() == found.path_to(label="0").tolist() == ["2", "b", "0"]
    assert found.path_to(0).tolist() == [0]
    with pytest.raises(GraphError, match="the graph has no node x"):
        bfs(graph, "x")
    with pytest.raises(GraphError, match="the graph has no node x"):
        found.path_to("x")
    for arguments in ({}, {"node": 0, "label": "2"}):
        with pytest.raises(OptionError, match="a node's number, or a label"):
            found.path_to(**arguments)
    with pytest.raises(OptionError, match="source must be a node's number"):
        bfs(CsrGraph.from_edges([0], [1]), "0")
    with pytest.raises(OptionError, match="source must be a node's number"):
        bfs(CsrGraph.from_edges([0], [1], labels=[7, 8]), "7")
    with pytest.raises(GraphError, match="labels must have shape"):
        static_graph.Traversal([0, -1], None, (0,), "auto", "cpu", 1, 1, 1, 1, {}, {}, None, ["a"])


def test_results_of_small_searches_are_frozen_when_they_are_read():
    graph = CsrGraph.from_edges([0, 1, 1], [1, 2, 3], None, 5)
    found = bfs(graph, 0, parents=True, device="cpu")
    assert not {"distances", "parents"} & vars(found).keys()
    assert found.distances is found.distances and found.distances.tolist() == [0, 1, 2, 2, -1]
    for array in (found.distances, found.parents, pickle.loads(pickle.dumps(found)).parents):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("options", [{"device": "cpu"}, {"device": "cpu", "threads": 1}, {"device": "auto"}, {}])
def test_small_searches_reuse_the_memory_of_dropped_results_only(options):
    graph = CsrGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], None, 5)
    expected = [[(node - source) % 4 if node < 4 else -1 for node in range(5)] for source in range(4)]
    kept = [bfs(graph, source, order=True, **options) for source in range(4)]
    orders = [bfs(graph, source, order=True, **options).order for source in range(4)]  # of results that are dropped
    views = [bfs(graph, source, **options).distances[1:] for source in range(4)]
    for source in range(4):
        assert kept[source].device == "cpu"
        assert kept[source].distances.tolist() == expected[source] and views[source].tolist() == expected[source][1:]
        path = [(source + step) % 4 for step in range(4)]
        assert kept[source].order.tolist() == orders[source].tolist() == path
        assert [kept[source].parents[node] for node in path] == [-1, *path[:3]]
    first = bfs(graph, 0, **options).distances.ctypes.data
    assert bfs(graph, 1, **options).distances.ctypes.data == first


@pytest.mark.parametrize(
    "changed", [{"source": 5}, {"source": True}, {"parents": 2.5}, {"device": "gpu"}, {"threads": 0}]
)
def test_small_graphs_that_were_searched_before_check_their_arguments(changed):
    graph = CsrGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], None, 5)
    arguments = {"source": 0, "parents": True, "device": "cpu", "threads": 1}
    bfs(graph, **arguments)
    if changed == {"source": True}:
        assert bfs(graph, **{**arguments, **changed}).sources == (1,)
    else:
        with pytest.raises(static_graph.DmrError, match=r"node 5|parents must be|device must be|threads must be"):
            bfs(graph, **{**arguments, **changed})


def test_prepared_launches_change_consecutive_parameters():
    device, counts = open_device("cpu"), np.zeros(3, np.int64)
    graph = upload(CsrGraph.from_edges([0], [1], None, 2), "cpu")
    arguments = (graph.csr, 0, 9, None, None, device.empty(2, np.int32), 0, device.share(counts))
    with pytest.raises(InternalError, match="source, distances are not consecutive parameters"):
        PreparedLaunch(device, "search_small_graph", arguments, ("source", "distances"))
    launch = PreparedLaunch(device, "search_small_graph", arguments, ("source", "limit", "distances"))
    array = np.zeros(2, np.int32)
    for source, expected in ((0, [0, 1]), (1, [-1, 0])):
        launch(source, 9, address_of(array))
        assert array.tolist() == expected
