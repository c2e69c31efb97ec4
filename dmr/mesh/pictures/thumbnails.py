"""Small pictures of meshes and graphs for notebooks, as SVG of bounded size, drawn without a library.

Coordinates are rounded to a grid, and what then coincides is drawn once; the grid is made coarser until few enough
lines are left (vertex clustering; Rossignac and Borrel, 1993). The background is white, so that dark lines are visible
in notebooks with a dark theme.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.errors import InvalidMeshError
from dmr.mesh.arrays import Float, GraphArrays, Int, MeshArrays
from dmr.mesh.edges import edge_places, unique_edges
from dmr.mesh.pictures.quantities import REGION_COLOURS
from dmr.mesh.shapes import bounding_box

WIDTH, HEIGHT = 360, 240  # pixels, the largest picture
UNITS = 4  # of the drawing per pixel
MARGIN = 3  # pixels
MOST_TRIANGLES = 5000  # whose edges are drawn
MOST_POINTS = 8000  # of each path; of all fills of regions together
MOST_REGIONS = 2**6  # that have a colour each; in a small picture more would be speckles

Grid = NDArray[np.int64]


class _Canvas(NamedTuple):
    """The size of a drawing, and its vertices in it, in units."""

    width: int
    height: int
    places: Grid


def page(picture: str, caption: str) -> str:
    """Returns a picture with a caption below it, as HTML."""
    return f"<figure style='margin:0'>{picture}<figcaption>{html.escape(caption)}</figcaption></figure>"


def picture_of_mesh(mesh: MeshArrays) -> str:
    """Returns a picture as SVG; an empty text if there is nothing to draw."""
    if not len(mesh.vertices):
        return ""
    canvas = _fitted(mesh.vertices)
    return _svg(canvas, _mesh(mesh, canvas.places))


def picture_of_graph(graph: GraphArrays) -> str:
    """Returns a picture as SVG, of the points if there are no segments; an empty text if there are no points."""
    if not len(graph.vertices):
        return ""
    canvas = _fitted(graph.vertices)
    if len(graph.segments):
        return _svg(canvas, [f'<path d="{_lines(canvas.places, graph.segments)}" stroke-width="4"/>'])
    return _svg(canvas, [f'<path d="{_dots(canvas.places)}" stroke-width="8" stroke-linecap="round"/>'])


def _svg(canvas: _Canvas, drawn: list[str]) -> str:
    width, height, _ = canvas
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width // UNITS}" height="{height // UNITS}" '
        f'viewBox="0 0 {width} {height}" fill="none" stroke="#1b2430" style="background:#fff">{"".join(drawn)}</svg>'
    )


def _mesh(mesh: MeshArrays, places: Grid) -> list[str]:
    """Draws the boundary, filled; the edges, if they are few; and the segments inside."""
    try:
        boundary = mesh.boundary
    except InvalidMeshError:  # overlapping triangles
        boundary = np.empty((0, 2), np.int32)
    fill = "#dbe6f0" if not (regions := _regions(mesh, places)) else "none"
    drawn = [*regions, f'<path d="{_outline(boundary, places)}" fill="{fill}" fill-rule="evenodd" stroke-width="4"/>']
    if len(mesh.triangles) <= MOST_TRIANGLES:
        drawn.append(f'<path d="{_lines(places, unique_edges(mesh)[0])}" stroke-width="2" stroke-opacity=".6"/>')
    sides = np.sort(boundary, axis=1)
    sides = sides[np.lexsort(sides.T[::-1])]
    inside = mesh.segments[edge_places(sides, mesh.segments, len(mesh.vertices)) < 0]
    if len(inside):
        drawn.append(f'<path d="{_lines(places, inside)}" stroke-width="4"/>')
    return drawn


def _regions(mesh: MeshArrays, places: Grid) -> list[str]:
    """Fills each region with its colour, as pictures of `dmr.view` do; draws nothing for one region, or for many."""
    attributes = mesh.triangle_attributes
    if attributes is None or not attributes.shape[1] or not len(mesh.triangles):
        return []
    found, region = np.unique(attributes[:, 0], return_inverse=True)
    if not 1 < len(found) <= MOST_REGIONS:
        return []
    try:
        neighbours = mesh.neighbours
    except InvalidMeshError:  # overlapping triangles
        return []
    triangle, edge = np.nonzero((neighbours < 0) | (region[neighbours] != region[:, None]))
    borders = np.stack([mesh.triangles[triangle, (edge + k) % 3] for k in (1, 2)], axis=1)
    drawn = []
    for number in range(len(found)):
        border = borders[region[triangle] == number]
        colour = "".join(f"{channel:02x}" for channel in REGION_COLOURS[number % len(REGION_COLOURS)])
        path = _outline(border, places, MOST_POINTS // len(found))
        drawn.append(f'<path d="{path}" fill="#{colour}" fill-rule="evenodd" stroke="none"/>')
    return drawn


def _fitted(vertices: Float) -> _Canvas:
    """Scales the bounding box of vertices into the largest picture; y points down there."""
    low_x, low_y, high_x, high_y = (coordinate / 2 for coordinate in bounding_box(vertices))  # against overflow
    space = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN]) * UNITS
    extent = np.array([high_x - low_x, high_y - low_y])
    with np.errstate(divide="ignore"):
        scale = float((space / extent).min()) if extent.any() else 1.0
    places = np.rint((vertices / 2 - (low_x, low_y)) * scale).astype(np.int64)
    width, height = np.rint(extent * scale).astype(np.int64) + 2 * MARGIN * UNITS
    places[:, 0] += MARGIN * UNITS
    places[:, 1] = height - MARGIN * UNITS - places[:, 1]
    return _Canvas(int(width), int(height), places)


def _outline(boundary: Int, places: Grid, most: int = MOST_POINTS) -> str:
    """Returns the path of a boundary, as closed polylines of at most `most` points."""
    loops = [places[loop] for loop in _loops(boundary)]
    for cell in _cells():
        paths = [_without_straight(_without_repetitions(_rounded(loop, cell))) for loop in loops]
        paths = [path for path in paths if len(path) > 3]
        if sum(map(len, paths)) <= most:
            break
    return "".join(f"{_moves(path)}z" for path in paths)


def _loops(boundary: Int) -> Iterator[list[int]]:
    """Yields closed walks along the directed edges of a boundary; each vertex has as many edges out as in."""
    onward: dict[int, list[int]] = {}
    for start, end in boundary.tolist():
        onward.setdefault(start, []).append(end)
    while onward:
        loop = [next(iter(onward))]
        while ends := onward.get(loop[-1]):
            start = loop[-1]
            loop.append(ends.pop())
            if not ends:
                del onward[start]
        yield loop


def _lines(places: Grid, edges: Int) -> str:
    """Returns the path of separate lines."""
    for cell in _cells():
        ends = _rounded(places, cell)[edges].reshape(-1, 4)
        ends = np.unique(ends[(ends[:, :2] != ends[:, 2:]).any(axis=1)], axis=0)
        if len(ends) <= MOST_POINTS:
            break
    return "".join(f"M{x} {y}l{u - x} {v - y}" for x, y, u, v in ends.tolist())


def _dots(places: Grid) -> str:
    """Returns the path of dots, as lines without length: of all points, or of some at equal intervals of their list."""
    found = np.unique(places[:: -(-len(places) // MOST_POINTS)], axis=0)
    return "".join(f"M{x} {y}h0" for x, y in found.tolist())


def _cells() -> Iterator[int]:
    """Yields the sides of the grid's cells, ever larger, until the picture is one cell."""
    cell = 1
    while cell < 2 * UNITS * WIDTH:
        yield cell
        cell = cell * 3 // 2 + cell % 2  # 1, 2, 3, 5, 8, 12, ...


def _rounded(places: Grid, cell: int) -> Grid:
    """Moves places to the centers of the cells that contain them."""
    return places // cell * cell + cell // 2


def _without_repetitions(path: Grid) -> Grid:
    changes = np.ones(len(path), bool)
    changes[1:] = (path[1:] != path[:-1]).any(axis=1)
    return path[changes]


def _without_straight(path: Grid) -> Grid:
    """Leaves out points at which a polyline goes straight on."""
    steps = np.diff(path, axis=0)
    (x, y), (u, v) = steps[:-1].T, steps[1:].T
    turns = np.ones(len(path), bool)
    turns[1:-1] = (x * v != y * u) | (x * u + y * v < 0)
    return path[turns]


def _moves(path: Grid) -> str:
    """Formats a polyline: absolute start, relative steps."""
    (x, y), steps = path[0], np.diff(path, axis=0)
    return f"M{x} {y}l" + " ".join(f"{dx} {dy}" for dx, dy in steps.tolist())
