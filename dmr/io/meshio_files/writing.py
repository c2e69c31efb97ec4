"""Converts `Mesh` to meshio's mesh object: points, cells, and data arrays under our own names.

    vertices    point data      vertex_marker, vertex_attribute_0, vertex_attribute_1, ...
    triangles   cell data       triangle_attribute_0, ..., area_bound   (0 for lines)
    segments    cell data       segment_marker                          (0 for triangles)

In formats without triangle arrays, the region (triangle attribute 0) and the markers become tags, labels or sets.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.common.text import counted
from dmr.io.implied_markers import are_implied
from dmr.io.meshio_files.formats import Format
from dmr.io.meshio_files.names import BOUNDARY, DIMENSIONS, Labels, label_of, labels_of
from dmr.io.meshio_files.tags import Tags, as_whole, entities, groups_by_value, physical_tags, to_sets
from dmr.mesh.names import Names, default_marker
from dmr.mesh.quadratic import SecondOrder, second_order
from dmr.mesh.types import Int, Mesh
from dmr.triangle.output import with_boundary_segments, with_markers

log = logging.getLogger("dmr.io")

# The order of the six points of a `SecondOrder` triangle in VTK, Gmsh and meshio.
_QUADRATIC_ORDER = [0, 1, 2, 5, 3, 4]

_REGION = "triangle_attribute_0"


class Content(NamedTuple):
    """The arguments of meshio's mesh object, under their names."""

    points: NDArray[np.float64]
    cells: list[tuple[str, NDArray[Any]]]
    point_data: dict[str, NDArray[Any]]
    cell_data: dict[str, list[NDArray[Any]]]
    field_data: dict[str, NDArray[Any]]
    cell_sets: dict[str, list[NDArray[Any]]]
    point_sets: dict[str, NDArray[Any]]

    def add_cell_data(self, name: str, of_triangles: NDArray[Any], of_lines: NDArray[Any]) -> None:
        """Adds an array over all cells; without lines, only the part for the triangles."""
        self.cell_data[name] = [of_triangles, of_lines][: len(self.cells)]

    def widen(self) -> None:
        """Converts the arrays of 32-bit integers to 64 bits."""
        self.point_data.update({name: _wide(values) for name, values in self.point_data.items()})
        self.cell_data.update({name: [_wide(part) for part in parts] for name, parts in self.cell_data.items()})


