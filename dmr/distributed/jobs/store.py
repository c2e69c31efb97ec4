"""The outputs of a job's tasks, each in a folder under the task's name.

An output is written beside its name, and moved into place with one rename, so that a folder under a
task's name is complete, whatever has been killed. The summary of the task lies in it, and when it ran.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.common.files.flushing import flush_file
from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.steps import recorded_steps
from dmr.distributed.jobs.task import DIGEST_DIGITS, Resources, Task
from dmr.errors import file_error

SUMMARY, TIMES = "summary.json", "times.json"
TEMPORARY_PREFIX = ".new-"


class Times(NamedTuple):
    """When a task ran: the number of its process, and seconds since 1970 by the clock of its machine.

    Attributes:
        steps: of each step its name, when it began and when it ended (`dmr.distributed.jobs.steps`).
    """

    process: int
    begun: float
    ended: float
    steps: tuple[tuple[str, float, float], ...] = ()


class Store:
    """Outputs by name.

    Args:
        path: a folder that all workers share. It exists.
        durable: whether outputs are flushed to disk, which only those need that outlive a failure of the machine.

    Attributes:
        path, durable: as given.
    """

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        self.path = path
        self.durable = durable

    def folder(self, name: str) -> Folder:
        """Returns the output of a finished task, or stored arrays."""
        return Folder(self.path / name)

    def summary(self, name: str) -> dict[str, Any] | None:
        """Returns the summary of a task, or None if it has no output yet.

        Raises:
            FileError: it cannot be read.
        """
        path = self.path / name / SUMMARY
        try:
            summary: dict[str, Any] = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise file_error(error, path, "cannot be read") from error
        return summary

    def times(self, name: str) -> Times | None:
        """Returns when a task with an output ran, or None if that cannot be read."""
        try:
            process, begun, ended, steps = json.loads((self.path / name / TIMES).read_text("utf-8"))
            return Times(process, begun, ended, tuple((*each,) for each in steps))
        except (OSError, ValueError, TypeError):
            return None

    def put(self, arrays: Mapping[str, NDArray[Any]]) -> str:
        """Stores arrays; returns their name, which is a digest of their names, types and bytes.

        Raises:
            FileError: they cannot be written.
        """
        name = name_of(arrays)
        if self.summary(name) is None:
            with self._new(name) as out:
                for each, array in arrays.items():
                    out[each] = array
                _write_json(out, SUMMARY, {})
        return name

    def missing(self, tasks: Sequence[Task]) -> list[Task]:
        """Returns the tasks without an output, each once."""
        return [task for task in {task.name: task for task in tasks}.values() if self.summary(task.name) is None]

    def run(self, task: Task, resources: Resources) -> dict[str, Any]:
        """Runs a task unless its output is there, and discards the inputs that it consumes; returns its summary.

        Raises:
            FileError: its output cannot be written. Whatever the task raises.
        """
        summary = self.summary(task.name)
        if summary is None:
            with self._new(task.name) as out:
                begun = time.time()
                with recorded_steps() as steps:
                    summary = task.call([self.folder(name) for name in task.inputs], out, resources)
                _write_json(out, TIMES, Times(os.getpid(), begun, time.time(), tuple(steps)))
                _write_json(out, SUMMARY, summary)
        for name in task.consumed:
            self.folder(name).discard()
        return summary

    def remove_unfinished(self) -> None:
        """Removes what killed tasks have left; no task may be running."""
        for path in self.path.glob(f"{TEMPORARY_PREFIX}*"):
            shutil.rmtree(path, ignore_errors=True)

    @contextlib.contextmanager
    def _new(self, name: str) -> Iterator[Folder]:
        """Gives an empty folder, and moves it into place when the block has filled it.

        An error of a file in the folder becomes one of the output; other errors of the block stay as they are.
        """
        target = self.path / name
        temporary = self.path / f"{TEMPORARY_PREFIX}{name}-{os.urandom(8).hex()}"
        out = Folder(temporary)
        try:
            with _writing(target):
                temporary.mkdir()
            try:
                yield out
            except OSError as error:
                if error.filename is None or temporary not in Path(os.fsdecode(error.filename)).parents:
                    raise
                raise file_error(error, target, "cannot be written") from error
            with _writing(target):
                out.close()
                if self.durable:
                    for path in (*temporary.iterdir(), temporary):
                        flush(path)
                if not target.exists():  # else another worker, believed to be dead, has made the same
                    temporary.rename(target)
                    if self.durable:
                        flush(self.path)
        finally:
            out.stop()
            shutil.rmtree(temporary, ignore_errors=True)


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Converts the system's errors in a block to one of a file that cannot be written."""
    try:
        yield
    except OSError as error:
        raise file_error(error, path, "cannot be written") from error


def _write_json(out: Folder, name: str, values: Any) -> None:
    path = out.path / name
    with _writing(path):
        path.write_text(json.dumps(values), "utf-8")


def name_of(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Returns the name of stored arrays: a digest of their names, types, shapes and bytes."""
    state = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        state.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        state.update(array.reshape(-1).view(np.uint8).data)
    return f"arrays-{state.hexdigest()[:DIGEST_DIGITS]}"


def flush(path: Path) -> None:
    """Waits until a file or folder is on disk."""
    flush_file(os.open(path, os.O_RDONLY))
