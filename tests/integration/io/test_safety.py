"""No reader sees a half-written result, and no failure leaves files behind."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import dmr
import static_graph
from dmr.common.files import flushing, replacing
from dmr.errors import FileError
from dmr.io import read, write
from dmr.mesh.types import Mesh, Pslg

WRITER = textwrap.dedent(
    """
    import sys
    import numpy as np
    from dmr.io import write
    from dmr.mesh.types import Mesh

    def mesh(n):
        '''Every array says which mesh it is of: n.'''
        triangles = np.stack([np.arange(n), np.arange(1, n + 1), np.arange(2, n + 2)], 1)
        return Mesh(
            np.full((n + 2, 2), float(n)), triangles, segments=triangles[: n // 2, :2],
            triangle_attributes=np.full((n, 1), float(n)), area_bounds=np.full(n, float(n)) if n % 2 else None,
        )

    meshes = [mesh(3000), mesh(4001), mesh(200)]
    write(sys.argv[1], meshes[0])
    print("ready", flush=True)
    k = 1
    while True:
        write(sys.argv[1], meshes[k % 3])
        k += 1
    """
)


def check_whole(mesh: Mesh | Pslg) -> None:
    assert isinstance(mesh, Mesh)
    n = len(mesh.triangles)
    assert n in (3000, 4001, 200)
    assert len(mesh.vertices) == n + 2 and (mesh.vertices == n).all()
    assert len(mesh.segments) == n // 2
    assert mesh.triangle_attributes is not None and (mesh.triangle_attributes == n).all()
    assert (mesh.area_bounds is not None) == (n % 2 == 1)


def start(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.ele", "x.npz", "x.vtk"])
def test_a_killed_writer_leaves_old_or_new_files(name: str, tmp_path: Path) -> None:
    path, rng, outcomes = tmp_path / name, random.Random(name), []
    for _ in range(6):
        process = start(path)
        time.sleep(rng.uniform(0.005, 0.08))
        process.kill()
        process.wait()
        try:
            check_whole(read(path))
            outcomes.append("whole")
        except FileError as error:
            assert name == "x.ele" and "does not exist" in error.reason
            outcomes.append("nothing")
    assert "whole" in outcomes


@pytest.mark.slow
def test_a_concurrent_reader_sees_complete_meshes(tmp_path: Path) -> None:
    path = tmp_path / "x.ele"
    process = start(path)
    whole = 0
    try:
        end = time.monotonic() + 2
        while time.monotonic() < end:
            try:
                check_whole(read(path))
                whole += 1
            except FileError as error:
                assert any(words in error.reason for words in ("replaced while", "does not exist", "no such file")), (
                    error
                )
    finally:
        process.kill()
        process.wait()
    assert whole


def small(n: int = 40) -> Mesh:
    triangles = np.stack([np.arange(n), np.arange(1, n + 1), np.arange(2, n + 2)], 1)
    triangles[1::2] = triangles[1::2, ::-1]
    return Mesh(np.random.default_rng(n).random((n + 2, 2)), triangles)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


NAMES = ["x.ele", "x.poly", "x.npz", "x.vtu", "x.stl"]


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_leaves_the_old_files(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / name, small())
    before = snapshot(tmp_path)
    real_open = os.open

    def open_on_full_disk(path: str, flags: int, *rest: int, **named: int) -> int:
        return real_open("/dev/full", os.O_WRONLY) if flags & os.O_CREAT else real_open(path, flags, *rest, **named)

    monkeypatch.setattr(replacing.os, "open", open_on_full_disk)
    with pytest.raises(FileError, match="disk is full; nothing was changed"):
        write(tmp_path / name, small(50))
    monkeypatch.undo()
    assert snapshot(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.ele", "x.vtk", "x.npz"])
def test_a_file_size_limit_leaves_the_old_files(name: str, tmp_path: Path) -> None:
    write(tmp_path / name, small())
    before = snapshot(tmp_path)
    code = (
        "import sys, resource, numpy as np\n"
        "from dmr.io import write\nfrom dmr.mesh.types import Mesh\nfrom dmr.errors import FileError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "n = 50_000\nmesh = Mesh(np.random.random((n, 2)), np.arange(3 * (n // 3)).reshape(-1, 3))\n"
        "try: write(sys.argv[1], mesh)\n"
        "except FileError as error: print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], capture_output=True, text=True)
    assert result.returncode == 0 and "cannot be written" in result.stdout, result
    assert result.stdout.count("\n") == 1 and not result.stderr
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("name", NAMES)
def test_an_interrupt_leaves_the_old_files(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    write(tmp_path / name, small())
    before = snapshot(tmp_path)
    monkeypatch.setattr(replacing.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / name, small(50))
    assert snapshot(tmp_path) == before


def test_no_file_is_moved_before_all_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.ele"
    write(path, small())
    before, flushed, real_fsync = snapshot(tmp_path), [], os.fsync

    def fail_at_the_second(descriptor: int) -> None:
        assert snapshot(tmp_path).items() >= before.items()  # the old result stands
        flushed.append(os.fstat(descriptor).st_size)
        if len(flushed) == 2:
            raise OSError(errno.EIO, "broken")
        real_fsync(descriptor)

    monkeypatch.setattr(replacing.os, "fsync", fail_at_the_second)
    with pytest.raises(FileError, match=r"x.ele: .*nothing was changed"):
        write(path, small(50))
    monkeypatch.undo()
    assert snapshot(tmp_path) == before
    write(path, small(50))
    assert flushed == [path.with_suffix(".node").stat().st_size, path.stat().st_size]  # all was in them


def test_large_files_are_flushed_while_they_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []

    def fail(descriptor: int) -> None:
        flushed.append(os.fstat(descriptor).st_size)
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(flushing.os, "fdatasync", fail)
    monkeypatch.setattr(flushing.Flushing, "BYTES", 1)
    with pytest.raises(FileError, match="cannot be written"):
        write(tmp_path / "x.ele", small(50))
    assert flushed and not snapshot(tmp_path)


@pytest.mark.slow
def test_sigint_while_writing_leaves_the_old_files(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "x.ele")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(0.03)
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=30)
    finally:
        process.kill()
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_failure_between_moves_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.ele"
    write(path, small())

    def refuse(self: Path, target: Path) -> Path:
        raise OSError(errno.EROFS, "read-only")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(FileError, match="old result may be gone"):
        write(path, small(50))
    monkeypatch.undo()
    with pytest.raises(FileError, match="does not exist"):
        read(path)
    assert sorted(snapshot(tmp_path)) == ["x.node"]


@pytest.mark.parametrize("name", NAMES)
def test_unusable_output_paths_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no folder"):
        write(tmp_path / "none" / name, small())
    (tmp_path / name).mkdir()
    with pytest.raises(FileError, match="a folder of that name"):
        write(tmp_path / name, small())
    with pytest.raises(FileError):
        write(tmp_path / f"{'n' * 300}{Path(name).suffix}", small())
    assert sorted(snapshot_names(tmp_path)) == [name]


def snapshot_names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_missing_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        for name in NAMES:
            with pytest.raises(FileError, match="permission denied"):
                write(tmp_path / name, small())
    finally:
        tmp_path.chmod(0o700)


def test_overwrite_is_needed_for_existing_files(tmp_path: Path) -> None:
    for name in NAMES:
        write(tmp_path / f"new-{name}", small(), overwrite=False)
        with pytest.raises(FileError, match="exists already"):
            write(tmp_path / f"new-{name}", small(50), overwrite=False)
    (tmp_path / "y.area").write_text("1\n0 1\n")  # would be read with the new mesh
    with pytest.raises(FileError, match=r"y\.area: exists already"):
        write(tmp_path / "y.ele", small(), overwrite=False)
    assert not (tmp_path / "y.ele").exists()


def test_companion_files_of_an_older_mesh_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "x.ele"
    old = small(30)
    old = Mesh(old.vertices, old.triangles, segments=[[0, 1]], area_bounds=np.ones(30))
    write(path, old, neighbours=True, edges=True)
    assert sorted(snapshot_names(tmp_path)) == [f"x.{end}" for end in ("area", "edge", "ele", "neigh", "node", "poly")]
    write(path, small(50))
    assert sorted(snapshot_names(tmp_path)) == ["x.ele", "x.node"]
    assert len(read(path).segments) == 0


def test_a_domain_file_is_never_replaced_by_segments_of_a_mesh(tmp_path: Path) -> None:
    write(tmp_path / "x.poly", Pslg([[0, 0], [1, 0], [0, 1]], [[0, 1], [1, 2], [2, 0]]))
    before = snapshot(tmp_path)
    with pytest.raises(FileError, match="a domain with vertices of its own"):
        write(tmp_path / "x.ele", small())
    assert snapshot(tmp_path) == before


def test_permissions_of_replaced_files_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    write(path, small())
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()
    path.chmod(0o640)
    write(path, small(50))
    assert path.stat().st_mode & 0o777 == 0o640


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("name", ["x.ele", "x.vtu", "x.npz", "x.geojson"])
def test_a_named_pipe_was_waited_for_forever(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(FileError, match="is a pipe or a device, not a file"):
        dmr.read(tmp_path / name)
    os.mkfifo(tmp_path / "x.txt")
    with pytest.raises(ValueError, match="is a pipe or a device, not a file"):
        static_graph.read(tmp_path / "x.txt")


def test_a_picture_of_too_long_a_name_raised_a_bare_os_error() -> None:
    with pytest.raises(FileError, match="its name is too long") as caught:
        replacing.check_target(Path("x" * 5000 + ".png"), overwrite=True)
    assert isinstance(caught.value, OSError) and caught.value.errno == errno.ENAMETOOLONG
