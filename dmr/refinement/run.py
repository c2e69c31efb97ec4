"""One run of the refinement, from a mesh on the host to the refined mesh and its report.

    admit the mesh                       order, link, check, flip                        (setup)
    place the first points               if most triangles are needles                   (placement/empty_boxes)
    check all triangles                  find bad triangles and encroached subsegments   (steps/quality_check)
    while something is bad or encroached:                                                (loop)
        select candidates                encroached subsegments, and bad triangles that no bad neighbour beats
        grow their cavities                                                              (steps/cavities)
        for each step of the marking:    choose the winners                              (strategies/marking)
            retriangulate the winners                                                    (steps/retriangulation)
            check the new triangles      by an equal share of them, or by cavity         (strategies/balancing)
    optimise the mesh                if requested: move points, flip edges               (optimization/rounds)
    copy the mesh to the host                                                            (state/device_mesh)

The host decides the number of rounds and the memory; only kernels process triangles. With the default options the
device, GPU or CPU, runs the rounds by itself, and calls the host when a round lacks memory (rounds/handover). The host
drives the rounds if something needs it between them: another marking, a progress callback or a profile. The host
processes no triangles: `Refinement.host_processed` counts the triangle records that reach it during the rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace

from dmr.common.cached import cached_property
from dmr.common.clock import Clock
from dmr.common.text import counted
from dmr.memory import Device, open_device
from dmr.mesh.provenance import is_triangulation
from dmr.mesh.types import Mesh
from dmr.refinement.optimization.rounds import optimize_mesh
from dmr.refinement.options import OBSERVED_CONFORMING_LIMIT, OBSERVED_LIMIT, Progress, RefineOptions
from dmr.refinement.placement.admission import admit_placed, checked, interpolate_attributes
from dmr.refinement.placement.empty_boxes import with_first_points
from dmr.refinement.placement.placing import divide_outline, fill
from dmr.refinement.placement.reporting import Report, part_of
from dmr.refinement.placement.smoothing import smooth
from dmr.refinement.placement.targets import CLOSER, TOO_LONG, multiple, smallest, target
from dmr.refinement.results import Refinement, Smoothing
from dmr.refinement.rounds.budget import Budget
from dmr.refinement.rounds.host_rounds import is_round_left
from dmr.refinement.rounds.time_limit import TimeLimit
from dmr.refinement.rounds.work import Work
from dmr.refinement.setup.admission import admit
from dmr.refinement.setup.demand import (
    default_budget,
    estimated_triangles,
    expected_triangles,
    is_even,
    sum_of_aspects,
)
from dmr.refinement.setup.flips import make_delaunay, refuse_unless_delaunay
from dmr.refinement.stages import Stages
from dmr.refinement.state.device_mesh import MOST_TRIANGLES, DeviceMesh
from dmr.refinement.state.ending import Ending
from dmr.refinement.state.progress import RoundProgress
from dmr.refinement.state.records import TRIANGLE
from dmr.refinement.state.result_memory import ResultMemory
from dmr.refinement.state.statistics import Statistics, unrefined
from dmr.refinement.state.worklist import BadTriangles
from dmr.refinement.state.workspace import Workspace
from dmr.refinement.steps.known_sizes import KnownSizes
from dmr.refinement.steps.local_bounds import LocalBounds
from dmr.refinement.steps.quality_check import QualityCheck
from dmr.refinement.steps.selection import Competition
from dmr.refinement.steps.thresholds import Thresholds, thresholds
from dmr.refinement.strategies.first_points import count_needles, is_around_nothing, rungs
from dmr.refinement.strategy_tables import BALANCES, MARKINGS
from dmr.sizing.source import SizeSource
from dmr.triangulation.deferred import triangle_count
from dmr.triangulation.meshing import OnDevice
from dmr.triangulation.rounds.epochs import Epochs

# Meshes of fewer triangles take the candidates of a round from the shortest edges only: more rounds, fewer points.
# Without petals this order matters more above 30 degrees: small meshes can grow by half without it.
SMALL_MESH = 2**10
SMALL_MESH_ABOVE_30_DEGREES = 2**19


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Settings of one run.

    Attributes:
        options: the options of `dmr.refine`.
        outline: whether the mesh is the triangulation of a graph.
        size: the wanted edge lengths, evaluated by kernels.
        bounds: the bounds by place, evaluated by kernels; functions: those of the user that they were sampled from,
            which decide in the end.
        limits: the thresholds of another recipe than the usual one.
        time_limit: the limit on seconds, which counts from the call of the user.
        progress: called after each round; quiet: whether warnings are not logged; profile: whether phases are timed.
        discards: whether the mesh is of no use if it exceeds the limit on points.
        expected: triangles of the result for which memory is reserved, if more than the bounds on areas say.
    """

    options: RefineOptions
    outline: bool = False
    size: SizeSource | None = None
    bounds: LocalBounds[SizeSource] = field(default_factory=LocalBounds)
    functions: LocalBounds[SizeSource] = field(default_factory=LocalBounds)
    limits: Thresholds | None = None
    time_limit: TimeLimit = field(default_factory=lambda: TimeLimit(None))
    progress: Progress | None = None
    quiet: bool = False
    profile: bool = False
    discards: bool = False
    expected: int = 0


