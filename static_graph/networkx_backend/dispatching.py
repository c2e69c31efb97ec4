"""The choice of the calls that the backend takes from networkx."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# Nodes and edges of the smallest graph that networkx sends here. From there on, most functions are faster here if the
# graph is converted already (python -m scripts.bench.networkx_backend: the median of all functions was 1,250 in one run
# and 5,000 in another, on 2 cores of an AMD EPYC that did other work, too).
SMALLEST = 2500


def should_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
    """Returns whether a call is faster here than in networkx, or the reason why not.

    networkx asks only when it chooses the backend itself; `backend="static_graph"` runs any call.
    """
    graph = args[0] if args else kwargs["G"]
    if len(graph) < SMALLEST and len(graph) + graph.number_of_edges() < SMALLEST:
        return f"the graph has fewer than {SMALLEST} nodes and edges"
    if name == "has_path":
        return "networkx searches from both ends, and follows few edges"
    if any(map(callable, (*args, *kwargs.values()))):
        return "a Python function for each edge, or node, takes longer than the search"
    return True
