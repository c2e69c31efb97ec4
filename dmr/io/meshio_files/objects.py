"""Conversion between `Mesh` and meshio's mesh objects, without a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dmr.common.arguments import checks_keywords, one_of, switch
from dmr.io.meshio_files.formats import FORMATS
from dmr.io.meshio_files.names import labels_of
from dmr.io.meshio_files.tags import as_whole, to_sets
from dmr.mesh.arguments import check_kind
from dmr.mesh.types import Mesh

if TYPE_CHECKING:
    import meshio

_NAME = Path("meshio.Mesh")  # stands for the file name in messages


def from_meshio(found: meshio.Mesh) -> Mesh:
    """Converts a `meshio.Mesh`, with its markers and attributes.

    Args:
        found: the mesh, whose data have the names that "File formats" in the documentation lists.

    Raises:
        FileError: there are no triangles, elements other than triangles and lines, or points that are not in a plane.
        InvalidMeshError: the indices or coordinates are not those of a valid mesh.
    """
    from dmr.io.meshio_files import reading as meshio_reading

    return meshio_reading.from_meshio(found, _NAME)


@checks_keywords
def to_meshio(mesh: Mesh, *, order: int = 1, boundary: bool = False) -> meshio.Mesh:
    """Converts the mesh to a `meshio.Mesh`: triangles, segments as lines, z = 0, named markers and attributes.

    Its `cell_sets` are the regions (triangles by attribute 0, if all these attributes are integers) and the boundaries
    (lines by marker, other than 0), under their names, or as `region_<n>` and `boundary_<n>`. `field_data` has the
    number and the dimension of each name.

    Args:
        mesh: the mesh to convert.
        order: 2 produces `triangle6` and `line3` cells.
        boundary: whether boundary edges that are not segments also become lines. These, and boundary segments without
            a marker, get marker 1.

    Raises:
        InvalidMeshError: order is 2, and a segment is not an edge of a triangle.
        OptionError: order is neither 1 nor 2.
        WrongTypeError: `mesh` is not a Mesh.
    """
    check_kind(mesh, Mesh)
    import meshio

    from dmr.io.meshio_files import writing as meshio_writing

    order, boundary = one_of("order", order, (1, 2)), switch("boundary", boundary)
    content = meshio_writing.to_meshio(mesh, replace(FORMATS[".vtu"], boundary=boundary), _NAME, order=order)
    assert mesh.triangle_attributes is not None
    regions = as_whole(mesh.triangle_attributes[:, 0]) if mesh.triangle_attributes.shape[1] else None
    markers = content.cell_data["segment_marker"][1] if len(content.cells) > 1 else np.empty(0, np.int32)
    content.cell_sets.update(to_sets(regions, markers, labels_of(mesh.names)))
    return meshio.Mesh(**content._asdict())
