"""Converts meshio's mesh object to `Mesh`; the array names are those of `meshio_writing`.

If there are no arrays under our own names, the region (triangle attribute 0) and the markers are taken from the tags
and labels of other programs, and from sets labelled as in `names.py`.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.errors import FileContentError, InvalidMeshError
from dmr.io.meshio_files.content import PHYSICAL, TAGS, Content, content_of
from dmr.io.meshio_files.heads import Head
from dmr.io.meshio_files.names import BOUNDARY, REGION, Group, groups_of, labels_of, names_of
from dmr.io.meshio_files.tags import Tags, from_physical_tags, from_sets
from dmr.mesh.types import Mesh

log = logging.getLogger("dmr.io")

_CORNERS = {"triangle": 3, "triangle6": 3, "triangle7": 3, "triangle10": 3, "line": 2, "line3": 2, "line4": 2}


def from_meshio(found: Any, path: Path, head: Head | None = None, *, plain_labels: bool = False) -> Mesh:
    """Converts meshio's mesh object to a planar mesh.

    Args:
        found: the mesh object.
        path: the file, for messages.
        head: the names in the file, or None.
        plain_labels: whether the labels in the file are plain (see `labels_of`).

    Raises:
        FileError: there are no triangles, elements other than triangles and lines, or points that are not in a plane.
        InvalidMeshError: the indices or coordinates are not those of a valid mesh.
    """
    head = head or Head()
    labels = {} if head.table is None else labels_of(head.table, plain=plain_labels)
    content = content_of(found, [label for numbered in labels.values() for label in numbered.values()])
    physical = content.physical if head.physical is None else head.physical
    groups = groups_of(physical, head.table, plain=plain_labels)
    blocks = content.blocks
    others = _count_others(blocks)
    if others:
        raise FileContentError(f"holds {others}: only triangles, and lines as their segments, can be read", path)
    if not any(kind.startswith("triangle") and len(data) for kind, data in blocks):
        raise FileContentError("holds no triangles", path)
    points, kept = _flat(content.points, path), None
    corners = _joined(blocks, "triangle", 3)
    segments = _joined(blocks, "line", 2)
    if any(kind in _CORNERS and data.shape[1] > _CORNERS[kind] for kind, data in blocks if len(data)):
        kept, points, corners, segments = _drop_points_on_edges(blocks, points, corners, segments, path)
    point_data = content.point_data
    if kept is not None:
        point_data = {name: values[kept] for name, values in point_data.items()}
    of_triangles = _cell_arrays(content, "triangle")
    of_lines = _cell_arrays(content, "line")
    if path.suffix.lower() == ".stl":
        log.info("%s: %d corners with equal coordinates make %d vertices", path, 3 * len(corners), len(points))
    attributes = _columns(of_triangles, "triangle_attribute_")
    if not attributes:
        region = _values(content, groups, of_triangles, REGION, path)
        attributes = [] if region is None else [region.astype(np.float64)]
    markers = of_lines.get("segment_marker")
    if markers is None:
        markers = _values(content, groups, of_lines, BOUNDARY, path)
    vertex_attributes = _columns(point_data, "vertex_attribute_")
    mesh = Mesh(
        points,
        corners,
        segments=segments,
        segment_markers=None if markers is None else _whole(markers),
        vertex_markers=_whole(point_data["vertex_marker"]) if "vertex_marker" in point_data else _tag(point_data),
        vertex_attributes=np.stack(vertex_attributes, axis=1) if vertex_attributes else None,
        triangle_attributes=np.stack(attributes, axis=1) if attributes else None,
        area_bounds=of_triangles.get("area_bound"),
    )
    return replace(mesh, names=names_of(groups if head.table is not None else _used(groups, mesh)))


def _used(groups: list[Group], mesh: Mesh) -> list[Group]:
    """The groups whose numbers the mesh uses: other programs may store anything in the form of names."""
    regions = mesh.triangle_attributes
    assert regions is not None and mesh.segment_markers is not None
    markers = set(mesh.segment_markers.tolist())
    if mesh.vertex_markers is not None:
        markers |= set(np.unique(mesh.vertex_markers).tolist())
    used = {REGION: set(np.unique(regions[:, 0]).tolist()) if regions.shape[1] else {0}, BOUNDARY: markers}
    return [group for group in groups if group.number in used[group.kind]]


def _count_others(blocks: list[tuple[str, NDArray[Any]]]) -> str:
    """Counts the unsupported elements by type: "12 quad and 3 tetra cells"."""
    counts: dict[str, int] = {}
    for kind, data in blocks:
        if kind not in _CORNERS and kind != "vertex":
            counts[kind] = counts.get(kind, 0) + len(data)
    parts = [f"{count} {kind}" for kind, count in counts.items() if count]
    return f"{' and '.join(parts)} cells" if parts else ""


def _joined(blocks: list[tuple[str, NDArray[Any]]], kind: str, corners: int) -> NDArray[Any]:
    """The corners of all cells of a kind, of any order."""
    parts = [data[:, :corners].astype(np.int64) for name, data in blocks if name.startswith(kind) and len(data)]
    return np.concatenate(parts) if parts else np.empty((0, corners), np.int64)


def _flat(points: NDArray[np.float64], path: Path) -> NDArray[np.float64]:
    """The points in the plane: drops the z coordinate, which all points must share."""
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise FileContentError(f"has points of shape {points.shape}: only two or three coordinates can be read", path)
    if points.shape[1] == 2:
        return points
    z = points[:, 2]
    off = np.flatnonzero(z != z[0])
    if off.size:
        k = int(off[0])
        raise FileContentError(f"is not flat: vertex {k} has z = {z[k]:.17g}, vertex 0 has z = {z[0]:.17g}", path)
    if z.any():
        log.info("%s: the third coordinate, %g everywhere, is dropped", path, z[0])
    return np.ascontiguousarray(points[:, :2])


def _drop_points_on_edges(
    blocks: list[tuple[str, NDArray[Any]]],
    points: NDArray[np.float64],
    corners: NDArray[Any],
    segments: NDArray[Any],
    path: Path,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[Any], NDArray[Any]]:
    """Keeps the corners of higher-order elements and drops the points on their edges."""
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


def _cell_arrays(content: Content, kind: str) -> dict[str, NDArray[Any]]:
    """The data of all cells of a kind, one array per name."""
    chosen = [k for k, (name, data) in enumerate(content.blocks) if name.startswith(kind) and len(data)]
    arrays = {}
    for name, values in content.cell_data.items():
        if any(k >= len(values) for k in chosen):
            continue
        parts = [values[k] for k in chosen]
        if parts and all(part.shape[1:] == parts[0].shape[1:] for part in parts):
            arrays[name] = np.concatenate(parts)
    return arrays


def _columns(arrays: dict[str, NDArray[Any]], prefix: str) -> list[NDArray[np.float64]]:
    columns: list[NDArray[np.float64]] = []
    while f"{prefix}{len(columns)}" in arrays:
        columns.append(arrays[f"{prefix}{len(columns)}"].astype(np.float64).reshape(-1))
    return columns


def _values(
    content: Content, groups: list[Group], arrays: dict[str, NDArray[Any]], kind: str, path: Path
) -> Tags | None:
    """Regions or markers from tags, labels or sets; None if there are none or all are 0."""
    values = _tag(arrays)
    if values is not None and PHYSICAL in arrays:
        values = from_physical_tags(values, groups, kind)
    elif values is None:
        cells = "triangle" if kind == REGION else "line"
        chosen = [
            (k, len(data)) for k, (name, data) in enumerate(content.blocks) if name.startswith(cells) and len(data)
        ]
        values = from_sets(content.cell_sets, groups, kind, chosen, path)
    return values if values is not None and values.any() else None


def _tag(arrays: dict[str, NDArray[Any]]) -> Tags | None:
    """The tag or label of each element; None if there are none or all are 0."""
    for name in TAGS:
        if name in arrays and arrays[name].size and arrays[name].any():
            return _whole(arrays[name])
    return None


def _whole(values: NDArray[Any]) -> NDArray[np.int32]:
    """Converts markers that were stored as another numeric type to 32-bit integers."""
    rounded: NDArray[np.float64] = np.rint(np.nan_to_num(values.reshape(-1).astype(np.float64)))
    if rounded.size and np.abs(rounded).max() > 2**31 - 1:
        raise InvalidMeshError("a marker does not fit in 32 bits")
    return rounded.astype(np.int32)
