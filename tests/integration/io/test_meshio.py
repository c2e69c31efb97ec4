"""Formats read and written by meshio: what each keeps; failures become errors of dmr."""

from __future__ import annotations

import contextlib
import re
import sys
import time
import types
from pathlib import Path

import meshio
import numpy as np
import pytest

from dmr.errors import FileError
from dmr.io import read, write
from dmr.io.meshio_files.calls import _meshio_suffixes, check_writer, find_format
from dmr.io.meshio_files.formats import FORMATS, Format
from dmr.mesh.types import Mesh
from tests.support.paths import ROOT

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
BOUNDARY = [suffix for suffix in EXACT if FORMATS[suffix].boundary]
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
        kept = item.segments[: len(item.segments) if FORMATS[suffix].segments else 0]
        assert np.array_equal(mesh.segments[: len(kept)], kept)
        rest = {tuple(edge) for edge in mesh.segments[len(kept) :].tolist()}
        unlisted = {(2, 3)} if item is FULL else {(0, 1), (1, 2), (2, 3), (0, 3)}
        assert rest == (unlisted if suffix in BOUNDARY else set())
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
def test_rounding_is_logged(suffix: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path / f"a{suffix}", FULL)
    assert "round coordinates" in caplog.text
    mesh = mesh_of(tmp_path / f"a{suffix}")
    assert np.allclose(mesh.vertices, FULL.vertices, rtol=1e-6, atol=1e-9)
    assert np.array_equal(mesh.triangles, FULL.triangles)


