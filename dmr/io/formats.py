"""`read` and `write`; the file suffix selects the format."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import checks_keywords, one_of, shortened, switch, whole_option, words
from dmr.common.threads import thread_count
from dmr.domains.feature_files import GEOJSON, THROUGH_PYOGRIO, holds_features
from dmr.errors import DmrError, FileContentError, FileError, FolderError, MissingFileError, file_error
from dmr.io.coastal_files import SUFFIXES as COASTAL
from dmr.io.coastal_files import is_coastal
from dmr.io.coastal_files.adcirc import read_adcirc, write_adcirc
from dmr.io.coastal_files.sms import read_sms, write_sms
from dmr.io.extras import Extras
from dmr.io.meshio_files.calls import (
    find_format,
    read_array_through_meshio,
    read_through_meshio,
    write_through_meshio,
)
from dmr.io.npz import read_npz, write_npz
from dmr.io.part_names import holds_parts
from dmr.io.triangle_files.reading import (
    read_edge_file,
    read_mesh,
    read_neighbour_file,
    read_points,
    read_pslg,
)
from dmr.io.triangle_files.writing import write_mesh, write_part
from dmr.memory import Arriving, finish_arrivals, rows_of
from dmr.mesh.arguments import check_kind, file_path
from dmr.mesh.types import Mesh, Pslg
from dmr.triangle.names import SUFFIXES

# The most common formats that are read and written through meshio.
COMMON = (".vtu", ".vtk", ".msh", ".xdmf", ".stl", ".obj", ".off", ".ply")

# The suffixes of formats that do not go through meshio.
OURS = (*SUFFIXES, ".npz", *COASTAL)

# The suffixes of files that `dmr.distributed` writes.
OF_PARTS = (".vtkhdf", ".pvtu")

log = logging.getLogger("dmr.io")

PathLike = str | os.PathLike[str]


@checks_keywords
def read(path: PathLike, *, companions: Collection[str] | None = None, threads: int | None = None) -> Mesh | Pslg:
    """Reads a mesh or a planar straight-line graph.

    Args:
        path: `.ele` or `.node` (both are read, and also `.poly` and `.area` files of the same name if they exist, which
            the log reports), `.poly` (a Pslg), `.npz`; `.geojson` or `.json`, optionally compressed (`.gz`, `.bz2` or
            `.xz` appended), `.gpkg` or `.shp` (a Pslg; `dmr.domains.from_file` can also read regions and markers, and
            project the coordinates); `.2dm` or `fort.14` (`.14`, `.grd`); or a format of meshio: `.vtu .vtk .msh .stl
            .obj .off .ply ...`.
        companions: which of `.poly` and `.area` to read with an `.ele`; these must exist. None reads those that exist.
            For a `.node`, also whether to read its `.ele`; without it, the result is a Pslg of the vertices alone.
        threads: for parsing text, 1 to 1,024; None uses all cores. The result does not depend on it.

    Raises:
        FileError: names the file, the line if there is one, and the fault.
        OptionError: the number of threads is out of range.
        NativeLibraryError: the native library is missing.
    """
    path = _existing(path)
    companions = None if companions is None else words("companions", companions)
    thread_count(threads)  # checked even if nothing is parsed in parallel
    suffix = path.suffix.lower()
    if suffix == ".node" and companions is not None and ".ele" not in companions:
        return read_points(path, threads)
    if suffix in (".ele", ".node"):
        return read_mesh(path, threads, companions)
    if suffix == ".poly":
        return read_pslg(path, threads)
    if suffix == ".npz":
        return read_npz(path)
    if is_coastal(path):
        return read_sms(path) if suffix == ".2dm" else read_adcirc(path)
    if holds_features(path):
        from dmr.domains import from_file

        return from_file(path)
    if suffix in SUFFIXES:
        raise FileError(f"a {suffix} file alone makes no mesh: read the .ele of the same name", path)
    form = find_format(suffix)
    if form is None:
        raise FileError(unknown_suffix(path, *SUFFIXES, ".npz", *COASTAL, *GEOJSON, *THROUGH_PYOGRIO), path)
    return read_through_meshio(path, form)


@checks_keywords
def read_values(path: PathLike, column: int = 0, *, threads: int | None = None) -> tuple[Mesh, NDArray[np.float64]]:
    """Reads a mesh and one value per vertex.

    Args:
        path: as for `read`; it must contain triangles.
        column: the index of the vertex attribute. In a meshio format without attributes under our names: the index
            among the scalar point data arrays, in file order.
        threads: as for `read`.

    Returns:
        The mesh, and the values, (n,) float64.

    Raises:
        FileError: as for `read`; or there are no triangles, or no such column.
    """
    column = whole_option("column", column)
    found = read(path, threads=threads)
    path = Path(path)
    if isinstance(found, Pslg):
        raise FileContentError("is an outline without triangles: values between its vertices are not known", path)
    values = found.vertex_attributes
    assert values is not None
    form = None if path.suffix.lower() in OURS else find_format(path.suffix.lower())
    if not values.shape[1] and form is not None:
        found = read_array_through_meshio(path, form, column)
        column, values = 0, found.vertex_attributes
        assert values is not None
    if not 0 <= column < values.shape[1]:
        if not values.shape[1]:
            raise FileContentError("has no numbers on its vertices: it has no vertex attributes", path)
        raise FileContentError(
            f"has no vertex attribute {shortened(column)}: there are {values.shape[1]}, counted from 0", path
        )
    return found, values[:, column]


@checks_keywords
def write(
    path: PathLike,
    item: Mesh | Pslg,
    *,
    overwrite: bool = True,
    base: int = 0,
    order: int = 1,
    neighbours: bool = False,
    edges: bool = False,
    voronoi: bool = False,
    markers: bool = True,
    leave_out: Collection[str] = (),
    threads: int | None = None,
) -> list[Path]:
    """Writes a mesh or a planar straight-line graph; readers cannot mistake a partial result for a complete one.

    Args:
        path: as for `read`. `.ele` and `.node` both write the pair of files, also `.poly` if there are segments, holes
            or regions, and `.area` if there are area bounds. `.poly`, `.neigh`, `.edge` and `.area` write only that
            file.
        item: the mesh or graph to write. A Pslg can be written as `.poly` or `.npz`.
        overwrite: whether existing files may be replaced.
        base: the first number of vertices and triangles in Triangle's files, 0 or 1.
        order: 2 writes second-order elements, with edge midpoints, in formats that have them ("File formats" in the
            documentation lists them).
        neighbours: whether to write a `.neigh` file beside the `.ele`.
        edges: whether to write a `.edge` file.
        voronoi: whether to write the dual, to a `.v.node` and a `.v.edge` file.
        markers: False omits the markers from Triangle's files.
        leave_out: suffixes among `.node .ele .poly .area`: these files are not written, and existing ones are kept.
        threads: for formatting text and for `.npz`, 1 to 1,024; None uses all cores. The bytes do not depend on it.

    Returns:
        The paths of the files written.

    Raises:
        FileError: a file cannot be written; the message gives the reason.
        WrongTypeError: `item` is neither a Mesh nor a Pslg, or `path` is not a file name.
        InvalidMeshError: neighbours or the dual are requested, and an edge has two triangles on one side; the dual is
            requested, and a triangle is flat or clockwise; or order is 2, and a segment is not an edge of a triangle
            (except for `.ele`).
        OptionError: `base` or `order` is invalid, or the format cannot store something that is requested.
    """
    base = one_of("base", base, (0, 1))
    thread_count(threads)
    path = file_path(path)
    arrives = isinstance(item, Mesh) and isinstance(rows_of(item.triangles), Arriving)  # from a refinement
    check_kind(item, Mesh, Pslg, name="item", indices=not arrives)
    extras = Extras(
        order=one_of("order", order, (1, 2)),
        neighbours=switch("neighbours", neighbours),
        edges=switch("edges", edges),
        voronoi=switch("voronoi", voronoi),
        markers=switch("markers", markers),
        leave_out=words("leave_out", leave_out),
    )
    overwrite = switch("overwrite", overwrite)
    try:
        return _write(path, item, overwrite, base, extras, threads)
    except DmrError:
        raise
    except OSError as error:
        raise file_error(error, path, "cannot be written") from error


def _write(
    path: Path, item: Mesh | Pslg, overwrite: bool, base: int, extras: Extras, threads: int | None
) -> list[Path]:
    suffix = path.suffix.lower()
    form = None if suffix in OURS else find_format(suffix)
    if form is None and suffix not in OURS:
        raise FileError(unknown_suffix(path, *OURS), path)
    extras.check(path)
    if suffix not in (".npz", ".ele", ".node"):
        finish_arrivals()
    if suffix == ".npz":
        return write_npz(path, item, overwrite=overwrite, threads=threads)
    if is_coastal(path) and isinstance(item, Mesh):
        return (write_sms if suffix == ".2dm" else write_adcirc)(path, item, overwrite=overwrite)
    if form is None and any(item.names.values()):
        log.warning("%s: %s files do not keep names", path, suffix)
    if suffix in (".ele", ".node") and isinstance(item, Mesh):
        return write_mesh(path, item, overwrite=overwrite, base=base, extras=extras, threads=threads)
    if form is None:
        return write_part(path, item, overwrite=overwrite, base=base, threads=threads)
    if isinstance(item, Pslg):
        raise FileError(f"a PSLG has no triangles, and cannot be written as {suffix}: use .poly or .npz", path)
    if not len(item.triangles):
        raise FileError(f"cannot be written as {suffix}: the mesh has no triangles", path)
    return write_through_meshio(path, item, form, overwrite=overwrite, order=extras.order)


@checks_keywords
def read_neighbours(path: PathLike, *, threads: int | None = None) -> NDArray[np.int32]:
    """Reads the neighbours from a `.neigh` file.

    Args:
        path: of the file; threads: as for `read`.

    Returns:
        (m, 3) int32, as in `Mesh.neighbours`.

    Raises:
        FileError: it is not there, or is invalid.
    """
    return read_neighbour_file(_existing(path), threads)


@checks_keywords
def read_edges(path: PathLike, *, threads: int | None = None) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
    """Reads the edges of a `.edge` file.

    Args:
        path: of the file; threads: as for `read`.

    Returns:
        (e, 2) int32 numbers of vertices, and (e,) int32 markers, None if there are none.

    Raises:
        FileError: it is not there, or is invalid.
    """
    return read_edge_file(_existing(path), threads)


def _existing(path: PathLike) -> Path:
    path = file_path(path)
    try:
        there, folder = path.exists(), path.is_dir()
    except (OSError, ValueError) as error:
        raise file_error(error, path, "cannot be read") from error
    if folder:
        if holds_parts(path):
            raise FolderError(
                "is a folder of parts, not a file: dmr info describes it, dmr view draws it, dmr convert unites the "
                "parts in one file, dmr refine --tiles N refines them, and dmr.distributed.Parts reads them in Python",
                path,
            )
        raise FolderError("is a folder, not a file", path)
    if not there:
        stream = "; standard input is not read: name a file" if str(path) == "-" else ""
        raise MissingFileError(f"does not exist{_suggestion(path)}{stream}", path)
    if path.is_fifo() or path.is_char_device():  # cannot be opened twice, or is endless
        raise FileContentError("is a pipe or a device, not a file on a disk: copy it into one", path)
    return path


def _suggestion(path: Path) -> str:
    """Suggests the existing file that a name without a suffix may refer to."""
    near = [f"{path.name}{suffix}" for suffix in (".ele", ".poly") if Path(f"{path}{suffix}").is_file()]
    return f"; did you mean {near[0]}?" if near else ""


# Remedies for files of other kinds, by their suffixes.
REMEDIES = {
    (".png", ".jpg", ".jpeg"): "a picture is not a mesh: dmr view MESH --screenshot {name} draws one",
    (".csv", ".txt", ".dat"): (
        "tables of coordinates are neither read nor written; in Python, "
        "dmr.domains.polygon(numpy.loadtxt({name!r}, delimiter=',')) makes an outline of one"
    ),
}


def unknown_suffix(path: Path, *ours: str) -> str:
    """The message for an unknown suffix; `ours` are the valid suffixes that do not go through meshio."""
    if path.suffix.lower() in OF_PARTS:
        return (
            f"{path.suffix} files are made of meshes in parts: dmr convert MESH FOLDER --parts N, then "
            f"dmr convert FOLDER {path.name}; they are not read"
        )
    for suffixes, remedy in REMEDIES.items():
        if path.suffix.lower() in suffixes:
            return f"{remedy.format(name=path.name)}{_suggestion(path)}"
    what = f"unknown suffix {path.suffix}" if path.suffix else "the name has no suffix that says what it is"
    known = " ".join((*ours, *COMMON))
    return f'{what}{_suggestion(path)}; known are {known} and others: see "File formats" in the documentation'
