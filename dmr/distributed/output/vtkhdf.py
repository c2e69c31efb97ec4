"""Writes a mesh in parts as one .vtkhdf file, part by part.

VTKHDF is VTK's format on HDF5 (VTK File Formats, "VTKHDF format specification", version 2). An unstructured grid has
the arrays of its partitions one after another. They are created at their final sizes, and filled through memory maps.
"""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dmr.common.arguments import switch
from dmr.common.files.replacing import TEMPORARY_PREFIX, TEMPORARY_SUFFIX, check_target
from dmr.distributed.output.part import Part
from dmr.distributed.output.parts import Parts
from dmr.distributed.output.vtk_arrays import edge_markers, vtk_content
from dmr.errors import DmrError, file_error
from dmr.io.meshio_files.names import DIMENSIONS, labels_of
from dmr.mesh.arguments import file_path

VERSION = (2, 0)
TRIANGLE, LINE = 5, 3  # cell types of VTK

Arrays = dict[str, NDArray[Any]]


def write_vtkhdf(
    parts: Parts, path: str | os.PathLike[str], *, single_piece: bool = False, overwrite: bool = True
) -> Path:
    """Writes a mesh in parts as an unstructured grid of VTK; needs memory for one part.

    By default the file has one partition per part, with ghosts, and segments as lines. Arrays have the names that they
    have in `.vtu` files; `number` and `owner` are those of `Part`, and `vtkGhostType` is 1 for what another part owns.

    Args:
        parts: the parts.
        path: the file, `.vtkhdf`.
        single_piece: whether to write one partition without ghosts: points are in the order of their numbers, and
            cells are triangles alone, in the order of their numbers. Cell data `edge_markers` has the marker of the
            segment at each edge (opposite corners 0, 1 and 2), -1 where there is none. dolfinx reads such files over
            all processes.
        overwrite: whether an existing file may be replaced.

    Returns:
        The file.

    Raises:
        DmrError: h5py is missing. FileError: a part cannot be read, or the file cannot be written.
    """
    single_piece = switch("single_piece", single_piece)
    path = file_path(path)
    check_target(path, switch("overwrite", overwrite))
    _h5py()
    try:
        with tempfile.TemporaryDirectory(TEMPORARY_SUFFIX, TEMPORARY_PREFIX, path.parent) as folder:
            made = Path(folder) / path.name
            (_write_single if single_piece else _write_partitions)(parts, made)
            _flush(made)
            made.replace(path)
    except OSError as error:
        if isinstance(error, DmrError):
            raise
        raise file_error(error, path, "cannot be written") from error
    return path


def _write_partitions(parts: Parts, path: Path) -> None:
    entries = parts.manifest["parts"]
    points = [entry["vertices"] for entry in entries]
    triangles = [entry["triangles"] + entry["ghosts"] for entry in entries]
    lines = [entry["segments"] for entry in entries]
    corners = [3 * m + 2 * s for m, s in zip(triangles, lines, strict=True)]
    cells = [m + s for m, s in zip(triangles, lines, strict=True)]
    target = None
    starts = {"points": _starts(points), "cells": _starts(cells), "corners": _starts(corners)}
    for index, part in enumerate(parts):
        arrays = _partition(part, path)
        if target is None:
            totals = {name: each[-1] for name, each in starts.items()} | {"offsets": sum(cells) + len(cells)}
            target = _create(path, parts, arrays, totals, points, cells, corners)
        for name, array in arrays.items():
            kind = _kind(name)
            first = starts["cells"][index] + index if kind == "offsets" else starts[kind][index]
            target[name][first : first + len(array)] = array


def _write_single(parts: Parts, path: Path) -> None:
    points, cells = parts.counts["vertices"], parts.counts["triangles"]
    target = None
    for part in parts:
        arrays = _single(part, path)
        if target is None:
            totals = {"points": points, "cells": cells, "corners": 3 * cells, "offsets": cells + 1}
            target = _create(path, parts, arrays, totals, [points], [cells], [3 * cells])
            target["Offsets"][:] = np.arange(0, 3 * cells + 1, 3)
        own = part.vertex_owners == part.index
        for name, array in arrays.items():
            kind = _kind(name)
            if kind == "points":
                target[name][part.numbers[own]] = array[own]
            elif kind != "offsets":
                first = part.first * (3 if kind == "corners" else 1)
                target[name][first : first + len(array)] = array


