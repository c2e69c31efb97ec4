"""Parts of a mesh: ghosts, owners, numbers, and the whole again."""

from __future__ import annotations

import errno
import json
import os
import pickle
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from dmr import Mesh
from dmr.distributed import Parts, partition
from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Task
from dmr.distributed.output import columns, finish, part_file
from dmr.distributed.tiles import tasks
from dmr.distributed.tiles.piece import NUMBERS
from dmr.distributed.tiles.result import core_file
from dmr.errors import DmrError, FileError, InvalidMeshError, NoFolderError, OptionError, WrongTypeError
from dmr.io.archives.npz import write_npz
from tests.support.meshes import plate

PER_VERTEX = ("vertices", "vertex_markers", "vertex_attributes")
PER_TRIANGLE = ("triangle_attributes", "area_bounds")


def expected_ghosts(corners: np.ndarray, owners: np.ndarray, index: int) -> list[int]:
    """Triangles of other parts that share a vertex with those of a part, one by one."""
    own = {
        vertex
        for triangle, owner in zip(corners.tolist(), owners.tolist(), strict=True)
        if owner == index
        for vertex in triangle
    }
    return [t for t, triangle in enumerate(corners.tolist()) if owners[t] != index and own & set(triangle)]


def assert_parts_of(parts: Parts, mesh: Mesh, *, cores: bool = False) -> None:
    """Asserts that parts hold a mesh, triangle by triangle, with the ghosts and owners that follow from it.

    Args:
        cores: whether the vertices of cores come first.
    """
    read = list(parts)
    corners = np.concatenate([part.numbers[part.mesh.triangles[: part.own]] for part in read])
    owners = np.concatenate([np.full(part.own, part.index) for part in read])
    at = {tuple(row): t for t, row in enumerate(mesh.triangles.tolist())}
    origin = np.array([at[tuple(row)] for row in corners.tolist()])
    assert sorted(origin.tolist()) == list(range(len(mesh.triangles)))
    vertex_owners = np.full(len(mesh.vertices), len(read))
    np.minimum.at(vertex_owners, corners.ravel(), np.repeat(owners, 3))
    vertex_owners[vertex_owners == len(read)] = 0  # vertices without triangles
    segments = {
        frozenset(row): marker for row, marker in zip(mesh.segments.tolist(), mesh.segment_markers, strict=True)
    }
    for part in read:
        own, found = part.mesh, part.triangle_numbers
        assert found[: part.own].tolist() == np.flatnonzero(owners == part.index).tolist()
        assert found[part.own :].tolist() == expected_ghosts(corners, owners, part.index)
        assert part.owners.tolist() == owners[found].tolist()
        assert part.ghosts.tolist() == (part.owners != part.index).tolist()
        np.testing.assert_array_equal(part.numbers[own.triangles], corners[found])
        assert len(part.ascending) <= (2 if cores else 1)
        assert len(np.unique(part.numbers)) == len(part.numbers)
        assert part.vertex_owners.tolist() == vertex_owners[part.numbers].tolist()
        for name in PER_VERTEX:
            if getattr(mesh, name) is not None:
                np.testing.assert_array_equal(getattr(own, name), getattr(mesh, name)[part.numbers])
        for name in PER_TRIANGLE:
            if getattr(mesh, name) is not None:
                np.testing.assert_array_equal(getattr(own, name), getattr(mesh, name)[origin[found]])
        edges = {frozenset(row) for row in part.numbers[own.edges].tolist()}
        there = {
            frozenset(row): marker
            for row, marker in zip(part.numbers[own.segments].tolist(), own.segment_markers, strict=True)
        }
        assert there == {ends: marker for ends, marker in segments.items() if ends in edges}
        assert own.names == mesh.names


