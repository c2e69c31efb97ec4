"""Runs every kernel of PageRank on small graphs."""

from __future__ import annotations

import numpy as np

from scripts.sanitize.graphs import sums_of_some
from static_graph import transition_matrix
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph
from tests.support.digests import digest
from tests.support.graphs.ranked import DENSE, METHODS, units
from tests.support.sanitizers.traversals import graphs


def pageranks(device):
    """Yields (case, digest) for every method, with and without weights and vectors."""
    for name, graph in graphs():
        on_device, vector = DeviceGraph.upload(graph.reversed(), device), 1 + np.arange(graph.nodes) % 5
        for number, method in enumerate(METHODS):
            vectors = dict.fromkeys(("personalization", "nstart") if number % 2 else (), vector)
            for weighted, precision in ((False, "fixed"), (True, "float32")):
                if not weighted and name in ("wide", "real"):  # which differ from "narrow" by their weights alone
                    continue
                scores, change = units(method, on_device, device, 3, weighted=weighted, precision=precision, **vectors)
                yield [name, method, weighted], [digest(np.array(scores, np.uint64)), change]
    random = np.random.default_rng(4)
    ends = random.integers(0, 400, (2, 9000))
    ends[1, :7000] %= 2
    for method in ("pull", "pull, one launch", "pull, one launch, by degree"):
        scores, change = units(method, CsrGraph.from_edges(*ends, nodes=400), device, 3)
        yield ["long rows", method], [digest(np.array(scores, np.uint64)), change]
    small = DeviceGraph.upload(CsrGraph.from_edges(*random.integers(0, 90, (2, 300)), random.random(300), 90), device)
    for method in DENSE:
        for weighted, precision in ((False, "fixed"), (True, "float32")):
            scores, change = units(method, small, device, 3, weighted=weighted, precision=precision)
            yield ["dense", method, weighted], [digest(np.array(scores, np.uint64)), change]
    yield ["dense", "matrix"], digest(transition_matrix(small))
    yield ["engine", "a list of nodes"], digest(sums_of_some(small))
