"""What public functions are given, looked at where it comes in: the first mistakes get a sentence, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dmr.memory import kind_of, shortened
from static_graph.errors import WrongTypeError

# What makes a CsrGraph of other packages' objects.
MAKERS = {"scipy": "from_scipy", "networkx": "from_networkx"}


def check_graph(graph: Any, *kinds: type) -> None:
    """Raises WrongTypeError for what is no graph of these kinds; says how to come by one."""
    if isinstance(graph, kinds):
        return
    needed = f"it must be a {' or a '.join(kind.__name__ for kind in kinds)}"
    if isinstance(graph, (str, Path)):
        name = shortened(str(graph))
        raise WrongTypeError(f"graph is a path, {name}, and {needed}: static_graph.read it first")
    package = str(type(graph).__module__).partition(".")[0]
    raise WrongTypeError(f"graph is {kind_of(graph)}, and {needed}: {_way(graph, package)}")


def as_path(path: Any, what: str = "path") -> Path:
    """Returns a path as an object.

    Raises:
        WrongTypeError: it is none; `what` is what it is called.
    """
    try:
        return Path(path)
    except Exception:  # bytes, or a foreign object's __fspath__
        raise WrongTypeError(f"{what} is {kind_of(path)}, and must be the name of a file") from None


def _way(graph: Any, package: str) -> str:
    """How a graph is made of something else."""
    if getattr(graph, "host", None) is not None:
        return "its `host` is one"
    return f"CsrGraph.{MAKERS[package]} makes one of it" if package in MAKERS else "CsrGraph.from_edges makes one"
