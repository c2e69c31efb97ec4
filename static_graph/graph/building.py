"""Conversion of edge lists to compressed sparse rows; the sort is stable, so the result depends on the input alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.memory import DeviceArray, argsort, constant, open_device, scan, sort_pairs, total

NODES_AT_A_TIME = constant("NODES_AT_A_TIME")  # per index of `find_rows`


def rows_of_edges(
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    weights: NDArray[Any] | None,
    nodes: int,
    threads: int | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[Any] | None]:
    """Builds offsets, targets and weights of the graph with these edges; the edges of each node keep their order.

    Args:
        sources, targets: (m,) int32, from 0 to nodes - 1; m is at most 2^31 - 1.
        weights: (m,) with items of four or eight bytes, or None.
        nodes: number of nodes.
        threads: CPU threads (default: all cores).
    """
    device = open_device("cpu", threads)
    keys = device.array(np.ascontiguousarray(sources).view(np.uint32))
    ends = device.array(np.ascontiguousarray(targets))
    if weights is None:
        offsets, ends = rows_on_device(keys, ends, nodes)
        return offsets.detach(), ends.detach(), None
    order = argsort(keys, bits=bits_of(nodes))
    words = device.array(np.ascontiguousarray(weights).view(f"i{weights.itemsize}"))
    offsets = find_rows(_gathered(keys, order), nodes)
    return offsets.detach(), _gathered(ends, order).detach(), _gathered(words, order).detach().view(weights.dtype)


def rows_on_device(sources: DeviceArray, targets: DeviceArray, nodes: int) -> tuple[DeviceArray, DeviceArray]:
    """Builds offsets (int32) and targets of the graph with these edges, on the device of the edges.

    Args:
        sources: (m,) uint32; targets: (m,) int32.
        nodes: number of nodes.
    """
    keys, ends = sort_pairs(sources, targets, bits_of(nodes))
    return find_rows(keys, nodes), ends


def sorted_edges(sources: DeviceArray, targets: DeviceArray, nodes: int) -> tuple[DeviceArray, DeviceArray]:
    """Sorts edges by source, then by target.

    Args:
        sources: (m,) uint32; targets: (m,) int32.
        nodes: number of nodes.
    """
    device, edges = sources.device, sources.size
    transposed, back = device.empty(edges, np.uint32), device.empty(edges, np.int32)
    device.launch("swap_ends", edges, sources, targets, transposed, back)
    transposed, back = sort_pairs(transposed, back, bits_of(nodes))
    sources, targets = device.empty(edges, np.uint32), device.empty(edges, np.int32)
    device.launch("swap_ends", edges, transposed, back, sources, targets)
    return sort_pairs(sources, targets, bits_of(nodes))


def unique_edges(sources: DeviceArray, targets: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
    """Removes repeated edges from sorted ones; returns (k,) uint32 sources and (k,) int32 targets."""
    device, edges = sources.device, sources.size
    flags = device.empty(edges, np.int32)
    device.launch("flag_new_edges", edges, sources, targets, flags)
    offsets = scan(flags)
    kept = total(offsets, edges)
    kept_sources, kept_targets = device.empty(kept, np.uint32), device.empty(kept, np.int32)
    device.launch("keep_flagged_edges", edges, sources, targets, flags, offsets, kept_sources, kept_targets)
    return kept_sources, kept_targets


def find_rows(keys: DeviceArray, nodes: int) -> DeviceArray:
    """Returns the row offsets, (n + 1,) int32, for the sorted uint32 sources of the edges."""
    offsets = keys.device.empty(nodes + 1, np.int32)
    keys.device.launch("find_rows", nodes // NODES_AT_A_TIME + 1, keys, keys.size, nodes, offsets)
    return offsets


def bits_of(nodes: int) -> int:
    """Number of bits that a node's number takes, at least 1."""
    return max((nodes - 1).bit_length(), 1) if nodes else 1


def _gathered(values: DeviceArray, order: DeviceArray) -> DeviceArray:
    """Gathers uint32, int32 or int64 values in the given order."""
    kernel, words = ("gather_int64", np.int64) if values.dtype.itemsize == 8 else ("gather_uint32", np.uint32)
    result = values.device.empty(order.size, values.dtype)
    values.device.launch(kernel, order.size, values.view(words), order, result.view(words))
    return result
