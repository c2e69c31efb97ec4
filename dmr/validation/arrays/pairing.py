"""Pairs the half-edges of a triangle list, and finds repeated half-edges and those that join given vertices.

Half-edges are distributed to buckets by their smaller vertex. Each bucket is sorted by the key (smaller vertex, larger
vertex, direction). The two half-edges of an edge have keys 2 j and 2 j + 1, so they become adjacent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.validation.arrays.buckets import Columns, by_buckets, shift_for
from dmr.validation.arrays.pieces import Workers

Index = NDArray[Any]


def pair_half_edges(triangles: NDArray[np.int32], vertex_count: int, workers: Workers) -> tuple[Index, Index]:
    """Find twins and repetitions among the half-edges (`dmr.validation.triangulation.topology`) of (m, 3) triangles.

    Returns:
        (3 m,) the opposite half-edge, -1 if there is none; if half-edges are repeated, the last of the first direction
        is paired with the first of the other. (r, 2) pairs of half-edges with the same vertices and direction, the
        smaller one first, ascending by the other one.
    """
    count = triangles.size
    kind = np.int32 if count < 2**31 else np.int64
    twins = np.full(count, -1, kind)
    keys = _Keys(vertex_count, count)

    def deal(start: int, stop: int) -> tuple[Index, Columns]:
        bucket, key = keys.of(*_ends(triangles[start:stop]))
        return bucket, (key, np.arange(3 * start, 3 * stop, dtype=kind))

    def pair(key: Index, half_edges: Index) -> Index:
        key, half_edges = _sorted(key, half_edges, keys.bits)
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


def find_half_edges(
    triangles: NDArray[np.int32], vertex_count: int, pairs: Index, workers: Workers
) -> tuple[Index, Index]:
    """Find, for (s, 2) vertex pairs (u, v), the first half-edge from u to v, and from v to u; -1 if there is none."""
    forward, backward = np.full(len(pairs), -1, np.int64), np.full(len(pairs), -1, np.int64)
    if not len(pairs):
        return forward, backward
    wanted = np.zeros(vertex_count, bool)
    wanted[pairs.ravel()] = True
    many = len(triangles)
    keys = _Keys(vertex_count, triangles.size)

    def deal(start: int, stop: int) -> tuple[Index, Columns]:
        """List the half-edges between vertices of `pairs`, then the pairs, numbered from -1 downward."""
        part, asked = triangles[start : min(stop, many)], pairs[max(start - many, 0) : max(stop - many, 0)]
        starts, ends = _ends(part)
        near = np.flatnonzero(wanted[starts] & wanted[ends])
        first = -1 - max(start - many, 0)
        bucket, key = keys.of(np.concatenate([starts[near], asked[:, 0]]), np.concatenate([ends[near], asked[:, 1]]))
        return bucket, (key, np.concatenate([3 * start + near, np.arange(first, first - len(asked), -1)]))

    def match(key: Index, number: Index) -> None:
        known = number >= 0
        there, half_edges = _sorted(key[known], number[known], keys.bits)
        if not len(there):
            return
        asked, pair = key[~known], -1 - number[~known]
        for result, sought in ((forward, asked), (backward, asked ^ np.uint64(1))):
            place = np.minimum(np.searchsorted(there, sought), len(there) - 1)
            result[pair] = np.where(there[place] == sought, half_edges[place], -1)

    by_buckets(workers, many + len(pairs), deal, match, entries=3)
    return forward, backward


def _ends(triangles: NDArray[np.int32]) -> tuple[Index, Index]:
    """Return the start and the end vertex of each half-edge of some triangles."""
    return triangles[:, [1, 2, 0]].ravel(), triangles[:, [2, 0, 1]].ravel()


class _Keys:
    """Assigns half-edges to buckets, with keys that begin with the low bits of the smaller vertex.

    Args:
        vertex_count: the number of vertices.
        count: the number of half-edges.
    """

    def __init__(self, vertex_count: int, count: int) -> None:
        self._vertex_bits = max(vertex_count - 1, 1).bit_length()
        self._shift = shift_for(count, self._vertex_bits)
        self.bits = self._shift + self._vertex_bits + 1

    def of(self, starts: Index, ends: Index) -> tuple[Index, NDArray[np.uint64]]:
        """Compute the buckets and keys of half-edges."""
        low, high = np.minimum(starts, ends), np.maximum(starts, ends)
        key = (low & np.int32((1 << self._shift) - 1)).astype(np.uint64)
        key <<= np.uint64(self._vertex_bits)
        key |= high.astype(np.uint64)
        key <<= np.uint64(1)
        key |= starts > ends
        return low >> self._shift, key


def _sorted(key: Index, half_edges: Index, bits: int) -> tuple[Index, Index]:
    """Sort keys of `bits` bits, and the half-edges with them; the sort is stable."""
    room = len(key).bit_length()
    if bits + room > 64:
        order = np.argsort(key, kind="stable")
        return key[order], half_edges[order]
    # Packing a key and its position into one number makes sorting several times as fast.
    key <<= np.uint64(room)
    key |= np.arange(len(key), dtype=np.uint64)
    key.sort()
    place = (key & np.uint64((1 << room) - 1)).astype(np.int64)
    key >>= np.uint64(room)
    return key, half_edges[place]
