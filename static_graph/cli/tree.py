"""The `tree` command."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.command_line.console import Console
from dmr.common.command_line.parser import Arguments
from static_graph.cli.error_context import error_context
from static_graph.cli.inputs import read_numbers
from static_graph.cli.outputs import check_output, place, show, summarise
from static_graph.cli.parsing.lists import TREE_COLUMNS
from static_graph.io import write_columns
from static_graph.trees.tours import Tree, euler_tour

FIELDS = {"subtree": "subtree_size"}  # columns whose attribute of `Tree` has another name
SHOWN_ROOTS = 10


def run(arguments: Arguments, console: Console) -> int:
    """Reads a forest, numbers its nodes, and writes the results."""
    check_output(arguments)
    with error_context(arguments.forest):
        tree = euler_tour(
            read_numbers(arguments.forest, arguments),
            arguments.root,
            nodes=arguments.nodes,
            device=arguments.device,
            threads=arguments.threads,
        )
    summary = _summary(arguments, tree)
    if arguments.lca is not None:
        left, right = arguments.lca
        (ancestor,) = tree.lca([left], [right]).tolist()
        summary["lca"] = ancestor if ancestor >= 0 else None
    if arguments.output is not None:
        wanted = [name for name in TREE_COLUMNS if getattr(arguments, name)] or list(TREE_COLUMNS)
        columns: dict[str, NDArray[Any]] = {"node": np.arange(len(tree.parent))}
        columns |= {name: getattr(tree, FIELDS.get(name, name)) for name in wanted}
        write_columns(arguments.output, columns, wanted[0], overwrite=arguments.force)
        console.note(f"wrote {arguments.output}")
    show(console, str(arguments.forest), summary, _lines(summary), as_json=arguments.json)
    return 0


def _summary(arguments: Arguments, tree: Tree) -> dict[str, Any]:
    """Returns the dictionary that --json prints."""
    return summarise(
        str(arguments.forest),
        tree,
        nodes=len(tree.parent),
        trees=len(tree.roots),
        roots=tree.roots[:SHOWN_ROOTS].tolist(),
        height=int(tree.level.max(initial=0)),
        leaves=int(np.count_nonzero(tree.subtree_size == 1)),
    )


def _lines(summary: dict[str, Any]) -> list[list[str]]:
    """Returns the same as rows of text."""
    more = ", ..." if summary["trees"] > SHOWN_ROOTS else ""
    rows = [
        ["nodes", f"{summary['nodes']:,}"],
        ["trees", f"{summary['trees']:,}"],
        ["roots", (", ".join(map(str, summary["roots"])) or "-") + more],
        ["height", f"{summary['height']:,}"],
        ["leaves", f"{summary['leaves']:,}"],
        ["device", place(summary)],
        ["seconds", f"{sum(summary['seconds'].values()):.3g}"],
    ]
    if "lca" in summary:
        rows.append(["lowest common ancestor", "none" if summary["lca"] is None else str(summary["lca"])])
    return rows
