"""The transition matrix of a graph, as the PageRank report defines it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import checks_keywords
from dmr.common.available import require_memory
from dmr.common.text import counted
from static_graph.common.arguments import check_graph
from static_graph.common.memory_estimates import dense_bytes
from static_graph.errors import InternalError
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.gpu_modules import TRANSPOSING
from static_graph.graph.placement import device_for
from static_graph.link_analysis.methods.dense import entered
from static_graph.link_analysis.options import by_weight, checked_options
from static_graph.link_analysis.state import State
from static_graph.link_analysis.table import COMMON, METHODS

TOLERANCE = 2.0**-50  # of a column's sum, per entry


@checks_keywords
def transition_matrix(
    graph: CsrGraph | DeviceGraph,
    *,
    weighted: bool | None = None,
    dangling: ArrayLike | None = None,
    device: str = "auto",
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Returns the probability of going from each node to each other one (PageRank report, section 3.3.2).

    Entry (i, j) is the probability of going from node j to node i, without teleport. Columns sum to 1, which is
    checked; the report says that rows do, which holds for the transposed matrix only.

    Args:
        graph: a graph on the host, or on a device.
        weighted: whether edges count by their weights (default: if the graph has some).
        dangling: (n,) the column of dangling nodes, up to a factor (default: all equal).
        device, threads: as for `upload`; only for a graph on the host.

    Returns:
        (n, n) float64.

    Raises:
        OptionError: an option is invalid; `graph` is not a graph (WrongTypeError).
        GraphError: the graph has no weights, but `weighted` asks for them.
        OutOfMemoryError: the matrix does not fit.
    """
    check_graph(graph, CsrGraph, DeviceGraph)
    options = checked_options(graph.nodes, iterations=0, dangling=dangling, weighted=weighted)
    by_weights = by_weight(graph.weights is not None, weighted, options.rule)
    where, nodes = device_for(graph, device, threads), graph.nodes
    what, on_device = f"a transition matrix of {counted(nodes, 'node')}", dense_bytes(nodes, 8, 2)
    if where.threads == 0:
        where.require_memory(on_device, what)
    require_memory(dense_bytes(nodes, 8, 1) + on_device * (where.threads > 0), what)
    if nodes == 0:
        return np.empty((0, 0))
    with where.lock, where.current:
        there = graph if isinstance(graph, DeviceGraph) else DeviceGraph.upload(graph, where)
        where.prepare(*COMMON, *TRANSPOSING, *METHODS["dense"].gpu_modules)
        matrix, _arrays = entered(State(there, options, weighted=by_weights, dense=True))
        shown = where.empty(nodes * nodes, np.float64)
        where.launch("export_entries", nodes * nodes, matrix, shown)
        found = shown.detach().reshape(nodes, nodes)
    off = np.abs(found.sum(axis=0) - 1)
    if not off.max() <= TOLERANCE * nodes:
        column = int(np.argmax(off))
        raise InternalError(f"column {column} of the transition matrix sums to 1 only within {off[column]:.3g}")
    return found
