"""Checks of output files, and their atomic writing; errors are a TargetError."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import BinaryIO

from dmr.common.errors import ExistingFileError
from dmr.common.files import replacing
from static_graph.errors import ExistingTargetError, SuffixError


def replace_file(path: Path, fill: Callable[[BinaryIO], None], *, overwrite: bool) -> None:
    """Writes a temporary file in the same folder, flushes it to disk, and moves it into place.

    Args:
        path: the file; if it exists, it keeps its permissions.
        fill: writes the content.
        overwrite: whether it may exist already.

    Raises:
        FileError: the file cannot be written; nothing was changed, and no temporary file is left.
    """
    check_target(path, overwrite)
    replacing.replace_files([(path, replacing.through_file(fill))], overwrite=True)


def check_suffix(path: Path, suffixes: Collection[str], what: str) -> None:
    """Raises SuffixError unless the path has one of the suffixes; the message calls the content `what`."""
    if path.suffix.lower() not in suffixes:
        kind = path.suffix or "a file without"
        raise SuffixError(f"{what} are written as {', '.join(suffixes)}, not as {kind}", path)


def check_target(path: Path, overwrite: bool) -> None:
    """Raises FileError if a file cannot be written: a missing folder, a folder of that name, or an existing file.

    For an existing file that must not be overwritten, the error is an ExistingTargetError.
    """
    try:
        replacing.check_target(path, overwrite)
    except ExistingFileError as error:
        raise ExistingTargetError(error.reason, path) from None
