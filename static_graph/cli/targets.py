"""Where results go, looked at before there are any."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from static_graph.errors import OptionError


def checked_target(name: str, force: bool, check: Callable[[Path, bool], None]) -> Path:
    """A file that is to be written.

    Args:
        name: what it is called; force: whether it may exist already.
        check: of the files of its kind: told whether it may exist.

    Raises:
        OptionError: it exists. FileError: what `check` finds.
    """
    path = Path(name)
    check(path, True)
    if not force and os.path.lexists(path):
        raise OptionError(f"{path} exists; -f overwrites it")
    return path
