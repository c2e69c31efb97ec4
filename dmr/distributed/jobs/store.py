"""The outputs of a job's tasks, each in a folder under the task's name.

An output is written beside its name, and moved into place with one rename, so that a folder under a
task's name is complete, whatever has been killed. The summary of the task lies in it, and when it ran.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.common.files.flushing import flush_file
from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.making import Making
from dmr.distributed.jobs.steps import recorded_steps
from dmr.distributed.jobs.task import DIGEST_DIGITS, Resources, Task
from dmr.errors import file_error

SUMMARY, TIMES = "summary.json", "times.json"
TEMPORARY_PREFIX, MAKING_PREFIX = ".new-", ".making-"


class Times(NamedTuple):
    """The process that ran a task, and the times at which it began and ended, in seconds since 1970.

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
        summary, rest = self.begin(task, resources)
        if rest is not None:
            rest()
        return summary

    def begin(self, task: Task, resources: Resources) -> tuple[dict[str, Any], Callable[[], None] | None]:
        """Runs a task, as `run`, until its own output is complete.

        Returns:
            Its summary, and what makes the output of `Task.then`, which must be called: tasks that need that output
            wait for it. None if there is no such output, or if this method has made it.
        """
        for each in task.needs:
            self._run_needed(each, resources)
        summary, rest = self.summary(task.name), None
        if summary is None:
            summary, rest = self._made(task, resources)
        for name in task.consumed:
            self.folder(name).discard()
        return summary, rest

    def _run_needed(self, task: Task, resources: Resources) -> None:
        """Runs a task unless its output is there, or another thread or process completes it."""
        making = self._making(task)
        while self.summary(task.name) is None:
            if making.take() or not making.works:
                try:
                    self.run(task, resources)
                finally:
                    making.release()
            else:
                making.wait()

    def _made(self, task: Task, resources: Resources) -> tuple[dict[str, Any], Callable[[], None] | None]:
        """Makes the output of a task, and a second one if it has one; result and errors are those of `begin`."""
        then = task.then
        with contextlib.ExitStack() as second:
            outputs: list[Folder] = []
            making = False
            if then is not None:
                mark = self._making(then)
                making = mark.take()
                second.callback(mark.release)
                second.enter_context(contextlib.suppress(_NoOutput))
                outputs.append(second.enter_context(self._new(then.name)))
            with self._new(task.name) as out:
                with _recorded(out):
                    summaries = task.call([self.folder(name) for name in task.inputs], [out, *outputs], resources)
                    summary = next(summaries)
                _write_json(out, SUMMARY, summary)

            def complete() -> None:
                with rest:
                    with _recorded(outputs[0]):
                        found = next(summaries, None)
                    if found is None:
                        raise _NoOutput
                    _write_json(outputs[0], SUMMARY, found)
                next(summaries, None)  # what is left to do when the output is in its place

            rest = second.pop_all()
        if then is None:
            return summary, None
        if making:
            return summary, complete
        complete()  # without a mark, tasks that need the output would not wait for it
        return summary, None

    def _making(self, task: Task) -> Making:
        """Returns the mark of the output of a task."""
        return Making(self.path / f"{MAKING_PREFIX}{task.name}")

    def remove_unfinished(self) -> None:
        """Removes what killed tasks have left; no task may be running."""
        for path in self.path.glob(f"{TEMPORARY_PREFIX}*"):
            shutil.rmtree(path, ignore_errors=True)
        for path in self.path.glob(f"{MAKING_PREFIX}*"):
            path.unlink(missing_ok=True)

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
                if _renamed(temporary, target) and self.durable:
                    flush(self.path)
        finally:
            out.stop()
            shutil.rmtree(temporary, ignore_errors=True)


class _NoOutput(Exception):
    """A task with two outputs ends before it has made the second one."""


@contextlib.contextmanager
def _recorded(out: Folder) -> Iterator[None]:
    """Writes when a block ran, and its steps, to an output."""
    begun = time.time()
    with recorded_steps() as steps:
        yield
    _write_json(out, TIMES, Times(os.getpid(), begun, time.time(), tuple(steps)))


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Converts the system's errors in a block to one of a file that cannot be written."""
    try:
        yield
    except OSError as error:
        raise file_error(error, path, "cannot be written") from error


def _renamed(folder: Path, target: Path) -> bool:
    """Renames a folder, unless another worker, such as one believed to be dead, has made the same."""
    try:
        folder.rename(target)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return False
    return True


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
