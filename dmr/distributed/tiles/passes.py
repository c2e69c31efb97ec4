"""The passes of a refinement in tiles.

    begin: refine the source coarsely, cut it into tiles
    with wanted sizes: place points in each tile, and in bands, by the same loop; then refine
    repeat:
        refine each tile                                      (in parallel)
        number the new vertices, by tile
        if nothing waits: stop
        divide the patches that the band reaches              (in parallel; those of its tiles, as a rule, before;
                                                               after the first pass all of them)
        join their parts to the band, and cut it into tiles   (larger ones if no pass gets anything done; if it is one
                                                               tile, the same task refines it)
    find the border of each piece                             (in parallel)

A pass begins when the margins of all tiles of the one before are done; their cores may be completed later. Which tasks
there are, and all their results, depend on the source, the options and the size of the tiles only; those that are run
ahead, while a band is refined that may be the last one, may be in vain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from dmr.common.arguments import whole_option
from dmr.common.cached import cached_property
from dmr.common.text import counted, option
from dmr.distributed.jobs.runner import Runner
from dmr.distributed.jobs.task import Task, TaskFunction
from dmr.distributed.tiles import tasks
from dmr.distributed.tiles.bands import layers_of, margin_of
from dmr.distributed.tiles.bounds import Bounds
from dmr.distributed.tiles.placement.point_trees import require_point_trees
from dmr.distributed.tiles.result.core_file import finish_core
from dmr.distributed.tiles.result.sections import Outside, PieceSource
from dmr.distributed.tiles.separation import dividing
from dmr.errors import OptionError, OutOfMemoryError
from dmr.mesh.types import Mesh, Pslg
from dmr.refinement.state.device_mesh import MOST_TRIANGLES

MOST_IDLE = 3  # consecutive passes in which hardly less waits; then tiles grow
HARDLY_LESS = 0.8  # of the fewest triangles that have waited so far
MOST_NAMED = 64  # tiles whose tasks name those of all tiles before


Place = tuple[str, int]  # of a tile: a task, and the tile's number in its output
# Returns tasks that read pieces of the result, and of the last one, which is not refined yet, only the border.
Ahead = Callable[[Sequence[PieceSource]], list[Task]]


class Held(NamedTuple):
    """A patch of the result so far.

    Attributes:
        name: the task in whose output it is; place: its place there; first: the number of its first new vertex.
        piece: the piece of the result that it belongs to.
        tile: if it is the core of a tile of a band, the task that has refined the tile. Its output has the reach of the
            core, because the core may not be complete yet.
        triangles: of a core, of what is left beside it, or of a part for the next band, where they are known.
        above: if it has all triangles of its piece that touch others, unless the boundary touches itself: above all
            numbers of vertices of the piece; otherwise 0.
    """

    name: str
    place: int | str
    first: int
    piece: int
    tile: str = ""
    triangles: int = 0
    above: int = 0

    @property
    def reach(self) -> str:
        """The task in whose output its reach is."""
        return self.tile or self.name


class Done(NamedTuple):
    """A tile after a pass.

    Attributes:
        name: its task; first: the number of its first new vertex; seeds: how many triangles wait.
        divided: triangles for the next band, if its task has divided the margin; rest: whether a rest is left then.
        in_core: triangles in its core; triangles: of all of it.
    """

    name: str
    first: int
    seeds: int
    divided: int
    rest: bool
    in_core: int
    triangles: int = 0


@dataclass(frozen=True, eq=False)
class Tiled:
    """A refinement in tiles.

    Attributes:
        runner: runs the tasks that count triangles, when these are asked for.
        pieces: where the pieces are, in order.
        vertices: of the result.
        passes: (tiles, triangles before) of each pass; the first is that of the coarse mesh. Empty if one tile
            suffices.
        notes: warnings of the tasks, one sentence each.
        whole: the summary of the only task, if one tile suffices.
    """

    runner: Runner
    pieces: tuple[PieceSource, ...]
    vertices: int
    passes: tuple[tuple[int, int], ...]
    notes: tuple[str, ...]
    whole: dict[str, Any] | None = None

    @cached_property
    def _summaries(self) -> list[dict[str, Any]]:
        if self.whole is not None:
            return [self.whole]
        return self.runner.run([piece.summary for piece in self.pieces if piece.summary is not None])

    @property
    def triangles(self) -> int:
        """The number of triangles of the result."""
        return sum(summary["triangles"] for summary in self._summaries)

    @property
    def unrefined(self) -> dict[str, int]:
        """The number of triangles that violate a bound, by reason."""
        found: Counter[str] = Counter()
        for summary in self._summaries:
            found.update(summary["unrefined"])
        return dict(+found)

    @property
    def complete(self) -> bool:
        """Whether no triangle violates a bound because its tile reached the default limit on points."""
        return "budget" not in self.unrefined if self.whole is None else bool(self.whole["complete"])

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence each."""
        count = self.unrefined.get("budget", 0) if self.whole is None else 0
        if not count:
            return self.notes
        return (
            *self.notes,
            "tiles stopped at their default limits on Steiner points: the mesh is valid, but "
            f"{counted(count, 'triangle is', 'triangles are')} not finished",
        )


