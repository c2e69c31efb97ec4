"""What is known of the formats that are read and written through meshio: how to call it, and what each keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

# How a format keeps arrays: all under names of our own; only those of vertices; Gmsh's tags with their names, and
# those of vertices; one whole number an element; named sets of elements; not at all.
Data = Literal["arrays", "vertex arrays", "gmsh tags", "labels", "sets", "nothing"]


@dataclass(frozen=True, kw_only=True)
class Format:
    """One format.

    Attributes:
        reader: meshio's name of it; writer: where the name for writing differs.
        dimension: of the points written.
        segments: whether lines are written; boundary: those edges of the boundary, too, that are no segments, as the
            programs that read the format look for boundary conditions there.
        second_order: whether elements with midpoints can be written and read back.
        data: which arrays are written, and how.
        label: meshio's name of the array of labels; vertex_labels: whether vertices have one, too.
        exact: whether coordinates are written to the last bit.
        mode: how to open a file for meshio; None where it opens the file itself.
        options: for meshio's writer.
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
    exact: bool = True
    mode: Literal["r", "rb", None] = None
    options: dict[str, Any] = field(default_factory=dict)


_VTU = Format(
    reader="vtu",
    segments=True,
    second_order=True,
    data="arrays",
    # Deflated bytes differ between builds of zlib; without, files are the same everywhere, and quicker to write.
    options={"compression": None},
)
_XDMF = Format(reader="xdmf", segments=True, data="arrays", options={"data_format": "XML"})
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

# Those that are tested; others that meshio knows are tried with `OTHER`.
FORMATS: dict[str, Format] = {
    ".vtu": _VTU,
    ".vtk": Format(reader="vtk", segments=True, second_order=True, data="arrays"),
    # MSH 2.2: meshio's MSH 4.1 takes no lines beside triangles, and drops their tags.
    ".msh": Format(reader="gmsh", writer="gmsh22", segments=True, boundary=True, second_order=True, data="gmsh tags"),
    ".xdmf": _XDMF,
    ".xmf": _XDMF,
    ".ply": Format(reader="ply", data="vertex arrays", mode="rb"),
    ".stl": Format(reader="stl"),
    ".obj": Format(reader="obj", mode="r"),
    ".off": Format(reader="off", mode="r"),
    ".mesh": _MEDIT,
    ".meshb": _MEDIT,
    ".inp": Format(reader="abaqus", segments=True, second_order=True, data="sets", mode="r"),
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

# Formats of meshio's that are left alone. tetgen: it takes Triangle's files for TetGen's, and waits for ever at their
# end. wkt: its regular expression takes for ever on a file that is cut short.
LEFT_ALONE = frozenset({"tetgen", "wkt"})

# svg: a picture. flac3d: its writer takes solid elements only; ugrid: what it writes of triangles it cannot read back.
WRITTEN_ONLY = frozenset({"svg"})
READ_ONLY = frozenset({"flac3d", "ugrid"})

# Packages that meshio imports to write a format, and does not install.
WRITERS_NEED = {
    "cgns": "h5py",
    "exodus": "netCDF4",
    "h5m": "h5py",
    "hmf": "h5py",
    "med": "h5py",
    "xdmf": "h5py",
}
