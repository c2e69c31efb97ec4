"""Which half-edges of a triangle list are twins, and which occur twice."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.checks.buckets import by_buckets, shift_for
from dmr.checks.pieces import Workers

Index = NDArray[Any]


def pair_half_edges(triangles: NDArray[np.int32], vertex_count: int, workers: Workers) -> tuple[Index, Index]:
    """Find twins and repetitions among the half-edges (`dmr.checks.topology`) of (m, 3) triangles.

    Half-edges are dealt out by their smaller vertex, and sorted bucket by bucket by key: smaller vertex, larger vertex,
    direction. The two half-edges of an edge have keys 2 j and 2 j + 1, so they stand side by side.

    Returns:
        (3 m,) the half-edge that runs the other way, -1 where there is none; of several the last of the first kind and
        the first of the other. (r, 2) pairs of half-edges that run the same way between the same vertices, the
        smaller one first, ascending by the other one.
    """
    count = triangles.size
    kind = np.int32 if count < 2**31 else np.int64
    twins = np.full(count, -1, kind)
    bits = max(vertex_count - 1, 1).bit_length()
    shift = shift_for(count, bits)

    def deal(start: int, stop: int) -> tuple[Index, tuple[Index, ...]]:
        part = triangles[start:stop]
        starts, ends = part[:, [1, 2, 0]].ravel(), part[:, [2, 0, 1]].ravel()
        low, high = np.minimum(starts, ends), np.maximum(starts, ends)
        key = (low & np.int32((1 << shift) - 1)).astype(np.uint64)
        key <<= np.uint64(bits)
        key |= high.astype(np.uint64)
        key <<= np.uint64(1)
        key |= starts > ends
        return low >> shift, (key, np.arange(3 * start, 3 * stop, dtype=kind))

    def pair(key: Index, half_edges: Index) -> Index:
        key, half_edges = _sorted(key, half_edges, shift + bits + 1)
        equal = key[1:] == key[:-1]
        opposite = (key[:-1] | np.uint64(1)) == key[1:]
        opposite &= ~equal
        first = np.flatnonzero(opposite)
        one, other = half_edges[first], half_edges[first + 1]
        twins[one], twins[other] = other, one
        same = np.flatnonzero(equal)
        return np.stack([half_edges[same], half_edges[same + 1]], axis=1)

    found = by_buckets(workers, len(triangles), deal, pair, entries=3)
    repeated = np.concatenate(found).astype(np.int64) if found else np.zeros((0, 2), np.int64)
    return twins, repeated[np.argsort(repeated[:, 1], kind="stable")]


def _sorted(key: Index, half_edges: Index, bits: int) -> tuple[Index, Index]:
    """Half-edges by their key of so many bits, equal ones in the given order; and the sorted keys."""
    room = len(key).bit_length()
    if bits + room > 64:
        order = np.argsort(key, kind="stable")
        return key[order], half_edges[order]
    # One number for a key and its place sorts several times as fast.
    key <<= np.uint64(room)
    key |= np.arange(len(key), dtype=np.uint64)
    key.sort()
    place = (key & np.uint64((1 << room) - 1)).astype(np.int64)
    key >>= np.uint64(room)
    return key, half_edges[place]
