"""Lists of unrefined triangles in files, which `dmr refine` writes and `dmr validate` reads.

    {"triangles": 2339, "unrefined": {"kept_segment": [17, 204]}}

`triangles` is the number of triangles in the mesh. The lists hold triangle indices by reason, in the order of the
mesh's file, counted from 0.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dmr.cli.shared.files import check_writable
from dmr.common.command_line.targets import refuse_existing
from dmr.common.files.replacing import replace_files, write_bytes
from dmr.common.text import counted
from dmr.errors import FileContentError, OptionError, file_error
from dmr.refinement.results import Refinement


def list_target(path: str, *, force: bool) -> Path:
    """Output file of the list, checked before any work.

    Raises:
        OptionError: the suffix is not .json (another may be a mesh's), or the file exists and may not be overwritten.
        FileError: nothing can be written there.
    """
    target = Path(path)
    if target.suffix.lower() != ".json":
        raise OptionError(f"--unrefined must end in .json, not {path!r}")
    check_writable(target)
    refuse_existing(target, force=force)
    return target


def write_list(target: Path, result: Refinement, *, overwrite: bool) -> list[Path]:
    """Writes the unrefined triangles of a result; raises FileError if it cannot."""
    unrefined = {reason: np.asarray(listed).tolist() for reason, listed in result.unrefined_triangles.items()}
    kept = {reason: listed for reason, listed in unrefined.items() if listed}
    data = json.dumps({"triangles": len(result.mesh.triangles), "unrefined": kept}).encode() + b"\n"
    return replace_files([(target, lambda descriptor: write_bytes(descriptor, data))], overwrite=overwrite)


def read_list(path: str, triangles: int) -> dict[str, NDArray[np.int64]]:
    """Reads the unrefined triangles, by reason.

    Args:
        path: the file that `write_list` wrote; triangles: number of triangles in the mesh.

    Raises:
        FileError: the file cannot be read, is not such a list, or belongs to a mesh of another size.
    """
    try:
        found = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise file_error(error, path, "cannot be read") from error
    except (ValueError, RecursionError) as error:
        raise FileContentError(f"is not a list of triangles, as refine --unrefined writes it: {error}", path) from error
    found = found if isinstance(found, dict) else {}
    count, lists = found.get("triangles"), found.get("unrefined")
    if type(count) is not int or not isinstance(lists, dict) or not all(_is_below(count, x) for x in lists.values()):
        raise FileContentError("is not a list of triangles, as refine --unrefined writes it", path)
    if count != triangles:
        raise FileContentError(
            f"belongs to a mesh of {counted(count, 'triangle')}, and this one has {triangles:,}", path
        )
    return {str(reason): np.array(listed, np.int64) for reason, listed in lists.items()}


def _is_below(limit: int, listed: object) -> bool:
    """Whether `listed` is a list of integers from 0 to `limit` - 1."""
    return isinstance(listed, list) and all(type(number) is int and 0 <= number < limit for number in listed)
