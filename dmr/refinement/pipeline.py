"""The refinement pipeline: rounds of parallel cavity insertions, after Algorithm 2 of the thesis.

    admit the mesh                       order, link, check, flip            (admission, flips)
    check all triangles                  find bad triangles and encroached subsegments
    while something is bad or encroached:                                    (host_rounds, device_rounds)
        select candidates                encroached subsegments, and bad triangles that no bad neighbour beats
        grow their cavities                                                  (selecting, cavities)
        for each step of the marking:    choose the winners                  (marking)
            retriangulate the winners
            check the new triangles      evenly shared, or by the thread that made them  (checking, balancing)
    copy the mesh to the host                                                (device_mesh)

The names at the right are modules of this package.

The host decides the number of rounds and the memory; only kernels process triangles. With the default options the
device, GPU or CPU, runs the rounds by itself, and calls the host when a round lacks memory (handover). The host drives
the rounds if something needs it between them: another marking, a size function, a progress callback or a profile. The
host processes no triangles: `Refinement.host_processed` counts the triangle records that reach it during the rounds.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace

import numpy as np

from dmr.common.clock import Clock
from dmr.errors import InternalError, InvalidMeshError
from dmr.memory import Device, flagged_indices, open_device
from dmr.mesh.kinds import check_kind
from dmr.mesh.types import Mesh, Pslg
from dmr.refinement.options import (
    CHILD_LAUNCHES,
    OBSERVED_CONFORMING_LIMIT,
    OBSERVED_LIMIT,
    Progress,
    RefineOptions,
    check_run,
)
from dmr.refinement.results import Refinement
from dmr.refinement.rounds.device_rounds import HISTORY_ROUNDS
from dmr.refinement.rounds.handover import Handover
from dmr.refinement.rounds.host_rounds import HostRounds
from dmr.refinement.rounds.quality_check import QualityCheck
from dmr.refinement.rounds.selection import Competition
from dmr.refinement.rounds.stalls import StallCheck
from dmr.refinement.rounds.time_limit import TimeLimit
from dmr.refinement.setup.admission import admit
from dmr.refinement.setup.demand import check_demand, default_budget, expected_triangles
from dmr.refinement.setup.flips import make_delaunay
from dmr.refinement.setup.modules import refinement_modules
from dmr.refinement.setup.thresholds import Thresholds, thresholds
from dmr.refinement.state.epochs import Epochs
from dmr.refinement.state.progress import RoundProgress
from dmr.refinement.state.records import TRIANGLE
from dmr.refinement.state.statistics import Statistics
from dmr.refinement.state.work import NOTHING_LEFT, Work
from dmr.refinement.state.worklist import BadTriangles
from dmr.refinement.state.workspace import Workspace
from dmr.refinement.strategies.balancing import BALANCES
from dmr.refinement.strategies.first_points import rungs
from dmr.refinement.strategies.marking import MARKINGS
from dmr.refinement.strategies.tiny_meshes import TINY_MESH, smallest
from dmr.sizing.size_field import Size, as_function
from dmr.triangulation.meshing import triangulate_noting

log = logging.getLogger("dmr")

# Meshes of fewer triangles take the candidates of a round from the shortest edges only: more rounds, fewer points.
# Without petals this order matters more above 30 degrees: small meshes can grow by half without it.
SMALL_MESH = 2**10
SMALL_MESH_ABOVE_30_DEGREES = 2**19

# Up to this many triangles, one CPU thread finishes before a GPU has been opened, and before other threads have woken.
TOO_FEW_FOR_A_GPU = 1024

# After this number of rounds, edges of nearly the same length are ordered by the cells of a grid. If bad triangles are
# left then, so few of them compete that the strict order may insert one or two per round
# (cuda_src/refine/quality/urgency.cuh).
STRICT_ROUNDS = 512

MOST_TRIES = 8  # retries of the triangles that were given up; the second retry seldom inserts anything


def refine(
    mesh: Mesh | Pslg,
    *,
    min_angle: float = 30.0,
    max_area: float | None = None,
    size: Size | float | None = None,
    steiner: str = "petal",
    conforming: bool = False,
    keep_segments: str = "none",
    max_steiner: int | None = None,
    max_seconds: float | None = None,
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

    Delaunay refinement after Ruppert (1995) and Chew (1993), with Ungor's off-centers or points beside them. The result
    is a constrained Delaunay triangulation of the same domain; input vertices come first, bit for bit. With the default
    marking, the same input and options give the same bits on every device and with any number of threads.

    Args:
        mesh: a triangulation, whose boundary edges and `segments` are kept as chains of edges; or a planar
            straight-line graph, which is triangulated first.
        min_angle: lower bound on the angles in degrees, below 60; 0 for no bound. Above 33 (30 with `conforming`)
            nothing guarantees that the run ends before its limits.
        max_area: upper bound on the area of a triangle, above 0, in squared units of the coordinates; None for no
            bound. The smallest of `max_area`, the mesh's own `area_bounds` and `size` applies everywhere.
        size: upper bound on the longest edge of a triangle, in units of the coordinates: a number above 0; or a bound
            that depends on the triangle's centroid, as a `SizeField` or a function of (n, 2) points that returns (n,)
            lengths and is called once per round. None for no bound.
        steiner: where points are placed: "petal" (the off-center, or another place beside it that leaves fewer skinny
            triangles), "off-center" (Ungor) or "circumcenter" (Ruppert, Chew).
        conforming: every triangle stays Delaunay, not only constrained Delaunay: segments are split if their diametral
            circle contains a vertex (Ruppert), instead of their diametral lens (Chew).
        keep_segments: which segments are never split: "none", those on the "boundary", or "all". Triangles that would
            need a split stay as they are, and are listed with the reason "kept_segment".
        max_steiner: how many points may be inserted, 0 or more; None takes a bound far above what a sound run needs. A
            run that reaches it ends with a valid mesh, and `complete` is False.
        max_seconds: wall-clock time from the call on, 0 or more, after which the run ends between two rounds, with a
            valid mesh; unfinished triangles have the reason "time". Where the run ends depends on the machine: the same
            call can give another mesh. Triangulation and admission are not cut short. None for no limit.
        marking: how conflicts between cavities are resolved: "deterministic", "two-stage", "atomic", "three-phase" or
            "three-phase-barrier". "deterministic" and "atomic" give the same bits everywhere; the others race by
            design: their meshes are as valid, and may differ from run to run.
        balance: how the quality checks of new triangles are distributed: "work-stealing" (evenly), "none" (to the
            thread that made them), "child-launch" or "child-launch-per-cavity" (kernels launch kernels, which needs a
            GPU). It affects only the speed.
        loop: what drives the rounds: the "host", or the "device" (GPU or CPU) by itself, with the default marking and
            without child launches, size, progress callback or profile; "auto" takes the device if possible. The mesh is
            the same.
        strict: refuse a mesh that is not Delaunay instead of flipping it.
        on_conflict: for a graph, what happens to duplicate vertices, vertices on segments, and segments that overlap
            or cross: "resolve" (merge, split, and warn) or "error".
        convex_hull: for a graph, mesh the whole convex hull, not only what segments enclose; holes stay holes.
        mesher: what triangulates a graph: "dmr", or "triangle", Shewchuk's Triangle, for comparison (see
            `triangulate`).
        device: "auto" (a GPU if one works, otherwise the CPU; always the CPU for a mesh of up to 1,024 triangles, or a
            graph of half as many vertices, if only angles up to 30 degrees are asked for), "cpu", "cuda" or "cuda:N".
        threads: CPU threads, 1 to 1,024 (or the number of cores, if that is larger); by default every core, and one
            for such a small mesh on "auto".
        progress: called after each round with (round, bad triangles left, triangles). A tiny mesh is refined several
            times; only the first run calls it. If it returns False, the run stops, with a valid mesh. The host then
            drives the rounds, which takes longer.
        profile: wait for the device at the end of each phase, so that `seconds` gives the time of each phase, and count
            how quality checks were distributed (`checks`). The host drives the rounds. Slower; the mesh is the same,
            except with a marking that races.

    Returns:
        The mesh, and a report of the run.

    Raises:
        OptionError: an option that cannot be used, at all or on this device; bounds on areas that need more triangles
            than a mesh can have (unless `max_steiner` is given, which would end the run).
        WrongTypeError: `mesh` is neither a Mesh nor a Pslg.
        InvalidMeshError: no valid triangulation (or, with `strict`, not a Delaunay one), or a graph that bounds no
            domain.
        DeviceUnavailableError: the requested device is not available.
        OutOfMemoryError: the device has too little memory; the input is untouched.
    """
    check_kind(mesh, Mesh, Pslg, indices=isinstance(mesh, Pslg))  # the device checks those of a mesh
    options = RefineOptions(
        min_angle=min_angle,
        max_area=max_area,
        steiner=steiner,
        conforming=conforming,
        keep_segments=keep_segments,
        max_steiner=max_steiner,
        max_seconds=max_seconds,
        marking=marking,
        balance=balance,
        loop=loop,
        strict=strict,
    )
    size = as_function(size)
    profile = check_run(device, progress, profile=profile)
    options.check_loop(size=size is not None, progress=progress is not None, profile=profile)
    time_limit = TimeLimit(options.max_seconds)
    opened = choose_device(mesh, options, size, device, threads)
    notes: list[str] = []
    started = time.perf_counter()
    if isinstance(mesh, Pslg):
        mesh, notes = triangulate_noting(mesh, on_conflict=on_conflict, convex_hull=convex_hull, mesher=mesher)
        opened = choose_device(mesh, options, size, device, threads)  # crossings may have added many triangles
    seconds = time.perf_counter() - started
    if max_steiner is None:  # otherwise that limit ends the run
        check_demand(mesh, options.max_area)
    asked = progress is not None and len(mesh.triangles) > TINY_MESH  # runs with further recipes do not report it
    by_host = options.loop == "host" or options.needs_host(size=size is not None, progress=asked, profile=profile)
    opened.prepare(*refinement_modules(options, rounds_on_device=not by_host))
    with opened.lock, opened.current:
        result = Run(mesh, options, opened, size, time_limit=time_limit, profile=profile).result(progress)
        if len(mesh.triangles) <= TINY_MESH and options.marking == "deterministic" and options.min_angle > 0:

            def refine_by(options: RefineOptions, limits: Thresholds) -> Refinement:
                run = Run(mesh, options, opened, size, limits, time_limit=time_limit, quiet=True, profile=profile)
                return run.result(None)

            result = smallest(options, result, refine_by)
    spent = {"triangulate": seconds, **result.seconds, "total": result.seconds["total"] + seconds}
    return replace(result, warnings=(*notes, *result.warnings), seconds=spent)


