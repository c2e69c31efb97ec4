"""The argument parser of `python -m static_graph`."""

from __future__ import annotations

from dmr.common import __version__
from dmr.common.command_line.parser import Parser, make_parser
from static_graph.cli.parsing.graphs import add_export, add_generate, add_info
from static_graph.cli.parsing.lists import add_rank, add_tree
from static_graph.cli.parsing.nodes import add_components, add_pagerank
from static_graph.cli.parsing.searches import add_bfs, add_sssp


def build_parser() -> Parser:
    """Builds the parser of `python -m static_graph` and all its commands."""
    parser, commands = make_parser(
        "python -m static_graph",
        f"static_graph {__version__}",
        "Graphs as compressed sparse rows, and load-balanced traversals of them, on a GPU or on a CPU.",
        """
        python -m static_graph info web-Stanford.txt.gz  # counts, degrees, the automatic splitting level
        python -m static_graph generate rmat 1e6 8e6 -o rmat.npz  # a random graph with power-law degrees
        python -m static_graph bfs web-Stanford.txt.gz --source 0  # distances in edges
        python -m static_graph sssp rmat.gr --source 7 -o distances.csv  # distances as sums of weights
        python -m static_graph pagerank web-Stanford.txt.gz  # the nodes with the highest PageRank
        python -m static_graph components web-Stanford.txt.gz --connection strong  # connected components
        python -m static_graph rank list.npy  # ranks of the elements of linked lists
        python -m static_graph tree parents.npy --subtree --level -o tree.csv  # subtree sizes and levels of a tree
        python -m static_graph export rmat.npz -o edges  # a folder of Parquet files, for programs on many GPUs
        """,
    )
    for add in (
        add_info,
        add_generate,
        add_bfs,
        add_sssp,
        add_pagerank,
        add_components,
        add_rank,
        add_tree,
        add_export,
    ):
        add(commands)
    return parser
