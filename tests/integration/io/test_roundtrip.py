"""Files are read back to the last bit, and their bytes do not depend on threads."""

from __future__ import annotations

import hashlib
import math
import struct
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dmr.errors import FileError, OptionError
from dmr.io import native, next_name, numbering_base, read, read_edges, read_neighbours, write
from dmr.io.text import TextFile
from dmr.io.triangle_files.tables import parse_triangles, parse_vertices
from dmr.mesh.types import Mesh, Pslg

SETTINGS = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
markers = st.integers(-(2**31), 2**31 - 1)


def same(a: Mesh | Pslg, b: Mesh | Pslg) -> bool:
    """Equal in every field, NaN and the sign of zero included."""
    assert type(a) is type(b)
    for field in fields(a):
        left, right = getattr(a, field.name), getattr(b, field.name)
        if field.name == "names":
            if left != right:
                return False
            continue
        if (left is None) != (right is None):
            return False
        if left is not None and (left.shape != right.shape or left.tobytes() != right.tobytes()):
            return False
    return True


@st.composite
def meshes(draw: st.DrawFn) -> Mesh:
    """Meshes with arbitrary numbers: readers do not check geometry."""
    n = draw(st.integers(3, 12))
    m = draw(st.integers(0, 6))
    s = draw(st.integers(0, 3))
    corners = st.permutations(range(n)).map(lambda order: order[:3])

    def column(values: st.SearchStrategy[object], count: int, columns: int) -> np.ndarray:
        rows = draw(st.lists(st.lists(values, min_size=columns, max_size=columns), min_size=count, max_size=count))
        return np.array(rows, dtype=float).reshape(count, columns)

    return Mesh(
        column(finite, n, 2),
        np.array([draw(corners) for _ in range(m)], np.int32).reshape(m, 3),
        segments=np.array([draw(corners)[:2] for _ in range(s)], np.int32).reshape(s, 2),
        segment_markers=np.array([draw(markers) for _ in range(s)], np.int32),
        vertex_markers=np.array([draw(markers) for _ in range(n)], np.int32) if draw(st.booleans()) else None,
        vertex_attributes=column(finite, n, draw(st.integers(0, 3))),
        triangle_attributes=column(finite, m, draw(st.integers(0, 2))),
        area_bounds=column(finite, m, 1)[:, 0] if draw(st.booleans()) else None,
        holes=column(finite, draw(st.integers(0, 2)), 2),
        regions=column(finite, draw(st.integers(0, 2)), 4),
    )


def grid(n: int, seed: int = 1) -> Mesh:
    """A mesh of 2 (n - 1)^2 triangles with random coordinates, and all fields filled."""
    random = np.random.default_rng(seed)
    index = np.arange(n * n, dtype=np.int32).reshape(n, n)
    a, b, c, d = (part.ravel() for part in (index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]))
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    return Mesh(
        random.standard_normal((n * n, 2)) * 10.0 ** random.integers(-12, 12, (n * n, 1)),
        triangles,
        segments=np.stack([index[0, :-1], index[0, 1:]], 1),
        segment_markers=random.integers(-9, 9, n - 1).astype(np.int32),
        vertex_markers=random.integers(0, 2, n * n).astype(np.int32),
        vertex_attributes=random.random((n * n, 2)),
        triangle_attributes=random.integers(0, 5, (len(triangles), 1)).astype(float),
        area_bounds=random.random(len(triangles)),
    )


@pytest.mark.slow
@SETTINGS
@given(mesh=meshes(), base=st.sampled_from([0, 1]))
def test_meshes_come_back_to_the_bit(mesh: Mesh, base: int, tmp_path: Path) -> None:
    for name in ("a.ele", "a.npz"):
        path = tmp_path / name
        write(path, mesh, base=base)
        assert same(read(path), mesh)
    assert numbering_base(tmp_path / "a.ele") == base


