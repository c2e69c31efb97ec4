"""Heads of files: the names of regions and boundaries, which meshio does not write or does not read completely."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from dmr.io.meshio_files.formats import Format
from dmr.io.meshio_files.names import comment_of, table_in
from dmr.mesh.names import Names

_READ_WITHIN = 1 << 20  # the names stand before points and elements
_WRITE_WITHIN = 1 << 12

# The text after which names are inserted.
_ANCHORS = {
    "gmsh": b"$EndMeshFormat\n",
    "abaqus": b"",
    "vtu": b"<UnstructuredGrid>\n",
    "xdmf": b'<Grid Name="Grid">',
}
_GMSH_SECTION = re.compile(rb"\$PhysicalNames\s*\n\s*\d+\s*\n(.*?)\$EndPhysicalNames", re.DOTALL)
_GMSH_NAME = re.compile(r'\s*(\d+)\s+(-?\d+)\s+"(.*)"\s*')


@dataclass(frozen=True)
class Head:
    """The names in a file.

    Attributes:
        table: names and numbers from a comment of our own; None if there is none.
        physical: label, tag and dimension of Gmsh's physical groups; None in other formats.
    """

    table: Names | None = None
    physical: list[tuple[str, int, int]] | None = None


def read_head(path: Path, form: Format) -> Head:
    """Reads the names in a file, in formats that have any."""
    if not form.names:
        return Head()
    with path.open("rb") as file:
        head = file.read(_READ_WITHIN)
    return Head(table_in(head), _physical_names(head) if form.names == "gmsh" else None)


def insertion(data: bytes, form: Format, names: Names, groups: Mapping[str, Any]) -> tuple[int, bytes]:
    """Finds the bytes to insert into a file that meshio wrote, and their place.

    Args:
        data: the file.
        form: its format.
        names: those of the mesh; without any, nothing is inserted.
        groups: label to (number, dimension), for formats in which meshio writes no `field_data`.
    """
    if not form.names or not any(names.values()):
        return 0, b""
    anchor = _ANCHORS[form.names]
    found = data.index(anchor, 0, _WRITE_WITHIN) + len(anchor)
    return found, _TEXTS[form.names](comment_of(names), groups).encode()


def _gmsh_text(comment: str, groups: Mapping[str, Any]) -> str:
    return f"$Comments\n{comment}\n$EndComments\n"


def _abaqus_text(comment: str, groups: Mapping[str, Any]) -> str:
    return f"** {comment}\n"


def _vtu_text(comment: str, groups: Mapping[str, Any]) -> str:
    """Field data, which VTK and meshio read: an array (number, dimension) for each label."""
    arrays = [
        f'<DataArray type="Int64" Name={quoteattr(label)} NumberOfTuples="2" format="ascii">\n{number} {dimension}\n'
        "</DataArray>\n"
        for label, (number, dimension) in groups.items()
    ]
    return f"<!--{comment}-->\n<FieldData>\n{''.join(arrays)}</FieldData>\n"


def _xdmf_text(comment: str, groups: Mapping[str, Any]) -> str:
    """An Information element in meshio's form, from which it reads its `field_data`."""
    entries = [
        f'<map key={quoteattr(label)} dim="{dimension}">{number}</map>' for label, (number, dimension) in groups.items()
    ]
    content = escape(f"<main>{''.join(entries)}</main>")
    return f'<!--{comment}--><Information Name="Names">{content}</Information>'


_TEXTS = {"gmsh": _gmsh_text, "abaqus": _abaqus_text, "vtu": _vtu_text, "xdmf": _xdmf_text}


def _physical_names(head: bytes) -> list[tuple[str, int, int]]:
    """Gmsh's physical groups; meshio's own reader keeps only one of those that have the same label."""
    section = _GMSH_SECTION.search(head)
    if section is None:
        return []
    lines = section[1].decode("utf-8", "replace").splitlines()
    found = [match for line in lines if (match := _GMSH_NAME.fullmatch(line))]
    return [(match[3], int(match[2]), int(match[1])) for match in found if abs(int(match[2])) < 2**31]
