"""Triangle files: errors with file and line; unusual but valid files are read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from dmr.errors import FileError
from dmr.io import locate, numbering_base, read, read_edges, read_neighbours
from dmr.mesh.types import Mesh, Pslg
from tests.support.paths import ROOT

SHARED = ROOT.parent / "shared" / "hard_meshes"

SQUARE = "4 2 0 0\n0 0 0\n1 1 0\n2 1 1\n3 0 1\n"
TWO = "2 3 0\n0 0 1 2\n1 0 2 3\n"


def put(folder: Path, node: str | bytes | None = SQUARE, ele: str | bytes | None = TWO, **others: str) -> Path:
    """Writes files named x; returns the path of the .ele."""
    for suffix, text in {"node": node, "ele": ele, **others}.items():
        if text is not None:
            (folder / f"x.{suffix}").write_bytes(text.encode() if isinstance(text, str) else text)
    return folder / "x.ele"


def fault(path: Path) -> tuple[str, int | None, str]:
    with pytest.raises(FileError) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    return caught.value.path.suffix, caught.value.line, caught.value.reason


REFUSED = {
    # name: (.node, .ele, the file that is wrong, its line)
    "empty": ("", TWO, ".node", 1),
    "only comments": ("# x\n\n# y\n", TWO, ".node", 1),
    "text": ("hello world\n", TWO, ".node", 1),
    "binary": (b"\x00\xff\x10\n", TWO, ".node", 1),
    "utf-16": ("4 2 0 0\n".encode("utf-16"), TWO, ".node", 1),
    "no dimension two": ("1 3 0 0\n0 0 0 0\n", TWO, ".node", 1),
    "negative count": ("-4 2 0 0\n", TWO, ".node", 1),
    "huge count": ("9999999999999 2 0 0\n0 0 0\n", TWO, ".node", 1),
    "immense count": ("99999999999999999999999 2 0 0\n0 0 0\n", TWO, ".node", 1),
    "huge attributes": ("1 2 999999999 0\n0 0 0\n", TWO, ".node", 1),
    "many attributes": ("2 2 9999999 0\n0 0 0\n1 1 0 5 6\n", TWO, ".node", 2),
    "two marker columns": ("1 2 0 2\n0 0 0 1 1\n", TWO, ".node", 1),
    "header too long": ("4 2 0 0 7\n0 0 0\n", TWO, ".node", 1),
    "header not whole": ("4 2 0 0.5\n0 0 0\n", TWO, ".node", 1),
    "truncated": ("4 2 0 0\n0 0 0\n1 1 0\n", TWO, ".node", 1),
    "header alone": ("4 2 0 0\n", TWO, ".node", 1),
    "line too short": (SQUARE.replace("1 1 0", "1 1"), TWO, ".node", 3),
    "a line too many": (SQUARE + "4 2 2\n", TWO, ".node", 6),
    "decimal comma": (SQUARE.replace("1 1 0", "1 1,5 0"), TWO, ".node", 3),
    "not a number": (SQUARE.replace("1 1 0", "1 1 zero"), TWO, ".node", 3),
    "two signs": (SQUARE.replace("1 1 0", "1 +-1 0"), TWO, ".node", 3),
    "nan": (SQUARE.replace("2 1 1", "2 nan 1"), TWO, ".node", 4),
    "infinite": (SQUARE.replace("1 1 0", "1 inf 0"), TWO, ".node", 3),
    "overflow": (SQUARE.replace("1 1 0", "1 1e999 0"), TWO, ".node", 3),
    "real as number": (SQUARE.replace("1 1 0", "1.0 1 0"), TWO, ".node", 3),
    "number twice": (SQUARE.replace("3 0 1", "1 0 1"), TWO, ".node", 5),
    "no vertices": ("0 2 0 0\n", "1 3 0\n0 0 1 2\n", ".ele", 2),
    "index too high": (SQUARE, "1 3 0\n0 0 1 9\n", ".ele", 2),
    "negative index": (SQUARE, "1 3 0\n0 0 1 -1\n", ".ele", 2),
    "immense index": (SQUARE, "1 3 0\n0 0 1 99999999999999999999\n", ".ele", 2),
    "index in a gap": ("3 2 0 0\n0 0 0\n5 1 0\n9 0 1\n", "1 3 0\n0 0 5 7\n", ".ele", 2),
    "vertex repeated": (SQUARE, "2 3 0\n0 0 1 2\n1 0 2 2\n", ".ele", 3),
    "truncated .ele": (SQUARE, "2 3 0\n0 0 1 2\n", ".ele", 1),
    "too many triangles": (SQUARE, TWO + "2 0 1 3\n", ".ele", 4),
    "tetrahedra": (SQUARE, "1 4 0\n0 0 1 2 3\n", ".ele", 1),
    "marker too large": ("1 2 0 1\n0 0 0 3000000000\n", TWO, ".node", 2),
}


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_files_are_refused_with_file_and_line(name: str, tmp_path: Path) -> None:
    node, ele, *where = REFUSED[name]
    suffix, line, _ = fault(put(tmp_path, node, ele))
    assert [suffix, line] == where


SENTENCES = {
    "truncated": "promises 4 vertices, but 2 lines follow",
    "a line too many": "holds more than the 4 vertices that line 1 promises",
    "line too short": "3 fields (number, x, y), but this line has 2",
    "header not whole": "'0.5' is not a whole number",
    "decimal comma": "'1,5' is not a number (x of a vertex); use a",
    "nan": "'nan', not a finite number",
    "overflow": "'1e999' is too large",
    "number twice": "vertex number 1 was given before",
    "index too high": "names vertex 9, but they are numbered from 0 to 3",
    "vertex repeated": "names vertex 2 twice",
}


@pytest.mark.parametrize("name", SENTENCES)
def test_the_sentence_names_the_token_and_what_it_should_be(name: str, tmp_path: Path) -> None:
    """One message of each kind."""
    assert SENTENCES[name] in fault(put(tmp_path, *REFUSED[name][:2]))[2]


READ = {
    "plain": (SQUARE, TWO),
    "from one": ("4 2 0 0\n1 0 0\n2 1 0\n3 1 1\n4 0 1\n", "2 3 0\n1 1 2 3\n2 1 3 4\n"),
    "comments": ("# head\n\n4 2 0 0 # n\n 0 0 0\n\n#\n1 1 0\n2 1 1#x\n\t3 0 1\n# end", "# c\n2 3 0\n0 0 1 2\n1 0 2 3"),
    "crlf": (SQUARE.replace("\n", "\r\n"), TWO.replace("\n", "\r\n")),
    "byte order mark": (b"\xef\xbb\xbf" + SQUARE.encode(), b"\xef\xbb\xbf" + TWO.encode()),
    "tabs, signs, zeros": (SQUARE.replace(" ", "\t").replace("1\t1\t0", "+1 +1.000 -0"), TWO),
    "short headers": (SQUARE.replace("4 2 0 0", "4"), TWO.replace("2 3 0", "2")),
    "gaps": ("4 2 0 0\n10 0 0\n-5 1 0\n7 1 1\n99 0 1\n", "2 3 0\n0 10 -5 7\n1 10 7 99\n"),
    "Fortran": ("4 2 0 0\n0 0.0D0 0\n1 .1d+01 0\n2 100D-2 1.0D+00\n3 0 1.D0\n", TWO),
}


@pytest.mark.parametrize("name", READ)
def test_unusual_but_valid_files_are_read(name: str, tmp_path: Path) -> None:
    mesh = read(put(tmp_path, *READ[name]))
    assert isinstance(mesh, Mesh)
    assert mesh.vertices.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.vertex_markers is None and mesh.area_bounds is None
    again = read(tmp_path / "x.node")
    assert isinstance(again, Mesh) and again.triangles.tolist() == mesh.triangles.tolist()


def test_attributes_and_markers(tmp_path: Path) -> None:
    node = "3 2 2 1\n0 0 0 1.5 nan -3\n1 1 0 2.5 inf 4\n2 0 1 3.5 0 2147483647\n"
    mesh = read(put(tmp_path, node, "1 3 2\n0 0 1 2 7 -8.5\n"))
    assert isinstance(mesh, Mesh)
    assert mesh.vertex_attributes is not None and mesh.triangle_attributes is not None
    assert mesh.vertex_attributes[:, 0].tolist() == [1.5, 2.5, 3.5]
    assert np.isnan(mesh.vertex_attributes[0, 1]) and np.isinf(mesh.vertex_attributes[1, 1])
    assert mesh.vertex_markers is not None and mesh.vertex_markers.tolist() == [-3, 4, 2147483647]
    assert mesh.triangle_attributes.tolist() == [[7, -8.5]]


SECOND_ORDER_NODES = "9 2 0 1\n0 0 0 1\n1 1 0 2\n4 .5 .5 9\n2 1 1 3\n3 0 1 4\n5 1 .5 9\n6 .5 0 9\n7 .5 1 9\n8 0 .5 9\n"
SECOND_ORDER = "2 6 0\n0 0 1 2 5 4 6\n1 0 2 3 7 8 4\n"


def test_second_order_files_give_their_corners(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = put(tmp_path, SECOND_ORDER_NODES, SECOND_ORDER, poly="0 2 0 0\n1 1\n0 2 3 6\n0\n")
    mesh = read(path)
    assert isinstance(mesh, Mesh)
    assert mesh.vertices.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.segments.tolist() == [[2, 3]]
    assert mesh.vertex_markers is not None and mesh.vertex_markers.tolist() == [1, 2, 3, 4]
    assert "5 points on edges are dropped" in caplog.text
    assert locate(path, "vertex", 2) == (tmp_path / "x.node", 5)
    assert locate(path, "vertex", 4) == (path, None)


def test_companion_files_are_read_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "dmr.io")
    path = put(tmp_path, poly="0 2 0 0\n2 1\n0 0 1 5\n1 2 1 -6\n0\n", area="2\n0 0.5\n1 -1\n")
    mesh = read(path)
    assert isinstance(mesh, Mesh)
    assert mesh.segments.tolist() == [[0, 1], [2, 1]]
    assert mesh.segment_markers is not None and mesh.segment_markers.tolist() == [5, -6]
    assert mesh.area_bounds is not None and mesh.area_bounds.tolist() == [0.5, -1]
    assert "x.poly: its 2 segments" in caplog.text and "x.area: its 2 area bounds" in caplog.text


@pytest.mark.parametrize(
    ("suffix", "text", "line", "words"),
    [
        ("poly", "0 2 0 0\n1 0\n0 0 9\n0\n", 3, "segment names vertex 9"),
        ("poly", "3 2 0 0\n0 7 7\n1 1 0\n2 1 1\n1 0\n0 0 1\n0\n", None, "not the first ones of x.node"),
        ("poly", "0 2 0 0\n1 0\n0 0 1\n1\n0 inf 0\n", 5, "x of a hole is 'inf'"),
        ("poly", "0 2 0 0\n1 0\n0 0 1\n0\n0\n1 2 3\n", 6, "more than"),
        ("poly", "0 2 0 0\n", 1, "<segments> <marker columns>"),
        ("area", "3\n0 1\n1 1\n2 1\n", 1, "bounds 3 triangles, but x.ele holds 2"),
        ("area", "2\n0 1\n2 1\n", 3, "triangle 2"),
    ],
)
def test_invalid_companion_files_are_refused(
    suffix: str, text: str, line: int | None, words: str, tmp_path: Path
) -> None:
    found = fault(put(tmp_path, **{suffix: text}))
    assert found[:2] == (f".{suffix}", line)
    assert words in found[2]


def test_missing_files_are_named(tmp_path: Path) -> None:
    assert fault(put(tmp_path, None, TWO)) == (
        ".ele",
        None,
        "there is no x.node beside it, which would hold its vertices",
    )
    other = tmp_path / "other"
    other.mkdir()
    put(other, SQUARE, None)
    suffix, line, reason = fault(other / "x.node")
    assert (suffix, line) == (".node", None) and "no x.ele beside it" in reason
    assert "does not exist; did you mean x.node.ele?" not in reason
    assert fault(tmp_path / "y.ele")[2] == "does not exist"
    assert fault(tmp_path / "x")[2] == "does not exist; did you mean x.ele?"
    assert fault(Path("-"))[2] == "does not exist; standard input is not read: name a file"
    assert fault(tmp_path)[2] == "is a folder, not a file"
    assert "alone makes no mesh" in fault(_touch(tmp_path / "z.neigh"))[2]
    assert "unknown suffix .xyz; known are .node .ele" in fault(_touch(tmp_path / "z.xyz"))[2]
    assert fault(tmp_path / "z.xyz")[2].endswith('.ply and others: see "File formats" in the documentation')


def _touch(path: Path) -> Path:
    path.write_text("")
    return path


def test_poly_files(tmp_path: Path) -> None:
    path = tmp_path / "x.poly"
    path.write_text(
        "4 2 1 1\n1 0 0 5 1\n2 1 0 6 1\n3 1 1 7 1\n4 0 1 8 1\n2 1\n1 1 2 7\n2 3 3 -1\n1\n1 .5 .5\n"
        "2\n1 .1 .1 3 .01\n2 .2 .2 .5\n"
    )
    graph = read(path)
    assert isinstance(graph, Pslg)
    assert graph.segments.tolist() == [[0, 1], [2, 2]]
    assert graph.segment_markers is not None and graph.segment_markers.tolist() == [7, -1]
    assert graph.holes.tolist() == [[0.5, 0.5]]
    assert graph.regions.tolist() == [[0.1, 0.1, 3, 0.01], [0.2, 0.2, 0.5, 0.5]]
    assert graph.vertex_attributes is not None and graph.vertex_attributes.ravel().tolist() == [5, 6, 7, 8]
    assert locate(path, "segment", 1) == (path, 8)
    assert locate(path, "vertex", 3) == (path, 5)
    assert locate(path, "triangle", 0) == (path, None)
    assert numbering_base(path) == 1


def test_more_columns_than_the_header_says(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "x.poly"
    plain = "4 2 0 0\n0 0 0\n1 4 0\n2 4 4\n3 0 4\n4 0\n0 0 1\n1 1 2\n2 2 3\n3 3 0\n1\n0 1 1\n1\n0 2 2 3 0.5\n"
    path.write_text(plain)
    expected = read(path)
    wide = plain.replace("1 4 0", "1 4 0 9.5 8").replace("3 0 4\n", "3 0 4 1\n").replace("1 1 2", "1 1 2 5")
    wide = wide.replace("0 1 1\n", "0 1 1 x\n").replace("0.5", "0.5 6 7")
    path.write_text(wide)
    found = read(path)
    for name in ("vertices", "segments", "holes", "regions"):
        assert getattr(found, name).tobytes() == getattr(expected, name).tobytes()
    said = " | ".join(caplog.messages)
    assert "2 lines have more fields than the table of vertices" in said and "(the first: line 3 has 5 instead" in said
    assert "1 line has more fields than the table of segments" in said and "(the first: line 8 has 4 instead" in said
    assert "1 line has more fields than the table of holes" in said
    assert "1 line has more fields than the table of regions" in said and "line 14 has 7 instead of 4 or 5" in said
    assert len(caplog.messages) == 4
    path.write_text(wide.replace("2 2 3\n", "2 2\n"))
    with pytest.raises(FileError, match="but this line has 2") as caught:
        read(path)
    assert caught.value.line == 9
    caplog.clear()
    path.unlink()
    found = read(put(tmp_path, SQUARE.replace("0 0 0", "0 0 0 1"), TWO.replace("1 0 2 3", "1 0 2 3 7")))
    assert found.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert ["x.node: 1 line" in said for said in caplog.messages] == [True, False]
    assert ["x.ele: 1 line" in said for said in caplog.messages] == [False, True]


def test_poly_takes_vertices_from_the_node_and_needs_no_hole_line(tmp_path: Path) -> None:
    put(tmp_path, SQUARE, None, poly="0 2\n1\n0 0 3\n")
    graph = read(tmp_path / "x.poly")
    assert isinstance(graph, Pslg)
    assert len(graph.vertices) == 4 and graph.segments.tolist() == [[0, 3]] and len(graph.holes) == 0
    assert locate(tmp_path / "x.poly", "vertex", 1) == (tmp_path / "x.node", 3)
    assert locate(tmp_path / "x.poly", "segment", 0) == (tmp_path / "x.poly", 3)
    (tmp_path / "x.node").unlink()
    assert "no x.node beside it" in fault(tmp_path / "x.poly")[2]


def test_neighbours_and_edges(tmp_path: Path) -> None:
    neigh, edge = tmp_path / "x.neigh", tmp_path / "x.edge"
    neigh.write_text("2 3\n1 -1 2 -1\n2 -1 -1 1\n")
    assert read_neighbours(neigh).tolist() == [[-1, 1, -1], [-1, -1, 0]]
    edge.write_text("2 1\n0 0 1 1\n1 2 0 0\n")
    edges, markers = read_edges(edge)
    assert edges.tolist() == [[0, 1], [2, 0]] and markers is not None and markers.tolist() == [1, 0]
    put(tmp_path)
    edge.write_text("1 0\n0 0 4\n")
    with pytest.raises(FileError, match=r"x\.edge:2: .*vertex 4"):
        read_edges(edge)
    for text, words in (
        ("2 3\n1 -1 2 -1\n3 -1 -1 1\n", "3: triangle 3 follows triangle 1"),
        ("1 4\n0 1 2 3 4\n", "4 nei"),
    ):
        neigh.write_text(text)
        with pytest.raises(FileError, match=words):
            read_neighbours(neigh)


def test_locate_and_numbering_base(tmp_path: Path) -> None:
    path = put(tmp_path, READ["comments"][0], READ["comments"][1])
    assert locate(path, "vertex", 2) == (tmp_path / "x.node", 8)
    assert locate(path, "triangle", 1) == (path, 4)
    assert locate(path, "triangle", 2) == locate(path, "mesh", None) == locate(path, "segment", 0) == (path, None)
    assert locate(tmp_path / "none.ele", "triangle", 0) == (tmp_path / "none.ele", None)
    assert locate(tmp_path / "x.vtu", "triangle", 0) == (tmp_path / "x.vtu", None)
    assert numbering_base(path) == numbering_base(tmp_path / "x.vtu") == 0
    assert numbering_base(put(tmp_path, *READ["from one"])) == 1


@pytest.mark.skipif(not SHARED.exists(), reason="../shared is not here")
class TestSharedMeshes:
    # Nothing is wrong with these as files: what is wrong is the geometry, which the reader does not check.
    GEOMETRY = ("dup_triangle", "nonmanifold", "zero_area")

    def expectations(self) -> dict[str, str]:
        return {entry["file"]: entry["expect"] for entry in json.loads((SHARED / "manifest.json").read_text())}

    def test_the_shared_parser_cases(self) -> None:
        cases = {name: expect for name, expect in self.expectations().items() if name.startswith("parser/")}
        assert len(cases) >= 32
        for name, expect in cases.items():
            for path in ((SHARED / name), (SHARED / name).with_suffix(".ele")):
                if path.stem == "missing_ele" and path.suffix == ".ele":
                    continue
                if expect.startswith("ok") or path.stem in self.GEOMETRY:
                    assert isinstance(read(path), Mesh)
                    continue
                with pytest.raises(FileError) as caught:
                    read(path)
                assert caught.value.path.exists()
                assert (caught.value.line is not None) == (path.stem != "missing_ele")

    def test_every_other_shared_file_is_read_or_refused(self) -> None:
        refused = []
        for path in sorted(p for p in SHARED.rglob("*") if p.suffix in (".node", ".ele", ".poly")):
            if path.parent.name == "parser" or (path.suffix == ".node" and not path.with_suffix(".ele").exists()):
                continue
            try:
                read(path)
            except FileError as error:
                refused.append(re.sub(".*/", "", str(error)))
        assert refused == [
            "invalid_indices.poly:7: segment names vertex 3, but they are numbered from 0 to 2 in invalid_indices.poly"
        ]