@pytest.mark.parametrize("suffix", ALL_ARRAYS)
def test_every_array_is_read_back(suffix: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
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
    # Boundary edges without a marker have 1, as in Triangle; [2, 3] is not a segment, but on the boundary.
    assert mesh.segments.tolist() == [[0, 1], [1, 2], [3, 0], [2, 3]]
    assert mesh.segment_markers is not None and mesh.segment_markers.tolist() == [7, 1, -3, 1]
    assert mesh.vertex_markers is not None and mesh.vertex_markers.tolist() == [1, 0, 5, 1]
    write(path, BARE)
    mesh = mesh_of(path)
    assert mesh.triangle_attributes is not None and mesh.triangle_attributes.shape == (2, 0)
    assert mesh.segment_markers is not None and mesh.segment_markers.tolist() == [1, 1, 1, 1]
    write(path, Mesh(BARE.vertices, BARE.triangles, triangle_attributes=[[0.5], [1]]))
    assert "region attribute that is not a whole number" in caplog.text


@pytest.mark.parametrize("suffix", [".inp", ".avs"])
def test_sets_and_materials_are_regions_and_markers(
    suffix: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / f"a{suffix}"
    write(path, FULL)
    assert "triangle_attribute_1, area_bound" in caplog.text and "vertex_marker" in caplog.text
    mesh = mesh_of(path)
    assert mesh.triangle_attributes is not None and mesh.triangle_attributes.tolist() == [[7], [9]]
    assert mesh.segment_markers is not None and mesh.segment_markers.tolist() == [7, 0, -3]
    write(path, BARE)
    mesh = mesh_of(path)
    assert mesh.triangle_attributes is not None and mesh.triangle_attributes.shape == (2, 0)


def test_regions_and_markers_of_many_values_come_back(tmp_path: Path) -> None:
    """Every sign of both, on a mesh with holes; in Gmsh's files as tags that are all positive."""
    plate = mesh_of(ROOT / "meshes" / "plate.ele")
    random = np.random.default_rng(3)
    regions = random.integers(-3, 4, (len(plate.triangles), 1)).astype(float)
    inner = np.argwhere(plate.neighbours > np.arange(len(plate.triangles))[:, None])[:40]
    crossing = [[plate.triangles[t, (k + 1) % 3], plate.triangles[t, (k + 2) % 3]] for t, k in inner]
    segments = np.concatenate([plate.segments, crossing])
    markers = random.integers(-3, 4, len(segments))
    mesh = Mesh(
        plate.vertices, plate.triangles, segments=segments, segment_markers=markers, triangle_attributes=regions
    )
    expected = markers.copy()
    expected[: len(plate.segments)][markers[: len(plate.segments)] == 0] = 1  # they are the boundary
    for suffix in (".msh", ".mesh", ".inp", ".avs"):
        write(tmp_path / f"a{suffix}", mesh)
        found = mesh_of(tmp_path / f"a{suffix}")
        assert np.array_equal(found.triangle_attributes, regions), suffix
        assert np.array_equal(found.segments, segments), suffix
        assert np.array_equal(found.segment_markers, expected if FORMATS[suffix].boundary else markers), suffix


def test_gmsh_files_hold_named_groups_of_whole_entities(tmp_path: Path) -> None:
    mesh = Mesh(
        [[0, 0], [1, 0], [1, 1], [0, 1]],
        [[0, 1, 2], [0, 2, 3]],
        segments=[[0, 2], [0, 1], [1, 2]],
        segment_markers=[0, -4, 6],
        triangle_attributes=[[0], [2]],
    )
    write(tmp_path / "a.msh", mesh)
    found = meshio.read(tmp_path / "a.msh")
    assert found.cells_dict["line"].tolist() == [[0, 2], [0, 1], [1, 2], [0, 3], [2, 3]]
    physical, geometrical = found.cell_data_dict["gmsh:physical"], found.cell_data_dict["gmsh:geometrical"]
    # A tag is positive, but that of an inner segment without a marker; 3 and 4 are the first that are free.
    assert physical["triangle"].tolist() == [3, 2]
    assert physical["line"].tolist() == [0, 4, 6, 1, 1]
    assert {name: tuple(value) for name, value in found.field_data.items()} == {
        "region_0": (3, 2), "region_2": (2, 2), "boundary_-4": (4, 1), "boundary_1": (1, 1), "boundary_6": (6, 1),
    }  # fmt: skip
    for kind, tags in physical.items():
        pairs = set(zip(tags.tolist(), geometrical[kind].tolist(), strict=True))
        assert len(pairs) == len({tag for tag, _ in pairs}) == len({entity for _, entity in pairs})
        assert min(entity for _, entity in pairs) == 1
    bare = Mesh(mesh.vertices, mesh.triangles)
    write(tmp_path / "b.msh", bare)
    found = meshio.read(tmp_path / "b.msh")
    assert found.cell_data_dict["gmsh:physical"]["triangle"].tolist() == [2, 2], "readers drop what is in no group"
    assert set(found.field_data) == {"region_0", "boundary_1"}


def test_names_of_other_programs_are_names(tmp_path: Path) -> None:
    points, triangles = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]])
    names = {"steel": np.array([3, 2]), "unused": np.array([4, 2]), "inlet": np.array([3, 1])}
    tags = {"gmsh:physical": [np.array([3], np.int32)], "gmsh:geometrical": [np.array([1], np.int32)]}
    found = meshio.Mesh(points, [("triangle", triangles)], cell_data=tags, field_data=names)
    meshio.write(tmp_path / "a.msh", found, file_format="gmsh22")
    mesh = mesh_of(tmp_path / "a.msh")
    assert mesh.triangle_attributes is not None and mesh.triangle_attributes.tolist() == [[3]]
    assert mesh.names == {"regions": {3: "steel"}, "markers": {}}


def test_markers_of_su2_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.su2").write_text(
        "NDIME= 2\nNPOIN= 3\n0 0\n1 0\n0 1\nNELEM= 1\n5 0 1 2\n"
        "NMARK= 2\nMARKER_TAG= 4\nMARKER_ELEMS= 1\n3 0 1\nMARKER_TAG= 7\nMARKER_ELEMS= 2\n3 1 2\n3 2 0\n"
    )
    mesh = mesh_of(tmp_path / "a.su2")
    assert mesh.segments.tolist() == [[0, 1], [1, 2], [2, 0]]
    assert mesh.segment_markers is not None and mesh.segment_markers.tolist() == [4, 7, 7]
    assert mesh.triangle_attributes is not None and mesh.triangle_attributes.shape == (1, 0)


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


def test_a_truncated_file_is_called_damaged(tmp_path: Path) -> None:
    write(tmp_path / "a.vtu", BARE)
    (tmp_path / "b.vtu").write_bytes((tmp_path / "a.vtu").read_bytes()[:-200])
    assert refused(tmp_path / "b.vtu") == "cannot be read as vtu: it is damaged, or in another format"
    (tmp_path / "b.vtk").write_text("# vtk\n")
    assert refused(tmp_path / "b.vtk") == "cannot be read as vtk: Illegal VTK header"


