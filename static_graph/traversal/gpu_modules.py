"""The GPU modules of each search, compiled and loaded before it begins."""

from __future__ import annotations

from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.gpu_modules import ROWS
from static_graph.traversal.distances import DistanceKind, kind_for

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
