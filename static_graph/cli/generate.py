"""The `generate` command."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.command_line.console import Console
from dmr.common.command_line.parser import Arguments
from dmr.common.text import counted
from static_graph.cli.outputs import checked_target
from static_graph.errors import GraphError, OptionError
from static_graph.graph.csr import CsrGraph
from static_graph.graph.generation import generate_random, generate_rmat
from static_graph.io import check_array_target, check_graph_target, write, write_array
from static_graph.lists.generation import generate_list
from static_graph.trees.generation import generate_tree

GRAPHS = ("rmat", "random")
RMAT_ONLY = ("preset", "probabilities", "noise", "halving", "permute")
# The kinds that an option applies to, if it does not apply to all.
KINDS_OF = {
    **dict.fromkeys(RMAT_ONLY, ("rmat",)),
    **dict.fromkeys(("weights", "no_self_loops", "no_duplicates"), GRAPHS),
    **dict.fromkeys(("order", "lists", "interval"), ("list",)),
    **dict.fromkeys(("shape", "no_shuffle"), ("tree",)),
}


def run(arguments: Arguments, console: Console) -> int:
    """Generates a graph, lists or a tree, and writes the result."""
    _check_options(arguments)
    kind = arguments.kind
    check = partial(check_graph_target if kind in GRAPHS else check_array_target, format=arguments.format)
    path = checked_target(arguments.output, arguments.force, check)
    options = OPTIONS[kind](arguments)
    start = time.perf_counter()
    try:
        made = MAKERS[kind](**options)
    except GraphError as error:  # no input file is involved, so the options are wrong
        raise OptionError(str(error)) from error
    seconds = time.perf_counter() - start
    if isinstance(made, CsrGraph):
        write(path, made, format=arguments.format, overwrite=arguments.force)
        options |= {"nodes": made.nodes, "edges": made.edges}
    else:
        write_array(path, made, format=arguments.format, overwrite=arguments.force)
    console.note(f"{_what(arguments, made)} in {seconds:.3g} s")
    console.note(f"wrote {path}")
    if arguments.json:
        console.emit_json({"file": str(path), "kind": kind, **options, "seconds": seconds})
    return 0


def _check_options(arguments: Arguments) -> None:
    """Raises OptionError for options that the kind does not have, and for a graph without a number of edges."""
    kind = arguments.kind
    for name, kinds in KINDS_OF.items():
        if kind not in kinds and getattr(arguments, name) not in (None, False):
            raise OptionError(f"--{name.replace('_', '-')} is for {' and '.join(kinds)} only")
    if kind in GRAPHS and arguments.edges is None:
        raise OptionError(f"a graph needs M, too, the number of its edges: generate {kind} N M")
    if kind not in GRAPHS and arguments.edges is not None:
        raise OptionError(f"a {kind} has no M, a number of edges: generate {kind} N")
    if kind == "list" and arguments.nodes == 0:
        raise OptionError("a list has at least 1 element, and N is 0")
    if kind == "tree" and arguments.device.startswith("cuda"):
        raise OptionError("a tree is grown on the CPU: leave --device out")


def _graph_options(arguments: Arguments) -> dict[str, Any]:
    given = {name: value for name in RMAT_ONLY if (value := getattr(arguments, name)) not in (None, False)}
    return {
        "nodes": arguments.nodes,
        "edges": arguments.edges,
        **given,
        "seed": arguments.seed,
        "weights": arguments.weights,
        "self_loops": not arguments.no_self_loops,
        "duplicates": not arguments.no_duplicates,
        "device": arguments.device,
        "threads": arguments.threads,
    }


def _list_options(arguments: Arguments) -> dict[str, Any]:
    given = {name: value for name in ("lists", "interval") if (value := getattr(arguments, name)) is not None}
    return {
        "order": arguments.order or "random",
        "elements": arguments.nodes,
        **given,
        "seed": arguments.seed,
        "device": arguments.device,
        "threads": arguments.threads,
    }


def _tree_options(arguments: Arguments) -> dict[str, Any]:
    return {
        "shape": arguments.shape or "random-binary",
        "nodes": arguments.nodes,
        "shuffled": not arguments.no_shuffle,
        "seed": arguments.seed,
        "threads": arguments.threads,
    }


def _list(order: str, elements: int, **options: Any) -> NDArray[np.int32]:
    return generate_list(order, elements, **options)


def _tree(shape: str, nodes: int, **options: Any) -> NDArray[np.int32]:
    return generate_tree(shape, nodes, **options)


OPTIONS: dict[str, Callable[[Arguments], dict[str, Any]]] = {
    "rmat": _graph_options,
    "random": _graph_options,
    "list": _list_options,
    "tree": _tree_options,
}
MAKERS: dict[str, Callable[..., CsrGraph | NDArray[np.int32]]] = {
    "rmat": generate_rmat,
    "random": generate_random,
    "list": _list,
    "tree": _tree,
}


def _what(arguments: Arguments, made: CsrGraph | NDArray[np.int32]) -> str:
    """Describes the generated object."""
    if isinstance(made, CsrGraph):
        return f"{counted(made.nodes, 'node')} and {counted(made.edges, 'edge')}"
    if arguments.kind == "tree":
        return f"a tree of {counted(len(made), 'node')}"
    return f"{counted(len(made), 'element')} of {counted(arguments.lists or 1, 'list')}"
