"""Argument parsers of all commands. Imports no heavy modules; each command imports what it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dmr.common.command_line.parser import Parser, add_device, add_json, add_threads, make_parser
from dmr.common.command_line.parser import add_command as add_plain_command
from dmr.common.command_line.values import count, file_name, number, positive
from dmr.memory import __version__
from static_graph.components.table import METHODS as COMPONENT_METHODS
from static_graph.link_analysis.table import METHODS as RANKING
from static_graph.link_analysis.table import NAMES as RANKING_METHODS
from static_graph.link_analysis.table import PRECISIONS
from static_graph.link_analysis.table import RULES as RANKING_RULES
from static_graph.lists.kinds import KINDS as LIST_KINDS
from static_graph.lists.methods.table import FINISHES, NAMES, RULES, SPACINGS
from static_graph.traversal.schemes.table import BALANCES, OPTIONS, balances_with
from static_graph.trees.kinds import KINDS as TREE_KINDS

ENGINE_BALANCES = ("auto", *RANKING["pull"].balances)
TREE_COLUMNS = {
    "parent": "the parent, -1 at roots",
    "subtree": "number of nodes in the subtree",
    "preorder": "preorder number: parents come before their children",
    "postorder": "postorder number: children come before their parents",
    "level": "number of edges on the path from the root",
}
# FORMATS of static_graph/io/formats.py and static_graph/io/arrays.py.
GRAPH_FORMATS = ("npz", "txt", "csv", "mtx", "gr", "metis", "graphml", "parquet")
ARRAY_FORMATS = ("npy", "txt", "csv")


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
    for add in (_add_info, _add_generate, _add_bfs, _add_sssp, _add_pagerank, _add_components, _add_rank, _add_tree):
        add(commands)
    _add_export(commands)
    return parser


def add_command(commands: Any, name: str, text: str, module: str | None = None) -> Parser:
    """Adds a command with the options that all commands share, among them --json."""
    parser = add_plain_command(commands, name, text, module)
    add_json(parser)
    return parser


def add_graph(parser: Parser) -> None:
    """Adds the graph that a command reads (`static_graph.cli.inputs.read_graph`), and how it is read."""
    parser.add_argument(
        "graph",
        metavar="GRAPH",
        type=file_name,
        help="a graph: .txt, .csv, .mtx, .gr, .graph, .graphml (also with .gz), .npz, .parquet; - for stdin",
    )
    add_format(parser, GRAPH_FORMATS)
    parser.add_argument("--weight", metavar="NAME", help="attribute (GraphML) or column (Parquet) of the weights")


def add_format(parser: Parser, formats: tuple[str, ...], what: str = "input") -> None:
    """Adds the option for the format of the input, or of the output."""
    text = f"format of the {what}: {', '.join(formats)} (default: by the suffix of the file)"
    parser.add_argument("--format", choices=formats, metavar="F", help=text)


def add_output(parser: Parser, *, required: bool, text: str) -> None:
    """Adds the options of the output file."""
    parser.add_argument("-o", "--output", metavar="OUT", type=file_name, required=required, help=text)
    parser.add_argument("-f", "--force", action="store_true", help="overwrite files that exist")


def _add_info(commands: Any) -> None:
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


def _add_generate(commands: Any) -> None:
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


def _add_bfs(commands: Any) -> None:
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


def _add_sssp(commands: Any) -> None:
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


def _add_pagerank(commands: Any) -> None:
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


def _add_components(commands: Any) -> None:
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


def _add_rank(commands: Any) -> None:
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


def _add_tree(commands: Any) -> None:
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


def mda(text: str) -> int | str:
    """Parses a maximum degree allowed: a positive integer, or auto."""
    return text if text == "auto" else positive(text)


# How the command line reads and shows the values of each kind of scheme option.
OPTION_VALUES: dict[str, tuple[Callable[[str], Any], str]] = {
    "count": (count, "N"),
    "positive": (positive, "N"),
    "degree": (mda, "N|auto"),
    "real": (number, "X"),
}


def _add_export(commands: Any) -> None:
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
