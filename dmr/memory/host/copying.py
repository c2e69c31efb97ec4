"""Passes over arrays in main memory, interruptible by Ctrl-C; large ones use several threads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.native import address_of
from dmr.memory.host.compiler import library

WORTH_SHARING = 2**19  # bytes
BYTE = np.dtype(np.uint8)


def copy(target: NDArray[Any], source: NDArray[Any], threads: int) -> None:
    """Copies one array into another.

    One core can neither fault in fresh pages nor move bytes at the full memory bandwidth.

    Args:
        target, source: contiguous, of the same shape and dtype; the same memory, of which nothing is copied, or not
            overlapping.
        threads: the number of copying threads; other Python threads run meanwhile.
    """
    if source.nbytes < WORTH_SHARING:
        if source.dtype.names is not None:  # numpy copies records field by field, which takes 30 times as long
            target, source = (np.ndarray(each.nbytes, BYTE, each) for each in (target, source))
        np.copyto(target, source)
        return
    assert target.flags.c_contiguous and source.flags.c_contiguous
    assert (target.shape, target.dtype) == (source.shape, source.dtype)
    to, origin = address_of(target), address_of(source)
    if to != origin:
        library().host_copy(to, origin, source.nbytes, threads)


def touch(target: NDArray[Any], threads: int) -> None:
    """Gets the memory pages of a new array, whose content becomes undefined: later writes find them ready.

    Args:
        target: contiguous; threads: as for `copy`.
    """
    assert target.flags.c_contiguous and target.flags.writeable
    library().host_touch(target.ctypes.data, target.nbytes, threads)


def all_finite(values: NDArray[np.float64], threads: int) -> bool:
    """Returns whether no number is infinite or NaN.

    Args:
        values: contiguous; threads: as for `copy`.
    """
    assert values.flags.c_contiguous and values.dtype == np.float64
    return bool(library().host_all_finite(values.ctypes.data, values.size, threads))
