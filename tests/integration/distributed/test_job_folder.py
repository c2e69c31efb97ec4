"""The folder of a job: made, resumed, refused, locked."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dmr.distributed.jobs import boot
from dmr.distributed.jobs.folder import LARGE, OWN_FILE
from dmr.distributed.jobs.in_process import InProcess
from dmr.distributed.jobs.job_folder import job_folder, write_json
from dmr.distributed.jobs.task import Task
from dmr.distributed.output.parts import Parts
from dmr.errors import ExistingResultError, FileError, FileSystemError, MissingFileError, NoFolderError
from dmr.io.part_names import MANIFEST
from tests.support.distributed import functions

JOB = {"input": "0123", "options": {"min_angle": 30.0}, "version": "0"}


def finish(out: Path) -> None:
    with job_folder(out, JOB) as store:
        InProcess(store).run([Task.of(functions.count_up, n=3)])
        write_json(out / MANIFEST, {"parts": []})


def test_a_finished_job_leaves_its_result_alone(tmp_path):
    finish(tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [MANIFEST]


def test_outputs_are_removed_but_not_the_files_that_they_link_to(tmp_path):
    others = tmp_path / "others"
    others.mkdir()
    mine = others / LARGE.format(0)
    mine.write_bytes(b"mine")
    with job_folder(tmp_path / "out", JOB) as store:
        (store.path / "link").symlink_to(others, target_is_directory=True)
        store.put({"large": np.zeros(OWN_FILE, np.uint8), "small": np.zeros(3)})
        assert len(list(store.path.glob(f"arrays-*/{LARGE.format(0)}"))) == 1
        write_json(tmp_path / "out" / MANIFEST, {"parts": []})
    assert [path.name for path in (tmp_path / "out").iterdir()] == [MANIFEST]
    assert mine.read_bytes() == b"mine"


def test_the_same_job_resumes(tmp_path):
    task = Task.of(functions.count_runs, log=str(tmp_path), n=1)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), job_folder(tmp_path / "out", JOB) as store:
            InProcess(store).run([task])
            raise KeyboardInterrupt
    assert len(list(tmp_path.glob("1-*"))) == 1


@pytest.mark.parametrize(("same", "runs"), [(True, 1), (False, 2)])
def test_outputs_that_were_not_flushed_hold_until_the_machine_starts_again(same, runs, tmp_path, monkeypatch):
    (tmp_path / "boot_id").write_text("first")
    monkeypatch.setattr(boot, "_BOOT_ID", tmp_path / "boot_id")
    task = Task.of(functions.count_runs, log=str(tmp_path), n=1)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), job_folder(tmp_path / "out", JOB) as store:
            boot.spare_flushes(store)
            assert not store.durable
            InProcess(store).run([task])
            if not same:
                (tmp_path / "boot_id").write_text("second")
            raise KeyboardInterrupt
    assert len(list(tmp_path.glob("1-*"))) == runs


def test_outputs_are_flushed_where_the_system_does_not_tell_when_it_starts_again(tmp_path, monkeypatch):
    monkeypatch.setattr(boot, "_BOOT_ID", tmp_path / "none")
    with job_folder(tmp_path / "out", JOB) as store:
        boot.spare_flushes(store)
        assert store.durable


def killed_at_the_end(out: Path, job: dict[str, object]) -> None:
    """Leaves what a run leaves that is killed between its manifest and the removal of the outputs of its tasks."""
    with pytest.raises(KeyboardInterrupt), job_folder(out, job) as store:
        InProcess(store).run([Task.of(functions.count_up, n=3)])
        write_json(out / MANIFEST, {"parts": [], "job": JOB})
        raise KeyboardInterrupt


def test_a_run_that_was_killed_at_its_end_leaves_its_result_alone_the_next_time(tmp_path):
    killed_at_the_end(tmp_path / "out", JOB)
    assert len(list((tmp_path / "out").iterdir())) == 3
    with pytest.raises(ExistingResultError, match="holds a finished result"), job_folder(tmp_path / "out", JOB):
        pass
    assert [path.name for path in (tmp_path / "out").iterdir()] == [MANIFEST]


def test_the_outputs_of_another_job_than_the_finished_one_stay(tmp_path):
    other = {**JOB, "version": "1"}
    killed_at_the_end(tmp_path / "out", other)
    for job in (JOB, other):
        with pytest.raises(ExistingResultError, match="holds a finished result"), job_folder(tmp_path / "out", job):
            pass
        assert len(list((tmp_path / "out").iterdir())) == 3


def test_a_manifest_of_another_form_names_no_job(tmp_path):
    killed_at_the_end(tmp_path / "out", JOB)
    (tmp_path / "out" / MANIFEST).write_text("[]")
    with pytest.raises(ExistingResultError, match="holds a finished result"), job_folder(tmp_path / "out", JOB):
        pass
    assert len(list((tmp_path / "out").iterdir())) == 3


def test_a_finished_result_needs_overwrite(tmp_path):
    finish(tmp_path / "out")
    with pytest.raises(ExistingResultError, match="holds a finished result; overwrite=True replaces it") as caught:
        finish(tmp_path / "out")
    assert caught.value.exit_code == 2
    with job_folder(tmp_path / "out", JOB, overwrite=True) as store:
        assert (tmp_path / "out" / MANIFEST).exists()
        assert list(store.path.iterdir()) == []


def test_what_another_job_has_left_is_refused_or_discarded(tmp_path):
    with pytest.raises(KeyboardInterrupt), job_folder(tmp_path, JOB) as store:
        InProcess(store).run([Task.of(functions.count_up, n=3)])
        raise KeyboardInterrupt
    other = {**JOB, "options": {"min_angle": 25.0}}
    with pytest.raises(ExistingResultError, match="the unfinished work of another job"), job_folder(tmp_path, other):
        pass
    with job_folder(tmp_path, other, overwrite=True) as store:
        assert list(store.path.iterdir()) == []


def test_files_of_others_are_never_touched(tmp_path):
    (tmp_path / "thesis.tex").write_text("years")
    for overwrite in (False, True):
        with (
            pytest.raises(ExistingResultError, match="holds other files: name a new folder"),
            job_folder(tmp_path, JOB, overwrite=overwrite),
        ):
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_run_that_did_nothing_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), job_folder(tmp_path / "out", JOB):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_impossible_folders_are_refused_in_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    for path, message in (
        (tmp_path / "file", "is a file; a mesh in tiles is written to a folder"),
        (tmp_path / "file" / "out", "cannot be made: a part of its path is not a folder"),
        (tmp_path / "none" / "out", "cannot be made: there is no such file or folder"),
    ):
        with pytest.raises(FileError, match=message) as caught, job_folder(path, JOB):
            pass
        assert isinstance(caught.value, NoFolderError) == ("file" in path.parts)


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with job_folder(tmp_path, JOB) as store:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(FileSystemError, match=r"count_up-\w+: cannot be written: the disk is full"):
            InProcess(store).run([Task.of(functions.count_up, n=3)])
        monkeypatch.undo()
        assert list(store.path.iterdir()) == []


def test_a_second_run_is_refused_and_death_frees_the_folder(tmp_path):
    program = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from dmr.distributed.jobs.lock import locked\n"
        "with locked(Path(sys.argv[1])):\n"
        "    print('held', flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(FileSystemError, match="another run is using this folder"), job_folder(tmp_path, JOB):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with job_folder(tmp_path, JOB):
            pass


def test_the_lock_is_refused_under_the_name_that_the_folder_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    with (
        job_folder(Path("out"), JOB),
        pytest.raises(FileSystemError, match=r"^out: another run is using this folder"),
        job_folder(Path("out"), JOB),
    ):
        pass


def test_a_run_in_progress_is_no_result_but_named_as_one(tmp_path):
    with job_folder(tmp_path, JOB), pytest.raises(MissingFileError, match="its run is in progress, or was ended"):
        Parts(tmp_path)


def test_file_systems_without_locks_are_reported(tmp_path, monkeypatch, caplog):
    def unsupported(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with job_folder(tmp_path, JOB):
        pass
    assert "this file system has no locks: make sure that no other run works in this folder" in caplog.text
