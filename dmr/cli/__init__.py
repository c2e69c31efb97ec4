"""The command line: `python -m dmr`, installed as `dmr`.

Data goes to stdout, everything else to stderr. `dmr.common.errors` lists the exit codes.

Each command imports the heavy modules it needs, so that `--help` and `--version` answer at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from dmr.cli.parsing.program import build_parser
from dmr.cli.shared.console import Console
from dmr.common.command_line.program import run_program


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; `argv` are its arguments (default: those of the process). Returns the exit code."""
    return run_program(Console(), build_parser, __name__, argv)
