"""Meshes from and to meshio's own mesh objects, without a file between."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dmr.io.meshio_formats import FORMATS
from dmr.io.meshio_tags import as_whole, to_sets
from dmr.kinds import check_kind
from dmr.meshes import Mesh
from dmr.numeric import one_of, switch

if TYPE_CHECKING:
    import meshio

_NAME = Path("meshio.Mesh")  # what messages call the object, in place of a file


def from_meshio(found: meshio.Mesh) -> Mesh:
    """A mesh from a `meshio.Mesh`, with the markers and attributes that it carries under the names of docs/formats.md.

    Raises:
        FileError: no triangles, other elements than triangles and lines, or points that are not in a plane.
        InvalidMeshError: indices or coordinates that make no mesh.
    """
    from dmr.io import meshio_reading

    return meshio_reading.from_meshio(found, _NAME)


def to_meshio(mesh: Mesh, *, order: int = 1, boundary: bool = False) -> meshio.Mesh:
    """The mesh as a `meshio.Mesh`: triangles, segments as lines, z = 0, and all markers and attributes by name.

    Its `cell_sets` are `region_<n>` (triangles whose attribute 0 is n; where all are whole numbers) and `boundary_<n>`
    (lines with marker n, which is not 0).

    Args:
        mesh: what to convert.
        order: 2 makes `triangle6` and `line3` of it.
        boundary: whether edges of the boundary that are no segments are lines, too; they, and segments there without a
            marker, have marker 1.

    Raises:
        InvalidMeshError: order 2, and a segment that is no edge of a triangle.
        OptionError: another order.
        KindError: `mesh` is no Mesh.
    """
    check_kind(mesh, Mesh)
    import meshio

    from dmr.io import meshio_writing

    order, boundary = one_of("order", order, (1, 2)), switch("boundary", boundary)
    content = meshio_writing.to_meshio(mesh, replace(FORMATS[".vtu"], boundary=boundary), _NAME, order=order)
    assert mesh.triangle_attributes is not None
    regions = as_whole(mesh.triangle_attributes[:, 0]) if mesh.triangle_attributes.shape[1] else None
    markers = content.cell_data["segment_marker"][1] if len(content.cells) > 1 else np.empty(0, np.int32)
    content.cell_sets.update(to_sets(regions, markers))
    return meshio.Mesh(**content._asdict())
