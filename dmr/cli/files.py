"""Input and output files as the commands see them: errors by file and line, outputs checked before the work."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np

from dmr import io
from dmr.cli.arguments import FEATURE_OPTIONS, Arguments
from dmr.errors import FileContentError, FolderError, InvalidMeshError, MissingFileError, OptionError, file_error
from dmr.feature_files import GEOJSON, THROUGH_PYOGRIO, holds_features
from dmr.io.formats import unknown_suffix
from dmr.io.names import SUFFIXES, companion, family
from dmr.io.through_meshio import check_writer, find_format
from dmr.meshes import Mesh, Pslg
from dmr.naming import counting, named
from dmr.options import CONFLICT_POLICIES
from dmr.sizing import SizeField, as_function

# Where the names of streams are: /dev/stdout, /dev/fd/63.
STREAMS = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))


def read(
    path: str,
    threads: int | None = None,
    *,
    points: bool = False,
    features: Mapping[str, str | None] | None = None,
    on_conflict: str = CONFLICT_POLICIES[0],
) -> Mesh | Pslg:
    """What a file holds.

    Args:
        path: the file; threads: that parse it, None takes all cores.
        points: a .node without an .ele is taken for an outline without segments.
        features: what is asked of a file with features, by the names of `domains.from_file`; on_conflict: likewise.

    Raises:
        FileError: it cannot be read; names the line where one is to blame.
        OptionError: something is asked of features, and the file is of a format that has none.
    """
    node = Path(path)
    features = {} if features is None else {name: value for name, value in features.items() if value is not None}
    if holds_features(node) and node.is_file():
        from dmr.domains import from_file

        with blamed_on(path):
            return from_file(path, **features, on_conflict=on_conflict)
    if features and not holds_features(node):
        known = " ".join((*GEOJSON, *THROUGH_PYOGRIO))
        options = " ".join(f"--{name}" for name in features)
        raise OptionError(f"{path}: {options}: only files with features ({known}) can be asked for that")
    alone = points and node.suffix.lower() == ".node" and not companion(node, ".ele").exists()
    with blamed_on(path):
        return io.read(path, threads=threads, companions=() if alone else None)


def features_asked(arguments: Arguments) -> dict[str, str | None]:
    """The options of a command line for a file with features, by the names of `domains.from_file`."""
    return {name: getattr(arguments, name) for name in FEATURE_OPTIONS}


def read_mesh(path: str, purpose: str) -> Mesh:
    """The triangles that a file holds; `purpose` ends the sentence that refuses a file without any.

    Raises:
        FileError: it cannot be read, or holds only an outline.
    """
    found = read(path)
    if isinstance(found, Pslg):
        raise FileContentError(
            f"is an outline without triangles; {purpose} needs a triangulation of it (an .ele file)", path
        )
    return found


def read_size(size: str | None) -> SizeField | float | None:
    """What --size asks for: a length, or the sizes in a file, also in one that is called like a number.

    Raises:
        OptionError: a length that is not above 0. FileError: as `read_size_field`.
    """
    if size is None:
        return None
    try:
        length = None if Path(size).exists() else float(size)
    except ValueError:
        length = None
    if length is None:
        return read_size_field(size)
    as_function(length)
    return length


def read_size_field(path: str, column: int = 0) -> SizeField:
    """The sizes on the vertices of a mesh: a vertex attribute, or a point data array (see `io.read_values`).

    Raises:
        FileError: it cannot be read, holds no triangles or no such column, or a size that is not above 0.
    """
    with blamed_on(path):
        mesh, sizes = io.read_values(path, column)
        wrong = np.flatnonzero(~(sizes > 0))
        if wrong.size:
            k = int(wrong[0])
            raise InvalidMeshError(f"has the size {sizes[k]:g}; sizes must be above 0", "vertex", k)
        return SizeField(mesh, sizes, on="vertices")


@contextmanager
def blamed_on(path: str, companions: Collection[str] | None = None) -> Iterator[None]:
    """Turns `InvalidMeshError` about what `path` holds into a `FileError` with the element's file and line.

    Sentences made meanwhile, warnings among them, have the numbers of the file. `companions` are those of `io.read`.
    """
    with counting(io.numbers_in(path, companions)):
        try:
            yield
        except InvalidMeshError as error:
            file, line = io.locate(path, error.element, error.index, companions)
            if error.index is None:
                raise FileContentError(error.reason, file) from error
            raise FileContentError(f"{named(error.element, error.index)}: {error.reason}", file, line) from error


def numbered_as(mesh: str, input: str | None) -> AbstractContextManager[None]:
    """Has sentences use the numbers of a mesh's file; for "input segment" and the like, of the one it was made from."""
    own = io.numbers_in(mesh)
    given = None if input is None else io.numbers_in(input)

    def numbers(element: str, index: int) -> int:
        if element.startswith("input ") and given is not None:
            return given(element.removeprefix("input "), index)
        return own(element, index)

    return counting(numbers)


def next_output(path: str) -> Path:
    """Where a refinement of `path` goes when nothing was said: input.ele to input.1.ele, and on to input.2.ele.

    Raises:
        FileError: nothing can be written there (a missing folder is left to the reader to complain about).
    """
    target = io.next_name(path)
    if target.parent.is_dir():
        check_writable(target)
    return target


def chosen_output(path: str, *, force: bool) -> Path:
    """Where the user wants the output, checked before any work: `mesh` means `mesh.ele`.

    Raises:
        OptionError: the file, or one that belongs to it, is there and may not be overwritten; or it holds no triangles,
            or is no file.
        FileError: nothing can be written there, or not in that format, or a package is missing that this needs.
    """
    target = Path(path)
    if path == "-" or target.parent in STREAMS:
        raise OptionError(f"{path}: a mesh is written to files, and may be several: name one, such as out.ele")
    check_no_folder(target)
    if not target.suffix:
        target = target.with_name(f"{target.name}.ele")
    suffix = target.suffix.lower()
    together = [target]
    if suffix in (".ele", ".node"):
        together = family(target)
    elif suffix in SUFFIXES:
        raise OptionError(f"a {suffix} file cannot hold a mesh: write {companion(target, '.ele')}")
    elif suffix != ".npz":
        form = find_format(suffix)
        if form is None:
            raise OptionError(f"{target}: {unknown_suffix(target, '.ele', '.npz')}")
        check_writer(form, target)
    check_writable(target)
    for each in together:
        if os.path.lexists(each) and not force:
            raise OptionError(f"{each} exists; -f overwrites it")
    return target


def check_no_folder(target: Path) -> None:
    """Raises `FileError` where a folder has the name of the file to be."""
    if target.is_dir():
        raise FolderError("cannot be written: there is a folder of that name; name a file in it", target)


def check_writable(target: Path) -> None:
    """Raises `FileError` where no file can be made: better now than after minutes of work."""
    folder = target.parent
    if not folder.is_dir():
        raise MissingFileError(f"cannot be written: there is no folder {folder}", target)
    check_no_folder(target)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise file_error(error, target, "cannot be written") from error
