"""Weak and strong components by any method."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from dmr.common.arguments import checks_keywords, chosen, shortened, switch, whole_option
from dmr.common.available import require_memory
from dmr.common.clock import Clock
from dmr.common.text import counted, option
from static_graph.common.arguments import check_graph
from static_graph.common.memory_estimates import components_bytes
from static_graph.common.results import computed
from static_graph.components.outcome import Outcome
from static_graph.components.results import Components
from static_graph.components.table import CONNECTIONS, METHODS, Method, methods_with
from static_graph.engine.loop import BALANCES
from static_graph.errors import OptionError
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph, labels_of
from static_graph.graph.placement import device_for


@checks_keywords
def connected_components(
    graph: CsrGraph | DeviceGraph,
    *,
    connection: str = "weak",
    method: str = "auto",
    balance: str = "auto",
    trim: bool | None = None,
    search: bool | None = None,
    cutoff: int | None = None,
    device: str = "auto",
    threads: int | None = None,
) -> Components:
    """Finds the connected components of a graph.

    Two nodes are weakly connected if a chain of edges, in either direction, connects them, and strongly connected if
    paths lead from each to the other. All methods find the same labels, on every device.

    Args:
        graph: a graph on the host, or on a device.
        connection: "weak" or "strong".
        method: for weak components "auto": trees of nodes are hooked to each other (Afforest: Sutton, Ben-Nun and Barak
            2018). For strong ones "auto": the largest component by two searches, then the others; "multistep" (Slota,
            Rajamanickam, Madduri 2014): trimming, the component of a pivot, colours, and a serial search; "fw-bw"
            (Fleischer, Hendrickson, Pinar 2000): a search forward and one backward split the nodes again and again;
            "colouring" (Orzan 2004); or "signatures" (ECL-SCC: Alabandi et al. 2023). "fw-bw" needs a round per level
            of each search, and "colouring" per step of each colour, but rounds with few nodes need no launch each. For
            both, "sequential": one thread of the CPU, a union-find structure, or depth-first search (Tarjan 1972).
        balance: for "multistep", "fw-bw" and "colouring": how edges are distributed over threads, as for `trim`.
        trim: for "multistep" and "fw-bw": whether nodes are trimmed first (the default).
        search: for "multistep": whether the component of a pivot is searched for (the default).
        cutoff: for "multistep": fewer nodes are left to a serial search (default: 100,000).
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
    options = _options(method, way, balance=balance, trim=trim, search=search, cutoff=cutoff)
    if way.transposing:  # which takes a CPU longer than the search
        options["transposed"] = isinstance(graph, DeviceGraph) or not where.threads
    if where.threads:
        require_memory(components_bytes(graph.nodes), f"components of {counted(graph.nodes, 'node')}")
    clock = Clock(where.synchronize)
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
        balance=balance,
        rounds=outcome.rounds,
        **computed(where, clock.seconds),
        figures=outcome.figures,
        node_labels=labels_of(graph),
    )


def _options(method: str, way: Method, *, balance: str, **given: Any) -> dict[str, Any]:
    """Returns the options of a method.

    Raises:
        OptionError: an option is invalid, or the method does not have it.
    """
    chosen("balance", balance, BALANCES)
    options = {name: value for name, value in given.items() if value is not None}
    if "balance" in way.options or balance != "auto":
        options["balance"] = balance
    for name, value in options.items():
        if name not in way.options:
            raise OptionError(
                f"{option(name)} is not an option of {option('method')} = {method!r}, "
                f"but of {' and '.join(methods_with(name))}"
            )
        if name in ("trim", "search"):
            options[name] = switch(name, value)
    if "cutoff" in options:
        options["cutoff"] = whole_option("cutoff", options["cutoff"])
        if options["cutoff"] < 0:
            raise OptionError(f"{option('cutoff')} = {shortened(options['cutoff'])}: it must be at least 0")
    return options


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
        raise OptionError(f"{option('method')} = {method!r} runs on the CPU, but a GPU was requested for the graph")
    return device


def _function(way: Method) -> Callable[..., Outcome]:
    module, _, name = way.function.rpartition(".")
    found: Callable[..., Outcome] = getattr(import_module(f"static_graph.components.{module}"), name)
    return found