@pytest.mark.slow
@SETTINGS
@given(mesh=meshes(), base=st.sampled_from([0, 1]), data=st.data())
def test_pslgs_come_back_to_the_bit(mesh: Mesh, base: int, data: st.DataObject, tmp_path: Path) -> None:
    points = st.lists(st.tuples(finite, finite, finite, finite), max_size=3)
    graph = Pslg(
        mesh.vertices,
        mesh.segments,
        holes=np.array(data.draw(points), float).reshape(-1, 4)[:, :2],
        regions=np.array(data.draw(points), float).reshape(-1, 4),
        segment_markers=mesh.segment_markers,
        vertex_markers=mesh.vertex_markers,
        vertex_attributes=mesh.vertex_attributes,
    )
    for name in ("a.poly", "b.npz"):
        write(tmp_path / name, graph, base=base)
        assert same(read(tmp_path / name), graph)


EXTREMES = [
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    2.225073858507201e-308,
    1.7976931348623157e308,
    0.1,
    1 / 3,
    1e22,
    1e23,
    9007199254740993.0,
    123456789012345680.0,
    -1e-7,
    4.35,
    1e-5,
    2.0**-1074,
    math.pi,
]


def test_extreme_doubles(tmp_path: Path) -> None:
    values = np.array(EXTREMES).reshape(-1, 2)
    mesh = Mesh(values, [[0, 1, 2]], vertex_attributes=np.array([[math.nan, math.inf, -math.inf]] * len(values)))
    write(tmp_path / "a.ele", mesh)
    found = read(tmp_path / "a.ele")
    assert found.vertices.tobytes() == mesh.vertices.tobytes()
    assert found.vertex_attributes is not None
    assert np.array_equal(found.vertex_attributes, mesh.vertex_attributes, equal_nan=True)
    for line, row in zip((tmp_path / "a.node").read_text().splitlines()[1:], values, strict=True):
        for text, value in zip(line.split()[1:3], row, strict=True):
            assert len(text.lstrip("-")) <= len(repr(abs(float(value)))), "shortest form"


@SETTINGS
@given(
    digits=st.from_regex(r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})", fullmatch=True),
    exponent=st.none() | st.integers(-340, 340),
    letter=st.sampled_from("eEdD"),
)
def test_decimal_numbers_are_read_as_the_nearest_double(
    digits: str, exponent: int | None, letter: str, tmp_path: Path
) -> None:
    expected = float(digits if exponent is None else f"{digits}e{exponent}")
    path = tmp_path / "a.node"
    text = digits if exponent is None else f"{digits}{letter}{exponent:+d}"
    path.write_text(f"1 2 0 0\n0 {text} 0\n")
    if math.isinf(expected):
        with pytest.raises(FileError, match="too large"):
            parse_vertices(TextFile(path), 0)
    else:
        found = parse_vertices(TextFile(path), 0).vertices[0, 0]
        assert struct.pack("d", found) == struct.pack("d", expected)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-400", 0.0),
        ("-1e-400", -0.0),
        ("0." + 400 * "0" + "1", 0.0),
        ("0e999", 0.0),
        ("1d-99999999999999999999", 0.0),
    ],
)
def test_numbers_below_the_smallest_double_are_zero(text: str, value: float, tmp_path: Path) -> None:
    (tmp_path / "a.node").write_text(f"1 2 0 0\n0 {text} 0\n")
    found = parse_vertices(TextFile(tmp_path / "a.node"), 0).vertices[0, 0]
    assert struct.pack("d", found) == struct.pack("d", value)


