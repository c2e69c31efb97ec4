"""Unites lists of numbers, and prints a digest of each result as a line of JSON.

    python unions.py [LIBRARY]

LIBRARY is a build of the library to use instead of the installed one, under a sanitizer.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from dmr.distributed.threaded import (
    cut_edge_lists,
    flags,
    frozen,
    on_border,
    places_of_pairs,
    rows_put,
    rows_taken,
    touching,
)
from dmr.distributed.unions import native
from dmr.distributed.unions.union import Numbers, unite
from dmr.mesh.edges import edge_keys
from tests.support.digests import digest

SIZES = ((0,), (1, 0), (5, 3, 4), (1000, 0, 300), (200_000, 30_000, 5, 60_000))
THREADS = (1, 3)


def lists(sizes, random):
    """Ascending lists, of which the first has numbers that are not assigned yet."""
    found = [np.sort(random.choice(3 * max(sizes) + 1, size, replace=False)).astype(np.int64) for size in sizes]
    first = 2 * max(sizes)
    own = np.where(found[0] < first, found[0], first - 1 - found[0])
    return [Numbers(own, first), *map(Numbers, found[1:])]


def main(library=None):
    """Prints the outcomes."""
    if library is not None:
        native.LIBRARY = Path(library)
    random = np.random.default_rng(7)
    for sizes in SIZES:
        given = lists(sizes, random)
        for threads in THREADS:
            union = unite(given, threads)
            places = [each.find(union.numbers, threads) for each in given]
            print(
                json.dumps([sizes, threads, digest(union.numbers, union.origins, *places, *union.places)]), flush=True
            )
    neighbours = random.integers(-1, 1000, (1000, 3), np.int32)
    for threads in THREADS:
        found = native.components(np.tile(np.maximum(neighbours, -1), (200, 1)), threads)
        print(json.dumps(["components", threads, digest(found)]))
    points, corners = random.random((1000, 2)), random.integers(0, 1000, (200_000, 3), np.int32)
    keys = np.sort(edge_keys(corners[:50_000, 0], corners[:50_000, 1]))
    numbers, weights = corners[:, 0].astype(np.int64), random.integers(1, 9, len(corners))
    for threads in THREADS:
        demand = native.Demand(
            cosine_squared=0.75, long_edge=4.0, for_skinny=4.0, over_fewest=1.6, max_area=0.1, most=9
        )
        found = [*native.predict(points, corners, demand, None, native.PREDICTED, threads).values()]
        found.append(flags(1000, numbers, threads))
        found += native.walls(points, corners, np.arange(0, len(corners), 2), keys, threads)
        found.append(native.linked(np.arange(3000, dtype=np.int32).reshape(-1, 3)[:, ::-1], 3000, threads))
        for blocks in (7, 1000):
            block = native.blocks_of(points, corners, weights, blocks, 0.31, threads)
            found += [block, native.block_weights(block, weights, blocks, threads)]
        found += [rows_taken(points, numbers, threads), rows_taken(corners, corners[:, 1], threads)]
        found += [touching(corners, points[:, 0] < 0.1, threads, least=each) for each in (1, 2)]
        across = np.where(corners < 900, corners, -1).astype(np.int32)
        found.append(frozen(across, across[:, ::-1], threads))
        found.append(native.beside_cuts(across, across[:, ::-1], block, found[-1], threads))
        found += cut_edge_lists(across, across[:, ::-1], corners, found[-2], threads)
        found.append(on_border(across, across[:, ::-1], corners, np.ones(1000, np.bool_), 1000, threads))
        pairs = np.arange(2000, dtype=np.int32).reshape(-1, 2)
        found.append(places_of_pairs(pairs, corners[:, :2], 2000, threads))
        rows_put(points, pairs[::-1, 0] // 2, points.copy(), threads)
        found.append(points)
        print(json.dumps(["triangles", threads, digest(*found)]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
