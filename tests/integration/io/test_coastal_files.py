"""`.2dm` of SMS and `fort.14` of ADCIRC: read back, compared with small independent parsers, and what is refused."""

from __future__ import annotations

import dataclasses
import itertools
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dmr
from dmr import Mesh, domains
from dmr.errors import FileError, InvalidMeshError
from dmr.io import read, write
from tests.support.meshes import grid

SETTINGS = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def bay() -> Mesh:
    """A square sea with an open west side, a river in the south, and two islands, one of which has no marker."""
    islands = [[(3, 3), (4, 3), (4, 4), (3, 4)], [(6, 6), (7, 6), (7, 7), (6, 7)]]
    sea = domains.polygon([(0, 0), (10, 0), (10, 10), (0, 10)], islands, markers=[[7, 8, 8, 3], [8] * 4, [9] * 4])
    sea = domains.merge(sea, domains.polyline([(8, 8), (9, 9)], markers=5))
    sea = domains.with_names(sea, markers={3: "Open sea", 7: "river type 22", 8: "shore"})
    sea = domains.with_regions(sea, [(1, 1, 4)])
    mesh = dmr.refine(domains.with_names(sea, regions={4: "water"}), max_area=1, device="cpu", threads=1).mesh
    depths = 5 + mesh.vertices[:, 0] / 3
    return dmr.Mesh(**{**vars_of(mesh), "vertex_attributes": depths[:, None]})


def vars_of(mesh: Mesh) -> dict[str, object]:
    return {name: getattr(mesh, name) for name in Mesh.__dataclass_fields__}


BAY = bay()


def edges_of(mesh: Mesh) -> dict[tuple[int, int], int]:
    return {tuple(sorted(e)): m for e, m in zip(mesh.segments.tolist(), mesh.segment_markers.tolist(), strict=True)}


def parse_fort14(text: str) -> dict[str, object]:
    """Independent reader: as Fortran's list-directed READ, one record per line, only the numbers that are needed."""
    lines = iter(text.splitlines()[1:])

    def record(count: int) -> list[float]:
        return [float(field) for field in next(lines).split()[:count]]

    elements, nodes = map(int, record(2))
    table = np.array([record(4) for _ in range(nodes)])
    triangles = np.array([record(5) for _ in range(elements)], int)
    assert (table[:, 0] == np.arange(1, nodes + 1)).all() and (triangles[:, 1] == 3).all()
    found: dict[str, object] = {"nodes": table[:, 1:], "triangles": triangles[:, 2:] - 1}
    for kind, fields in (("open", 1), ("land", 2)):
        count, total = int(record(1)[0]), int(record(1)[0])
        boundaries = []
        for _ in range(count):
            head = [int(k) for k in record(fields)]
            boundaries.append((head[1:], [int(record(1)[0]) - 1 for _ in range(head[0])]))
        assert total == sum(len(each) for _, each in boundaries)
        found[kind] = boundaries
    assert next(lines, None) is None
    return found


