"""Runs every kernel of `static_graph` on small inputs, for kernels.py, with one function per part of the package."""

from __future__ import annotations

from itertools import chain

import numpy as np

from static_graph import CsrGraph, generate_random, generate_rmat, with_random_weights
from static_graph.components.condensation import condensation, levels_above_sinks
from static_graph.components.connecting import connected_components
from static_graph.components.table import METHODS
from static_graph.graph.device_graph import DeviceGraph
from tests.support.digests import digest, graph_digest
from tests.support.graphs.components import graphs


def building():
    """Yields (case, digest) for graphs built from edges, with sizes near tile and node-group boundaries."""
    random = np.random.default_rng(4)
    for nodes, edges, threads in ((1, 3, 1), (15, 0, 3), (16, 4096, 3), (17, 4097, 1), (300, 9000, 3), (70_000, 20, 3)):
        sources, targets = random.integers(0, nodes, (2, edges))
        for weights in (None, random.integers(0, 9, edges), random.integers(0, 2**40, edges), random.random(edges)):
            graph = CsrGraph.from_edges(sources, targets, weights, nodes, threads=threads)
            yield ["rows", nodes, edges, str(graph)], graph_digest(graph) + graph_digest(graph.reversed())


def generation():
    """Yields (case, digest) for random graphs with every option."""
    for nodes, threads in ((1, 1), (2, 3), (37, 3), (1000, 1)):
        options = {"device": "cpu", "threads": threads}
        rmat = generate_rmat(nodes, 5000, permute=True, weights=9, **options)
        more = generate_rmat(nodes + 1, 5000, preset="graph500", self_loops=False, duplicates=False, **options)
        plain = generate_random(nodes, 5000, seed=2**64 - 1, **options)
        loopless = generate_random(nodes + 1, 5000, self_loops=False, **options)
        weighted = with_random_weights(plain, 2**31 - 1, threads=threads)
        yield ["random graphs", nodes], [graph_digest(graph) for graph in (rmat, more, plain, loopless, weighted)]


def components(device):
    """Yields (case, digest) for every method, on graphs with and without a transposed graph."""
    for name, graph in graphs()[::4]:
        uploaded = DeviceGraph.upload(graph, device)
        for connection in ("weak", "strong", "weak"):
            for method in METHODS[connection]:
                found = connected_components(uploaded, connection=connection, method=method)
                yield ["components", name, connection, method], digest(found.labels)
        by_tiles = {"method": "fw-bw", "trim": False, "balance": "collapse-global"}
        found = connected_components(uploaded, connection="strong", **by_tiles)
        yield ["components", name, "by tiles"], digest(found.labels)


def condensations(device):
    """Yields (case, digest) for graphs of components, and for levels of their nodes."""
    for name, graph in graphs()[::4]:
        acyclic, _ = condensation(DeviceGraph.upload(graph, device))
        yield ["condensation", name], digest(acyclic.offsets, acyclic.targets, levels_above_sinks(acyclic))


def runs(device):
    """All cases; `device` is a CPU with several threads."""
    return chain(building(), generation(), components(device), condensations(device))
