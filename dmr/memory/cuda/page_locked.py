"""Arrays in page-locked host memory, into which a GPU copies directly.

A download to other memory passes through a buffer (`copying.py`): for a few megabytes, page faults and the second copy
take longer than the bus. Locking pages takes about a millisecond, so blocks are reused. A block is made when a
size is requested for the second time; it belongs to the array that is handed out, and returns to the pool when that
array is no longer referenced.
"""

from __future__ import annotations

import ctypes
import mmap
import weakref
from collections import defaultdict, deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.common.errors import InternalError, OutOfMemoryError
from dmr.common.pooling import after_forks
from dmr.common.system.pages import private_pages
from dmr.memory.cuda.drivercalls import call

LEAST_BYTES = 2**16  # for less, the buffers are as fast
MOST_BYTES = 2**25  # for more, the bus takes longer than what a block saves
MOST_LOCKED = 2**27  # bytes of all blocks; other processes need memory, too
STEP = 2**16  # sizes of blocks are multiples


class Memory(NamedTuple):
    """Page-locked memory, and the number of forks before it was lent."""

    pages: mmap.mmap
    forks: int


class Block:
    """The owner of an array's memory."""

    __slots__ = ("__array_interface__", "__weakref__")

    def __init__(self, memory: Memory) -> None:
        self.__array_interface__: dict[str, Any] = np.frombuffer(memory.pages, np.uint8).__array_interface__


class Lent(weakref.ref[Block]):
    """A reference to a block, and its memory.

    Its callback, called on any thread when the block is no longer referenced, must not be Python code: Python ignores
    an exception there, and an interrupt would be lost.
    """

    __slots__ = ("memory",)
    memory: Memory


class PageLockedPool:
    """The page-locked blocks of one device. Callers hold the device's lock, with its context current."""

    def __init__(self) -> None:
        self._lent: set[Lent] = set()
        self._dropped: deque[Lent] = deque()
        self._kept: defaultdict[int, list[Memory]] = defaultdict(list)  # by size
        self._requested: set[int] = set()  # sizes
        self._locked = 0  # bytes
        self._forks = 0
        after_forks(self._count_fork)

    def array(self, nbytes: int) -> NDArray[np.uint8] | None:
        """Returns an array of undefined content, or None: the size is rare or unsuitable, or too much is locked."""
        if not LEAST_BYTES <= nbytes <= MOST_BYTES:
            return None
        size = -(-nbytes // STEP) * STEP
        self._collect()
        if size not in self._requested:
            self._requested.add(size)
            return None
        pages = self._reused(size) or self._lock(size)
        if pages is None:
            return None
        memory = Memory(pages, self._forks)
        block = Block(memory)
        lent = Lent(block, self._dropped.append)
        lent.memory = memory
        self._lent.add(lent)
        return np.asarray(block)[:nbytes]

    def _reused(self, size: int) -> mmap.mmap | None:
        """Returns kept pages. After a fork they may be shared with the other process: such are given back instead."""
        kept = self._kept[size]
        while kept:
            memory = kept.pop()
            if memory.forks == self._forks:
                return memory.pages
            self._unlock(memory.pages)
        return None

    def _lock(self, size: int) -> mmap.mmap | None:
        """Allocates and locks pages, within the limit of all blocks."""
        if self._locked + size > MOST_LOCKED:
            for kept in self._kept.values():
                while kept:
                    self._unlock(kept.pop().pages)
        if self._locked + size > MOST_LOCKED:
            return None
        pages = private_pages(size)
        try:
            call("cuMemHostRegister_v2", _address(pages), ctypes.c_size_t(size), ctypes.c_uint(0))
        except (InternalError, OutOfMemoryError):  # the system allows no more; a download does not depend on it
            return None
        self._locked += size
        return pages

    def _unlock(self, pages: mmap.mmap) -> None:
        call("cuMemHostUnregister", _address(pages))
        self._locked -= len(pages)

    def _collect(self) -> None:
        """Keeps the memory of arrays that threads have dropped."""
        while self._dropped:
            lent = self._dropped.popleft()
            self._lent.remove(lent)
            memory = lent.memory
            self._kept[len(memory.pages)].append(memory)

    def _count_fork(self) -> None:
        self._forks += 1


def _address(pages: mmap.mmap) -> ctypes.c_void_p:
    return ctypes.c_void_p(np.frombuffer(pages, np.uint8).ctypes.data)
