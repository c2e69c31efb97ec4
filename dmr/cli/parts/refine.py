"""`dmr refine --tiles`: refinement in tiles, by processes, a cluster or an MPI job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dmr.cli.shared.console import Console
from dmr.cli.shared.files import check_folder_of_parts, error_context, features_asked, read, refuse_features
from dmr.cli.shared.report import note_unrefined
from dmr.cli.shared.sizes import read_sizes, sizes_from_segments, with_features
from dmr.common.command_line.parser import Arguments
from dmr.common.errors import DONE, STOPPED
from dmr.common.text import counted, naming_flags, option
from dmr.errors import OptionError
from dmr.refinement.options import RefineOptions

if TYPE_CHECKING:
    from dmr.distributed import Parts

# Options that a refinement in tiles does not have, with the values that stand for "not given".
ONE_DEVICE = {
    "max_steiner": None, "max_seconds": None, "marking": RefineOptions.marking, "balance": RefineOptions.balance,
    "loop": RefineOptions.loop, "optimize": False, "profile": False, "validate": False, "mesher": "dmr",
    "unrefined": None, "order": 1, "edges": False, "neighbours": False, "voronoi": False,
}  # fmt: skip

# What to do instead, or why these need no value.
INSTEAD = {
    "balance": "it changes only the speed",
    "loop": "it changes only the speed",
    "mesher": "outlines are meshed by dmr itself",
    "validate": "run dmr validate on the folder afterwards",
    "unrefined": "each part lists its own, and dmr validate reads them",
    **dict.fromkeys(("order", "edges", "neighbours", "voronoi"), "run dmr convert on the folder afterwards"),
}

FEW_TRIANGLES = 100  # in a tile: whoever asks for fewer probably means the number of tiles


def refuse_engines(arguments: Arguments) -> None:
    """Raises OptionError if an engine is given without --tiles."""
    for name in ("workers", "scheduler", "mpi"):
        if getattr(arguments, name):
            raise OptionError(f"{option(name)} needs {option('tile_triangles', 'N')}: tasks refine tiles")


def run(arguments: Arguments, console: Console) -> int:
    """Reads a mesh or outline, refines it in tiles, writes the parts and reports the result."""
    from dmr.distributed import Parts
    from dmr.distributed.engines import chosen_engine
    from dmr.distributed.jobs.task import Resources
    from dmr.distributed.pipeline import OPTIONS, REFUSED, check_options, refine_by

    for name, usual in ONE_DEVICE.items():
        if getattr(arguments, name) != usual:
            reason = REFUSED.get(name) or INSTEAD[name]
            raise OptionError(f"{option(name)} cannot be combined with {option('tile_triangles')}: {reason}")
    if arguments.output is None:
        raise OptionError(f"{option('tile_triangles')} needs {option('output')}: the folder for the parts of the mesh")
    check_folder_of_parts(arguments.output)

    options: dict[str, Any] = {name: getattr(arguments, name) for name in OPTIONS}
    check_options(options)  # before anything is read
    if arguments.tile_triangles < FEW_TRIANGLES:
        console.warn(
            f"{option('tile_triangles')} is the number of triangles in a tile, not of tiles: "
            f"tiles of {arguments.tile_triangles} take far longer than a run without tiles"
        )
    size, options["max_edge"] = read_sizes(arguments)
    threads = 1 if arguments.scheduler and arguments.threads is None else arguments.threads
    engine = chosen_engine(
        Resources(arguments.device, threads), workers=arguments.workers, scheduler=arguments.scheduler,
        mpi=arguments.mpi,
    )  # fmt: skip
    in_parts = Path(arguments.input).is_dir()
    if in_parts:
        refuse_features(arguments.input, features_asked(arguments))
    if in_parts and sizes_from_segments(arguments):
        raise OptionError("sizes from segments need the whole domain: give a mesh or an outline, not a folder of parts")
    found = Parts(arguments.input) if in_parts else read(
        arguments.input, arguments.threads, points=arguments.convex_hull, features=features_asked(arguments),
        on_conflict=arguments.on_conflict,
    )  # fmt: skip
    with (
        error_context(arguments.input),
        naming_flags({**arguments.flags, "out": option("output"), "overwrite": "-f"}),
        console.progress("refining in tiles") as bar,
    ):
        options["size"] = size if isinstance(found, Parts) else with_features(size, arguments, found)
        parts = refine_by(
            engine, found, arguments.output, tile_triangles=arguments.tile_triangles,
            on_conflict=arguments.on_conflict, convex_hull=arguments.convex_hull, overwrite=arguments.force,
            watch=None if bar is None else bar.task_ended,
            **options,
        )  # fmt: skip
    _report(console, parts)
    if arguments.json:
        told = ("complete", "unrefined", "passes", "warnings")
        files = {"input": str(arguments.input), "output": [str(parts.folder)]}
        console.emit_json({**parts.counts, **{name: parts.manifest[name] for name in told}, "files": files})
    return DONE if parts.manifest["complete"] else STOPPED


def _report(console: Console, parts: Parts) -> None:
    """Prints the counts, what each pass refined, and the unrefined triangles by reason."""
    manifest, counts = parts.manifest, parts.counts
    for warning in manifest["warnings"]:
        console.warn(warning)
    for number, each in enumerate(manifest["passes"]):
        mesh = "the coarse mesh" if number == 0 else "what waited at cuts, and its surroundings"
        size = f"{counted(each['triangles'], 'triangle')} in {counted(each['tiles'], 'tile')}"
        console.detail(f"pass {number + 1}: {mesh}: {size}")
    note_unrefined(console, parts.unrefined)
    console.note(
        f"wrote {counted(counts['triangles'], 'triangle')} and {counted(counts['vertices'], 'vertex', 'vertices')} in "
        f"{counted(counts['parts'], 'part')} to {parts.folder}"
    )
    if not manifest["complete"] and not manifest["warnings"]:
        console.warn("a tile reached its limit; the mesh that was written is valid, but violates a bound in places")
