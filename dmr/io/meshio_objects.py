"""Meshes from and to meshio's own mesh objects, without a file between."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dmr.io import meshio_data
from dmr.io.meshio_formats import FORMATS
from dmr.meshes import Mesh

if TYPE_CHECKING:
    import meshio

_NAME = Path("meshio.Mesh")  # what messages call the object, in place of a file


def from_meshio(found: meshio.Mesh) -> Mesh:
    """A mesh from a `meshio.Mesh`, with the markers and attributes that it carries under the names of docs/formats.md.

    Raises:
        FileError: no triangles, other elements than triangles and lines, or points that are not in a plane.
        InvalidMeshError: indices or coordinates that make no mesh.
    """
    return meshio_data.from_meshio(found, _NAME)


def to_meshio(mesh: Mesh) -> meshio.Mesh:
    """The mesh as a `meshio.Mesh`: triangles, segments as lines, z = 0, and all markers and attributes by name."""
    import meshio

    content = meshio_data.to_meshio(mesh, FORMATS[".vtu"], _NAME)
    return meshio.Mesh(content.points, content.cells, content.point_data, content.cell_data)
