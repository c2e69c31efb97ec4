"""Sizes from the command line: lengths, files, and the features of the domain."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dmr import io, sizing
from dmr.cli.shared.files import error_context
from dmr.common.arguments import shortened
from dmr.common.command_line.parser import Arguments
from dmr.common.text import naming_flags, option
from dmr.errors import InvalidMeshError, OptionError
from dmr.mesh.types import Mesh, Pslg
from dmr.sizing.features import GRADING
from dmr.sizing.functions import size_source
from dmr.sizing.size_field import SizeField
from dmr.sizing.source import SizeSource

Sizes = SizeSource | float | None


def read_sizes(arguments: Arguments) -> tuple[Sizes, Sizes]:
    """Reads --size and --max-edge.

    Raises:
        OptionError, FileError: as `read_size`; or --along is given without sizes from segments.
    """
    if arguments.along is not None and not sizes_from_segments(arguments):
        raise OptionError(
            f"{option('along')} chooses the segments of --size-from-distance, --size-from-curvature or "
            "--size-from-lengths: also give one of these"
        )
    return read_size(arguments.size, "size"), read_size(arguments.max_edge, "max_edge")


def sizes_from_segments(arguments: Arguments) -> bool:
    """Whether sizes are asked for that follow from the segments of the domain."""
    return (arguments.size_from_distance, arguments.per_turn, arguments.factor) != (None,) * 3


def with_features(size: Sizes, arguments: Arguments, domain: Mesh | Pslg) -> Sizes:
    """Returns the smallest of --size and the sizes from the segments of a domain.

    Raises:
        OptionError: a number is out of range, or there are no such segments.
    """
    found: list[SizeSource | float] = [] if size is None else [size]
    along = None if arguments.along is None else [int(name) if _is_marker(name) else name for name in arguments.along]
    grading = GRADING if arguments.grading is None else arguments.grading
    if arguments.size_from_distance is not None:
        near, far, distance = arguments.size_from_distance
        flags = {name: f"{name.upper()} of --size-from-distance" for name in ("near", "far")}
        flags["distance"] = "D of --size-from-distance"
        with naming_flags({**arguments.flags, **flags}):
            found.append(sizing.from_distance(domain, near, far, distance, along=along))
    if arguments.per_turn is not None:
        found.append(sizing.from_curvature(domain, arguments.per_turn, grading=grading, along=along))
    if arguments.factor is not None:
        found.append(sizing.from_lengths(domain, arguments.factor, grading=grading, along=along))
    return sizing.smallest(*found) if len(found) > 1 else next(iter(found), None)


def _is_marker(name: str) -> bool:
    return name.removeprefix("-").isdecimal()


def read_size(size: str | None, name: str) -> SizeField | float | None:
    """Reads an option: a length, or the name of a file with sizes. An existing file takes precedence over a number.

    Raises:
        OptionError: the length is not above 0, or the text is neither a number nor a file.
        FileError: as `read_size_field`.
    """
    if size is None:
        return None
    try:
        length = None if Path(size).exists() else float(size)
    except ValueError:
        length = None
    if length is None:
        if not Path(size).suffix.lstrip(".").isalpha() and not Path(size).exists():
            raise OptionError(
                f"{option(name)} must be a length, such as 0.1, or the name of a file with sizes, and "
                f"{shortened(size)} is neither"
            )
        return read_size_field(size)
    size_source(length, name)
    return length


def read_size_field(path: str, column: int = 0) -> SizeField:
    """Reads the sizes on the vertices of a mesh: a vertex attribute, or a point data array (see `io.read_values`).

    Raises:
        FileError: the file cannot be read, has no triangles or no such column, or holds a size that is not above 0.
    """
    with error_context(path):
        mesh, sizes = io.read_values(path, column)
        wrong = np.flatnonzero(~(sizes > 0))
        if wrong.size:
            k = int(wrong[0])
            raise InvalidMeshError(f"has the size {sizes[k]:g}; sizes must be above 0", "vertex", k)
        return SizeField(mesh, sizes, on="vertices")
