"""The GPU modules of each algorithm, compiled and loaded before it begins."""

from __future__ import annotations

from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal.distances import DistanceKind, kind_for

ROWS = ("graph/building/rows", "primitives/scan", "primitives/sorting")  # edges into rows
ROUNDS = (
    "primitives/device_loop",
    "graph/schemes/fixed_point",
    "graph/traversal/export",
)  # for the schemes of the papers
COLLAPSE = (*ROUNDS, "graph/schemes/collapse")

# `search_modules` adds the modules of virtual warps and near-far, which depend on the kind of the distances.
SCHEMES = {
    "none": ROUNDS,
    "split": (*ROUNDS, "graph/schemes/node_splitting", "primitives/scan"),
    "child-launch": (*ROUNDS, "graph/schemes/child_relaxation"),
    "warp": (*ROUNDS, "graph/schemes/virtual_warps"),
    "hierarchical": COLLAPSE,
    "collapse-local": COLLAPSE,
    "collapse-global": (*COLLAPSE, "primitives/scan"),
}

RANKERS = {
    "wyllie": ("lists/pointer_jumping", "lists/ruling_set"),
    "lock-step": ("lists/pointer_jumping", "lists/ruling_set"),
    "on-demand": ("lists/pointer_jumping", "lists/ruling_set"),
    "helman-jaja": ("lists/pointer_jumping", "lists/ruling_set"),
    "sequential": ("lists/sequential_ranking",),
}
ROOTS = ("lists/pointer_jumping",)  # for find_roots
TOURS = ("primitives/gathering", "graph/trees/euler_tour", *ROWS)  # in addition to those of the ranking
PATH_SUMS = ("graph/trees/euler_tour", "primitives/scan")
COMMON_ANCESTORS = (*PATH_SUMS, "graph/trees/common_ancestors")
LISTS = (
    "primitives/gathering",
    "graph/building/generation",
    "lists/generation",
    "primitives/scan",
    "primitives/sorting",
)
RANDOM_GRAPHS = ("graph/building/generation", *ROWS)


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
            found.add(f"graph/schemes/virtual_warps_{kind}")
    elif weighted:
        found = {
            "graph/traversal/near_far",
            f"graph/traversal/near_far_{kind}",
            "graph/schemes/fixed_point",
            "graph/traversal/export",
        }
    else:
        found = {"graph/traversal/breadth_first", "graph/schemes/fixed_point", "graph/traversal/export"}
        if incoming:
            found |= {"graph/building/incoming", *ROWS}
    if parents:
        found.add("graph/traversal/parents")
    if parents and kind != DistanceKind.HOPS.name.lower():  # ties need a breadth-first search
        found |= {"graph/traversal/breadth_first", *ROWS}
    return found


def ranking_modules(method: str, *, values: bool = False) -> tuple[str, ...]:
    """Returns the module names for `Device.prepare`; `values`: whether values are summed along the lists."""
    return ("lists/checking", "primitives/scan", *RANKERS[method], *["lists/sums"] * values)