@pytest.mark.parametrize(("count", "method"), [(1, "hilbert"), (2, "hilbert"), (9, "hilbert"), (5, "metis")])
def test_partition(count, method, tmp_path):
    if method == "metis":
        pytest.importorskip("pymetis")
    mesh = plate()
    parts = partition(mesh, tmp_path / "out", count, method=method)
    assert_parts_of(parts, mesh)
    assert len(parts) == count and parts.unrefined == {}
    assert parts.counts == {"vertices": len(mesh.vertices), "triangles": len(mesh.triangles), "parts": count}
    sizes = [part.own for part in parts]
    assert max(sizes) - min(sizes) <= (1 if method == "hilbert" else 0.03 * len(mesh.triangles) / count + 1)
    whole = parts.gather()
    rows = np.concatenate([part.numbers[part.mesh.triangles[: part.own]] for part in parts])
    np.testing.assert_array_equal(whole.triangles, rows)
    for name in (*PER_VERTEX, "holes", "regions"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(mesh, name))
    assert whole.names == mesh.names
    for one, other in zip(whole.unique_segments(), mesh.unique_segments(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert sorted(path.name for path in parts.folder.iterdir()) == [
        "manifest.json",
        *(f"part-{k:05d}.npz" for k in range(count)),
    ]


@pytest.mark.parametrize("room", [core_file.ROOM_PER_ROW, 0.0])
def test_parts_whose_files_begin_with_cores(room, tmp_path, monkeypatch):
    """Without room for the other rows, the files are written anew, with the same arrays."""
    monkeypatch.setattr(core_file, "ROOM_PER_ROW", room)
    monkeypatch.setattr(core_file, "LEAST_ROOM", 0)
    anew = []
    monkeypatch.setattr(part_file, "begin_core", lambda *given: anew.append(given) or core_file.begin_core(*given))
    outline = halves()
    parts = dmr.distributed.refine(outline, tmp_path / "out", tile_triangles=4000, device="cpu", threads=1)
    assert sum(len(part.ascending) == 2 for part in parts) >= max(len(anew), 1)
    assert bool(anew) == (room == 0)
    for index, part in enumerate(parts):
        with np.load(parts.path(index)) as archive:
            assert archive.zip.testzip() is None
            assert (archive["dmr_format"] == 2) == ("label_rows" in archive)
        np.testing.assert_array_equal(dmr.read(parts.path(index)).triangle_attributes, part.mesh.triangle_attributes)
    whole = parts.gather()
    assert_parts_of(parts, whole, cores=True)
    assert set(whole.triangle_attributes.ravel().tolist()) == {7, 8}
    assert set(whole.area_bounds.tolist()) == {3e-4, 4e-4}
    assert dmr.validate(whole, input=outline, min_angle=30).ok
    assert dmr.distributed.validate(parts, input=outline, min_angle=30).ok


def halves() -> dmr.Pslg:
    """Two squares side by side, whose triangles have different attributes and area bounds."""
    return dmr.Pslg(
        [(0, 0), (1, 0), (2, 0), (2, 1), (1, 1), (0, 1)],
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (1, 4)],
        regions=[(0.5, 0.5, 7, 4e-4), (1.5, 0.5, 8, 3e-4)],
        segment_markers=[2, 3, 4, 5, 6, 7, 8],
    )


def test_whether_a_file_is_in_main_memory(tmp_path):
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or "tmpfs /dev/shm tmpfs" not in Path("/proc/mounts").read_text("utf-8"):
        pytest.skip("there is no file system in main memory")
    with tempfile.TemporaryFile(dir=memory) as file:
        assert core_file.in_memory(file)
    with Path("/proc/self/status").open("rb") as file:
        assert not core_file.in_memory(file)


@pytest.mark.parametrize("expected", [1, 10**6])
def test_cores_in_mapped_files_have_the_bytes_of_written_ones(expected, tmp_path, monkeypatch):
    """As on a GPU with a file system in main memory, with fewer pages made ahead than a core needs, and with more."""
    options = {"tile_triangles": 4000, "device": "cpu", "threads": 2}
    written = dmr.distributed.refine(halves(), tmp_path / "written", **options)
    mapped_arrays = []

    begin = core_file.begin_core

    def begin_core(*given, **named):
        mapped_arrays.append(sorted(given[4]))
        return begin(*given, **named)

    monkeypatch.setattr(tasks, "core_bytes", lambda *given, **named: expected)
    monkeypatch.setattr(core_file, "in_memory", lambda file: True)
    monkeypatch.setattr(core_file, "begin_core", begin_core)
    mapped = dmr.distributed.refine(halves(), tmp_path / "mapped", **options)
    assert ["label_rows", "numbers", "triangles", "vertices"] in mapped_arrays
    for one, other in zip(written, mapped, strict=True):
        assert written.path(one.index).read_bytes() == mapped.path(other.index).read_bytes()
    assert written.manifest == mapped.manifest


@pytest.mark.parametrize("expected", [0, 10**6])
def test_cores_that_are_finished_twice(expected, tmp_path, monkeypatch):
    """As after a run that was killed before it knew that they were: the files have the same bytes."""
    again = []
    run_needed = Store._run_needed

    def repeated(store, task, resources):
        run_needed(store, task, resources)
        if task.function.endswith(":finish_core") and task.name not in again:
            shutil.rmtree(store.path / task.name)
            again.append(task.name)
            run_needed(store, task, resources)

    options = {"tile_triangles": 4000, "threads": 2}
    once = dmr.distributed.refine(halves(), tmp_path / "once", device="cpu", **options)
    monkeypatch.setattr(tasks, "core_bytes", lambda *given, **named: expected)
    monkeypatch.setattr(core_file, "in_memory", lambda file: True)
    monkeypatch.setattr(Store, "_run_needed", repeated)
    monkeypatch.setattr(tasks, "_first_number", lambda *given: -1)
    twice = dmr.distributed.refine(halves(), tmp_path / "twice", device="cpu", **options)
    assert again
    for one, other in zip(once, twice, strict=True):
        assert once.path(one.index).read_bytes() == twice.path(other.index).read_bytes()


@pytest.mark.parametrize("together", [1, 32])
@pytest.mark.parametrize("pinched", [False, True])
def test_no_task_reads_numbers_of_a_core_before_they_are_written(together, pinched, tmp_path, monkeypatch):
    """They are written in place, and another process might find half of one."""
    read = []
    call, get = Task.call, Folder.__getitem__

    def seen(task, *given):
        running.append(task.function.rpartition(":")[2])
        yield from call(task, *given)

    def seen_array(folder, name):
        if name == f"{tasks.CORE}-{NUMBERS}":
            read.append((folder.path.name, running[-1]))
        return get(folder, name)

    running = []
    monkeypatch.setattr(tasks, "_first_number", lambda *given: -1)
    monkeypatch.setattr(finish, "MOST_TOGETHER", together)
    monkeypatch.setattr(Task, "call", seen)
    monkeypatch.setattr(Folder, "__getitem__", seen_array)
    square, options = dmr.domains.rectangle(1, 1), {"max_area": 1.5e-4, "tile_triangles": 8000}
    if pinched:
        corners = [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (1, 2), (0, 1)]
        square = dmr.Pslg(corners, [(0, 1), (1, 2), (2, 6), (6, 0), (2, 3), (3, 4), (4, 5), (5, 2)])
    dmr.distributed.refine(square, tmp_path / "out", device="cpu", threads=1, **options)
    cores = {core for core, reader in read if reader == "finish_core"}
    assert len(cores) > 1
    for core in cores:
        readers = [reader for each, reader in read if each == core]
        assert set(readers[: readers.index("finish_core")]) <= {"divide"}


def test_pages_that_a_core_lacks_are_an_error(tmp_path, monkeypatch):
    def refuse(descriptor, start, count):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tasks, "core_bytes", lambda *given, **named: 10**6)
    monkeypatch.setattr(core_file, "in_memory", lambda file: True)
    monkeypatch.setattr(os, "posix_fallocate", refuse)
    with pytest.raises(FileError, match="cannot be written"):
        dmr.distributed.refine(halves(), tmp_path / "out", tile_triangles=4000, device="cpu", threads=1)
    monkeypatch.undo()
    parts = dmr.distributed.refine(halves(), tmp_path / "out", tile_triangles=4000, device="cpu", threads=1)
    assert dmr.distributed.validate(parts, input=halves(), min_angle=30).ok