def choose_device(
    mesh: Mesh | Pslg, options: RefineOptions, size: Size | float | None, device: str, threads: int | None
) -> Device:
    """Opens the device to refine a mesh on; arguments and errors are those of `refine`."""
    if device == "auto" and _is_tiny(mesh, options, size):
        device, threads = "cpu", 1 if threads is None else threads
    opened = open_device(device, threads)
    options.check_device(opened.name, launches_children=opened.launches_children)
    return opened


def _is_tiny(mesh: Mesh | Pslg, options: RefineOptions, size: Size | float | None) -> bool:
    """Whether there is too little work for a GPU, and for many threads."""
    if isinstance(mesh, Mesh):
        triangles, bounded = len(mesh.triangles), mesh.area_bounds is not None
    else:
        triangles, bounded = 2 * len(mesh.vertices), bool((mesh.regions[:, 3] > 0).any())
    bounded = bounded or options.max_area is not None or size is not None or options.min_angle > 30
    return triangles <= TOO_FEW_FOR_A_GPU and not bounded and options.balance not in CHILD_LAUNCHES


def _small_mesh(options: RefineOptions) -> int:
    return SMALL_MESH if options.min_angle <= 30 or options.steiner == "petal" else SMALL_MESH_ABOVE_30_DEGREES


