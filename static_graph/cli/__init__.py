"""The command line: `python -m static_graph`, installed as `static_graph`.

Data goes to stdout, everything else to stderr. `dmr.common.errors` lists the exit codes.

Each command imports the heavy modules that it needs, so that `--help` and `--version` answer at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from dmr.common.command_line.console import Console
from dmr.common.command_line.program import run_program
from static_graph.cli.parsing.program import build_parser

LOGS = ("static_graph", "dmr")  # including messages of the memory layer


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; `argv` are its arguments (default: those of the process). Returns the exit code."""
    return run_program(Console("static_graph", LOGS), build_parser, __name__, argv)
