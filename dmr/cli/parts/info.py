"""`dmr info` of a folder: a mesh in parts, of which one at a time is in memory."""

from __future__ import annotations

from dataclasses import asdict

from dmr.cli.shared.console import Console
from dmr.cli.shared.names import name_rows, named
from dmr.cli.shared.report import comparison, note_unrefined
from dmr.common.command_line.console import aligned
from dmr.common.command_line.parser import Arguments
from dmr.common.text import option
from dmr.distributed import Part, Parts
from dmr.errors import OptionError
from dmr.mesh.statistics import Summary, summarise, united
from dmr.mesh.types import Mesh


def run(arguments: Arguments, console: Console) -> int:
    """Measures a mesh in parts and prints the results."""
    if arguments.layer is not None:
        raise OptionError(f"{arguments.mesh}: {option('layer')}: a folder of parts has no layers")
    parts = Parts(arguments.mesh)
    summary = united((_summary(part, arguments.min_angle) for part in parts), parts.counts["vertices"])
    if arguments.json:
        numbers = {**asdict(summary), "parts": len(parts), "unrefined": parts.unrefined}
        del numbers["too_large"]  # no bound was given
        console.emit_json({"file": str(arguments.mesh), **numbers, **named(parts.names)})
        return 0
    sizes = [int(each["triangles"]) for each in parts.manifest["parts"]]
    rows = comparison(None, summary, arguments.min_angle, None)
    fewest, most = min(sizes), max(sizes)
    extent = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    rows[2:2] = [["parts", f"{len(parts):,}"], ["triangles in a part", extent]]
    console.emit(str(arguments.mesh), "1")
    for line in aligned([*rows, *name_rows(parts.names)], left=(0, 1)):
        console.emit(line)
    note_unrefined(console, parts.unrefined)
    return 0


def _summary(part: Part, bound: float) -> Summary:
    """Returns the summary of the triangles that a part owns."""
    own = Mesh.unchecked(vertices=part.mesh.vertices, triangles=part.mesh.triangles[: part.own])
    return summarise(own, bound=bound)
