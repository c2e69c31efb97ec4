"""Output of the commands: checks of output files, made before any work begins, and formatting of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dmr.common.command_line.console import Console
from dmr.common.command_line.parser import Arguments
from dmr.common.command_line.targets import refuse_existing
from dmr.common.text import counted
from static_graph.io import check_columns_target


def checked_target(name: str, force: bool, check: Callable[[Path, bool], object]) -> Path:
    """Checks that an output file can be written, and returns its path.

    Args:
        name: its name; force: whether it may exist already.
        check: the check for this kind of file; its second argument says whether the file may exist.

    Raises:
        OptionError: the file exists. FileError: as raised by `check`.
    """
    path = Path(name)
    check(path, True)
    refuse_existing(path, force=force)
    return path


def check_output(arguments: Arguments) -> None:
    """Checks the file of the columns that a command writes, if it writes one; raises as `checked_target`."""
    if arguments.output is not None:
        checked_target(arguments.output, arguments.force, check_columns_target)


def show(
    console: Console, title: str, summary: dict[str, Any], rows: Sequence[Sequence[str]], *, as_json: bool
) -> None:
    """Prints a result: as JSON the dictionary `summary`, otherwise a heading and rows of names and values."""
    if as_json:
        console.emit_json(summary)
    else:
        console.emit_rows(title, rows)


def summarise(name: str, found: Any, **figures: Any) -> dict[str, Any]:
    """Returns the dictionary that --json prints: the file, figures of the result, and where and how long it took."""
    return {"file": name, **figures, "device": found.device, "threads": found.threads, "seconds": found.seconds}


def place(summary: Mapping[str, Any]) -> str:
    """Formats the device, and the threads of a CPU, from the dictionary that --json prints."""
    device, threads = summary["device"], summary["threads"]
    return f"{device}, {counted(threads, 'thread')}" if threads else str(device)
