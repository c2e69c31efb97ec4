"""Weak and strong components by any method."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from dmr.common.arguments import chosen
from dmr.common.available import require_memory
from dmr.common.clock import Clock
from dmr.common.text import counted
from static_graph.common.arguments import check_graph
from static_graph.common.memory_estimates import components_bytes
from static_graph.components.outcome import Outcome
from static_graph.components.results import Components
from static_graph.components.table import CONNECTIONS, METHODS, Method
from static_graph.errors import OptionError
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph, labels_of
from static_graph.graph.placement import device_for


def connected_components(
    graph: CsrGraph | DeviceGraph,
    *,
    connection: str = "weak",
    method: str = "auto",
    device: str = "auto",
    threads: int | None = None,
) -> Components:
    """Finds the connected components of a graph.

    Two nodes are weakly connected if edges connect them, whichever way these lead, and strongly connected if paths lead
    from each to the other. All methods find the same labels, on every device.

    Args:
        graph: a graph on the host, or on a device.
        connection: "weak" or "strong".
        method: "auto", or "sequential": one thread of the CPU; weak components by a union-find structure, strong ones
            by depth-first search (Tarjan 1972). "auto" for weak components hooks trees of nodes (Afforest: Sutton,
            Ben-Nun and Barak 2018).
        device, threads: as for `upload`; only for a graph on the host.

    Returns:
        The components, and statistics of the run.

    Raises:
        OptionError: an option is invalid; `graph` is not a graph (WrongTypeError).
        DeviceUnavailableError, OutOfMemoryError: the device is not available, or too small.
    """
    check_graph(graph, CsrGraph, DeviceGraph)
    methods = METHODS[chosen("connection", connection, CONNECTIONS)]
    way = methods[chosen("method", method, methods)]
    if way.serial:
        device = _cpu(graph, method, device)
    where = device_for(graph, device, threads)
    options = {}
    if way.transposing:  # which takes a CPU longer than the search
        options["transposed"] = isinstance(graph, DeviceGraph) or not where.threads
    if where.threads:
        require_memory(components_bytes(graph.nodes), f"components of {counted(graph.nodes, 'node')}")
    clock = Clock()
    with where.lock, where.current:
        on_device = graph
        if isinstance(on_device, CsrGraph):
            on_device = DeviceGraph.upload(on_device, where)
            clock.lap("upload")
        where.prepare(*way.gpu_modules)
        clock.lap("prepare")
        outcome = _function(way)(on_device, **options)
        clock.lap("rounds", less=sum(outcome.seconds.values()))
        clock.seconds.update(outcome.seconds)
        labels = outcome.labels.download()
        clock.lap("download")
    return Components.found(
        labels=labels,
        connection=connection,
        method=method,
        balance="auto",
        device=where.name,
        threads=where.threads,
        rounds=outcome.rounds,
        seconds=clock.seconds,
        figures=outcome.figures,
        node_labels=labels_of(graph),
    )


def _cpu(graph: CsrGraph | DeviceGraph, method: str, device: str) -> str:
    """Returns the device for a serial method.

    Raises:
        OptionError: it is a GPU.
    """
    if isinstance(graph, DeviceGraph):
        on_gpu = graph.device.threads == 0
    else:
        on_gpu = isinstance(device, str) and device.startswith("cuda")
        device = "cpu" if device == "auto" else device
    if on_gpu:
        raise OptionError(f"method = {method!r} runs on the CPU, and the graph is to be on a GPU")
    return device


def _function(way: Method) -> Callable[..., Outcome]:
    module, _, name = way.function.rpartition(".")
    found: Callable[..., Outcome] = getattr(import_module(f"static_graph.components.{module}"), name)
    return found
