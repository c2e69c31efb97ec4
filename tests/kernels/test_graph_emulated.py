"""The CUDA version of `static_graph`'s kernels, run by an emulator of a GPU's threads."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components as by_scipy

from dmr.memory import open_device
from dmr.memory.declarations import Declarations
from static_graph.components.connecting import connected_components
from static_graph.components.table import METHODS as COMPONENTS
from static_graph.engine.colours import coloured
from static_graph.engine.loop import STRATEGIES, how
from static_graph.engine.trimming import trimmed_nodes
from static_graph.errors import GraphError
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.incoming import incoming
from static_graph.traversal.frontiers import direction_optimising, near_far, queue_search, several_sources
from static_graph.traversal.parents import find_parents
from tests.support.emulated import emulator
from tests.support.graphs.components import deep_graphs, graphs, smallest_labels
from tests.support.graphs.ranked import DENSE, METHODS, fixed_point_scores, units
from tests.support.graphs.traversed import SCHEMES, random_graph, reference

pytestmark = pytest.mark.slow

SOURCES = [
    "graph/building/checking.cu",
    "graph/building/incoming.cu",
    "graph/building/renumbering.cu",
    "graph/building/rows.cu",
    "primitives/gathering.cu",
    "primitives/scan.cu",
    "primitives/sorting.cu",
    *emulator.sources_in(*(f"graph/{each}" for each in ("components", "engine", "pagerank", "schemes", "traversal"))),
]
WAYS = [(c, m) for c, methods in COMPONENTS.items() for m, method in methods.items() if not method.serial]
DEFAULTS = {
    "breadth first": (direction_optimising.run, {"one_launch": False}, False),
    "breadth first, one launch": (direction_optimising.run, {"one_launch": True}, False),
    "breadth first, pushed": (direction_optimising.run, {"transposed": False, "one_launch": False}, False),
    "near-far": (near_far.run, {"one_launch": False}, True),
    "near-far, one launch": (near_far.run, {"one_launch": True, "delta": 1}, True),
}


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    return emulator.EmulatedDevice(emulator.build(tmp_path_factory.mktemp("emulated"), SOURCES))


def with_hubs(seed: int) -> CsrGraph:
    """Nodes whose edges a team, a warp or a thread takes, by their number."""
    random = np.random.default_rng(seed)
    nodes, edges = 400, 2500
    ends = random.integers(0, nodes, (2, edges))
    ends[0, :1500] %= 4
    ends[0, 1500:1900] = 7 + ends[0, 1500:1900] % 5
    weights = random.integers(0, 30, edges) if seed % 2 else random.random(edges)
    return CsrGraph.from_edges(*ends, weights, nodes)


GRAPHS = [*(random_graph(seed) for seed in (2, 3, 4, 5)), with_hubs(0), with_hubs(1)]  # weights of every type


@pytest.mark.parametrize("scheme", SCHEMES)
def test_schemes_on_the_emulated_gpu(scheme, device):
    run, options = SCHEMES[scheme]
    for number, graph in enumerate(GRAPHS):
        on_device, sources = DeviceGraph.upload(graph, device), [0, graph.nodes - 1]
        for weighted in (False, True) if graph.weights is not None else (False,):
            found = run(on_device, sources, weighted=weighted, **options).distances.download()
            np.testing.assert_array_equal(found, reference(graph, sources, weighted), f"graph {number}, {weighted}")


def test_arrays_are_checked_on_the_emulated_gpu(device):
    for number, graph in enumerate(GRAPHS):
        if graph.weights is None:
            continue
        for weights in (graph.weights, graph.weights.astype(np.float32)):
            arrays = [graph.offsets, graph.targets.astype(np.int64), weights]
            made = DeviceGraph.from_arrays(*map(device.array, arrays))
            np.testing.assert_array_equal(made.targets.download(), graph.targets, f"graph {number}")
            np.testing.assert_array_equal(made.weights.download(), weights, f"graph {number}")
            assert made.largest_weight == weights.max()
            for place, value in ((1, graph.nodes), (2, -1)):
                wrong = [each.copy() for each in arrays]
                wrong[place][[-9, -3]] = value
                with pytest.raises(GraphError, match=f"edge {graph.edges - 9}: "):
                    DeviceGraph.from_arrays(*map(device.array, wrong))


def large(seed: int) -> CsrGraph:
    """Work for several teams: tiles, chunks of a hub, many edges per node, far lists that are split."""
    random = np.random.default_rng(seed)
    nodes, edges = 2500, 12_000
    ends = random.integers(0, nodes, (2, edges))
    ends[0, :5000] = 11
    ends[1, 5000:7000] = 12
    ends[0, 7000:7400], ends[1, 7000:7400] = random.integers(2400, nodes, 400), 2399
    return CsrGraph.from_edges(*ends, random.integers(0, 90, edges) if seed % 2 else random.random(edges), nodes)


@pytest.mark.parametrize("default", DEFAULTS)
def test_default_searches_and_parents_on_the_emulated_gpu(default, device):
    run, options, weighted = DEFAULTS[default]
    for number, graph in enumerate([*GRAPHS, large(0), large(1)]):
        if weighted and graph.weights is None:
            continue
        on_device, sources = DeviceGraph.upload(graph, device), [0, graph.nodes - 1]
        outcome = run(on_device, sources, weighted=weighted, **options | ({} if weighted else {"parents": True}))
        distances = outcome.distances
        parents = find_parents(on_device, distances, weighted=weighted)
        if outcome.parents is not None:
            np.testing.assert_array_equal(outcome.parents.download(), parents, f"graph {number}")
        found = distances.download()
        np.testing.assert_array_equal(found, reference(graph, sources, weighted), f"graph {number}")
        for node in np.flatnonzero((found >= 0) & np.isfinite(found)):
            assert parents[node] >= 0 or node in sources


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_searches_from_many_sources_on_the_emulated_gpu(strategy, device):
    for number, graph in enumerate(GRAPHS):
        sources = np.random.default_rng(number).integers(0, graph.nodes, 20).tolist()
        distances = device.empty(len(sources) * graph.nodes, np.int32)
        several_sources.run(DeviceGraph.upload(graph, device), sources, distances, balance=strategy)
        rows = distances.download().reshape(len(sources), -1)
        for source, row in zip(sources, rows, strict=True):
            np.testing.assert_array_equal(row, reference(graph, [source], False), f"graph {number}, from {source}")


@pytest.mark.parametrize("one_launch", [False, True])
def test_the_order_of_a_search_on_the_emulated_gpu(one_launch, device):
    for number, graph in enumerate([*GRAPHS, large(0)]):
        sources = [graph.nodes - 1, 0]
        on_device, on_cpu = (DeviceGraph.upload(graph, where) for where in (device, open_device("cpu", 1)))
        found = queue_search.run(on_device, sources, one_launch=one_launch)
        expected = queue_search.run(on_cpu, sources)  # sequential
        for name in ("order", "parents"):
            arrays = (getattr(outcome, name).download() for outcome in (found, expected))
            np.testing.assert_array_equal(*arrays, f"graph {number}, {name}")
        np.testing.assert_array_equal(found.distances.download(), reference(graph, sources, False))


def test_transposition_on_the_emulated_gpu(device):
    for number, graph in enumerate(GRAPHS):
        if graph.weights is not None:
            back, expected = incoming(DeviceGraph.upload(graph, device), weighted=True), graph.reversed()
            np.testing.assert_array_equal(back.targets.download(), expected.targets, f"graph {number}")
            np.testing.assert_array_equal(back.weights.download(), expected.weights, f"graph {number}")


@pytest.mark.parametrize("method", METHODS)
def test_pagerank_on_the_emulated_gpu(method, device):
    graphs = [*(random_graph(seed) for seed in range(1, 5)), *([large(1)] if method.startswith("pull") else [])]
    for number, graph in enumerate(graphs):
        options = {"precision": ("fixed", "float32")[number % 2], "rule": ("brin-page", "report")[number // 2 % 2]}
        weighted = graph.weights is not None and graph.weights.dtype == np.int32 and number // 2 % 2 == 0
        expected, changes = fixed_point_scores(graph, 2, weighted=weighted, **options)
        assert units(method, graph, device, 2, weighted=weighted, **options) == (expected, changes[-1]), number


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_trimming_and_colours_on_the_emulated_gpu(strategy, device):
    """On the CPU the same algorithms are compared with independent results."""
    cpu = open_device("cpu", 1)
    for number, graph in enumerate([*GRAPHS, large(0)]):
        there, here = DeviceGraph.upload(graph, device), DeviceGraph.upload(graph, cpu)
        for alone in (False, True):
            trimmed = [trimmed_nodes(each, how(strategy), alone=alone)[0].download() for each in (there, here)]
            np.testing.assert_array_equal(*trimmed, f"graph {number}")
            options = ({"growth": 2}, {"atomic": False})[(number + alone) % 2]
            colours = [coloured(each, how(strategy), alone=alone, **options)[0].download() for each in (there, here)]
            np.testing.assert_array_equal(*colours, f"graph {number}")


@pytest.mark.parametrize("method", DENSE)
def test_dense_pagerank_on_the_emulated_gpu(method, device):
    for graph in (random_graph(3), random_graph(7)):
        weighted = graph.weights is not None
        expected = units(method, graph, open_device("cpu", 1), 2, weighted=weighted)
        assert units(method, graph, device, 2, weighted=weighted) == expected


@pytest.mark.parametrize(("connection", "method"), WAYS)
def test_components_on_the_emulated_gpu(connection, method, device):
    small = [(name, graph) for name, graph in (*graphs(), *deep_graphs(30)) if graph.nodes <= 150]
    for name, graph in small[::3]:
        uploaded = DeviceGraph.upload(graph, device)
        expected = smallest_labels(by_scipy(graph.to_scipy(), connection=connection)[1])
        for _ in range(2):
            found = connected_components(uploaded, connection=connection, method=method)
            np.testing.assert_array_equal(found.labels, expected, name)


FAULTY = r"""
#include "portable/portable.cuh"
TEAM_KERNEL(some_wait, int32 *places) {
    for ([[maybe_unused]] const Team team : launch.teams())
        if (threadIdx.x % 2)
            Team::barrier();
}
TEAM_KERNEL(two_barriers, int32 *places) {
    for ([[maybe_unused]] const Team team : launch.teams()) {
        if (threadIdx.x % 32 < 16) {
            Team::barrier();
            places[threadIdx.x] = 1;
        } else {
            places[threadIdx.x] = 2;
            Team::barrier();
        }
    }
}
KERNEL(some_lanes, int32 *places) {
    for ([[maybe_unused]] const Index i : launch)
        if (i % 2)
            places[i] = __shfl_sync(~0u, places[i], 0);
}
KERNEL(lost, int32 *places) {
    for ([[maybe_unused]] const Index i : launch)
        racing_store(places, racing_load(places) + 1);
}
KERNEL(counted, int32 *places) {
    for ([[maybe_unused]] const Index i : launch)
        atomic_add(places, 1);
}
"""

PROGRAM = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
place = (ctypes.c_int32 * 512)()
slots = (ctypes.c_uint64 * 4)(0, 0, 512, ctypes.addressof(place))
getattr(library, "emulated_" + sys.argv[2])(1, 128, slots)
print(place[0])
"""


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """A library of kernels with faults."""
    folder = tmp_path_factory.mktemp("faulty")
    source = folder / "faulty.cu"
    source.write_text(FAULTY)
    emulator.build(folder, [str(source)], Declarations(folder).kernels.values())
    return folder / "emulated.so"


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        ("some_wait", "some threads wait at a barrier, others have ended"),
        ("two_barriers", "some threads wait at one barrier, others at another"),
        ("some_lanes", "a lane of the mask is not there any more"),
    ],
)
def test_the_emulator_detects_deadlocks(faulty, kernel, sentence):
    done = subprocess.run([sys.executable, "-c", PROGRAM, faulty, kernel], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and re.search(f"emulated kernel: {sentence}", done.stderr)


def test_the_emulator_detects_lost_updates(faulty):
    def result(kernel):
        done = subprocess.run([sys.executable, "-c", PROGRAM, faulty, kernel], capture_output=True, check=True)
        return int(done.stdout)

    assert result("counted") == 512 and result("lost") < 512