def test_fort14_holds_the_boundary_in_order(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "fort.14"
    assert write(path, BAY) == [path]
    assert "do not keep 1 segment that is not on the boundary" in caplog.text
    assert "vertex_marker, triangle_attribute_0" in caplog.text
    caplog.clear()
    write(tmp_path / "unmarked.14", dataclasses.replace(BAY, vertex_markers=None))
    assert "on the boundary, triangle_attribute_0" in caplog.text
    found = parse_fort14(path.read_text())
    assert np.array_equal(found["nodes"][:, :2], BAY.vertices) and np.array_equal(found["triangles"], BAY.triangles)
    assert np.array_equal(found["nodes"][:, 2], BAY.vertex_attributes[:, 0])
    ((_, sea),) = found["open"]
    assert (BAY.vertices[sea][:, 0] == 0).all() and sea[0] == 3 and sea[-1] == 0, "the mesh is on the left"
    types = [kind for (kind,), _ in found["land"]]
    assert sorted(types) == [20, 21, 21, 22]
    directed = {tuple(edge) for edge in BAY.boundary.tolist()}
    written = set()
    for kind, chain in [*found["open"], *found["land"]]:
        chain = [*chain, chain[0]] if kind == [21] else chain
        written |= set(itertools.pairwise(chain))
    assert written == directed


def test_fort14_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "bay.14"
    write(path, BAY)
    mesh = read(path)
    assert isinstance(mesh, Mesh)
    assert mesh.vertices.tobytes() == BAY.vertices.tobytes() and np.array_equal(mesh.triangles, BAY.triangles)
    assert mesh.vertex_attributes.tobytes() == BAY.vertex_attributes.tobytes()
    boundary = {tuple(sorted(edge)) for edge in BAY.boundary.tolist()}
    assert edges_of(mesh) == {edge: marker for edge, marker in edges_of(BAY).items() if edge in boundary}
    assert mesh.names == {"regions": {}, "markers": BAY.names["markers"]}
    again = tmp_path / "again.grd"
    write(again, mesh)
    assert again.read_text().splitlines()[1:] == path.read_text().splitlines()[1:]
    fine = dmr.refine(mesh, max_area=0.3, device="cpu", threads=1).mesh
    write(path, fine)
    assert len(parse_fort14(path.read_text())["open"]) == 1


FORT14 = """grid of another program
4 5 ! elements, nodes
 1 0.0 0.0 1.0D+01
 2 2.0 0.0 10.
 30 2.0 2.0 11 of 11
 4 0.0 2.0 12

 5 1.0 1.0 -3
1 3 1 2 5
2 3 2 30 5
3 3 30 4 5
4 3 4 1 5
1 = Number of open boundaries
2 = Total number of open boundary nodes
2 = Number of nodes for open boundary 1
4
1
2 = Number of land boundaries
5 = Total number of land boundary nodes
3 0 = Number of nodes for land boundary 1
1
2
30
2 23
30 1.5 1.0
4 1.5 1.0
"""


def test_files_of_other_programs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "fort.14"
    path.write_text(FORT14)
    mesh = read(path)
    assert isinstance(mesh, Mesh)
    assert mesh.vertex_attributes[:, 0].tolist() == [10, 10, 11, 12, -3]
    assert mesh.triangles.tolist() == [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
    assert mesh.segments.tolist() == [[3, 0], [0, 1], [1, 2], [2, 3]]
    assert mesh.segment_markers.tolist() == [1, 2, 2, 3]
    assert mesh.names["markers"] == {1: "open 1", 2: "land 1 type 0", 3: "land 2 type 23"}
    assert "the heights of 1 barrier are not kept" in caplog.text
    with pytest.raises(InvalidMeshError, match="'land 2 type 23' is a barrier"):
        write(path, mesh)
    assert path.read_text() == FORT14
    path.write_text(FORT14.split("1 = Number of open")[0])
    assert len(read(path).segments) == 0


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("4 5 !", "4 x !", 2, "'x' is not a finite number (number of nodes)"),
        ("4 5 !", "4 -5 !", 2, "the number of nodes is negative"),
        ("4 5 !", "4 500 !", 26, "the file ends before its nodes"),
        ("2.0 2.0 11", "2.0 2,0 11", 5, "'2,0' is not a finite number (y)"),
        ("1.0D+01", "nan", 3, "'nan' is not a finite number (depth)"),
        (" 30 2.0", " 2 2.0", 5, "node 2 occurs a second time"),
        (" 5 1.0 1.0 -3", " 5 1.0 1.0", 8, "has 3 fields instead of 4 (node, x, y, depth)"),
        (" 5 1.0 1.0 -3", " 5", 8, "has 1 field instead of 4 (node, x, y, depth)"),
        ("2 3 2 30 5", "2 4 2 30 5", 10, "the element has 4 corners, not 3"),
        ("2 3 2 30 5", "2 3 2 31 5", 10, "names node 31, which does not exist"),
        ("2 3 2 30 5", "2 3 2 1e10 5", 10, "'1e10' is not a whole number of 32 bits (corner 2)"),
        ("4\n1\n2 =", "4\n9\n2 =", 17, "names node 9, which does not exist"),
        ("3 0 =", "3 =", 20, "'=' is not a finite number (type)"),
        ("4 1.5 1.0\n", "", 25, "the file ends before its 2 nodes of land boundary 2"),
        ("4 3 4 1 5", "4 3 4 4 5", None, "holds no valid mesh"),
        ("land boundary 1\n", "land boundary 1 = marker 2147483648\n", None, "a marker of 32 bits is restored"),
    ],
)
def test_faults_of_fort14_are_named(old: str, new: str, line: int | None, message: str, tmp_path: Path) -> None:
    assert FORT14.count(old) == 1
    path = tmp_path / "fort.14"
    path.write_text(FORT14.replace(old, new))
    if line is None:
        assert isinstance(read(path), Mesh), "geometry is checked where it is used"
        return
    with pytest.raises(FileError) as caught:
        read(path)
    assert (caught.value.line, caught.value.reason) == (line, message)


