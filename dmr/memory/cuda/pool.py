"""A pool of GPU memory.

`cuMemAlloc` takes up to a millisecond, and `cuMemFree` waits for the whole GPU. The pool keeps released blocks by size
and reuses them. One stream orders all work on them, so a block may be reused while a kernel launched earlier still
reads it.
"""

from __future__ import annotations

import ctypes
import gc
from collections import defaultdict, deque
from collections.abc import Callable

from dmr.common.errors import OutOfMemoryError
from dmr.memory.cuda.drivercalls import call

LEAST_BITS = 8  # block sizes are multiples of 256 bytes, the driver's alignment
SIZE_BITS = 5  # significant bits of a block's size: at most a sixteenth of it is unused,
MOST_UNUSED = 8  # and an eighth more if a larger block is reused


# A block that is no longer referenced: its size in bytes, its address, and whether it was lent.
Dropped = tuple[int, int, bool]


class Block:
    """A block of memory. It returns to its pool when it is no longer referenced, on any thread."""

    __slots__ = ("_dropped", "_lent", "nbytes", "pointer")

    def __init__(self, pointer: int, nbytes: int, dropped: deque[Dropped]) -> None:
        self.pointer, self.nbytes = pointer, nbytes
        self._dropped = dropped
        self._lent = False

    def lend(self) -> None:
        """Says that another library may use the memory, on its own streams."""
        self._lent = True

    def __del__(self) -> None:
        # No driver call and no lock here, because a thread may be inside of either. deque.append is atomic, and the
        # entry references no objects. No name of this module: at the interpreter's exit they may be gone.
        self._dropped.append((self.nbytes, self.pointer, self._lent))


class MemoryPool:
    """Memory pool of one device. Callers hold the device's lock, with its context current."""

    def __init__(self, release: Callable[[], object]) -> None:
        """Takes a function that drops blocks that can be done without; it is called before an allocation fails."""
        self._release = release
        self._dropped: deque[Dropped] = deque()
        self._kept: defaultdict[int, list[int]] = defaultdict(list)
        self._used: set[int] = set()  # addresses of blocks that `allocate` has returned since the last `trim`
        self.reserved = self.highest = 0  # bytes from the driver, in use or kept: now, and at most so far

    def allocate(self, nbytes: int, refused: Callable[[], OutOfMemoryError]) -> Block:
        """Allocates a block of at least `nbytes` bytes (more than 0), of undefined content.

        Raises:
            OutOfMemoryError: made by `refused`, if there is too little memory even after the kept blocks are freed.
        """
        step = max(nbytes.bit_length() - SIZE_BITS, LEAST_BITS)
        size = -(-nbytes >> step) << step
        self._collect()
        for larger in range(size, size + size // MOST_UNUSED + 1, 1 << step):
            if kept := self._kept.get(larger):
                return self._block(kept.pop(), larger)
        for flush_if_full in (self._nothing, self.free, gc.collect, self.free, self._release, self.free):
            flush_if_full()
            try:
                pointer = _allocate(size)
            except OutOfMemoryError:
                continue
            self.reserved += size
            self.highest = max(self.highest, self.reserved)
            return self._block(pointer, size)
        raise refused()

    def _block(self, pointer: int, size: int) -> Block:
        self._used.add(pointer)
        return Block(pointer, size, self._dropped)

    def trim(self) -> None:
        """Returns to the driver the kept blocks that have not been used since the last call."""
        self._collect()
        for size, blocks in self._kept.items():
            used = [pointer for pointer in blocks if pointer in self._used]
            for pointer in set(blocks).difference(used):
                self._return(pointer, size)
            blocks[:] = used
        self._used.clear()

    def free(self) -> None:
        """Returns the kept blocks to the driver."""
        self._collect()
        for size, blocks in self._kept.items():
            while blocks:
                self._return(blocks.pop(), size)

    def _nothing(self) -> None:
        pass

    def _collect(self) -> None:
        """Keeps the blocks that threads have dropped since the last call.

        A block that was lent returns to the driver, which waits for all streams: another library may have dropped it
        while its kernels still use it.
        """
        while self._dropped:
            size, pointer, lent = self._dropped.popleft()
            if lent:
                self._return(pointer, size)
            else:
                self._kept[size].append(pointer)

    def _return(self, pointer: int, size: int) -> None:
        call("cuMemFree_v2", ctypes.c_uint64(pointer))
        self.reserved -= size


def _allocate(nbytes: int) -> int:
    pointer = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(nbytes))
    return pointer.value
