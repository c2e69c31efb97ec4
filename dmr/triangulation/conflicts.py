"""What is wrong with the vertices and segments of a PSLG among themselves, in sentences.

The native code finds the conflicts and resolves them (`segments.hpp`); here they are counted and told, or refused.
"""

from __future__ import annotations

import numpy as np

from dmr.errors import InvalidMeshError
from dmr.meshes import Pslg
from dmr.triangulation.native import Plane

VERTEX_ON_SEGMENT, OVERLAP, CROSSING, DEGENERATE = range(4)  # enum Conflict of segments.hpp


def describe_conflicts(pslg: Pslg, plane: Plane) -> list[tuple[str, InvalidMeshError]]:
    """The conflicts of a PSLG, a kind at a time.

    Returns:
        For each kind that there is: how it was resolved, with a count and the first one; and the error that refuses it.
    """
    told = []
    duplicates = np.flatnonzero(plane.same_as != np.arange(len(plane.same_as)))
    if duplicates.size:
        first = int(duplicates[0])
        reason = f"has the same coordinates as vertex {plane.same_as[first]}, {_place(pslg, plane, first)}"
        resolved = f"{_count(len(duplicates), 'vertex', 'vertices')} with the coordinates of another one: merged"
        told.append(_both(resolved, "vertex", first, reason))
    kinds = plane.conflicts[:, 0]
    for kind, resolve in (
        (DEGENERATE, "without length: left out"),
        (VERTEX_ON_SEGMENT, "with a vertex between their ends: split there"),
        (OVERLAP, "that overlap: the common part is kept once"),
        (CROSSING, "that cross: split where they do"),
    ):
        found = plane.conflicts[kinds == kind]
        if not len(found):
            continue
        # In the order of the segments, each pair of parties once.
        parties = np.unique(found[:, [1, 2, 3]] if kind == VERTEX_ON_SEGMENT else found[:, [1, 2]], axis=0)
        segment, other, vertex = (int(value) for value in found[np.lexsort(found.T[::-1])[0]][1:])
        pairs = kind in (OVERLAP, CROSSING)
        noun = ("pair of segments", "pairs of segments") if pairs else ("segment", "segments")
        count = len(parties) if kind != VERTEX_ON_SEGMENT else len(np.unique(parties[:, 0]))
        reason = {
            DEGENERATE: f"has both of its ends at vertex {vertex}",
            VERTEX_ON_SEGMENT: f"runs through vertex {vertex}",
            OVERLAP: f"runs along segment {other}",
            CROSSING: f"crosses segment {other}",
        }[kind] + f", {_place(pslg, plane, vertex)}"
        told.append(_both(f"{_count(count, *noun)} {resolve}", "segment", segment, reason))
    return told


def _both(resolved: str, element: str, index: int, reason: str) -> tuple[str, InvalidMeshError]:
    return f"{resolved} (the first: {element} {index} {reason})", InvalidMeshError(reason, element, index)


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _place(pslg: Pslg, plane: Plane, vertex: int) -> str:
    given = len(pslg.vertices)
    x, y = pslg.vertices[vertex] if vertex < given else plane.new_vertices[vertex - given]
    return f"at ({x:.9g}, {y:.9g})"
