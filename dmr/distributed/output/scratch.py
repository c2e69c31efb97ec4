"""A folder for the outputs of tasks that are not needed afterwards."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dmr.distributed.jobs.store import Store
from dmr.errors import file_error

PREFIX = ".dmr-tasks-"


@contextmanager
def scratch_store(folder: Path) -> Iterator[Store]:
    """Gives a store in a new folder inside `folder`, which is removed at the end; raises FileError if that fails."""
    try:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder.absolute()))
    except OSError as error:
        raise file_error(error, folder, "cannot be written to") from error
    try:
        yield Store(path, durable=False)
    finally:
        shutil.rmtree(path, ignore_errors=True)
