"""The package's own .npz files; round trips and safety are tested with those of the other formats."""

from __future__ import annotations

import contextlib
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dmr.errors import FileError
from dmr.io import read, write
from dmr.mesh.types import Mesh, Pslg

MESH = Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]], segments=[[0, 1]], vertex_markers=[1, 2, 3])


def refused(path: Path) -> str:
    with pytest.raises(FileError) as caught:
        read(path)
    assert caught.value.path == path and "\n" not in str(caught.value)
    return caught.value.reason


def test_bytes_depend_only_on_the_mesh(tmp_path: Path) -> None:
    write(tmp_path / "a.npz", MESH)
    write(tmp_path / "b.npz", Mesh(MESH.vertices, MESH.triangles, segments=MESH.segments, vertex_markers=[1, 2, 3]))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}
        names = [entry.filename for entry in archive.infolist()]
    assert names[0] == "dmr_format.npy" and "area_bounds.npy" not in names


def test_arrays_written_by_other_programs(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", vertices=[[0, 0], [1, 0], [0, 1.5]], triangles=[[0, 1, 2]], other=[1])
    mesh = read(tmp_path / "a.npz")
    assert isinstance(mesh, Mesh) and mesh.vertices[2].tolist() == [0, 1.5]
    np.savez(tmp_path / "b.npz", vertices=[[0, 0], [1, 0]], segments=[[0, 1]])
    assert isinstance(read(tmp_path / "b.npz"), Pslg)


def test_holes_and_regions_are_optional(tmp_path: Path) -> None:
    mesh = Mesh(MESH.vertices, MESH.triangles, holes=[[2, 2]], regions=[[0.1, 0.1, 3, -1], [5, 5, 4, 0.5]])
    write(tmp_path / "a.npz", mesh)
    found = read(tmp_path / "a.npz")
    assert isinstance(found, Mesh)
    assert found.holes.tolist() == mesh.holes.tolist() and found.regions.tolist() == mesh.regions.tolist()
    with np.load(tmp_path / "a.npz") as archive:
        before = {name: archive[name] for name in archive if name not in ("holes", "regions")}
    np.savez(tmp_path / "b.npz", **before)  # as it was before meshes had holes and regions
    found = read(tmp_path / "b.npz")
    assert isinstance(found, Mesh) and found.holes.shape == (0, 2) and found.regions.shape == (0, 4)
    np.savez(tmp_path / "c.npz", **before, regions=[[1.0, 2.0]])
    assert "regions must have shape (n, 4)" in refused(tmp_path / "c.npz")


def test_invalid_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    for text in (b"", b"hello", b"PK\x03\x04 and more"):
        path.write_bytes(text)
        assert refused(path)
    write(path, MESH)
    whole = path.read_bytes()
    for cut in range(0, len(whole), 97):
        path.write_bytes(whole[:cut])
        assert refused(path)
    for k in range(0, len(whole), 13):
        broken = bytearray(whole)
        broken[k] ^= 0x10
        path.write_bytes(broken)
        with contextlib.suppress(FileError):  # or the bit lies where the zip format does not guard it
            read(path)
    np.savez(path, triangles=[[0, 1, 2]])
    assert refused(path) == "holds no array named vertices"
    np.savez(path, vertices=[[0, 0], [1, 0], [0, 1]], triangles=[[0, 1, 7]])
    assert "triangle 0: names vertex 7" in refused(path)
    np.savez(path, vertices=[[0, 0], [1, 0], [0, 1]], triangles=[[0, 1, 2]], dmr_format=99)
    assert "version 99" in refused(path)
    np.savez(path, vertices=np.array([None, {}]), triangles=[[0, 1, 2]])
    assert "is damaged, or not an .npz file" in refused(path), "pickles are not opened"
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(3))
    path.write_bytes(buffer.getvalue())
    assert "single array" in refused(path)
    for data in (b"", b"(lp0\n.", b"\x80\x04N."):  # the last two are pickles
        path.write_bytes(data)
        assert refused(path) == "is damaged, or not an .npz file: it does not begin as one"


def test_labels_of_triangles_as_rows_of_tables(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    arrays = {"vertices": [[0, 0], [1, 0], [1, 1], [0, 1]], "triangles": [[0, 1, 2], [0, 2, 3]], "dmr_format": 2}
    tables = {"triangle_attributes_of_rows": [[7.0], [8.0], [9.0]], "area_bounds_of_rows": [0.5, 0.25, 0.125]}
    np.savez(path, **arrays, **tables, label_rows=np.array([2, 0], np.int32))
    found = read(path)
    assert isinstance(found, Mesh)
    assert found.triangle_attributes is not None and found.triangle_attributes.tolist() == [[9], [7]]
    assert found.area_bounds is not None and found.area_bounds.tolist() == [0.125, 0.5]
    for rows in ([0, 3], [-1, 0]):
        np.savez(path, **arrays, **tables, label_rows=np.array(rows, np.int32))
        assert "is damaged" in refused(path)
    np.savez(path, **arrays, **tables, label_rows=np.array([0], np.int32))
    assert "triangle_attributes must have shape (2, n)" in refused(path)


@pytest.mark.parametrize("suffix", [".npz", ".node"])
def test_points_alone_are_written_and_read(tmp_path, suffix):
    points = np.array([(0, 0), (3, 0), (1, 2), (0.1, 1 / 3)])
    path = tmp_path / f"points{suffix}"
    write(path, Pslg(points))
    found = read(path, companions=() if suffix == ".node" else None)
    assert np.array_equal(found.vertices, points) and not len(found.segments)
    np.savez(tmp_path / "foreign.npz", vertices=points)
    assert np.array_equal(read(tmp_path / "foreign.npz").vertices, points)


def test_a_node_file_keeps_no_segments_holes_or_regions(tmp_path):
    corners, ring = [(0, 0), (1, 0), (0, 1)], [(0, 1), (1, 2), (2, 0)]
    for more in ({"segments": ring}, {"holes": [(0.2, 0.2)]}, {"regions": [(0.2, 0.2, 1, -1)]}):
        with pytest.raises(FileError, match=r"use \.poly or \.npz"):
            write(tmp_path / "a.node", Pslg(corners, **more))
    assert not any(tmp_path.iterdir())
