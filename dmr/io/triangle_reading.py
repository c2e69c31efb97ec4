"""Reading Triangle's files: which ones belong together, and what becomes of them.

The .ele file is opened first and checked last. `write` removes an old .ele before it touches anything else, and puts
the new one in place when all else is there: an unchanged .ele means that the files read are of one and the same mesh.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dmr.errors import FileError
from dmr.io.names import companion
from dmr.io.numbering import Numbering
from dmr.io.text import TextFile
from dmr.io.triangle_tables import (
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
from dmr.meshes import Mesh, Pslg

log = logging.getLogger("dmr.io")


@dataclass(frozen=True)
class _Poly:
    """What follows the vertices in a .poly file."""

    segments: Section
    holes: NDArray[np.float64]
    regions: NDArray[np.float64]


@dataclass(frozen=True)
class MeshFiles:
    """What a .ele and its companions hold, with the places of everything.

    `kept` are the vertices that stay: None for all; without the points on edges where the mesh is of second order.
    """

    vertices: VertexSection
    triangles: Section
    segments: Section | None
    area_bounds: NDArray[np.float64] | None
    kept: NDArray[np.int64] | None


def read_mesh(path: Path, threads: int | None = None) -> Mesh:
    """The mesh of a .ele or .node file and those beside it: both, and .poly and .area where there are any.

    Raises:
        FileError: a file is missing, or a line is wrong.
    """
    files = load_mesh_files(path, threads)
    vertices, kept = files.vertices, files.kept
    corners = files.triangles.table.indices[:, :3]
    segments = np.empty((0, 2), np.int32) if files.segments is None else files.segments.table.indices
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
        segment_markers=None if files.segments is None else _markers(files.segments),
        vertex_markers=markers,
        vertex_attributes=attributes,
        triangle_attributes=files.triangles.table.reals,
        area_bounds=files.area_bounds,
    )


def load_mesh_files(path: Path, threads: int | None = None) -> MeshFiles:
    """Reads a .ele or .node and the files beside it; see `read_mesh`."""
    ele, node = companion(path, ".ele"), companion(path, ".node")
    from_ele = path.suffix.lower() == ".ele"
    ele_text = TextFile(ele, threads) if from_ele or ele.exists() else None
    node_text = open_companion(node, ele, "vertices", threads) if from_ele else TextFile(node, threads)
    vertices = _parse_node(node_text)
    if ele_text is None:
        raise FileError(f"there is no {ele.name} beside it, which would hold its triangles", node)
    try:
        triangles = parse_triangles(ele_text, vertices.numbering)
        segments = _companion_segments(companion(path, ".poly"), vertices, threads)
        area_bounds = _companion_areas(companion(path, ".area"), triangles, threads)
    finally:
        ele_text.check_unchanged()  # also where something is wrong: of a mixture, anything may be
    if not vertices.numbering.consecutive:
        log.info("%s: vertex numbers have gaps or are out of order; vertices are taken in the file's order", node)
    return MeshFiles(vertices, triangles, segments, area_bounds, _kept_vertices(vertices, triangles, segments))


def read_pslg(path: Path, threads: int | None = None) -> Pslg:
    """The planar straight-line graph of a .poly file; its vertices come from the .node beside it where it has none.

    Raises:
        FileError: a file is missing, or a line is wrong.
    """
    text = TextFile(path, threads)
    vertices = parse_poly_vertices(text, threads)
    poly = _parse_poly(text, vertices.end if vertices.text is text else 1, vertices.numbering)
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
    """The vertices of a .poly file: its own, or those of the .node beside it."""
    vertices = parse_vertices(text, 0)
    if vertices.count:
        return vertices
    node = open_companion(companion(text.path, ".node"), text.path, "vertices", threads)
    log.info("%s: vertices are read from %s", text.path, node.path.name)
    return _parse_node(node)


def _parse_node(text: TextFile) -> VertexSection:
    """The vertices of a .node file, which holds nothing else."""
    vertices = parse_vertices(text, 0)
    text.expect_end(vertices.end, f"the {vertices.count} vertices that line {text.line_of(0)} promises")
    return vertices


def read_neighbour_file(path: Path, threads: int | None = None) -> NDArray[np.int32]:
    """(m, 3) neighbours of a .neigh file, -1 where there is none; FileError where a line is wrong."""
    return parse_neighbours(TextFile(path, threads)).table.indices


def read_edge_file(path: Path, threads: int | None = None) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
    """(e, 2) edges of a .edge file and their (e,) markers (None without); FileError where a line is wrong.

    Vertex numbers are checked against the .node beside it where there is one.
    """
    text = TextFile(path, threads)
    node = companion(path, ".node")
    if node.exists():
        numbering = _parse_node(TextFile(node, threads)).numbering
    else:
        numbering = any_vertex(text.first_number(1) if text.rows > 1 else 0)
    section = parse_segments(text, 0, numbering, "edge")
    text.expect_end(section.end, f"the {section.count} edges that line {text.line_of(0)} promises")
    return section.table.indices, section.table.integers[:, 0] if section.table.integers.shape[1] else None


def _parse_poly(text: TextFile, row: int, numbering: Numbering) -> _Poly:
    """The segments, holes and regions of a .poly file, from the header of its segments on."""
    segments = parse_segments(text, row, numbering)
    holes, regions, row = np.empty((0, 2)), np.empty((0, 4)), segments.end
    if row < text.rows:  # programs are seen to leave out the line that says "0 holes"
        section = parse_points(text, row, "holes", ("x", "y"))
        holes, row = section.table.reals, section.end
    if row < text.rows:
        # As in Triangle, a region's single number is both its attribute and its largest area.
        section = parse_points(text, row, "regions", ("x", "y", "attribute", "largest area"), optional=1)
        regions, row = section.table.reals, section.end
    text.expect_end(row, "vertices, segments, holes and regions")
    return _Poly(segments, holes, regions)


def _companion_segments(path: Path, vertices: VertexSection, threads: int | None) -> Section | None:
    """The constraints of a mesh from the .poly beside it, if there is one.

    It may repeat vertices: the first ones of the mesh, or all of them.
    """
    if not path.exists():
        return None
    text = TextFile(path, threads)
    own = parse_vertices(text, 0)
    if own.count and not np.array_equal(own.vertices, vertices.vertices[: own.count]):
        raise FileError(
            f"has {own.count} vertices of its own that are not the first ones of {vertices.text.path.name}, so that "
            "its segments cannot be taken as constraints of the mesh; move or rename it",
            path,
        )
    segments = _parse_poly(text, own.end, own.numbering if own.count else vertices.numbering).segments
    log.info("%s: its %d segments are the constraints of the mesh", path, segments.count)
    return segments


def _companion_areas(path: Path, triangles: Section, threads: int | None) -> NDArray[np.float64] | None:
    if not path.exists():
        return None
    bounds = parse_areas(TextFile(path, threads), triangles)
    log.info("%s: its %d area bounds are those of the triangles", path, len(bounds))
    return bounds


def _kept_vertices(vertices: VertexSection, triangles: Section, segments: Section | None) -> NDArray[np.int64] | None:
    """Of a second-order mesh, all vertices but those that are only ever points on an edge."""
    if triangles.table.indices.shape[1] == 3:
        return None
    on_edge = np.zeros(vertices.count, bool)
    on_edge[triangles.table.indices[:, 3:]] = True
    on_edge[triangles.table.indices[:, :3]] = False
    if segments is not None:
        on_edge[segments.table.indices] = False
    return np.flatnonzero(~on_edge)


def _markers(section: Section) -> NDArray[np.int32] | None:
    return section.table.integers[:, 0] if section.table.integers.shape[1] else None
