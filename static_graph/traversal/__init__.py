"""Breadth-first search and shortest paths, by every scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.common.lazy import lazy_names

if TYPE_CHECKING:
    from static_graph.traversal.batch import distance_matrix
    from static_graph.traversal.search import bfs, sssp, upload

__all__ = ["bfs", "distance_matrix", "sssp", "upload"]
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "bfs": "static_graph.traversal.search",
        "distance_matrix": "static_graph.traversal.batch",
        "sssp": "static_graph.traversal.search",
        "upload": "static_graph.traversal.search",
    },
)
