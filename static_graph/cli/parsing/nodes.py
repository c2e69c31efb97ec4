"""The commands that rank the nodes of graphs, and find their components."""

from __future__ import annotations

from typing import Any

from dmr.common.command_line.parser import add_device
from dmr.common.command_line.values import count, number
from static_graph.cli.parsing.shared import ENGINE_BALANCES, add_command, add_graph, add_output
from static_graph.components.table import METHODS as COMPONENT_METHODS
from static_graph.link_analysis.table import NAMES as RANKING_METHODS
from static_graph.link_analysis.table import PRECISIONS
from static_graph.link_analysis.table import RULES as RANKING_RULES


def add_pagerank(commands: Any) -> None:
    """Adds `static_graph pagerank`."""
    parser = add_command(
        commands,
        "pagerank",
        """
        Rank the nodes of a graph by PageRank

        python -m static_graph pagerank web-Stanford.txt.gz  # the ten nodes with the highest scores
        python -m static_graph pagerank graph.npz --tol 1e-12 --max-iter 500 -o scores.csv  # node, score
        python -m static_graph pagerank graph.npz --iterations 10 --method push  # another method, for 10 iterations
        python -m static_graph pagerank p2p-Gnutella08.txt.gz --method dense --rule report  # as in the report
        python -m static_graph pagerank graph.npz --top 100 --json | jq '.top[].node'  # for programs
        """,
    )
    add_graph(parser)
    add = parser.add_argument
    add(
        "--top",
        type=count,
        default=10,
        metavar="K",
        help="number of nodes to show, those with the highest scores (default: 10)",
    )
    add("--alpha", type=number, default=0.85, metavar="A", help="damping factor (default: 0.85)")
    add("--tol", type=number, metavar="T", help="stop when the scores change by less in total (default: 1e-6)")
    add("--max-iter", type=count, default=100, metavar="N", help="maximum number of iterations (default: 100)")
    add("--iterations", type=count, metavar="N", help="exact number of iterations, instead of --tol and --max-iter")
    add("--no-weights", dest="weighted", action="store_const", const=False,
        help="follow all edges equally, also those of a graph with weights")  # fmt: skip
    add("--method", choices=RANKING_METHODS, default="auto", metavar="M",
        help=f"{', '.join(RANKING_METHODS)} (default: auto)")  # fmt: skip
    add("--balance", choices=ENGINE_BALANCES, default="auto", metavar="B",
        help=f"for pull: {', '.join(ENGINE_BALANCES)} (default: auto)")  # fmt: skip
    add("--rule", choices=RANKING_RULES, default="brin-page", metavar="R",
        help="brin-page, or report: the formula of the PageRank report (default: brin-page)")  # fmt: skip
    add("--precision", choices=PRECISIONS, default="fixed", metavar="P",
        help="fixed (64 bits), or float32: shares of 4 bytes (default: fixed)")  # fmt: skip
    add_output(parser, required=False, text="output file: .npy (scores), .csv or .npz (node, score)")
    add_device(parser)


def add_components(commands: Any) -> None:
    """Adds `static_graph components`."""
    methods = {connection: list(each) for connection, each in COMPONENT_METHODS.items()}
    parser = add_command(
        commands,
        "components",
        """
        Find the weak or strong components of a graph

        python -m static_graph components web-Stanford.txt.gz  # the number of components, and the largest ones
        python -m static_graph components web-Stanford.txt.gz --connection strong  # strong components
        python -m static_graph components graph.npz -o components.csv  # node, component
        python -m static_graph components graph.npz --connection strong --json | jq .components  # for programs
        """,
    )
    add_graph(parser)
    add = parser.add_argument
    add("--connection", choices=tuple(methods), default="weak", help="weak or strong (default: weak)")
    add("--method", choices=sorted({name for each in methods.values() for name in each}), default="auto", metavar="M",
        help="; ".join(f"{connection}: {', '.join(each)}" for connection, each in methods.items()))  # fmt: skip
    add("--top", type=count, default=5, metavar="K", help="number of components to show, the largest ones (default: 5)")
    add_output(parser, required=False, text="output file: .npy (components), .csv or .npz (node, component)")
    add_device(parser)
    own = parser.add_argument_group("options of the methods")
    add = own.add_argument
    add("--balance", choices=ENGINE_BALANCES, default="auto", metavar="B",
        help=f"for multistep, fw-bw and colouring: {', '.join(ENGINE_BALANCES)} (default: auto)")  # fmt: skip
    add("--no-trim", dest="trim", action="store_const", const=False, help="for multistep and fw-bw: do not trim first")
    add("--no-search", dest="search", action="store_const", const=False,
        help="for multistep: do not search for the component of a pivot")  # fmt: skip
    add("--cutoff", type=count, metavar="N", help="for multistep: fewer nodes than N are left to a serial search")
