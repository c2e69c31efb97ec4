"""The refinement in tiles behind `dmr.distributed.refine`: options, the job's folder, an engine, and the result."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from dmr._version import __version__
from dmr.common.arguments import chosen, switch, whole_option
from dmr.common.text import option
from dmr.common.threads import thread_count
from dmr.distributed.engines import Engine, chosen_engine
from dmr.distributed.jobs.job_folder import job_folder
from dmr.distributed.jobs.reported import Reported, Watch
from dmr.distributed.jobs.runner import Runner
from dmr.distributed.jobs.store import name_of
from dmr.distributed.jobs.task import Resources
from dmr.distributed.output.finish import finish, tasks_ahead, write_manifest
from dmr.distributed.output.parts import Parts
from dmr.distributed.tiles.bounds import Bounds
from dmr.distributed.tiles.passes import Tiled, refine_tiles
from dmr.distributed.tiles.tasks import begin_arrays
from dmr.distributed.tiles_of_parts import parts_digest, refine_parts
from dmr.errors import OptionError
from dmr.io.part_names import ANY_PART, MANIFEST
from dmr.memory import open_device
from dmr.mesh.arguments import file_path
from dmr.mesh.shapes import bounding_box
from dmr.mesh.types import Mesh, Pslg
from dmr.meshing.conversion import MeshLike, as_mesh_or_domain
from dmr.refinement.options import RefineOptions
from dmr.refinement.setup.areas import with_area
from dmr.sizing.functions import FunctionSizes, size_source
from dmr.sizing.source import SizeSource
from dmr.triangulation.meshing import triangulate_noting
from dmr.triangulation.options import CONFLICT_POLICIES

# The options of `dmr.refine` that mean the same here; the rest is refused.
OPTIONS = ("min_angle", "max_area", "grading", "steiner", "conforming", "keep_segments", "strict")
BY_PLACE = ("area", "size", "max_edge")
REFUSED = {
    "max_steiner": "each tile has its own limit",
    "max_seconds": "the result would depend on the machine",
    "marking": "only the default gives the same mesh in any order of the tasks",
    "optimize": "points would move across cuts",
    "progress": "tasks run in other processes",
    "profile": "tasks run in other processes",
}


def refine(
    source: MeshLike | Parts | str | PathLike[str],
    out: str | PathLike[str],
    *,
    tile_triangles: float,
    executor: Any = None,
    workers: int | None = None,
    on_conflict: str = "resolve",
    convex_hull: bool = False,
    device: str = "auto",
    threads: int | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Parts:
    """Refines a domain or a mesh in tiles that each fit on a device, and writes the result in parts.

    The bits of the result depend on the source, the options and the size of the tiles, and on nothing else: not on the
    engine, the number of workers, the device, or how often the run was interrupted. If one tile suffices, they are
    those of `dmr.refine`, otherwise they are not. A call that was interrupted, killed or ended by an error resumes when
    it is made again: finished tasks are not repeated.

    Args:
        source: what is refined, as for `dmr.refine`; or a mesh in parts, by its folder. Parts are never loaded whole:
            they are cut into tiles as they are, must be constrained Delaunay, and functions are sampled in the
            rectangle around them.
        out: a folder for the result, which is made if it is missing. All workers see it under the same name.
        tile_triangles: triangles of the result per tile, as predicted; a whole number, such as 10e6.
        executor: an executor of `concurrent.futures`, or a Dask client, that runs the tasks; None for this process.
        workers: instead of an executor, the number of processes on this machine. Worker k uses GPU k, modulo their
            number, or its share of the cores. The main module of the program is imported in each of them.
        on_conflict, convex_hull: for an outline, as for `dmr.refine`.
        device: of each task, as for `dmr.refine`.
        threads: CPU threads of each task; by default the share of a worker in the cores with `workers`, one with an
            executor, and all cores otherwise.
        overwrite: whether a finished result in `out`, or what another job has left there, is replaced.
        options: `min_angle`, `max_area`, `area`, `max_edge`, `size`, `grading`, `steiner`, `conforming`,
            `keep_segments` and `strict`, as for `dmr.refine`, but functions are sampled before the domain is cut
            (`dmr.sizing.sampled`, with its usual error), and their samples are the bounds. In a mesh in parts, `size`
            places no points: edges are at most 1.55 times as long, which gives about as many triangles.

    Returns:
        The result. `complete` in its `manifest` is False if a tile reached its limit on points, where the mesh is
        valid, but violates a bound.

    Raises:
        OptionError: an option cannot be used, or not with tiles; names it.
        InvalidMeshError: as for `dmr.refine`.
        ExistingResultError: `out` holds a finished result, what another job has left, or other files.
        FileError: `out` cannot be written, or another run is using it.
        LostWorkerError: a worker died, and its task could not be done by another one.
        DeviceUnavailableError: the device is not available. OutOfMemoryError: it has too little memory for a tile.
    """
    thread_count(threads)
    if executor is not None and threads is None:
        threads = 1
    engine = chosen_engine(Resources(device, threads), executor=executor, workers=workers)
    return refine_by(
        engine, source, out, tile_triangles=tile_triangles, on_conflict=on_conflict, convex_hull=convex_hull,
        overwrite=overwrite, **options,
    )  # fmt: skip


def refine_by(
    engine: Engine,
    source: MeshLike | Parts | str | PathLike[str],
    out: str | PathLike[str],
    *,
    tile_triangles: float,
    on_conflict: str,
    convex_hull: bool,
    overwrite: bool,
    watch: Watch | None = None,
    **options: Any,
) -> Parts:
    """Refines in tiles by an engine; arguments, result and errors are those of `refine`; `watch`: see `Reported`."""
    check_options(options)
    folder = file_path(out)
    if isinstance(tile_triangles, float) and tile_triangles.is_integer():  # such as 10e6
        tile_triangles = int(tile_triangles)
    tile_triangles = whole_option("tile_triangles", tile_triangles)
    convex_hull = switch("convex_hull", convex_hull)
    on_conflict = chosen("on_conflict", on_conflict, CONFLICT_POLICIES)
    parts = Parts(source) if isinstance(source, str | PathLike) else source if isinstance(source, Parts) else None
    if parts is not None:
        if convex_hull:
            raise OptionError(f"{option('convex_hull')} is for outlines: a mesh in parts has its domain already")
        return _refine_parts(
            engine, parts, folder, tile_triangles=tile_triangles, overwrite=overwrite, watch=watch, **options
        )
    given, hull = as_mesh_or_domain(source, "source", convex_hull=convex_hull)
    given, bounds = _bounds(given, options, on_conflict=on_conflict, convex_hull=hull)
    job: dict[str, Any] = {
        "version": __version__,
        "source": name_of(begin_arrays(given, bounds)),
        "names": given.names,
        "tile_triangles": tile_triangles,
        "on_conflict": on_conflict,
        "convex_hull": hull,
        **bounds.stored(),
    }
    refine_by_runner = partial(
        refine_tiles, source=given, tile_triangles=tile_triangles, bounds=bounds, on_conflict=on_conflict,
        convex_hull=hull, ahead=tasks_ahead,
    )  # fmt: skip
    return _run(engine, folder, job, refine_by_runner, given, overwrite=overwrite, watch=watch)


def _refine_parts(
    engine: Engine,
    parts: Parts,
    folder: Path,
    *,
    tile_triangles: int,
    overwrite: bool,
    watch: Watch | None,
    **options: Any,
) -> Parts:
    """Refines a mesh in parts."""
    asked = check_options(options)
    if options.get("area") is not None and not callable(options["area"]):
        raise OptionError(f"{option('area')} must be a function for a mesh in parts: {option('max_area')} is a number")
    if folder.absolute() == parts.folder.absolute():
        raise OptionError(f"{option('out')} must be another folder than that of the parts")
    area = options.get("area")
    sources = _sources(options, None if area is None else FunctionSizes(area, "area", power=2))
    bounds = Bounds.checked(asked, sources, lambda: _box(parts))
    whole = Pslg(
        np.empty((0, 2)), np.empty((0, 2), np.int32), holes=parts.manifest["holes"], regions=parts.manifest["regions"],
        names=parts.names,
    )  # fmt: skip
    arrays: dict[str, Any] = {}
    bounds.save(arrays)
    job = {
        "version": __version__,
        "source": parts_digest(parts),
        "sizes": name_of(arrays),
        "tile_triangles": tile_triangles,
        **bounds.stored(),
    }
    refine_by_runner = partial(
        refine_parts, parts=parts, tile_triangles=tile_triangles, bounds=bounds, ahead=tasks_ahead
    )
    return _run(engine, folder, job, refine_by_runner, whole, overwrite=overwrite, watch=watch)


def _box(parts: Parts) -> list[float]:
    """Returns the rectangle around a mesh in parts."""
    corners = np.array([bounding_box(part.mesh.vertices) for part in parts])
    return [*corners[:, :2].min(axis=0).tolist(), *corners[:, 2:].max(axis=0).tolist()]


def _run(
    engine: Engine,
    folder: Path,
    job: dict[str, Any],
    refine_by_runner: Callable[[Runner], Tiled],
    source: Mesh | Pslg,
    *,
    overwrite: bool,
    watch: Watch | None,
) -> Parts:
    """Runs a job in its folder, and writes the parts; `source` has the names, holes and regions of the whole."""
    with job_folder(folder, job, overwrite=switch("overwrite", overwrite)) as store, engine(store) as plain:
        runner = Reported(plain, watch)
        tiled = refine_by_runner(runner)
        (folder / MANIFEST).unlink(missing_ok=True)  # of an older result, before its parts are replaced
        made = finish(runner, tiled.pieces, folder, source)
        _remove_stale(folder, {part["file"] for part in made["parts"]})
        write_manifest(folder, {**made, **_report(job, tiled)})
    return Parts(folder)


def check_options(options: Mapping[str, Any]) -> RefineOptions:
    """Checks the options of a refinement in tiles, except those by position.

    Raises:
        OptionError: an option cannot be used, or not with tiles.
    """
    known = (*OPTIONS, *BY_PLACE)
    for name in options:
        if name in REFUSED:
            raise OptionError(f"{option(name)} cannot be combined with tiles: {REFUSED[name]}")
        if name not in known:
            raise OptionError(f"there is no option {name!r} for a refinement in tiles; there are {', '.join(known)}")
    return RefineOptions(**{name: value for name, value in options.items() if name in OPTIONS})


def _bounds(
    source: Mesh | Pslg, options: Mapping[str, Any], *, on_conflict: str, convex_hull: bool
) -> tuple[Mesh | Pslg, Bounds]:
    """Returns the source, with the area bounds that `area` gives its triangles, and the bounds."""
    source, asked, area_root = with_area(source, options.get("area"), check_options(options))
    sources = _sources(options, area_root)

    def mesh() -> Mesh:
        if isinstance(source, Mesh):
            return source
        device = open_device("cpu")
        return triangulate_noting(
            source, on_conflict=on_conflict, convex_hull=convex_hull, mesher="dmr", device=device
        )[0]

    return source, Bounds.checked(asked, sources, mesh)


def _sources(options: Mapping[str, Any], area_root: SizeSource | None) -> dict[str, SizeSource | None]:
    """Returns the bounds by place that options ask for."""
    found: dict[str, SizeSource | None] = {"area_root": area_root}
    for name in ("size", "max_edge"):
        given = options.get(name)
        found[name] = None if given is None else size_source(given, name)
    return found


def _remove_stale(folder: Path, files: Collection[str]) -> None:
    """Removes the parts of an older result, which had more of them."""
    for path in folder.glob(ANY_PART):
        if path.name not in files:
            path.unlink()


def _report(job: Mapping[str, Any], tiled: Tiled) -> dict[str, Any]:
    """Returns the entries of the manifest that tell of the refinement."""
    return {
        "job": dict(job),
        "complete": tiled.complete,
        "unrefined": tiled.unrefined,
        "passes": [{"tiles": tiles, "triangles": triangles} for tiles, triangles in tiled.passes],
        "warnings": list(tiled.warnings),
    }
