"""Output of the commands: checks of output files, made before any work begins, and formatting of results."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dmr.common.text import counted
from static_graph.errors import OptionError


def checked_target(name: str, force: bool, check: Callable[[Path, bool], None]) -> Path:
    """Checks that an output file can be written, and returns its path.

    Args:
        name: its name; force: whether it may exist already.
        check: the check for this kind of file; its second argument says whether the file may exist.

    Raises:
        OptionError: the file exists. FileError: as raised by `check`.
    """
    path = Path(name)
    check(path, True)
    if not force and os.path.lexists(path):
        raise OptionError(f"{path} exists; -f overwrites it")
    return path


def place(told: Mapping[str, Any]) -> str:
    """Formats the device, and the threads of a CPU, from the dictionary that --json prints."""
    device, threads = told["device"], told["threads"]
    return f"{device}, {counted(threads, 'thread')}" if threads else str(device)
