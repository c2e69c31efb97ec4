"""Atomic writing of files: readers never see a partly written file."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from dmr.memory import file_error
from static_graph.errors import DmrError, ExistingTargetError, FolderError, MissingFileError, SuffixError
from static_graph.io.flushing import DrainedFile

TEMPORARY_PREFIX = ".static-graph-"


def replace_file(path: Path, fill: Callable[[Any], None], *, overwrite: bool) -> None:
    """Writes a temporary file in the same folder, flushes it to disk, and moves it into place.

    Args:
        path: the file; if it exists, it keeps its permissions.
        fill: writes the content.
        overwrite: whether it may exist already.

    Raises:
        FileError: the file cannot be written; nothing was changed, and no temporary file is left.
    """
    check_target(path, overwrite)
    temporary = path.parent / f"{TEMPORARY_PREFIX}{os.urandom(8).hex()}.tmp"
    try:
        with temporary.open("xb") as file:
            with contextlib.suppress(OSError):
                os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
            fill(DrainedFile(file))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except DmrError:
        raise
    except (OSError, MemoryError) as error:
        raise file_error(error, path, "cannot be written", "; nothing was changed") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


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
        if b"\0" in os.fsencode(path):
            raise ValueError("a name holds no null character")
        if not path.parent.is_dir():
            raise MissingFileError(f"cannot be written: there is no folder {path.parent}", path)
        if path.is_dir():
            raise FolderError("cannot be written: there is a folder of that name", path)
        if not overwrite and os.path.lexists(path):
            raise ExistingTargetError("exists already, and may not be overwritten", path)
    except DmrError:
        raise
    except (OSError, ValueError) as error:
        raise file_error(error, path, "cannot be written") from error
