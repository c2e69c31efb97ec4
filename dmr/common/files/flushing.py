"""Flushes files to disk in the background, while they, or others, are being written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dmr.common.pooling import in_forked_children, new_pool, submit

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

# The thread that waits for the disk. It is kept alive, because a Ctrl-C that arrives while a pool shuts down can be
# lost, or leave the process hanging. A child of fork() does not inherit it, and starts another.
_kept: list[ThreadPoolExecutor] = []
in_forked_children(_kept.clear)


def flusher() -> ThreadPoolExecutor | None:
    """Returns the pool of one thread that waits for the disk; None during interpreter shutdown."""
    if not _kept:
        pool = new_pool(1, "dmr-flush")
        submit(pool, int).result()  # the pool starts its thread with the first task
        if pool is None:
            return None
        _kept.append(pool)
    return _kept[0]


class Flushing:
    """Flushes what has been written to a file, in the background.

    If all of a large file were flushed at its end, the disk would be idle before, and a process that Ctrl-C ends would
    wait for it.
    """

    BYTES = 1 << 24  # that are worth a flush
    MOST = 1 << 28  # after which the writer waits for the disk

    def __init__(self, descriptor: int) -> None:
        """Takes an open file."""
        self._descriptor = descriptor
        self._waiting = 0  # bytes written since the last flush began
        self._pending: Future[None] | None = None

    def wrote(self, count: int) -> None:
        """Notes that `count` more bytes have been written; raises OSError if earlier ones cannot be flushed."""
        self._waiting += count
        if self._waiting < self.BYTES:
            return
        if self._pending is not None and (self._pending.done() or self._waiting >= self.MOST):
            self.finish()
        if self._pending is None:
            self._waiting = 0
            self._pending = submit(flusher(), _flush_content, os.dup(self._descriptor))

    def finish(self) -> None:
        """Waits for the flush that has begun; raises OSError if it fails."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.result()


@contextmanager
def flushed_meanwhile(descriptor: int) -> Iterator[Flushing]:
    """A block that writes a file; it ends when the flush that has begun ends."""
    flushing = Flushing(descriptor)
    yield flushing
    flushing.finish()


def _flush_content(descriptor: int) -> None:
    """Waits until the content of a file so far is on disk, and closes the descriptor."""
    try:
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)


def flush_file(descriptor: int) -> None:
    """Waits until a file is on disk, and closes it."""
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush_folder(folder: Path) -> None:
    """Makes renames and removals durable, in order; does nothing on file systems that do not support this."""
    with contextlib.suppress(OSError):
        flush_file(os.open(folder, os.O_RDONLY))
