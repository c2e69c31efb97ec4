"""Reads Triangle's files: finds the files that belong together, and converts them to a `Mesh` or `Pslg`.

The .ele file is opened first and checked last. `write` removes an old .ele before it changes any other file, and puts
the new one in place after all others. An unchanged .ele therefore means that all files read belong to the same mesh.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dmr.common.text import counted
from dmr.errors import FileContentError, MissingFileError
from dmr.io.numbering import Numbering
from dmr.io.text import TextFile
from dmr.io.triangle_files.tables import (
    Section,
    VertexSection,
    any_vertex,
    open_companion,
    parse_areas,
    parse_neighbours,
    parse_points,
    parse_segments,
    parse_triangles,
    parse_vertices,
)
from dmr.mesh.types import Mesh, Pslg
from dmr.triangle.names import companion

log = logging.getLogger("dmr.io")


@dataclass(frozen=True)
class Poly:
    """The sections after the vertices in a .poly file."""

    segments: Section
    hole_lines: Section | None
    region_lines: Section | None

    @property
    def holes(self) -> NDArray[np.float64]:
        """(h, 2) hole points."""
        return np.empty((0, 2)) if self.hole_lines is None else self.hole_lines.table.reals

    @property
    def regions(self) -> NDArray[np.float64]:
        """(r, 4) region points, attributes and areas."""
        return np.empty((0, 4)) if self.region_lines is None else self.region_lines.table.reals


@dataclass(frozen=True)
class MeshFiles:
    """The content of a .ele file and its companions, with the position of each table in its file.

    Attributes:
        vertices: the vertices of the .node file.
        triangles: the triangles of the .ele file.
        poly: the content of the .poly beside it, or None.
        area_bounds: those of the .area beside it, or None.
        kept: the vertices to keep, without the points on edges of a second-order mesh; None keeps all.
    """

    vertices: VertexSection
    triangles: Section
    poly: Poly | None
    area_bounds: NDArray[np.float64] | None
    kept: NDArray[np.int64] | None


def read_mesh(path: Path, threads: int | None = None, companions: Collection[str] | None = None) -> Mesh:
    """Reads the mesh of a .ele and .node pair, given either; `companions` selects the .poly and .area beside them.

    Raises:
        FileError: a file is missing, or a line is invalid.
    """
    files = load_mesh_files(path, threads, companions)
    vertices, kept, poly = files.vertices, files.kept, files.poly
    corners = files.triangles.table.indices[:, :3]
    segments = np.empty((0, 2), np.int32) if poly is None else poly.segments.table.indices
    coordinates, attributes, markers = vertices.vertices, vertices.attributes, vertices.markers
    if kept is not None:
        place = np.full(vertices.count, -1, np.int32)
        place[kept] = np.arange(len(kept), dtype=np.int32)
        corners, segments = place[corners], place[segments]
        coordinates, attributes = coordinates[kept], attributes[kept]
        markers = None if markers is None else markers[kept]
        log.warning(
            "%s is of second order: the corners are kept, %d points on edges are dropped",
            files.triangles.text.path,
            vertices.count - len(kept),
        )
    return Mesh(
        coordinates,
        corners,
        segments=segments,
        segment_markers=None if poly is None else _markers(poly.segments),
        vertex_markers=markers,
        vertex_attributes=attributes,
        triangle_attributes=files.triangles.table.reals,
        area_bounds=files.area_bounds,
        holes=np.empty((0, 2)) if poly is None else poly.holes,
        regions=np.empty((0, 4)) if poly is None else poly.regions,
    )


def load_mesh_files(path: Path, threads: int | None = None, companions: Collection[str] | None = None) -> MeshFiles:
    """Reads a .ele or .node and the files beside it; of .poly and .area only those in `companions`, or all if None."""
    ele, node = companion(path, ".ele"), companion(path, ".node")
    from_ele = path.suffix.lower() == ".ele"
    ele_text = TextFile(ele, threads) if from_ele or ele.exists() else None
    node_text = open_companion(node, ele, "vertices", threads) if from_ele else TextFile(node, threads)
    vertices = _parse_node(node_text)
    if ele_text is None:
        raise MissingFileError(
            f"there is no {ele.name} beside it, which would hold its triangles; companions=() reads the points alone",
            node,
        )
    try:
        triangles = parse_triangles(ele_text, vertices.numbering)
        poly_path = _wanted(companion(path, ".poly"), ele, companions, "segments")
        area_path = _wanted(companion(path, ".area"), ele, companions, "area bounds")
        poly = None if poly_path is None else _companion_poly(poly_path, vertices, threads)
        area_bounds = None if area_path is None else _companion_areas(area_path, triangles, threads)
    finally:
        ele_text.check_unchanged()  # also after an error, which a mixture of two meshes can cause
    if not vertices.numbering.consecutive:
        log.info("%s: vertex numbers have gaps or are out of order; vertices are taken in the file's order", node)
    return MeshFiles(vertices, triangles, poly, area_bounds, _kept_vertices(vertices, triangles, poly))


def read_points(path: Path, threads: int | None = None) -> Pslg:
    """Reads the vertices of a .node file, without segments; raises FileError if a line is invalid."""
    text = TextFile(path, threads)
    vertices = _parse_node(text)
    text.check_unchanged()
    return Pslg(
        vertices.vertices,
        np.empty((0, 2), np.int32),
        vertex_markers=vertices.markers,
        vertex_attributes=vertices.attributes,
    )


def read_pslg(path: Path, threads: int | None = None) -> Pslg:
    """Reads the planar straight-line graph of a .poly file; if it lists no vertices, reads them from the .node.

    Raises:
        FileError: a file is missing, or a line is invalid.
    """
    text = TextFile(path, threads)
    vertices = parse_poly_vertices(text, threads)
    poly = parse_poly(text, vertices.end if vertices.text is text else 1, vertices.numbering)
    text.check_unchanged()
    vertices.text.check_unchanged()
    return Pslg(
        vertices.vertices,
        poly.segments.table.indices,
        holes=poly.holes,
        regions=poly.regions,
        segment_markers=_markers(poly.segments),
        vertex_markers=vertices.markers,
        vertex_attributes=vertices.attributes,
    )


def parse_poly_vertices(text: TextFile, threads: int | None = None) -> VertexSection:
    """Reads the vertices of a .poly file: its own, or those of the .node beside it."""
    vertices = parse_vertices(text, 0)
    if vertices.count:
        return vertices
    node = open_companion(companion(text.path, ".node"), text.path, "vertices", threads)
    log.info("%s: vertices are read from %s", text.path, node.path.name)
    return _parse_node(node)


def _parse_node(text: TextFile) -> VertexSection:
    """Reads the vertices of a .node file, which contains nothing else."""
    vertices = parse_vertices(text, 0)
    text.expect_end(
        vertices.end, f"the {counted(vertices.count, 'vertex', 'vertices')} that line {text.line_of(0)} promises"
    )
    return vertices


def read_neighbour_file(path: Path, threads: int | None = None) -> NDArray[np.int32]:
    """Reads the (m, 3) neighbours of a .neigh file, -1 for none; raises FileError if a line is invalid."""
    return parse_neighbours(TextFile(path, threads)).table.indices


def read_edge_file(path: Path, threads: int | None = None) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
    """Reads the (e, 2) edges of a .edge file and their (e,) markers or None; raises FileError if a line is invalid.

    Vertex numbers are checked against the .node beside it, if there is one.
    """
    text = TextFile(path, threads)
    node = companion(path, ".node")
    if node.exists():
        numbering = _parse_node(TextFile(node, threads)).numbering
    else:
        numbering = any_vertex(text.first_number(1) if text.rows > 1 else 0)
    section = parse_segments(text, 0, numbering, "edge")
    text.expect_end(section.end, f"the {counted(section.count, 'edge')} that line {text.line_of(0)} promises")
    return section.table.indices, section.table.integers[:, 0] if section.table.integers.shape[1] else None


def parse_poly(text: TextFile, row: int, numbering: Numbering) -> Poly:
    """Parses the segments, holes and regions of a .poly file, starting at the header of its segments."""
    segments = parse_segments(text, row, numbering)
    holes = regions = None
    row = segments.end
    if row < text.rows:  # some programs omit the line with "0 holes"
        holes = parse_points(text, row, "holes", ("x", "y"))
        row = holes.end
    if row < text.rows:
        # As in Triangle, a region with a single number uses it both as its attribute and as its maximum area.
        regions = parse_points(text, row, "regions", ("x", "y", "attribute", "largest area"), optional=1)
        row = regions.end
    text.expect_end(row, "vertices, segments, holes and regions")
    return Poly(segments, holes, regions)


def _wanted(path: Path, ele: Path, companions: Collection[str] | None, role: str) -> Path | None:
    """Returns `path` if it is to be read with a mesh, else None.

    Raises:
        FileError: the file is requested, but does not exist.
    """
    if companions is None:
        return path if path.exists() else None
    if path.suffix.lower() not in companions:
        return None
    if not path.exists():
        raise MissingFileError(f"there is no {path.name} beside it, which would hold its {role}", ele)
    return path


def _companion_poly(path: Path, vertices: VertexSection, threads: int | None) -> Poly:
    """Reads the constraints of a mesh, and the holes and regions of its domain, from the .poly beside it.

    The file may repeat the first vertices of the mesh, or all of them.
    """
    text = TextFile(path, threads)
    own = parse_vertices(text, 0)
    if own.count and not np.array_equal(own.vertices, vertices.vertices[: own.count]):
        raise FileContentError(
            f"has {own.count} vertices of its own that are not the first ones of {vertices.text.path.name}, so "
            "its segments cannot be taken as constraints of the mesh; move or rename it",
            path,
        )
    poly = parse_poly(text, own.end, own.numbering if own.count else vertices.numbering)
    count = poly.segments.count
    log.info("%s: its %s of the mesh", path, counted(count, "segment is a constraint", "segments are the constraints"))
    return poly


def _companion_areas(path: Path, triangles: Section, threads: int | None) -> NDArray[np.float64]:
    bounds = parse_areas(TextFile(path, threads), triangles)
    log.info("%s: its %d area bounds are those of the triangles", path, len(bounds))
    return bounds


def _kept_vertices(vertices: VertexSection, triangles: Section, poly: Poly | None) -> NDArray[np.int64] | None:
    """The vertices of a second-order mesh, except those that occur only as points on edges."""
    if triangles.table.indices.shape[1] == 3:
        return None
    on_edge = np.zeros(vertices.count, bool)
    on_edge[triangles.table.indices[:, 3:]] = True
    on_edge[triangles.table.indices[:, :3]] = False
    if poly is not None:
        on_edge[poly.segments.table.indices] = False
    return np.flatnonzero(~on_edge)


def _markers(section: Section) -> NDArray[np.int32] | None:
    return section.table.integers[:, 0] if section.table.integers.shape[1] else None
