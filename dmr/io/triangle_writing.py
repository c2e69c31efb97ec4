"""Writing Triangle's files."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.errors import FileError
from dmr.io import native
from dmr.io.names import SUFFIXES, companion
from dmr.io.replacing import Fill, replace_files, write_bytes
from dmr.io.text import TextFile
from dmr.meshes import Mesh, Pslg

# Rows that one native call writes: a Ctrl-C is honoured between calls.
_ROWS_A_CALL = 1 << 20


class Writer:
    """Makes the parts of Triangle's files: what fills each, with numbers that start at `base`."""

    def __init__(self, base: int, threads: int | None) -> None:
        self.base = base
        self.threads = native.thread_count(threads)
        self._library = native.library()

    def vertices(self, item: Mesh | Pslg) -> Fill:
        """A .node file, or the first section of a .poly file."""
        markers, attributes = item.vertex_markers, item.vertex_attributes
        assert attributes is not None
        columns = attributes.shape[1]

        def fill(file: int) -> None:
            reals = np.hstack([item.vertices, attributes]) if columns else item.vertices
            self._header(file, len(item.vertices), 2, columns, int(markers is not None))
            self._table(file, len(item.vertices), reals=reals, integers=markers)

        return fill

    def triangles(self, mesh: Mesh) -> Fill:
        """A .ele file."""
        attributes = mesh.triangle_attributes
        assert attributes is not None

        def fill(file: int) -> None:
            self._header(file, len(mesh.triangles), 3, attributes.shape[1])
            self._table(file, len(mesh.triangles), indices=mesh.triangles, reals=attributes)

        return fill

    def poly(self, item: Mesh | Pslg, *, inline: bool) -> Fill:
        """A .poly file, with the vertices in it or in the .node beside it."""
        holes, regions = (item.holes, item.regions) if isinstance(item, Pslg) else (np.empty((0, 2)), np.empty((0, 4)))

        def fill(file: int) -> None:
            if inline:
                self.vertices(item)(file)
            else:
                self._header(file, 0, 2, 0, 0)
            self._header(file, len(item.segments), 1)
            self._table(file, len(item.segments), indices=item.segments, integers=item.segment_markers)
            self._header(file, len(holes))
            self._table(file, len(holes), reals=holes)
            if len(regions):
                self._header(file, len(regions))
                self._table(file, len(regions), reals=regions)

        return fill

    def areas(self, bounds: NDArray[np.float64]) -> Fill:
        """A .area file."""

        def fill(file: int) -> None:
            self._header(file, len(bounds))
            self._table(file, len(bounds), reals=bounds)

        return fill

    def neighbours(self, table: NDArray[np.int32]) -> Fill:
        """A .neigh file."""

        def fill(file: int) -> None:
            self._header(file, len(table), 3)
            self._table(file, len(table), indices=table)

        return fill

    def edges(self, mesh: Mesh) -> Fill:
        """A .edge file; markers as `edge_markers` has them."""

        def fill(file: int) -> None:
            edges, markers = find_edges(mesh)
            self._header(file, len(edges), 1)
            self._table(file, len(edges), indices=edges, integers=markers)

        return fill

    def _header(self, file: int, *counts: int) -> None:
        write_bytes(file, (" ".join(map(str, counts)) + "\n").encode())

    def _table(
        self,
        file: int,
        count: int,
        indices: NDArray[np.int32] | None = None,
        reals: NDArray[np.float64] | None = None,
        integers: NDArray[np.int32] | None = None,
    ) -> None:
        arrays = [_matrix(array, count) for array in (indices, reals, integers)]
        for first in range(0, count, _ROWS_A_CALL):
            parts = [array[first : first + _ROWS_A_CALL] for array in arrays]
            rows = native.Rows(
                count=len(parts[0]),
                first_number=first + self.base,
                base=self.base,
                indices=parts[0].shape[1],
                reals=parts[1].shape[1],
                integers=parts[2].shape[1],
                index_in=parts[0].ctypes.data,
                real_in=parts[1].ctypes.data,
                integer_in=parts[2].ctypes.data,
            )
            code = self._library.dmr_text_write(file, rows, self.threads)
            if code == errno.ENOMEM:
                raise MemoryError
            if code:
                raise OSError(code, os.strerror(code))