def _partition(part: Part, path: Path) -> Arrays:
    """The arrays of a partition by their paths in the file."""
    content = vtk_content(part, path)
    blocks = [block for _, block in content.cells]
    sizes = np.concatenate([np.full(len(block), block.shape[1]) for block in blocks])
    return {
        "Points": content.points,
        "Connectivity": np.concatenate([block.ravel() for block in blocks]).astype(np.int64),
        "Offsets": np.concatenate([[0], np.cumsum(sizes)]),
        "Types": np.where(sizes == 3, TRIANGLE, LINE).astype(np.uint8),
        **{f"PointData/{name}": array for name, array in content.point_data.items()},
        **{f"CellData/{name}": np.concatenate(each) for name, each in content.cell_data.items()},
    }


def _single(part: Part, path: Path) -> Arrays:
    """The arrays of the triangles that a part owns, with the corners' numbers in the whole."""
    content = vtk_content(part, path)
    left_out = ("number", "vtkGhostType", "segment_marker")
    return {
        "Points": content.points,
        "Connectivity": part.numbers[part.mesh.triangles[: part.own]].ravel(),
        "Offsets": np.empty(0, np.int64),  # of all parts at once
        "Types": np.full(part.own, TRIANGLE, np.uint8),
        **{f"PointData/{name}": array for name, array in content.point_data.items() if name not in left_out},
        **{f"CellData/{name}": each[0][: part.own] for name, each in content.cell_data.items() if name not in left_out},
        "CellData/edge_markers": edge_markers(part),
    }


def _kind(name: str) -> str:
    """The elements that the rows of an array belong to."""
    if name == "Points" or name.startswith("PointData/"):
        return "points"
    return {"Connectivity": "corners", "Offsets": "offsets"}.get(name, "cells")


def _create(
    path: Path,
    parts: Parts,
    like: Arrays,
    totals: Mapping[str, int],
    points: list[int],
    cells: list[int],
    corners: list[int],
) -> Arrays:
    """Creates the file; returns its arrays, mapped to memory.

    Args:
        like: the arrays of one part, by path; totals: the rows of each kind of array.
        points, cells, corners: their numbers in each partition.
    """
    h5py = _h5py()
    places: dict[str, tuple[int | None, DTypeLike, tuple[int, ...]]] = {}
    with _system_errors(), h5py.File(path, "w") as file:
        root = file.create_group("VTKHDF")
        root.attrs["Version"] = np.array(VERSION, np.int64)
        root.attrs.create("Type", b"UnstructuredGrid", dtype="S16")
        for name, numbers in (("Points", points), ("Cells", cells), ("ConnectivityIds", corners)):
            root.create_dataset(f"NumberOf{name}", data=np.array(numbers, np.int64))
        for name in ("PointData", "CellData", "FieldData"):
            root.create_group(name)
        for name, values in _names(parts):
            root["FieldData"].create_dataset(name, data=values)
        now = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        now.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        now.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        now.set_obj_track_times(False)
        for name, array in like.items():
            shape = (totals[_kind(name)], *array.shape[1:])
            space, kind = h5py.h5s.create_simple(shape), h5py.h5t.py_create(array.dtype)
            made = h5py.h5d.create(root.id, name.encode(), kind, space, now)
            places[name] = made.get_offset(), array.dtype, shape
    _reserve(path)
    return {
        name: np.empty(shape, dtype) if place is None else np.memmap(path, dtype, "r+", place, shape)
        for name, (place, dtype, shape) in places.items()
    }  # (an array without rows has no place)


@contextmanager
def _system_errors() -> Iterator[None]:
    """Converts what HDF5 raises if the system refuses a write while a file is closed, on a full disk for example."""
    try:
        yield
    except RuntimeError as error:
        code = re.search(r"errno = (\d+)", str(error))
        if code is None:
            raise
        raise OSError(int(code[1]), os.strerror(int(code[1]))) from error


def _reserve(path: Path) -> None:
    """Gives a file all its space on the disk: without it, a write to the mapped file would end the process.

    Raises:
        OSError: there is too little.
    """
    if not hasattr(os, "posix_fallocate"):
        return
    with path.open("r+b") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # file systems that cannot
                raise


def _names(parts: Parts) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yields the labels of regions and markers, with their number and dimension."""
    for kind, labels in labels_of(parts.names).items():
        for number, label in labels.items():
            yield label, np.array([number, DIMENSIONS[kind]])


def _starts(sizes: list[int]) -> list[int]:
    return list(accumulate(sizes, initial=0))


def _h5py() -> Any:
    try:
        import h5py
    except ImportError as error:
        raise DmrError(
            f".vtkhdf files need h5py, the extra [distributed] of this package: pip install h5py ({error})"
        ) from error
    return h5py


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
