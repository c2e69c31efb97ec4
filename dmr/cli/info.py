"""The command `dmr info`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from dmr.cli.shared.console import Console
from dmr.cli.shared.files import read
from dmr.cli.shared.names import name_rows, named
from dmr.common.command_line.console import aligned, writes_unicode
from dmr.common.command_line.parser import Arguments
from dmr.common.text import counted, option
from dmr.errors import OptionError
from dmr.mesh.shapes import bounding_box
from dmr.mesh.statistics import Distribution, Quality, measure
from dmr.mesh.types import Pslg

BAR_WIDTH = 44
BIN_DEGREES = 5


def run(arguments: Arguments, console: Console) -> int:
    """Reads a mesh or outline, measures it and prints the results."""
    if not 0 <= arguments.min_angle <= 60:
        raise OptionError(f"{option('min_angle')} must be from 0 to 60 degrees, not {arguments.min_angle:g}")
    if Path(arguments.mesh).is_dir():
        from dmr.cli.parts import info

        return info.run(arguments, console)
    found = read(arguments.mesh, features={"layer": arguments.layer})
    if isinstance(found, Pslg):
        _describe_outline(found, arguments, console)
        return 0
    quality = measure(found, bound=arguments.min_angle)
    if arguments.json:
        console.emit_json({"file": str(arguments.mesh), **quality.to_json(), **named(found.names)})
        return 0
    console.emit(str(arguments.mesh), "1")
    for line in aligned([*counts(quality), *name_rows(found.names)], left=(0, 1)):
        console.emit(line)
    console.emit()
    for number, line in enumerate(aligned(statistics(quality))):
        console.emit(line, "1" if number == 0 else "")
    if quality.triangles:
        console.emit()
        below = quality.below or 0
        share = f"{below / quality.triangles:.1%}"
        head = "  smallest angles"
        if quality.bound:
            head += f": {counted(below, 'triangle')} ({share}) below {quality.bound:g} degrees"
        console.emit(head, "1")
        for line in histogram(quality.histogram, unicode=writes_unicode(sys.stdout)):
            console.emit(line)
    return 0


def counts(quality: Quality) -> list[list[str]]:
    """Rows of the first table: counts and bounding box."""
    x0, y0, x1, y1 = quality.bounds
    return [
        ["vertices", f"{quality.vertices:,}"],
        ["triangles", f"{quality.triangles:,}"],
        ["edges", f"{quality.edges:,}"],
        ["boundary edges", f"{quality.boundary_edges:,}"],
        ["segments", f"{quality.segments:,}"],
        ["area", f"{quality.area:.6g}"],
        ["x", f"{x0:.6g} to {x1:.6g}"],
        ["y", f"{y0:.6g} to {y1:.6g}"],
    ]


def statistics(quality: Quality) -> list[list[str]]:
    """Rows of the second table, one per quantity."""

    def row(name: str, values: Distribution) -> list[str]:
        p = values.percentiles
        shown = (values.minimum, p[5], p[50], p[95], values.maximum, values.mean)
        return [name, *(f"{value:.4g}" for value in shown)]

    return [
        ["", "smallest", "5%", "median", "95%", "largest", "mean"],
        row("smallest angle", quality.min_angle),
        row("largest angle", quality.max_angle),
        row("area", quality.areas),
        row("edge length", quality.edge_lengths),
        row("radius / edge", quality.radius_edge),
        row("aspect ratio", quality.aspect),
    ]


def histogram(bins: Sequence[int], *, unicode: bool) -> list[str]:
    """Bars of counts, one line per five degrees; `bins` holds one count per degree."""
    sums = [sum(bins[k : k + BIN_DEGREES]) for k in range(0, len(bins), BIN_DEGREES)]
    total, most = sum(sums), max(*sums, 1)
    width = len(f"{most:,}")
    return [
        f"  {k * BIN_DEGREES:2}-{(k + 1) * BIN_DEGREES:2}  {count:{width},} {count / total:6.1%}  "
        f"{_bar(count / most * BAR_WIDTH, unicode)}".rstrip()
        for k, count in enumerate(sums)
    ]


def _bar(length: float, unicode: bool) -> str:
    if not unicode:
        return "#" * (max(1, round(length)) if length > 0 else 0)
    eighths = max(1, round(length * 8)) if length > 0 else 0
    return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]


def _describe_outline(outline: Pslg, arguments: Arguments, console: Console) -> None:
    numbers = {
        "vertices": len(outline.vertices),
        "segments": len(outline.segments),
        "holes": len(outline.holes),
        "regions": len(outline.regions),
    }
    box = bounding_box(outline.vertices)
    if arguments.json:
        console.emit_json({"file": str(arguments.mesh), **numbers, "bounds": box, **named(outline.names)})
        return
    console.emit(str(arguments.mesh), "1")
    rows = [[name, f"{count:,}"] for name, count in numbers.items()]
    rows += [["x", f"{box[0]:.6g} to {box[2]:.6g}"], ["y", f"{box[1]:.6g} to {box[3]:.6g}"]]
    for line in aligned([*rows, *name_rows(outline.names)], left=(0, 1)):
        console.emit(line)