def test_reading_does_not_depend_on_threads_and_chunks(tmp_path: Path) -> None:
    mesh = grid(20)
    write(tmp_path / "a.ele", mesh)
    node = (tmp_path / "a.node").read_text()
    (tmp_path / "a.node").write_text("# head\n\n" + node.replace("\n", " # x\n\n\r\n", 30) + "#end")
    for threads in (1, 2, 16):
        assert same(read(tmp_path / "a.ele", threads=threads), mesh)
        for chunk in (1, 3, 17, 100, 1 << 12):
            vertices = parse_vertices(TextFile(tmp_path / "a.node", threads, chunk), 0)
            assert vertices.vertices.tobytes() == mesh.vertices.tobytes()
            assert vertices.text.line_of(2) == 9 and vertices.text.line_of(vertices.end - 1) == vertices.text.lines - 1
            triangles = parse_triangles(TextFile(tmp_path / "a.ele", threads, chunk), vertices.numbering)
            assert np.array_equal(triangles.table.indices, mesh.triangles)


def test_the_first_error_is_reported_for_any_threads(tmp_path: Path) -> None:
    write(tmp_path / "a.ele", grid(40))
    lines = (tmp_path / "a.node").read_text().splitlines()
    for k in (700, 900, 1500):
        lines[k] = lines[k].rsplit(maxsplit=1)[0]
    (tmp_path / "a.node").write_text("\n".join(lines))
    for threads in (1, 2, 16):
        for chunk in (64, 1 << 12, 1 << 18):
            with pytest.raises(FileError) as caught:
                parse_vertices(TextFile(tmp_path / "a.node", threads, chunk), 0)
            assert caught.value.line == 701


