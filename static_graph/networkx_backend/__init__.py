"""A backend of networkx: its functions on all cores or on a GPU, with networkx's results.

networkx finds this package by its entry points. `NETWORKX_BACKEND_PRIORITY=static_graph` sends every call here that the
backend can answer; `networkx.pagerank(graph, backend="static_graph")` sends one call.

The backend's functions have the names and the parameters of networkx's. Their modules, numpy and the kernels are
imported by the first call: networkx imports this package whenever it is imported itself.
"""

from __future__ import annotations

from dmr.common.lazy import lazy_names
from static_graph.networkx_backend.info import FUNCTIONS

_MODULES = {
    **FUNCTIONS,
    "Graph": "graph",
    "convert_from_nx": "graph",
    "convert_to_nx": "graph",
    "should_run": "dispatching",
}

__all__ = sorted(_MODULES)

__getattr__, __dir__ = lazy_names(__name__, {name: f"{__name__}.{module}" for name, module in _MODULES.items()})
