"""Searches from many sources, each alone, in one call."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import checks_keywords, switch
from dmr.common.available import require_memory
from dmr.common.text import counted
from static_graph.common.arguments import check_graph
from static_graph.errors import GraphError
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.placement import device_for
from static_graph.traversal.distances import DistanceKind, kind_for
from static_graph.traversal.frontiers import several_sources
from static_graph.traversal.schemes.table import schemes
from static_graph.traversal.search import Sources, checked_limit, checked_sources, gpu_modules

TOGETHER = 8  # searches by numbers of edges, from which on they share their rounds
DTYPES = {DistanceKind.HOPS: np.int32, DistanceKind.REAL: np.float64}  # of the result; otherwise int64


@checks_keywords
def distance_matrix(
    graph: CsrGraph | DeviceGraph,
    sources: Sources | None = None,
    *,
    weighted: bool = False,
    limit: float | None = None,
    device: str = "auto",
    threads: int | None = None,
) -> NDArray[Any]:
    """Finds the distance of every node from each source.

    Unlike a loop of `bfs` or `sssp`, the call checks its arguments, copies the graph and fetches the distances once. On
    a GPU the distances stay there until the last search has ended. Without weights, searches from 64 sources at a time
    follow the edges together (MS-BFS: Then et al. 2014); with weights each source has a search.

    Args:
        graph: a graph on the host, or on a device.
        sources: k nodes, in any order; by default all of them, in theirs.
        weighted: whether distances are sums of weights, as for `sssp`, instead of numbers of edges, as for `bfs`.
        limit: nodes farther away count as unreached.
        device, threads: as for `upload`; only for a graph on the host.

    Returns:
        (k, n): row i has the distances from the i-th source. Numbers of edges are int32, sums of integer weights int64,
        both with -1 for unreached nodes; sums of real weights are float64 with inf.

    Raises:
        OptionError: the limit is negative or NaN; `graph` is not a graph, or a source is not an integer
            (WrongTypeError).
        GraphError: the graph does not have a source, or has no weights although `weighted` is True, or weights so large
            that a distance may not fit 64 bits.
        DeviceUnavailableError, OutOfMemoryError: the device is not available, or too small for all distances.
    """
    check_graph(graph, CsrGraph, DeviceGraph)
    weighted = switch("weighted", weighted)
    if limit is not None:
        limit = checked_limit("limit", limit)
    given = list(range(graph.nodes)) if sources is None else checked_sources(sources, graph)
    where, nodes = device_for(graph, device, threads), graph.nodes
    if nodes and len(given) > (2**63 - 1) // (8 * nodes):
        raise GraphError(f"distances of {nodes} nodes from {len(given)} sources are more than an array holds")
    what = f"the distances of {counted(nodes, 'node')} from {counted(len(given), 'source')}"
    need = (8 if weighted else 4) * nodes * len(given)
    require_memory(need, what)
    if where.threads == 0:
        where.require_memory(need, what)
    scheme = schemes(weighted=weighted)["auto"]
    options: dict[str, Any] = {"transposed": None} if scheme.transposing else {}
    run = import_module(f"static_graph.traversal.{scheme.module}").run
    with where.lock, where.current:
        on_device = graph if isinstance(graph, DeviceGraph) else DeviceGraph.upload(graph, where)
        kind = kind_for(on_device, weighted)
        found = where.empty(nodes * len(given), DTYPES.get(kind, np.int64))
        if not weighted and len(given) >= TOGETHER:
            where.prepare(*several_sources.GPU_MODULES)
            for first in range(0, len(given), several_sources.AT_ONCE):
                batch = given[first : first + several_sources.AT_ONCE]
                rows = found[first * nodes : (first + len(batch)) * nodes]
                several_sources.run(on_device, batch, rows, depth_limit=limit)
        else:
            where.prepare(*gpu_modules(kind, scheme, weighted=weighted, parents=False, transposed=True))
            for row, source in enumerate(given):
                outcome = run(on_device, [source], weighted=weighted, depth_limit=limit, **options)
                outcome.distances.shown(found[row * nodes : (row + 1) * nodes])
        return found.detach().reshape(len(given), nodes)
