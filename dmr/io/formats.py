"""`read` and `write`: the format is chosen by the suffix."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dmr.errors import FileError, OptionError
from dmr.io.names import SUFFIXES
from dmr.io.npz import read_npz, write_npz
from dmr.io.system import system_reason
from dmr.io.through_meshio import find_format, known_suffixes, read_through_meshio, write_through_meshio
from dmr.io.triangle_reading import read_edge_file, read_mesh, read_neighbour_file, read_pslg
from dmr.io.triangle_writing import write_mesh, write_part
from dmr.meshes import Mesh, Pslg

PathLike = str | os.PathLike[str]


def read(path: PathLike, *, threads: int | None = None) -> Mesh | Pslg:
    """Reads a mesh or a planar straight-line graph.

    Args:
        path: `.ele` or `.node` (both are read, and `.poly` and `.area` of the same name where they lie beside them, as
            the log says), `.poly` (a Pslg), `.npz`, or a format of meshio's: `.vtu .vtk .msh .stl .obj .off .ply ...`.
        threads: for parsing text; None takes all cores. The result does not depend on it.

    Raises:
        FileError: the file, the line where there is one, and what is wrong.
        DeviceUnavailableError: the native library is missing.
    """
    path = _existing(path)
    suffix = path.suffix.lower()
    if suffix in (".ele", ".node"):
        return read_mesh(path, threads)
    if suffix == ".poly":
        return read_pslg(path, threads)
    if suffix == ".npz":
        return read_npz(path)
    if suffix in SUFFIXES:
        raise FileError(f"a {suffix} file alone makes no mesh: read the .ele of the same name", path)
    form = find_format(suffix)
    if form is None:
        raise _unknown(path)
    return read_through_meshio(path, form)


def write(
    path: PathLike,
    item: Mesh | Pslg,
    *,
    overwrite: bool = True,
    base: int = 0,
    neighbours: bool = False,
    edges: bool = False,
    threads: int | None = None,
) -> list[Path]:
    """Writes a mesh or a planar straight-line graph; no reader can take a half-written result for a whole one.

    Args:
        path: as for `read`. `.ele` and `.node` write both, `.poly` where there are segments, and `.area` where there
            are area bounds; `.poly`, `.neigh`, `.edge` and `.area` write that file alone.
        item: what to write. A Pslg goes to `.poly` or `.npz`.
        overwrite: whether existing files may be replaced.
        base: the first number of vertices and triangles in Triangle's files, 0 or 1.
        neighbours: a `.neigh` file beside the `.ele`; edges: a `.edge` file.
        threads: for making text; None takes all cores. The bytes do not depend on it.

    Returns:
        The files written.

    Raises:
        FileError: the file that cannot be written, and why.
        InvalidMeshError: neighbours are asked for, and an edge has two triangles on one side.
        OptionError: another base.
    """
    if base not in (0, 1):
        raise OptionError(f"base must be 0 or 1, not {base}")
    path = Path(path)
    try:
        return _write(path, item, overwrite, base, neighbours, edges, threads)
    except OSError as error:
        raise FileError(f"cannot be written: {system_reason(error)}", path) from error


def _write(
    path: Path, item: Mesh | Pslg, overwrite: bool, base: int, neighbours: bool, edges: bool, threads: int | None
) -> list[Path]:
    suffix = path.suffix.lower()
    if suffix == ".npz":
        return write_npz(path, item, overwrite=overwrite)
    if suffix in (".ele", ".node") and isinstance(item, Mesh):
        return write_mesh(
            path, item, overwrite=overwrite, base=base, neighbours=neighbours, edges=edges, threads=threads
        )
    if suffix in SUFFIXES:
        return write_part(path, item, overwrite=overwrite, base=base, threads=threads)
    form = find_format(suffix)
    if form is None:
        raise _unknown(path)
    if isinstance(item, Pslg):
        raise FileError(f"a PSLG has no triangles, and cannot be written as {suffix}: use .poly or .npz", path)
    return write_through_meshio(path, item, form, overwrite=overwrite)


def read_neighbours(path: PathLike, *, threads: int | None = None) -> NDArray[np.int32]:
    """The (m, 3) neighbours in a `.neigh` file, as `Mesh.neighbours` has them; FileError where it is wrong."""
    return read_neighbour_file(_existing(path), threads)


def read_edges(path: PathLike, *, threads: int | None = None) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
    """The (e, 2) edges in a `.edge` file and their (e,) markers, None without; FileError where it is wrong."""
    return read_edge_file(_existing(path), threads)


def _existing(path: PathLike) -> Path:
    path = Path(path)
    try:
        if path.is_dir():
            raise FileError("is a folder, not a file", path)
        if not path.exists():
            raise FileError(f"does not exist{_suggestion(path)}", path)
    except (OSError, ValueError) as error:
        raise FileError(f"cannot be read: {system_reason(error)}", path) from error
    return path


def _suggestion(path: Path) -> str:
    """The file that a name without its suffix may mean."""
    near = [f"{path.name}{suffix}" for suffix in (".ele", ".poly") if Path(f"{path}{suffix}").is_file()]
    return f"; did you mean {near[0]}?" if near else ""


def _unknown(path: Path) -> FileError:
    suffixes = " ".join([*SUFFIXES, ".npz", *known_suffixes()])
    what = f"unknown suffix {path.suffix}" if path.suffix else "the name has no suffix that says what it is"
    return FileError(f"{what}{_suggestion(path)}; known are {suffixes}", path)
