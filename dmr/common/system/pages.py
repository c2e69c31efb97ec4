"""Memory in whole pages, taken from the operating system directly."""

from __future__ import annotations

import mmap


def private_pages(size: int) -> mmap.mmap:
    """Returns zeroed pages for `size` bytes, of which a child of `fork` gets a copy.

    Raises:
        OSError: there is not enough memory.
    """
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
