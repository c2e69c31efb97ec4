"""Marks outputs that are not complete, but that a process is making: a lock on a file, which its death releases."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from dmr.common.system.file_locks import HELD, release_lock, take_lock, wait_for_lock


class Making:
    """The mark of an output, which one process at a time holds.

    Args:
        path: the file of the mark. It is there as long as the mark is held, and after the death of its holder.

    Attributes:
        works: False if the last call of `take` found that the file cannot be opened or locked.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.works = True
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Takes the mark; returns False if another one holds it, or there are no locks."""
        while True:
            try:
                descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            except OSError:  # a mark of another user, for example: `wait` could not open it either
                self.works = False
                return False
            try:
                take_lock(descriptor)
                if _is_at(descriptor, self._path):
                    self._descriptor, descriptor = descriptor, -1
                    return True
            except OSError as error:
                self.works = error.errno in HELD
                return False
            finally:
                if descriptor >= 0:
                    os.close(descriptor)

    def release(self) -> None:
        """Releases the mark."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with suppress(OSError):
                self._path.unlink()  # while it is held: who waits to open it finds another file, or none
            with suppress(OSError):
                release_lock(descriptor)  # a process that has been forked meanwhile has the file open, too
            os.close(descriptor)

    def wait(self) -> None:
        """Waits until nobody holds the mark."""
        with suppress(OSError):  # there is no mark, or the file system has no locks
            descriptor = os.open(self._path, os.O_RDWR)
            try:
                wait_for_lock(descriptor)
            finally:
                os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether the file that is open has not been removed, or replaced by another one."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), path.stat())
    return False