def test_rings_that_touch_in_a_vertex_stay_apart(tmp_path: Path) -> None:
    holes = [[(2, 2), (5, 5), (2, 5)], [(5, 5), (8, 5), (8, 8)]]
    mesh = dmr.triangulate(domains.polygon([(0, 0), (10, 0), (10, 10), (0, 10)], holes))
    write(tmp_path / "fort.14", mesh)
    found = parse_fort14((tmp_path / "fort.14").read_text())
    chains = {frozenset(chain): (kind, len(chain)) for kind, chain in found["land"]}
    corners = {tuple(vertex): k for k, vertex in reversed([*enumerate(mesh.vertices.tolist())])}
    rings = {frozenset(corners[corner] for corner in hole): ([21], 3) for hole in holes}
    assert chains == {frozenset({0, 1, 2, 3}): ([20], 5), **rings}


@SETTINGS
@given(
    markers=st.lists(st.sampled_from([-(2**31), -1, 0, 1, 2, 2**31 - 1]), min_size=20, max_size=20),
    opened=st.booleans(),
    rows=st.integers(2, 5),
)
def test_any_markers_of_the_boundary_come_back(markers: list[int], opened: bool, rows: int, tmp_path: Path) -> None:
    mesh = grid(np.arange(6.0), np.arange(float(rows)))
    boundary = mesh.boundary
    given_markers = np.resize(markers, len(boundary))
    names = {"markers": {1: "open", 2**31 - 1: "last", -(2**31): "first"}} if opened else {}
    mesh = Mesh(mesh.vertices, mesh.triangles, segments=boundary, segment_markers=given_markers, names=names)
    for name in ("fort.14", "a.2dm"):
        write(tmp_path / name, mesh)
        found = read(tmp_path / name)
        assert isinstance(found, Mesh)
        assert edges_of(found) == edges_of(mesh)
        used = {k: text for k, text in mesh.names["markers"].items() if name == "a.2dm" or k in given_markers}
        assert found.names["markers"] == used
    parsed = parse_fort14((tmp_path / "fort.14").read_text())
    assert bool(parsed["open"]) == (opened and 1 in given_markers)


def parse_2dm(text: str) -> dict[str, list[list[str]]]:
    """Independent reader: the fields of each card, by its name."""
    cards: dict[str, list[list[str]]] = {}
    for line in text.splitlines():
        name, *fields = line.split()
        cards.setdefault(name, []).append(fields)
    return cards


def test_2dm_comes_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "bay.2dm"
    write(path, BAY)
    assert caplog.text == "", "vertex markers follow from the segments"
    write(tmp_path / "marked.2dm", dataclasses.replace(BAY, vertex_markers=np.full(len(BAY.vertices), 5)))
    assert caplog.messages == [f"{tmp_path / 'marked.2dm'}: .2dm files do not keep vertex_marker"]
    cards = parse_2dm(path.read_text())
    assert np.array_equal(np.array(cards["ND"], float)[:, 1:3], BAY.vertices)
    assert np.array_equal(np.array(cards["E3T"], int)[:, 1:4] - 1, BAY.triangles)
    assert {row[4] for row in cards["E3T"]} == {"4"} and cards["MAT"] == [["4", '"water"']]
    assert max(map(len, cards["NS"])) <= 11
    strings, nodes = {}, []
    for row in cards["NS"]:
        last = next((k for k, field in enumerate(row) if field.startswith("-")), None)
        nodes += [int(field) for field in row[: len(row) if last is None else last + 1]]
        if last is not None:
            strings.setdefault(int(row[last + 1]), []).append([abs(node) - 1 for node in nodes])
            nodes = []
    assert nodes == []
    edges = {tuple(sorted(e)): k for k, chains in strings.items() for c in chains for e in itertools.pairwise(c)}
    assert edges == edges_of(BAY) and {k: len(chains) for k, chains in strings.items()} == {
        3: 1,
        5: 1,
        7: 1,
        8: 2,
        9: 1,
    }
    mesh = read(path)
    assert isinstance(mesh, Mesh)
    assert mesh.vertices.tobytes() == BAY.vertices.tobytes() and np.array_equal(mesh.triangles, BAY.triangles)
    assert mesh.vertex_attributes.tobytes() == BAY.vertex_attributes.tobytes()
    assert np.array_equal(mesh.triangle_attributes, BAY.triangle_attributes)
    assert edges_of(mesh) == edges_of(BAY) and mesh.names == BAY.names


