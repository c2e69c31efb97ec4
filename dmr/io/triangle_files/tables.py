"""Parses the sections of Triangle's files, each of which is a header line with counts, and a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dmr.common.text import counted
from dmr.errors import MissingFileError
from dmr.io.columns import Columns
from dmr.io.numbering import Numbering, find_numbering
from dmr.io.text import MOST_ROWS, Table, TextFile

CORNERS = ("corner 1", "corner 2", "corner 3", "edge point 1", "edge point 2", "edge point 3")

# The maximum number of columns of a table: enough for any use, and far below the limits of 32 bits.
MOST_COLUMNS = 2**24


@dataclass(frozen=True)
class Section:
    """A parsed table and its position: row k of the table is row `first_row + k` of `text`."""

    text: TextFile
    first_row: int
    table: Table

    @property
    def count(self) -> int:
        """The number of rows of the table."""
        return len(self.table.numbers)

    @property
    def end(self) -> int:
        """The row after the table."""
        return self.first_row + self.count


@dataclass(frozen=True)
class VertexSection(Section):
    """The vertices of a .node or .poly file."""

    numbering: Numbering
    marked: bool

    @property
    def vertices(self) -> NDArray[np.float64]:
        """(n, 2) coordinates."""
        return self.table.reals[:, :2]

    @property
    def attributes(self) -> NDArray[np.float64]:
        """(n, a) attributes."""
        return self.table.reals[:, 2:]

    @property
    def markers(self) -> NDArray[np.int32] | None:
        """(n,) markers, or None if the file has none."""
        return self.table.integers[:, 0] if self.marked else None


def parse_vertices(text: TextFile, row: int) -> VertexSection:
    """Parses the vertices whose header is in `row`.

    Raises:
        FileError: a line is invalid, the dimension is not 2, or two vertices have the same number.
    """
    names = ("vertices", "dimension", "attributes", "marker columns")
    count, dimension, attributes, marked = text.header(row, names, (2, 0, 0))
    if dimension != 2:
        raise text.fail(row, f"dimension is {dimension}: only meshes in the plane (dimension 2) can be read")
    _check_columns(text, row, attributes, marked)
    columns = Columns(
        entity="vertex",
        plural="vertices",
        real_names=("x", "y"),
        reals=2 + attributes,
        finite=2,
        integers=marked,
    )
    table = text.table(row + 1, count, columns)
    numbering, repeated = find_numbering(table.numbers, text.path)
    if repeated is not None:
        raise text.fail(row + 1 + repeated, f"vertex number {table.numbers[repeated]} was given before")
    return VertexSection(text, row + 1, table, numbering, bool(marked))


def parse_triangles(text: TextFile, numbering: Numbering) -> Section:
    """Parses the triangles of a .ele file; six indices each if it is of second order.

    Raises:
        FileError: a line is invalid, a corner is not a vertex, or a triangle names a vertex twice.
    """
    count, nodes, attributes = text.header(0, ("triangles", "nodes each", "attributes"), (3, 0))
    if nodes not in (3, 6):
        hint = " (four make a tetrahedron: only triangles can be read)" if nodes == 4 else ""
        raise text.fail(0, f"promises {nodes} nodes for each triangle, not 3 or 6{hint}")
    _check_columns(text, 0, attributes, 0)
    columns = Columns(
        entity="triangle",
        plural="triangles",
        index_names=CORNERS[:nodes],
        indices=nodes,
        distinct=3,
        reals=attributes,
    )
    table = text.table(1, count, columns, numbering)
    text.expect_end(1 + count, f"the {counted(count, 'triangle')} that line {text.line_of(0)} promises")
    return Section(text, 1, table)


def parse_segments(text: TextFile, row: int, numbering: Numbering, entity: str = "segment") -> Section:
    """Parses the segments of a .poly file, or the edges of a .edge file, whose header is in `row`."""
    count, marked = text.header(row, (f"{entity}s", "marker columns"), (0,))
    _check_columns(text, row, 0, marked)
    columns = Columns(
        entity=entity, plural=f"{entity}s", index_names=("first end", "second end"), indices=2, integers=marked
    )
    return Section(text, row + 1, text.table(row + 1, count, columns, numbering))


def parse_points(text: TextFile, row: int, plural: str, names: tuple[str, ...], optional: int = 0) -> Section:
    """Parses the holes or regions of a .poly file whose header is in `row`."""
    (count,) = text.header(row, (plural,), ())
    columns = Columns(
        entity=plural[:-1], plural=plural, real_names=names, reals=len(names), finite=2, optional_reals=optional
    )
    return Section(text, row + 1, text.table(row + 1, count, columns))


def parse_areas(text: TextFile, triangles: Section) -> NDArray[np.float64]:
    """Parses the area bounds of a .area file, one per triangle, in the same order.

    Raises:
        FileError: a line is invalid, or the number or order of the triangles differs from that of the .ele.
    """
    (count,) = text.header(0, ("triangles",), ())
    if count != triangles.count:
        raise text.fail(0, f"bounds {count} triangles, but {triangles.text.path.name} holds {triangles.count}")
    columns = Columns(entity="bound", plural="bounds", real_names=("area",), reals=1)
    table = text.table(1, count, columns)
    text.expect_end(1 + count, f"the {counted(count, 'bound')} that line {text.line_of(0)} promises")
    wrong = np.flatnonzero(table.numbers != triangles.table.numbers)
    if wrong.size:
        k = int(wrong[0])
        number, expected = table.numbers[k], triangles.table.numbers[k]
        raise text.fail(1 + k, f"bounds triangle {number}, but {triangles.text.path.name} has triangle {expected} here")
    return table.reals[:, 0]


def parse_neighbours(text: TextFile) -> Section:
    """Parses the neighbours of a .neigh file; -1 for none."""
    count, sides = text.header(0, ("triangles", "neighbours each"), (3,))
    if sides != 3:
        raise text.fail(0, f"promises {sides} neighbours for each triangle, not 3")
    base = text.first_number(1) if count and text.rows > 1 else 0
    columns = Columns(
        entity="triangle",
        plural="triangles",
        target="triangle",
        index_names=("neighbour 1", "neighbour 2", "neighbour 3"),
        indices=3,
        allow_none=True,
    )
    table = text.table(1, count, columns, Numbering(base, count))
    text.expect_end(1 + count, f"the {counted(count, 'triangle')} that line {text.line_of(0)} promises")
    wrong = np.flatnonzero(np.diff(table.numbers) != 1)
    if wrong.size:
        k = int(wrong[0]) + 1
        before, number = table.numbers[k - 1], table.numbers[k]
        raise text.fail(1 + k, f"triangle {number} follows triangle {before}: the numbers must be consecutive")
    return Section(text, 1, table)


def open_companion(path: Path, of: Path, role: str, threads: int | None) -> TextFile:
    """Opens a file that must exist beside another one.

    Raises:
        FileError: the file is missing; the message says what it should contain.
    """
    if not path.exists():
        raise MissingFileError(f"there is no {path.name} beside it, which would hold its {role}", of)
    return TextFile(path, threads)


def any_vertex(base: int) -> Numbering:
    """The numbering to use if no file gives the number of vertices."""
    return Numbering(base, MOST_ROWS)


def _check_columns(text: TextFile, row: int, attributes: int, marked: int) -> None:
    if attributes > MOST_COLUMNS:
        raise text.fail(row, f"promises {attributes} attributes, more than the {MOST_COLUMNS} that can be read")
    if marked > 1:
        raise text.fail(row, f"promises {marked} marker columns, not 0 or 1")
