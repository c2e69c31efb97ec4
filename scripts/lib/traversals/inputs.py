"""Input graphs of the traversal measurements: files, and random graphs by name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

import numpy as np

import static_graph
from dmr.errors import OptionError
from static_graph.graph.generation import generate_random, generate_rmat, with_random_weights

MILLION = 10**6
# R-MAT graphs and a random one of a million nodes, the pair of the maximum-warp paper, and a larger R-MAT graph.
GENERATED = {
    "rmat-thesis": partial(generate_rmat, MILLION, 8 * MILLION, preset="thesis"),
    "rmat-gtgraph": partial(generate_rmat, MILLION, 8 * MILLION),
    "rmat-graph500": partial(generate_rmat, MILLION, 8 * MILLION, preset="graph500"),
    "random": partial(generate_random, MILLION, 8 * MILLION),
    "rmat-4m": partial(generate_rmat, 4 * MILLION, 48 * MILLION),
    "random-4m": partial(generate_random, 4 * MILLION, 48 * MILLION),
    "rmat-16m": partial(generate_rmat, 16 * MILLION, 256 * MILLION),
}
LARGEST_WEIGHT = 100


@dataclass(frozen=True)
class Input:
    """A graph with weights, its name, and the source node of searches."""

    name: str
    graph: static_graph.CsrGraph
    source: int


def load(text: str) -> Input:
    """Loads one of `GENERATED`; "rmat-N", of N nodes and 8 N edges with the preset "thesis"; or a file.

    Args:
        text: the name, or that of a file; a suffix "@NODE" gives the source of searches, by default the node of the
            largest out-degree. Edges without weights get random integers from 1 to 100.

    Raises:
        FileError, GraphError: the file cannot be read, or has no such node.
    """
    name, _, node = text.partition("@")
    graph = _generated(name)
    if graph is None:
        graph = static_graph.read(name)
        name = re.sub(r"\.(txt|csv|mtx|gr|npz|tsv)(\.gz)?$", "", name.rsplit("/", 1)[-1])
    if graph.weights is None:
        graph = with_random_weights(graph, LARGEST_WEIGHT)
    if graph.nodes == 0:
        raise OptionError(f"{name} has no nodes to start from")
    if node:
        return Input(name, graph, graph.node_of(int(node) if node.lstrip("-").isdigit() else node))
    return Input(name, graph, int(np.argmax(graph.out_degrees)))


def _generated(name: str) -> static_graph.CsrGraph | None:
    number = re.fullmatch(r"rmat-(\d+)", name)
    if number:
        return generate_rmat(int(number[1]), 8 * int(number[1]), preset="thesis")
    return GENERATED[name]() if name in GENERATED else None
