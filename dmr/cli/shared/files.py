"""Input and output files of the commands: errors name file and line, outputs are checked before the work begins."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from pathlib import Path

from dmr import io
from dmr.cli.parsing.options import FEATURE_OPTIONS
from dmr.common.command_line.parser import Arguments
from dmr.common.command_line.targets import refuse_existing
from dmr.domains.feature_files import GEOJSON, THROUGH_PYOGRIO, holds_features
from dmr.errors import FileContentError, FolderError, InvalidMeshError, MissingFileError, OptionError, file_error
from dmr.io.extras import Extras
from dmr.io.formats import COMMON, OF_PARTS, OURS, unknown_suffix
from dmr.io.meshio_files.calls import check_writer, find_format
from dmr.io.part_names import MANIFEST, part_name
from dmr.mesh.naming import counting, counting_from, named
from dmr.mesh.types import Mesh, Pslg
from dmr.triangle.names import SUFFIXES, companion, family
from dmr.triangulation.options import CONFLICT_POLICIES

# Suffixes of files that are not taken as names of new folders for parts.
OF_FILES = (*SUFFIXES, *COMMON, *OF_PARTS, ".npz", ".2dm", ".inp")

EXTRAS = ("order", "neighbours", "edges", "voronoi")  # the options of output that `Extras` has

# Folders of the names of streams, such as /dev/stdout and /dev/fd/63.
STREAMS = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))


def read(
    path: str,
    threads: int | None = None,
    *,
    points: bool = False,
    features: Mapping[str, str | None] | None = None,
    on_conflict: str = CONFLICT_POLICIES[0],
) -> Mesh | Pslg:
    """Reads the mesh or outline in a file.

    Args:
        path: the file; threads: number of threads that parse it, None for all cores.
        points: reads a .node file without an .ele as an outline without segments.
        features: options for files with features, named as in `domains.from_file`; on_conflict: as there.

    Raises:
        FileError: the file cannot be read; names the line at fault, if any.
        OptionError: an option for features is given, but the format has no features.
    """
    node = Path(path)
    features = {} if features is None else {name: value for name, value in features.items() if value is not None}
    _refuse_manifest(node)
    if holds_features(node) and node.is_file():
        from dmr.domains import from_file

        with error_context(path):
            return from_file(path, **features, on_conflict=on_conflict)
    if not holds_features(node):
        refuse_features(path, features)
    alone = node.suffix.lower() == ".node" and node.is_file() and not companion(node, ".ele").exists()
    if alone and not points:
        raise MissingFileError(
            f"there is no {companion(node, '.ele').name} beside it, which would hold its triangles; "
            "dmr triangulate makes a mesh of the points alone, and so does dmr refine --convex-hull",
            node,
        )
    with error_context(path):
        return io.read(path, threads=threads, companions=() if alone else None)


def features_asked(arguments: Arguments) -> dict[str, str | None]:
    """Command-line options for files with features, named as in `domains.from_file`."""
    return {name: getattr(arguments, name) for name in FEATURE_OPTIONS}


def extras_asked(arguments: Arguments) -> Extras:
    """Returns the command-line options of `add_extras`."""
    return Extras(**{name: getattr(arguments, name) for name in EXTRAS})


def refuse_features(path: str, features: Mapping[str, str | None]) -> None:
    """Raises `OptionError` if an option for files with features is given, for a source without them."""
    given = " ".join(f"--{name}" for name, value in features.items() if value is not None)
    if given:
        known = " ".join((*GEOJSON, *THROUGH_PYOGRIO))
        raise OptionError(f"{path}: {given}: only files with features ({known}) take these options")


def read_mesh(path: str, purpose: str) -> Mesh:
    """Reads the triangles in a file; `purpose` names the command in the error about a file without triangles.

    Raises:
        FileError: the file cannot be read, or holds only an outline.
    """
    _refuse_manifest(Path(path))
    found = None if holds_features(Path(path)) and Path(path).is_file() else read(path)
    if not isinstance(found, Mesh):
        raise FileContentError(
            f"is an outline without triangles; {purpose} needs a triangulation of it (an .ele file)", path
        )
    return found


def _refuse_manifest(path: Path) -> None:
    """Raises `FileContentError` for the manifest of a mesh in parts, whose suffix is that of GeoJSON."""
    if path.name == MANIFEST and (path.parent / part_name(0)).is_file():
        raise FileContentError(f"describes a mesh in parts: name its folder, {path.parent}", path)


@contextmanager
def error_context(path: str, companions: Collection[str] | None = None) -> Iterator[None]:
    """Turns an `InvalidMeshError` about the content of `path` into a `FileError` with the element's file and line.

    Messages made in this context, including warnings, use the numbers in the file. `companions` as in `io.read`.
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
    """Makes messages use the numbers in a mesh's file; for "input segment" and the like, those in the input file."""
    own = io.numbers_in(mesh)
    given = None if input is None else io.numbers_in(input)

    def numbers(element: str, index: int) -> int:
        if element.startswith("input ") and given is not None:
            return given(element.removeprefix("input "), index)
        return own(element, index)

    return counting(numbers)