def refine_tiles(
    runner: Runner,
    source: Mesh | Pslg,
    *,
    tile_triangles: int,
    bounds: Bounds,
    on_conflict: str = "resolve",
    convex_hull: bool = False,
    ahead: Ahead | None = None,
) -> Tiled:
    """Refines a domain in tiles.

    Args:
        runner: runs the tasks.
        source: a domain by its outline, or a triangulation.
        tile_triangles: predicted triangles of the result in a tile, 1 or more.
        bounds: what the triangles must meet.
        on_conflict, convex_hull: as for `dmr.refine`, for an outline.
        ahead: tasks for workers that have nothing else to do while the last band is refined.

    Raises:
        OptionError: circumcircles reach across the largest tiles.
        OutOfMemoryError: a device has too little memory for a tile, or for one that had to grow.
        InvalidMeshError: no valid triangulation, or a graph that bounds no domain.
        DmrError: points are to be placed by size, and scipy is missing.
        Whatever a task raises.
    """
    tile_triangles = whole_option("tile_triangles", tile_triangles)
    if tile_triangles < 1:
        raise OptionError(f"{option('tile_triangles')} must be at least 1, not {tile_triangles}")
    begun = Task.of(
        tasks.begin,
        [runner.store.put(tasks.begin_arrays(source, bounds))],
        names=source.names,
        bounds=bounds.stored(),
        tile_triangles=tile_triangles,
        on_conflict=on_conflict,
        convex_hull=convex_hull,
    )
    (start,) = runner.run([begun])
    if not start["tiles"]:
        return Tiled(runner, (PieceSource(begun.name),), start["vertices"], (), tuple(start["warnings"]), whole=start)
    tiles = [(begun.name, place) for place in range(start["tiles"])]
    return Passes(runner, begun.name, tiles, start, tile_triangles=tile_triangles, bounds=bounds, ahead=ahead).run()


