"""The formats that are read and written through meshio: how to call meshio, and what each format stores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

# The ways in which a format stores arrays: all, under names of our own; only vertex arrays; Gmsh's tags with their
# names, and vertex arrays; one integer per element; named sets of elements; not at all.
Data = Literal["arrays", "vertex arrays", "gmsh tags", "labels", "sets", "nothing"]


@dataclass(frozen=True, kw_only=True)
class Format:
    """Properties of one format.

    Attributes:
        reader: meshio's name for the format.
        writer: meshio's name for writing, if it differs.
        dimension: of the points written.
        segments: whether lines are written.
        boundary: whether boundary edges that are not segments are also written as lines, because programs that read
            the format apply boundary conditions there.
        second_order: whether second-order elements (with midpoints) can be written and read back.
        data: which arrays are written, and how.
        label: meshio's name for the label array.
        vertex_labels: whether vertices also have labels.
        names: where the names of regions and boundaries are written (`heads.py`); empty if they are not.
        exact: whether coordinates are written without rounding.
        wide: whether whole numbers are written with 64 bits, because VTK does not read meshio's name for 32 bits.
        mode: the mode in which to open a file for meshio; None if meshio opens the file itself.
        options: keyword arguments for meshio's writer.
    """

    reader: str
    writer: str = ""
    dimension: int = 3
    segments: bool = False
    boundary: bool = False
    second_order: bool = False
    data: Data = "nothing"
    label: str = ""
    vertex_labels: bool = False
    names: Literal["gmsh", "abaqus", "vtu", "xdmf", ""] = ""
    exact: bool = True
    wide: bool = False
    mode: Literal["r", "rb", None] = None
    options: dict[str, Any] = field(default_factory=dict)


_VTU = Format(
    reader="vtu",
    segments=True,
    second_order=True,
    data="arrays",
    names="vtu",
    # Compressed bytes differ between builds of zlib; uncompressed files are identical everywhere, and faster to write.
    options={"compression": None},
)
_XDMF = Format(reader="xdmf", segments=True, data="arrays", names="xdmf", options={"data_format": "XML"})
_MEDIT = Format(
    reader="medit",
    dimension=2,
    segments=True,
    boundary=True,
    data="labels",
    label="medit:ref",
    vertex_labels=True,
)
_NASTRAN = Format(reader="nastran", segments=True, exact=False, mode="r")
_TECPLOT = Format(reader="tecplot", data="vertex arrays", dimension=2, mode="r")
_PERMAS = Format(reader="permas", segments=True, mode="r")

# The tested formats; any other format that meshio knows is tried with default properties.
FORMATS: dict[str, Format] = {
    ".vtu": _VTU,
    ".vtk": Format(reader="vtk", segments=True, second_order=True, data="arrays", wide=True),
    # MSH 2.2: meshio's MSH 4.1 writer does not support lines beside triangles, and drops their tags.
    ".msh": Format(
        reader="gmsh",
        writer="gmsh22",
        segments=True,
        boundary=True,
        second_order=True,
        data="gmsh tags",
        names="gmsh",
    ),
    ".xdmf": _XDMF,
    ".xmf": _XDMF,
    ".ply": Format(reader="ply", data="vertex arrays", mode="rb"),
    ".stl": Format(reader="stl"),
    ".obj": Format(reader="obj", mode="r"),
    ".off": Format(reader="off", mode="r"),
    ".mesh": _MEDIT,
    ".meshb": _MEDIT,
    ".inp": Format(reader="abaqus", segments=True, second_order=True, data="sets", names="abaqus", mode="r"),
    ".su2": Format(reader="su2", dimension=2, mode="r"),
    ".vol": Format(reader="netgen", segments=True),
    ".mdpa": Format(reader="mdpa", segments=True, second_order=True, mode="rb"),
    ".bdf": _NASTRAN,
    ".fem": _NASTRAN,
    ".nas": _NASTRAN,
    ".avs": Format(reader="avsucd", segments=True, data="labels", label="avsucd:material", mode="r"),
    ".dat": _TECPLOT,
    ".tec": _TECPLOT,
    ".post": _PERMAS,
    ".dato": _PERMAS,
    ".xml": Format(reader="dolfin-xml", dimension=2),
}

ANSYS = Format(reader="ansys", mode="rb")

# Formats of meshio that are not used. tetgen: it mistakes Triangle's files for TetGen's, and loops forever at their
# end. wkt: its regular expression takes forever on a truncated file.
LEFT_ALONE = frozenset({"tetgen", "wkt"})

# svg: a picture, with the options of meshio's writer. flac3d: its writer supports solid elements only. ugrid: it cannot
# read back the triangles it writes.
WRITTEN_ONLY = {"svg": {"image_width": 1000, "stroke_width": "0.5", "fill": "#dbe6f0", "stroke": "#1b2430"}}
READ_ONLY = frozenset({"flac3d", "ugrid"})

# Packages that meshio imports to write a format, but does not install.
WRITERS_NEED = {
    "cgns": "h5py",
    "exodus": "netCDF4",
    "h5m": "h5py",
    "hmf": "h5py",
    "med": "h5py",
    "xdmf": "h5py",
}