def test_a_part_is_completed_again_after_its_task_has_failed(tmp_path, monkeypatch):
    """The file of a core holds what the first try has written, with or without the end of the archive."""
    options = {"max_area": 1.5e-4, "tile_triangles": 8000, "device": "cpu", "threads": 1}
    square = dmr.domains.rectangle(1, 1)
    whole = dmr.distributed.refine(square, tmp_path / "whole", **options)
    left = [0, 0]  # calls until one fails, and bytes that are then missing

    def write(descriptor, columns, threads, begun):
        write_npz(descriptor, columns, threads, begun)
        left[0] -= 1
        if left[0] == 0:
            os.truncate(descriptor, os.fstat(descriptor).st_size - left[1])
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(part_file, "write_npz", write)
    for cut in (0, 5000):
        left[:] = 1, cut
        with pytest.raises(FileError, match="the disk is full"):
            dmr.distributed.refine(square, tmp_path / "out", **options)
    monkeypatch.undo()
    parts = dmr.distributed.refine(square, tmp_path / "out", **options)
    assert any(len(part.ascending) == 2 for part in parts)
    for index in range(len(whole)):
        assert parts.path(index).read_bytes() == whole.path(index).read_bytes()


@settings(max_examples=8)
@given(data=st.data())
def test_any_owners(data, tmp_path_factory):
    """Parts of scattered triangles, which meet in vertices and have several components."""
    from dmr.distributed.output.partition import write_divided

    size = data.draw(st.integers(3, 12))
    mesh = dmr.delaunay(np.random.default_rng(size).random((size, 2))).mesh
    owners = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(mesh.triangles), max_size=len(mesh.triangles)))
    )
    out = tmp_path_factory.mktemp("parts")
    write_divided(mesh, [np.flatnonzero(owners == index) for index in np.unique(owners)], out)
    assert_parts_of(Parts(out), mesh)


