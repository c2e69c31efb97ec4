"""`generate`."""

from __future__ import annotations

import time
from typing import Any

from static_graph.cli.arguments import Arguments
from static_graph.cli.console import Console
from static_graph.cli.targets import checked_target
from static_graph.errors import GraphError, OptionError
from static_graph.generation import generate_random, generate_rmat
from static_graph.io import check_graph_target, write

RMAT_ONLY = ("preset", "probabilities", "noise", "halving", "permute")


def run(arguments: Arguments, console: Console) -> int:
    """Draws a graph and writes it."""
    path = checked_target(arguments.output, arguments.force, check_graph_target)
    options: dict[str, Any] = {
        "seed": arguments.seed,
        "weights": arguments.weights,
        "self_loops": not arguments.no_self_loops,
        "duplicates": not arguments.no_duplicates,
        "device": arguments.device,
        "threads": arguments.threads,
    }
    given = {name: value for name in RMAT_ONLY if (value := getattr(arguments, name)) not in (None, False)}
    if arguments.kind == "random" and given:
        raise OptionError(f"--{next(iter(given))} is for rmat only")
    start = time.perf_counter()
    make = generate_rmat if arguments.kind == "rmat" else generate_random
    try:
        graph = make(arguments.nodes, arguments.edges, **options, **given)
    except GraphError as error:  # there is no file that could be wrong
        raise OptionError(str(error)) from error
    seconds = time.perf_counter() - start
    write(path, graph, overwrite=arguments.force)
    console.note(f"{graph.nodes:,} nodes and {graph.edges:,} edges in {seconds:.3g} s")
    console.note(f"wrote {path}")
    if arguments.json:
        made = {"nodes": graph.nodes, "edges": graph.edges, "kind": arguments.kind, **given, **options}
        console.emit_json({"file": str(path), **made, "seconds": seconds})
    return 0
