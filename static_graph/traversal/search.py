"""Breadth-first search and shortest paths with any scheme."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from time import perf_counter
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from dmr.common.arguments import checks_keywords, chosen, real_option, shortened, switch, whole_option
from dmr.common.available import require_memory
from dmr.common.clock import Clock
from dmr.common.text import counted, numbered, option
from dmr.memory import Device, open_device
from static_graph.common.arguments import check_graph
from static_graph.common.memory_estimates import search_bytes
from static_graph.common.results import computed
from static_graph.errors import GraphError, OptionError, WrongTypeError
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import MOST_KEPT, DeviceGraph, kept_graph, kept_upload, labels_of
from static_graph.graph.gpu_modules import TRANSPOSING
from static_graph.graph.incoming import incoming
from static_graph.graph.placement import device_for, require_capacity
from static_graph.traversal.distances import DistanceKind, kind_for
from static_graph.traversal.frontiers import small_search
from static_graph.traversal.options import checked_options
from static_graph.traversal.parents import parents_modules, parents_on_device
from static_graph.traversal.results import Traversal
from static_graph.traversal.schemes.outcome import Outcome
from static_graph.traversal.schemes.table import BALANCES, ORDERED, Scheme, balances_with, schemes

Sources = int | str | Sequence[int | str]
SOURCE = "a node's number (graph.node_of finds it by label)"
Run = Callable[..., Outcome]  # of a scheme


@checks_keywords
def upload(
    graph: CsrGraph, device: str = "auto", threads: int | None = None, *, transposed: bool = False
) -> DeviceGraph:
    """Copies a graph to a device, for any number of traversals.

    Args:
        graph: the graph.
        device: "auto" (a GPU if one works, otherwise the CPU), "cpu", "cuda", "cuda:1", ...
        threads: CPU threads (default: all cores).
        transposed: whether to make the transposed graph, too. It makes breadth-first searches of graphs with large
            levels faster, and takes as long as ten of them or more; without it, `bfs` makes it when that has paid.

    Raises:
        WrongTypeError: `graph` is not a graph.
        DeviceUnavailableError, OutOfMemoryError: the device is not available, or too small.
    """
    check_graph(graph, CsrGraph)
    transposed = switch("transposed", transposed)
    where = open_device(device, threads)
    require_capacity(graph, where)
    with where.lock, where.current:
        on_device = DeviceGraph.upload(graph, where)
        if transposed:
            where.prepare(*TRANSPOSING)
            incoming(on_device)
        return on_device


@checks_keywords
def bfs(
    graph: CsrGraph | DeviceGraph,
    source: Sources,
    *,
    balance: str = "auto",
    mda: int | Literal["auto"] | None = None,
    threshold: int | None = None,
    warp_size: int | None = None,
    chunk: int | None = None,
    defer: int | None = None,
    atomic: bool | None = None,
    parents: bool = False,
    order: bool = False,
    depth_limit: int | None = None,
    keep_on_device: bool = False,
    device: str = "auto",
    threads: int | None = None,
) -> Traversal:
    """Breadth-first search: finds the number of edges on a shortest path to each node.

    All schemes give the same distances. The default follows a frontier. If the graph is on a device already (`upload`),
    the default may also search bottom-up, from the unreached nodes, along the edges of the transposed graph. That graph
    is made when earlier searches have followed as many edges as take the same time, and kept; `upload` makes it at once
    if it is asked to.

    Args:
        graph: a graph on the host, or on a device.
        source: a source node, or several, all at distance 0: numbers of nodes, or labels if they are strings.
        balance: "auto", or a scheme of the papers: "none" (fixed point, thesis, Algorithm 1), "split" (node splitting,
            section 4.2), "child-launch" (section 4.3), "warp" (virtual warps, Maximum Warp), "hierarchical",
            "collapse-local", "collapse-global" (Graph algorithms on manycores).
        mda: for "split": the maximum degree allowed; the default, "auto", uses the histogram (section 4.2.1).
        threshold: for "child-launch": nodes with more edges launch a child.
        warp_size: for "warp": lanes per virtual warp: 1, 2, 4, 8, 16 or 32.
        chunk: for "warp": nodes that a warp takes from the work queue at a time (default: static distribution).
        defer: for "warp": nodes with more edges are left to whole blocks.
        atomic: for "none", "split" and "child-launch": whether edges are relaxed by an atomic minimum (the default).
        parents: whether to find the shortest-path tree, too: the parent is the smallest predecessor that is closer.
        order: whether to find the order, too, in which a sequential search takes the nodes from its queue, with the
            sources in the given order and the edges of each node as they are stored. The parents are then those of that
            search: the first predecessor in its order. Only for "auto".
        depth_limit: nodes more edges away count as unreached.
        keep_on_device: leave distances and parents on the device, as `found.on_device["distances"]`, for libraries that
            use them there; `found.distances` downloads them when it is first read.
        device, threads: as for `upload`; only for a graph on the host. With "auto", a small graph is searched on the
            CPU, which takes less time than a GPU's launches.

    Returns:
        The distances, and statistics of the run.

    Raises:
        OptionError: an option is invalid, or the scheme does not have it; `graph` is not a graph, or a source is not an
            integer (WrongTypeError).
        GraphError: the graph does not have a source; or it has more than 2^31 - 1 edges, and `order` is True.
        DeviceUnavailableError, OutOfMemoryError: the device is not available, or too small.
    """
    if type(balance) is str and balance == "auto" and type(parents) is type(order) is bool and keep_on_device is False:
        # The commonest options: if the graph is small, and was searched before, all other checks were made then.
        begun = perf_counter()
        searches = small_search.kept_searches(graph, device, threads)
        others_given = not (mda is threshold is warp_size is chunk is defer is atomic is depth_limit is None)
        if searches is not None and not others_given and type(source) is int and 0 <= source < searches.nodes:
            return searches.search(source, small_search.FARTHEST, parents, order, begun)
    options = checked_options(
        mda=mda, threshold=threshold, warp_size=warp_size, chunk=chunk, defer=defer, atomic=atomic
    )  # fmt: skip
    if depth_limit is not None:
        depth_limit = whole_option("depth_limit", depth_limit)
        if depth_limit < 0:
            raise OptionError(f"{option('depth_limit')} = {shortened(depth_limit)}: it must be at least 0")
    if switch("order", order) and balance != "auto":
        raise OptionError(
            f"{option('order')} is not an option of {option('balance')} = {shortened(balance)}, but of 'auto'"
        )
    return _traverse(
        graph, source, balance, options, False, depth_limit, parents, keep_on_device, device, threads, order=order
    )


# The options stand in both signatures, because editors, help() and type checkers read them there.
@checks_keywords
def sssp(
    graph: CsrGraph | DeviceGraph,
    source: Sources,
    *,
    balance: str = "auto",
    mda: int | Literal["auto"] | None = None,
    threshold: int | None = None,
    warp_size: int | None = None,
    chunk: int | None = None,
    defer: int | None = None,
    atomic: bool | None = None,
    delta: float | None = None,
    parents: bool = False,
    distance_limit: float | None = None,
    keep_on_device: bool = False,
    device: str = "auto",
    threads: int | None = None,
) -> Traversal:
    """Finds shortest paths, by the sum of the weights, from one node or from the nearest of several.

    Sums of integer weights are exact. A sum of floats is rounded edge by edge from the source on, and the distance is
    the least of these sums over all paths; therefore, all schemes give the same bits.

    Args:
        graph, source, balance, mda, threshold, warp_size, chunk, defer, atomic, parents: as for `bfs`.
        delta: for "auto": the increment of the near bound; the default depends on mean weight and degree.
        distance_limit: nodes farther away count as unreached.
        keep_on_device, device, threads: as for `bfs`.

    Returns:
        The distances, and statistics of the run.

    Raises:
        OptionError: as for `bfs`.
        GraphError: the graph does not have a source; it has no weights, or weights so large that a distance may not fit
            64 bits.
        DeviceUnavailableError, OutOfMemoryError: the device is not available, or too small.
    """
    options = checked_options(
        mda=mda, threshold=threshold, warp_size=warp_size, chunk=chunk, defer=defer, atomic=atomic, delta=delta
    )  # fmt: skip
    if distance_limit is not None:
        distance_limit = checked_limit("distance_limit", distance_limit)
    return _traverse(graph, source, balance, options, True, distance_limit, parents, keep_on_device, device, threads)


def _traverse(
    graph: CsrGraph | DeviceGraph,
    source: Sources,
    balance: str,
    options: dict[str, Any],
    weighted: bool,
    limit: float | None,
    parents: bool,
    keep: bool,
    device: str,
    threads: int | None,
    *,
    order: bool = False,
) -> Traversal:
    check_graph(graph, CsrGraph, DeviceGraph)
    scheme = schemes(weighted=weighted)[chosen("balance", balance, BALANCES)]
    parents, order, keep = switch("parents", parents), switch("order", order), switch("keep_on_device", keep)
    if order:
        scheme = ORDERED
    for name in options:
        if name not in scheme.options:
            having = " and ".join(map(repr, balances_with(name)))
            raise OptionError(f"{option(name)} is not an option of {option('balance')} = {balance!r}, but of {having}")
    sources = checked_sources(source, graph)
    if balance == "auto" and len(sources) == 1 and not (weighted or keep):
        begun = perf_counter()
        searches = _small_searches(graph, device, threads)
        if searches is not None:
            most = small_search.FARTHEST if limit is None else min(int(limit), small_search.FARTHEST)
            return searches.search(sources[0], most, parents, order, begun)
    kept = kept_graph(graph, device, threads) if isinstance(graph, CsrGraph) else None
    where = device_for(graph, device, threads) if kept is None else kept.device
    if where.threads:
        need = search_bytes(graph.nodes, weighted, parents or order)
        require_memory(need, f"a search of {counted(graph.nodes, 'node')}")
    if scheme.strategy is not None:
        options = {**options, "strategy": scheme.strategy}
    if scheme.transposing:  # which takes longer than one search
        options = {**options, "transposed": None if isinstance(graph, DeviceGraph) else False}
    if scheme.finds_parents:
        options = {**options, "parents": parents}
    run: Run = import_module(f"static_graph.traversal.{scheme.module}").run

    def search(on_device: DeviceGraph) -> Outcome:
        return run(on_device, sources, weighted=weighted, depth_limit=limit, **options)

    with where.lock, where.current:
        return _search(
            graph, scheme, search, sources, balance=balance, weighted=weighted, parents=parents, keep=keep, where=where
        )  # fmt: skip


def _small_searches(
    graph: CsrGraph | DeviceGraph, device: str, threads: int | None
) -> small_search.SmallSearches | None:
    """Returns the searches by one thread of a CPU if the graph is small, and on a CPU or on the host; otherwise None.

    A graph on the host is searched on the CPU unless the caller insists on a GPU, which would take longer.

    Raises:
        OptionError, DeviceUnavailableError, OutOfMemoryError: as for `bfs`.
    """
    if graph.nodes + graph.edges > small_search.MOST:
        return None
    found = small_search.kept_searches(graph, device, threads)
    if found is not None:
        return found
    if isinstance(graph, DeviceGraph):
        return small_search.searches_on(graph) if device_for(graph, device, threads).threads else None
    where = device_for(graph, "cpu" if isinstance(device, str) and device == "auto" else device, threads)
    if not where.threads:
        return None
    found = small_search.SmallSearches(kept_upload(graph, where), graph.labels)
    if graph.edges <= MOST_KEPT:
        small_search.keep_searches(graph, device, threads, found)
    return found


def _search(
    graph: CsrGraph | DeviceGraph,
    scheme: Scheme,
    search: Callable[[DeviceGraph], Outcome],
    sources: list[int],
    *,
    balance: str,
    weighted: bool,
    parents: bool,
    keep: bool,
    where: Device,
) -> Traversal:
    """Searches a graph, after uploading it to `where` if necessary; the arguments are checked already."""
    clock = Clock()
    if isinstance(graph, DeviceGraph):
        on_device = graph
    else:
        on_device = kept_upload(graph, where) if balance == "auto" else DeviceGraph.upload(graph, where, copied=False)
        clock.lap("upload")
    kind = kind_for(on_device, weighted)
    where.prepare(*gpu_modules(kind, scheme, weighted=weighted, parents=parents, transposed=on_device is graph))
    outcome = search(on_device)
    clock.lap("prepare", less=outcome.seconds)
    clock.seconds["rounds"] = outcome.seconds
    tree = outcome.parents
    if tree is None and parents:
        tree = parents_on_device(on_device, outcome.distances, weighted=weighted)
        where.synchronize()
        clock.lap("parents")
    arrays: dict[str, Any] = {} if tree is not None else {"parents": None}
    if keep:
        left = {"distances": outcome.distances.shown(), **({} if tree is None else {"parents": tree})}
        arrays["on_device"] = MappingProxyType(left)
        where.synchronize()  # other libraries may use the arrays on streams of their own
    else:
        arrays["distances"] = outcome.distances.download()
        if tree is not None:
            arrays["parents"] = tree.detach()
    order = None if outcome.order is None else outcome.order.download()
    clock.lap("download")
    return Traversal.found(
        **arrays,
        order=order,
        sources=tuple(sources),
        balance=balance,
        rounds=outcome.rounds,
        edges_followed=outcome.relaxed,
        launches=outcome.launches,
        **computed(where, clock.seconds),
        figures=outcome.figures,
        node_labels=labels_of(graph),
    )


def checked_limit(name: str, distance: float) -> float:
    """Checks a limit of distances; integers stay ints, because floats cannot represent all of them.

    Raises:
        OptionError: the limit is negative or NaN. WrongTypeError: it is not a number.
    """
    limit = (
        operator.index(distance)
        if isinstance(distance, int | np.integer) and not isinstance(distance, np.timedelta64)
        else real_option(name, distance)
    )
    if not limit >= 0:
        raise OptionError(f"{option(name)} = {shortened(limit)}: it must be at least 0")
    return min(limit, 2**1000)  # finite as a float, and above all distances


@cache
def gpu_modules(
    kind: DistanceKind, scheme: Scheme, *, weighted: bool, parents: bool, transposed: bool
) -> frozenset[str]:
    """Returns the GPU modules of a search; `transposed`: whether the scheme may transpose the graph."""
    found = {module.format(kind=kind.name.lower()) for module in scheme.gpu_modules}
    if transposed:
        found.update(scheme.transposing)
    if parents:
        found.update(parents_modules(weighted=weighted))
    return frozenset(found)


def checked_sources(source: Sources, graph: CsrGraph | DeviceGraph) -> list[int]:
    """Converts the sources, which are numbers of nodes, or labels if they are strings, to a list of numbers.

    Raises:
        WrongTypeError: a source is not an integer, nor a string in a graph whose labels are strings.
        GraphError: there are nodes but no sources, or the graph does not have a source.
    """
    if type(source) is int and 0 <= source < graph.nodes:  # not a truth value
        return [source]
    one = isinstance(source, (str, bytes, bytearray, memoryview)) or getattr(source, "shape", None) == ()
    if one or not isinstance(source, Iterable):
        several = [source]
    else:
        try:
            several = list(source)
        except Exception:  # raised by a foreign object's iterator
            raise WrongTypeError(f"source must be {SOURCE}, or several, not {shortened(source)}") from None
    given = [_checked_source(node, graph) for node in several]
    if not given and graph.nodes:
        raise GraphError("at least one source is needed")
    return given


def _checked_source(source: Any, graph: CsrGraph | DeviceGraph) -> int:
    labels = labels_of(graph)
    if isinstance(source, str) and labels is not None and labels.dtype.kind != "i":
        host = graph if isinstance(graph, CsrGraph) else graph.host
        assert host is not None
        return host.node_of(source)
    node = whole_option("source", source, SOURCE)
    if not 0 <= node < graph.nodes:
        raise GraphError(f"no path can begin at node {shortened(node)}: {numbered(graph.nodes, 'node')}")
    return node
