"""A mesh in parts: a folder of files with a manifest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import whole_option
from dmr.common.available import require_memory
from dmr.common.cached import cached_property
from dmr.common.text import counted
from dmr.distributed.output.finish import FORMAT, VERSION
from dmr.distributed.output.gathering import gathered_arrays
from dmr.distributed.output.part import Part
from dmr.errors import FileContentError, InvalidMeshError, MissingFileError, NoFolderError, OptionError, file_error
from dmr.io.part_names import JOB, MANIFEST
from dmr.mesh.arguments import file_path
from dmr.mesh.names import Names, names_of_texts
from dmr.mesh.types import Mesh

if TYPE_CHECKING:
    from os import PathLike

    from dmr.distributed.output.lazy import LazyMesh

MOST_VERTICES = 2**31 - 1
BYTES_PER_TRIANGLE = 120  # of memory to gather a mesh, measured


class Parts:
    """A mesh in parts, as `dmr.distributed.refine` and `dmr.distributed.partition` write it.

    `len(parts)` is the number of parts; iteration reads one after another.

    Args:
        folder: with the files `part-00000.npz`, ..., and `manifest.json`.

    Attributes:
        folder: its path; manifest: what `manifest.json` holds.

    Raises:
        FileError: the folder holds no finished result, or one of a later version.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = file_path(folder)
        self.manifest: dict[str, Any] = _manifest(self.folder)

    def __len__(self) -> int:
        return len(self.manifest["parts"])

    def __iter__(self) -> Iterator[Part]:
        return map(self.part, range(len(self)))

    def __repr__(self) -> str:
        return f"Parts({str(self.folder)!r}): {len(self)} parts, {self.manifest['triangles']:,} triangles"

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of "vertices", "triangles" and "parts" of the whole."""
        return {**{name: int(self.manifest[name]) for name in ("vertices", "triangles")}, "parts": len(self)}

    @property
    def unrefined(self) -> dict[str, int]:
        """The number of triangles that the refinement left unrefined, by reason."""
        return dict(self.manifest.get("unrefined", {}))

    @property
    def unrefined_triangles(self) -> dict[str, NDArray[np.int64]]:
        """The numbers of the triangles that the refinement left unrefined, by reason; reads all parts."""
        found: dict[str, list[NDArray[np.int64]]] = {}
        for part in self:
            for reason, triangles in part.unrefined_triangles.items():
                found.setdefault(reason, []).append(part.first + triangles.astype(np.int64))
        return {reason: np.concatenate(each) for reason, each in found.items()}

    @cached_property
    def names(self) -> Names:
        """Names of regions and markers, as in `Mesh.names`."""
        return names_of_texts(self.manifest["names"])

    def path(self, index: int) -> Path:
        """Returns the file of a part, by its index."""
        return self.folder / str(self.manifest["parts"][index]["file"])

    def part(self, index: int) -> Part:
        """Reads a part.

        Args:
            index: from 0.

        Raises:
            OptionError: there is no such part, a WrongTypeError if it is no whole number.
            FileError: its file is missing or damaged.
        """
        index = whole_option("index", index)
        if not 0 <= index < len(self):
            raise OptionError(f"there is no part {index}: {self.folder} holds {counted(len(self), 'part')}, from 0")
        return Part.read(self.path(index))

    def gather(self) -> Mesh:
        """Returns the whole as one mesh: vertices by number, triangles by number.

        Raises:
            OutOfMemoryError: it does not fit. InvalidMeshError: it has more vertices than a mesh can have, or parts
                that do not belong together. FileError: as for `part`.
        """
        counts = self.counts
        if counts["vertices"] > MOST_VERTICES:
            raise InvalidMeshError(f"a mesh has at most {MOST_VERTICES:,} vertices, not {counts['vertices']:,}")
        require_memory(
            BYTES_PER_TRIANGLE * counts["triangles"], f"a mesh of {counted(counts['triangles'], 'triangle')}"
        )
        try:
            arrays: dict[str, Any] = gathered_arrays(self, counts)
        except InvalidMeshError as error:
            raise InvalidMeshError(
                f"the parts in {self.folder} do not belong together ({error}): dmr validate finds what is wrong"
            ) from error
        whole = {name: self.manifest[name] for name in ("holes", "regions")}
        return Mesh(**arrays, **whole, names=self.names)

    def open_lazily(self) -> LazyMesh:
        """Returns the whole as dask arrays, with one chunk per part, which are read when they are computed.

        Raises:
            DmrError: dask is missing.
        """
        from dmr.distributed.output.lazy import lazy_mesh

        return lazy_mesh(self.part, self.manifest["parts"])


def _why_missing(folder: Path) -> str:
    """Describes a folder without a manifest."""
    if not folder.is_dir():
        return "does not exist"
    if (folder / JOB).exists():
        return "holds no finished result: its run is in progress, or was ended, and the same command resumes it"
    return f"holds no finished result in parts: it has no {MANIFEST}"


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise MissingFileError(_why_missing(folder), folder) from None
    except ValueError as error:
        raise FileContentError(f"is damaged: {error}", path) from error
    except NotADirectoryError:
        raise NoFolderError("is a file, not a folder of parts; dmr.read reads meshes and outlines", folder) from None
    except OSError as error:
        raise file_error(error, path, "cannot be read") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise FileContentError("is not the manifest of a result in parts", path)
    if not isinstance(found.get("version"), int) or found["version"] > VERSION:
        raise FileContentError(
            f"has version {found.get('version')} of the format; this dmr reads up to {VERSION}", path
        )
    for name, kind in (("vertices", int), ("triangles", int), ("parts", list), ("names", dict)):
        if not isinstance(found.get(name), kind):
            raise FileContentError(f"is damaged: it has no entry {name!r}", path)
    return found
