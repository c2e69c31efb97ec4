"""The `rank` command."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmr.common.command_line.console import Console
from dmr.common.command_line.parser import Arguments
from static_graph.cli.error_context import error_context
from static_graph.cli.inputs import read_numbers
from static_graph.cli.outputs import check_output, place, show, summarise
from static_graph.errors import OptionError
from static_graph.io import write_columns
from static_graph.lists.checks import as_indices
from static_graph.lists.ranking import Ranking, as_values, rank_in_detail

OPTIONS = ("packing", "splitters", "spacing", "finish", "finish_size")


def run(arguments: Arguments, console: Console) -> int:
    """Reads lists, ranks them, and writes the results."""
    check_output(arguments)
    if arguments.list == arguments.values == "-":
        raise OptionError("LIST and --values cannot both be read from stdin")
    with error_context(arguments.list):
        successors = as_indices(read_numbers(arguments.list, arguments), "element", "successor")
    values = None
    if arguments.values is not None:
        with error_context(arguments.values):
            values = as_values(read_numbers(arguments.values, arguments), len(successors), "element")
    with error_context(arguments.list):
        found = rank_in_detail(
            successors,
            values=values,
            method=arguments.method,
            options={name: getattr(arguments, name) for name in OPTIONS},
            device=arguments.device,
            threads=arguments.threads,
        )
    if arguments.output is not None:
        columns: dict[str, Any] = {"element": np.arange(len(found.ranks)), "rank": found.ranks}
        if found.sums is not None:
            columns["sum"] = found.sums
        write_columns(arguments.output, columns, "rank", overwrite=arguments.force)
        console.note(f"wrote {arguments.output}")
    summary = _summary(arguments, found)
    show(console, str(arguments.list), summary, _lines(summary), as_json=arguments.json)
    return 0


def _summary(arguments: Arguments, found: Ranking) -> dict[str, Any]:
    """Returns the dictionary that --json prints."""
    figures = {"elements": len(found.ranks), "lists": len(found.heads), "longest": int(found.lengths.max(initial=0))}
    return {**summarise(str(arguments.list), found, **figures, method=found.method), "figures": found.figures}


def _lines(summary: dict[str, Any]) -> list[list[str]]:
    """Returns the same as rows of text."""
    return [
        ["elements", f"{summary['elements']:,}"],
        ["lists", f"{summary['lists']:,}"],
        ["longest", f"{summary['longest']:,}"],
        ["method", summary["method"]],
        ["device", place(summary)],
        ["seconds", f"{summary['seconds']['rank']:.3g}, and {summary['seconds']['check']:.3g} for the check"],
        *([name.replace("_", " "), f"{value:,}"] for name, value in summary["figures"].items()),
    ]
