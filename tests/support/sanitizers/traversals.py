"""Runs every kernel of the schemes and the engine of `static_graph`, and of arrays, on small graphs."""

from __future__ import annotations

import numpy as np

from scripts.sanitize.schemes import scheme_runs
from static_graph.engine.colours import coloured
from static_graph.engine.loop import STRATEGIES, how, largest_degree
from static_graph.engine.trimming import trimmed_nodes
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.incoming import incoming
from static_graph.traversal.frontiers import small_search
from static_graph.traversal.schemes import fixed_point
from static_graph.traversal.schemes.timeline import Timeline
from tests.support.digests import digest

STRATEGIES_WITH_OPTIONS = (*((strategy, True) for strategy in STRATEGIES), ("collapse-local", False))


def graphs():
    """Yields (name, graph): graphs with a few nodes of many edges, for each kind of weights, and a tiny one."""
    random = np.random.default_rng(4)
    nodes, edges = 3000, 9000
    ends = random.integers(0, nodes, (2, edges))
    ends[0, :4000] = ends[0, :4000] % 3
    for name, weights in (
        ("narrow", random.integers(0, 50, edges)),
        ("wide", random.integers(0, 2**40, edges)),
        ("real", random.random(edges)),
    ):
        yield name, CsrGraph.from_edges(*ends, weights, nodes)
    yield "two", CsrGraph.from_edges([0], [1], [3], 2)


def traversals(device):
    """Yields (case, digest) for every scheme, breadth first and by weights."""
    for name, graph in graphs():
        on_device = DeviceGraph.upload(graph, device)
        for scheme, variant, run, options in scheme_runs():
            for weighted in (False, True):
                distances = run(on_device, [0, 1], weighted=weighted, **options).distances.download()
                yield [name, scheme, variant, weighted], digest(distances)
        if device.threads:  # a kernel of CPUs only
            found = small_search.searches_on(on_device).search(0, parents=True)
            yield [name, "small"], digest(found.distances, found.parents)
        back = incoming(on_device, weighted=True)
        yield [name, "transposed"], digest(*(each.download() for each in (back.offsets, back.targets, back.weights)))
        yield [name, "largest degree"], largest_degree(on_device)
        for strategy, options in STRATEGIES_WITH_OPTIONS:
            chosen = how(strategy, coalesced=options, shared_queue=options, team_primitives=options)
            alone = strategy == "collapse-local"
            trimmed, _ = trimmed_nodes(on_device, chosen, alone=alone)
            colours, _ = coloured(on_device, chosen, alone=alone, growth=4 if options else None, atomic=options)
            yield [name, strategy, options], digest(trimmed.download(), colours.download())
        narrow, real = graph.targets.astype(np.int64), graph.weights.astype(np.float32)
        for arrays in ((graph.offsets, graph.targets, graph.weights), (graph.offsets, narrow, real)):
            made = DeviceGraph.from_arrays(*map(device.array, arrays))
            yield [name, "arrays", str(arrays[2].dtype)], digest(made.targets.download(), made.weights.download())
        timeline = Timeline(device, 3)
        fixed_point.run(on_device, [0], weighted=False, timeline=timeline)
        yield [name, "timeline"], bool((np.diff(timeline.lines()[:, 2:]) >= 0).all())
