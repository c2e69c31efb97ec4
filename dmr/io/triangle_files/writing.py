"""Writes Triangle's files."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.files.flushing import flushed_meanwhile
from dmr.common.files.replacing import Fill, replace_files, write_bytes
from dmr.common.threads import thread_count
from dmr.errors import ExistingFileError, FileError
from dmr.io import native
from dmr.io.extras import Extras
from dmr.io.text import TextFile
from dmr.memory import Arriving, finish_arrivals, rows_of
from dmr.mesh.types import Mesh, Pslg
from dmr.triangle.names import VORONOI_SUFFIXES, companion, family

if TYPE_CHECKING:
    from dmr.mesh.quadratic import SecondOrder
    from dmr.mesh.voronoi_dual import Voronoi

# Rows per native call: a Ctrl-C is handled between calls.
_ROWS_A_CALL = 1 << 20


class Writer:
    """Creates the functions (`Fill`) that write Triangle's files. Numbers start at `base`; markers can be omitted."""

    def __init__(self, base: int, threads: int | None, *, markers: bool = True) -> None:
        self.base = base
        self.markers = markers
        self.threads = thread_count(threads)
        self._library = native.library()

    def vertices(self, item: Mesh | Pslg | SecondOrder) -> Fill:
        """The function that writes a .node file, or the first section of a .poly file."""
        markers, attributes = item.vertex_markers if self.markers else None, item.vertex_attributes
        assert attributes is not None
        columns = attributes.shape[1]

        def fill(file: int) -> None:
            reals = np.hstack([rows_of(item.vertices)[:], attributes]) if columns else rows_of(item.vertices)
            self._header(file, len(item.vertices), 2, columns, int(markers is not None))
            self._table(file, len(item.vertices), reals=reals, integers=markers)

        return fill

    def triangles(self, mesh: Mesh, elements: NDArray[np.int32]) -> Fill:
        """The function that writes a .ele file; `elements` are the triangles, with their midpoints if they have any."""
        attributes = mesh.triangle_attributes
        assert attributes is not None

        def fill(file: int) -> None:
            self._header(file, len(elements), elements.shape[1], attributes.shape[1])
            self._table(file, len(elements), indices=rows_of(elements), reals=attributes)

        return fill

    def poly(self, item: Mesh | Pslg, *, inline: bool) -> Fill:
        """The function that writes a .poly file, with the vertices inline or in the .node beside it."""
        holes, regions = item.holes, item.regions

        def fill(file: int) -> None:
            if inline:
                self.vertices(item)(file)
            else:
                self._header(file, 0, 2, 0, 0)
            markers = item.segment_markers if self.markers else None
            self._header(file, len(item.segments), int(self.markers))
            self._table(file, len(item.segments), indices=item.segments, integers=markers)
            self._header(file, len(holes))
            self._table(file, len(holes), reals=holes)
            if len(regions):
                self._header(file, len(regions))
                self._table(file, len(regions), reals=regions)

        return fill

    def areas(self, bounds: NDArray[np.float64]) -> Fill:
        """The function that writes a .area file."""

        def fill(file: int) -> None:
            self._header(file, len(bounds))
            self._table(file, len(bounds), reals=bounds)

        return fill

    def neighbours(self, table: NDArray[np.int32]) -> Fill:
        """The function that writes a .neigh file."""

        def fill(file: int) -> None:
            self._header(file, len(table), 3)
            self._table(file, len(table), indices=table)

        return fill

    def voronoi_vertices(self, dual: Voronoi) -> Fill:
        """The function that writes a .v.node file."""

        def fill(file: int) -> None:
            self._header(file, len(dual.vertices), 2, 0, 0)
            self._table(file, len(dual.vertices), reals=dual.vertices)

        return fill

    def voronoi_edges(self, dual: Voronoi) -> Fill:
        """The function that writes a .v.edge file; the second end of a ray is -1, followed by its direction."""
        ends, finite = dual.edges, dual.finite

        def fill(file: int) -> None:
            self._header(file, len(ends), 0)
            self._table(file, finite, indices=ends[:finite])
            rays = len(ends) - finite
            self._table(file, rays, indices=ends[finite:], reals=dual.rays[finite:], first_row=finite)

        return fill

    def edges(self, mesh: Mesh) -> Fill:
        """The function that writes a .edge file, with the markers of `find_edges`."""

        def fill(file: int) -> None:
            from dmr.mesh.edges import find_edges

            edges, markers = find_edges(mesh)
            self._header(file, len(edges), int(self.markers))
            self._table(file, len(edges), indices=edges, integers=markers if self.markers else None)

        return fill

    def _header(self, file: int, *counts: int) -> None:
        write_bytes(file, (" ".join(map(str, counts)) + "\n").encode())

    def _table(
        self,
        file: int,
        count: int,
        indices: NDArray[np.int32] | Arriving | None = None,
        reals: NDArray[np.float64] | Arriving | None = None,
        integers: NDArray[np.int32] | None = None,
        first_row: int = 0,
    ) -> None:
        arrays = [_matrix(array, count) for array in (indices, reals, integers)]
        written = os.lseek(file, 0, os.SEEK_CUR)
        with flushed_meanwhile(file) as flushing:
            for first in range(0, count, _ROWS_A_CALL):
                self._rows(file, first_row + first, [array[first : first + _ROWS_A_CALL] for array in arrays])
                before, written = written, os.lseek(file, 0, os.SEEK_CUR)
                flushing.wrote(written - before)

    def _rows(self, file: int, first_row: int, parts: Sequence[NDArray[Any]]) -> None:
        """Writes rows of indices, reals and integers, numbered from `first_row` on."""
        rows = native.Rows(
            count=len(parts[0]),
            first_number=first_row + self.base,
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
    base: int,
    extras: Extras,
    threads: int | None = None,
) -> list[Path]:
    """Writes a mesh under the name of a .ele or .node file: both files, and all others that belong to the mesh.

    These are a .poly if the mesh has segments, holes or regions, a .area if it has area bounds, and the files that
    `extras` requests. Files of an older mesh of that name that are not written again are removed together with its
    .ele, because they would be read as part of the new mesh. Files in `extras.leave_out` are kept.

    Raises:
        FileError: a file cannot be written; a PSLG with its own vertices exists under the name of the .poly; or another
            mesh exists under the name of the Voronoi dual.
        InvalidMeshError: neighbours or the dual are requested, and an edge has two triangles on one side; or a triangle
            has no circumcenter.
    """
    if extras.order == 2 or extras.neighbours or extras.edges or extras.voronoi:  # which are derived from all of it
        finish_arrivals()
    writer = Writer(base, threads, markers=extras.markers)
    left_out = {companion(path, suffix) for suffix in extras.leave_out}
    node, ele, poly, area = (companion(path, suffix) for suffix in (".node", ".ele", ".poly", ".area"))
    if poly not in left_out:
        _spare_pslg(poly)
    quadratic = _second_order(mesh) if extras.order == 2 else None
    parts: list[tuple[Path, Fill]] = [(node, writer.vertices(mesh if quadratic is None else quadratic))]
    if len(mesh.segments) or len(mesh.holes) or len(mesh.regions):
        parts.append((poly, writer.poly(mesh, inline=False)))
    if mesh.area_bounds is not None:
        parts.append((area, writer.areas(mesh.area_bounds)))
    for wanted, suffix in ((extras.neighbours, ".neigh"), (extras.edges, ".edge")):
        if wanted:
            parts.append((companion(path, suffix), _side_part(writer, mesh, suffix)))
    if extras.voronoi:
        parts += _voronoi_parts(writer, mesh, path)
    parts.append((ele, writer.triangles(mesh, mesh.triangles if quadratic is None else quadratic.triangles)))
    parts = [(part, fill) for part, fill in parts if part not in left_out]
    written = {part for part, _ in parts}
    stale = [other for other in family(path) if other not in written | left_out] if ele in written else []
    dual = [companion(path, suffix) for suffix in VORONOI_SUFFIXES]
    if not all(part.exists() for part in dual):  # a single one of them is not part of a dual
        stale = [other for other in stale if other not in dual]
    if not overwrite:
        _refuse_existing(stale)
    return replace_files(parts, overwrite=overwrite, stale=stale) if parts else []


