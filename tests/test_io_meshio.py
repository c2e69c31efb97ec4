"""The formats that go through meshio: what each keeps, and that its failures stay inside."""

from __future__ import annotations

import contextlib
import sys
import time
import types
from pathlib import Path

import meshio
import numpy as np
import pytest

from dmr.errors import FileError
from dmr.io import read, write
from dmr.io.meshio_formats import FORMATS
from dmr.meshes import Mesh

BARE = Mesh([[0, 0], [1, 0], [1, 1 / 3], [-0.1, 1e-7]], [[0, 1, 2], [0, 2, 3]])
FULL = Mesh(
    BARE.vertices,
    BARE.triangles,
    segments=[[0, 1], [1, 2], [3, 0]],
    segment_markers=[7, 0, -3],
    vertex_markers=[1, 0, 5, 1],
    vertex_attributes=[[0.1, 2], [1 / 3, 3], [-0.0, 4], [1e300, 5]],
    triangle_attributes=[[7, 0.25], [9, 1 / 3]],
    area_bounds=[0.5, -1],
)

EXACT = [suffix for suffix, form in FORMATS.items() if form.exact]
ROUNDING = [suffix for suffix, form in FORMATS.items() if not form.exact]
ALL_ARRAYS = [suffix for suffix in EXACT if FORMATS[suffix].data == "arrays"]
COMMON = [".vtu", ".vtk", ".msh", ".stl", ".obj", ".off", ".ply"]


@pytest.fixture(autouse=True)
def h5py_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """meshio imports h5py to write XDMF, but as XML it uses nothing of it."""
    if "h5py" not in sys.modules:
        monkeypatch.setitem(sys.modules, "h5py", types.ModuleType("h5py"))


def mesh_of(path: Path) -> Mesh:
    mesh = read(path)
    assert isinstance(mesh, Mesh)
    return mesh


