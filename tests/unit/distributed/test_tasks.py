"""Names of tasks, their outputs, and the runner in this process."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dmr.distributed.jobs import task
from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.in_process import InProcess
from dmr.distributed.jobs.steps import step
from dmr.distributed.jobs.store import TEMPORARY_PREFIX, Store
from dmr.distributed.jobs.task import Task
from dmr.errors import FileError, MissingFileError, OptionError
from tests.support.distributed import functions


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_names_depend_on_function_inputs_and_options_alone():
    tasks = [
        Task.of(functions.count_up, n=3),
        Task.of(functions.count_up, n=4),
        Task.of(functions.count_up, ["arrays-0"], n=3),
        Task.of(functions.add_up, ["arrays-0"], factor=3),
        Task.of(functions.add_up, ["arrays-0", "arrays-1"], factor=3),
        Task.of(functions.add_up, ["arrays-1", "arrays-0"], factor=3),
    ]
    assert len({task.name for task in tasks}) == len(tasks)
    first = Task.of(functions.add_up, ["a"], factor=3, other=[1, {"b": 2.5, "a": None}])
    assert Task.of(functions.add_up, ["a"], other=(1, {"a": None, "b": 2.5}), factor=3).name == first.name
    assert pickle.loads(pickle.dumps(first)).name == first.name


def test_the_version_is_part_of_names(store):
    """A worker refuses tasks of another version: it would store other results under the same name."""
    mine = Task.of(functions.count_up, n=3)
    other = replace(mine, version="0.0")
    assert other.name != mine.name
    with pytest.raises(OptionError, match=r"a worker has dmr .*, but the task comes from dmr 0\.0"):
        InProcess(store).run([other])


def test_outputs_of_another_version_are_not_taken(store, monkeypatch):
    """The version of the package stays as it is between two releases."""
    monkeypatch.setattr(task, "OUTPUTS", 1)
    before = Task.of(functions.count_up, n=3)
    InProcess(store).run([before])
    monkeypatch.undo()
    after = Task.of(functions.count_up, n=3)
    assert before.version == after.version
    assert store.missing([after]) == [after]


def test_a_chain_of_tasks(store):
    runner = InProcess(store)
    counts = [Task.of(functions.count_up, n=n) for n in (3, 5)]
    assert runner.run(counts) == [{"count": 3}, {"count": 5}]
    total = Task.of(functions.add_up, [task.name for task in counts], factor=2)
    assert runner.run([total]) == [{"total": 26, "range": [0, 26]}]
    assert store.folder(total.name)["numbers"].tolist() == [26]


def test_finished_tasks_are_not_run_again(store):
    task = Task.of(functions.count_up, n=3)
    InProcess(store).run([task])
    _fill(store.folder(task.name).path, numbers=np.array([7]))
    assert InProcess(store).run([task]) == [{"count": 3}]
    assert store.folder(task.name)["numbers"].tolist() == [7]


def test_a_task_that_raises_leaves_nothing(store):
    with pytest.raises(ValueError, match="as the test wants it"):
        InProcess(store).run([Task.of(functions.fail)])
    assert list(store.path.iterdir()) == []


def test_remains_of_killed_tasks_are_removed(store):
    InProcess(store).run([Task.of(functions.count_up, n=3)])
    remains = store.path / f"{TEMPORARY_PREFIX}count_up-1-2"
    remains.mkdir()
    (remains / "numbers.npy").write_bytes(b"half")
    store.remove_unfinished()
    assert [path.name for path in store.path.iterdir()] == [Task.of(functions.count_up, n=3).name]


def test_arrays_are_named_by_their_content(store):
    arrays = {"a": np.arange(6.0).reshape(2, 3), "none": np.empty((0, 2), np.int32)}
    name = store.put(arrays)
    assert store.put(dict(reversed(arrays.items()))) == name
    changed = [
        {"a": np.nextafter(arrays["a"], 9), "none": arrays["none"]},
        {"a": arrays["a"].reshape(3, 2), "none": arrays["none"]},
        {"a": arrays["a"].view(np.int64), "none": arrays["none"]},
        {"b": arrays["a"], "none": arrays["none"]},
        {"a": arrays["a"]},
    ]
    assert len({store.put(each) for each in changed} | {name}) == 6
    folder = store.folder(name)
    assert list(folder) == ["a", "none"]
    for each, array in arrays.items():
        assert folder[each].dtype == array.dtype
        np.testing.assert_array_equal(folder[each], array)


def test_arrays_are_mapped_and_read_only(store):
    folder = store.folder(store.put({"a": np.arange(6)}))
    assert isinstance(folder["a"].base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        folder["a"][0] = 1


def test_missing_and_broken_arrays_are_named(tmp_path):
    with pytest.raises(MissingFileError, match=r"arrays\.bin: cannot be read"):
        Folder(tmp_path)["a"]
    _fill(tmp_path, b=np.arange(3))
    assert "a" not in Folder(tmp_path)
    with pytest.raises(MissingFileError, match=r"arrays\.bin: has no array 'a'"):
        Folder(tmp_path)["a"]
    content = (tmp_path / "arrays.bin").read_bytes()
    for broken in (b"no array", content[:-1], content[:-8], content[:-8] + b"\xff" * 8):
        (tmp_path / "arrays.bin").write_bytes(broken)
        with pytest.raises(FileError, match=r"arrays\.bin: is damaged"):
            Folder(tmp_path)["b"]


def test_the_file_of_small_arrays_is_opened_once(tmp_path, monkeypatch):
    opened = []
    real = Path.open
    monkeypatch.setattr(Path, "open", lambda path, *mode, **more: opened.append(path.name) or real(path, *mode, **more))
    _fill(tmp_path, a=np.arange(3), b=np.arange(5), c=np.arange(7.0))
    assert opened == ["arrays.bin"]
    assert [len(Folder(tmp_path)[name]) for name in "abc"] == [3, 5, 7]


def test_a_folder_that_was_stopped_takes_further_arrays(tmp_path):
    folder = Folder(tmp_path)
    folder["a"] = np.arange(3)
    folder.stop()
    folder["b"] = np.arange(5)
    folder.close()
    assert [len(Folder(tmp_path)[name]) for name in "ab"] == [3, 5]


def _fill(path: Path, **arrays: np.ndarray) -> None:
    folder = Folder(path)
    for name, array in arrays.items():
        folder[name] = array
    folder.close()


def test_errors_of_inputs_are_not_those_of_outputs(tmp_path):
    """The error names the file that a task cannot read, not the output that it would have made."""
    store = Store(tmp_path)
    none = Task.of(functions.add_up, ["none"], factor=1)
    with pytest.raises(MissingFileError, match=r"none/arrays\.bin: cannot be read: there is no such file"):
        InProcess(store).run([none])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(FileError, match=r"count_up-\w+: cannot be written: there is no such file or folder"):
        InProcess(Store(tmp_path / "none")).run([Task.of(functions.count_up, n=3)])


def test_steps_of_a_task_are_recorded_with_its_times(store):
    task = Task.of(functions.take_steps, seconds=0.02)
    with step("outside"):  # of no task
        InProcess(store).run([task])
    times = store.times(task.name)
    assert [name for name, *_ in times.steps] == ["first", "inner", "second"]
    (_, begun, ended), (_, begun_inner, ended_inner), (_, begun_second, ended_second) = times.steps
    assert times.begun <= begun < begun + 0.02 <= ended <= begun_second <= begun_inner
    assert begun_inner + 0.02 <= ended_inner <= ended_second <= times.ended
