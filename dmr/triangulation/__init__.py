"""Constrained Delaunay triangulation of a domain given by its outline.

    insert the vertices                  along a space-filling curve, by cavities        (serial/delaunay.cpp)
    insert the segments                  find and resolve conflicts among them           (serial/segments.cpp)
    carve                                remove the outside and holes, label regions     (carving)

The names at the right are the files of this folder. The code in `serial/` runs on one CPU thread: a million vertices
and segments take a second. On a GPU, or on several CPU threads, rounds of kernels do the same (rounds).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.common.lazy import lazy_names

if TYPE_CHECKING:
    from dmr.triangulation.meshing import triangulate_noting

__all__ = ["triangulate_noting"]
__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(__all__, "dmr.triangulation.meshing"))
