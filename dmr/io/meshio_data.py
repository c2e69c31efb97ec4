"""Between `Mesh` and meshio's mesh object: points, cells, and the arrays under names of our own.

    vertices    point data      vertex_marker, vertex_attribute_0, vertex_attribute_1, ...
    triangles   cell data       triangle_attribute_0, ..., area_bound   (0 for lines)
    segments    cell data       segment_marker                          (0 for triangles)

Gmsh's physical tags and Medit's labels are read and written as the region (triangle attribute 0) and the markers.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.errors import FileError
from dmr.io.meshio_formats import Format
from dmr.meshes import Mesh

log = logging.getLogger("dmr.io")

_CORNERS = {"triangle": 3, "triangle6": 3, "triangle7": 3, "triangle10": 3, "line": 2, "line3": 2, "line4": 2}
_TAGS = ("gmsh:physical", "medit:ref")


class Content(NamedTuple):
    """What meshio's own mesh object is made of."""

    points: NDArray[np.float64]
    cells: list[tuple[str, NDArray[Any]]]
    point_data: dict[str, NDArray[Any]]
    cell_data: dict[str, list[NDArray[Any]]]


def to_meshio(mesh: Mesh, form: Format, path: Path) -> Content:
    """The mesh as meshio takes it, with what the format keeps; the rest is named in the log."""
    n, m, s = len(mesh.vertices), len(mesh.triangles), len(mesh.segments)
    points = np.column_stack([mesh.vertices, np.zeros(n)]) if form.dimension == 3 else mesh.vertices.copy()
    with_lines = form.segments and s > 0
    cells: list[tuple[str, NDArray[Any]]] = [("triangle", mesh.triangles.copy())]
    if with_lines:
        cells.append(("line", mesh.segments.copy()))
    point_arrays, triangle_arrays, line_markers = _arrays(mesh)
    lost = [] if with_lines or s == 0 else [f"{s} segments"]
    point_data: dict[str, NDArray[Any]] = {}
    cell_data: dict[str, list[NDArray[Any]]] = {}

    def add_cell_data(name: str, of_triangles: NDArray[Any], of_lines: NDArray[Any]) -> None:
        cell_data[name] = [of_triangles, of_lines] if with_lines else [of_triangles]

    if form.data == "arrays":
        point_data = point_arrays
        for name, values in triangle_arrays.items():
            add_cell_data(name, values, np.zeros(s))
        if with_lines:
            add_cell_data("segment_marker", np.zeros(m, np.int32), line_markers)
    elif form.data in ("gmsh tags", "medit labels"):
        tag = "gmsh:physical" if form.data == "gmsh tags" else "medit:ref"
        region = _as_tag(triangle_arrays.pop("triangle_attribute_0", np.zeros(m)))
        if region is None:
            lost.append("a region attribute that is not a whole number")
        add_cell_data(tag, np.zeros(m, np.int32) if region is None else region, line_markers)
        if form.data == "gmsh tags":
            add_cell_data("gmsh:geometrical", np.ones(m, np.int32), np.ones(s, np.int32))
            point_data = point_arrays
        else:
            point_data = {tag: point_arrays.pop("vertex_marker", np.zeros(n, np.int32))}
            lost += point_arrays
        lost += triangle_arrays
    elif form.data == "vertex arrays":
        point_data = point_arrays
        lost += triangle_arrays
    else:
        lost += [*point_arrays, *triangle_arrays]
    if lost:
        log.warning("%s: %s files do not keep %s", path, path.suffix, ", ".join(lost))
    if not form.exact:
        log.warning("%s: %s files round coordinates", path, path.suffix)
    return Content(points, cells, point_data, cell_data)


def from_meshio(found: Any, path: Path) -> Mesh:
    """What meshio read, as a mesh in the plane.

    Raises:
        FileError: no triangles, other elements than triangles and lines, or points that are not in a plane.
        InvalidMeshError: indices or coordinates that make no mesh.
    """
    blocks = [(block.type, np.asarray(block.data)) for block in found.cells]
    others = _count_others(blocks)
    if others:
        raise FileError(f"holds {others}: only triangles, and lines as their segments, can be read", path)
    if not any(kind.startswith("triangle") and len(data) for kind, data in blocks):
        raise FileError("holds no triangles", path)
    points, kept = _flat(np.asarray(found.points, np.float64), path), None
    corners = _joined(blocks, "triangle", 3)
    segments = _joined(blocks, "line", 2)
    if any(kind in _CORNERS and data.shape[1] > _CORNERS[kind] for kind, data in blocks if len(data)):
        kept, points, corners, segments = _drop_points_on_edges(blocks, points, corners, segments, path)
    point_data = {name: np.asarray(values) for name, values in found.point_data.items()}
    if kept is not None:
        point_data = {name: values[kept] for name, values in point_data.items()}
    of_triangles = _cell_arrays(found, blocks, "triangle")
    of_lines = _cell_arrays(found, blocks, "line")
    if path.suffix.lower() == ".stl":
        log.info("%s: %d corners with equal coordinates make %d vertices", path, 3 * len(corners), len(points))
    attributes = _columns(of_triangles, "triangle_attribute_")
    if not attributes:
        attributes = [tag.astype(np.float64) for tag in [_tag(of_triangles)] if tag is not None]
    markers = of_lines.get("segment_marker", _tag(of_lines))
    vertex_attributes = _columns(point_data, "vertex_attribute_")
    return Mesh(
        points,
        corners,
        segments=segments,
        segment_markers=None if markers is None else _whole(markers),
        vertex_markers=_whole(point_data["vertex_marker"]) if "vertex_marker" in point_data else _tag(point_data),
        vertex_attributes=np.stack(vertex_attributes, axis=1) if vertex_attributes else None,
        triangle_attributes=np.stack(attributes, axis=1) if attributes else None,
        area_bounds=of_triangles.get("area_bound"),
    )


