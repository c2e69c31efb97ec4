"""Meshes in parts as files of VTK, read back by VTK."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest

import dmr
from dmr import Mesh
from dmr.distributed import Parts, partition, write_pvtu, write_vtkhdf
from dmr.errors import DmrError, FileError
from tests.support.meshes import plate

pyvista = pytest.importorskip("pyvista")
TRIANGLE, LINE = 5, 3


@pytest.fixture
def parts(tmp_path) -> Parts:
    return partition(plate(), tmp_path / "parts", 5)


def grids(path) -> list:
    """The partitions of a file, as VTK reads them."""
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.Update()
    found = pyvista.wrap(reader.GetOutputDataObject(0))
    return list(found) if isinstance(found, pyvista.PartitionedDataSet) else [found]


def assert_is_part(grid, part) -> None:
    mesh = part.mesh
    np.testing.assert_array_equal(grid.points[:, :2], mesh.vertices)
    assert grid.points.dtype == np.float64 and not grid.points[:, 2].any()
    np.testing.assert_array_equal(grid.cells_dict[TRIANGLE], mesh.triangles)
    np.testing.assert_array_equal(grid.cells_dict.get(LINE, np.empty((0, 2))), mesh.segments)
    count = len(mesh.triangles)
    np.testing.assert_array_equal(grid.cell_data["number"][:count], part.triangle_numbers)
    np.testing.assert_array_equal(grid.cell_data["owner"][:count], part.owners)
    np.testing.assert_array_equal(grid.cell_data["vtkGhostType"][:count] == 1, part.ghosts)
    np.testing.assert_array_equal(grid.cell_data["triangle_attribute_0"][:count], mesh.triangle_attributes[:, 0])
    np.testing.assert_array_equal(grid.cell_data["segment_marker"][count:], mesh.segment_markers)
    np.testing.assert_array_equal(grid.point_data["number"], part.numbers)
    np.testing.assert_array_equal(grid.point_data["vtkGhostType"] == 1, part.vertex_owners != part.index)
    np.testing.assert_array_equal(grid.point_data["vertex_marker"], mesh.vertex_markers)
    np.testing.assert_array_equal(grid.point_data["vertex_attribute_0"], mesh.vertex_attributes[:, 0])


@pytest.mark.parametrize("single_piece", [False, True])
def test_a_disk_that_is_too_full_for_a_file_is_an_error(parts, tmp_path, monkeypatch, single_piece):
    """It has its whole space before it is mapped: a write to a mapped file without it would end the process."""
    pytest.importorskip("h5py")
    asked = []

    def refuse(file: int, start: int, size: int) -> None:
        asked.append((start, size))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
    with pytest.raises(FileError, match=r"mesh\.vtkhdf: cannot be written: the disk is full"):
        write_vtkhdf(parts, tmp_path / "mesh.vtkhdf", single_piece=single_piece)
    assert asked[0][0] == 0 and asked[0][1] > 24 * parts.counts["vertices"]
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_a_disk_that_is_too_full_for_the_beginning_of_a_file_is_an_error(parts, tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py")
    closed = h5py.File.close

    def refuse(file) -> None:
        closed(file)
        raise RuntimeError("Disable slist failed (file write failed: errno = 28, error message = '...', buf = 0x1)")

    monkeypatch.setattr(h5py.File, "close", refuse)
    with pytest.raises(FileError, match=r"mesh\.vtkhdf: cannot be written: the disk is full"):
        write_vtkhdf(parts, tmp_path / "mesh.vtkhdf")


def test_a_file_system_that_cannot_reserve_space_is_used_as_it_is(parts, tmp_path, monkeypatch):
    pytest.importorskip("h5py")

    def refuse(file: int, start: int, size: int) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
    assert len(grids(write_vtkhdf(parts, tmp_path / "mesh.vtkhdf"))) == len(parts)


def test_partitions(parts, tmp_path):
    h5py = pytest.importorskip("h5py")
    path = write_vtkhdf(parts, tmp_path / "mesh.vtkhdf")
    found = grids(path)
    assert len(found) == len(parts)
    for grid, part in zip(found, parts, strict=True):
        assert_is_part(grid, part)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mesh.vtkhdf", "parts"]
    assert pyvista.read(path).n_partitions == len(parts)
    with h5py.File(path) as file:
        names = file["VTKHDF/FieldData"]
        assert {name: names[name][:].tolist() for name in names} == {"steel": [1, 2], "air": [2, 2], "bore": [6, 1]}


def test_what_is_no_ghost_is_the_whole(parts, tmp_path):
    """Without ghosts, each triangle, segment and vertex occurs once."""
    pytest.importorskip("h5py")
    found = grids(write_vtkhdf(parts, tmp_path / "mesh.vtkhdf"))
    segments, numbers = [], []
    for grid in found:
        own = grid.cell_data["vtkGhostType"][grid.celltypes == LINE] == 0
        segments += map(frozenset, grid.point_data["number"][grid.cells_dict[LINE][own]].tolist())
        numbers += grid.point_data["number"][grid.point_data["vtkGhostType"] == 0].tolist()
    mesh = plate()
    assert sorted(map(sorted, segments)) == sorted(map(sorted, mesh.unique_segments()[0].tolist()))
    assert sorted(numbers) == list(range(len(mesh.vertices)))


def test_single_piece(parts, tmp_path):
    """As dolfinx reads it: one partition of triangles, no ghosts, points by number."""
    h5py = pytest.importorskip("h5py")
    path = write_vtkhdf(parts, tmp_path / "mesh.vtkhdf", single_piece=True)
    whole = parts.gather()
    (grid,) = grids(path)
    np.testing.assert_array_equal(grid.points[:, :2], whole.vertices)
    np.testing.assert_array_equal(grid.cells_dict[TRIANGLE], whole.triangles)
    np.testing.assert_array_equal(grid.cell_data["triangle_attribute_0"], whole.triangle_attributes[:, 0])
    np.testing.assert_array_equal(grid.point_data["vertex_marker"], whole.vertex_markers)
    assert grid.field_data["bore"].tolist() == [6, 1]
    assert "vtkGhostType" not in (*grid.cell_data, *grid.point_data)
    ends, markers = whole.unique_segments()
    known = {frozenset(row): marker for row, marker in zip(ends.tolist(), markers.tolist(), strict=True)}
    for corners, found in zip(whole.triangles.tolist(), grid.cell_data["edge_markers"].tolist(), strict=True):
        assert found == [known.get(frozenset(corners[:k] + corners[k + 1 :]), -1) for k in range(3)]
    with h5py.File(path) as file:
        root = file["VTKHDF"]
        assert root.attrs["Type"] == b"UnstructuredGrid" and root.attrs["Version"].tolist() == [2, 0]
        assert root["NumberOfPoints"][:].tolist() == [len(whole.vertices)]
        assert root["NumberOfConnectivityIds"][:].tolist() == [3 * root["NumberOfCells"][0]]
        assert root["Connectivity"].dtype == np.int64 and root["Offsets"].shape == (len(whole.triangles) + 1,)


def test_pvtu(parts, tmp_path):
    files = write_pvtu(parts, tmp_path / "mesh.pvtu")
    assert [path.name for path in files] == [*(f"mesh-{k:05d}.vtu" for k in range(5)), "mesh.pvtu"]
    for path, part in zip(files, parts, strict=False):
        assert_is_part(pyvista.read(path), part)
    whole = pyvista.read(files[-1])
    assert whole.n_cells == sum(len(part.mesh.triangles) + len(part.mesh.segments) for part in parts)
    assert whole.cell_data["vtkGhostType"].sum() > 0 and whole.cell_data["number"].dtype == np.int64
    assert len(dmr.read(files[0]).triangles) == len(parts.part(0).mesh.triangles)


def test_parts_without_segments(tmp_path):
    pytest.importorskip("h5py")
    mesh = dmr.delaunay(np.random.default_rng(1).random((50, 2))).mesh
    parts = partition(Mesh(mesh.vertices, mesh.triangles), tmp_path / "parts", 3)
    for grid, part in zip(grids(write_vtkhdf(parts, tmp_path / "mesh.vtkhdf")), parts, strict=True):
        np.testing.assert_array_equal(grid.cells_dict[TRIANGLE], part.mesh.triangles)
    assert pyvista.read(write_pvtu(parts, tmp_path / "mesh.pvtu")[-1]).n_cells > len(mesh.triangles)


def test_the_bytes_depend_on_the_mesh_alone(parts, tmp_path):
    pytest.importorskip("h5py")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_vtkhdf(parts, tmp_path / name / "a.vtkhdf")
        write_vtkhdf(parts, tmp_path / name / "b.vtkhdf", single_piece=True)
        write_pvtu(parts, tmp_path / name / "c.pvtu")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_refused(parts, tmp_path, monkeypatch):
    (tmp_path / "mesh.vtkhdf").write_text("mine")
    with pytest.raises(FileError, match="may not be overwritten"):
        write_vtkhdf(parts, tmp_path / "mesh.vtkhdf", overwrite=False)
    with pytest.raises(FileError, match="there is no folder"):
        write_pvtu(parts, tmp_path / "no" / "mesh.pvtu")
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(DmrError, match="pip install h5py"):
        write_vtkhdf(parts, tmp_path / "mesh.vtkhdf")
    assert (tmp_path / "mesh.vtkhdf").read_text() == "mine"
