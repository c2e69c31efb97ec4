"""The GPU modules of each algorithm, compiled and loaded before it begins."""

from __future__ import annotations

from static_graph.device_graph import DeviceGraph
from static_graph.distances import DistanceKind, kind_for

ROWS = ("graph/rows", "scan", "sorting")  # edges into rows
ROUNDS = ("device_loop", "graph/fixed_point", "graph/showing")  # for the schemes of the papers
COLLAPSE = (*ROUNDS, "graph/collapse")

# `search_modules` adds the modules of virtual warps and near-far, which depend on the kind of the distances.
SCHEMES = {
    "none": ROUNDS,
    "split": (*ROUNDS, "graph/node_splitting", "scan"),
    "child-launch": (*ROUNDS, "graph/child_relaxation"),
    "warp": (*ROUNDS, "graph/virtual_warps"),
    "hierarchical": COLLAPSE,
    "collapse-local": COLLAPSE,
    "collapse-global": (*COLLAPSE, "scan"),
}

RANKERS = {
    "wyllie": ("graph/pointer_jumping", "graph/ruling_set"),
    "lock-step": ("graph/pointer_jumping", "graph/ruling_set"),
    "on-demand": ("graph/pointer_jumping", "graph/ruling_set"),
    "helman-jaja": ("graph/pointer_jumping", "graph/ruling_set"),
    "sequential": ("graph/sequential_ranking",),
}
ROOTS = ("graph/pointer_jumping",)  # for find_roots
TOURS = ("gathering", "graph/euler_tour", *ROWS)  # in addition to those of the ranking
PATH_SUMS = ("graph/euler_tour", "scan")
COMMON_ANCESTORS = (*PATH_SUMS, "graph/common_ancestors")
LISTS = ("gathering", "graph/generation", "graph/list_generation", "scan", "sorting")
RANDOM_GRAPHS = ("graph/generation", *ROWS)


def search_modules(graph: DeviceGraph, balance: str, *, weighted: bool, parents: bool, incoming: bool) -> set[str]:
    """Returns the module names that `Device.prepare` needs for a search.

    Args:
        graph: the graph; balance: "auto" or a scheme; weighted, parents: options of the search.
        incoming: whether the search may use incoming edges.
    """
    kind = kind_for(graph, weighted).name.lower()
    if balance != "auto":
        found = {*SCHEMES[balance]}
        if balance == "warp":
            found.add(f"graph/virtual_warps_{kind}")
    elif weighted:
        found = {"graph/near_far", f"graph/near_far_{kind}", "graph/fixed_point", "graph/showing"}
    else:
        found = {"graph/breadth_first", "graph/fixed_point", "graph/showing"}
        if incoming:
            found |= {"graph/incoming", *ROWS}
    if parents:
        found.add("graph/parents")
    if parents and kind != DistanceKind.HOPS.name.lower():  # ties need a breadth-first search
        found |= {"graph/breadth_first", *ROWS}
    return found


def ranking_modules(method: str, *, values: bool = False) -> tuple[str, ...]:
    """Returns the module names for `Device.prepare`; `values`: whether values are summed along the lists."""
    return ("graph/list_checking", "scan", *RANKERS[method], *["graph/list_sums"] * values)
