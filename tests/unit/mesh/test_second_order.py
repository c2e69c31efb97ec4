"""Second-order meshes against Shewchuk's Triangle, and in every format that holds them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import meshio
import numpy as np
import pytest

import dmr
from dmr.errors import InvalidMeshError, OptionError
from dmr.io import read_edges
from dmr.io.meshio_files.formats import FORMATS
from tests.support.meshes import assert_equal_meshes
from tests.support.paths import ROOT

HOLDING = [".ele", *(suffix for suffix, form in FORMATS.items() if form.second_order)]

MESH = dmr.Mesh(
    [[0, 0], [2, 0], [2, 1], [0, 1]],
    [[0, 1, 2], [2, 3, 0]],
    segments=[[2, 0], [1, 0], [3, 2]],
    segment_markers=[7, 0, -5],
    vertex_markers=[1, 2, 3, 4],
    vertex_attributes=[[0, 1], [1, 1e308], [2, 1e308], [4, np.inf]],
    triangle_attributes=[[5], [6]],
    area_bounds=[0.5, -1],
)


def test_numbering_markers_and_attributes() -> None:
    found = dmr.second_order(MESH)
    assert found.edges.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]
    assert found.vertices.tolist() == [*MESH.vertices.tolist(), [1, 0], [1, 0.5], [0, 0.5], [2, 0.5], [1, 1]]
    assert found.triangles.tolist() == [[0, 1, 2, 7, 5, 4], [2, 3, 0, 6, 5, 8]], "midpoints are opposite the corners"
    assert found.vertex_markers is not None and found.vertex_markers.tolist() == [1, 2, 3, 4, 1, 7, 1, 1, -5]
    means = [[0.5, 5e307], [1, 5e307], [2, np.inf], [1.5, 1e308], [3, np.inf]]
    assert found.vertex_attributes[4:].tolist() == means
    assert found.with_midpoints(MESH.segments).tolist() == [[2, 0, 5], [1, 0, 4], [3, 2, 8]]
    bare = dmr.second_order(dmr.Mesh(MESH.vertices, MESH.triangles))
    assert bare.vertex_markers is None and bare.vertex_attributes.shape == (9, 0)
    with pytest.raises(InvalidMeshError, match=r"^segment 1: "):
        found.with_midpoints(np.array([[0, 1], [3, 1]], np.int32))
    empty = dmr.second_order(dmr.Mesh([[0, 0]], np.empty((0, 3), np.int32)))
    assert empty.triangles.shape == (0, 6) and len(empty.vertices) == 1


def test_second_order_agrees_with_triangle() -> None:
    """A square with a notch of segments in it, whose markers Triangle passes on to the midpoints."""
    triangle = pytest.importorskip("triangle")
    outline = {
        "vertices": [[0, 0], [4, 0], [4, 4], [0, 4], [1, 1], [3, 1.5]],
        "segments": [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5]],
        "segment_markers": [[2], [3], [0], [5], [6]],
    }
    made = triangle.triangulate(outline, "pqa0.3o2")
    n = len(made["vertices"]) - len(np.unique(made["triangles"][:, 3:]))
    assert made["triangles"].shape[1] == 6 and made["triangles"][:, :3].max() < n
    mesh = dmr.Mesh(
        made["vertices"][:n],
        made["triangles"][:, :3],
        segments=made["segments"],
        segment_markers=made["segment_markers"].ravel(),
        vertex_markers=made["vertex_markers"].ravel()[:n],
    )
    found = dmr.second_order(mesh)
    assert found.vertex_markers is not None
    assert np.array_equal(found.vertices[found.triangles], made["vertices"][made["triangles"]])
    assert np.array_equal(found.vertex_markers[found.triangles], made["vertex_markers"].ravel()[made["triangles"]])
    assert {0, 1, 2, 3, 5, 6} == set(found.vertex_markers.tolist())


@pytest.mark.parametrize("base", [0, 1])
def test_second_order_triangle_files(base: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    finite = replace(MESH, vertex_attributes=np.array([[0.0], [1.0], [2.0], [4.0]]))
    dmr.write(tmp_path / "a.ele", finite, order=2, base=base, edges=True)
    dmr.write(tmp_path / "b.ele", finite, base=base, edges=True)
    for suffix in (".poly", ".area", ".edge"):
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes(), "unaffected"
    rows = [[int(word) for word in line.split()[:7]] for line in (tmp_path / "a.ele").read_text().splitlines()]
    assert rows[0] == [2, 6, 1]
    assert (np.array(rows[1:])[:, 1:] - base).tolist() == dmr.second_order(finite).triangles.tolist()
    node = (tmp_path / "a.node").read_text().splitlines()
    assert node[0] == "9 2 1 1" and node[5] == f"{4 + base} 1 0 0.5 1"
    ends, _ = read_edges(tmp_path / "a.edge")
    assert ends.tolist() == dmr.second_order(finite).edges.tolist(), "edge k has midpoint n + k"
    assert_equal_meshes(dmr.read(tmp_path / "a.ele"), finite)
    assert "is of second order: the corners are kept, 5 points on edges are dropped" in caplog.text


@pytest.mark.parametrize("suffix", HOLDING)
def test_a_mesh_with_holes_comes_back_from_every_format(suffix: str, tmp_path: Path) -> None:
    plate = dmr.read(ROOT / "meshes" / "plate.ele")
    assert isinstance(plate, dmr.Mesh)
    path = tmp_path / f"a{suffix}"
    dmr.write(path, plate, order=2)
    mesh = dmr.read(path)
    assert isinstance(mesh, dmr.Mesh)
    assert mesh.vertices.tobytes() == plate.vertices.tobytes()
    assert np.array_equal(mesh.triangles, plate.triangles) and np.array_equal(mesh.segments, plate.segments)
    if suffix == ".ele":
        return
    found = meshio.read(path)
    assert {block.type for block in found.cells} == {"triangle6", "line3"}
    points, six, three = found.points[:, :2], found.cells_dict["triangle6"], found.cells_dict["line3"]
    assert len(points) == len(dmr.second_order(plate).vertices)
    for place, (i, j) in enumerate([(0, 1), (1, 2), (2, 0)]):
        assert np.array_equal(points[six[:, 3 + place]], (points[six[:, i]] + points[six[:, j]]) / 2)
    assert np.array_equal(points[three[:, 2]], (points[three[:, 0]] + points[three[:, 1]]) / 2)
    assert np.isin(three[:, 2], six[:, 3:]).all(), "the points on lines are those of the triangles"


@pytest.mark.parametrize("suffix", [".vtu", ".vtk"])
def test_every_array_is_read_back(suffix: str, tmp_path: Path) -> None:
    dmr.write(tmp_path / f"a{suffix}", MESH, order=2)
    assert_equal_meshes(dmr.read(tmp_path / f"a{suffix}"), MESH)


def test_groups_of_gmsh_are_those_of_first_order(tmp_path: Path) -> None:
    for order in (1, 2):
        dmr.write(tmp_path / f"{order}.msh", MESH, order=order)
    first, second = (meshio.read(tmp_path / f"{order}.msh") for order in (1, 2))
    for name in ("gmsh:physical", "gmsh:geometrical"):
        for one, two in zip(first.cell_data[name], second.cell_data[name], strict=True):
            assert np.array_equal(one, two)
    assert {name: tuple(tag) for name, tag in first.field_data.items()} == {
        name: tuple(tag) for name, tag in second.field_data.items()
    }
    assert len(first.cells_dict["line"]) == len(second.cells_dict["line3"]) == 5


def test_formats_without_midpoints_are_refused(tmp_path: Path) -> None:
    refusing = sorted(set(FORMATS) - set(HOLDING))
    assert {".stl", ".obj", ".mesh", ".xdmf", ".su2"} <= set(refusing)
    for suffix in [*refusing, ".npz", ".poly", ".edge", ".cgns"]:
        with pytest.raises(OptionError, match="second order"):
            dmr.write(tmp_path / f"a{suffix}", MESH, order=2)
    with pytest.raises(OptionError, match="order must be 1 or 2, not 3"):
        dmr.write(tmp_path / "a.ele", MESH, order=3)
    loose = dmr.Mesh(MESH.vertices, MESH.triangles, segments=[[1, 3]])
    with pytest.raises(InvalidMeshError, match=r"^segment 0: "):
        dmr.write(tmp_path / "a.vtu", loose, order=2)
    assert list(tmp_path.iterdir()) == []
    dmr.write(tmp_path / "a.ele", loose, order=2)
    assert dmr.read(tmp_path / "a.ele").segments.tolist() == [[1, 3]], "a .poly names ends only"


def test_repr_is_one_line():
    mesh = dmr.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]])
    assert repr(dmr.second_order(mesh)) == "SecondOrder(9 vertices, 2 triangles, 5 edges)"
