"""Helpers of the traversal tests: schemes with options, random graphs, and reference distances."""

from __future__ import annotations

from functools import cache

import numpy as np

from scripts.sanitize.schemes import scheme_runs
from static_graph.graph.csr import CsrGraph

ABLATION = ("coalesced", "shared_queue", "team_primitives")  # options of the collapsed loops, in the paper's order

# Every scheme with its variants: its function and options.
SCHEMES = {f"{name}, {variant}": (run, options) for name, variant, run, options in scheme_runs()}


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