def write_mesh(
    path: Path,
    mesh: Mesh,
    *,
    overwrite: bool,
    base: int = 0,
    neighbours: bool = False,
    edges: bool = False,
    threads: int | None = None,
) -> list[Path]:
    """Writes a mesh under the name of a .ele or .node file: both, and what else belongs to it.

    .poly where the mesh has segments, .area where it has area bounds, .neigh and .edge on request. Those of an older
    mesh of that name that are not written again are removed: they would be taken for the new mesh's.

    Raises:
        FileError: a file cannot be written; or a PSLG with vertices of its own stands where the segments would go.
        InvalidMeshError: neighbours are asked for, and an edge has two triangles on one side.
    """
    writer = Writer(base, threads)
    node, ele, poly, area = (companion(path, suffix) for suffix in (".node", ".ele", ".poly", ".area"))
    _spare_pslg(poly)
    parts: list[tuple[Path, Fill]] = [(node, writer.vertices(mesh))]
    if len(mesh.segments):
        parts.append((poly, writer.poly(mesh, inline=False)))
    if mesh.area_bounds is not None:
        parts.append((area, writer.areas(mesh.area_bounds)))
    for wanted, suffix in ((neighbours, ".neigh"), (edges, ".edge")):
        if wanted:
            parts.append((companion(path, suffix), _side_part(writer, mesh, suffix)))
    parts.append((ele, writer.triangles(mesh)))
    written = {part for part, _ in parts}
    stale = [other for other in map(partial(companion, path), SUFFIXES) if other not in written]
    if not overwrite:
        _refuse_existing(stale)
    return replace_files(parts, overwrite=overwrite, stale=stale)


def write_part(
    path: Path, item: Mesh | Pslg, *, overwrite: bool, base: int = 0, threads: int | None = None
) -> list[Path]:
    """Writes one file alone: .poly with its vertices in it, .area, .neigh or .edge.

    Raises:
        FileError: it cannot be written, or `item` has nothing to be written there.
        InvalidMeshError: an edge has two triangles on one side (.neigh).
    """
    suffix = path.suffix.lower()
    writer = Writer(base, threads)
    if suffix == ".poly":
        fill = writer.poly(item, inline=True)
    elif isinstance(item, Pslg):
        raise FileError(f"a PSLG has no triangles, and cannot be written as {suffix}: use .poly or .npz", path)
    else:
        fill = _side_part(writer, item, suffix, path)
    return replace_files([(path, fill)], overwrite=overwrite)


def find_edges(mesh: Mesh) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """All edges of a mesh, each once, by ascending vertices; and their markers.

    A marker is that of the segment that the edge is; else, and where that is 0, 1 on the boundary and 0 inside.
    """
    n = len(mesh.vertices)
    sides = np.concatenate([mesh.triangles[:, [1, 2]], mesh.triangles[:, [2, 0]], mesh.triangles[:, [0, 1]]])
    keys, uses = np.unique(_edge_keys(sides, n), return_counts=True)
    markers = (uses == 1).astype(np.int32)
    if len(mesh.segments) and len(keys):
        assert mesh.segment_markers is not None
        wanted = _edge_keys(mesh.segments, n)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        known = (keys[place] == wanted) & (mesh.segment_markers != 0)
        markers[place[known]] = mesh.segment_markers[known]
    return np.stack([keys // max(n, 1), keys % max(n, 1)], axis=1).astype(np.int32), markers


def _edge_keys(edges: NDArray[np.int32], vertex_count: int) -> NDArray[np.int64]:
    low, high = edges.min(axis=1).astype(np.int64), edges.max(axis=1)
    keys: NDArray[np.int64] = low * vertex_count + high
    return keys


def _side_part(writer: Writer, mesh: Mesh, suffix: str, path: Path | None = None) -> Fill:
    if suffix == ".neigh":
        return writer.neighbours(mesh.neighbours)
    if suffix == ".edge":
        return writer.edges(mesh)
    assert suffix == ".area" and path is not None
    if mesh.area_bounds is None:
        raise FileError("the mesh has no area bounds to be written", path)
    return writer.areas(mesh.area_bounds)


def _spare_pslg(poly: Path) -> None:
    """A .poly with vertices of its own is somebody's domain, not part of an older mesh: it is never replaced by one."""
    if not poly.is_file():
        return
    try:
        own = TextFile(poly, threads=1).tokens(0)[0] != b"0"
    except FileError:
        own = True
    if own:
        raise FileError(
            "holds a domain with vertices of its own, and would be read with a mesh of the same name; "
            "choose another name for the mesh",
            poly,
        )


def _refuse_existing(paths: Sequence[Path]) -> None:
    for path in paths:
        if os.path.lexists(path):
            raise FileError("exists already, and may not be overwritten", path)


def _matrix(array: NDArray[Any] | None, count: int) -> NDArray[Any]:
    """An array as rows of columns: (n,) becomes (n, 1), and None (n, 0)."""
    if array is None:
        return np.empty((count, 0), np.int32)
    return np.ascontiguousarray(array[:, None] if array.ndim == 1 else array)