def test_the_bytes_depend_on_the_mesh_alone(tmp_path):
    for name in ("one", "two"):
        partition(plate(), tmp_path / name, 4)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_a_part_is_also_a_mesh(tmp_path):
    part = partition(plate(), tmp_path / "out", 3).part(1)
    np.testing.assert_array_equal(dmr.read(tmp_path / "out" / "part-00001.npz").triangles, part.mesh.triangles)


@pytest.mark.slow
def test_lazy_arrays(tmp_path):
    pytest.importorskip("dask.array")
    mesh, parts = plate(), partition(plate(), tmp_path / "out", 5)
    lazy = parts.open_lazily()
    assert len(lazy.triangles.chunks[0]) == 5
    numbers = lazy.numbers.compute()
    assert sorted(numbers.tolist()) == list(range(len(mesh.vertices)))
    np.testing.assert_array_equal(lazy.vertices.compute(), mesh.vertices[numbers])
    np.testing.assert_array_equal(lazy.triangles.compute(), parts.gather().triangles)
    np.testing.assert_array_equal(lazy.triangle_attributes.compute(), parts.gather().triangle_attributes)
    assert lazy.triangles[-1].compute().tolist() == parts.gather().triangles[-1].tolist()
    sent = pickle.loads(pickle.dumps(lazy))
    np.testing.assert_array_equal(sent.numbers.compute(), numbers)


def test_refused_partitions(tmp_path):
    with pytest.raises(OptionError, match="from 1 to the number of triangles"):
        partition(plate(), tmp_path / "out", 0)
    with pytest.raises(OptionError, match="one of hilbert, metis"):
        partition(plate(), tmp_path / "out", 2, method="scotch")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(FileError, match="is not empty"):
        partition(plate(), tmp_path / "full", 2)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["notes.txt"]
    with pytest.raises(FileError, match="cannot be made: there is no such file"):
        partition(plate(), tmp_path / "no" / "out", 2)


