"""Checks that arrays of successors form lists (`cuda_src/lists/checking.cu`); errors name the index."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.available import require_memory
from dmr.common.text import numbered
from dmr.memory import DeviceArray, Enumeration, open_device, scan, total
from static_graph.common.arrays import as_array, described
from static_graph.common.pieces import converted, pieces
from static_graph.errors import GraphError, InternalError

MOST = 2**31 - 1  # most elements


class Entry(Enumeration, enum="CheckEntry", count="CHECK_ENTRIES"):
    """Indices into the findings of a check."""


def as_indices(values: ArrayLike, of: str, follows: str) -> NDArray[np.int32]:
    """Converts indices from -1 to n - 1 to contiguous int32.

    Args:
        values: (n,) integers.
        of, follows: what messages call an element, and its index in `values`.

    Raises:
        GraphError: a wrong shape or dtype, too many indices, or an index below -1 or above n - 1.
    """
    array = as_array(values, f"{follows}s")
    if array.size == 0 and array.ndim == 1:
        return np.empty(0, np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise GraphError(f"{follows}s are one whole number for each {of}, not {described(array)}")
    if array.size > MOST:
        raise GraphError(f"{array.size} {of}s are more than the {MOST} that can be numbered")
    if array.dtype == np.int32 and array.flags.c_contiguous:  # the device checks the range
        return array
    require_memory(array.size * np.dtype(np.int32).itemsize, f"a copy of the {follows}s")
    for part in pieces(array.size):
        bad = (array[part] >= array.size) | (array[part] < -1 if array.dtype.kind == "i" else False)
        if bad.any():
            raise out_of_range(part.start + int(np.argmax(bad)), array, of, follows)
    return converted(array, np.int32)


def out_of_range(index: int, values: NDArray[Any], of: str, follows: str) -> GraphError:
    """Returns the error for the element `index`, whose entry of `values` is out of range."""
    there = f"{numbered(len(values), of)}, and -1 is for none"
    return GraphError(f"its {follows} is {int(values[index])}, but {there}", of, index)


def find_heads(successors: DeviceArray, given: NDArray[np.int32]) -> DeviceArray:
    """Finds the first elements of the lists, in order.

    Args:
        successors: (n,) int32, on a device; given: the same on the host, for messages.

    Returns:
        (k,) int32.

    Raises:
        GraphError: an index is out of range, or an element has two predecessors. Cycles are found after ranking
            (`check_cycles`).
    """
    device, size = successors.device, successors.size
    marks = device.zeros(size, np.uint8)
    entries = device.array(np.array([MOST, 0, 0], np.int32))
    device.launch("mark_successors", size, successors, size, marks, entries)
    pieces = device.pieces(size)
    sums = device.empty(2 * pieces, np.int32)
    device.launch("count_list_ends", pieces, successors, marks, size, sums)
    device.launch("total_list_ends", 1, sums, size, entries)
    found = entries.download().tolist()
    if found[Entry.FIRST_BAD] < MOST:
        raise out_of_range(found[Entry.FIRST_BAD], given, "element", "successor")
    if found[Entry.HEADS] != found[Entry.TAILS]:
        raise _two_predecessors(given)
    heads = device.empty(found[Entry.HEADS], np.int32)
    if heads.size:
        device.launch("list_heads", pieces, successors, marks, size, sums, heads)
    return heads


def check_cycles(lengths: DeviceArray, heads: DeviceArray, given: NDArray[np.int32]) -> DeviceArray:
    """Raises GraphError if the lists do not contain all elements; the remaining elements form cycles.

    Args:
        lengths, heads: (k,) int32: of each list.
        given: (n,) the successors.

    Returns:
        (k + 1,) int32: the prefix sums of the lengths.
    """
    begins = scan(lengths)
    if total(begins, lengths.size) != len(given):
        host = open_device("cpu", 1)
        ranks = host.empty(len(given), np.int32)
        ranks.fill(255)
        first, sizes = host.array(heads.download()), host.empty(heads.size, np.int32)
        host.launch("rank_in_sequence", 1, host.array(given), len(given), first, heads.size, ranks, None, sizes)
        found = ranks.download()
        if found.min() >= 0:
            raise InternalError(
                "the lengths of the lists do not add up, though there is no cycle: what was ranked is not what was "
                "given"
            )
        raise cycle_through(int(np.argmin(found)), given, "element")
    return begins


def cycle_through(index: int, successors: NDArray[np.int32], of: str) -> GraphError:
    """Returns the error for the cycle through `index`."""
    length, at = 1, int(successors[index])
    while at != index and length <= len(successors):
        length, at = length + 1, int(successors[at])
    return GraphError(f"is on a cycle of {length} {of}s", of, index)


def _two_predecessors(given: NDArray[np.int32]) -> GraphError:
    linked = (given >= 0) & (given != np.arange(len(given)))
    element = int(np.argmax(np.bincount(given[linked], minlength=len(given)) > 1))
    first, second = np.flatnonzero(linked & (given == element))[:2].tolist()
    return GraphError(f"has two predecessors, {first} and {second}", "element", element)
