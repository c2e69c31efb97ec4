"""Graphs for the tests of components, and labels that do not depend on the order of a search."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from static_graph.graph.csr import CsrGraph
from static_graph.graph.generation import generate_rmat


def smallest_labels(numbers: NDArray[np.int32]) -> NDArray[np.int64]:
    """Replaces the number of each node's component by the smallest node in it."""
    first = np.full(int(numbers.max(initial=-1)) + 1, len(numbers))
    np.minimum.at(first, numbers, np.arange(len(numbers)))
    return first[numbers]


def renumbered(graph: CsrGraph, seed: int) -> CsrGraph:
    """The same graph with its nodes in random order."""
    names = np.random.default_rng(seed).permutation(graph.nodes)
    return CsrGraph.from_edges(names[graph.sources()], names[graph.targets], nodes=graph.nodes)


def deep_graphs(nodes: int) -> Iterator[tuple[str, CsrGraph]]:
    """Yields (name, graph): paths and cycles, both ways and renumbered, and a path whose last node is the first."""
    ids = np.arange(nodes)
    shapes = {"path": (ids[:-1], ids[1:]), "cycle": (ids, np.roll(ids, -1)), "two ways": (ids[:-1], ids[1:])}
    for name, (sources, targets) in shapes.items():
        if name == "two ways":
            sources, targets = np.append(sources, targets), np.append(targets, sources)
        graph = CsrGraph.from_edges(sources, targets, nodes=nodes)
        yield name, graph
        yield f"{name}, backwards", graph.reversed()
        yield f"{name}, renumbered", renumbered(graph, 1)
    order = np.append(np.append(0, ids[2:]), 1)
    yield "path to its second node", CsrGraph.from_edges(order[:-1], order[1:], nodes=nodes)


def grid(width: int, seed: int | None) -> CsrGraph:
    """A square mesh; each edge leads both ways, or, with a seed, in a random direction."""
    nodes = np.arange(width * width).reshape(width, width)
    one = np.concatenate([nodes[:, :-1].ravel(), nodes[:-1].ravel()])
    other = np.concatenate([nodes[:, 1:].ravel(), nodes[1:].ravel()])
    if seed is None:
        one, other = np.append(one, other), np.append(other, one)
    else:
        back = np.random.default_rng(seed).random(len(one)) < 0.5
        one, other = np.where(back, other, one), np.where(back, one, other)
    return CsrGraph.from_edges(one, other, nodes=width * width)


@cache
def graphs() -> tuple[tuple[str, CsrGraph], ...]:
    """Pairs (name, graph): random graphs of every density, and shapes that are hard for some method."""
    return tuple(_graphs())


def _graphs() -> Iterator[tuple[str, CsrGraph]]:
    yield "one node", CsrGraph([0, 0], [])
    yield "self loops", CsrGraph.from_edges([0, 0, 1, 2], [0, 0, 1, 2], nodes=4)
    for seed in range(12):
        random = np.random.default_rng(seed)
        nodes = int(random.integers(1, 300))
        ends = random.integers(0, nodes, (2, int(random.integers(0, 3 * nodes))))
        yield f"random {seed}", CsrGraph.from_edges(*ends, nodes=nodes)
    yield "of degree 1", CsrGraph.from_edges(*np.random.default_rng(7).integers(0, 6000, (2, 6000)), nodes=6000)
    rmat = generate_rmat(4000, 32_000, seed=3, device="cpu")
    yield "R-MAT", rmat
    yield "R-MAT, renumbered", renumbered(rmat, 2)
    ids = np.arange(6000)
    yield "triangles", CsrGraph.from_edges(ids, np.where(ids % 3 == 2, ids - 2, ids + 1))  # many equal components
    random = np.random.default_rng(5)
    low, high = np.sort(random.integers(0, 3000, (2, 20_000)), axis=0)
    yield "acyclic", CsrGraph.from_edges(low[low < high], high[low < high], nodes=3000)
    yield "mesh", grid(60, None)
    yield "mesh of one-way edges", grid(60, 1)
    hub = np.arange(1, 5000)
    yield "star outwards", CsrGraph.from_edges(np.zeros_like(hub), hub)
    yield "star inwards", CsrGraph.from_edges(hub, np.zeros_like(hub))
    yield "star both ways", CsrGraph.from_edges(np.append(hub, 0 * hub), np.append(0 * hub, hub))
    # Two large components that one edge joins, each with a tail.
    ring = np.arange(500)
    ends = (
        [ring, ring + 500, [5], np.arange(1000, 1080)],
        [np.roll(ring, 1), np.roll(ring, 7) + 500, [507], ring[:80]],
    )
    yield "two rings", CsrGraph.from_edges(*(np.concatenate(side) for side in ends), nodes=1080)
