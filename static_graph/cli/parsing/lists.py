"""The commands for lists and trees."""

from __future__ import annotations

from typing import Any

from dmr.common.command_line.parser import add_device
from dmr.common.command_line.values import count, file_name, positive
from static_graph.cli.parsing.shared import ARRAY_FORMATS, add_command, add_format, add_output
from static_graph.lists.methods.table import FINISHES, NAMES, RULES, SPACINGS

TREE_COLUMNS = {
    "parent": "the parent, -1 at roots",
    "subtree": "number of nodes in the subtree",
    "preorder": "preorder number: parents come before their children",
    "postorder": "postorder number: children come before their parents",
    "level": "number of edges on the path from the root",
}


def add_rank(commands: Any) -> None:
    """Adds `static_graph rank`."""
    parser = add_command(
        commands,
        "rank",
        """
        Rank linked lists: find the number of elements before each one

        python -m static_graph rank list.npy  # counts and times
        python -m static_graph rank list.npy -o ranks.npy  # an array of the ranks
        python -m static_graph rank list.txt --values weights.txt -o sums.csv  # element, rank, sum
        python -m static_graph rank list.npy --method helman-jaja --splitters 1e4 --json  # a method of the slides
        """,
    )
    add = parser.add_argument
    add(
        "list",
        metavar="LIST",
        type=file_name,
        help="the element after each one, -1 at the end of a list: .npy, .txt, .csv; - for stdin",
    )
    add_format(parser, ARRAY_FORMATS)
    add(
        "--values",
        metavar="FILE",
        type=file_name,
        help="integers, one per element: find their sums along the lists, too",
    )
    add("--method", choices=NAMES, default="auto", metavar="M", help=f"{', '.join(NAMES)} (default: auto)")
    add_output(parser, required=False, text="output file: .npy (ranks), .csv or .npz (all columns)")
    add_device(parser)
    own = parser.add_argument_group("options of the methods")
    add = own.add_argument
    add("--packing", type=positive, metavar="BITS", help="for wyllie: 64, or 32 for fewer than 2^16 elements")
    add("--splitters", type=splitters, metavar="N", help=f"for helman-jaja: number, or {' or '.join(map(repr, RULES))}")
    add("--spacing", choices=SPACINGS, help="for helman-jaja: splitters at random or at equal intervals")
    add("--finish", choices=FINISHES, help="for helman-jaja: what ranks the last list")
    add("--finish-size", type=positive, metavar="N", help="for helman-jaja: largest length of the last list")


def add_tree(commands: Any) -> None:
    """Adds `static_graph tree`."""
    parser = add_command(
        commands,
        "tree",
        """
        Number the nodes of a rooted forest by an Euler tour

        python -m static_graph tree parents.npy  # counts and times
        python -m static_graph tree parents.npy --subtree --level -o tree.csv  # node, subtree size, level
        python -m static_graph tree edges.txt --root 7 -o tree.npz  # undirected edges, rooted at node 7
        python -m static_graph tree parents.npy --lca 3 9 --json | jq .lca  # for programs
        """,
    )
    add = parser.add_argument
    add(
        "forest",
        metavar="FOREST",
        type=file_name,
        help="the parent of each node, -1 at roots; or two columns, undirected edges: .npy, .txt, .csv; - for stdin",
    )
    add_format(parser, ARRAY_FORMATS)
    add("--root", type=count, nargs="+", metavar="NODE", help="the roots, one per tree")
    add("--nodes", type=count, metavar="N", help="with edges: number of nodes")
    add("--lca", type=count, nargs=2, metavar="NODE", help="show the lowest common ancestor of two nodes")
    add_output(parser, required=False, text="output file: .npy (the first column), .csv or .npz (all of them)")
    add_device(parser)
    columns = parser.add_argument_group("columns of OUT (default: all)")
    for option, text in TREE_COLUMNS.items():
        columns.add_argument(f"--{option}", action="store_true", help=text)


def splitters(text: str) -> int | str:
    """Parses a number of splitters, or a rule for it."""
    return text if text in RULES else positive(text)
