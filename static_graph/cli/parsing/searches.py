"""The commands that search graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dmr.common.command_line.parser import Parser, add_device
from dmr.common.command_line.values import count, number, positive
from static_graph.cli.parsing.shared import add_command, add_graph, add_output, mda
from static_graph.traversal.schemes.table import BALANCES, OPTIONS, balances_with

# The parser and the placeholder of each kind of scheme option.
OPTION_VALUES: dict[str, tuple[Callable[[str], Any], str]] = {
    "count": (count, "N"),
    "positive": (positive, "N"),
    "degree": (mda, "N|auto"),
    "real": (number, "X"),
}


def add_bfs(commands: Any) -> None:
    """Adds `static_graph bfs`."""
    parser = add_command(
        commands,
        "bfs",
        """
        Search a graph breadth-first: find the distance of each node in edges

        python -m static_graph bfs web-Stanford.txt.gz --source 0  # counts and times
        python -m static_graph bfs graph.npz --source 0 --balance split --mda 8  # a scheme of the papers
        python -m static_graph bfs graph.npz --source 0 7 --parents -o tree.csv  # node, distance, parent
        python -m static_graph bfs graph.npz --source 0 --order -o order.csv  # and the rank in a sequential search
        python -m static_graph bfs graph.mtx --source 0 --path-to 99 --json | jq .path  # for programs
        """,
        module="search",
    )
    _add_traversal(parser, weighted=False)
    parser.add_argument(
        "--order", action="store_true", help="find the order of a sequential search, and its parents, too"
    )
    parser.add_argument(
        "--depth-limit", type=count, metavar="N", help="nodes more than N edges away count as unreached"
    )


def add_sssp(commands: Any) -> None:
    """Adds `static_graph sssp`."""
    parser = add_command(
        commands,
        "sssp",
        """
        Find shortest paths: the distance of each node as the sum of weights

        python -m static_graph sssp graph.gr --source 0  # counts and times
        python -m static_graph sssp graph.gr --source 0 --balance warp --warp-size 8  # a scheme of the papers
        python -m static_graph sssp web-Stanford.txt.gz --source 0 --random-weights 100  # weights 1 to 100
        python -m static_graph sssp graph.npz --source 0 -o distances.npy  # an array of the distances
        """,
        module="search",
    )
    _add_traversal(parser, weighted=True)
    add = parser.add_argument
    add("--distance-limit", type=number, metavar="X", help="nodes farther away than X count as unreached")
    add("--random-weights", type=positive, metavar="W", help="integer weights from 1 to W instead of the graph's own")
    add("--seed", type=count, default=0, metavar="S", help="seed of the random weights (default: 0)")


def _add_traversal(parser: Parser, *, weighted: bool) -> None:
    """Adds the options that both traversals share, and those of their schemes."""
    add_graph(parser)
    add = parser.add_argument
    add("--source", nargs="+", required=True, metavar="NODE", help="source nodes, by their ids in the file")
    add("--balance", choices=BALANCES, default="auto", metavar="B", help=f"{', '.join(BALANCES)} (default: auto)")
    add("--parents", action="store_true", help="find the shortest-path tree, too")
    add("--path-to", metavar="NODE", help="show a shortest path to this node")
    add_output(parser, required=False, text="output file: .npy (distances), .csv or .npz (all columns)")
    add_device(parser)
    group = parser.add_argument_group("options of the schemes")
    for name, option in OPTIONS.items():
        balances = balances_with(name, weighted=weighted)
        if not balances:
            continue
        text, flag = f"for {', '.join(balances)}: {option.text}", name.replace("_", "-")
        if option.kind == "switch":
            group.add_argument(f"--no-{flag}", dest=name, action="store_const", const=False, help=text)
        else:
            parse, metavar = OPTION_VALUES[option.kind]
            group.add_argument(f"--{flag}", type=parse, metavar=metavar, help=text)
