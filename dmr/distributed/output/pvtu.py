"""Writes a mesh in parts as a .pvtu file, which names one .vtu file per part.

The format is VTK's XML format for parallel unstructured grids (VTK File Formats, "PUnstructuredGrid").
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from numpy.typing import NDArray

from dmr.common.arguments import switch
from dmr.common.files.replacing import check_target, replace_files, write_bytes
from dmr.distributed.output.parts import Parts
from dmr.distributed.output.vtk_arrays import vtk_content
from dmr.io.meshio_files.calls import write_content
from dmr.io.meshio_files.formats import FORMATS
from dmr.mesh.arguments import file_path

_TYPES = {"f": "Float", "i": "Int", "u": "UInt"}


def write_pvtu(parts: Parts, path: str | os.PathLike[str], *, overwrite: bool = True) -> list[Path]:
    """Writes a mesh in parts as `mesh.pvtu`, `mesh-00000.vtu`, ...; needs memory for one part.

    The arrays are those of `write_vtkhdf`. The `.pvtu` is written last.

    Args:
        parts: the parts; path: the file, `.pvtu`; overwrite: whether existing files may be replaced.

    Returns:
        The files, the `.pvtu` last.

    Raises:
        FileError: a part cannot be read, or a file cannot be written.
    """
    path = file_path(path)
    overwrite = switch("overwrite", overwrite)
    names = [path.with_name(f"{path.stem}-{index:05d}.vtu") for index in range(len(parts))]
    for name in (*names, path):
        check_target(name, overwrite)
    text = b""
    for part, name in zip(parts, names, strict=True):
        content = vtk_content(part, name)
        write_content(name, content, FORMATS[".vtu"], part.mesh.names, overwrite=overwrite)
        if not text:
            cell_data = {label: each[0] for label, each in content.cell_data.items()}
            text = _index(content.points, content.point_data, cell_data, names)
    return [*names, *replace_files([(path, lambda file: write_bytes(file, text))], overwrite=overwrite)]


def _index(
    points: NDArray[Any],
    point_data: Mapping[str, NDArray[Any]],
    cell_data: Mapping[str, NDArray[Any]],
    names: list[Path],
) -> bytes:
    """Returns the text of the .pvtu file."""
    order = "LittleEndian" if sys.byteorder == "little" else "BigEndian"
    root = ElementTree.Element("VTKFile", type="PUnstructuredGrid", version="1.0", byte_order=order)
    grid = ElementTree.SubElement(root, "PUnstructuredGrid", GhostLevel="1")
    groups = {"PPointData": point_data, "PCellData": cell_data, "PPoints": {"Points": points}}
    for tag, arrays in groups.items():
        group = ElementTree.SubElement(grid, tag)
        for name, array in arrays.items():
            kind = f"{_TYPES[array.dtype.kind]}{8 * array.dtype.itemsize}"
            entry = ElementTree.SubElement(group, "PDataArray", type=kind, Name=name)
            if array.ndim > 1:
                entry.set("NumberOfComponents", str(array.shape[1]))
    for path in names:
        ElementTree.SubElement(grid, "Piece", Source=path.name)
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"