class Run:
    """State, driver and statistics of one refinement."""

    def __init__(
        self,
        mesh: Mesh,
        options: RefineOptions,
        device: Device,
        size: Size | None = None,
        limits: Thresholds | None = None,
        *,
        time_limit: TimeLimit | None = None,
        quiet: bool = False,
        profile: bool = False,
    ) -> None:
        self.time_limit = TimeLimit(options.max_seconds) if time_limit is None else time_limit
        self.source = mesh
        self.options = options
        self.quiet = quiet
        self.clock = Clock(device.synchronize if profile else None)
        self.statistics = Statistics(device)
        with self.clock.phase("admit"):
            self.state, notes = admit(mesh, device, options.keep_segments)
        for note in notes:
            self._warn(note)
        promised = OBSERVED_CONFORMING_LIMIT if options.conforming else OBSERVED_LIMIT
        if options.min_angle > promised:
            self._warn(
                f"termination is not guaranteed for every{' conforming' * options.conforming} mesh "
                f"above {promised:g} degrees: {options.min_angle:g} may stop at the limit on Steiner points"
            )
        self.work = self._make_work(size, thresholds(options) if limits is None else limits, profile=profile)
        self.by_host = HostRounds(self.work)
        able = options.needs_host(size=size is not None, profile=profile) is None
        self.by_device = Handover(self.work, self.by_host) if able and options.loop != "host" else None
        # How often triangles that were given up are tried again, and the number of points at the last retry.
        self.tries_left = MOST_TRIES
        self.inserted_before = 0
        self.stalls = StallCheck()

    def _make_work(self, size: Size | None, limits: Thresholds, *, profile: bool) -> Work:
        """Collects the data and settings of the rounds."""
        device, options = self.state.device, self.options
        space = Workspace(device)
        return Work(
            state=self.state,
            space=space,
            quality=QualityCheck(self.state, space, limits, size, counts_shares=profile),
            bad=BadTriangles(self.state, space),
            expected=expected_triangles(self.source, options),
            limits=limits,
            small_mesh=_small_mesh(options),
            budget=default_budget(self.source, options, sized=size is not None)
            if options.max_steiner is None
            else options.max_steiner,
            competition=Competition(),
            marking=MARKINGS[options.marking](),
            balance=BALANCES[options.balance](),
            epochs=Epochs(),
            progress=RoundProgress(device),
            statistics=self.statistics,
            clock=self.clock,
        )

    def result(self, progress: Progress | None) -> Refinement:
        """Runs the refinement to its end."""
        with self.clock.phase("flip"):
            self._make_delaunay()
        self.statistics.start()
        moved = self.state.device.moved[TRIANGLE]
        final = self.work
        stopped: str | None = None
        with self.clock.phase("check"):
            first = rungs(self.state, self.options)
        for limits in first:
            if stopped is None:
                self._adopt(replace(final, limits=limits, quality=final.quality.with_limits(limits, sized=False)))
                self._check_everything()
                stopped = self._rounds(progress)
        self._adopt(final)
        self._check_everything()
        stopped = stopped or self._rounds(progress)
        # A triangle processed on the host must first be copied there.
        self.statistics.host_processed = self.state.device.moved[TRIANGLE] - moved
        if stopped in ("stopped", "time") and not self.by_host.round_is_left():
            stopped = None  # stopped where it would have ended anyway
        most = self.work.budget
        if stopped == "budget":
            self._warn(f"stopped at the limit of {most} Steiner points: the mesh is valid, but not finished")
        if stopped == "time":
            self._warn(
                f"stopped at the limit of {self.options.max_seconds:g} s: the mesh is valid, but not finished, and "
                "another run may stop elsewhere"
            )
        with self.clock.phase("download"):
            mesh = self.state.to_mesh(self.source)
        return self.statistics.refinement(mesh, self.options, self.state, self.work.quality, self.clock, stopped)

    def _make_delaunay(self) -> None:
        failing = make_delaunay(self.state, self.work.epochs, apply=False)
        if failing and self.options.strict:
            raise InvalidMeshError(f"{failing} triangles have an edge that is not Delaunay, which --strict refuses")
        if failing:
            self.statistics.flips = make_delaunay(self.state, self.work.epochs)
            self._warn(f"the mesh was not Delaunay: {self.statistics.flips} edges were flipped first")

    def _check_everything(self) -> None:
        """Checks all triangles, and with them all subsegments."""
        state, bad, count = self.state, self.work.bad, self.state.slots
        with self.clock.phase("check"):
            everything = self.work.space.array("fresh", count, np.int32)
            state.device.launch("fill_indices", count, everything)
            self.work.quality.check_all(everything, count)
            bad.extend(everything, count)
            state.reserve_for(bad.count, self.work.expected)

    def _adopt(self, work: Work) -> None:
        """Continues with other limits."""
        if work is self.work:
            return
        self.work = work
        large_waiting = self.by_host.large_waiting
        self.by_host = HostRounds(work)
        self.by_host.large_waiting = large_waiting
        if self.by_device is not None:
            self.by_device = Handover(work, self.by_host)

    def _rounds(self, progress: Progress | None) -> str | None:
        """Runs rounds while something is bad or encroached; returns what stopped them early, or None."""
        bad, statistics = self.work.bad, self.statistics
        if progress is not None:
            self.by_device = None
        while not self.time_limit.over:
            if statistics.rounds >= STRICT_ROUNDS and not self.work.limits.grouped:
                self._group()
            stopped = self._go_on()
            self.stalls.check(statistics.history, self.state.slots, self.state.subsegments_count)
            if stopped == NOTHING_LEFT:
                if not self.work.limits.first and self._try_again():
                    continue
                if bad.count:
                    raise InternalError(
                        f"after {statistics.rounds} rounds {bad.count} bad triangles are left unprocessed"
                    )
                return None
            if progress is not None:
                with self.state.device.set_aside():
                    goes_on = progress(statistics.rounds, bad.count, self.state.slots)
                if goes_on is False:
                    stopped = stopped or "stopped"
            if stopped is not None:
                return stopped
        return "time"

    def _go_on(self) -> str | None:
        """Runs one round by the host, or several by the device; returns why there is no further one."""
        if self.by_device is None:
            return self.by_host.go_on()
        large_waiting = self.by_host.large_waiting
        most = (
            1
            if large_waiting
            else HISTORY_ROUNDS
            if self.work.limits.grouped
            else STRICT_ROUNDS - self.statistics.rounds
        )
        with self.time_limit.measured():
            stopped = self.by_device.go_on(self.time_limit.rounds(most))
        if self.by_device.lacks_memory is not None:
            self._warn(f"the host drives the rounds, which needs less memory: {self.by_device.lacks_memory}")
            self.by_device = None
        if stopped == NOTHING_LEFT and large_waiting:
            return self.by_host.go_on()
        return stopped

    def _group(self) -> None:
        """Switches to the grouped order, for listed triangles and for new ones."""
        work = self.work
        limits = replace(work.limits, grouped=1)
        self._adopt(replace(work, limits=limits, quality=work.quality.with_limits(limits)))
        if not limits.worst_first:
            listed = work.bad.buffers[work.bad.buffer]
            self.state.device.launch("group_listed", work.bad.count, self.state.view, listed)

    def _try_again(self) -> bool:
        """Retries what was given up, as obstacles may be gone; returns whether there is work now."""
        nothing_new = self.statistics.inserted == self.inserted_before
        if self.statistics.given_up == 0 or nothing_new or self.tries_left == 0:
            return False
        self.inserted_before = self.statistics.inserted
        self.tries_left -= 1
        self.stalls.start_again()
        with self.clock.phase("check"):
            state, flags = self.state, self.work.space.array("given_up_flags", self.state.slots, np.int32)
            state.device.launch("flag_given_up", state.slots, state.quality, flags)
            if flagged_indices(flags, state.slots)[1] == 0:
                return False
            state.device.launch("clear_unsplittable", state.subsegments_count, state.split_states)
        self._check_everything()
        return True

    def _warn(self, sentence: str) -> None:
        if not self.quiet:
            log.warning(sentence)
        self.statistics.warnings.append(sentence)