def _wide(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(np.int64) if values.dtype == np.int32 else values


@dataclass
class _Rest:
    """Data not yet stored in a `Content`: named arrays, the markers of the lines, names, and a list of what is lost."""

    points: dict[str, NDArray[Any]]
    triangles: dict[str, NDArray[Any]]
    markers: Tags
    names: Names
    lost: list[str] = field(default_factory=list)

    def take_region(self) -> Tags | None:
        """Removes and returns the region of each triangle; None if there is none, or it is not an integer."""
        if _REGION not in self.triangles:
            return None
        region = as_whole(self.triangles.pop(_REGION))
        if region is None:
            self.lost.append("a region attribute that is not a whole number")
        return region


def to_meshio(mesh: Mesh, form: Format, path: Path, *, order: int = 1) -> Content:
    """Converts the mesh to meshio's form, with the data that the format stores; the log lists the rest.

    Raises:
        InvalidMeshError: order is 2, and a segment is not an edge of a triangle.
    """
    lines, markers = _lines(mesh, form)
    quadratic = second_order(mesh) if order == 2 else None
    content = _bare(mesh, lines, quadratic, form.dimension)
    rest = _Rest(_point_arrays(mesh if quadratic is None else quadratic), _triangle_arrays(mesh), markers, mesh.names)
    if len(mesh.segments) and not form.segments:
        rest.lost.append(counted(len(mesh.segments), "segment"))
    if any(mesh.names.values()) and not form.names:
        rest.lost.append("names")
    if form.data != "nothing":
        _WAYS[form.data](content, rest, form)
    if form.wide:
        content.widen()
    if form.segments and form.data != "nothing" and "vertex_marker" in rest.points and are_implied(mesh):
        del rest.points["vertex_marker"]
    lost = [*rest.lost, *rest.points, *rest.triangles]
    if lost:
        log.warning("%s: %s files do not keep %s", path, path.suffix, ", ".join(lost))
    if not form.exact:
        log.warning("%s: %s files round coordinates", path, path.suffix)
    return content


def _as_arrays(content: Content, rest: _Rest, form: Format) -> None:
    content.point_data.update(rest.points)
    for name, values in rest.triangles.items():
        content.add_cell_data(name, values, np.zeros(len(rest.markers)))
    if len(content.cells) > 1:
        content.add_cell_data("segment_marker", np.zeros(len(content.cells[0][1]), np.int32), rest.markers)
    rest.points, rest.triangles = {}, {}
    if form.names:
        for kind, labels in labels_of(rest.names).items():
            content.field_data.update({label: np.array([k, DIMENSIONS[kind]]) for k, label in labels.items()})


def _as_vertex_arrays(content: Content, rest: _Rest, form: Format) -> None:
    content.point_data.update(rest.points)
    rest.points = {}


def _as_gmsh_tags(content: Content, rest: _Rest, form: Format) -> None:
    _as_vertex_arrays(content, rest, form)
    labels = labels_of(rest.names)
    regions, boundaries, groups = physical_tags(_or_zero(rest.take_region(), content), rest.markers, labels)
    content.add_cell_data("gmsh:physical", regions, boundaries)
    content.add_cell_data("gmsh:geometrical", entities(regions), entities(boundaries))
    content.field_data.update(groups)


def _as_labels(content: Content, rest: _Rest, form: Format) -> None:
    content.add_cell_data(form.label, _or_zero(rest.take_region(), content), rest.markers)
    if form.vertex_labels:
        content.point_data[form.label] = rest.points.pop("vertex_marker", np.zeros(len(content.points), np.int32))


def _as_sets(content: Content, rest: _Rest, form: Format) -> None:
    labels = labels_of(rest.names, plain=True)
    content.cell_sets.update(to_sets(rest.take_region(), rest.markers, labels))
    content.point_sets.update(_sets_of_points(content, rest.markers, labels))


def _sets_of_points(content: Content, markers: Tags, labels: Labels) -> dict[str, NDArray[Any]]:
    """The points on the lines of each marker, under the label of the lines."""
    return {
        label_of(labels, BOUNDARY, value): distinct(content.cells[1][1][members])
        for value, members in groups_by_value(markers)
        if value != 0
    }


_WAYS: dict[str, Callable[[Content, _Rest, Format], None]] = {
    "arrays": _as_arrays,
    "vertex arrays": _as_vertex_arrays,
    "gmsh tags": _as_gmsh_tags,
    "labels": _as_labels,
    "sets": _as_sets,
}


def _or_zero(region: Tags | None, content: Content) -> Tags:
    return np.zeros(len(content.cells[0][1]), np.int32) if region is None else region


def _lines(mesh: Mesh, form: Format) -> tuple[Int, Tags]:
    """The lines to write and their markers: the segments and, if the format requires it, the rest of the boundary."""
    if not form.segments:
        return np.empty((0, 2), np.int32), np.empty(0, np.int32)
    assert mesh.segment_markers is not None
    if form.boundary:
        default = default_marker(mesh.names, mesh.segment_markers)
        mesh = with_boundary_segments(with_markers(mesh, default), default)
    assert mesh.segment_markers is not None
    return mesh.segments.copy(), mesh.segment_markers.copy()


def _bare(mesh: Mesh, lines: Int, quadratic: SecondOrder | None, dimension: int) -> Content:
    """The points and cells, without data."""
    points = mesh.vertices.copy() if quadratic is None else quadratic.vertices
    if dimension == 3:
        points = np.column_stack([points, np.zeros(len(points))])
    cells: list[tuple[str, NDArray[Any]]]
    if quadratic is None:
        cells = [("triangle", mesh.triangles.copy()), ("line", lines)]
    else:
        triangles = quadratic.triangles[:, _QUADRATIC_ORDER]
        cells = [("triangle6", triangles), ("line3", quadratic.with_midpoints(lines))]
    return Content(points, cells if len(lines) else cells[:1], {}, {}, {}, {}, {})


def _point_arrays(item: Mesh | SecondOrder) -> dict[str, NDArray[Any]]:
    assert item.vertex_attributes is not None
    arrays: dict[str, NDArray[Any]] = {}
    if item.vertex_markers is not None:
        arrays["vertex_marker"] = item.vertex_markers.copy()
    for k, column in enumerate(item.vertex_attributes.T):
        arrays[f"vertex_attribute_{k}"] = column.copy()
    return arrays


def _triangle_arrays(mesh: Mesh) -> dict[str, NDArray[Any]]:
    assert mesh.triangle_attributes is not None
    arrays: dict[str, NDArray[Any]] = {
        f"triangle_attribute_{k}": column.copy() for k, column in enumerate(mesh.triangle_attributes.T)
    }
    if mesh.area_bounds is not None:
        arrays["area_bound"] = mesh.area_bounds.copy()
    return arrays