class Output:
    """The output of a command that reads one file and writes one mesh or outline, checked before any work.

    Raises:
        OptionError, FileError: as for `chosen_output` and `next_output`; or the format has no place for an extra.
    """

    def __init__(self, arguments: Arguments, *, outlines: bool = False) -> None:
        """Args:
        arguments: with the options of `_add_output` and `_add_extras`.
        outlines: whether the result may be an outline.
        """
        self._input, self._threads = arguments.input, arguments.threads
        if arguments.output is None:
            self.target = next_output(arguments.input)
        else:
            self.target = chosen_output(arguments.output, force=arguments.force, outlines=outlines)
        self._overwrite = arguments.output is None or arguments.force
        self._extras = extras_asked(arguments)
        self._extras.check(self.target)

    def write(self, item: Mesh | Pslg) -> list[Path]:
        """Writes the result, numbered as the input; returns the files.

        Raises:
            FileError: a file cannot be written, or not in this format.
        """
        base = io.numbering_base(self._input)
        with counting_from(base):
            return io.write(
                self.target, item, overwrite=self._overwrite, base=base, threads=self._threads, **asdict(self._extras)
            )


def next_output(path: str) -> Path:
    """Default output of a refinement of `path`: input.1.ele for input.ele, then input.2.ele.

    Raises:
        FileError: nothing can be written there (the reader reports a missing folder).
    """
    target = io.next_name(path)
    if target.parent.is_dir():
        check_writable(target)
    return target


def chosen_output(path: str, *, force: bool, outlines: bool = False) -> Path:
    """Output file that the user names, checked before any work; `mesh` stands for `mesh.ele`.

    Args:
        path: the name; force: whether existing files may be overwritten.
        outlines: whether a .poly file, which holds an outline but no mesh, may be named.

    Raises:
        OptionError: the file or a companion exists and may not be overwritten; or its format holds no triangles; or it
            is a stream.
        FileError: nothing can be written there, or not in that format, or a package that this needs is missing.
    """
    target = Path(path)
    if path == "-" or target.parent in STREAMS:
        raise OptionError(f"{path}: a mesh is written to files: name one, such as out.ele")
    check_no_folder(target)
    if not target.suffix:
        target = target.with_name(f"{target.name}.ele")
    suffix = target.suffix.lower()
    together = [target]
    if suffix in (".ele", ".node"):
        together = family(target)
    elif suffix in SUFFIXES and not (outlines and suffix == ".poly"):
        raise OptionError(f"a {suffix} file cannot hold a mesh: write {companion(target, '.ele')}")
    elif suffix not in OURS:
        form = find_format(suffix)
        if form is None:
            raise OptionError(f"{target}: {unknown_suffix(target, '.ele', '.npz')}")
        check_writer(form, target)
    check_writable(target)
    for each in together:
        refuse_existing(each, force=force)
    return target


def check_folder_of_parts(path: str) -> None:
    """Raises `OptionError` if a folder for parts does not exist and has the name of a mesh file."""
    target = Path(path)
    if target.suffix.lower() in OF_FILES and not target.exists():
        raise OptionError(
            f"{path}: parts are written to a folder: name one, such as {target.with_suffix('')}/; "
            f"dmr convert {target.with_suffix('')}/ {path} then writes one file"
        )


def check_no_folder(target: Path) -> None:
    """Raises `FileError` if the target is a folder."""
    if target.is_dir():
        raise FolderError("cannot be written: there is a folder of that name; name a file in it", target)


def check_writable(target: Path) -> None:
    """Raises `FileError` if the target cannot be written. Checked first, because the work may take minutes."""
    folder = target.parent
    if not folder.is_dir():
        raise MissingFileError(f"cannot be written: there is no folder {folder}", target)
    check_no_folder(target)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise file_error(error, target, "cannot be written") from error
