"""The native sweep over a mesh's boundary (`sweep.cpp`): checks that the boundary encloses each place at most once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dmr.common.native import address_of
from dmr.mesh.types import Float, Int
from dmr.triangulation.bindings import library

# enum Verdict of sweep.cpp
COVERED_ONCE, SAME_PLACE, TOUCHES, CROSSES, ON_ANOTHER, INSIDE, OUTSIDE, NO_MEMORY = range(8)


@dataclass(frozen=True)
class Contradiction:
    """The place where a boundary crosses itself or encloses a place twice.

    Attributes:
        verdict: one of the constants of this module.
        edge: the offending edge, -1 for `SAME_PLACE`.
        vertex: a vertex near that place; of two with the same coordinates, the one with the smaller number.
        other: the other vertex with the same coordinates, or -1.
    """

    verdict: int
    edge: int
    vertex: int
    other: int


def sweep_edges(points: Float, tails: Int, heads: Int) -> Contradiction | None:
    """Checks that boundary edges enclose a domain that is covered once; returns the first contradiction, or None.

    Args:
        points: (n, 2), within the range in which geometry is exact.
        tails, heads: (b,) the start and end points of each edge, two different ones; the domain lies on the
            left of the edge.

    Raises:
        NativeLibraryError: the native library is missing.
        MemoryError: there is too little memory.
    """
    points = np.ascontiguousarray(points, np.float64)
    tails, heads = np.ascontiguousarray(tails, np.int32), np.ascontiguousarray(heads, np.int32)
    found = np.zeros(4, np.int32)
    library().dmr_boundary_sweep(
        address_of(points), len(points), address_of(tails), address_of(heads), len(tails), address_of(found)
    )
    verdict, edge, vertex, other = found.tolist()
    if verdict == NO_MEMORY:
        raise MemoryError
    return None if verdict == COVERED_ONCE else Contradiction(verdict, edge, vertex, other)
