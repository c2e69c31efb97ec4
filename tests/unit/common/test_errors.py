"""Exceptions: built-in types, data, pickling and copying."""

from __future__ import annotations

import copy
import errno
import os
import pickle
from pathlib import Path

import pytest

import dmr
from dmr import errors
from dmr.common.files.text_index import text_begin
from dmr.errors import DmrError, FileContentError, FileError, file_error
from dmr.mesh.types import Mesh

ONE = Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]])

EVERY = [
    DmrError("x"),
    errors.OptionError("x"),
    errors.KindError("x"),
    FileError("is odd", "a.ele"),
    FileContentError("is odd", Path("a.ele"), 7),
    errors.FileSystemError("is odd", "a.ele", code=errno.ENOSPC),
    errors.MissingFileError("is odd", "a.ele"),
    errors.ExistingFileError("is odd", "a.ele"),
    errors.ExistingResultError("is odd", "out"),
    errors.RefusedFileError("is odd", "a.ele"),
    errors.FolderError("is odd", "a.ele"),
    errors.NoFolderError("is odd", "a.ele"),
    errors.InvalidMeshError("is odd", "vertex", 3),
    errors.DeviceUnavailableError("x"),
    errors.NativeLibraryError("a.so", "is missing"),
    errors.OutOfMemoryError("x"),
    errors.LostWorkerError("x"),
    errors.InternalError("x"),
]


@pytest.mark.parametrize("text", [b"3 2\r1 2\r", b"# points\r\r 3", b"1\r2"])
def test_texts_whose_lines_end_with_returns_are_refused_with_a_remedy(text, tmp_path):
    with pytest.raises(FileContentError, match=r"carriage returns \(CR\) alone; convert them .*: tr '\\r' '\\n'"):
        text_begin(text, tmp_path / "mac.txt")
    for other in (text + b"\n", text.replace(b"\r", b"\r\n"), text.replace(b"\r", b" "), b"3 2 0 0\r", b""):
        assert text_begin(other, tmp_path / "other.txt") == 0


def test_every_exception_is_tested():
    found = {each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, DmrError)}
    assert found == {type(error) for error in EVERY}


@pytest.mark.parametrize("error", EVERY, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_every_exception_can_be_pickled(error, copied):
    again = copied(error)
    assert type(again) is type(error) and str(again) == str(error) and again.args == error.args
    assert vars(again) == vars(error) and again.exit_code == error.exit_code
    for name in ("errno", "filename", "strerror"):
        assert getattr(again, name, "none") == getattr(error, name, "none")


def test_notes_and_user_attributes_are_copied():
    error = FileContentError("is odd", "a.ele", 7)
    error.tile = 12
    again = pickle.loads(pickle.dumps(error))
    assert (again.tile, again.line, again.path) == (12, 7, Path("a.ele"))


def raised(call, *arguments, **options) -> FileError:
    with pytest.raises(FileError) as caught:
        call(*arguments, **options)
    return caught.value


def test_a_missing_file_is_a_file_not_found_error(tmp_path):
    for name in ("none.ele", "none.npz", "none.vtu", "none.geojson", "none.poly"):
        path = tmp_path / name
        error = raised(dmr.read, path)
        assert isinstance(error, FileNotFoundError) and str(error).startswith(f"{path}: does not exist")
        assert (error.errno, error.filename, error.path) == (errno.ENOENT, str(path), path)
    error = raised(dmr.domains.from_geojson, tmp_path / "none.geojson")
    assert isinstance(error, FileNotFoundError) and error.errno == errno.ENOENT
    with pytest.raises(FileNotFoundError):
        dmr.write(tmp_path / "no folder" / "a.ele", ONE)


def test_an_existing_file_is_a_file_exists_error(tmp_path):
    for suffix in (".ele", ".npz", ".vtu"):
        path = tmp_path / f"a{suffix}"
        dmr.write(path, ONE)
        error = raised(dmr.write, path, ONE, overwrite=False)
        assert isinstance(error, FileExistsError) and error.errno == errno.EEXIST
        assert error.filename in {str(path), str(path.with_suffix(".node"))}


def test_a_refused_file_is_a_permission_error(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    dmr.write(path, ONE)
    real = os.open

    def refuse(name, flags, *rest, **options):
        if str(name).startswith(str(tmp_path)) and flags & os.O_WRONLY:
            raise PermissionError(errno.EACCES, "Permission denied", name)
        return real(name, flags, *rest, **options)

    monkeypatch.setattr(os, "open", refuse)  # root may write everywhere
    error = raised(dmr.write, path, ONE)
    assert isinstance(error, PermissionError) and (error.errno, error.filename) == (errno.EACCES, str(path))
    assert str(error) == f"{path}: cannot be written: permission denied; nothing was changed"


def test_a_folder_in_the_way_is_an_is_a_directory_error(tmp_path):
    (tmp_path / "a.npz").mkdir()
    assert isinstance(raised(dmr.read, tmp_path / "a.npz"), IsADirectoryError)
    assert isinstance(raised(dmr.write, tmp_path / "a.npz", ONE), IsADirectoryError)


def test_bad_content_is_a_value_error(tmp_path):
    for name, content in (
        ("a.poly", "1 2 0 0\n1 x y\n0 0\n0\n"),
        ("a.npz", "no zip"),
        ("a.geojson", "{"),
        ("a.vtu", "<"),
    ):
        (tmp_path / name).write_text(content)
        error = raised(dmr.read, tmp_path / name)
        assert isinstance(error, ValueError), name
        assert not isinstance(error, OSError) and error.errno is None and error.filename == str(tmp_path / name)


SYSTEM_ERRORS = {
    FileNotFoundError: [errno.ENOENT],
    FileExistsError: [errno.EEXIST],
    PermissionError: [errno.EACCES, errno.EPERM],
    IsADirectoryError: [errno.EISDIR],
    NotADirectoryError: [errno.ENOTDIR],
    OSError: [errno.ENOSPC, errno.ENAMETOOLONG],
}


@pytest.mark.parametrize(("kind", "code"), [(kind, code) for kind, codes in SYSTEM_ERRORS.items() for code in codes])
def test_system_errors_keep_their_type(kind, code):
    error = file_error(OSError(code, os.strerror(code), "other"), "a.ele", "cannot be read", "; sorry")
    assert isinstance(error, FileError) and isinstance(error, kind) and isinstance(error, OSError)
    assert (error.errno, error.filename, error.exit_code) == (code, "a.ele", 1)
    assert str(error).startswith("a.ele: cannot be read: ") and str(error).endswith("; sorry")


def test_control_characters_in_a_name_are_escaped():
    assert str(FileError("is odd", "a\033[2J\x9b\n.ele", 3)) == r"a\x1b[2J\x9b\x0a.ele:3: is odd"
