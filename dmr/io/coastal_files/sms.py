"""`.2dm`, the mesh file of SMS (Aquaveo, "2D Mesh Files *.2dm"): one card per line.

MESH2D
ND id x y z                      a node; z is the elevation
E3T id n1 n2 n3 material         a triangle
NS n1 n2 ... -nk id              a node string, at most ten nodes per line; the last node is negative
MAT id "name"                    the name of a material
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dmr.common.files.replacing import replace_files, write_bytes
from dmr.errors import FileContentError, mesh_from_file
from dmr.io.coastal_files.chains import segment_chains
from dmr.io.coastal_files.lines import Line, Numbering, nodes_of, numbers_in, read_lines, whole_numbers_in
from dmr.io.coastal_files.losses import elevations, regions_of, warn_of_losses
from dmr.io.meshio_files.names import comment_of, table_in
from dmr.mesh.names import REGIONS, Names, is_name, no_names
from dmr.mesh.types import Int, Mesh

_NODES_PER_LINE = 10
_OTHER_ELEMENTS = (b"E2L", b"E3L", b"E6T", b"E4Q", b"E8Q", b"E9Q")
_MATERIAL = re.compile(rb'MAT\s+(-?\d{1,9})\s+"?([^"]*?)"?\s*')


def read_sms(path: Path) -> Mesh:
    """Reads the mesh; materials are triangle attribute 0, elevations vertex attribute 0, unless they are 0 everywhere.

    Node strings become segments. Their markers are their ids; strings without one are numbered in their order.

    Raises:
        FileError: the file cannot be read, or holds elements other than triangles; names the line.
    """
    lines = read_lines(path)
    if lines[0].split() != [b"MESH2D"]:
        raise FileContentError("does not begin with MESH2D: it is not a .2dm file of SMS", path, 1)
    cards: dict[bytes, list[Line]] = {b"ND": [], b"E3T": [], b"NS": [], b"MAT": []}
    for number, line in enumerate(lines[1:], start=2):
        card = line[:4].split(None, 1)[0] if line.strip() else b""
        if card in cards:
            cards[card].append((number, line if card == b"MAT" else line.split(None, 1)[-1]))
        elif card in _OTHER_ELEMENTS:
            raise FileContentError(f"holds an element {card.decode()}: only triangles, E3T, can be read", path, number)
    nodes = cards[b"ND"]
    if not nodes:
        raise FileContentError("holds no nodes", path)
    table = numbers_in(nodes, ("node", "x", "y", "z"), path)
    numbering = Numbering(whole_numbers_in(nodes, ("node",), path)[:, 0], nodes, path)
    triangles, materials = _elements(cards[b"E3T"], numbering, path)
    segments, markers = _strings(cards[b"NS"], numbering, path)
    with mesh_from_file(path):
        return Mesh(
            **nodes_of(table),
            triangles=triangles,
            segments=segments,
            segment_markers=markers,
            triangle_attributes=materials[:, None].astype(np.float64) if materials.any() else None,
            names=table_in(b"\n".join(lines[:10])) or _materials(cards[b"MAT"]),
        )


def _elements(lines: list[Line], numbering: Numbering, path: Path) -> tuple[Int, NDArray[np.int64]]:
    """The triangles, and their materials, which elements may lack."""
    columns = ("element", "corner 1", "corner 2", "corner 3")
    with_materials = bool(lines) and all(len(line.split()) > len(columns) for _, line in lines)
    table = whole_numbers_in(lines, (*columns, "material") if with_materials else columns, path)
    materials = table[:, 4] if with_materials else np.zeros(len(table), np.int64)
    return numbering.rows_of(table[:, 1:4], lines), materials


def _strings(lines: list[Line], numbering: Numbering, path: Path) -> tuple[Int, Int]:
    """The segments of node strings, and their markers."""
    tables, markers = [np.empty((0, 2), np.int32)], [np.empty(0, np.int32)]
    chain: list[int] = []
    for number, line in lines:
        names = [f"node {k}" for k in range(1, len(line.split()) + 1)]
        numeric = next((k for k, field in enumerate(line.split()) if not re.fullmatch(rb"[+-]?\d+", field)), len(names))
        values = whole_numbers_in([(number, line)], names[:numeric], path)[0].tolist() if numeric else []
        last = next((k for k, value in enumerate(values) if value < 0), None)
        chain += values if last is None else values[:last]
        if last is None:
            if numeric < len(names):
                raise FileContentError("the node string has a field that is not a whole number", path, number)
            continue
        vertices = numbering.rows_of(np.array([[*chain, -values[last]]]), [(number, line)])[0]
        marker = values[last + 1] if last + 1 < len(values) else len(markers)
        tables.append(np.column_stack([vertices[:-1], vertices[1:]]))
        markers.append(np.full(len(vertices) - 1, marker, np.int32))
        chain = []
    if chain:
        raise FileContentError("the node string does not end with a negative number", path, lines[-1][0])
    return np.concatenate(tables), np.concatenate(markers)


def _materials(lines: list[Line]) -> Names:
    names = no_names()
    for _, line in lines:
        match = _MATERIAL.fullmatch(line)
        name = match[2].decode("utf-8", "replace") if match else ""
        if match and is_name(name) and name not in names[REGIONS].values():
            names[REGIONS].setdefault(int(match[1]), name)
    return names


def write_sms(path: Path, mesh: Mesh, *, overwrite: bool) -> list[Path]:
    """Writes the mesh: vertex attribute 0 as elevation, triangle attribute 0 as material, segments as node strings.

    Raises:
        FileError: the file cannot be written.
        InvalidMeshError: an elevation is not finite.
    """
    warn_of_losses(path, mesh, regions=True)
    data = "".join(_cards(mesh)).encode()
    return replace_files([(path, lambda file: write_bytes(file, data))], overwrite=overwrite)


def _cards(mesh: Mesh) -> Iterator[str]:
    regions = regions_of(mesh)
    materials = np.zeros(len(mesh.triangles), np.int32) if regions is None else regions
    assert mesh.segment_markers is not None
    yield "MESH2D\n"
    if any(mesh.names.values()):
        yield f"# {comment_of(mesh.names)}\n"
    yield "NUM_MATERIALS_PER_ELEM 1\n"
    rows = zip((mesh.triangles + 1).tolist(), materials.tolist(), strict=True)
    yield from (f"E3T {k} {a} {b} {c} {material}\n" for k, ((a, b, c), material) in enumerate(rows, start=1))
    points = zip(mesh.vertices.tolist(), elevations(mesh).tolist(), strict=True)
    yield from (f"ND {k} {x!r} {y!r} {z!r}\n" for k, ((x, y), z) in enumerate(points, start=1))
    for marker, chain in segment_chains(mesh.segments, mesh.segment_markers):
        numbers = [str(vertex + 1) for vertex in chain]
        numbers[-1] = f"-{numbers[-1]} {marker}"
        for k in range(0, len(numbers), _NODES_PER_LINE):
            yield f"NS {' '.join(numbers[k : k + _NODES_PER_LINE])}\n"
    if mesh.names[REGIONS]:
        yield "BEG2DMBC\n"
        yield from (f'MAT {number} "{name}"\n' for number, name in mesh.names[REGIONS].items())
        yield "END2DMBC\n"
