"""Converts a part to the points, cells and data arrays of VTK."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.output.part import Part
from dmr.distributed.tiles.pieces import edges_between
from dmr.io.meshio_files.formats import FORMATS
from dmr.io.meshio_files.writing import Content, to_meshio
from dmr.mesh.edges import edge_keys

DUPLICATE = 1  # vtkDataSetAttributes::DUPLICATECELL and DUPLICATEPOINT
GHOSTS = "vtkGhostType"


def vtk_content(part: Part, path: Path) -> Content:
    """Converts a part: triangles, then segments as lines, with the arrays of `.vtu` files and these:

    * point data `number`, the numbers in the whole; `vtkGhostType`, 1 for vertices that another part owns.
    * cell data `number` (-1 for lines), `owner`, the part; `vtkGhostType`, 1 for cells that another part owns.

    Args:
        part: the part; path: names the file in messages.
    """
    content = to_meshio(part.mesh, FORMATS[".vtu"], path)
    lines = len(part.mesh.segments)
    # All parts must have the same arrays.
    content.cell_data.setdefault("segment_marker", [np.zeros(len(part.mesh.triangles), np.int32)])
    owners = _segment_owners(part)
    content.point_data["number"] = part.numbers
    content.point_data[GHOSTS] = _duplicate(part.vertex_owners, part.index)
    content.add_cell_data("number", part.triangle_numbers, np.full(lines, -1, np.int64))
    content.add_cell_data("owner", part.owners, owners)
    content.add_cell_data(GHOSTS, _duplicate(part.owners, part.index), _duplicate(owners, part.index))
    return content


def edge_markers(part: Part) -> NDArray[np.int32]:
    """(m, 3) for each triangle that a part owns, the markers of its edges: -1 where an edge is not a segment."""
    mesh = part.mesh
    assert mesh.segment_markers is not None
    edges, ends = edges_between(mesh.triangles[: part.own], mesh.segments, len(mesh.vertices))
    keys, wanted = edge_keys(*mesh.segments.T), edge_keys(*ends.T)
    markers = np.full(3 * part.own, -1, np.int32)
    if len(keys):
        order = np.argsort(keys, kind="stable")
        place = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
        there = keys[place] == wanted
        markers[edges[there]] = mesh.segment_markers[place[there]]
    return markers.reshape(-1, 3)


def _segment_owners(part: Part) -> NDArray[np.int32]:
    """(s,) the part that owns each segment: the smallest with a triangle beside it."""
    mesh = part.mesh
    edges, ends = edges_between(mesh.triangles, mesh.segments, len(mesh.vertices))
    keys, beside = edge_keys(*ends.T), part.owners[edges // 3]
    order = np.lexsort((beside, keys))
    first = np.searchsorted(keys, edge_keys(*mesh.segments.T), sorter=order)
    owners: NDArray[np.int32] = beside[order[first]]
    return owners


def _duplicate(owners: NDArray[Any], index: int) -> NDArray[np.uint8]:
    return np.where(owners == index, 0, DUPLICATE).astype(np.uint8)
