"""Describes the conflicts among the vertices and segments of a PSLG.

The native code finds the conflicts and resolves them (`serial/segments/`); here they are counted and described, or
refused.
"""

from __future__ import annotations

import numpy as np

from dmr.common.text import counted
from dmr.errors import InvalidMeshError
from dmr.mesh.naming import named
from dmr.mesh.types import Int, Pslg
from dmr.triangulation.native import CROSSING, DEGENERATE, OVERLAP, VERTEX_ON_SEGMENT
from dmr.triangulation.plane import Plane


def describe_conflicts(pslg: Pslg, plane: Plane) -> list[tuple[str, InvalidMeshError]]:
    """Describes the conflicts of a PSLG by kind.

    Returns:
        For each kind found: how it was resolved, with a count and the first one; and the error that refuses it.
    """
    described = []
    if plane.same_as is not None:
        duplicates = np.flatnonzero(plane.same_as != np.arange(len(plane.same_as)))
        first = int(duplicates[0])
        reason = f"has the same coordinates as {named('vertex', plane.same_as[first])}, {_place(pslg, plane, first)}"
        resolved = f"{counted(len(duplicates), 'vertex', 'vertices')} with the coordinates of another one: merged"
        described.append(_both(resolved, "vertex", first, reason))
    kinds = plane.conflicts[:, 0]
    for kind, one, many, resolve in (
        (DEGENERATE, "segment", "segments", "without length: left out"),
        (VERTEX_ON_SEGMENT, "segment", "segments", "with a vertex in between: split there"),
        (OVERLAP, "segment", "segments", "that overlap: the common part is kept once"),
        (CROSSING, "crossing", "crossings", "of segments: both are split there"),
    ):
        found = plane.conflicts[kinds == kind]
        if not len(found):
            continue
        # Where many segments meet in one place, not all pairs are found, but the place is; all overlapping ones are.
        columns = {OVERLAP: [1, 2], CROSSING: [3]}.get(kind, [1])
        count = len(np.unique(found[:, columns]))
        segment, other, vertex = _first(found)
        reason = {
            DEGENERATE: f"has both of its ends at {named('vertex', vertex)}",
            VERTEX_ON_SEGMENT: f"runs through {named('vertex', vertex)}",
            OVERLAP: f"runs along {named('segment', other)}",
            CROSSING: f"crosses {named('segment', other)}",
        }[kind] + f", {_place(pslg, plane, vertex)}"
        described.append(_both(f"{counted(count, one, many)} {resolve}", "segment", segment, reason))
    return described


def _first(found: Int) -> tuple[int, int, int]:
    """Returns the conflict with the lowest segments, and among several the one with the lowest vertex."""
    for column in (1, 2, 3):
        found = found[found[:, column] == found[:, column].min()]
    _, segment, other, vertex = found[0].tolist()
    return segment, other, vertex


def _both(resolved: str, element: str, index: int, reason: str) -> tuple[str, InvalidMeshError]:
    return f"{resolved} (the first: {named(element, index)} {reason})", InvalidMeshError(reason, element, index)


def _place(pslg: Pslg, plane: Plane, vertex: int) -> str:
    given = len(pslg.vertices)
    x, y = pslg.vertices[vertex] if vertex < given else plane.new_vertices[vertex - given]
    return f"at ({x:.9g}, {y:.9g})"
