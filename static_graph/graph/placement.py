"""Chooses the device of an algorithm: the one that has the graph, or the one that the caller names."""

from __future__ import annotations

from dmr.common.available import WORTH_ASKING, require_memory
from dmr.common.text import counted
from dmr.memory import Device, open_device
from static_graph.common.memory_estimates import graph_bytes
from static_graph.errors import OptionError
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph


def device_for(graph: CsrGraph | DeviceGraph, device: str, threads: int | None) -> Device:
    """Returns the device of a call; a graph on the host fits there.

    Args:
        graph: a graph on the host, or on a device.
        device, threads: the arguments of the call; only for a graph on the host.

    Raises:
        OptionError: the graph is on a device already, and `device` or `threads` is given.
        DeviceUnavailableError, OutOfMemoryError: the device is not available, or too small.
    """
    if isinstance(graph, CsrGraph):
        where = open_device(device, threads)
        require_capacity(graph, where)
        return where
    if device != "auto" or threads is not None:
        raise OptionError(f"the graph is on {graph.device.description} already: leave device and threads out")
    return graph.device


def uploaded(graph: CsrGraph | DeviceGraph, where: Device) -> DeviceGraph:
    """Returns the graph on the device of a call (`device_for`), to which a graph on the host is copied."""
    return graph if isinstance(graph, DeviceGraph) else DeviceGraph.upload(graph, where)


def require_work(graph: CsrGraph | DeviceGraph, where: Device, needed: int, what: str) -> None:
    """Raises OutOfMemoryError if work on a graph does not fit in main memory; a GPU checks its allocations itself.

    Args:
        graph: the graph; where: the device of the call.
        needed: bytes besides the graph, of which a copy is made if it is on the host; what: "a trim", ...
    """
    if where.threads:
        copied = graph_bytes(graph.nodes, graph.edges, graph.weights is not None) * isinstance(graph, CsrGraph)
        of = f"{what} of {counted(graph.nodes, 'node')} and {counted(graph.edges, 'edge')}"
        require_memory(copied + needed, of)


def require_capacity(graph: CsrGraph, where: Device) -> None:
    """Raises OutOfMemoryError if a copy of a graph does not fit in main memory; a GPU checks its allocations itself."""
    if where.threads:
        needed = graph_bytes(graph.nodes, graph.edges, graph.weights is not None)
        if needed > WORTH_ASKING:  # the text of the message would take a tenth of the time of a small search
            nodes, edges = counted(graph.nodes, "node"), counted(graph.edges, "edge")
            require_memory(needed, f"a copy of a graph of {nodes} and {edges}")