def test_surplus_fields_are_counted_for_any_threads(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    mesh = grid(40)
    write(tmp_path / "a.ele", mesh)
    lines = (tmp_path / "a.node").read_text().splitlines()
    for k in (700, 900, 1500):
        lines[k] = lines[k] + " 7 surplus # x y"
    (tmp_path / "a.node").write_text("\n".join(lines))
    for threads in (1, 2, 16):
        for chunk in (64, 1 << 12, 1 << 18):
            caplog.clear()
            vertices = parse_vertices(TextFile(tmp_path / "a.node", threads, chunk), 0)
            assert vertices.vertices.tobytes() == mesh.vertices.tobytes()
            (said,) = caplog.messages
            assert "3 lines have more fields than the table of vertices has columns" in said
            assert "(the first: line 701 has 8 instead of 6 fields" in said


def test_bytes_do_not_depend_on_threads_or_time(tmp_path: Path) -> None:
    mesh = grid(150)
    digests = set()
    for threads in (1, 2, 16, None):
        files = write(tmp_path / "a.ele", mesh, threads=threads, neighbours=True, edges=True)
        digests.add(hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest())
    assert len(digests) == 1
    assert [path.suffix for path in files] == [".node", ".poly", ".area", ".neigh", ".edge", ".ele"]
    assert same(read(tmp_path / "a.ele"), mesh)


def test_integers_of_every_length_are_written_as_by_python(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    edges = [10**k + d for k in range(10) for d in (-1, 0, 1)] + [2**31 - 1, 0, 1]
    ragged = [int(value) for k in range(1, 10) for value in rng.integers(0, 10**k, 400)]
    repeated = [int(digit * k) for digit in "123456789" for k in range(1, 9)]
    values = np.array([value for value in (*edges, *ragged, *repeated) if value < 2**31])
    values = np.concatenate([values, -values, [-(2**31)]])
    columns, rows = 600, 3 * len(values)  # vertices; segments, enough for many blocks
    segments = rng.integers(0, columns, (rows, 2))
    marked = np.resize(values, rows)
    domain = Pslg(np.arange(2.0 * columns).reshape(-1, 2), segments, segment_markers=marked)
    lines = [f"{columns} 2 0 0", *(f"{k} {2 * k} {2 * k + 1}" for k in range(columns)), f"{rows} 1"]
    lines += [f"{k} {u} {v} {m}" for k, ((u, v), m) in enumerate(zip(segments.tolist(), marked.tolist(), strict=True))]
    for threads in (1, 2, 5):
        write(tmp_path / "a.poly", domain, threads=threads)
        assert (tmp_path / "a.poly").read_text().splitlines() == [*lines, "0"]


def test_layout_of_the_files(tmp_path: Path) -> None:
    mesh = Mesh(
        [[0, 0], [1, 0], [0, 0.1]], [[0, 1, 2]], segments=[[0, 1]], segment_markers=[7], vertex_markers=[1, 2, 3]
    )
    write(tmp_path / "a.ele", mesh, base=1, edges=True, neighbours=True)
    texts = {path.suffix: path.read_text() for path in tmp_path.iterdir()}
    assert texts == {
        ".node": "3 2 0 1\n1 0 0 1\n2 1 0 2\n3 0 0.1 3\n",
        ".ele": "1 3 0\n1 1 2 3\n",
        ".poly": "0 2 0 0\n1 1\n1 1 2 7\n0\n",
        ".neigh": "1 3\n1 -1 -1 -1\n",
        ".edge": "3 1\n1 1 2 7\n2 1 3 1\n3 2 3 1\n",
    }


def test_the_poly_file_holds_holes_and_regions(tmp_path: Path) -> None:
    corners, triangle = [[0, 0], [1, 0], [0, 1]], [[0, 1, 2]]
    holes, regions = [[3, 3], [4, 4.5]], [[0.25, 0.25, 7, -1]]
    mesh = Mesh(corners, triangle, segments=[[0, 1]], segment_markers=[2], holes=holes, regions=regions)
    write(tmp_path / "a.ele", mesh, base=1)
    assert (tmp_path / "a.poly").read_text() == "0 2 0 0\n1 1\n1 1 2 2\n2\n1 3 3\n2 4 4.5\n1\n1 0.25 0.25 7 -1\n"
    assert same(read(tmp_path / "a.node"), mesh)
    graph = read(tmp_path / "a.poly")
    assert isinstance(graph, Pslg) and graph.holes.tolist() == holes and graph.regions.tolist() == regions
    for name, bare in (
        ("hole", Mesh(corners, triangle, holes=holes)),
        ("region", Mesh(corners, triangle, regions=regions)),
    ):
        files = write(tmp_path / f"{name}.ele", bare)
        assert [path.suffix for path in files] == [".node", ".poly", ".ele"], "without segments, too"
        assert same(read(tmp_path / f"{name}.ele"), bare)
        assert isinstance(read(tmp_path / f"{name}.poly"), Pslg)
        write(tmp_path / f"{name}.ele", Mesh(corners, triangle))
        assert not (tmp_path / f"{name}.poly").exists(), "it would be taken for the new mesh's"
    # With vertices of its own: the mesh's domain in one file.
    write(tmp_path / "alone.poly", mesh)
    graph = read(tmp_path / "alone.poly")
    assert isinstance(graph, Pslg) and graph.vertices.tolist() == corners
    assert graph.holes.tolist() == holes and graph.regions.tolist() == regions


def test_a_domain_is_not_replaced_by_the_holes_of_a_mesh(tmp_path: Path) -> None:
    write(tmp_path / "a.poly", Pslg([[0, 0], [1, 0]], [[0, 1]]))
    before = (tmp_path / "a.poly").read_bytes()
    with pytest.raises(FileError, match="domain"):
        write(tmp_path / "a.ele", Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]], holes=[[5, 5]]))
    assert (tmp_path / "a.poly").read_bytes() == before and len(list(tmp_path.iterdir())) == 1


