"""The report of a validation on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.cli.shared.console import Console
from dmr.common.command_line.parser import Arguments

if TYPE_CHECKING:
    from dmr.validation.report import Report


def show_proof(report: Report, lines: list[str], arguments: Arguments, console: Console) -> None:
    """Prints a report: its lines, or as JSON."""
    if arguments.json:
        console.emit_json(report.to_json())
    elif not console.quiet:
        for line in lines:
            console.emit(line)
