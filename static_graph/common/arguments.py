"""Type check for graphs as arguments of public functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dmr.common.arguments import kind_of, shortened
from static_graph.errors import WrongTypeError

# The class methods of CsrGraph that convert objects of other packages.
MAKERS = {"scipy": "from_scipy", "networkx": "from_networkx"}


def check_graph(graph: Any, *types: type) -> None:
    """Raises WrongTypeError unless `graph` is of one of `types`; the message says how to make one."""
    if isinstance(graph, types):
        return
    needed = f"it must be a {' or a '.join(each.__name__ for each in types)}"
    if isinstance(graph, (str, Path)):
        name = shortened(str(graph))
        raise WrongTypeError(f"graph is a path, {name}, and {needed}: static_graph.read it first")
    package = str(type(graph).__module__).partition(".")[0]
    raise WrongTypeError(f"graph is {kind_of(graph)}, and {needed}: {_way(graph, package)}")


def _way(graph: Any, package: str) -> str:
    """Returns advice on how to convert an object to a graph."""
    if getattr(graph, "host", None) is not None:
        return "its `host` is one"
    return f"CsrGraph.{MAKERS[package]} makes one of it" if package in MAKERS else "CsrGraph.from_edges makes one"
