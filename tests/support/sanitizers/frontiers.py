"""Runs every kernel of the default traversals of `static_graph`, and of the search for parents, on small graphs."""

from __future__ import annotations

from itertools import chain

import numpy as np

from dmr.memory import open_device
from static_graph.engine.loop import STRATEGIES
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal.frontiers import direction_optimising, near_far, queue_search, several_sources, small_search
from static_graph.traversal.parents import find_parents
from tests.support.digests import digest
from tests.support.sanitizers.traversals import graphs

# The default traversals with every option: (run, options, whether weights count).
FRONTIERS = (
    (direction_optimising.run, {"transposed": True, "parents": True, "one_launch": False}, False),
    (direction_optimising.run, {"transposed": False, "parents": True, "one_launch": True}, False),
    (direction_optimising.run, {"transposed": True, "one_launch": True}, False),
    (near_far.run, {"one_launch": False}, True),
    (near_far.run, {"one_launch": True, "delta": 1}, True),
)


def dense_graphs():
    """Yields (name, graph) with nodes of more edges than one team takes, and levels that are better pulled."""
    random = np.random.default_rng(5)
    nodes, edges = 5000, 150_000
    ends = random.integers(0, nodes, (2, edges))
    ends[0, ::3] = 7
    for name, weights in (("dense", random.integers(0, 50, edges)), ("no lengths", np.where(ends[0] % 2, 1e-30, 1.0))):
        yield name, CsrGraph.from_edges(*ends, weights, nodes)


def frontiers(device):
    """Yields (case, digest) for the default traversals and their parents."""
    several = open_device("cpu", queue_search.LEAST_THREADS)  # which divide the levels of a queue
    for name, host in chain(graphs(), dense_graphs()):
        graph = DeviceGraph.upload(host, device)
        for number, (run, options, weighted) in enumerate(FRONTIERS):
            distances = run(graph, [0, 1], weighted=weighted, **options).distances
            parents = find_parents(graph, distances, weighted=weighted)
            yield [name, "default", number], digest(distances.download(), parents)
        for strategy in STRATEGIES:
            rows = device.empty(9 * host.nodes, np.int32)
            several_sources.run(graph, [k % host.nodes for k in range(9)], rows, balance=strategy)
            yield [name, "several", strategy], digest(rows.download())
        small = small_search.searches_on(DeviceGraph.upload(host, several)).search(1, parents=True)
        yield [name, "small"], digest(small.distances, small.parents)
        for one_launch in (False, True):
            found = queue_search.run(DeviceGraph.upload(host, several), [1, 0], one_launch=one_launch)
            arrays = (found.distances.download(), found.parents.download(), found.order.download())
            yield [name, "queue", one_launch], digest(*arrays)
