"""The passes of a refinement in tiles.

    begin: refine the source coarsely, cut it into tiles
    repeat:
        refine each tile                                      (in parallel)
        number the new vertices, by tile
        if nothing waits: stop
        divide the patches that the band reaches              (in parallel)
        join their parts to the band, and cut it into tiles
    publish each patch                                        (in parallel)

A pass begins when all tiles of the one before are done. Which tasks there are, and all their results, depend on the
source, the options and the size of the tiles only.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

from dmr.common.arguments import whole_option
from dmr.common.text import counted, option
from dmr.distributed.jobs.runner import Runner
from dmr.distributed.jobs.task import Task
from dmr.distributed.tiles import tasks
from dmr.distributed.tiles.bands import Reach, layers_of
from dmr.distributed.tiles.bounds import Bounds
from dmr.errors import OptionError
from dmr.mesh.types import Mesh, Pslg

MOST_IDLE = 8  # consecutive passes in which what waits gets no less


class Held(NamedTuple):
    """A patch of the result so far: the task in whose output it is, its place there, and its first new number."""

    name: str
    place: int
    first: int


@dataclass(frozen=True)
class Tiled:
    """A refinement in tiles.

    Attributes:
        pieces: the names of the outputs that hold the pieces (`Piece.load`), in order.
        complete: whether no triangle misses a bound because its tile reached the default limit on points.
        vertices, triangles: of the result.
        unrefined: number of triangles that miss a bound, by reason.
        passes: (tiles, triangles before) of each pass; the first is that of the coarse mesh. Empty if one tile
            suffices.
        warnings: one sentence each.
    """

    pieces: tuple[str, ...]
    complete: bool
    vertices: int
    triangles: int
    unrefined: dict[str, int]
    passes: tuple[tuple[int, int], ...]
    warnings: tuple[str, ...]


def refine_tiles(
    runner: Runner,
    source: Mesh | Pslg,
    *,
    tile_triangles: int,
    bounds: Bounds,
    on_conflict: str = "resolve",
    convex_hull: bool = False,
) -> Tiled:
    """Refines a domain in tiles.

    Args:
        runner: runs the tasks.
        source: a domain by its outline, or a triangulation.
        tile_triangles: predicted triangles of the result in a tile, 1 or more.
        bounds: what the triangles must meet.
        on_conflict, convex_hull: as for `dmr.refine`, for an outline.

    Raises:
        OptionError: tiles of this size are too small for what waits at their borders.
        InvalidMeshError: no valid triangulation, or a graph that bounds no domain.
        Whatever a task raises.
    """
    tile_triangles = whole_option("tile_triangles", tile_triangles)
    if tile_triangles < 1:
        raise OptionError(f"{option('tile_triangles')} must be at least 1, not {tile_triangles}")
    begun = Task.of(
        tasks.begin,
        [runner.store.put(tasks.begin_arrays(source, bounds))],
        bounds=bounds.stored(),
        tile_triangles=tile_triangles,
        on_conflict=on_conflict,
        convex_hull=convex_hull,
    )
    (start,) = runner.run([begun])
    if not start["tiles"]:
        return Tiled(
            (begun.name,), start["complete"], start["vertices"], start["triangles"], start["unrefined"], (),
            tuple(start["warnings"]),
        )  # fmt: skip
    return _Passes(runner, begun.name, start, tile_triangles, bounds).run()


class _Passes:
    def __init__(self, runner: Runner, whole: str, start: dict[str, Any], tile_triangles: int, bounds: Bounds) -> None:
        self._runner, self._whole = runner, whole
        self._tile_triangles, self._bounds = tile_triangles, bounds
        self._vertices: int = start["vertices"]
        self._warnings: list[str] = start["warnings"]
        self._loose: bool = start["loose"]
        self._held: list[Held] = []
        self._passes = [(start["tiles"], start["coarse"])]

    def run(self) -> Tiled:
        tiles, fewest, idle, turn = (self._whole, self._passes[0][0]), None, 0, 0
        while True:
            layers = layers_of(turn)
            seeds = self._refine(*tiles, layers)
            waiting = sum(seeds.values())
            if not waiting:
                break
            idle = 0 if fewest is None or waiting < fewest else idle + 1
            fewest = waiting if fewest is None else min(fewest, waiting)
            if idle > MOST_IDLE:
                raise OptionError(
                    f"{waiting} triangles still wait after {turn + 1} passes, because their circles reach across tiles "
                    f"of {self._tile_triangles:,} triangles: use a larger {option('tile_triangles')}"
                )
            turn += 1
            tiles = self._next_tiles(seeds, layers, turn)
        return self._published()

    def _refine(self, folder: str, count: int, layers: int) -> dict[str, int]:
        """Refines tiles, and numbers their vertices; returns the names of their tasks, and their numbers of seeds."""
        todo = [
            Task.of(tasks.refine, [self._whole, folder], bounds=self._bounds.stored(), tile=k, layers=layers)
            for k in range(count)
        ]
        seeds = {}
        for task, summary in zip(todo, self._runner.run(todo), strict=True):
            self._held.append(Held(task.name, 0, self._vertices))
            self._vertices += summary["inserted"]
            self._warnings += [each for each in summary["warnings"] if each not in self._warnings]
            seeds[task.name] = summary["seeds"]
        return seeds

    def _next_tiles(self, seeds: dict[str, int], layers: int, turn: int) -> tuple[str, int]:
        """Takes the band around what waits out of the patches, and cuts it into tiles."""
        store = self._runner.store
        reaches = {name: Reach.load(store.folder(name)) for name, count in seeds.items() if count}
        todo: dict[int, Task] = {}
        for index, held in enumerate(self._held):
            border = store.folder(held.name)["reach_border"]
            near = [name for name, each in reaches.items() if name == held.name or each.touches(border)]
            if near:
                options = {"place": held.place, "first": held.first, "layers": layers}
                todo[index] = Task.of(tasks.divide, [self._whole, held.name, *near], **options)
        divided = dict(zip(todo, self._runner.run(list(todo.values())), strict=True))
        joined = [todo[index].name for index, summary in divided.items() if summary["band"]]
        self._held = [
            Held(todo[index].name, 0, 0) if index in divided and divided[index]["band"] else held
            for index, held in enumerate(self._held)
            if index not in divided or divided[index]["rest"]
        ]
        stored = self._bounds.stored()
        join = Task.of(
            tasks.join, [self._whole, *joined], bounds=stored, tile_triangles=self._tile_triangles, turn=turn
        )
        (summary,) = self._runner.run([join])
        self._passes.append((summary["tiles"], summary["triangles"]))
        return join.name, summary["tiles"]

    def _published(self) -> Tiled:
        todo = [
            Task.of(
                tasks.publish,
                [self._whole, held.name],
                place=held.place,
                first=held.first,
                loose=self._loose and number == 0,
            )
            for number, held in enumerate(self._held)
        ]
        summaries = self._runner.run(todo)
        unrefined: Counter[str] = Counter()
        for summary in summaries:
            unrefined.update(summary["unrefined"])
        if unrefined["budget"]:
            self._warnings.append(
                "tiles stopped at their default limits on Steiner points: the mesh is valid, but "
                f"{counted(unrefined['budget'], 'triangle is', 'triangles are')} not finished"
            )
        return Tiled(
            tuple(task.name for task in todo),
            not unrefined["budget"],
            self._vertices,
            sum(summary["triangles"] for summary in summaries),
            dict(+unrefined),
            tuple(self._passes),
            tuple(self._warnings),
        )
