"""Description of the backend for networkx, which reads it on import; this module imports nothing else."""

from __future__ import annotations

from typing import Any

# The module of each function that the backend answers.
FUNCTIONS = {
    "all_pairs_shortest_path": "unweighted",
    "all_pairs_shortest_path_length": "unweighted",
    "ancestors": "traversal",
    "bfs_edges": "traversal",
    "bfs_layers": "traversal",
    "bfs_predecessors": "traversal",
    "bfs_successors": "traversal",
    "bfs_tree": "traversal",
    "condensation": "components",
    "connected_components": "components",
    "descendants": "traversal",
    "descendants_at_distance": "traversal",
    "has_path": "unweighted",
    "is_connected": "components",
    "is_strongly_connected": "components",
    "is_weakly_connected": "components",
    "multi_source_dijkstra_path_length": "dijkstra",
    "node_connected_component": "components",
    "number_connected_components": "components",
    "number_strongly_connected_components": "components",
    "number_weakly_connected_components": "components",
    "pagerank": "link_analysis",
    "single_source_dijkstra": "dijkstra",
    "single_source_dijkstra_path": "dijkstra",
    "single_source_dijkstra_path_length": "dijkstra",
    "single_source_shortest_path": "unweighted",
    "single_source_shortest_path_length": "unweighted",
    "single_target_shortest_path": "unweighted",
    "single_target_shortest_path_length": "unweighted",
    "strongly_connected_components": "components",
    "weakly_connected_components": "components",
}

_SEARCH = "The whole search runs before the first item is returned. Nodes have networkx's order."
_TIES = "Of several shortest paths, it may return another one than networkx; distances that are equal have no order."
_STRONG = (
    "Components are in reverse topological order: by the longest path between components that begins at each, and of "
    "equal ones by the first node."
)
_NOTES = {
    **dict.fromkeys((name for name, module in FUNCTIONS.items() if module == "traversal"), _SEARCH),
    **dict.fromkeys((name for name, module in FUNCTIONS.items() if module == "dijkstra"), _TIES),
    "condensation": _STRONG,
    "pagerank": "Scores differ from networkx's by rounding; they are the same bits on every device.",
    "strongly_connected_components": _STRONG,
}


def backend_info() -> dict[str, Any]:
    """Describes the backend: networkx adds the notes to its docstrings, and the configuration to `networkx.config`."""
    return {
        "backend_name": "static_graph",
        "project": "dmr",
        "package": "static_graph",
        "short_summary": "the same results on all cores of a CPU, or on an NVIDIA GPU.",
        "functions": {name: {"additional_docs": _NOTES.get(name, "")} for name in FUNCTIONS},
        "default_config": {"device": "auto", "threads": None},
    }
