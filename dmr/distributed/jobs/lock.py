"""A lock on a folder, which the death of its holder releases.

It is a lock of the operating system on a file (`flock`). On NFS version 3 and 4 Linux turns it into a lock at the
server, which also excludes other machines; Lustre excludes them if it is mounted with `flock`, and with `localflock`
only processes of one machine. File systems without locks are used without one, with a warning.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dmr.common.system.file_locks import HELD, take_lock
from dmr.errors import FileSystemError, file_error

log = logging.getLogger("dmr.distributed")

LOCK = ".lock"
_UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


@contextmanager
def locked(folder: Path, *, named: Path | None = None) -> Iterator[None]:
    """Holds the lock of a folder; `named` is how messages name it.

    Raises:
        FileSystemError: another process holds it. FileError: the folder cannot be written.
    """
    path = folder / LOCK
    descriptor = _acquire(path, named or folder)
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()  # while it is held: who waits to open it finds another file, and tries again
        os.close(descriptor)


def _acquire(path: Path, folder: Path) -> int:
    """Returns the descriptor of the lock's file."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise file_error(error, folder, "cannot be written") from error
        try:
            take_lock(descriptor)
        except OSError as error:
            if error.errno in HELD:
                os.close(descriptor)
                raise FileSystemError("another run is using this folder: wait for it, or end it", folder) from None
            if error.errno not in _UNSUPPORTED:
                os.close(descriptor)
                raise file_error(error, folder, "cannot be locked") from error
            log.warning("%s: this file system has no locks: make sure that no other run works in this folder", folder)
            return descriptor
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):  # noqa: PTH116 - as samestat wants it
                return descriptor
        os.close(descriptor)  # its last holder has removed it