def _arrays(mesh: Mesh) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]], NDArray[np.int32]]:
    """The arrays of vertices and of triangles by name, and the segments' markers."""
    assert mesh.vertex_attributes is not None and mesh.triangle_attributes is not None
    assert mesh.segment_markers is not None
    points: dict[str, NDArray[Any]] = {}
    if mesh.vertex_markers is not None:
        points["vertex_marker"] = mesh.vertex_markers.copy()
    for k, column in enumerate(mesh.vertex_attributes.T):
        points[f"vertex_attribute_{k}"] = column.copy()
    triangles: dict[str, NDArray[Any]] = {
        f"triangle_attribute_{k}": column.copy() for k, column in enumerate(mesh.triangle_attributes.T)
    }
    if mesh.area_bounds is not None:
        triangles["area_bound"] = mesh.area_bounds.copy()
    return points, triangles, mesh.segment_markers.copy()


def _count_others(blocks: list[tuple[str, NDArray[Any]]]) -> str:
    """The elements that cannot be read, counted by kind: "12 quad and 3 tetra cells"."""
    counts: dict[str, int] = {}
    for kind, data in blocks:
        if kind not in _CORNERS and kind != "vertex":
            counts[kind] = counts.get(kind, 0) + len(data)
    parts = [f"{count} {kind}" for kind, count in counts.items() if count]
    return f"{' and '.join(parts)} cells" if parts else ""


def _joined(blocks: list[tuple[str, NDArray[Any]]], kind: str, corners: int) -> NDArray[Any]:
    """The corners of all cells of a kind, of whatever order."""
    parts = [data[:, :corners].astype(np.int64) for name, data in blocks if name.startswith(kind) and len(data)]
    return np.concatenate(parts) if parts else np.empty((0, corners), np.int64)


def _flat(points: NDArray[np.float64], path: Path) -> NDArray[np.float64]:
    """The points without a z that all of them share."""
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise FileError(f"has points of shape {points.shape}: only two or three coordinates can be read", path)
    if points.shape[1] == 2:
        return points
    z = points[:, 2]
    off = np.flatnonzero(z != z[0])
    if off.size:
        k = int(off[0])
        raise FileError(f"is not flat: vertex {k} has z = {z[k]:.17g}, vertex 0 has z = {z[0]:.17g}", path)
    log.info("%s: the third coordinate, %g everywhere, is dropped", path, z[0] if len(z) else 0)
    return np.ascontiguousarray(points[:, :2])


def _drop_points_on_edges(
    blocks: list[tuple[str, NDArray[Any]]],
    points: NDArray[np.float64],
    corners: NDArray[Any],
    segments: NDArray[Any],
    path: Path,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[Any], NDArray[Any]]:
    """Keeps the corners of elements of higher order; the points on their edges go."""
    dropped = np.zeros(len(points), bool)
    for kind, data in blocks:
        if kind in _CORNERS:
            dropped[data[:, _CORNERS[kind] :]] = True
    dropped[corners] = dropped[segments] = False
    kept = np.flatnonzero(~dropped)
    place = np.full(len(points), -1, np.int64)
    place[kept] = np.arange(len(kept))
    log.warning("%s is of higher order: the corners are kept, %d other points are dropped", path, int(dropped.sum()))
    return kept, points[kept], place[corners], place[segments]


def _cell_arrays(found: Any, blocks: list[tuple[str, NDArray[Any]]], kind: str) -> dict[str, NDArray[Any]]:
    """The data of all cells of a kind, one array a name."""
    chosen = [k for k, (name, data) in enumerate(blocks) if name.startswith(kind) and len(data)]
    arrays = {}
    for name, values in found.cell_data.items():
        parts = [np.asarray(values[k]) for k in chosen]
        if parts and all(part.ndim == parts[0].ndim for part in parts):
            arrays[name] = np.concatenate(parts)
    return arrays


def _columns(arrays: dict[str, NDArray[Any]], prefix: str) -> list[NDArray[np.float64]]:
    columns: list[NDArray[np.float64]] = []
    while f"{prefix}{len(columns)}" in arrays:
        columns.append(arrays[f"{prefix}{len(columns)}"].astype(np.float64).reshape(-1))
    return columns


def _tag(arrays: dict[str, NDArray[Any]]) -> NDArray[np.int32] | None:
    """The physical tag or label of each element, None where there is none or all are 0."""
    for name in _TAGS:
        if name in arrays and arrays[name].size and arrays[name].any():
            return _whole(arrays[name])
    return None


def _as_tag(values: NDArray[Any]) -> NDArray[np.int32] | None:
    """Values as whole numbers of 32 bits, None where one is not."""
    limit = 2**31 - 1
    if not (np.isfinite(values).all() and (np.abs(values) <= limit).all() and (values == np.rint(values)).all()):
        return None
    return values.astype(np.int32)


def _whole(values: NDArray[Any]) -> NDArray[np.int32]:
    """Markers that came back as other numbers."""
    rounded: NDArray[np.float64] = np.rint(np.nan_to_num(values.reshape(-1).astype(np.float64)))
    return rounded.astype(np.int32)
