"""Options that several commands share."""

from __future__ import annotations

from typing import Any

from dmr.common.command_line.parser import Parser, add_json
from dmr.common.command_line.parser import add_command as add_plain_command
from dmr.common.command_line.values import file_name, positive
from static_graph.link_analysis.table import METHODS as RANKING

# FORMATS of static_graph/io/formats.py and static_graph/io/arrays.py.
GRAPH_FORMATS = ("npz", "txt", "csv", "mtx", "gr", "metis", "graphml", "parquet")
ARRAY_FORMATS = ("npy", "txt", "csv")
ENGINE_BALANCES = ("auto", *RANKING["pull"].balances)


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


def mda(text: str) -> int | str:
    """Parses a maximum degree allowed: a positive integer, or auto."""
    return text if text == "auto" else positive(text)
