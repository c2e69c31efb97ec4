"""The folder of a job: made, locked, resumed, and left with the result alone.

out/manifest.json       the result is complete; written last
out/part-00000.npz      ... and other files of the result
out/job.json            identifies the job, until the result is complete
out/.tasks/             the outputs of its tasks, likewise
out/.lock               while a run works in it
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dmr.common.files.replacing import replace_files, write_bytes
from dmr.common.pooling import close, new_pool, submit
from dmr.common.text import option
from dmr.distributed.jobs.boot import BOOT, discard_lost
from dmr.distributed.jobs.lock import LOCK, locked
from dmr.distributed.jobs.store import Store
from dmr.errors import ExistingResultError, NoFolderError, file_error
from dmr.io.part_names import JOB, MANIFEST

TASKS = ".tasks"
REMOVED_AT_ONCE = 8  # files


@contextmanager
def job_folder(out: Path, job: Mapping[str, Any], *, overwrite: bool = False) -> Iterator[Store]:
    """Makes the folder of a job, or resumes one, and gives the store of its tasks.

    Args:
        out: the folder; the folder above it exists.
        job: identifies the job: plain JSON values, no paths, no workers.
        overwrite: whether a finished result, or what is left of another job, is replaced. The old result stays until
            the block writes another one.

    Yields:
        The store. The block writes the result, and the manifest last; then the outputs of tasks are removed. If it
        raises, they stay.

    Raises:
        ExistingResultError: there is a finished result, what is left of another job, or files of another origin.
        NoFolderError: `out` is a file. FileSystemError: another run works in it. FileError: it cannot be written.
    """
    made, given = _make(out), out  # messages name the folder as it was given
    out = out.absolute()
    with _removed_if_empty(out, made=made), locked(out, named=given):
        _check(given, job, overwrite=overwrite)
        write_json(out / JOB, job)
        store = Store(out / TASKS)
        store.path.mkdir(exist_ok=True)
        discard_lost(store)
        store.remove_unfinished()
        try:
            yield store
            finished = True
        except BaseException:
            finished = all(path.name == BOOT for path in store.path.iterdir())  # there is nothing to resume
            raise
        finally:
            if finished:
                _end_job(out)


def _end_job(out: Path) -> None:
    """Removes the outputs of the tasks of a job, as far as they are there, and then what identifies it."""
    if (out / TASKS).is_dir():
        _remove_outputs(out / TASKS)
    (out / JOB).unlink()


def _remove_outputs(folder: Path) -> None:
    """Removes the outputs of tasks; the system takes a while to free files, so that several threads do it."""
    outputs = [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()]
    files = [path for output in outputs for path in output.iterdir() if path.is_file()]
    pool = new_pool(REMOVED_AT_ONCE, "dmr-remove")
    try:
        for removed in [submit(pool, path.unlink) for path in files]:
            removed.result()
    finally:
        close(pool)
    shutil.rmtree(folder)


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Writes a file of JSON, or replaces it.

    Raises:
        FileError: it cannot be written.
    """
    text = f"{json.dumps(values, indent=2, ensure_ascii=False)}\n"
    replace_files([(path, lambda file: write_bytes(file, text.encode()))], overwrite=True)


@contextmanager
def _removed_if_empty(out: Path, *, made: bool) -> Iterator[None]:
    """Removes a folder that this run has made, and left empty."""
    try:
        yield
    finally:
        if made and not any(out.iterdir()):
            out.rmdir()


def _make(out: Path) -> bool:
    """Makes the folder; returns whether it was missing."""
    if out.exists() and not out.is_dir():
        raise NoFolderError("is a file; a mesh in tiles is written to a folder: name another one", out)
    try:
        out.mkdir()
    except FileExistsError:
        return False
    except OSError as error:
        raise file_error(error, out, "cannot be made") from error
    return True


def _check(out: Path, job: Mapping[str, Any], *, overwrite: bool) -> None:
    """Refuses a folder that holds something else than an unfinished run of this job.

    Removes another job's tasks, and those of this job if it is finished.
    """
    entries = {path.name for path in out.iterdir()} - {LOCK}
    unfinished, this = JOB in entries, json.loads(json.dumps(job))
    if MANIFEST in entries:
        if not overwrite:
            if unfinished and _finished_job(out) == this == _read(out / JOB):
                _end_job(out)  # the run was ended between the manifest and the removal of its outputs
            raise ExistingResultError(f"holds a finished result; {option('overwrite', True)} replaces it", out)
    elif entries and not unfinished:
        raise ExistingResultError("holds other files: name a new folder, or an empty one", out)
    if unfinished and _read(out / JOB) != this:
        if not overwrite:
            raise ExistingResultError(
                "holds the unfinished work of another job, with other input, options or version of dmr: "
                f"name another folder, or discard it with {option('overwrite', True)}",
                out,
            )
        shutil.rmtree(out / TASKS, ignore_errors=True)


def _finished_job(out: Path) -> Any:
    """Returns what identifies the job of a finished result."""
    manifest = _read(out / MANIFEST)
    return manifest.get("job") if isinstance(manifest, dict) else None


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise file_error(error, path, "cannot be read") from error
