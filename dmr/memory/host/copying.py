"""Copies of arrays in main memory; large ones on several threads, until Ctrl-C."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.memory.host.compiler import library

WORTH_SHARING = 2**21  # bytes: a huge page


def copy(target: NDArray[Any], source: NDArray[Any], threads: int) -> None:
    """Copies one array into another.

    A single core neither gets fresh pages nor moves bytes as fast as the memory can give them.

    Args:
        target, source: contiguous, of one shape and dtype, and apart from each other.
        threads: how many may copy; other Python threads run meanwhile.
    """
    if source.nbytes < WORTH_SHARING:
        np.copyto(target, source)
        return
    assert target.flags.c_contiguous and source.flags.c_contiguous
    assert (target.shape, target.dtype) == (source.shape, source.dtype)
    library().host_copy(target.ctypes.data, source.ctypes.data, source.nbytes, threads)
