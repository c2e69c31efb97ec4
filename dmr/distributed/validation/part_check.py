"""The check of one part: its own triangles, with its ghosts as their surroundings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.threads import thread_count
from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.task import Resources
from dmr.distributed.output.part import Part
from dmr.distributed.unions.numbering import is_among
from dmr.distributed.validation.findings import Summary, numbered, renumbered, summary
from dmr.distributed.validation.layers import write_layers
from dmr.distributed.validation.own_checks import OwnChecks
from dmr.errors import FileError
from dmr.sizing.storing import sizes_from_arrays
from dmr.validation.arrays.pieces import Workers
from dmr.validation.report import Findings

Int64 = NDArray[np.int64]

MAX_EDGE = "max_edge"  # the name of the bound on edges in a folder


def check_part(
    inputs: Sequence[Folder],
    out: Folder,
    resources: Resources,
    *,
    folder: str,
    index: int,
    entry: Mapping[str, Any],
    firsts: Sequence[int],
    vertices: int,
    bounds: Mapping[str, float],
    source: str,
    refined: bool,
    faces: bool,
) -> Summary:
    """Checks a part, and passes on what the checks of its neighbours and of the union need.

    Args:
        inputs: the vertices of the input, if there is one, then the bound on edges, if there is one.
        out, resources: as for all tasks.
        folder: of the parts; index: the number of the part; entry: what the manifest says about it.
        firsts: the number of the first triangle of each part, then that of all triangles; vertices: of the whole.
        bounds: "min_angle" and "max_area", where given.
        source: what the input is: "mesh", "outline", which determines the markers of vertices, or "".
        refined: whether the area bounds of triangles must hold.
        faces: whether the faces between segments are needed, because their areas have limits.

    Returns:
        The findings; "usable", whether the part can be compared with others; "owners", of its ghosts; "rows", where
        its vertices divide into equal ranges of numbers, one per part, for each of `Part.ascending`; "statistics" of
        its triangles; and "unrefined", those that are excused, by reason.
    """
    faults = Findings()
    faults.start("parts")
    try:
        part = Part.read(Path(folder) / str(entry["file"]))
    except FileError as error:
        text = f"part {index} cannot be used: {error}"
        faults.add("parts", "mesh", [None], lambda i: text)
        return {**summary(faults), "usable": False}
    found = list(_faults(part, index, entry, firsts, vertices))
    faults.add("parts", "mesh", [None] * len(found), lambda i: f"{entry['file']} {found[i]}")
    if found:
        return {**summary(faults), "usable": False}
    workers = Workers(thread_count(resources.threads))
    given = inputs[0]["vertices"] if source else np.empty((0, 2))
    max_edge = sizes_from_arrays(inputs[-1], MAX_EDGE) if inputs else None
    with numbered(part.numbers, part.triangle_numbers):
        checks = OwnChecks(part, len(given), bounds.get("min_angle"), workers)
        checks.findings.start("parts")
        checks.triangulation()
        if source:
            checks.input_vertices(given)
            checks.regions()
        if source == "outline":
            checks.inner_markers(len(given))
        checks.bounds(bounds, max_edge, refined=refined)
    report = summary(renumbered(checks.findings, part.numbers, part.triangle_numbers, index))
    write_layers(checks, out, len(given), faces=faces)
    ranges = [vertices * k // (len(firsts) - 1) for k in range(len(firsts))]
    return {
        **report,
        "usable": True,
        "owners": np.unique(part.ghost_owners).tolist(),
        "rows": [(each.start + np.searchsorted(part.numbers[each], ranges)).tolist() for each in part.ascending],
        "statistics": checks.shapes.statistics,
        "unrefined": {
            reason: part.triangle_numbers[triangles].tolist() for reason, triangles in checks.left.by_reason.items()
        },
    }


def _faults(part: Part, index: int, entry: Mapping[str, Any], firsts: Sequence[int], vertices: int) -> Iterator[str]:
    """Yields what is wrong with the numbers of a part, each as the end of a sentence that begins with its file."""
    if part.index != index:
        yield f"holds part {part.index}, not part {index}"
        return
    triangles = firsts[index + 1] - firsts[index]
    if part.own != triangles or part.first != firsts[index]:
        yield (
            f"holds {part.own} triangles of its own from number {part.first} on, not {triangles} from number "
            f"{firsts[index]} on"
        )
        return
    if len(part.ghost_numbers) != entry["ghosts"]:
        yield f"holds {len(part.ghost_numbers)} ghosts, not {entry['ghosts']}"
    ghosts = part.ghost_numbers
    if not _ascend(part, vertices):
        yield f"does not list vertices by ascending numbers below {vertices}"
    if (np.diff(ghosts) <= 0).any() or (len(ghosts) and not 0 <= ghosts[0] <= ghosts[-1] < firsts[-1]):
        yield f"does not list ghosts by ascending numbers below {firsts[-1]}"
    owners = np.searchsorted(np.asarray(firsts), ghosts, side="right") - 1
    wrong = np.flatnonzero((owners != part.ghost_owners) | (owners == index))
    if len(wrong):
        yield f"gives the ghost of number {ghosts[wrong[0]]} to part {part.ghost_owners[wrong[0]]}"


def _ascend(part: Part, vertices: int) -> bool:
    """Whether the numbers of a part's vertices ascend, those of a core and then the others, and are numbers of some."""
    first, *rest = (part.numbers[each] for each in part.ascending) if len(part.numbers) else [part.numbers]
    numbers = [first, *rest]
    inside = all(0 <= each[0] <= each[-1] < vertices for each in numbers if len(each))
    return len(rest) <= 1 and inside and not any(is_among(each, first).any() for each in rest)
