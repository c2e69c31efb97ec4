"""Finds the file and line that an element of a mesh was read from."""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import whole_option, words
from dmr.errors import FileError, FolderError
from dmr.io.text import TextFile
from dmr.io.triangle_files.reading import Poly, load_mesh_files, parse_poly, parse_poly_vertices
from dmr.io.triangle_files.tables import Section, parse_vertices
from dmr.mesh.arguments import file_path
from dmr.mesh.naming import Numbers
from dmr.triangle.names import SUFFIXES, companion


def locate(
    path: str | os.PathLike[str], element: str, index: int | None, companions: Collection[str] | None = None
) -> tuple[Path, int | None]:
    """The file and the 1-based line that an element of a mesh or PSLG was read from.

    Reads the files again; intended for error reports.

    Args:
        path: the path that was passed to `read`.
        element: "vertex", "triangle" or "segment", as in `InvalidMeshError`; any other value gives the file alone.
        index: its 0-based index in the arrays.
        companions: as passed to `read`.

    Returns:
        The file (a companion of `path` if it contains the element) and the line. The line is None for other formats or
        elements, for an index out of range, and if the files are no longer readable.
    """
    path = file_path(path)
    companions = None if companions is None else words("companions", companions)
    index = None if index is None else whole_option("index", index)
    suffix = path.suffix.lower()
    if index is None or suffix not in SUFFIXES:
        return path, None
    try:
        if suffix == ".poly":
            section, row = _in_pslg(path, element, index)
        elif _is_alone(path, companions):
            section, row = (parse_vertices(TextFile(path), 0) if element == "vertex" else None), index
        elif suffix in (".ele", ".node"):
            section, row = _in_mesh(path, element, index, companions)
        else:
            return path, None
    except FileError:
        return path, None
    if section is None or not 0 <= row < section.count:
        return path, None
    return section.text.path, section.text.line_of(section.first_row + row)


def numbers_in(path: str | os.PathLike[str], companions: Collection[str] | None = None) -> Numbers:
    """A function from an element to its number in Triangle's files, for `dmr.mesh.naming`; other formats count from 0.

    Reads the files again, but only when a number is first requested, because messages that name an element are rare.

    Args:
        path: the path that was passed to `read`.
        companions: as passed to `read`.
    """

    path = file_path(path)
    companions = None if companions is None else words("companions", companions)

    @cache
    def tables() -> dict[str, NDArray[np.int64]]:
        try:
            return _number_columns(path, companions)
        except FileError:
            return {}

    def number(element: str, index: int) -> int:
        column = tables().get(element) if isinstance(element, str) else None
        index = whole_option("index", index)
        if column is None or not len(column) or index < 0:
            return index
        # Elements that are not in the file, such as a vertex where segments cross, continue its numbering.
        return int(column[index] if index < len(column) else int(column.max()) + 1 + index - len(column))

    return number


def numbering_base(path: str | os.PathLike[str], otherwise: int = 0) -> int:
    """The number of a file's first vertex, 0 or 1, so that output can be numbered in the same way.

    Args:
        path: a readable .node, .ele or .poly file; for other suffixes the result is 0.
        otherwise: the result if the first vertex has any other number.

    Raises:
        FileError: the file that contains the vertices cannot be read.
    """
    path = file_path(path)
    if path.suffix.lower() not in (".node", ".ele", ".poly"):
        return 0
    text = TextFile(vertex_file(path), threads=1)
    first = text.first_number(1) if text.rows > 1 else otherwise
    return first if first in (0, 1) else otherwise


def vertex_file(path: str | os.PathLike[str]) -> Path:
    """The file that holds the vertices of a .node, .ele or .poly file.

    Args:
        path: of any of these.

    Returns:
        The .poly if it lists vertices, otherwise the .node.

    Raises:
        FileError: a .poly file cannot be read.
    """
    path = file_path(path)
    if not path.name:
        raise FolderError("is a folder, not a file", path)
    own = path.suffix.lower() == ".poly" and TextFile(path, threads=1).tokens(0)[0] != b"0"
    return path if own else companion(path, ".node")


def _is_alone(path: Path, companions: Collection[str] | None) -> bool:
    """Whether a .node file is read as points alone, not as a mesh together with its .ele."""
    unwanted = companions is not None and ".ele" not in companions
    return path.suffix.lower() == ".node" and (unwanted or not companion(path, ".ele").exists())


def _number_columns(path: Path, companions: Collection[str] | None) -> dict[str, NDArray[np.int64]]:
    """Maps each kind of element to the numbers in the first column of its table."""
    suffix = path.suffix.lower()
    if suffix == ".poly":
        text = TextFile(path)
        vertices = parse_poly_vertices(text)
        poly = parse_poly(text, vertices.end if vertices.text is text else 1, vertices.numbering)
        return {"vertex": vertices.table.numbers, **_poly_columns(poly)}
    if _is_alone(path, companions):
        return {"vertex": parse_vertices(TextFile(path), 0).table.numbers}
    if suffix not in (".ele", ".node"):
        return {}
    files = load_mesh_files(path, companions=companions)
    numbers = files.vertices.table.numbers
    return {
        "vertex": numbers if files.kept is None else numbers[files.kept],
        "triangle": files.triangles.table.numbers,
        **({} if files.poly is None else _poly_columns(files.poly)),
    }


def _poly_columns(poly: Poly) -> dict[str, NDArray[np.int64]]:
    sections = {"segment": poly.segments, "hole": poly.hole_lines, "region": poly.region_lines}
    return {element: section.table.numbers for element, section in sections.items() if section is not None}


def _in_mesh(path: Path, element: str, index: int, companions: Collection[str] | None) -> tuple[Section | None, int]:
    files = load_mesh_files(path, companions=companions)
    if element == "vertex":
        if files.kept is None:
            return files.vertices, index
        return files.vertices, int(files.kept[index]) if 0 <= index < len(files.kept) else -1
    if element == "segment":
        return None if files.poly is None else files.poly.segments, index
    return files.triangles if element == "triangle" else None, index


def _in_pslg(path: Path, element: str, index: int) -> tuple[Section | None, int]:
    text = TextFile(path)
    vertices = parse_poly_vertices(text)
    if element == "vertex":
        return vertices, index
    if element not in ("segment", "hole", "region"):
        return None, index
    own = vertices if vertices.text is text else parse_vertices(text, 0)
    poly = parse_poly(text, own.end, vertices.numbering)
    return {"segment": poly.segments, "hole": poly.hole_lines, "region": poly.region_lines}[element], index
