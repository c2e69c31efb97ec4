"""Locks on open files, which the system releases when their holder ends."""

from __future__ import annotations

import errno
import fcntl

HELD = (errno.EWOULDBLOCK, errno.EACCES)  # the errors if another process holds a lock


def take_lock(descriptor: int) -> None:
    """Locks an open file for this process, without waiting.

    Raises:
        OSError: with errno EWOULDBLOCK or EACCES if another process holds the lock.
    """
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def wait_for_lock(descriptor: int) -> None:
    """Waits until no other holder has locked an open file.

    Raises:
        OSError: the file system has no locks.
    """
    fcntl.flock(descriptor, fcntl.LOCK_SH)


def release_lock(descriptor: int) -> None:
    """Releases the lock on an open file, also if a forked process has inherited the file."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)
