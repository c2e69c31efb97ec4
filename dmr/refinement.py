"""The refinement pipeline: rounds of cavities, after Algorithm 2 of the thesis.

    admit the mesh                       order, link, check, flip            (admission, flips)
    check all triangles                  which are bad, which segments are encroached upon
    while something is bad or encroached:
        select candidates                encroached subsegments, and bad triangles that no bad neighbour beats
        grow their cavities                                                  (cavities)
        for each step of the marking:    who goes ahead                      (marking)
            retriangulate the winners
            check the new triangles      shared out evenly, or by who made them  (checking, balancing)
    bring the mesh home                                                      (device_mesh)

The names at the right are the modules of `dmr.pipeline`.

The host decides how many rounds and how much memory; every triangle is looked at by kernels only. The device, GPU or
CPU, goes through rounds of the default by itself, and the host is called where one lacks room (device_rounds). Where
something needs the host between rounds (another marking, a size function, a progress callback, a profile), it drives
them. What the host loop itself processes is nothing: `Refinement.host_processed` counts the triangle records that reach
it during the rounds.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dmr.errors import InternalError, InvalidMeshError, OutOfMemoryError
from dmr.memory import Device, DeviceArray, bound_of, flagged_indices, open_device, scan, total
from dmr.meshes import Mesh, Pslg
from dmr.options import CHILD_LAUNCHES, PROMISED_ANGLE, PROMISED_CONFORMING_ANGLE, RefineOptions
from dmr.pipeline.admission import admit
from dmr.pipeline.balancing import BALANCES
from dmr.pipeline.cavities import (
    ROOM,
    Cavities,
    Needs,
    Outcome,
    Tally,
    close,
    count_needs,
    grow,
    prepare,
    retriangulate,
)
from dmr.pipeline.checking import QualityCheck
from dmr.pipeline.clock import Clock
from dmr.pipeline.device_rounds import DeviceRounds, Ended
from dmr.pipeline.flips import make_delaunay
from dmr.pipeline.ledger import Ledger
from dmr.pipeline.marking import MARKINGS
from dmr.pipeline.progress import UNBOUNDED, Entry, Room, RoundProgress, Standing, Stop
from dmr.pipeline.records import TRIANGLE
from dmr.pipeline.selecting import Choice, select
from dmr.pipeline.stamps import Stamps
from dmr.pipeline.thresholds import FOR_TINY_MESHES, Thresholds, thresholds
from dmr.pipeline.worklist import BadTriangles
from dmr.pipeline.workspace import Workspace
from dmr.quality import triangle_areas
from dmr.results import Refinement
from dmr.sizing import Size
from dmr.triangulation import triangulate_noting

log = logging.getLogger("dmr")

Progress = Callable[[int, int, int], bool | None]

# Up to so many triangles several recipes are tried, and the smallest result is kept.
TINY_MESH = 128

# Where more points are needed than this, sizes and grading decide how many, and not chance; and where more than a few
# are, recipes that take many rounds are not worth their time.
MANY_POINTS = 2000
FEW_POINTS = 300

# Below so many triangles a round takes its candidates from the shortest edges only: more rounds, fewer points. Above 30
# degrees the order matters more, and small meshes can grow by half without it.
SMALL_MESH = 2**10
SMALL_MESH_ABOVE_30_DEGREES = 2**19

# Up to so many triangles a thread of a CPU is done before a GPU has been opened, and before other threads are awake.
TOO_FEW_FOR_A_GPU = 1024

# A sound run needs a few hundred rounds, points on one circle a few thousand. Where bounds of more than 30 degrees meet
# angles of almost nothing, points can follow each other one a round, for ever.
MOST_ROUNDS = 20_000

MOST_TRIES = 8  # at what was given up; the second one seldom inserts anything

LARGE_BUDGET = 2**16  # rim entries that a pass with large records may use; few of such cavities fit side by side


def refine(
    mesh: Mesh | Pslg,
    *,
    min_angle: float = 30.0,
    max_area: float | None = None,
    size: Size | None = None,
    steiner: str = "off-center",
    conforming: bool = False,
    keep_segments: str = "none",
    max_steiner: int | None = None,
    marking: str = "deterministic",
    balance: str = "work-stealing",
    loop: str = "auto",
    strict: bool = False,
    on_conflict: str = "resolve",
    convex_hull: bool = False,
    mesher: str = "dmr",
    device: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    profile: bool = False,
) -> Refinement:
    """Refines a triangulation, or a domain given by its outline, until no triangle is skinny or too large.

    Delaunay refinement after Ruppert (1995) and Chew (1993), with Ungor's off-centers. The result is a constrained
    Delaunay triangulation of the same domain; input vertices come first, bit for bit. With the default marking the
    same input and options give the same bits on every device and number of threads.

    Args:
        mesh: a triangulation, whose boundary edges and `segments` are kept as chains of edges; or a planar
            straight-line graph, which is triangulated first.
        min_angle, max_area, steiner, conforming, keep_segments, max_steiner, marking, balance, loop, strict: see
            `RefineOptions`. Of `max_area`, the mesh's own `area_bounds` and `size` the smallest wins everywhere.
        size: how long the longest edge of a triangle may be, by the place of its centroid: a function of (n, 2) points
            that returns (n,) lengths, called once a round, or a `SizeField`.
        on_conflict, convex_hull, mesher: see `triangulate`; for a planar straight-line graph only.
        device: "auto" (a GPU where one works, else the CPU; the CPU for a mesh of up to 1,024 triangles, or a graph of
            half as many vertices, of which nothing but angles up to 30 degrees is asked), "cpu", "cuda" or "cuda:N".
        threads: CPU threads; by default every core, and one for such a mesh on "auto".
        progress: called after each round with (round, bad triangles left, triangles), in the first of the runs where
            a tiny mesh gets several; False from it stops the run, with a valid mesh. The host drives the rounds then,
            which takes longer.
        profile: wait for the device at the end of each phase, so that `seconds` says what each of them took, and count
            how quality checks were shared out (`checks`). The host drives the rounds. Slower; the mesh is the same, but
            with a marking that races.

    Returns:
        The mesh and what happened.

    Raises:
        OptionError: an option that cannot be used, at all or on this device.
        InvalidMeshError: no valid triangulation (or, with `strict`, not a Delaunay one), or a graph that bounds no
            domain.
        DeviceUnavailableError: the device that was asked for is not there.
        OutOfMemoryError: the device has too little memory; the input is untouched.
    """
    options = RefineOptions(
        min_angle=min_angle,
        max_area=max_area,
        steiner=steiner,
        conforming=conforming,
        keep_segments=keep_segments,
        max_steiner=max_steiner,
        marking=marking,
        balance=balance,
        loop=loop,
        strict=strict,
    )
    options.check_loop(size=size is not None, progress=progress is not None, profile=profile)
    if device == "auto" and _is_tiny(mesh, options, size):
        device, threads = "cpu", threads or 1
    opened = open_device(device, threads)
    options.check_device(opened.name, launches_children=opened.launches_children)
    notes: list[str] = []
    started = time.perf_counter()
    if isinstance(mesh, Pslg):
        mesh, notes = triangulate_noting(mesh, on_conflict=on_conflict, convex_hull=convex_hull, mesher=mesher)
    seconds = time.perf_counter() - started
    result = Run(mesh, options, opened, size, profile=profile).result(progress)
    if len(mesh.triangles) <= TINY_MESH and options.marking == "deterministic" and options.min_angle > 0:
        result = _smallest(mesh, options, opened, size, result, profile=profile)
    spent = {"triangulate": seconds, **result.seconds, "total": result.seconds["total"] + seconds}
    return replace(result, warnings=(*notes, *result.warnings), seconds=spent)


def _is_tiny(mesh: Mesh | Pslg, options: RefineOptions, size: Size | None) -> bool:
    """Whether there is too little to do for a GPU, and for many threads."""
    if isinstance(mesh, Mesh):
        triangles, bounded = len(mesh.triangles), mesh.area_bounds is not None
    else:
        triangles, bounded = 2 * len(mesh.vertices), bool((mesh.regions[:, 3] > 0).any())
    bounded = bounded or options.max_area is not None or size is not None or options.min_angle > 30
    return triangles <= TOO_FEW_FOR_A_GPU and not bounded and options.balance not in CHILD_LAUNCHES


def _smallest(
    mesh: Mesh, options: RefineOptions, device: Device, size: Size | None, usual: Refinement, *, profile: bool
) -> Refinement:
    """Refines a tiny mesh by the other recipes as well, and returns the smallest of the results that leave least."""
    points = sum(usual.steiner.values())
    if not usual.complete or points == 0 or points > MANY_POINTS:
        return usual
    others = dict.fromkeys(thresholds(options, recipe) for recipe in FOR_TINY_MESHES)
    others.pop(thresholds(options))
    best, tries = usual, 1
    for limits in others:
        if points > FEW_POINTS and (limits.most or limits.worst_first):
            continue
        # A run that needs more points than the best one so far is hardly smaller, and need not end.
        capped = replace(options, max_steiner=sum(best.steiner.values()))
        result = Run(mesh, capped, device, size, limits, quiet=True, profile=profile).result(None)
        tries += 1
        if result.complete and _cost(result) < _cost(best):
            best = result
    return replace(best, tries=tries, warnings=usual.warnings)


def _cost(result: Refinement) -> tuple[int, int]:
    return sum(result.unrefined.values()), len(result.mesh.triangles)


class Run:
    """One refinement: the mesh on its device, the scratch arrays, the books."""

    def __init__(
        self,
        mesh: Mesh,
        options: RefineOptions,
        device: Device,
        size: Size | None = None,
        limits: Thresholds | None = None,
        *,
        quiet: bool = False,
        profile: bool = False,
    ) -> None:
        self.source = mesh
        self.options = options
        self.device = device
        self.limits = thresholds(options) if limits is None else limits
        self.quiet = quiet
        self.marking = MARKINGS[options.marking]()
        self.balance = BALANCES[options.balance]()
        self.clock = Clock(device, exact=profile)
        self.ledger = Ledger(device)
        self.stamps = Stamps()
        self.space = Workspace(device)
        with self.clock.phase("admit"):
            self.state, notes = admit(mesh, device, options.keep_segments)
        for note in notes:
            self._warn(note)
        promised = PROMISED_CONFORMING_ANGLE if options.conforming else PROMISED_ANGLE
        if options.min_angle > promised:
            self._warn(
                f"nothing is known to end for every{' conforming' * options.conforming} mesh "
                f"above {promised:g} degrees: "
                f"{options.min_angle:g} may stop at the limit on Steiner points"
            )
        self.quality = QualityCheck(self.state, self.space, self.limits, size, counts_shares=profile)
        self.budget = options.max_steiner if options.max_steiner is not None else self._default_budget(size)
        self.bad = BadTriangles(self.state, self.space)
        self.progress = RoundProgress(device)
        self.nothing_left = False  # no candidate was found
        # Whether cavities of the last pass did not fit their records, and whether some wait for larger ones.
        self.overflowed = False
        self.large_waiting = False
        self.small_mesh = SMALL_MESH if options.min_angle <= 30 else SMALL_MESH_ABOVE_30_DEGREES
        self.driven_by_device = False  # whether it was, so far
        self.by_device = self._loop_of_device(size, profile=profile)
        # How often what was given up is tried again, and how many points there were at the last time.
        self.tries_left = MOST_TRIES
        self.inserted_before = 0

    def _warn(self, sentence: str) -> None:
        if not self.quiet:
            log.warning(sentence)
        self.ledger.warnings.append(sentence)

    def _default_budget(self, size: Size | None) -> int:
        """Far above what a sound run needs: 64 points a triangle of the input, and 8 an area bound that fits.

        What a size function will ask for cannot be known ahead.
        """
        by_area, own = 0.0, self.source.area_bounds
        if own is not None:
            areas = np.abs(triangle_areas(self.source))
            largest = np.inf if self.options.max_area is None else self.options.max_area
            by_area = 8.0 * float((areas / np.where(own > 0, np.minimum(own, largest), largest)).sum())
        elif self.options.max_area is not None:
            extent = self.source.vertices.max(axis=0) - self.source.vertices.min(axis=0)
            by_area = 8.0 * float(extent[0] * extent[1]) / self.options.max_area
        by_size = 0 if size is None else 2**26
        return int(min(64 * len(self.source.triangles) + 1_000_000 + by_area + by_size, 2**30))

    def result(self, progress: Progress | None) -> Refinement:
        """Runs to the end."""
        with self.clock.phase("flip"):
            self._make_delaunay()
        self.ledger.start()
        with self.clock.phase("check"):
            self._check_everything()
        stopped, moved = None, self.device.moved[TRIANGLE]
        if progress is not None:
            self.by_device = None
        while stopped is None:
            before = self.ledger.rounds
            if before >= MOST_ROUNDS:
                stopped = "rounds"
            elif self.by_device is not None and not self.large_waiting:
                stopped = self._rounds_by_device(self.by_device)
            else:
                stopped = self._round()
            if self.nothing_left and not self._try_again():
                break
            if progress is not None and self.ledger.rounds > before:
                going_on = progress(self.ledger.rounds, self.bad.count, self.state.slots)
                stopped = stopped or ("stopped" if going_on is False else None)
        if stopped is None and self.bad.count:
            raise InternalError(f"after {self.ledger.rounds} rounds {self.bad.count} bad triangles are left that wait")
        # Whoever processes triangles on the host has to bring them there first.
        self.ledger.host_processed = self.device.moved[TRIANGLE] - moved
        if stopped == "stopped" and not self._round_is_left():
            stopped = None  # stopped where it would have ended anyway
        if stopped == "budget":
            self._warn(f"stopped at the limit of {self.budget} Steiner points: the mesh is valid, but not finished")
        if stopped == "rounds":
            self._warn(f"stopped after {MOST_ROUNDS} rounds: the mesh is valid, but not finished")
        loop = "device" if self.driven_by_device else "host"
        with self.clock.phase("download"):
            mesh = self.state.to_mesh(self.source)
        return self.ledger.refinement(mesh, self.options, self.state, self.quality, self.clock, loop, stopped)

    def _make_delaunay(self) -> None:
        failing = make_delaunay(self.state, self.stamps, apply=False)
        if failing and self.options.strict:
            raise InvalidMeshError(f"{failing} triangles have an edge that is not Delaunay, which --strict refuses")
        if failing:
            self.ledger.flips = make_delaunay(self.state, self.stamps)
            self._warn(f"the mesh was not Delaunay: {self.ledger.flips} edges were flipped first")

    # ---- A round -------------------------------------------------------------------------------------------------

    def _round_is_left(self) -> bool:
        """Whether another round would find something to do."""
        return self._candidates(UNBOUNDED, Choice.UNBEATEN)[1] > 0 or self.bad.count > 0

    def _try_again(self) -> bool:
        """Takes up what was given up, once more: what stood in its way may be gone. Whether there is work now."""
        if self.ledger.inserted == self.inserted_before or self.tries_left == 0:
            return False
        self.inserted_before = self.ledger.inserted
        self.tries_left -= 1
        with self.clock.phase("check"):
            state, flags = self.state, self.space.array("given_up_flags", self.state.slots, np.int32)
            self.device.launch("flag_given_up", state.slots, state.quality, flags)
            if flagged_indices(flags, state.slots)[1] == 0:
                return False
            self.device.launch("clear_unsplittable", state.subsegments_count, state.wishes)
            self._check_everything()
        self.nothing_left = False
        return True

    def _round(self) -> str | None:
        """One round; returns why the run must stop, if it must."""
        before = self.ledger.attempted
        stopped = self._pass(ROOM, large=False) or self._large_passes()
        if self.ledger.attempted == before:
            self.nothing_left = True
            return stopped
        self.ledger.rounds += 1
        self.ledger.close_round(self.bad.count, self.state.slots)
        return stopped

    def _large_passes(self) -> str | None:
        """Those that wait for large records, with larger and larger ones."""
        room, stopped = ROOM, None
        while stopped is None and self.large_waiting:
            room *= 4
            stopped = self._pass(room, large=True)
            if not self.overflowed:
                break
        return stopped

    def _pass(self, room: int, *, large: bool) -> str | None:
        """Candidates, cavities, marking, retriangulation: with ordinary records, or with large ones for the few
        cavities that need them."""
        with self.clock.phase("select"):
            most = self.limits.most or (max(1, LARGE_BUDGET // room) if large else UNBOUNDED)
            roots, count, segments = self._candidates(most, Choice.LARGE_ONES if large else self.marking.choice)
        if count == 0:
            self.overflowed = False
            self.large_waiting = self.large_waiting and not large
            return None
        with self.clock.phase("grow"):
            cavities = prepare(self.space, roots, count, segments, room)
            stamp = self.stamps.next(self.state) if self.marking.claims else 0
            grow(self.state, cavities, self.limits, stamp=stamp)
        stopped: str | None = None
        steps = self.marking.steps(self.state, self.space, cavities, self.stamps, self.limits)
        for stamp in self.clock.timed("mark", steps):
            stopped = self._insert_winners(cavities, stamp)
            if stopped:
                break
        with self.clock.phase("count"):
            self._close(cavities)
        return stopped

    def _insert_winners(self, cavities: Cavities, stamp: int) -> str | None:
        """Retriangulates, checks the new triangles, lists the bad ones; returns why the run must stop, if it must."""
        stopped: str | None = None
        state = self.state
        with self.clock.phase("retriangulate"):
            remaining = self.budget - self.ledger.inserted
            needs = self._needs(cavities)
            if bound_of(needs.vertices) > remaining:
                self._cut(cavities, remaining)
                needs = self._needs(cavities)
                stopped = "budget"
            vertices, slots, fresh_count, segments = (bound_of(number) for number in vars(needs).values())
            state.reserve(state.vertices + vertices, state.slots + slots, state.subsegments_count + segments)
            fresh = self.space.array("fresh", fresh_count, np.int32)
            check = self.balance.checks_at_once(self.quality)
            shared = (state, self.space, cavities, needs, self._standing(), stamp, fresh, self.limits)
            retriangulate(*shared, check=check)
            state.vertices += vertices
            state.slots += slots
            state.subsegments_count += segments
        with self.clock.phase("check"):
            self.balance.check(self.quality, cavities, needs, fresh)
        with self.clock.phase("list"):
            self._list(fresh, fresh_count)
        self.ledger.inserted += vertices
        self.ledger.segments += segments
        return stopped

    def _list(self, fresh: DeviceArray, count: int) -> None:
        """Lists those of the new triangles that are bad."""
        self.bad.reserve(self.bad.count + count)
        appended = self.bad.append(fresh, count, self.bad.count, self.bad.side)
        pieces = self.device.pieces(count)
        self.bad.count += total(scan(appended, pieces), pieces)

    def _standing(self) -> Standing:
        state, bad = self.state, self.bad
        return Standing(state.vertices, state.slots, state.subsegments_count, bad.count, bad.side)

    def _candidates(self, most: int, choice: Choice) -> tuple[DeviceArray, int, int]:
        """The roots of this pass, their number, and how many of them are subsegments.

        Segments first: while one waits to be split, no triangle competes.
        """
        state, bad = self.state, self.bad
        bad.reserve(bad.count)
        roots = self.space.array("roots", max(bad.count, state.subsegments_count), np.int32)
        self.progress.write({Entry.BEGINS: 1})
        room = Room(most=most)
        select(state, self.space, bad, self._standing(), choice, self.small_mesh, room, self.progress, roots)
        found = self.progress.read()
        bad.count, bad.side = found[Entry.NEXT_LISTED], found[Entry.NEXT_SIDE]
        return roots, found[Entry.CANDIDATES], found[Entry.SEGMENTS]

    def _needs(self, cavities: Cavities) -> Needs:
        """What the winners need; waits for it."""
        self.progress.write({Entry.BEGINS: 1})
        self.device.launch("fit_winners", 1, cavities.needs, cavities.count, Room().view, self.progress.array)
        found = self.progress.read()
        new = (Entry.NEW_VERTICES, Entry.NEW_SLOTS, Entry.FRESH, Entry.NEW_SEGMENTS)
        return Needs(*(found[entry] for entry in new))

    def _cut(self, cavities: Cavities, remaining: int) -> None:
        """Lets only the `remaining` winners of highest priority go ahead."""
        count = bound_of(cavities.count)
        won = cavities.won[:count].download() == 1
        keys = np.sort(cavities.keys[:count].download()[won])
        lowest = int(keys[-remaining]) if remaining else 2**64 - 1
        self.device.launch("cut_winners", count, cavities.view, lowest)
        count_needs(cavities)

    def _close(self, cavities: Cavities) -> None:
        """Gives up what cannot be resolved, sets aside what needs a large record, and enters the outcomes."""
        counts = self.device.zeros(len(Outcome) + 1, np.int64)
        close(self.state, cavities, counts)
        counted = Tally.of(counts)
        self.overflowed = counted.outcomes[Outcome.OVERFLOWED] > 0
        self.large_waiting = self.large_waiting or self.overflowed
        self.ledger.enter(counted)

    # ---- Rounds without the host ---------------------------------------------------------------------------------

    def _loop_of_device(self, size: Size | None, *, profile: bool) -> DeviceRounds | None:
        """The loop that the device drives, where it can and is to."""
        able = self.options.needs_host(size=size is not None, profile=profile) is None
        if not able or self.options.loop == "host":
            return None
        shared = (self.state, self.space, self.bad, self.quality, self.balance, self.limits)
        return DeviceRounds(*shared, self.small_mesh, self.progress)

    def _rounds_by_device(self, rounds: DeviceRounds) -> str | None:
        """Rounds until the device says stop, and what it needs the host for; returns why the run must stop."""
        most_vertices = self.state.vertices + self.budget - self.ledger.inserted
        with self.clock.phase("rounds"):
            try:
                ended = rounds.run(self.stamps.last, MOST_ROUNDS - self.ledger.rounds, most_vertices)
            except OutOfMemoryError as error:  # it asks for room ahead, before the first round
                self._drive_by_host(error)
                return None
            now = self.ledger.seconds
        with self.clock.phase("download"):  # the books are a part of what is handed out
            self._take_over(ended, now)
        stopped: str | None = None
        if rounds.lacks_memory is not None:
            self._drive_by_host(rounds.lacks_memory)
            return None
        if ended.stop == Stop.NO_CANDIDATE:
            self.nothing_left = True
        elif ended.stop == Stop.CANDIDATE_ROOM:
            rounds.more_candidates()
        elif ended.stop == Stop.STAMPS_USED:
            self.stamps.start_again(self.state)
        elif ended.stop == Stop.WINNER_ROOM:  # the round is half done: here is its other half
            self.ledger.rounds += 1
            cavities = rounds.cavities(ended)
            count_needs(cavities)
            stopped = self._insert_winners(cavities, self.stamps.last)
            with self.clock.phase("count"):
                self._close(cavities)
            stopped = stopped or self._large_passes()
            self.ledger.close_round(self.bad.count, self.state.slots)
        elif ended.stop == Stop.LARGE_CAVITIES:
            self.ledger.reopen_round()
            self.large_waiting = True
            stopped = self._large_passes()
            self.ledger.close_round(self.bad.count, self.state.slots)
        return stopped  # after the other reasons there is nothing to do before the next round, or the end

    def _drive_by_host(self, error: OutOfMemoryError) -> None:
        """From now on."""
        self._warn(f"the host drives the rounds, which needs less memory: {error}")
        self.by_device = None

    def _take_over(self, ended: Ended, now: float) -> None:
        """Enters in the books what the device did until `now`."""
        self.driven_by_device = True
        state, bad, numbers = self.state, self.bad, ended.numbers
        self.stamps.resume(numbers[Entry.STAMP])
        self.ledger.enter(ended.counted)
        self.ledger.inserted += numbers[Entry.VERTICES] - state.vertices
        self.ledger.segments += numbers[Entry.SUBSEGMENTS] - state.subsegments_count
        self.ledger.enter_rounds(ended.rounds(state.vertices, now))
        state.vertices, state.slots = numbers[Entry.VERTICES], numbers[Entry.SLOTS]
        state.subsegments_count = numbers[Entry.SUBSEGMENTS]
        bad.count, bad.side = numbers[Entry.BAD_LISTED], numbers[Entry.SIDE]

    def _check_everything(self) -> None:
        """The first check: all triangles, and all subsegments with it."""
        count = self.state.slots
        everything = self.space.array("fresh", count, np.int32)
        self.device.launch("fill_indices", count, everything)
        self.quality.check_all(everything, count)
        self._list(everything, count)
        self.state.reserve_for(self.bad.count)
