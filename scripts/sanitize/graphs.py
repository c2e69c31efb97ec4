"""Kernel families of `static_graph` for `families.py`: traversals, lists, trees, graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import static_graph
from dmr.memory import Device, pack
from scripts.sanitize.cases import Case, Family, digest
from scripts.sanitize.schemes import schemes_with_variants
from static_graph.components.table import METHODS
from static_graph.engine.colours import coloured
from static_graph.engine.loop import STRATEGIES, Expansion, Frontier, how
from static_graph.engine.trimming import trimmed_nodes
from static_graph.graph.building import rows_on_device
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.incoming import incoming
from static_graph.link_analysis.methods import pull
from static_graph.link_analysis.options import checked_options
from static_graph.link_analysis.state import State
from static_graph.link_analysis.table import METHODS as PAGERANK
from static_graph.lists.checks import find_heads
from static_graph.lists.kinds import KINDS as LISTS
from static_graph.lists.methods.table import FINISHES, RULES, SPACINGS
from static_graph.lists.ranking import rank_on_device
from static_graph.traversal.frontiers import direction_optimising, near_far, queue_search, several_sources
from static_graph.traversal.parents import find_parents
from static_graph.traversal.schemes import fixed_point
from static_graph.traversal.schemes.timeline import Timeline
from static_graph.trees.kinds import KINDS as TREES


def graphs() -> Iterator[tuple[str, static_graph.CsrGraph]]:
    """Graphs with every kind of weights: 3 nodes of thousands of edges, 300 of dozens, and many of hardly any.

    Frontiers cover several scan tiles, and tiles of edges contain few or many nodes.
    """
    random = np.random.default_rng(4)
    nodes, edges = 9000, 21_000
    ends = random.integers(0, nodes, (2, edges))
    ends[0, :9000] %= 3
    ends[0, 9000:15_000] %= 300
    for name, weights in (
        ("narrow", random.integers(0, 50, edges)),
        ("wide", random.integers(0, 2**40, edges)),
        ("real", random.random(edges)),
    ):
        yield name, static_graph.CsrGraph.from_edges(ends[0], ends[1], weights, nodes)


def traversed(run: Callable[..., Any], searched: str, variants: dict[str, dict[str, Any]]) -> Family:
    """Family of one scheme with options: breadth-first search, or shortest paths by every kind of weights."""

    def family(device: Device) -> Iterator[Case]:
        for (graph, host), (name, options) in product(graphs(), variants.items()):
            if searched == "bfs" and graph != "narrow":
                continue

            def search(host: static_graph.CsrGraph = host, options: dict[str, Any] = options) -> str:
                uploaded = DeviceGraph.upload(host, device)
                found = run(uploaded, [0, 1], weighted=searched == "sssp", **options).distances
                parents = find_parents(uploaded, found, weighted=searched == "sssp")
                return digest(found.download(), parents)

            yield f"{graph}, {name}", search

    family.__doc__ = f"{'Breadth-first search' if searched == 'bfs' else 'Shortest paths'} by {run.__module__}."
    return family


def engine(device: Device) -> Iterator[Case]:
    """Trimming and colour propagation by every strategy of the engine."""
    for (name, host), strategy, options in product(graphs(), STRATEGIES, (True, False)):
        if name != "narrow":
            continue

        def run(host: static_graph.CsrGraph = host, strategy: str = strategy, options: bool = options) -> str:
            graph, alone = DeviceGraph.upload(host, device), options and strategy == "collapse-local"
            chosen = how(strategy, coalesced=options, shared_queue=options, team_primitives=options)
            trimmed, _ = trimmed_nodes(graph, chosen, alone=alone)
            colours, _ = coloured(graph, chosen, alone=alone, growth=4 if alone else None, atomic=options)
            return digest(trimmed.download(), colours.download())

        yield f"{strategy}, {'all' if options else 'plain'}", run


def timelines(device: Device) -> Iterator[Case]:
    """The timeline of blocks."""

    def run() -> None:
        timeline = Timeline(device, 3)
        graph = DeviceGraph.upload(next(graphs())[1], device)
        fixed_point.run(graph, [0], weighted=False, timeline=timeline)
        timeline.lines()

    yield "three lines", run


def queued(device: Device) -> Iterator[Case]:
    """Breadth-first search in the order of a queue."""
    graph = next(graphs())[1]
    for one_launch in (False, True):

        def search(one_launch: bool = one_launch) -> str:
            found = queue_search.run(DeviceGraph.upload(graph, device), [1, 0], one_launch=one_launch)
            assert found.parents is not None and found.order is not None
            return digest(found.distances.download(), found.parents.download(), found.order.download())

        yield "one launch" if one_launch else "a launch per pass", search


def together(device: Device) -> Iterator[Case]:
    """Breadth-first searches from many sources at once."""
    host = next(graphs())[1]
    for strategy in STRATEGIES:

        def search(strategy: str = strategy) -> str:
            distances = device.empty(20 * host.nodes, np.int32)
            several_sources.run(DeviceGraph.upload(host, device), range(20), distances, balance=strategy)
            return digest(distances.download())

        yield strategy, search


def reduced(method: str, variants: dict[str, dict[str, Any]]) -> Family:
    """Family of list ranking by one method, with options."""

    def family(device: Device) -> Iterator[Case]:
        for (size, lists), (name, options) in product(((257, 257), (5000, 1), (5000, 40)), variants.items()):

            def run(size: int = size, lists: int = lists, options: dict[str, Any] = options) -> str:
                successors = static_graph.generate_list("random", size, lists=lists, device="cpu")
                found = static_graph.rank(
                    successors, values=np.arange(size) - 7, method=method, device=device.name, **options
                )
                return digest(*found)

            yield f"{size} elements, {lists} lists, {name}", run

    family.__doc__ = f"List ranking by {method}."
    return family


RANKERS: dict[str, dict[str, dict[str, Any]]] = {
    "wyllie": {"packing 64": {}, "packing 32": {"packing": 32}},
    "lock-step": {"plain": {}},
    "on-demand": {"plain": {}},
    "helman-jaja": {
        "default": {},
        "wide words": {"finish_size": 10_000},
        **{
            f"{finish}, {spacing}": {"finish": finish, "spacing": spacing, "splitters": splitters, "finish_size": 5}
            for finish, spacing, splitters in (*zip(FINISHES, SPACINGS * 2, (*RULES, 40), strict=False),)
        },
    },
}


def sequential(device: Device) -> Iterator[Case]:
    """List ranking by one thread of the device, as measured by the cost model."""

    def run() -> str:
        successors = static_graph.generate_list("random", 500, lists=3, device="cpu")
        on_device = device.array(successors)
        ranked = rank_on_device(on_device, find_heads(on_device, successors), method="sequential")
        return digest(ranked.ranks.download(), ranked.lengths.download())

    yield "500 elements, 3 lists", run


def trees(device: Device) -> Iterator[Case]:
    """Euler tours, node numberings, common ancestors, path sums, and rooting of edges."""
    where = device.name
    for kind in TREES:
        parents = static_graph.generate_tree(kind, 3000, seed=1)

        def numbered(parents: Any = parents) -> str:
            tree, nodes = static_graph.euler_tour(parents, device=where), np.arange(3000)
            numbers = (tree.preorder, tree.postorder, tree.level, tree.subtree_size)
            sums, roots = tree.path_sums(nodes), static_graph.find_roots(parents, device=where)
            return digest(*numbers, tree.lca(nodes, nodes[::-1]), sums, roots)

        def rooted(parents: Any = parents, root: list[int] | None = None) -> str:
            others = np.flatnonzero(parents >= 0)
            edges = np.column_stack([others, parents[others]])[7:]
            return digest(static_graph.euler_tour(edges, root, nodes=3000, device=where).parent)

        yield f"{kind}, numbers", numbered
        yield f"{kind}, of edges", rooted
        yield f"{kind}, of edges from a root", partial(rooted, root=[2999])


def generation(device: Device) -> Iterator[Case]:
    """Random graphs and lists."""

    def graph_digest(graph: static_graph.CsrGraph) -> str:
        weights = graph.weights if graph.weights is not None else np.empty(0)
        return digest(graph.offsets, graph.targets, weights)

    where = device.name
    yield "rmat", lambda: graph_digest(
        static_graph.generate_rmat(1000, 9000, permute=True, weights=9, device=where)
    )  # fmt: skip
    yield "rmat, graph500, unique", lambda: graph_digest(
        static_graph.generate_rmat(1000, 9000, preset="graph500", self_loops=False, duplicates=False, device=where)
    )  # fmt: skip
    yield "uniform", lambda: graph_digest(static_graph.generate_random(1001, 9000, weights=5, device=where))
    yield "uniform, no loops", lambda: graph_digest(
        static_graph.generate_random(1001, 9000, self_loops=False, device=where)
    )  # fmt: skip
    for kind in LISTS:

        def listed(kind: str = kind) -> str:
            return digest(static_graph.generate_list(kind, 5000, lists=3, interval=8, device=where))

        yield f"list, {kind}", listed


def building(device: Device) -> Iterator[Case]:
    """CSR rows from edges, for sizes near tile and node-group boundaries."""
    random = np.random.default_rng(4)
    for nodes, edges in ((1, 3), (15, 0), (16, 4096), (17, 4097), (300, 9000), (70_000, 20)):
        ends = random.integers(0, nodes, (2, edges))

        def run(ends: Any = ends, nodes: int = nodes) -> str:
            sources, targets = device.array(ends[0].astype(np.uint32)), device.array(ends[1].astype(np.int32))
            return digest(*(array.download() for array in rows_on_device(sources, targets, nodes)))

        yield f"{nodes} nodes, {edges} edges", run
    for name, graph in graphs():

        def transposed(graph: static_graph.CsrGraph = graph) -> str:
            back = incoming(DeviceGraph.upload(graph, device), weighted=True)
            assert back is not None and back.weights is not None
            return digest(back.offsets.download(), back.targets.download(), back.weights.download())

        def shared(graph: static_graph.CsrGraph = graph) -> str:
            assert graph.weights is not None
            wide = (graph.offsets, graph.targets.astype(np.int64), graph.weights.astype(np.float32))
            made = [DeviceGraph.from_arrays(*map(device.array, arrays))
                    for arrays in ((graph.offsets, graph.targets, graph.weights), wide)]  # fmt: skip
            return digest(*(each.targets.download() for each in made), made[1].weights.download())  # type: ignore[union-attr]

        yield f"incoming, {name}", transposed
        yield f"arrays, {name}", shared
    sources, targets = random.integers(0, 300, (2, 9000))
    host = static_graph.CsrGraph.from_edges(sources, targets, random.random(9000), 300)
    yield "transposed", lambda: digest(host.reversed().targets, host.reversed().weights)


def connected(device: Device) -> Iterator[Case]:
    """Components by every method that runs on a GPU."""
    ways = [(c, m) for c, methods in METHODS.items() for m, method in methods.items() if not method.serial]
    host = next(graphs())[1]  # weights do not count
    for connection, method in ways:

        def labels(host: static_graph.CsrGraph = host, connection: str = connection, method: str = method) -> str:
            uploaded = static_graph.upload(host, device.name)
            twice = [
                static_graph.connected_components(uploaded, connection=connection, method=method) for _ in range(2)
            ]
            return digest(*(found.labels for found in twice))

        yield f"{connection}, {method}", labels
    for balance in STRATEGIES:

        def searched(balance: str = balance) -> str:
            found = static_graph.connected_components(
                static_graph.upload(host, device.name),
                connection="strong",
                method="multistep",
                balance=balance,
                cutoff=0,
            )
            return digest(found.labels)

        yield f"multistep, {balance}", searched

    def condensed() -> str:
        dag, found = static_graph.condensation(static_graph.upload(host, device.name))
        return digest(dag.offsets, dag.targets, found.labels)

    yield "condensation", condensed


def pageranks(device: Device) -> Iterator[Case]:
    """PageRank by every method."""
    few = static_graph.generate_random(300, 2000, weights=9, device="cpu").reversed()
    for (name, host), method, weighted in product((*graphs(), ("few", few)), PAGERANK, (False, True)):
        is_dense = PAGERANK[method].matrices > 0
        if is_dense != (name == "few") or (not weighted and name in ("wide", "real")):  # where only the weights differ
            continue

        def run(host: static_graph.CsrGraph = host, method: str = method, weighted: bool = weighted) -> str:
            precision = "float32" if weighted else "fixed"
            found = static_graph.pagerank(
                DeviceGraph.upload(host.reversed(), device),
                method=method, weighted=weighted, precision=precision, iterations=3,
            )  # fmt: skip
            return digest(found.scores)

        yield f"{name}, {method}{', weighted' * weighted}", run
    host = next(graphs())[1].reversed()
    vector = 1 + np.arange(host.nodes) % 5
    for balance in PAGERANK["pull"].balances:

        def balanced(balance: str = balance) -> str:
            uploaded = DeviceGraph.upload(host, device)
            return digest(static_graph.pagerank(uploaded, balance=balance, personalization=vector, iterations=3).scores)

        yield f"pull, {balance}, personalization", balanced
    for launches, weighted in (("a launch per pass", True), ("one launch", True), ("one launch", False)):

        def pulled(one_launch: bool = launches == "one launch", weighted: bool = weighted) -> str:
            options = checked_options(host.nodes, iterations=3)
            state = State(DeviceGraph.upload(host, device), options, weighted=weighted)
            pull.run(state, in_one_launch=one_launch)
            return digest(state.scores.download())

        yield f"pull, {launches}{', weighted' * weighted}", pulled

    for one_launch, weighted in ((False, True), (True, True), (True, False)):

        def renumbered(one_launch: bool = one_launch, weighted: bool = weighted) -> str:
            options = checked_options(host.nodes, iterations=3)
            state = State(DeviceGraph.upload(host, device), options, weighted=weighted, renumbered=True)
            pull.run(state, in_one_launch=one_launch)
            return digest(state.download())

        launches = "one launch" if one_launch else "a launch per pass"
        yield f"pull, {launches}{', weighted' * weighted}, by degree", renumbered
    small = static_graph.generate_random(90, 300, weights=9, device="cpu")
    yield "transition matrix", lambda: digest(static_graph.transition_matrix(DeviceGraph.upload(small, device)))
    yield "a list of nodes", lambda: digest(sums_of_some(DeviceGraph.upload(small, device)))


def sums_of_some(graph: DeviceGraph) -> NDArray[np.uint64]:
    """Sums of the shares that reach every third node, by the engine's kernels for lists (PageRank has none)."""
    device = graph.device
    state = State(graph, checked_options(graph.nodes, iterations=1), weighted=True)
    incoming, ratios = device.zeros(graph.nodes, np.uint64), state.edge_ratios(transposed=True)
    body = pack("Pull", **state.buffers, progress=state.progress, ratios=ratios, incoming=incoming)
    frontier = Frontier(state.back(), np.arange(0, graph.nodes, 3, dtype=np.int32))
    Expansion(state.back(), "pull_loop", body, frontier, how("collapse-global"), reduces=True).launch()
    return incoming.download()


FAMILIES: dict[str, Family] = {
    **{
        f"{searched}-{scheme}": traversed(run, searched, variants)
        for searched in ("bfs", "sssp")
        for scheme, run, variants in schemes_with_variants()
    },
    "bfs-auto": traversed(
        direction_optimising.run,
        "bfs",
        {
            "one launch": {"one_launch": True},
            "a launch per level": {"one_launch": False},
            "pushed, one launch": {"one_launch": True, "transposed": False},
            "pushed": {"one_launch": False, "transposed": False},
            "parents": {"parents": True},
            "parents, pushed": {"parents": True, "transposed": False},
        },
    ),
    "sssp-auto": traversed(
        near_far.run, "sssp", {"one launch": {"one_launch": True}, "a launch per step": {"one_launch": False}}
    ),
    "bfs-order": queued,
    "bfs-together": together,
    "pagerank": pageranks,
    "engine": engine,
    "timeline": timelines,
    **{f"rank-{method}": reduced(method, variants) for method, variants in RANKERS.items()},
    "rank-sequential": sequential,
    "components": connected,
    "trees": trees,
    "generation": generation,
    "building": building,
}
