"""`fort.14`, the grid and boundary file of ADCIRC (ADCIRC User's Manual, "Grid and Boundary Information File").

    title
    NE NP                            number of elements and of nodes
    JN X Y DP                        a node: number, coordinates, depth
    JE 3 NM1 NM2 NM3                 an element: number, its nodes counter-clockwise
    NOPE / NETA                      number of open boundaries, and of nodes on them
    NVDLL, then its nodes            for each open boundary
    NBOU / NVEL                      likewise for land boundaries and islands
    NVELL IBTYPE, then its nodes

Boundaries run along the edge of the mesh with the mesh on their left. ADCIRC reads only the numbers that it needs of a
line: what follows them is a comment, which holds markers and names here.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dmr.common.files.replacing import replace_files, write_bytes
from dmr.common.text import counted
from dmr.errors import FileContentError, InvalidMeshError, mesh_from_file
from dmr.io.coastal_files.chains import Chain, boundary_chains, is_clockwise
from dmr.io.coastal_files.lines import Line, Numbering, nodes_of, numbers_in, read_lines, whole_numbers_in
from dmr.io.coastal_files.losses import elevations, warn_of_losses
from dmr.mesh.edges import edge_places
from dmr.mesh.names import MARKERS, free_number, is_name
from dmr.mesh.types import Int, Mesh

log = logging.getLogger("dmr.io")

MAINLAND, ISLAND = 20, 21  # no flow across them, as a natural boundary condition
_ISLANDS = (1, 11, 21)  # closed: ADCIRC adds the first node to the end
_TWO_SIDED = (4, 5, 24, 25)  # a barrier: each node has one on the other side
_WITH_HEIGHTS = (3, 13, 23, *_TWO_SIDED, 64)
_OPEN = re.compile("open|ocean", re.IGNORECASE)
_TYPE = re.compile(r".*\btype (\d{1,9})")
_MARKER = re.compile(rb'=\s*marker (-?\d{1,10})(?!\d)(?: "([^"]*)")?')


class _Reader:
    """The lines of a file, one after another."""

    def __init__(self, path: Path) -> None:
        lines = read_lines(path)
        self.path = path
        self._lines = [(k, line) for k, line in enumerate(lines[1:], start=2) if line.strip()]
        self._next, self._end = 0, len(lines)

    def take(self, count: int, what: str) -> list[Line]:
        """The next lines; raises FileError if there are fewer."""
        if count > len(self._lines) - self._next:
            raise FileContentError(f"the file ends before its {what}", self.path, self._end)
        self._next += count
        return self._lines[self._next - count : self._next]

    def counts(self, names: Sequence[str]) -> tuple[list[int], Line]:
        """Numbers that are not negative, in the next line, and this line."""
        lines = self.take(1, names[0])
        values = whole_numbers_in(lines, names, self.path)[0].tolist()
        if min(values) < 0:
            raise FileContentError(f"the {names[values.index(min(values))]} is negative", self.path, lines[0][0])
        return values, lines[0]

    @property
    def at_end(self) -> bool:
        """Whether no lines are left."""
        return self._next == len(self._lines)


def read_adcirc(path: Path) -> Mesh:
    """Reads the grid, with the depth as vertex attribute 0 unless it is 0 everywhere, and the boundaries as segments.

    Raises:
        FileError: the file cannot be read; names the line.
    """
    reader = _Reader(path)
    (elements, nodes), _ = reader.counts(("number of elements", "number of nodes"))
    lines = reader.take(nodes, "nodes")
    table = numbers_in(lines, ("node", "x", "y", "depth"), path)
    numbering = Numbering(whole_numbers_in(lines, ("node",), path)[:, 0], lines, path)
    lines = reader.take(elements, "elements")
    corners = whole_numbers_in(lines, ("element", "number of corners", "corner 1", "corner 2", "corner 3"), path)
    wrong = np.flatnonzero(corners[:, 1] != 3)
    if wrong.size:
        row = int(wrong[0])
        raise FileContentError(f"the element has {corners[row, 1]} corners, not 3", path, lines[row][0])
    triangles = numbering.rows_of(corners[:, 2:], lines)
    segments, markers, names = _read_boundaries(reader, numbering)
    with mesh_from_file(path):
        return Mesh(
            **nodes_of(table),
            triangles=triangles,
            segments=segments,
            segment_markers=markers,
            names={MARKERS: names},
        )


def _read_boundaries(reader: _Reader, numbering: Numbering) -> tuple[Int, Int, dict[int, str]]:
    """Segments, their markers, and the names of markers."""
    found = list(_boundaries(reader, numbering))
    stored = [_stored_marker(head) for _, _, head in found]
    given = {marker for marker, _ in filter(None, stored)}
    names: dict[int, str] = {}
    tables, markers = [np.empty((0, 2), np.int32)], [np.empty(0, np.int32)]
    for (numbered, chains, _), comment in zip(found, stored, strict=True):
        marker, name = comment or (free_number({*given, *names}), numbered)
        if marker and is_name(name) and name not in names.values():
            names.setdefault(marker, name)
        for chain in chains:
            tables.append(np.column_stack([chain[:-1], chain[1:]]))
            markers.append(np.full(len(chain) - 1, marker, np.int32))
    return np.concatenate(tables), np.concatenate(markers), names


def _stored_marker(head: bytes) -> tuple[int, str] | None:
    """The marker and the name in the comment of a boundary; None if there is no marker of 32 bits."""
    match = _MARKER.search(head)
    if match is None or not -(2**31) <= int(match[1]) < 2**31:
        return None
    return int(match[1]), (match[2] or b"").decode("utf-8", "replace")


def _boundaries(reader: _Reader, numbering: Numbering) -> Iterator[tuple[str, list[Int], bytes]]:
    """Yields for each boundary a name, its chains of vertices, and the line with its number of nodes."""
    if reader.at_end:
        log.info("%s: has no boundaries", reader.path)
        return
    heights = 0
    for kind in ("open", "land"):
        (boundaries,), _ = reader.counts((f"number of {kind} boundaries",))
        reader.counts((f"number of nodes on {kind} boundaries",))
        for k in range(1, boundaries + 1):
            columns = (f"number of nodes of {kind} boundary {k}", *(("type",) if kind == "land" else ()))
            (count, *types), head = reader.counts(columns)
            ibtype = types[0] if types else -1
            lines = reader.take(count, f"{count} nodes of {kind} boundary {k}")
            sides = ("node", "node on the other side") if ibtype in _TWO_SIDED else ("node",)
            chains = list(numbering.rows_of(whole_numbers_in(lines, sides, reader.path), lines).T)
            if ibtype in _ISLANDS and count and chains[0][0] != chains[0][-1]:
                chains = [np.append(chain, chain[:1]) for chain in chains]
            heights += ibtype in _WITH_HEIGHTS
            yield f"open {k}" if kind == "open" else f"land {k} type {ibtype}", chains, head[1]
    if heights:
        log.warning("%s: the heights of %s are not kept", reader.path, counted(heights, "barrier"))


def write_adcirc(path: Path, mesh: Mesh, *, overwrite: bool) -> list[Path]:
    """Writes the grid, with vertex attribute 0 as depth, and the whole boundary as open and land boundaries.

    A marker whose name begins with "open" or "ocean" is an open boundary. Others are land: of the type n if the name
    ends with "type <n>", otherwise of type 21 around a hole, and 20 elsewhere.

    Raises:
        FileError: the file cannot be written.
        InvalidMeshError: an edge has two triangles on one side, a depth is not finite, or a boundary has a type that
            needs heights.
    """
    names = mesh.names[MARKERS]
    chains = boundary_chains(mesh)
    warn_of_losses(path, mesh, segments=_inner_segments(mesh, chains))
    if mesh.vertex_attributes is None or not mesh.vertex_attributes.shape[1]:
        log.warning("%s: the mesh has no vertex attribute: all depths are 0", path)
    text = [f"{path.stem}\n{len(mesh.triangles)} {len(mesh.vertices)}\n"]
    places, depths = mesh.vertices.tolist(), elevations(mesh).tolist()
    text += [f"{k} {x!r} {y!r} {z!r}\n" for k, ((x, y), z) in enumerate(zip(places, depths, strict=True), start=1)]
    text += [f"{k} 3 {a} {b} {c}\n" for k, (a, b, c) in enumerate((mesh.triangles + 1).tolist(), start=1)]
    opened = [chain for chain in chains if _OPEN.match(names.get(chain[0], ""))]
    text += _listed("open", [("", chain) for chain in opened], names)
    land = []
    for marker, vertices in (chain for chain in chains if not _OPEN.match(names.get(chain[0], ""))):
        ibtype = _type(mesh, names.get(marker, ""), vertices)
        kept = vertices[:-1] if ibtype in _ISLANDS and vertices[0] == vertices[-1] else vertices
        land.append((f" {ibtype}", (marker, kept)))
    text += _listed("land", land, names)
    data = "".join(text).encode()
    return replace_files([(path, lambda file: write_bytes(file, data))], overwrite=overwrite)


def _listed(kind: str, boundaries: list[tuple[str, Chain]], names: dict[int, str]) -> Iterator[str]:
    """The lines of all boundaries of a kind; each comes with the text after its number of nodes."""
    yield f"{len(boundaries)} = number of {kind} boundaries\n"
    yield f"{sum(len(vertices) for _, (_, vertices) in boundaries)} = number of nodes on them\n"
    for more, (marker, vertices) in boundaries:
        name = f' "{names[marker]}"' if marker in names else ""
        yield f"{len(vertices)}{more} = marker {marker}{name}\n"
        yield from (f"{vertex + 1}\n" for vertex in vertices)


def _type(mesh: Mesh, name: str, vertices: list[int]) -> int:
    match = _TYPE.fullmatch(name)
    if match is None:
        return ISLAND if vertices[0] == vertices[-1] and is_clockwise(mesh, vertices) else MAINLAND
    if int(match[1]) in _WITH_HEIGHTS:
        raise InvalidMeshError(
            f"the boundary {name!r} is a barrier, and a mesh has no heights for it: give it another name"
        )
    return int(match[1])


def _inner_segments(mesh: Mesh, chains: list[Chain]) -> int:
    """The number of segments that are not on the boundary."""
    ends: NDArray[np.int32] = np.concatenate(
        [np.empty((0, 2), np.int32), *(np.column_stack([each[:-1], each[1:]]) for _, each in chains)]
    ).astype(np.int32)
    ends.sort(axis=1)
    ends = ends[np.lexsort(ends.T[::-1])]
    return int((edge_places(ends, mesh.segments, len(mesh.vertices)) < 0).sum())
