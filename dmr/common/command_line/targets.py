"""Checks of the output files that a command line names, made before any work begins."""

from __future__ import annotations

import os
from pathlib import Path

from dmr.common.errors import OptionError


def refuse_existing(path: Path, *, force: bool) -> None:
    """Raises OptionError if a file exists, unless `force` (-f) permits overwriting it."""
    if not force and os.path.lexists(path):
        raise OptionError(f"{path} exists; -f overwrites it")