@pytest.mark.parametrize("suffix", EXACT)
def test_vertices_and_triangles_come_back_to_the_bit(
    suffix: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"a{suffix}"
    for item in (BARE, FULL):
        assert write(path, item) == [path]
        mesh = mesh_of(path)
        assert mesh.vertices.tobytes() == item.vertices.tobytes()
        assert np.array_equal(mesh.triangles, item.triangles)
        kept = FORMATS[suffix].segments
        assert len(mesh.segments) == (len(item.segments) if kept else 0)
        assert np.array_equal(mesh.segments, item.segments[: len(mesh.segments)])
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    out, _ = capfd.readouterr()
    assert out == ""


@pytest.mark.parametrize("suffix", EXACT)
def test_any_double_comes_back(suffix: str, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    vertices = random.standard_normal((60, 2)) * 10.0 ** random.integers(-300, 300, (60, 1))
    vertices[0] = -0.0, 5e-324
    mesh = Mesh(
        vertices,
        np.arange(60).reshape(-1, 3),
        vertex_markers=np.arange(60) - 5,
        vertex_attributes=random.random((60, 2)),
    )
    write(tmp_path / f"a{suffix}", mesh)
    found = mesh_of(tmp_path / f"a{suffix}")
    assert found.vertices.tobytes() == vertices.tobytes() and np.array_equal(found.triangles, mesh.triangles)
    if FORMATS[suffix].data in ("arrays", "vertex arrays", "gmsh tags"):
        assert found.vertex_attributes is not None and mesh.vertex_attributes is not None
        assert found.vertex_attributes.tobytes() == mesh.vertex_attributes.tobytes()
        assert np.array_equal(found.vertex_markers, mesh.vertex_markers)


@pytest.mark.parametrize("suffix", ROUNDING)
def test_rounding_is_said(suffix: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path / f"a{suffix}", FULL)
    assert "round coordinates" in caplog.text
    mesh = mesh_of(tmp_path / f"a{suffix}")
    assert np.allclose(mesh.vertices, FULL.vertices, rtol=1e-6, atol=1e-9)
    assert np.array_equal(mesh.triangles, FULL.triangles)


@pytest.mark.parametrize("suffix", ALL_ARRAYS)
def test_all_arrays_come_back(suffix: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / f"a{suffix}"
    write(path, FULL)
    assert not [record for record in caplog.records if record.levelname == "WARNING"]
    mesh = mesh_of(path)
    for name in ("segment_markers", "vertex_markers", "vertex_attributes", "triangle_attributes", "area_bounds"):
        assert getattr(mesh, name).tobytes() == getattr(FULL, name).tobytes(), name
    write(path, BARE)
    mesh = mesh_of(path)
    assert mesh.vertex_markers is None and mesh.area_bounds is None
    assert mesh.vertex_attributes is not None and mesh.vertex_attributes.shape == (4, 0)
    assert mesh.triangle_attributes is not None and mesh.triangle_attributes.shape == (2, 0)


@pytest.mark.parametrize("suffix", [".msh", ".mesh", ".meshb"])
def test_tags_and_labels_are_regions_and_markers(suffix: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / f"a{suffix}"
    write(path, FULL)
    assert "do not keep" in caplog.text and "triangle_attribute_1, area_bound" in caplog.text
    mesh = mesh_of(path)
    assert mesh.triangle_attributes is not None and mesh.triangle_attributes.tolist() == [[7], [9]]
    assert mesh.segment_markers is not None and mesh.segment_markers.tolist() == [7, 0, -3]
    assert mesh.vertex_markers is not None and mesh.vertex_markers.tolist() == [1, 0, 5, 1]
    write(path, BARE)
    mesh = mesh_of(path)
    assert mesh.triangle_attributes is not None and mesh.triangle_attributes.shape == (2, 0)
    write(path, Mesh(BARE.vertices, BARE.triangles, triangle_attributes=[[0.5], [1]]))
    assert "region attribute that is not a whole number" in caplog.text


@pytest.mark.parametrize("suffix", COMMON)
def test_bytes_hold_no_date_and_no_version(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    write(path, FULL)
    first = path.read_bytes()
    time.sleep(0.01)
    other = tmp_path / "other"
    other.mkdir()
    write(other / f"b{suffix}", FULL)
    assert (other / f"b{suffix}").read_bytes() == first
    assert b"meshio v" not in first and str(tmp_path).encode() not in first


def put(path: Path, points: object, cells: list[tuple[str, object]], **options: object) -> Path:
    meshio.write(path, meshio.Mesh(np.array(points, float), [(kind, np.array(c)) for kind, c in cells]), **options)
    return path


def refused(path: Path) -> str:
    with pytest.raises(FileError) as caught:
        read(path)
    assert caught.value.path == path and "\n" not in str(caught.value)
    return caught.value.reason


def test_flat_third_coordinate_is_dropped_with_a_word(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "dmr.io")
    path = put(tmp_path / "a.vtk", [[0, 0, 2.5], [1, 0, 2.5], [0, 1, 2.5]], [("triangle", [[0, 1, 2]])])
    assert mesh_of(path).vertices.tolist() == [[0, 0], [1, 0], [0, 1]]
    assert "the third coordinate, 2.5 everywhere, is dropped" in caplog.text


def test_what_is_not_a_flat_triangle_mesh_is_refused(tmp_path: Path) -> None:
    square = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    bent = put(tmp_path / "a.vtk", [[0, 0, 0], [1, 0, 0], [0, 1, 1e-9]], [("triangle", [[0, 1, 2]])])
    assert refused(bent) == "is not flat: vertex 2 has z = 1.0000000000000001e-09, vertex 0 has z = 0"
    cells: list[tuple[str, object]] = [("triangle", [[0, 1, 2]]), ("quad", [[0, 1, 2, 3]]), ("tetra", [[0, 1, 2, 3]])]
    assert refused(put(tmp_path / "b.vtu", square, cells)).startswith("holds 1 quad and 1 tetra cells: only triangles")
    assert refused(put(tmp_path / "c.vtu", square, [("line", [[0, 1]])])) == "holds no triangles"
    assert "names vertex 9" in refused(put(tmp_path / "d.vtk", square, [("triangle", [[0, 1, 9]])]))
    square[1][0] = float("nan")
    assert "vertex 1: coordinates (nan, 0.0)" in refused(put(tmp_path / "e.vtk", square, [("triangle", [[0, 1, 2]])]))


def test_higher_order_keeps_the_corners(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    points = [[0, 0, 0], [0.5, 0, 0], [1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0]]
    mesh = mesh_of(put(tmp_path / "a.vtu", points, [("triangle6", [[0, 2, 4, 1, 3, 5]]), ("line3", [[0, 2, 1]])]))
    assert mesh.vertices.tolist() == [[0, 0], [1, 0], [0, 1]]
    assert mesh.triangles.tolist() == [[0, 1, 2]] and mesh.segments.tolist() == [[0, 1]]
    assert "3 other points are dropped" in caplog.text


def test_stl_corners_are_merged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "dmr.io")
    for binary in (True, False):
        path = put(tmp_path / "a.stl", np.c_[BARE.vertices, np.zeros(4)], [("triangle", BARE.triangles)], binary=binary)
        assert mesh_of(path).triangles.tolist() == BARE.triangles.tolist()
    assert "6 corners with equal coordinates make 4 vertices" in caplog.text


def test_failures_of_meshio_stay_inside(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for suffix in [*FORMATS, ".cgns", ".med", ".e"]:
        for text in (
            b"",
            b"hello world\n",
            b"\x00\xff" * 50,
            b"OFF\n",
            b"ply\n",
            b"solid\n",
            b"(0 \n",
            b"$Elements\n1\n",
        ):
            path = tmp_path / f"a{suffix}"
            path.write_bytes(text)
            assert refused(path)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("suffix", sorted({".off", ".ply", ".mdpa", ".tec", ".vtu", ".vtk", ".msh", ".stl", ".inp"}))
def test_files_cut_short_end_in_an_error_or_a_mesh_but_end(suffix: str, tmp_path: Path) -> None:
    write(tmp_path / f"a{suffix}", BARE)
    data = (tmp_path / f"a{suffix}").read_bytes()
    for cut in range(0, len(data), max(1, len(data) // 40)):
        path = tmp_path / f"b{suffix}"
        path.write_bytes(data[:cut])
        begin = time.monotonic()
        with contextlib.suppress(FileError):
            assert isinstance(read(path), Mesh)
        assert time.monotonic() - begin < 2


def test_a_package_that_a_format_needs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(FileError, match=r"cannot be written as xdmf: that needs the package h5py"):
        write(tmp_path / "a.xdmf", BARE)
    assert list(tmp_path.iterdir()) == []


def test_formats_left_alone_are_unknown(tmp_path: Path) -> None:
    for suffix in (".wkt", ".vol.gz"):
        (tmp_path / f"a{suffix}").write_text("")
        assert "unknown suffix" in refused(tmp_path / f"a{suffix}")
        with pytest.raises(FileError, match="unknown suffix"):
            write(tmp_path / f"b{suffix}", BARE)
