"""Constrained Delaunay triangulation of a domain given by its outline.

    insert the vertices                  along a space-filling curve, by cavities        (serial/delaunay.cpp)
    insert the segments                  find and resolve conflicts among them           (serial/segments/)
    carve                                remove the outside and holes, label regions     (carving)

The names at the right are the files of this folder. The code in `serial/` inserts points and segments one by one;
several threads share the plane. On a GPU, rounds of kernels make the same triangulation (rounds).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.common.lazy import lazy_names

if TYPE_CHECKING:
    from dmr.triangulation.meshing import triangulate_noting

__all__ = ["triangulate_noting"]
__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(__all__, "dmr.triangulation.meshing"))