def test_without_pymetis(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pymetis", None)
    with pytest.raises(DmrError, match="pip install pymetis"):
        partition(plate(), tmp_path / "out", 2, method="metis")


def test_folders_that_hold_no_parts(tmp_path):
    with pytest.raises(FileError, match="does not exist"):
        Parts(tmp_path / "none")
    with pytest.raises(FileError, match=r"no finished result in parts: it has no manifest\.json"):
        Parts(tmp_path)
    manifest = tmp_path / "manifest.json"
    for text, message in (
        ("{", "is damaged"),
        ('{"format": "x"}', "not the manifest of a result"),
        ("[]", "not the manifest"),
    ):
        manifest.write_text(text)
        with pytest.raises(FileError, match=message):
            Parts(tmp_path)
    manifest.write_text('{"format": "dmr parts", "version": 99}')
    with pytest.raises(FileError, match="version 99 of the format; this dmr reads up to 2"):
        Parts(tmp_path)


def test_folders_of_the_first_version_are_read(tmp_path):
    """Files without the core of a tile are those of version 1."""
    parts = partition(plate(), tmp_path / "out", 3)
    manifest = tmp_path / "out" / "manifest.json"
    assert parts.manifest["version"] == 2
    manifest.write_text(json.dumps({**parts.manifest, "version": 1}))
    np.testing.assert_array_equal(Parts(tmp_path / "out").gather().triangles, parts.gather().triangles)


def test_files_that_hold_no_part(tmp_path):
    parts = partition(plate(), tmp_path / "out", 3)
    with pytest.raises(NoFolderError, match=r"0\.npz: is a file, not a folder of parts; dmr\.read reads meshes"):
        Parts(parts.path(0))
    with pytest.raises(OptionError, match="there is no part 3"):
        parts.part(3)
    with pytest.raises(WrongTypeError, match="index must be a whole number, not '1'"):
        parts.part("1")
    dmr.write(parts.path(1), plate())
    with pytest.raises(FileError, match="no part of one: it has no array index"):
        parts.part(1)
    parts.path(1).write_bytes(parts.path(0).read_bytes()[:-100])
    with pytest.raises(FileError, match="damaged"):
        parts.part(1)
    parts.path(1).unlink()
    with pytest.raises(FileError, match=r"part-00001\.npz: cannot be read"):
        parts.part(1)


def test_a_part_with_wrong_lengths(tmp_path):
    parts = partition(plate(), tmp_path / "out", 3)
    with np.load(parts.path(1)) as archive:
        arrays = dict(archive)
    np.savez(parts.path(1), **arrays | {"numbers": arrays["numbers"][:-1]})
    with pytest.raises(FileError, match="do not have the lengths"):
        parts.part(1)


def test_parts_of_other_arrays(tmp_path):
    parts = partition(plate(), tmp_path / "out", 3)
    with np.load(parts.path(1)) as archive:
        arrays = dict(archive)
    np.savez(parts.path(1), **{name: array for name, array in arrays.items() if name != "area_bounds"})
    with pytest.raises(InvalidMeshError, match="of part 0 and part 1, only one has area_bounds"):
        parts.gather()


def test_parts_that_do_not_belong_together(tmp_path):
    parts = partition(plate(), tmp_path / "out", 3)
    manifest = json.loads((parts.folder / "manifest.json").read_text())
    manifest["triangles"] += 1
    (parts.folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InvalidMeshError, match="dmr validate finds what is wrong"):
        Parts(parts.folder).gather()


@pytest.mark.parametrize(
    ("regions", "few_in_part", "expected"), [(2, True, np.uint8), (2, False, np.int32), (300, True, np.int32)]
)
def test_labels_take_a_byte_per_triangle_if_they_are_few(regions, few_in_part, expected, tmp_path, monkeypatch):
    """Vertical strips. If a core has few labels, and its part has not, the file is written anew."""
    if not few_in_part:
        for name in ("few_labels", "rows_of_labels"):
            monkeypatch.setattr(columns, name, lambda *given: None)
    x = np.linspace(0, 1, regions + 1)
    corners = np.concatenate([np.stack([x, np.full_like(x, y)], axis=1) for y in (0, 1)])
    at = np.arange(regions)
    segments = np.concatenate([
        np.stack([at, at + 1], axis=1), np.stack([at, at + 1], axis=1) + regions + 1,
        np.stack([np.arange(regions + 1), np.arange(regions + 1) + regions + 1], axis=1),
    ])  # fmt: skip
    inside = [((k + 0.5) / regions, 0.5, 10 + k, 4e-5) for k in range(regions)]
    strips = dmr.Pslg(corners, segments, regions=inside)
    parts = dmr.distributed.refine(strips, tmp_path / "out", tile_triangles=12_000, device="cpu", threads=2)
    types = set()
    for part in list(parts)[: parts.manifest["passes"][0]["tiles"]]:  # the last band may be in a few strips
        with np.load(parts.path(part.index)) as archive:
            if "label_rows" in archive:  # the part has the core of a tile
                types.add(archive["label_rows"].dtype)
                assert len(archive["triangle_attributes_of_rows"]) <= regions or expected == np.int32
    assert types == {np.dtype(expected)}
    assert dmr.distributed.validate(parts, input=strips, min_angle=30).ok
    mesh = parts.gather()
    place = (mesh.vertices[mesh.triangles].mean(axis=1)[:, 0] * regions).astype(int)
    np.testing.assert_array_equal(mesh.triangle_attributes[:, 0], 10 + place)
