"""Outputs of tasks that are not flushed to disk, and hold only until the machine starts again.

A process that dies leaves what it has written to the system, so a job resumes without any flush. A failure of the
machine can lose or tear files that were not flushed; after one, a job whose tasks ran on that machine begins again. Its
outputs, about as many bytes as the result, are thus rarely written to the disk before they are removed.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from dmr.distributed.jobs.store import Store
from dmr.errors import file_error

BOOT = ".boot"  # in the folder of the outputs: identifies the start of the machine that they hold for
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def spare_flushes(store: Store) -> None:
    """Flushes no further outputs to disk, if the system reports when the machine was started.

    All workers run on this machine.

    Raises:
        FileError: the folder cannot be written.
    """
    boot = _boot()
    if boot is None:
        return
    path = store.path / BOOT
    try:
        path.write_text(boot, "utf-8")
    except OSError as error:
        raise file_error(error, path, "cannot be written") from error
    store.durable = False


def discard_lost(store: Store) -> None:
    """Discards all outputs if some were not flushed, and this machine has started since, or is another one."""
    try:
        noted = (store.path / BOOT).read_text("utf-8")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError):
        noted = ""
    if noted != _boot():
        for path in store.path.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _boot() -> str | None:
    """Returns what identifies the start of this machine, or None if the system does not tell."""
    try:
        return _BOOT_ID.read_text("utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None