def test_neighbours_edges_and_single_files(tmp_path: Path) -> None:
    mesh = grid(12)
    for base in (0, 1):
        for suffix in (".neigh", ".edge", ".area", ".poly"):
            assert write(tmp_path / f"part{suffix}", mesh, base=base) == [tmp_path / f"part{suffix}"]
        assert np.array_equal(read_neighbours(tmp_path / "part.neigh"), mesh.neighbours)
        edges, found = read_edges(tmp_path / "part.edge")
        assert found is not None and len(edges) == len(mesh.vertices) + len(mesh.triangles) - 1  # Euler's formula
        marker = {tuple(sorted(edge)): value for edge, value in zip(edges.tolist(), found.tolist(), strict=True)}
        assert mesh.segment_markers is not None
        for segment, value in zip(mesh.segments.tolist(), mesh.segment_markers.tolist(), strict=True):
            assert marker[tuple(sorted(segment))] == (value or 1)
        graph = read(tmp_path / "part.poly")
        assert isinstance(graph, Pslg) and graph.vertices.tobytes() == mesh.vertices.tobytes()
        assert np.array_equal(graph.segments, mesh.segments)


def test_empty_mesh(tmp_path: Path) -> None:
    empty = Mesh(np.empty((0, 2)), np.empty((0, 3), np.int32))
    write(tmp_path / "a.ele", empty, neighbours=True, edges=True)
    assert same(read(tmp_path / "a.ele"), empty)
    assert read_neighbours(tmp_path / "a.neigh").shape == (0, 3)
    assert read_edges(tmp_path / "a.edge")[0].shape == (0, 2)
    for vertices in (empty.vertices, np.eye(2)):
        with pytest.raises(FileError, match=r"a\.vtu: cannot be written as \.vtu: the mesh has no triangles"):
            write(tmp_path / "a.vtu", Mesh(vertices, empty.triangles))


@pytest.mark.parametrize(
    ("name", "suffix", "expected"),
    [
        ("input.ele", ".ele", "input.1.ele"),
        ("input.1.ele", ".ele", "input.2.ele"),
        ("d/input.9.node", ".node", "d/input.10.node"),
        ("domain.poly", "", "domain.1"),
        ("mesh.vtu", ".ele", "mesh.1.ele"),
        ("v1.2b.ele", ".ele", "v1.2b.1.ele"),
        (".7.ele", ".ele", ".7.1.ele"),
    ],
)
def test_next_output_name(name: str, suffix: str, expected: str) -> None:
    assert next_name(name, suffix) == Path(expected)


def test_invalid_bases_and_objects_are_refused(tmp_path: Path) -> None:
    graph = Pslg([[0, 0], [1, 0]], [[0, 1]])
    with pytest.raises(OptionError):
        write(tmp_path / "a.ele", grid(3), base=2)
    for name in ("a.ele", "a.node", "a.neigh", "a.vtu"):
        with pytest.raises(FileError, match="a PSLG has no triangles"):
            write(tmp_path / name, graph)
    for name in ("a.vtu", "a.npz", "a.poly", "a.edge"):
        with pytest.raises(OptionError, match="neighbours are"):
            write(tmp_path / name, grid(3), neighbours=True)
        with pytest.raises(OptionError, match="edges are"):
            write(tmp_path / name, grid(3), edges=True)
    with pytest.raises(FileError, match="no area bounds"):
        write(tmp_path / "a.area", Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]]))
    assert list(tmp_path.iterdir()) == []


def test_a_missing_native_library_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from dmr.errors import NativeLibraryError

    write(tmp_path / "a.ele", grid(3))
    monkeypatch.setattr(native, "LIBRARY", tmp_path / "none.so")
    native.library.cache_clear()
    try:
        with pytest.raises(NativeLibraryError, match=r"none\.so is missing"):
            read(tmp_path / "a.ele")
    finally:
        native.library.cache_clear()


@pytest.mark.parametrize("suffix", [".ele", ".npz", ".vtu"])
@pytest.mark.parametrize("threads", [0, 2**20, 1.5])
def test_an_invalid_number_of_threads_is_refused(tmp_path: Path, suffix: str, threads: int) -> None:
    path = tmp_path / f"a{suffix}"
    mesh = Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]])
    with pytest.raises(OptionError, match="threads must be"):
        write(path, mesh, threads=threads)
    write(path, mesh)
    with pytest.raises(OptionError, match="threads must be"):
        read(path, threads=threads)
