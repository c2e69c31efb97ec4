"""Multithreaded bucket sort with buckets that fit into a core's cache.

A long list is first distributed to buckets by the bucket number of each entry, piece by piece (a stable counting
sort). Each bucket, with its entries in the order of the list, is then processed independently.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dmr.validation.arrays.pieces import Workers

Columns = tuple[NDArray[Any], ...]
Result = TypeVar("Result")

# Entries distributed at a time; approximate number of entries per bucket.
_DEALT = 1 << 18
_BUCKET = 1 << 15
# Bucket numbers have 16 bits, because numpy sorts 16-bit integers by radix sort.
MOST_BUCKETS = 1 << 16
# Buckets per unit of work.
_TAKEN = 4


def shift_for(count: int, bits: int) -> int:
    """Choose the right shift that maps `bits`-bit numbers to bucket numbers, for `count` entries."""
    wanted = min(max(count // _BUCKET, 1).bit_length(), MOST_BUCKETS.bit_length() - 1)
    return max(bits - wanted, 0)


def by_buckets(
    workers: Workers,
    count: int,
    deal: Callable[[int, int], tuple[NDArray[Any], Columns]],
    work: Callable[..., Result],
    *,
    entries: int = 1,
) -> list[Result]:
    """Distribute entries to buckets, and process each bucket.

    Args:
        workers: the threads.
        count: the number of items.
        deal: returns, for the items from start to stop, the bucket of each entry (from 0, below `MOST_BUCKETS`) and
            the columns of the entries; an item may have any number of entries.
        work: processes a non-empty bucket, given its columns in the order of the list.
        entries: the approximate number of entries per item.

    Returns:
        The results of `work`, by ascending bucket.
    """

    def sort(start: int, stop: int) -> tuple[NDArray[np.int64], Columns]:
        bucket, columns = deal(start, stop)
        order = np.argsort(bucket.astype(np.uint16), kind="stable")
        return np.cumsum(np.bincount(bucket)), tuple(column[order] for column in columns)

    pieces = workers.map(sort, count, max(_DEALT // entries, 1))
    buckets = max((len(ends) for ends, _ in pieces), default=0)
    bounds = np.zeros((len(pieces), buckets + 1), np.int64)
    for row, (ends, _) in zip(bounds, pieces, strict=True):
        row[1 : len(ends) + 1] = ends
        row[len(ends) + 1 :] = ends[-1] if len(ends) else 0

    def gather(start: int, stop: int) -> list[Result]:
        results = []
        for bucket in range(start, stop):
            held = np.flatnonzero(bounds[:, bucket] < bounds[:, bucket + 1]).tolist()
            if held:
                low, high = bounds[held, bucket].tolist(), bounds[held, bucket + 1].tolist()
                parts = [
                    [column[i:j] for column in pieces[piece][1]] for piece, i, j in zip(held, low, high, strict=True)
                ]
                results.append(work(*(np.concatenate(column) for column in zip(*parts, strict=True))))
        return results

    return [result for group in workers.map(gather, buckets, _TAKEN) for result in group]
