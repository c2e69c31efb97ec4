"""The tasks of a refinement in tiles: functions over folders (`dmr.distributed.jobs`).

    begin      the source           -> the whole mesh, if it is small; else a coarse mesh, cut into tiles
    place      a tile               -> the tile with points that are placed by size (in passes of their own)
    regroup    tiles with points    -> a tile to refine
    refine     a tile               -> its part for the first band, or its margin and how far what waits is from its
                                       border, and then the rest and the core
    join       parts for the band   -> the band, refined as a tile is if it is one, else cut into tiles
    summarize  what is left of a tile -> the border of the piece of the result, and its counts

A folder that holds several patches has each under its place: "3-triangles", ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.common.pooling import close, new_pool, submit
from dmr.common.threads import thread_count
from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.steps import step, with_steps
from dmr.distributed.jobs.store import TEMPORARY_PREFIX, Store
from dmr.distributed.jobs.task import Resources
from dmr.distributed.threaded import flags
from dmr.distributed.tiles.bands import Reach, reach, unreached
from dmr.distributed.tiles.bounds import Bounds, predicted_triangles
from dmr.distributed.tiles.cuts import edges_of
from dmr.distributed.tiles.cutting import OneTile, Tiles, cut, stored_tile
from dmr.distributed.tiles.patch import REASONS, Patch, glued, store_sparse
from dmr.distributed.tiles.piece import BORDER, NUMBERS, Piece
from dmr.distributed.tiles.pieces import restricted
from dmr.distributed.tiles.placement.coarse import COARSE_VERTEX, FREE_VERTEX, Wanted, place_coarsely
from dmr.distributed.tiles.placement.patches import place_in_patch
from dmr.distributed.tiles.refining import prepare, refine_coarsely, refine_patch, release
from dmr.distributed.tiles.result.core_file import FILE, CoreArrays, core_bytes, save_core
from dmr.distributed.tiles.result.sections import LOOSE
from dmr.distributed.tiles.separation.dividing import BAND, REST, save_parts, save_patch
from dmr.distributed.tiles.separation.margin import Division, FirstPart, Refined
from dmr.distributed.tiles.stored import InMemory, Stored
from dmr.distributed.tiles.whole import Whole
from dmr.distributed.unions.union import Numbers
from dmr.memory import open_device
from dmr.mesh.names import names_of_texts
from dmr.mesh.types import Mesh, Pslg
from dmr.refinement.options import RefineOptions
from dmr.refinement.pipeline import refine as refine_whole
from dmr.refinement.setup.demand import estimated_triangles
from dmr.triangulation.meshing import triangulate_noting

COARSE_SHARE = 4  # the coarse mesh has a quarter of the triangles of the result, but no more than
COARSE_PER_TILE = 2**14  # this for each tile,
LEAST_COARSE, MOST_COARSE = 2**18, 2**22  # within these limits
TILES = "tiles"  # the place of `Tiles` in the output of a task
CORE = 1  # the place of the core of a tile in its output, and of its reach in that of the margin of later passes
NO_REASONS, NO_ROWS = np.empty(0, np.uint8), np.empty(0, np.int32)
SOURCE_ARRAYS = {
    Mesh: (
        "vertices", "triangles", "segments", "segment_markers", "vertex_markers", "vertex_attributes",
        "triangle_attributes", "area_bounds", "holes", "regions",
    ),
    Pslg: ("vertices", "segments", "holes", "regions", "segment_markers", "vertex_markers", "vertex_attributes"),
}  # fmt: skip


def source_arrays(source: Mesh | Pslg) -> dict[str, NDArray[Any]]:
    """Returns the arrays of a source by name."""
    arrays = {name: getattr(source, name) for name in SOURCE_ARRAYS[type(source)]}
    return {name: array for name, array in arrays.items() if array is not None}


def begin_arrays(source: Mesh | Pslg, bounds: Bounds) -> dict[str, NDArray[Any]]:
    """Returns the input of `begin`: the arrays of a source and of its bounds by name."""
    arrays = source_arrays(source)
    bounds.save(arrays)
    return arrays


def _source(folder: Folder, names: Mapping[str, Mapping[Any, str]]) -> Mesh | Pslg:
    kind = Mesh if "triangles" in folder else Pslg
    arrays: dict[str, Any] = {name: folder[name] for name in SOURCE_ARRAYS[kind] if name in folder}
    return kind(**arrays, names=names_of_texts(names))


def get_ready(resources: Resources, options: Mapping[str, Any]) -> None:
    """Opens the device of a worker, and loads the kernels for the tasks after one with these options."""
    prepare(open_device(resources.device, resources.threads), RefineOptions(**options.get("bounds", {})))


def begin(
    inputs: Sequence[Folder],
    out: Folder,
    resources: Resources,
    *,
    names: Mapping[str, Mapping[Any, str]],
    bounds: Mapping[str, Any],
    tile_triangles: int,
    on_conflict: str,
    convex_hull: bool,
) -> dict[str, Any]:
    """Refines the source, if one tile suffices; otherwise refines it coarsely, and cuts it into tiles.

    `inputs` are the arrays of the source and of the bounds; `names` are those of the source.
    """
    source, asked = _source(inputs[0], names), Bounds.load(bounds, inputs[0])
    device = open_device(resources.device, resources.threads)
    mesh, notes = source, list[str]()
    if isinstance(mesh, Pslg):
        with step("triangulate"):
            mesh, notes, _ = triangulate_noting(
                mesh, on_conflict=on_conflict, convex_hull=convex_hull, mesher="dmr", device=device
            )
    with step("predict"):
        by_angle, by_size = predicted_triangles(mesh, asked, threads=resources.threads)
        # Long triangles of an outline say little about sizes that vary: samples do.
        by_samples = estimated_triangles(mesh, asked.options, asked.local)
    predicted = max(float(np.maximum(by_angle, by_size).sum()), by_samples)
    if predicted <= tile_triangles and "area_root" not in asked.sources:
        result = refine_whole(
            source, **bounds, size=asked.sources.get("size"), max_edge=asked.sources.get("max_edge"),
            on_conflict=on_conflict, convex_hull=convex_hull, device=resources.device, threads=resources.threads,
        )  # fmt: skip
        Piece(result.mesh, np.arange(len(result.mesh.vertices))).save(out)
        listed = {reason: np.asarray(rows, np.int32) for reason, rows in result.unrefined_triangles.items()}
        codes = [np.full(len(rows), REASONS.index(reason) + 1, np.uint8) for reason, rows in listed.items()]
        store_sparse(out, "reasons", np.concatenate([NO_REASONS, *codes]), np.concatenate([NO_ROWS, *listed.values()]))
        out[BORDER] = np.empty(0, np.int64)
        return {
            "tiles": 0, "vertices": len(result.mesh.vertices), "complete": result.complete,
            "unrefined": result.unrefined, "triangles": len(result.mesh.triangles), "warnings": result.warnings,
        }  # fmt: skip
    enough = min(max(COARSE_PER_TILE * predicted / tile_triangles, LEAST_COARSE), MOST_COARSE)
    coarse = min(predicted / COARSE_SHARE, enough)
    factor = max(max(float(by_size.sum()), by_samples) / coarse, 1.0)
    # Skinny triangles beside fine outlines reach far: cut, they would wait band after band.
    fully = bool(by_size.any()) and float(by_angle.sum()) <= MOST_COARSE
    placed = "size" in asked.sources
    if placed:
        patch, edges, whole, wanted, told = place_coarsely(
            mesh, asked, device, predicted=predicted, tile_triangles=tile_triangles, most=MOST_COARSE
        )
        wanted.save(out)
    else:
        with step("refine coarsely"):
            patch, edges, whole, report = refine_coarsely(mesh, asked, factor, fully=fully, device=device)
            if fully and not report.complete:  # the angles may be out of reach: tiles show how far they can come
                patch, edges, whole, report = refine_coarsely(mesh, asked, factor, fully=False, device=device)
        told = [*report.warnings]
    device.trim_memory()  # a GPU's memory is returned by the first tile
    whole.save(out)
    asked.save(out)
    loose = np.flatnonzero(~flags(len(patch.numbers), patch.mesh.triangles, resources.threads))
    if len(loose):
        restricted(patch.piece, np.empty(0, np.int64), vertices=loose).save(Stored(out, LOOSE))
    with step("write"):
        replace(patch, edges=edges).save_all_but_seeds(Stored(out, TILES))  # large arrays beside the next step
    with step("cut"):
        tiles = cut(patch, edges, asked, tile_triangles, 0, resources.threads, whole=whole)
    with step("write"):
        tiles.save(Stored(out, TILES), patch=False)
    return {
        "tiles": len(tiles), "vertices": len(patch.numbers), "coarse": len(patch.mesh.triangles),
        "warnings": [*notes, *told], "loose": bool(len(loose)), "placed": placed,
        "pinched": bool(len(whole.pinched)),
    }  # fmt: skip


def place(
    inputs: Sequence[Folder], out: Folder, resources: Resources, *, bounds: Mapping[str, Any], tile: int, layers: int
) -> dict[str, Any]:
    """Places points by size in a tile. The output is the tile (0).

    Args:
        inputs: the whole, with the sizes, and the folder of the tile.
        out, resources: as for all tasks.
        tile: its place in the folder; layers: those of the next band.
    """
    whole, asked = Whole.load(inputs[0]), Bounds.load(bounds, inputs[0])
    device = open_device(resources.device, resources.threads)
    patch = Tiles.load(Stored(inputs[1], TILES)).tile(tile, resources.threads)
    done = place_in_patch(patch, whole, asked, Wanted.load(inputs[0]), device)
    device.release_memory()
    save_patch(done.patch, reach(done.patch, done.border, layers, resources.threads)[0], out, 0)
    return {
        "inserted": done.inserted, "seeds": int(done.patch.seeds.sum()), "warnings": [],
        "triangles": len(done.patch.mesh.triangles), "core": False,
    }  # fmt: skip


def regroup(
    inputs: Sequence[Folder], out: Folder, resources: Resources, *, places: Sequence[int], firsts: Sequence[int]
) -> dict[str, Any]:
    """Unites patches with placed points to the only one of `Tiles`, none of whose triangles has been refined.

    Args:
        inputs: the folders of the patches; out: for the tile; resources: not used.
        places: of the patches in their folders; firsts: the number of the first new vertex of each.
    """
    patches = zip(inputs, places, firsts, strict=True)
    tile = glued(
        [Patch.load(Stored(folder, place)).numbered(first) for folder, place, first in patches], resources.threads
    )
    origin = np.where(tile.vertex_origin == COARSE_VERTEX, FREE_VERTEX, tile.vertex_origin).astype(np.int32)
    whole = replace(tile, vertex_origin=origin, seeds=np.ones(len(tile.seeds), np.bool_))
    Tiles(whole, None, np.array([len(tile.seeds)])).save(Stored(out, TILES))
    return {"triangles": len(tile.seeds)}


def refine(
    inputs: Sequence[Folder],
    out: Folder,
    core: Folder,
    resources: Resources,
    *,
    bounds: Mapping[str, Any],
    tile: int,
    layers: int,
    depth: int,
    only: bool = False,
    first: bool = False,
    placed: bool = False,
    earlier: Sequence[str] | None = None,
    vertices: int = 0,
) -> Iterator[dict[str, Any]]:
    """Refines a tile. The output is its margin (0), and then the core (1), unless that is small.

    The next pass begins while large cores are on their way to their files. In the first pass the device divides the
    margin into `BAND` and `REST`, as if there were seeds everywhere at the border with other tiles: then it does not
    matter which seeds these have. `out` has the part for the band; the rest is with the core, if there is one. Nothing
    waits for the core of the last band, either.

    In later passes, if the band has triangles of the margin, `out` also has it as `divide` (`dividing`) divides it, as
    long as no other tile has a seed that is nearer to it.

    Args:
        inputs: the whole, and the folder of the tile.
        out, core, resources: as for all tasks.
        tile: its place in the folder; layers: those of the next band; depth: the layers of the margin.
        only: whether it is the only tile of the pass; first: whether this is the first pass.
        placed: whether points have been placed by size.
        earlier: the tasks of the tiles before, in the first pass; vertices: of all tiles together. If these tasks are
            done when the tile is refined, the new vertices of its core get their numbers at once.
    """
    asked = replace(Bounds.load(bounds, inputs[0]), placed=placed)
    threads = _threads_beside_cores(resources) if only else resources.threads
    yield from _refined(
        stored_tile(Stored(inputs[1], TILES), tile, threads), Whole.load(inputs[0]), asked, out, core, resources,
        layers=layers, depth=depth, only=only, first=first, threads=threads,
        first_number=lambda: -1 if earlier is None else _first_number(Store(out.path.parent), earlier, vertices),
    )  # fmt: skip


def _refined(
    tile: OneTile,
    whole: Whole,
    asked: Bounds,
    out: Folder,
    core: Folder,
    resources: Resources,
    *,
    layers: int,
    depth: int,
    only: bool,
    first: bool,
    threads: int | None,
    first_number: Callable[[], int],
) -> Iterator[dict[str, Any]]:
    """Refines a tile; outputs and summaries are those of `refine`, as most arguments are.

    Args:
        threads: that compute on the host.
        first_number: returns the number of the first vertex that is inserted, or -1 if it is not known when the core is
            downloaded.
    """
    device = open_device(resources.device, resources.threads)
    with ExitStack() as held:
        path, expected = core.path / FILE, core_bytes(device, tile.predicted, labels=tile.labels)
        # While a tile of several is copied, the next one has the device; the core of a single one is wanted at once.
        arrays, rest = CoreArrays(path, expected, later=not only), held.enter_context(InMemory(later=True))
        held.enter_context(arrays)

        def first_of_new() -> int:
            first = first_number()
            arrays.numbered = first >= 0
            return first

        division, found = Division(layers, rest) if first else None, Future[FirstPart | None]()
        # While a thread takes the rest of a tile from a GPU, the next tasks may begin. On a CPU, Ctrl-C must end it.
        pool = new_pool(1, "dmr-tile") if (first or only) and not device.threads else None
        held.callback(close, pool)
        refining = submit(
            pool, with_steps(refine_patch), tile.load, whole, asked, device, depth, arrays, threads, tile.predicted,
            only=only, first_number=first_of_new, division=division, found=found.set_result,
        )  # fmt: skip
        refining.add_done_callback(lambda _: None if found.done() else found.set_result(None))
        part = found.result()
        if part is None:
            done = refining.result()
            with arrays.finishing():
                yield _stored(done, out, layers, threads)
        else:
            with step("write first part"):
                patch = part.load()
                save_patch(patch, unreached(patch.numbers[part.border]), out, BAND if first else 0)
            if not part.in_core:
                _store_rest(refining.result(), rest, out)
            yield {
                "inserted": part.inserted, "seeds": int(patch.seeds.sum()), "warnings": part.warnings,
                "triangles": part.triangles, "core": bool(part.in_core), "in_core": part.in_core,
                "band": len(patch.mesh.triangles) if first else 0, "rest": part.has_rest, "apart": part.apart,
                "reach_with_core": True,
            }  # fmt: skip
            done = refining.result()
            with arrays.finishing():
                if part.in_core:
                    _store_rest(done, rest, core)
        if done.core is not None:
            with step("write core"):
                save_core(arrays, core, CORE, done.beside, thread_count(threads))
                unreached(done.core_border).save(Stored(core, CORE))
                core.wait()  # the memory of the arrays is used again
            yield {}
    release(device)  # no task waits for that


def _first_number(store: Store, earlier: Sequence[str], vertices: int) -> int:
    """Returns the number of the first vertex that a tile inserts; -1 if tasks of tiles before it are not done yet."""
    for name in earlier:
        summary = store.summary(name)
        if summary is None:
            return -1
        vertices += int(summary["inserted"])
    return vertices


def _stored(done: Refined, out: Folder, layers: int, threads: int | None) -> dict[str, Any]:
    """Stores the margin of a refined tile, and how the band divides it; returns the summary of `refine`."""
    margin = done.margin
    assert margin is not None
    with step("reach"):
        reached, in_band = reach(margin, done.margin_border, layers, threads)
    with step("write margin"):
        save_patch(margin, reached, out, 0)
        if done.core is not None:
            unreached(done.core_border).save(Stored(out, CORE))
    with step("divide"):
        divided = int(np.count_nonzero(in_band))
        rest = bool(divided) and save_parts(margin, reached.border, in_band, out, threads)
    return {
        "inserted": done.inserted, "seeds": int(margin.seeds.sum()), "warnings": done.warnings, "divided": divided,
        "rest": rest, "triangles": len(margin.mesh.triangles) + done.core_triangles, "core": done.core is not None,
        "in_core": done.core_triangles,
    }  # fmt: skip


def _store_rest(done: Refined, rest: InMemory, out: Folder) -> None:
    """Stores the rest of a margin that was divided on the device, if there is one."""
    with step("write rest"):
        rest.finish()
        stored = Stored(out, REST)
        for name, array in rest.items():
            stored[name] = array
        if rest:
            unreached(done.rest_border).save(stored)
        out.wait()  # the memory of the arrays is used again


def store_core(inputs: Sequence[Folder], out: Folder, resources: Resources, **options: Any) -> dict[str, Any]:
    """Makes the second output of `refine`, if its process has ended before that was complete; refines the tile anew."""
    return _second_output(refine, inputs, out, resources, options)


def store_core_of_band(inputs: Sequence[Folder], out: Folder, resources: Resources, **options: Any) -> dict[str, Any]:
    """Makes the second output of `join`, likewise."""
    return _second_output(join, inputs, out, resources, options)


def _second_output(
    function: Callable[..., Iterator[dict[str, Any]]],
    inputs: Sequence[Folder],
    out: Folder,
    resources: Resources,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    with TemporaryDirectory(prefix=TEMPORARY_PREFIX, dir=out.path.parent) as folder:
        margin = Folder(Path(folder))
        for _ in function(inputs, margin, out, resources, **options):
            margin.stop()
    return {}


def join(
    inputs: Sequence[Folder],
    out: Folder,
    core: Folder,
    resources: Resources,
    *,
    bounds: Mapping[str, Any],
    tile_triangles: int,
    turn: int,
    firsts: Sequence[int],
    refined: Mapping[str, Any] | None = None,
) -> Iterator[dict[str, Any]]:
    """Unites the parts of a band. If one tile suffices, refines it; otherwise cuts it into tiles.

    Args:
        inputs: the whole, and the folders of the parts.
        out, core: for the tiles, or as for `refine`; resources: as for all tasks.
        turn: the number of passes before; firsts: the numbers of the first new vertices of the parts.
        refined: the options "layers", "depth" and "placed" of `refine`, and the "first_number" of a vertex that is
            inserted; None if the band is only cut, also if it is one tile.
    """
    threads, whole, asked = _threads_beside_cores(resources), Whole.load(inputs[0]), Bounds.load(bounds, inputs[0])
    with step("load"):
        folders = zip(inputs[1:], firsts, strict=True)
        parts = [Patch.load(Stored(folder, BAND)).numbered(first) for folder, first in folders]
    with step("glue"):
        band = glued(parts, threads)
    with step("edges"):
        edges = edges_of(band, threads)
    with step("cut"):
        save = partial(replace(band, edges=edges).save_all_but_seeds, Stored(out, TILES))  # while the band is divided
        tiles = cut(band, edges, asked, tile_triangles, turn, threads, whole=whole, before=save)
    found = {"tiles": len(tiles), "joined": len(band.mesh.triangles)}
    if len(tiles) == 1 and refined is not None:
        asked, first_number = replace(asked, placed=refined["placed"]), int(refined["first_number"])
        refining = _refined(
            tiles.one(0, threads), whole, asked, out, core, resources, layers=refined["layers"],
            depth=refined["depth"], only=True, first=False, threads=threads, first_number=lambda: first_number,
        )  # fmt: skip
        yield {**found, **next(refining)}
        yield from refining
        return
    with step("write"):
        tiles.save(Stored(out, TILES), patch=len(tiles) == 1)
    yield found


def _threads_beside_cores(resources: Resources) -> int:
    """Returns the threads for a task while the last cores of a pass are on their way to their files, which needs some.

    Threads that wait for a core delay the others, which work in steps.
    """
    threads = thread_count(resources.threads)
    on_gpu = not open_device(resources.device, resources.threads).threads
    return max(1, threads // 2) if on_gpu else threads


def summarize(
    inputs: Sequence[Folder], out: Folder, resources: Resources, *, places: Sequence[int | str], firsts: Sequence[int]
) -> dict[str, Any]:
    """Finds the border of a piece of the result, which consists of patches, and counts its triangles.

    It has the vertices that others may have, on borders of the patches, and where the boundary touches itself.

    Args:
        inputs: the whole, and the folders of the patches.
        out: for the border; resources: not used.
        places: of the patches in their folders; firsts: the number of the first new vertex of each.
    """
    given = [(Stored(folder, place), first) for folder, place, first in zip(inputs[1:], places, firsts, strict=True)]
    reasons, triangles = np.zeros(len(REASONS) + 1, np.int64), 0
    pinched, borders = Whole.load(inputs[0]).pinched, []
    for part, first in given:
        borders.append(Reach.load(part, first).border)
        if len(pinched):  # otherwise another task may write the numbers of a core meanwhile
            borders.append(pinched[Numbers(part[NUMBERS], first).find(pinched) >= 0])
        reasons += np.bincount(part["reasons"], minlength=len(reasons))
        triangles += len(part["triangles"])
    out[BORDER] = distinct(*borders)
    return {
        "triangles": triangles,
        "unrefined": {reason: int(count) for reason, count in zip(REASONS, reasons[1:], strict=True) if count},
    }
