"""Check for duplicate vertices: no two vertices of triangles have the same coordinates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.naming import named
from dmr.mesh.types import Mesh
from dmr.validation.arrays.buckets import Columns, by_buckets, shift_for
from dmr.validation.arrays.pieces import Workers
from dmr.validation.report import Findings
from dmr.validation.triangulation.topology import Mask, Topology, place

# Bits of a vertex's hash that determine its bucket.
_HASH_BITS = 16


def check_duplicates(mesh: Mesh, topology: Topology, findings: Findings) -> None:
    """Check that no two vertices of triangles have the same coordinates.

    Hashes are compared first, and coordinates only for vertices with equal hashes.
    """
    findings.start("duplicates")
    used = _like_others(mesh.vertices, topology.used, topology.workers)
    x, y = mesh.vertices[used, 0], mesh.vertices[used, 1]
    order = np.lexsort((y, x))
    same = np.flatnonzero((x[order[1:]] == x[order[:-1]]) & (y[order[1:]] == y[order[:-1]]))
    first, second = used[order[same]], used[order[same + 1]]
    findings.add(
        "duplicates",
        "vertex",
        second,
        lambda i: f"{place(mesh.vertices, second[i])} has the coordinates of {named('vertex', first[i])}",
    )


def _like_others(vertices: NDArray[np.float64], used: Mask, workers: Workers) -> NDArray[np.int64]:
    """Find the used vertices that share their hash with another used vertex, ascending."""
    shift = np.uint64(64 - _HASH_BITS + shift_for(len(vertices), _HASH_BITS))

    def hashes(start: int, stop: int) -> NDArray[np.uint64]:
        # Adding zero turns -0.0 into 0.0. The multipliers are arbitrary odd numbers that spread bits upward.
        bits = (vertices[start:stop] + 0.0).view(np.uint64)
        mixed = (bits[:, 0] ^ (bits[:, 0] >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= bits[:, 1] ^ (bits[:, 1] >> np.uint64(29))
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(32)
        result: NDArray[np.uint64] = mixed * np.uint64(0x94D049BB133111EB)
        return result

    def deal(start: int, stop: int) -> tuple[NDArray[np.uint64], Columns]:
        found = hashes(start, stop)[used[start:stop]]
        return found >> shift, (found,)

    def repeated(found: NDArray[np.uint64]) -> NDArray[np.uint64]:
        found.sort()
        again: NDArray[np.uint64] = found[1:][found[1:] == found[:-1]]
        return again

    groups = by_buckets(workers, len(vertices), deal, repeated)
    again = np.concatenate([np.zeros(0, np.uint64), *groups])
    if not len(again):
        return np.zeros(0, np.int64)
    return workers.where(lambda i, j: used[i:j] & np.isin(hashes(i, j), again), len(vertices))