def test_a_constant_third_coordinate_is_dropped_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "dmr.io")
    path = put(tmp_path / "a.vtk", [[0, 0, 2.5], [1, 0, 2.5], [0, 1, 2.5]], [("triangle", [[0, 1, 2]])])
    assert mesh_of(path).vertices.tolist() == [[0, 0], [1, 0], [0, 1]]
    assert "the third coordinate, 2.5 everywhere, is dropped" in caplog.text
    caplog.clear()
    path = put(tmp_path / "b.vtk", [[0, 0, 0], [1, 0, 0], [0, 1, -0.0]], [("triangle", [[0, 1, 2]])])
    assert mesh_of(path).vertices.tolist() == [[0, 0], [1, 0], [0, 1]]
    assert "dropped" not in caplog.text, "nothing is lost"


def test_other_than_plane_triangle_meshes_are_refused(tmp_path: Path) -> None:
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


def test_second_order_triangles_of_permas_have_their_corners(tmp_path: Path) -> None:
    points = [[0, 0, 0], [2, 0, 0], [0, 2, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    path = put(tmp_path / "a.post", points, [("triangle6", [[0, 1, 2, 3, 4, 5]])], file_format="permas")
    mesh = mesh_of(path)
    assert mesh.vertices.tolist() == [[0, 0], [2, 0], [0, 2]] and mesh.triangles.tolist() == [[0, 1, 2]]


def test_stl_corners_are_merged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "dmr.io")
    for binary in (True, False):
        path = put(tmp_path / "a.stl", np.c_[BARE.vertices, np.zeros(4)], [("triangle", BARE.triangles)], binary=binary)
        assert mesh_of(path).triangles.tolist() == BARE.triangles.tolist()
    assert "6 corners with equal coordinates make 4 vertices" in caplog.text


def test_failures_of_meshio_become_file_errors(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
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
def test_truncated_files_give_an_error_or_a_mesh(suffix: str, tmp_path: Path) -> None:
    write(tmp_path / f"a{suffix}", BARE)
    data = (tmp_path / f"a{suffix}").read_bytes()
    for cut in range(0, len(data), max(1, len(data) // 40)):
        path = tmp_path / f"b{suffix}"
        path.write_bytes(data[:cut])
        begin = time.monotonic()
        with contextlib.suppress(FileError):
            assert isinstance(read(path), Mesh)
        assert time.monotonic() - begin < 20


def test_a_missing_package_of_a_format_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(FileError, match="h5py"):
        write(tmp_path / "a.xdmf", BARE)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", sorted(set(_meshio_suffixes()) - set(FORMATS)))
def test_every_meshio_format_is_read_back_or_refused(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    monkeypatch.setitem(sys.modules, "netCDF4", None)
    path = tmp_path / f"a{suffix}"
    try:
        write(path, BARE)
    except FileError as error:
        assert "that needs the package" in error.reason or "only be read" in error.reason
        assert list(tmp_path.iterdir()) == []
        return
    if suffix == ".svg":
        assert refused(path) == "cannot be read: svg is a format for pictures, which is only written"
    else:
        assert mesh_of(path).triangles.tolist() == BARE.triangles.tolist()


@pytest.mark.parametrize(("suffix", "package"), [(".cgns", "h5py"), (".exo", "netCDF4"), (".vtu", "meshio")])
def test_a_missing_writer_is_found_before_the_file_is_made(
    suffix: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    form = find_format(suffix) or Format(reader="exodus")
    with pytest.raises(FileError, match=rf"pip install {package}"):
        check_writer(form, tmp_path / f"a{suffix}")


def test_unsupported_formats_are_refused(tmp_path: Path) -> None:
    for suffix in (".wkt", ".vol.gz"):
        (tmp_path / f"a{suffix}").write_text("")
        assert "unknown suffix" in refused(tmp_path / f"a{suffix}")
        with pytest.raises(FileError, match="unknown suffix"):
            write(tmp_path / f"b{suffix}", BARE)


def test_a_picture_is_large_enough_for_its_lines(tmp_path: Path) -> None:
    write(tmp_path / "a.svg", BARE)
    text = (tmp_path / "a.svg").read_text()
    width = float(re.search(r'viewBox="\S+ \S+ (\S+) ', text)[1])
    stroke = float(re.search(r"stroke-width: ([\d.]+)", text)[1])
    assert width == 1000 and stroke * 1000 <= width
