"""Helpers of the traversal tests: schemes with options, random graphs, and reference distances."""

from __future__ import annotations

from functools import cache

import numpy as np

from static_graph.engine.loop import STRATEGIES
from static_graph.graph.csr import CsrGraph
from static_graph.traversal.schemes import child_launches, collapse, fixed_point, node_splitting, virtual_warps

ABLATION = ("coalesced", "shared_queue", "team_primitives")

# Every scheme, with options that together cover all of its code on small graphs.
SCHEMES = {
    "none": (fixed_point.run, {}),
    "none, racing": (fixed_point.run, {"atomic": False}),
    "split": (node_splitting.run, {"mda": 3}),
    "split by one": (node_splitting.run, {"mda": 1}),
    "split, racing": (node_splitting.run, {"mda": 2, "atomic": False}),
    "child-launch": (child_launches.run, {"threshold": 3}),
    "child-launch, racing": (child_launches.run, {"threshold": 0, "atomic": False}),
    "child-launch, few": (child_launches.run, {"threshold": 2, "most_children": 3}),
    **{f"warp of {width}": (virtual_warps.run, {"warp_size": width}) for width in (1, 2, 4, 8, 16, 32)},
    **{f"warp of {width}, chunks": (virtual_warps.run, {"warp_size": width, "chunk": 7}) for width in (1, 8, 32)},
    "warp, outliers": (virtual_warps.run, {"warp_size": 8, "defer": 4}),
    "warp, all outliers": (virtual_warps.run, {"warp_size": 32, "chunk": 16, "defer": 0}),
    **{strategy: (collapse.run, {"strategy": strategy}) for strategy in STRATEGIES},
    **{
        f"{strategy}, plain": (collapse.run, {"strategy": strategy} | dict.fromkeys(ABLATION, False))
        for strategy in STRATEGIES
    },
    "collapse-local, coalesced": (collapse.run, {"shared_queue": False, "team_primitives": False}),
    "collapse-local, coalesced and shared": (collapse.run, {"team_primitives": False}),
}


def reference(graph: CsrGraph, sources: list[int], weighted: bool) -> np.ndarray:
    """Reference distances, by relaxing all edges at once until nothing changes (in float64, or in exact integers)."""
    weights = graph.weights if weighted else np.ones(graph.edges, np.int64)
    real = weights.dtype == np.float64
    unreached = np.inf if real else 2**62
    distances = np.full(graph.nodes, unreached, np.float64 if real else np.int64)
    distances[sources] = 0
    origins = graph.sources()
    while True:
        lower = distances.copy()
        reached = distances[origins] != unreached
        np.minimum.at(lower, graph.targets[reached], distances[origins[reached]] + weights[reached])
        if np.array_equal(lower, distances):
            break
        distances = lower
    return distances if real else np.where(distances == unreached, -1, distances)


@cache
def random_graph(seed: int) -> CsrGraph:
    """A random graph with self loops, multiple edges and unreachable nodes; a hub may have many of its edges."""
    random = np.random.default_rng(seed)
    nodes = int(random.integers(1, 90))
    edges = int(random.integers(0, 5 * nodes))
    ends = random.integers(0, nodes, (2, edges))
    hub = random.integers(0, nodes)
    ends[0, random.random(edges) < random.choice([0, 0.3, 0.8])] = hub
    weights = (
        None,
        random.integers(0, 4, edges),
        random.integers(1, 101, edges),
        random.integers(0, 2**44, edges),
        random.random(edges) * 10.0 ** random.integers(-8, 8, edges),
        np.where(random.random(edges) < 0.4, 0.0, random.random(edges)),
    )[seed % 6]
    return CsrGraph.from_edges(*ends, weights, nodes)
