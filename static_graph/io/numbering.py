"""Renumbering of an edge list's node ids without gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.available import require_memory
from static_graph.common.pieces import pieces

LOOSE = 8  # ids below LOOSE times the number of edge endpoints are marked in a table instead of sorted
MARK_BYTES = 1 + 8 + 4  # per id in that table: whether it occurs, the label, and its number
SORT_BYTES = 8 + 8 + 4 + 4  # per endpoint: its id in a piece, its position there, and its number twice
SORTED = 1 << 22  # endpoints sorted at a time: about 0.4 s
LOOKED_UP = 1 << 24


def without_gaps(
    sources: NDArray[Any], targets: NDArray[Any], largest: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64] | None]:
    """Renumbers edge endpoints without gaps in the order of their ids.

    Returns:
        The new sources and targets; the ids, or None if they equal the numbers.

    Raises:
        OutOfMemoryError: there is too little memory to number them.
    """
    if largest < LOOSE * 2 * max(len(sources), 1):
        return _by_table(sources, targets, largest)
    require_memory(SORT_BYTES * 2 * len(sources), "a table of the nodes' ids")
    found = [
        [np.unique(ends[part], return_inverse=True) for part in pieces(len(ends), SORTED)]
        for ends in (sources, targets)
    ]
    labels = merged([ids for side in found for ids, _ in side])
    numbers = []
    for side, ends in zip(found, (sources, targets), strict=True):
        numbered = np.empty(len(ends), np.int32)
        for part, (ids, places) in zip(pieces(len(ends), SORTED), side, strict=True):
            numbered[part] = np.searchsorted(labels, ids).astype(np.int32)[places]
        numbers.append(numbered)
    return numbers[0], numbers[1], labels.astype(np.int64)


def merged(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Returns the sorted union of sorted arrays.

    Each step merges one range of values. The bounds of the ranges are regular samples of all parts (Shi and Schaeffer
    1992, Parallel sorting by regular sampling), so that no range holds more than about two parts' numbers.
    """
    if len(parts) <= 1:
        return parts[0] if parts else np.empty(0, np.int64)
    samples = np.sort(np.concatenate([part[:: max(len(part) // len(parts), 1)] for part in parts]))
    limits = samples[:: len(parts)]
    cuts = [[0, *np.searchsorted(part, limits).tolist(), len(part)] for part in parts]
    return np.concatenate(
        [
            np.unique(np.concatenate([part[cut[k] : cut[k + 1]] for part, cut in zip(parts, cuts, strict=True)]))
            for k in range(len(limits) + 1)
        ]
    )


def _by_table(
    sources: NDArray[Any], targets: NDArray[Any], largest: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64] | None]:
    require_memory(MARK_BYTES * (largest + 1), "a table of the nodes' ids")
    named = np.zeros(largest + 1, np.bool_)
    for ends in (sources, targets):
        for part in pieces(len(ends), LOOKED_UP):
            named[ends[part]] = True
    if named.all():
        return sources, targets, None
    labels = np.flatnonzero(named)
    numbers = np.cumsum(named, dtype=np.int32)
    numbers -= 1
    return _looked_up(numbers, sources), _looked_up(numbers, targets), labels.astype(np.int64)


def _looked_up(numbers: NDArray[np.int32], ends: NDArray[Any]) -> NDArray[np.int32]:
    found = np.empty(len(ends), np.int32)
    for part in pieces(len(ends), LOOKED_UP):
        found[part] = numbers[ends[part]]
    return found
