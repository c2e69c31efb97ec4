"""PageRank of the nodes of a graph, by any method."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from importlib import import_module

import numpy as np
from numpy.typing import ArrayLike

from dmr.common.arguments import checks_keywords
from dmr.common.clock import Clock
from dmr.common.text import counted
from dmr.memory import Device
from static_graph.common.arguments import check_graph
from static_graph.common.memory_estimates import dense_bytes, pagerank_bytes
from static_graph.common.results import computed
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph, labels_of
from static_graph.graph.gpu_modules import RENUMBERING, TRANSPOSING
from static_graph.graph.placement import device_for, require_work
from static_graph.link_analysis.options import Options, by_weight, checked_method, checked_options
from static_graph.link_analysis.results import PageRank
from static_graph.link_analysis.state import State
from static_graph.link_analysis.table import COMMON, METHODS, PULL_LOOP, Method

log = logging.getLogger("static_graph")

WORTH_RENUMBERING = 1 << 19  # nodes: fewer take no less time (docs/internals/pagerank.md)


@checks_keywords
def pagerank(
    graph: CsrGraph | DeviceGraph,
    *,
    alpha: float = 0.85,
    tol: float | None = None,
    max_iter: int = 100,
    iterations: int | None = None,
    personalization: ArrayLike | None = None,
    nstart: ArrayLike | None = None,
    dangling: ArrayLike | None = None,
    weighted: bool | None = None,
    method: str = "auto",
    balance: str = "auto",
    rule: str = "brin-page",
    precision: str = "fixed",
    device: str = "auto",
    threads: int | None = None,
) -> PageRank:
    """Computes the PageRank of each node: the stationary distribution of a random surfer (Brin and Page 1998).

    With probability `alpha` the surfer follows an edge that leaves the node, each one equally likely, or by weight;
    otherwise, the surfer goes to a node by `personalization`. From a dangling node, whose edges have no weight or which
    has none, the surfer goes on by `dangling`. Parallel edges add up; self loops count.

    Scores are 64-bit fixed-point numbers, whose sums do not depend on their order: all methods and balances except the
    dense ones give the same bits, on every device. The documentation bounds the rounding errors ("PageRank" in its
    part "Internals").

    Args:
        graph: a graph on the host, or on a device.
        alpha: the damping factor, from 0 to 1.
        tol: the iterations end when the sum of the absolute changes of the scores is below it (default: 1e-6).
        max_iter: the maximum number of iterations.
        iterations: the exact number of iterations, instead of `tol` and `max_iter`.
        personalization: (n,) numbers that are not negative, in proportion to the probability of each node (default:
            all equal).
        nstart: (n,) the initial scores, up to a factor (default: all equal).
        dangling: (n,) where dangling nodes lead, up to a factor (default: `personalization`).
        weighted: whether edges count by their weights (default: if the graph has some).
        method: "auto"; "pull" (each node sums the shares of its predecessors), "push" (each edge adds its share to its
            target), "blocked" (propagation blocking), "sequential" (one thread); or by the N x N matrix of the report,
            "dense" (a thread per row), "dense-atomic" and "dense-sub-scores" (a thread per entry).
        balance: for "pull": how the edges are distributed: "auto" (tiles of nearly equal size), or a strategy of Graph
            algorithms on manycores: "baseline", "hierarchical", "collapse-local", "collapse-global".
        rule: "brin-page", or "report": alpha * score + (1 - alpha) * sum, the formula of the PageRank report (section
            3.3.2), a lazy walk without teleport.
        precision: "fixed", or "float32": shares are rounded to 24 bits, and take 4 bytes instead of 8.
        device, threads: as for `upload`; only for a graph on the host.

    Returns:
        The scores, and statistics of the run. If the iterations did not converge, `converged` is False, and a warning
        is logged.

    Raises:
        OptionError: an option is invalid, or the method or the rule does not have it; `graph` is not a graph, or an
            option has the wrong type (WrongTypeError).
        GraphError: the graph has no weights, but `weighted` asks for them; it has 2^31 edges or more.
        DeviceUnavailableError, OutOfMemoryError: the device is not available, or too small.
    """
    check_graph(graph, CsrGraph, DeviceGraph)
    options = checked_options(
        graph.nodes,
        alpha=alpha,
        tol=tol,
        max_iter=max_iter,
        iterations=iterations,
        personalization=personalization,
        nstart=nstart,
        dangling=dangling,
        weighted=weighted,
        rule=rule,
        precision=precision,
    )
    name, scheme = checked_method(method, balance, precision)
    by_weights = by_weight(graph.weights is not None, weighted, options.rule)
    where = device_for(graph, device, threads)
    if name == "auto":
        name = "pull"
    _require_memory(graph, where, name, options.precision, by_weights)
    with where.lock, where.current:
        return _rank(graph, where, name, scheme, options, by_weights)


def _require_memory(graph: CsrGraph | DeviceGraph, where: Device, method: str, precision: str, weighted: bool) -> None:
    """Raises OutOfMemoryError if the work does not fit in main memory, or its matrices in that of a GPU."""
    entry, what = METHODS[method], f"PageRank by {method!r}"
    matrices = 0
    if entry.matrices:
        first = dense_bytes(graph.nodes, 4 if precision == "float32" else 8, 1)
        matrices = first + dense_bytes(graph.nodes, 8, entry.matrices - 1)
    needed = pagerank_bytes(
        graph.nodes, graph.edges, weighted, entry.transposed, _is_renumbered(graph, where, entry, weighted)
    )
    require_work(graph, where, needed + matrices, what)
    if where.threads == 0:
        where.require_memory(matrices, f"{what} of {counted(graph.nodes, 'node')}")


def _is_renumbered(graph: CsrGraph | DeviceGraph, where: Device, method: Method, weighted: bool) -> bool:
    """Whether the nodes are numbered by out-degree. On a GPU, iterations with weights take longer with it."""
    return method.by_degree and graph.nodes >= WORTH_RENUMBERING and (where.threads > 0 or not weighted)


def _rank(
    graph: CsrGraph | DeviceGraph, where: Device, method: str, balance: str, options: Options, weighted: bool
) -> PageRank:
    """Ranks the nodes of a graph, after uploading it to `where` if necessary; the arguments are checked already."""
    clock = Clock()
    scores, iterations, error, converged = np.empty(0), 0, 0.0, True
    if graph.nodes:
        if isinstance(graph, DeviceGraph):
            on_device = graph
        else:
            on_device = DeviceGraph.upload(graph, where)
            clock.lap("upload")
        entry = METHODS[method]
        run, more, modules = _run_of(entry, balance)
        where.prepare(*COMMON, *modules)
        renumbered = _is_renumbered(graph, where, entry, weighted)
        where.prepare(*(RENUMBERING if renumbered else TRANSPOSING if entry.transposed else ()))
        state = State(on_device, options, weighted=weighted, dense=entry.matrices > 0, renumbered=renumbered)
        seconds = 0.0
        if options.most_iterations:
            seconds = run(state, **more)
        iterations, error, converged = state.outcome()
        clock.lap("prepare", less=seconds)
        clock.seconds["iterations"] = seconds
        scores = state.download()
        clock.lap("download")
    if not converged and options.stops:
        log.warning("%s", _warning(iterations, error, options))
    return PageRank.found(
        scores=scores,
        rule=options.rule,
        precision=options.precision,
        iterations=iterations,
        error=error,
        converged=converged,
        method=method,
        balance=balance,
        **computed(where, clock.seconds),
        node_labels=labels_of(graph),
    )


def _run_of(method: Method, balance: str) -> tuple[Callable[..., float], dict[str, str], tuple[str, ...]]:
    """Returns the function of a method, its arguments besides the state, and its GPU modules."""
    module, more, modules = method.module, {}, method.gpu_modules
    if method.variant is not None:
        more["variant"] = method.variant
    if balance != "auto":
        module, more["balance"], modules = "pull_loop", balance, PULL_LOOP
    return import_module(f"static_graph.link_analysis.methods.{module}").run, more, modules


def _warning(iterations: int, error: float, options: Options) -> str:
    change = "" if math.isinf(error) else f": the last one changed the scores by {error:.3g}"
    done = counted(iterations, "iteration")
    return f"PageRank did not converge to a change below {options.tolerance:g} in {done}{change}"
