"""The acyclic graph of a graph's strong components."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import checks_keywords
from dmr.memory import Device, DeviceArray, open_device
from static_graph.common.arguments import check_graph
from static_graph.components.connecting import connected_components
from static_graph.components.results import Components
from static_graph.errors import GraphError
from static_graph.graph.building import find_rows, sorted_edges, unique_edges
from static_graph.graph.checks import check_sortable
from static_graph.graph.csr import CsrGraph, unchecked_graph
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.edge_blocks import edge_blocks
from static_graph.graph.gpu_modules import ROWS
from static_graph.graph.placement import device_for


@checks_keywords
def condensation(
    graph: CsrGraph | DeviceGraph, *, device: str = "auto", threads: int | None = None
) -> tuple[CsrGraph, Components]:
    """Contracts each strong component of a graph to one node.

    Args:
        graph: a graph on the host, or on a device.
        device, threads: as for `upload`; only for a graph on the host.

    Returns:
        The graph of the components, and the components. Its node k is the component of the k-th smallest label
        (`Components.component_labels`), and `Components.numbers` are the nodes' places in it. It is acyclic, has no
        parallel edges, no self-loops and no weights, and the edges of a node are sorted by target.

    Raises:
        OptionError: an option is invalid; `graph` is not a graph (WrongTypeError).
        GraphError: 2^31 edges or more lead from one component to another.
        DeviceUnavailableError, OutOfMemoryError: the device is not available, or too small.
    """
    check_graph(graph, CsrGraph, DeviceGraph)
    where = device_for(graph, device, threads)
    with where.lock, where.current:
        on_device = DeviceGraph.upload(graph, where) if isinstance(graph, CsrGraph) else graph
        components = connected_components(on_device, connection="strong")
        where.prepare("graph/components/condensation", *ROWS)
        return _between(on_device, where, components), components


def _between(graph: DeviceGraph, device: Device, components: Components) -> CsrGraph:
    """Returns the graph of the components."""
    numbers, blocks = device.array(components.numbers()), edge_blocks(graph)
    count = device.zeros(1, np.int32)

    def listed(sources: DeviceArray | None, targets: DeviceArray | None) -> int:
        count.fill(0)
        device.launch("list_edges_between", blocks, graph.csr, numbers, count, sources, targets)
        return int(count.download()[0])

    check_sortable(graph.edges)
    edges = listed(None, None)
    sources, targets = device.empty(edges, np.uint32), device.empty(edges, np.int32)
    listed(sources, targets)
    if edges:
        sources, targets = unique_edges(*sorted_edges(sources, targets, components.count))
    return unchecked_graph(find_rows(sources, components.count).download(), targets.download())


def levels_above_sinks(graph: CsrGraph) -> NDArray[np.int32]:
    """Returns the number of edges on a longest path from each node of an acyclic graph.

    Nodes sorted by this number, ties by their own, are in reverse topological order.

    Raises:
        GraphError: the graph has a cycle.
    """
    device = open_device("cpu", 1)
    back = DeviceGraph.upload(graph.reversed(), device)
    levels, queue = device.zeros(graph.nodes, np.int32), device.empty(graph.nodes, np.int32)
    degrees = device.array(graph.out_degrees.astype(np.int32))
    device.launch("level_in_sequence", 1, back.csr, degrees, queue, levels)
    if degrees.download().any():
        raise GraphError("the graph has a cycle")
    return levels.download()