@dataclass(frozen=True, kw_only=True)
class Start:
    """The state in which the rounds of a run begin.

    Attributes:
        mesh: the input, with placed points; state: the same on the device; aspects: the `sum_of_aspects` if known.
        first: the limits of the stages before the last one.
        statistics, clock, epochs: of the run, up to the first round; launches: those of the device until then.
    """

    mesh: Mesh
    state: DeviceMesh
    aspects: float | None
    first: list[Thresholds]
    statistics: Statistics
    clock: Clock
    epochs: Epochs
    launches: dict[str, int]

    def copied(self, spare: Start | None = None, *, quiet: bool = False) -> Start:
        """Returns a copy that another run may use up.

        Args:
            spare: an earlier copy that is no longer needed, whose memory the new one takes.
            quiet: whether the run logs no warnings.
        """
        if spare is not None:
            spare.state.restore(self.state)
        return replace(
            self,
            state=self.state.copied() if spare is None else spare.state,
            statistics=self.statistics.copied(self.launches, quiet=quiet),
            clock=self.clock.copied(),
            epochs=copy(self.epochs),
        )


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A run whose rounds have ended, with the mesh still on the device.

    Attributes:
        start: what it began with; work: its data; ending: why it ended.
        smoothing: the report of the optimisation; options: those of the run.
        launches: those of the device until the end.
    """

    start: Start
    work: Work
    ending: Ending
    smoothing: Smoothing | None
    options: RefineOptions
    launches: dict[str, int]

    @property
    def complete(self) -> bool:
        """Whether no limit has ended the run."""
        return self.ending is Ending.COMPLETE

    @property
    def triangles(self) -> int:
        """The number of triangles."""
        return self.start.state.slots

    @property
    def points(self) -> int:
        """The number of inserted points."""
        return self.start.statistics.points

    @property
    def warnings(self) -> list[str]:
        """The warnings for the user, one sentence each."""
        return self.start.statistics.warnings

    @cached_property
    def unrefined(self) -> int:
        """The number of triangles that violate a bound."""
        return sum(map(len, unrefined(self.start.state, self.ending).values()))

    def result(self) -> Refinement:
        """Copies the mesh to the host, and makes the report."""
        start = self.start
        start.statistics.leave_out(self.launches)
        with start.clock.phase("download"):
            refined = start.state.to_mesh(start.mesh, self.work.memory)
        return start.statistics.refinement(
            refined, self.options, start.state, self.work.quality.counted(), start.clock, self.ending, self.smoothing
        )


def run(mesh: Mesh, device: Device, settings: RunSettings, on_device: OnDevice | None = None) -> Refinement:
    """Refines a mesh on a device.

    Args:
        mesh: the input, and `on_device` its triangulation, if that is still on the device; device: where the run is.
        settings: the other arguments of `dmr.refine`.

    Raises:
        InvalidMeshError: no valid triangulation (or, with `strict`, not a Delaunay one).
        OutOfMemoryError: the device has too little memory; the input is untouched.
    """
    return refine_from(begin(mesh, device, settings, on_device), settings).result()


def begin(mesh: Mesh, device: Device, settings: RunSettings, on_device: OnDevice | None = None) -> Start:
    """Prepares the rounds of a run; arguments and errors are those of `run`."""
    options, clock, aspects = settings.options, Clock(device.synchronize if settings.profile else None), None
    statistics = Statistics(device, quiet=settings.quiet)
    epochs = Epochs()
    if settings.size is None:
        with clock.phase("admit"):
            state, notes = admit(mesh, device, options.keep_segments, on_device=on_device)
    else:
        mesh, state, notes, aspects = _placed(mesh, device, settings, statistics, clock, epochs, on_device)
    for sentence in (*notes, *_warnings(options)):
        statistics.warn(sentence)
    if settings.size is None:  # with sizes, the smoothing has made it Delaunay
        with clock.phase("flip"):
            if on_device is None and not is_triangulation(mesh):
                flip_to_delaunay(state, statistics, epochs, strict=options.strict)
        mesh, state, first = place_first_points(mesh, state, options, statistics, clock)
    else:
        with clock.phase("check"):
            first = rungs(state, options, count_needles(state))
    return Start(
        mesh=mesh, state=state, aspects=aspects, first=first, statistics=statistics, clock=clock, epochs=epochs,
        launches=dict(device.launches),
    )  # fmt: skip


def refine_from(start: Start, settings: RunSettings, spare: Work | None = None) -> Ended:
    """Runs the rounds.

    Args:
        start: what they begin with, and change; settings: as in `run`.
        spare: the data of an earlier run on the same `DeviceMesh`, whose memory these rounds take.

    Raises:
        OutOfMemoryError: as in `run`.
    """
    options, statistics, state = settings.options, start.statistics, start.state
    work = work_of(start.mesh, state, settings, statistics, start.clock, start.epochs, start.aspects, spare)
    statistics.start()
    records_moved = state.device.moved[TRIANGLE]
    announce = getattr(settings.progress, "begin", None)
    if announce is not None:
        announce(triangle_count(start.mesh), estimated_triangles(state, options, settings.bounds))
    ending = run_stages(work, settings, start.first)
    # A triangle processed on the host must first be copied there.
    statistics.host_processed = state.device.moved[TRIANGLE] - records_moved
    if ending in (Ending.STOPPED, Ending.TIME) and not is_round_left(work):
        ending = Ending.COMPLETE  # stopped where it would have ended anyway
    if ending is Ending.BUDGET:
        limit = counted(work.budget.limit + statistics.before_rounds, "Steiner point")
        statistics.warn(f"stopped at the limit of {limit}: the mesh is valid, but not finished")
    if ending is Ending.TIME:
        statistics.warn(
            f"stopped at the limit of {options.max_seconds:g} s: the mesh is valid, but not finished, and "
            "another run may stop elsewhere"
        )
    smoothing = None
    is_discarded = settings.discards and ending is not Ending.COMPLETE
    if options.optimize and ending in (Ending.COMPLETE, Ending.BUDGET) and not is_discarded:
        with start.clock.phase("optimize"):
            smoothing = optimize_mesh(
                state,
                work.quality,
                work.limits,
                work.epochs,
                keeps_input=True,
                rounds=options.optimize,
                is_over=lambda: settings.time_limit.over,
                report=getattr(settings.progress, "optimizing", None),
            )
        if settings.time_limit.over:
            statistics.warn(
                f"the limit of {options.max_seconds:g} s passed during the optimisation: another run may make "
                "another mesh"
            )
    return Ended(
        start=start, work=work, ending=ending, smoothing=smoothing, options=options,
        launches=dict(state.device.launches),
    )  # fmt: skip


def _placed(
    mesh: Mesh,
    device: Device,
    settings: RunSettings,
    statistics: Statistics,
    clock: Clock,
    epochs: Epochs,
    on_device: OnDevice | None,
) -> tuple[Mesh, DeviceMesh, list[str], float]:
    """Places points by the wanted sizes.

    Returns:
        The mesh with them, on the device, too, notes for the user, and the `sum_of_aspects` of the given mesh.
    """
    options, size = settings.options, settings.size
    assert size is not None
    report: Report | None = getattr(settings.progress, "placing", None)
    with clock.phase("admit"):
        mesh, acute, aspects, notes = checked(mesh, device, strict=options.strict, on_device=on_device)
    most = _most_points(mesh, settings, lambda: aspects)
    with clock.phase("place"):
        even = is_even(mesh, size, device if device.threads else open_device("cpu"))
        divided = divide_outline(
            mesh, acute, target(size, settings.bounds, options.max_area, even=even), device,
            keep_segments=options.keep_segments, growth=options.grading, most=most, fitted=True,
            even=None if settings.bounds or options.max_area is not None else even, closer=CLOSER,
            whole=True,
        )  # fmt: skip
        placement = fill(
            mesh, divided, divided.sizes, device, lattice=True, most=most, limit=settings.time_limit,
            passes=settings.outline, report=report,
        )  # fmt: skip
    admitted = divided.shares.admitted
    with clock.phase("admit"):
        state, repaired = admit_placed(placement, device, options.keep_segments)
        if report is not None:
            report(admitted)
    with clock.phase("smooth"):
        smooth(state, epochs, even=placement.even, report=part_of(report, admitted, 1.0))
        interpolate_attributes(state, placement)
    statistics.placed, statistics.on_segments = placement.placed, placement.on_segments
    return placement.mesh, state, notes + repaired, aspects


def place_first_points(
    mesh: Mesh, state: DeviceMesh, options: RefineOptions, statistics: Statistics, clock: Clock
) -> tuple[Mesh, DeviceMesh, list[Thresholds]]:
    """Places the first points of an outline around nothing.

    Returns:
        The mesh with them, on the device, too; and if there are none, the `rungs` of the mesh.
    """
    with clock.phase("check"):
        needles = count_needles(state)
    if not is_around_nothing(state, options, needles):
        return mesh, state, rungs(state, options, needles)
    with clock.phase("place"):
        most = MOST_TRIANGLES if options.max_steiner is None else options.max_steiner
        placement = with_first_points(mesh, state, most)
        if placement is None:
            return mesh, state, rungs(state, options, needles)
        state = admit_placed(placement, state.device, options.keep_segments)[0]
        interpolate_attributes(state, placement)
    statistics.first_points = placement.placed
    return placement.mesh, state, []


def _most_points(
    mesh: Mesh, settings: RunSettings, aspects: Callable[[], float], state: DeviceMesh | None = None
) -> int:
    """Returns the limit on inserted points; `aspects` returns the `sum_of_aspects` of the mesh, admitted as `state`."""
    if settings.options.max_steiner is not None:
        return settings.options.max_steiner
    sized = settings.size is not None or bool(settings.bounds)
    return default_budget(mesh, settings.options, aspects(), sized=sized, state=state)


def _warnings(options: RefineOptions) -> Iterator[str]:
    limit = OBSERVED_CONFORMING_LIMIT if options.conforming else OBSERVED_LIMIT
    if options.min_angle > limit:
        yield (
            f"termination is not guaranteed for every{' conforming' * options.conforming} mesh "
            f"above {limit:g} degrees: {options.min_angle:g} may stop at the limit on Steiner points"
        )


def work_of(
    mesh: Mesh,
    state: DeviceMesh,
    settings: RunSettings,
    statistics: Statistics,
    clock: Clock,
    epochs: Epochs,
    aspects: float | None = None,
    spare: Work | None = None,
) -> Work:
    """Collects the data and settings of the rounds of the last stage.

    Args:
        aspects: the `sum_of_aspects` if known; spare: as in `refine_from`.
    """
    device, options = state.device, settings.options
    if spare is None:
        space, progress = Workspace(device), RoundProgress(device)
        bad = BadTriangles(state, space)
    else:
        space, progress, bad = spare.space, spare.progress, spare.bad
        bad.clear()
    limits = thresholds(options) if settings.limits is None else settings.limits
    bound, max_edge = settings.bounds.max_edge, None
    if settings.size is not None:
        bound = smallest(bound, multiple(settings.size, TOO_LONG))
    if bound is not None and bound.number is not None:
        limits = limits.with_edges(bound.number)
    elif bound is not None:
        max_edge = bound.on(device)
    area_root = settings.bounds.area_root
    local = LocalBounds(max_edge, None if area_root is None else area_root.on(device))
    known = KnownSizes(state, settings.functions) if settings.functions else None
    admitted = state if settings.size is None else None  # with sizes, the limit is that of the mesh before
    most = _most_points(mesh, settings, lambda: sum_of_aspects(state) if aspects is None else aspects, admitted)
    points = max(most - statistics.before_rounds, 0)
    return Work(
        limits=limits,
        quality=QualityCheck(state, space, limits, local, known, counts_shares=settings.profile),
        state=state,
        space=space,
        bad=bad,
        expected=max(expected_triangles(state, options), settings.expected),
        small_mesh=SMALL_MESH if options.min_angle <= 30 or options.steiner == "petal" else SMALL_MESH_ABOVE_30_DEGREES,
        budget=Budget(points, discards=settings.discards),
        competition=Competition(),
        marking=MARKINGS[options.marking].load(),
        balance=BALANCES[options.balance].load()(),
        epochs=epochs,
        progress=progress,
        statistics=statistics,
        clock=clock,
        memory=ResultMemory(mesh.vertices, mesh.vertex_markers, device),
    )


def flip_to_delaunay(state: DeviceMesh, statistics: Statistics, epochs: Epochs, *, strict: bool) -> None:
    """Flips edges until the mesh is constrained Delaunay; if `strict`, refuses a mesh that is not."""
    if strict:
        refuse_unless_delaunay(state, epochs)
    if make_delaunay(state, epochs, apply=False):
        statistics.flips = make_delaunay(state, epochs)
        statistics.warn(f"the mesh was not Delaunay: {statistics.flips} edges were flipped first")


def run_stages(work: Work, settings: RunSettings, first: list[Thresholds]) -> Ending:
    """Runs the rounds of the `first` stages, and of the last one; returns why they ended."""
    options = settings.options
    needs_host = options.needs_host(profile=settings.profile)
    stages = Stages(
        work,
        time_limit=settings.time_limit,
        progress=settings.progress,
        device_rounds=needs_host is None and options.loop != "host",
    )
    return stages.run(first)