SMS = """MESH2D
MESHNAME "default"
NUM_MATERIALS_PER_ELEM 1
E3T     1     10     20     30     2
E3T     2     10     30     40     3
ND     10 0.0e+00 0.0 5
ND     20 1 0 5
ND     30 1 1 5
ND     40 0 1 5.5
NS  10 20
NS  -30
NS  30 40 -10 7 "outlet"
BEG2DMBC
MAT  2 "sand"
MAT  3 "gravel"
END2DMBC
"""


def test_2dm_of_other_programs(tmp_path: Path) -> None:
    path = tmp_path / "a.2dm"
    path.write_text(SMS)
    mesh = read(path)
    assert isinstance(mesh, Mesh)
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]] and mesh.triangle_attributes.tolist() == [[2], [3]]
    assert mesh.vertex_attributes.tolist() == [[5], [5], [5], [5.5]]
    assert mesh.segments.tolist() == [[0, 1], [1, 2], [2, 3], [3, 0]]
    assert mesh.segment_markers.tolist() == [1, 1, 7, 7]
    assert mesh.names == {"regions": {2: "sand", 3: "gravel"}, "markers": {}}


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        # as for fort.14: an edit of the file, the line of the error and its message
        ("MESH2D\n", "MESH3D\n", 1, "does not begin with MESH2D: it is not a .2dm file of SMS"),
        ("E3T     2 ", "E4Q     2 ", 5, "holds an element E4Q: only triangles, E3T, can be read"),
        ("20 1 0 5", "20 1 zero 5", 7, "'zero' is not a finite number (y)"),
        ("10     30     40", "10     30     41", 5, "names node 41, which does not exist"),
        ("ND     40", "ND     30", 9, "node 30 occurs a second time"),
        ("-10 7", "10 7", 12, "the node string has a field that is not a whole number"),
        ('-10 7 "outlet"', "10", 12, "the node string does not end with a negative number"),
        ("NS  -30", "NS  -31", 11, "names node 31, which does not exist"),
    ],
)
def test_faults_of_2dm_are_named(old: str, new: str, line: int, message: str, tmp_path: Path) -> None:
    assert SMS.count(old) == 1
    path = tmp_path / "a.2dm"
    path.write_text(SMS.replace(old, new))
    with pytest.raises(FileError) as caught:
        read(path)
    assert (caught.value.line, caught.value.reason) == (line, message)


def test_a_2dm_file_without_nodes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.2dm").write_text("MESH2D\n")
    with pytest.raises(FileError, match="holds no nodes"):
        read(tmp_path / "a.2dm")


def test_requests_that_the_formats_do_not_support(tmp_path: Path) -> None:
    for name in ("fort.14", "a.2dm"):
        with pytest.raises(dmr.errors.OptionError, match="second order"):
            write(tmp_path / name, BAY, order=2)
        with pytest.raises(FileError, match="a PSLG has no triangles"):
            write(tmp_path / name, domains.rectangle(1, 1))
        write(tmp_path / name, BAY)
        with pytest.raises(FileError, match="exists"):
            write(tmp_path / name, BAY, overwrite=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.2dm", "fort.14"]


def test_depths_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    """As of vertices outside the mesh that depths were interpolated in."""
    depths = np.zeros((len(BAY.vertices), 1))
    depths[3:5] = [[np.nan], [np.inf]]
    for name in ("fort.14", "a.2dm"):
        with pytest.raises(InvalidMeshError, match="vertex 3: attribute 0, the depth or elevation, is nan"):
            write(tmp_path / name, dataclasses.replace(BAY, vertex_attributes=depths))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_reading_and_writing_take_linear_time(tmp_path: Path) -> None:
    mesh = grid(np.arange(200.0))
    for name in ("fort.14", "a.2dm"):
        begin = time.perf_counter()
        write(tmp_path / name, mesh)
        assert np.array_equal(read(tmp_path / name).triangles, mesh.triangles)
        assert time.perf_counter() - begin < 10, "80,000 triangles; a table parsed by Python's loops takes longer"