def write_part(
    path: Path, item: Mesh | Pslg, *, overwrite: bool, base: int = 0, threads: int | None = None
) -> list[Path]:
    """Writes a single file: .poly with its vertices inline, .node of points alone, .area, .neigh or .edge.

    Raises:
        FileError: the file cannot be written, or `item` lacks the data for it.
        InvalidMeshError: an edge has two triangles on one side (.neigh).
    """
    suffix = path.suffix.lower()
    writer = Writer(base, threads)
    if suffix == ".poly":
        fill = writer.poly(item, inline=True)
    elif (
        suffix == ".node" and isinstance(item, Pslg) and not (len(item.segments) + len(item.holes) + len(item.regions))
    ):
        fill = writer.vertices(item)
    elif isinstance(item, Pslg):
        raise FileError(f"a PSLG has no triangles, and cannot be written as {suffix}: use .poly or .npz", path)
    else:
        fill = _side_part(writer, item, suffix, path)
    return replace_files([(path, fill)], overwrite=overwrite)


def _second_order(mesh: Mesh) -> SecondOrder:
    from dmr.mesh.quadratic import second_order

    return second_order(mesh)


def _voronoi_parts(writer: Writer, mesh: Mesh, path: Path) -> list[tuple[Path, Fill]]:
    other = companion(path, ".v.ele")
    if other.exists():
        raise ExistingFileError("is a mesh of the name that the Voronoi dual would have; choose another name", other)
    from dmr.mesh.voronoi_dual import voronoi

    dual = voronoi(mesh)
    node, edge = (companion(path, suffix) for suffix in VORONOI_SUFFIXES)
    return [(node, writer.voronoi_vertices(dual)), (edge, writer.voronoi_edges(dual))]


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
    """Raises FileError if the .poly lists its own vertices: it is a user's domain, which a mesh must not replace."""
    if not poly.is_file():
        return
    try:
        own = TextFile(poly, threads=1).tokens(0)[0] != b"0"
    except FileError:
        own = True
    if own:
        raise ExistingFileError(
            "holds a domain with vertices of its own, and would be read with a mesh of the same name; "
            "choose another name for the mesh",
            poly,
        )


def _refuse_existing(paths: Sequence[Path]) -> None:
    for path in paths:
        if os.path.lexists(path):
            raise ExistingFileError("exists already, and may not be overwritten", path)


def _matrix(array: NDArray[Any] | Arriving | None, count: int) -> NDArray[Any] | Arriving:
    """An array as a matrix: (n,) becomes (n, 1), and None becomes (n, 0)."""
    if isinstance(array, Arriving):
        return array
    if array is None:
        return np.empty((count, 0), np.int32)
    return np.ascontiguousarray(array[:, None] if array.ndim == 1 else array)
