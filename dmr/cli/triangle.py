"""The command `dmr triangle`: runs this package with the switches of Shewchuk's Triangle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dmr.cli.parsing.program import build_parser
from dmr.cli.shared.console import Console
from dmr.cli.shared.files import check_writable, error_context
from dmr.cli.shared.report import note_unrefined
from dmr.common.command_line.parser import Arguments
from dmr.common.errors import DONE, INTERNAL, STOPPED
from dmr.common.text import counted
from dmr.errors import OptionError
from dmr.mesh.naming import counting_from
from dmr.mesh.types import Mesh, Pslg
from dmr.refinement.options import RefineOptions
from dmr.refinement.results import Refinement
from dmr.triangle.switches import WITHOUT_EFFECT, Switches, parse_switches


def run(arguments: Arguments, console: Console) -> int:
    """Reads the named files, triangulates or refines them and writes the result as Triangle would."""
    switches = parse_switches(arguments.words)
    if switches.help:
        build_parser().parse_args(["triangle", "--help"])  # prints the help and exits
    console.configure(quiet=switches.quiet, verbose=switches.verbose > 0)
    for letter in switches.without_effect:
        console.note(f"-{letter} has no effect: {WITHOUT_EFFECT[letter]}")
    options = _options(switches)
    RefineOptions(**options)  # raises for a bad value before anything is read
    source = _source(switches)
    target = _target(switches)

    import dmr
    from dmr.common.threads import thread_count

    thread_count(arguments.threads)
    found = _read(source, switches)
    result: Refinement | None = None
    with error_context(str(source), _companions(switches)):
        mesh = found if isinstance(found, Mesh) else _triangulated(found, switches)
        if switches.quality:
            with console.progress("refining") as progress:
                result = dmr.refine(
                    mesh, **options, device=arguments.device, threads=arguments.threads, progress=progress
                )
            mesh = result.mesh
    mesh = _as_written(mesh, found, switches)
    base = _numbering_base(source, switches)
    with counting_from(base):
        written = _write(target, mesh, found, switches, source)
    _report(console, mesh, result)
    for suffix, left_out in ((".ele", switches.no_ele), (".poly", switches.no_poly)):
        if left_out and target.with_suffix(suffix).exists() and written and not switches.no_iteration:
            console.warn(f"{target.with_suffix(suffix)} was there before, and may not belong to this mesh")
    console.note(f"wrote {', '.join(map(str, written))}" if written else "wrote no files")
    with counting_from(base):
        if switches.check and not _check(console, mesh):
            return INTERNAL
    # A limit on points that the user set is not a failure: Triangle exits with 0 there, too.
    return STOPPED if result and not result.complete and switches.max_steiner is None else DONE


def _numbering_base(source: Path, switches: Switches) -> int:
    """First number in the output files: that of the input if it has one, else given by -z."""
    from dmr import io

    return io.numbering_base(source, otherwise=int(not switches.from_zero))


def _options(switches: Switches) -> dict[str, Any]:
    """Options for `dmr.refine`; the mesh itself holds the area bounds."""
    return {
        "min_angle": switches.min_angle,
        "max_area": switches.max_area,
        "conforming": switches.conforming,
        "keep_segments": switches.keep_segments,
        "max_steiner": switches.max_steiner,
    }


def _source(switches: Switches) -> Path:
    """The file to read first; as in Triangle, its suffix follows from the switches."""
    return Path(switches.stem + (".ele" if switches.refine else ".poly" if switches.poly else ".node"))


def _target(switches: Switches) -> Path:
    """Name of the .ele output: A.1.ele for A, A.2.ele for A.1, and A.ele without iteration numbers."""
    from dmr import io

    path = Path(f"{switches.stem}.ele")
    target = path if switches.no_iteration else io.next_name(path)
    if target.parent.is_dir():
        check_writable(target)
    return target


def _read(source: Path, switches: Switches) -> Mesh | Pslg:
    """Reads the mesh, the domain or the bare points, and only from files that Triangle would read."""
    from dmr import io

    companions = _companions(switches)
    with error_context(str(source), companions):
        return io.read(source, companions=companions)


def _companions(switches: Switches) -> list[str]:
    """Suffixes of the files that Triangle would read beside the named one."""
    asked = {".poly": switches.poly, ".area": switches.area_constraints}
    return [suffix for suffix, wanted in asked.items() if wanted]


def _triangulated(pslg: Pslg, switches: Switches) -> Mesh:
    """Triangulates a domain, or the convex hull of bare points."""
    import dmr

    regions = pslg.regions.copy()
    if not switches.area_constraints:
        regions[:, 3] = 0
    if not switches.area_constraints and not switches.region_attributes:
        regions = regions[:0]
    holes = pslg.holes[:0] if switches.no_holes else pslg.holes
    return dmr.triangulate(
        replace(pslg, holes=holes, regions=regions), convex_hull=switches.convex_hull or not switches.poly
    )


def _as_written(mesh: Mesh, found: Mesh | Pslg, switches: Switches) -> Mesh:
    """The mesh with the same markers, segments, attributes and vertices as in Triangle's output."""
    from dmr.triangle.output import with_boundary_segments, with_markers, without_idle_vertices

    changes: dict[str, Any] = {"area_bounds": None, "holes": found.holes, "regions": found.regions}
    if switches.refine or not (switches.region_attributes or switches.area_constraints):
        changes["regions"] = found.regions[:0]
    if not switches.refine:
        count = int(switches.region_attributes)  # number of columns, which are zero without regions
        assert mesh.triangle_attributes is not None
        column = mesh.triangle_attributes[:, :count]
        changes["triangle_attributes"] = column if column.size else np.zeros((len(mesh.triangles), count))
    mesh = with_markers(replace(mesh, **changes))
    if switches.writes_poly:
        mesh = with_boundary_segments(mesh)
    return without_idle_vertices(mesh) if switches.jettison else mesh


