"""Segments of a triangulation in the order of their ends (`segment_order.cpp`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.common.native import address_of
from dmr.mesh.types import Int, Mesh
from dmr.triangulation.bindings import library

DISTINCT, REPEATED, NO_MEMORY = range(3)  # enum Status of segment_order.cpp


def sorted_segments(mesh: Mesh) -> tuple[Int, Int, NDArray[np.integer]]:
    """Returns the segments of a mesh that the project's triangulation made, as `Mesh.unique_segment_rows` does.

    Args:
        mesh: the mesh, whose segments have their ends in range.

    Returns:
        ((s, 2) int32 with the smaller vertex first, sorted; (s,) int32 markers; (s,) rows of `mesh.segments`).

    Raises:
        NativeLibraryError: the native library is missing.
        MemoryError: there is too little memory.
    """
    assert mesh.segment_markers is not None
    segments = np.ascontiguousarray(mesh.segments)
    ends, rows = np.empty_like(segments), np.empty(len(segments), np.int32)
    status = library().dmr_sort_segments(
        address_of(segments), len(segments), len(mesh.vertices), address_of(ends), address_of(rows)
    )
    if status == NO_MEMORY:
        raise MemoryError
    if status == REPEATED:  # not for a triangulation, which merges such segments
        return mesh.unique_segment_rows()
    return ends, mesh.segment_markers[rows], rows