class Passes:
    """Refines tiles, and what waits at their cuts.

    Args:
        runner: runs the tasks; whole: the name of the folder with the `Whole`, the bounds, and the loose vertices.
        tiles: where they are.
        start: "vertices" and "coarse", the vertices and triangles of all tiles; "loose", whether there are vertices
            without triangles; "pinched", whether the boundary touches itself; "placed", whether tiles place points by
            size; and "warnings".
        tile_triangles, bounds, ahead: as for `refine_tiles`.
    """

    def __init__(
        self,
        runner: Runner,
        whole: str,
        tiles: Sequence[Place],
        start: dict[str, Any],
        *,
        tile_triangles: int,
        bounds: Bounds,
        ahead: Ahead | None = None,
    ) -> None:
        self._runner, self._whole, self._tiles = runner, whole, tiles
        self._asked = self._grown = tile_triangles  # of tiles, and of those of bands
        self._bounds, self._ahead = bounds, ahead
        self._vertices: int = start["vertices"]
        self._warnings: list[str] = start["warnings"]
        self._loose: bool = start["loose"]
        self._placed: bool = start.get("placed", False)
        self._held: list[Held] = []
        self._cores: dict[str, Task] = {}  # the tasks that make them, by name
        self._pieces = 0
        self._pinched: bool = start["pinched"]  # whether the boundary touches itself: pieces may meet without an edge
        self._last: Done | None = None  # a tile of the last pass
        self._find: Task | None = None  # finds the border of the last band
        self._passes = [(len(tiles), start["coarse"])]

    def run(self) -> Tiled:
        """Runs passes until nothing waits; result and errors are those of `refine_tiles`."""
        tiles = self._tiles
        if self._placed:
            require_point_trees()
            self._repeat(tiles, tasks.place, {})
            tiles = self._regrouped()
        tiles = self._repeat(tiles, tasks.refine, {"placed": True} if self._placed else {})
        if self._grown > self._asked:
            self._warnings.append(
                f"circumcircles reach across tiles of {self._asked:,} triangles: bands were refined in tiles of "
                f"up to {self._grown:,}"
            )
        return self._result(tiles)

    def _repeat(self, tiles: Sequence[Place], function: TaskFunction, options: dict[str, Any]) -> Sequence[Place]:
        """Repeats a function of tiles, and of bands around what waits, until nothing waits; returns the last tiles."""
        fewest, idle, turn = None, 0, 0
        done = self._done(tiles, function, {**options, **self._layers(function, turn)})
        while True:
            waiting = [each for each in done if each.seeds]
            if not waiting:
                self._last = done[0]
                return tiles
            seeds = sum(each.seeds for each in waiting)
            idle = 0 if fewest is None or seeds < HARDLY_LESS * fewest else idle + 1
            fewest = seeds if fewest is None else min(fewest, seeds)
            layers = layers_of(turn, self._grown)
            if len(tiles) > 1 and idle > (MOST_IDLE if self._grown == self._asked else 0):
                self._grow(seeds)
            first = function is tasks.refine and turn == 0
            turn += 1
            parts = self._parts_of_first() if first else self._parts(waiting, layers)
            tiles, done = self._band(parts, turn, function, {**options, **self._layers(function, turn)})

    def _layers(self, function: TaskFunction, turn: int) -> dict[str, Any]:
        """Returns the options of a function of tiles that depend on the pass."""
        layers = layers_of(turn, self._grown)
        of_refine = {"depth": margin_of(turn, layers), "first": turn == 0} if function is tasks.refine else {}
        return {"layers": layers, **of_refine}

    def _regrouped(self) -> Sequence[Place]:
        """Unites the patches of each piece, in which all points are placed."""
        todo = [
            Task.of(
                tasks.regroup,
                [held.name for held in patches],
                places=[held.place for held in patches],
                firsts=[held.first for held in patches],
            )
            for patches in self._by_piece()
        ]
        found = self._runner.run(todo)
        self._held, self._pieces = [], 0
        self._passes.append((len(todo), sum(summary["triangles"] for summary in found)))
        return [(task.name, 0) for task in todo]

    def _by_piece(self) -> Iterable[list[Held]]:
        """Returns the patches of each piece of the result, in order."""
        pieces: dict[int, list[Held]] = {}
        for held in self._held:
            pieces.setdefault(held.piece, []).insert(0, held)  # the core, if there is one, comes after the margin
        return pieces.values()

    def _grow(self, seeds: int) -> None:
        """Makes the tiles of bands larger: at the latest a tile without any cut holds all that waits."""
        if self._grown > MOST_TRIANGLES // 2:
            raise OptionError(
                f"{seeds} triangles still wait, because their circumcircles reach across tiles of {self._grown:,} "
                "triangles, and no larger ones can be refined"
            )
        self._grown *= 2

    def _done(self, tiles: Sequence[Place], function: TaskFunction, options: dict[str, Any]) -> list[Done]:
        """Calls a function of tiles, and numbers their vertices."""
        if function is tasks.refine:
            options = {**options, "only": len(tiles) == 1}
        todo = list[Task]()
        for place in tiles:
            if options.get("first") and len(tiles) <= MOST_NAMED:
                options = {**options, "earlier": [task.name for task in todo], "vertices": self._vertices}
            todo.append(self._task(function, place, options))
        return self._numbered(todo, self._run(todo))

    def _run(self, todo: Sequence[Task]) -> list[dict[str, Any]]:
        """Runs tasks that refine tiles."""
        try:
            return self._runner.run(todo)
        except OutOfMemoryError as error:
            if self._grown == self._asked:
                raise
            raise OutOfMemoryError(
                f"circumcircles reach across tiles of {self._asked:,} triangles, and a device has too little "
                f"memory for tiles of {self._grown:,}, which hold them: use a larger device ({error})"
            ) from error

    def _numbered(self, todo: Sequence[Task], summaries: Sequence[dict[str, Any]]) -> list[Done]:
        """Numbers the vertices of tiles, whose tasks have returned these summaries."""
        found = []
        for task, summary in zip(todo, summaries, strict=True):
            divided, rest, band = (summary.get(each, 0) for each in ("divided", "rest", "band"))
            of_tile = Held(task.name, 0, self._vertices, self._pieces)
            core = None
            if summary["core"]:
                assert task.then is not None
                self._cores[task.then.name] = task.then
                tile = "" if summary.get("reach_with_core") else task.name
                core = of_tile._replace(name=task.then.name, place=tasks.CORE, tile=tile, triangles=summary["in_core"])
            if not band:
                self._held.append(of_tile)
            else:
                self._held.append(of_tile._replace(place=dividing.BAND, triangles=band))
                if rest:  # with the core, in the second output of the task
                    above = self._vertices + summary["inserted"] if summary["apart"] else 0
                    left = summary["triangles"] - summary["in_core"] - band
                    self._held.append((core or of_tile)._replace(place=dividing.REST, triangles=left, above=above))
            self._held += [core] if core else []
            in_core = summary.get("in_core", 0)
            triangles = summary["triangles"]
            found.append(Done(task.name, self._vertices, summary["seeds"], divided, rest, in_core, triangles))
            self._pieces += 1
            self._vertices += summary["inserted"]
            self._warnings += [each for each in summary["warnings"] if each not in self._warnings]
        return found

    def _task(self, function: TaskFunction, place: Place, options: dict[str, Any]) -> Task:
        """Returns the task of a tile."""
        folder, tile = place
        inputs, given = [self._whole, folder], {"bounds": self._bounds.stored(), "tile": tile, **options}
        task = Task.of(function, inputs, **given)
        return replace(task, then=Task.of(tasks.store_core, inputs, **given)) if function is tasks.refine else task

    def _band(
        self, parts: Sequence[Held], turn: int, function: TaskFunction, options: dict[str, Any]
    ) -> tuple[Sequence[Place], list[Done]]:
        """Unites the parts of a band, and calls a function of its tiles; returns these, and what `_done` returns.

        Args:
            turn: the number of passes before; function, options: as for `_done`.
        """
        refined = {name: options.get(name, False) for name in ("layers", "depth", "placed")}
        refined["first_number"] = self._vertices
        inputs = [self._whole, *(part.name for part in parts)]
        given = {
            "bounds": self._bounds.stored(), "tile_triangles": self._grown, "turn": turn,
            "firsts": [part.first for part in parts], "refined": refined if function is tasks.refine else None,
        }  # fmt: skip
        join = replace(Task.of(tasks.join, inputs, **given), then=Task.of(tasks.store_core_of_band, inputs, **given))
        beside = self._beside(parts) if function is tasks.refine else []
        summary, *_ = self._run([join, *beside])
        self._passes.append((summary["tiles"], summary["joined"]))
        tiles = [(join.name, place) for place in range(summary["tiles"])]
        if "inserted" in summary:  # it was one tile, which has been refined
            return tiles, self._numbered([join], [summary])
        return tiles, self._done(tiles, function, options)

    def _beside(self, parts: Sequence[Held]) -> list[Task]:
        """Returns tasks for other workers beside the refinement of a band that may be one tile, and the last one.

        They do not need the band, but its border, which no refinement changes, and which is found in its parts.
        """
        names, places, firsts = ([getattr(part, name) for part in parts] for name in ("name", "place", "first"))
        self._find = find = Task.of(tasks.summarize, [self._whole, *names], places=places, firsts=firsts)
        if self._ahead is None or not self._held or sum(part.triangles for part in parts) > self._grown:
            return []
        todo = self._ahead([*self._sources(), PieceSource(find.name, self._whole, find=find)])
        return [replace(task, light=True) for task in todo]

    def _outside(self) -> Outside | None:
        """Returns the margin of the last band as the outside of its piece, unless the boundary touches itself."""
        last = self._last
        if last is None or self._pinched:
            return None
        return Outside(last.name, 0, last.first, last.in_core, last.triangles, self._vertices)

    def _outside_of_core(self, patches: Sequence[Held]) -> Outside | None:
        """Returns the outside of a piece that is a core and a patch which separates it from others, as far as known."""
        core, rest = patches[0], patches[-1]
        if self._pinched or len(patches) != 2 or not rest.above or (core.name, core.place) != (rest.name, tasks.CORE):
            return None
        triangles = core.triangles + rest.triangles
        return Outside(rest.name, rest.place, rest.first, core.triangles, triangles, rest.above, self._cores[rest.name])

    def _needed(self, patches: Iterable[Held]) -> tuple[Task, ...]:
        """Returns the tasks that make the second outputs with patches, which may not be complete yet."""
        names = dict.fromkeys(held.name for held in patches)
        return tuple(self._cores[name] for name in names if name in self._cores)

    def _finish(self, held: Held) -> Task | None:
        """Returns the task that writes the numbers of a core; no other task may read these meanwhile."""
        if held.name not in self._cores or held.place != tasks.CORE:
            return None
        task = Task.of(finish_core, [held.name], place=held.place, first=held.first)
        return replace(task, needs=self._needed([held]))

    def _parts_of_first(self) -> list[Held]:
        """Takes the band after the first pass, whose tasks have divided their margins, out of the patches.

        The band is around all borders of tiles, wherever the seeds of others are.
        """
        parts = [held for held in self._held if held.place == dividing.BAND]
        self._held = [held for held in self._held if held.place != dividing.BAND]
        return parts

    def _parts(self, waiting: Sequence[Done], layers: int) -> list[Held]:
        """Takes the band around what waits out of the patches.

        Args:
            waiting: the tiles with seeds; layers: of the band.
        """
        reached, alone = self._reached(waiting, layers)
        todo = {held: self._division(held, near, layers) for held, near in reached.items() if held not in alone}
        divided = dict(zip(todo, self._runner.run(list(todo.values())), strict=True))
        parts, kept = list[Held](), list[Held]()
        for held in self._held:
            if held in alone:  # its own task has divided it
                parts.append(held._replace(place=dividing.BAND, triangles=alone[held].divided))
                kept += [held._replace(place=dividing.REST)] if alone[held].rest else []
            elif held in divided and divided[held]["band"]:
                parts.append(Held(todo[held].name, dividing.BAND, 0, held.piece, triangles=divided[held]["band"]))
                kept += [Held(todo[held].name, dividing.REST, 0, held.piece)] if divided[held]["rest"] else []
            else:
                kept.append(held)
        self._held = kept
        return parts

    def _division(self, held: Held, near: Sequence[Done], layers: int) -> Task:
        options = {"place": held.place, "first": held.first, "layers": layers, "others": [each.first for each in near]}
        task = Task.of(dividing.divide, [self._whole, held.name, *(each.name for each in near)], **options)
        return replace(task, needs=self._needed([held]))

    def _reached(self, waiting: Sequence[Done], layers: int) -> tuple[dict[Held, list[Done]], dict[Held, Done]]:
        """Returns the patches that bands reach, each with the tiles whose seeds do, and those that their tasks divide.

        The latter are the margins that other tiles reach no further than their own seeds do.
        """
        own = {each.name: k for k, each in enumerate(waiting)}
        match = Task.of(
            dividing.match_reaches,
            [*(each.reach for each in self._held), *(each.name for each in waiting)],
            places=[held.place for held in self._held],
            firsts=[held.first for held in self._held],
            own=[own.get(held.name, -1) if held.place == 0 else -1 for held in self._held],
            others=[each.first for each in waiting],
            layers=layers,
        )
        incomplete = self._needed(held for held in self._held if held.reach == held.name)
        (summary,) = self._runner.run([replace(match, needs=incomplete)])
        near = zip(self._held, summary["near"], strict=True)
        reached = {held: [waiting[k] for k in tiles] for held, tiles in near if tiles}
        mine = {held: waiting[own[held.name]] for held in reached if held.place == 0 and held.name in own}
        alone = {held: each for held, each in mine.items() if each.divided and summary["alone"][own[each.name]]}
        return reached, alone

    def _sources(self) -> list[PieceSource]:
        """Returns the pieces of the result so far."""
        found = []
        for number, patches in enumerate(self._by_piece()):
            names, places, firsts, *_ = zip(*patches, strict=True)
            finish = next((task for held in patches if (task := self._finish(held))), None)  # there is one core at most
            piece = PieceSource("", self._whole, names, places, firsts, self._loose and number == 0, finish)
            summary = Task.of(tasks.summarize, piece.inputs, places=piece.places, firsts=piece.firsts)
            # Where the boundary touches itself, numbers of the core are read, which `finish` writes.
            needs = self._needed(patches) if finish is None or not self._pinched else (finish,)
            summary, outside = replace(summary, needs=needs), self._outside_of_core(patches)
            found.append(piece._replace(border=summary.name, summary=summary, find=summary, outside=outside))
        return found

    def _result(self, tiles: Sequence[Place]) -> Tiled:
        """Returns the result, after a pass over tiles in which nothing waits any more."""
        found = self._sources()
        if len(tiles) == 1 and len(found) > 1 and self._find is not None:  # `_beside` has used the border from before
            found[-1] = found[-1]._replace(border=self._find.name, find=self._find, outside=self._outside())
        return Tiled(self._runner, tuple(found), self._vertices, tuple(self._passes), tuple(self._warnings))
