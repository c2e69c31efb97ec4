"""The commands that describe, make and export graphs."""

from __future__ import annotations

from typing import Any

from dmr.common.command_line.parser import add_device, add_threads
from dmr.common.command_line.values import count, file_name, number, positive
from static_graph.cli.parsing.shared import (
    ARRAY_FORMATS,
    GRAPH_FORMATS,
    add_command,
    add_format,
    add_graph,
    add_output,
    mda,
)
from static_graph.lists.kinds import KINDS as LIST_KINDS
from static_graph.trees.kinds import KINDS as TREE_KINDS


def add_info(commands: Any) -> None:
    """Adds `static_graph info`."""
    parser = add_command(
        commands,
        "info",
        """
        Describe a graph: counts, statistics and a histogram of its degrees

        python -m static_graph info web-Stanford.txt.gz
        python -m static_graph info graph.mtx --plot degrees.png --mda 8  # before and after splitting
        zstdcat edges.csv.zst | python -m static_graph info - --format csv  # from stdin
        python -m static_graph info graph.gr --json | jq .automatic_mda  # for programs
        """,
    )
    add_graph(parser)
    add = parser.add_argument
    add("--plot", metavar="PNG", type=file_name, help="draw the distribution of out-degrees")
    add("--mda", type=mda, metavar="N|auto", help="report the effect of splitting nodes at this maximum degree")
    add("-f", "--force", action="store_true", help="overwrite PNG if it exists")
    add_threads(parser)


def add_generate(commands: Any) -> None:
    """Adds `static_graph generate`."""
    parser = add_command(
        commands,
        "generate",
        """
        Generate a random graph, lists or a tree, the same on every machine

        python -m static_graph generate rmat 1e6 8e6 -o rmat.npz  # GTgraph's R-MAT
        python -m static_graph generate rmat 1e6 8e6 --preset thesis --weights 100 -o thesis.gr  # weights 1 to 100
        python -m static_graph generate random 4e6 48e6 --seed 7 -o random.npz  # every edge equally likely
        python -m static_graph generate list 1e6 --lists 7 -o list.npy  # for rank
        python -m static_graph generate tree 1e6 -o parents.npy  # for tree
        """,
    )
    add = parser.add_argument
    add("kind", metavar="KIND", choices=("rmat", "random", "list", "tree"),
        help="rmat, random (G(n, m) of Erdos and Renyi), list (for rank) or tree (for tree)")  # fmt: skip
    add("nodes", metavar="N", type=count, help="number of nodes; for list: of elements")
    add("edges", metavar="M", type=count, nargs="?", help="for rmat and random: number of edges drawn")
    add_output(
        parser,
        required=True,
        text="output file: a format of graphs, such as .npz or .gr; for list and tree: .npy, .txt or .csv",
    )
    add_format(parser, tuple(dict.fromkeys((*GRAPH_FORMATS, *ARRAY_FORMATS))), "output")
    add("--seed", type=count, default=0, metavar="S", help="seed of the random numbers (default: 0)")
    add_device(parser)
    graphs = parser.add_argument_group("options of rmat and random")
    add = graphs.add_argument
    add("--weights", type=positive, metavar="W", help="integer weights from 1 to W (default: none)")
    add("--no-self-loops", action="store_true", help="draw self loops again")
    add("--no-duplicates", action="store_true", help="remove duplicate edges")
    rmat = parser.add_argument_group("options of rmat only")
    rmat.add_argument(
        "--preset", choices=("gtgraph", "graph500", "thesis"), help="parameters by name (default: gtgraph)"
    )
    rmat.add_argument(
        "--probabilities",
        type=number,
        nargs=4,
        metavar=("A", "B", "C", "D"),
        help="of the four quadrants of the matrix",
    )
    rmat.add_argument("--noise", type=number, metavar="X", help="variation of the probabilities, 0 to 2")
    rmat.add_argument("--halving", choices=("gtgraph", "even"), help="how the nodes are halved")
    rmat.add_argument("--permute", action="store_true", help="renumber the nodes at random")
    add = parser.add_argument_group("options of list only").add_argument
    add("--lists", type=positive, metavar="K", help="number of lists that share the elements (default: 1)")
    add("--order", choices=LIST_KINDS, help="order of the elements in memory (default: random)")
    add(
        "--interval",
        type=positive,
        metavar="N",
        help="distance between splitters, for ordered-unbalanced and random-balanced (default: 32)",
    )
    add = parser.add_argument_group("options of tree only").add_argument
    add("--shape", choices=TREE_KINDS, help="shape of the tree (default: random-binary)")
    add("--no-shuffle", action="store_true", help="number parents before their children")


def add_export(commands: Any) -> None:
    """Adds `static_graph export`."""
    parser = add_command(
        commands,
        "export",
        """
        Write the edges of a graph as a folder of Parquet files, for programs on many machines or GPUs

        python -m static_graph export rmat.npz -o edges  # edges/part-00000.parquet, ...
        python -m static_graph export web-Stanford.txt.gz -o edges --files 4  # one for each of four workers
        """,
    )
    add_graph(parser)
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", type=file_name, required=True, help="the folder; made if it is missing"
    )
    parser.add_argument("-f", "--force", action="store_true", help="replace the part files in FOLDER")
    parser.add_argument("--files", type=positive, default=16, metavar="N", help="number of files (default: 16)")
    add_threads(parser)
