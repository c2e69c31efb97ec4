"""Helpers of the PageRank tests: methods with options, and references in Python's integers and fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from static_graph.engine.loop import STRATEGIES
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph
from static_graph.link_analysis.methods import blocked, dense, pull, pull_loop, push, sequential
from static_graph.link_analysis.options import checked_options
from static_graph.link_analysis.state import RankTotal, State

# Every method whose scores do not depend on it, with options that together cover all of its code.
METHODS = {
    "pull": (pull.run, {"in_one_launch": False}),
    "pull, one launch": (pull.run, {"in_one_launch": True}),
    "pull, by degree": (pull.run, {"in_one_launch": False}),
    "pull, one launch, by degree": (pull.run, {"in_one_launch": True}),
    **{f"pull, {balance}": (pull_loop.run, {"balance": balance}) for balance in STRATEGIES},
    "push": (push.run, {}),
    "blocked": (blocked.run, {}),
    "sequential": (sequential.run, {}),
}
# Methods of a transition matrix, which rounds at other places.
DENSE = {name: (dense.run, {"variant": name}) for name in ("dense", "dense-atomic", "dense-sub-scores")}


def units(method, graph, device, iterations, *, weighted=False, **options):
    """The scores in units of 2^-62, and the last change, of a method's own module."""
    run, more = {**METHODS, **DENSE}[method]
    on_device = graph if isinstance(graph, DeviceGraph) else DeviceGraph.upload(graph, device)
    checked = checked_options(graph.nodes, **{**options, "iterations": iterations})
    state = State(on_device, checked, weighted=weighted, dense=method in DENSE, renumbered=method.endswith("by degree"))
    run(state, **more)
    scores = state.scores.download()
    if state.order is not None:
        scores[state.order.download()] = scores.copy()
    assert np.array_equal(state.download(), scores / np.float64(2**62))
    return scores.tolist(), int(state.totals.download()[RankTotal.LAST_CHANGE])


SCORE, RATIO = 2**62, 2**63


def part(amount: int, ratio: int) -> int:
    return (amount * ratio + RATIO // 2) // RATIO


def ratio(weight: float, total: float) -> int:
    return int(Fraction(weight / total) * RATIO + Fraction(1, 2))


def edge_lists(graph: CsrGraph) -> list[tuple[int, int]]:
    return list(zip(graph.sources().tolist(), graph.targets.tolist(), strict=True))


def row_sums(graph: CsrGraph) -> list[float]:
    """Sums of weights, exact for integers below 2^53."""
    return [float(graph.weights[a:b].sum()) for a, b in zip(graph.offsets[:-1], graph.offsets[1:], strict=True)]


def fixed_point_scores(
    graph: CsrGraph,
    iterations: int,
    *,
    alpha: float = 0.85,
    weighted: bool = False,
    personalization: np.ndarray | None = None,
    nstart: np.ndarray | None = None,
    dangling: np.ndarray | None = None,
    rule: str = "brin-page",
    precision: str = "fixed",
) -> tuple[list[int], list[int]]:
    """The scores in units of 2^-62 after some iterations, and the sum of |changes| of each, as they are documented.

    Vectors hold integers.
    """
    nodes = graph.nodes

    def vector(values: np.ndarray | None) -> list[int]:
        given = np.ones(nodes) if values is None else values
        return [ratio(float(value), float(given.sum())) for value in given]

    pairs = edge_lists(graph)
    if weighted:
        sums = row_sums(graph)
        node_ratio = [RATIO if total > 0 else 0 for total in sums]
        edge_ratio = [
            ratio(float(weight), sums[u]) if sums[u] else 0
            for (u, _), weight in zip(pairs, graph.weights.tolist(), strict=True)
        ]
    else:
        node_ratio = [ratio(1.0, float(degree)) if degree else 0 for degree in graph.out_degrees.tolist()]
        edge_ratio = [RATIO] * len(pairs)
    where, loose = vector(personalization), vector(personalization if dangling is None else dangling)
    scores = [part(SCORE, each) for each in vector(nstart)]
    damping = int(Fraction(alpha) * RATIO + Fraction(1, 2))
    keep, move, teleported = (damping, RATIO - damping, 0) if rule == "report" else (0, damping, (RATIO - damping) // 2)
    changes = []
    for _ in range(iterations):
        shares = [part(score, each) for score, each in zip(scores, node_ratio, strict=True)]
        if precision == "float32":
            shares = [int(np.float32(share)) for share in shares]
        incoming = [0] * nodes
        for (u, v), each in zip(pairs, edge_ratio, strict=True):
            incoming[v] += part(shares[u], each) if weighted else shares[u]
        mass = sum(score for score, each in zip(scores, node_ratio, strict=True) if each == 0)
        old, scores = (
            scores,
            [
                part(scores[v], keep) + part(incoming[v] + part(mass, loose[v]), move) + part(teleported, where[v])
                for v in range(nodes)
            ],
        )
        changes.append(sum(abs(a - b) for a, b in zip(scores, old, strict=True)))
    return scores, changes


def exact_matrix(graph: CsrGraph, weighted: bool, dangling: np.ndarray | None = None) -> np.ndarray:
    """The transition matrix in float64; weights are small integers."""
    nodes = graph.nodes
    weights = graph.weights if weighted else np.ones(graph.edges)
    matrix, sums = np.zeros((nodes, nodes)), np.bincount(graph.sources(), weights, nodes)
    np.add.at(matrix, (graph.targets, graph.sources()), weights)
    column = np.ones(nodes) if dangling is None else dangling
    matrix[:, sums == 0] = column[:, None] / column.sum()
    matrix[:, sums > 0] /= sums[sums > 0]
    return matrix


def exact_scores(graph: CsrGraph, iterations: int, alpha: float) -> list[Fraction]:
    """The scores after some iterations from equal scores, without rounding; weights do not count."""
    nodes, damping = graph.nodes, Fraction(alpha)
    scores = [Fraction(1, nodes)] * nodes
    degrees = graph.out_degrees.tolist()
    for _ in range(iterations):
        loose = sum(score for score, degree in zip(scores, degrees, strict=True) if degree == 0)
        sums = [Fraction(loose, nodes)] * nodes
        for u, v in edge_lists(graph):
            sums[v] += scores[u] / degrees[u]
        scores = [damping * total + (1 - damping) / nodes for total in sums]
    return scores