def _left_out(switches: Switches, source: Path) -> list[str]:
    """Suffixes of files that are neither written nor removed. Without iteration numbers they may be the input."""
    from dmr import io

    no_node = switches.no_iteration and io.vertex_file(source).suffix == ".node"
    without = {
        ".node": switches.no_node or no_node,
        ".ele": switches.no_ele,
        ".poly": switches.no_poly or switches.no_iteration,
        ".area": switches.no_iteration,
    }
    return [suffix for suffix, left_out in without.items() if left_out]


def _write(target: Path, mesh: Mesh, found: Mesh | Pslg, switches: Switches, source: Path) -> list[Path]:
    """Writes the files of the mesh.

    Raises:
        OptionError: without iteration numbers the input's .node file is kept, but the mesh has other vertices.
        FileError: a file cannot be written.
    """
    from dmr import io

    left_out = _left_out(switches, source)
    renumbered = len(mesh.vertices) != len(found.vertices) or switches.order == 2
    if ".node" in left_out and not switches.no_node and renumbered:
        raise OptionError("-I keeps the .node file that was read, but the mesh has other vertices: leave out -I")
    written = io.write(
        target,
        mesh,
        base=_numbering_base(source, switches),
        order=switches.order,
        neighbours=switches.neighbours,
        edges=switches.edges,
        voronoi=switches.voronoi,
        markers=not switches.no_markers,
        leave_out=left_out,
    )
    if switches.off:
        written += io.write(target.with_suffix(".off"), Mesh(mesh.vertices, mesh.triangles))
    return written


def _report(console: Console, mesh: Mesh, result: Refinement | None) -> None:
    """Prints the size of the result; with -V also the seconds of each phase."""
    inserted = "" if result is None else f", {counted(sum(result.steiner.values()), 'point')} inserted"
    console.note(
        f"{counted(len(mesh.vertices), 'vertex', 'vertices')}, {counted(len(mesh.triangles), 'triangle')}{inserted}"
    )
    if result is None:
        return
    for warning in result.warnings:
        console.warn(warning)
    note_unrefined(console, result.unrefined)
    console.detail(f"seconds on {result.device}: " + ", ".join(f"{k} {v:.3f}" for k, v in result.seconds.items()))


def _check(console: Console, mesh: Mesh) -> bool:
    """Proves the mesh valid in exact arithmetic; prints one line per check."""
    from dmr.validation.checker import validate

    report = validate(mesh)
    if not console.quiet:
        for line in report.lines():
            console.emit(line)
    if not report.ok:
        console.error("the mesh that was written is invalid: please report it")
    return report.ok
