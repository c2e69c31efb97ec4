"""The names of Triangle's files: files that belong together, and the next name in a series."""

from __future__ import annotations

import os
from pathlib import Path

from dmr.common.arguments import shortened
from dmr.common.files.compressed import without_packing
from dmr.errors import FolderError, OptionError
from dmr.mesh.arguments import file_path

SUFFIXES = (".node", ".ele", ".poly", ".area", ".neigh", ".edge")
VORONOI_SUFFIXES = (".v.node", ".v.edge")


def companion(path: Path, suffix: str) -> Path:
    """The path with its suffix replaced: `input.1.ele` and `.node` give `input.1.node`."""
    return path.with_suffix(suffix.upper() if path.suffix.isupper() else suffix)


def family(path: Path) -> list[Path]:
    """All files that a mesh of this name may have. If `x.v.ele` exists, `x.v.node` belongs to another mesh: `x.v`."""
    other = companion(path, ".v.ele").exists()
    return [companion(path, suffix) for suffix in (SUFFIXES if other else (*SUFFIXES, *VORONOI_SUFFIXES))]


def next_name(path: str | os.PathLike[str], suffix: str = ".ele") -> Path:
    """The name that Triangle gives to the output for an input file.

    Args:
        path: the input: `input.ele`, `input.1.ele`, `domain.poly`, `mesh.vtu`.
        suffix: the suffix of the new name; "" returns the stem alone.

    Returns:
        The path in the same folder, such as `input.1.ele`, `input.2.ele`, `domain.1.ele`, `mesh.1.ele`;
        `land.geojson.gz` gives `land.1.ele`.

    Raises:
        FileError: the path does not name a file (`.`, `/`).
    """
    path = file_path(path)
    if not isinstance(suffix, str) or "/" in suffix or "\0" in suffix:
        raise OptionError(f"suffix must be the end of a file name, such as .ele, not {shortened(suffix)}")
    if not path.name:
        raise FolderError("is a folder, not a file", path)
    path = without_packing(path)
    stem, _, last = path.stem.rpartition(".")
    if stem and last.isascii() and last.isdigit():
        return path.with_name(f"{stem}.{int(last) + 1}{suffix}")
    return path.with_name(f"{path.stem}.1{suffix}")
