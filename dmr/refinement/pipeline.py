"""The refinement pipeline behind `dmr.refine`: options, device, triangulation, and runs by one recipe or several."""

from __future__ import annotations

import logging
import time
from dataclasses import replace

from dmr.common.arguments import checks_keywords, chosen
from dmr.common.text import option
from dmr.errors import InvalidMeshError, OptionError
from dmr.memory import Device, open_device
from dmr.mesh.provenance import record_refinement
from dmr.mesh.types import Mesh, Pslg
from dmr.meshing.conversion import MeshLike, as_mesh_or_domain
from dmr.refinement.options import CHILD_LAUNCHES, Progress, RefineOptions, check_run
from dmr.refinement.results import Refinement
from dmr.refinement.rounds.time_limit import TimeLimit
from dmr.refinement.run import Ended, RunSettings, Start, begin, refine_from
from dmr.refinement.setup.areas import Area, with_area
from dmr.refinement.setup.borders import border_warnings
from dmr.refinement.setup.demand import check_demand, check_length, check_sizes, crossing_warnings
from dmr.refinement.setup.modules import refinement_modules
from dmr.refinement.steps.local_bounds import LocalBounds
from dmr.refinement.steps.thresholds import Thresholds
from dmr.refinement.strategies.tiny_meshes import TINY_MESH, needs_many_points, smallest
from dmr.sizing.functions import Size, size_source
from dmr.sizing.sampling import sampled_on
from dmr.sizing.source import SizeSource
from dmr.triangulation.deferred import has_area_bounds, triangle_count
from dmr.triangulation.meshing import triangulate_noting
from dmr.triangulation.options import MESHERS

log = logging.getLogger("dmr")

# Up to this many triangles, one CPU thread finishes before a GPU has been opened, and before other threads have woken.
TOO_FEW_FOR_A_GPU = 1024

# The error of sampling a function of sizes ahead; its value for each triangle decides in the end.
SAMPLING_ERROR = 0.1


@checks_keywords
def refine(
    mesh: MeshLike,
    *,
    min_angle: float = 30.0,
    max_area: float | None = None,
    area: Area | None = None,
    size: SizeSource | Size | float | None = None,
    max_edge: SizeSource | Size | float | None = None,
    grading: float | None = None,
    steiner: str = "petal",
    conforming: bool = False,
    keep_segments: str = "none",
    max_steiner: int | None = None,
    max_seconds: float | None = None,
    marking: str = "deterministic",
    balance: str = "work-stealing",
    loop: str = "auto",
    strict: bool = False,
    optimize: bool | int = False,
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
        mesh: a triangulation, whose boundary edges and `segments` are kept as chains of edges; or a domain, which is
            triangulated first: a planar straight-line graph, points, a pair of points and segments, or a geometry, as
            for `triangulate`. A dictionary of the `triangle` package may be either.
        min_angle: lower bound on the angles in degrees, below 60; 0 for no bound. Above 33 (30 with `conforming`)
            nothing guarantees that the run ends before its limits.
        max_area: upper bound on the area of a triangle, above 0, in squared units of the coordinates; None for no
            bound. The smallest of all bounds applies: `max_area`, `area`, the mesh's own `area_bounds`, `max_edge`.
        area: upper bound on the area, by a number, as `max_area`; by (m,) areas of the mesh's triangles, as
            `area_bounds` (inf for no bound); or by a function of (n, 2) points that returns (n,) areas, which holds at
            the centroids of triangles, and is called as often as that of `max_edge`. None for no bound.
        size: the target edge length, which is not a bound. A number above 0, in units of the coordinates; or
            a `SizeField` or a function of (n, 2) points that returns (n,) lengths, inf for no target. Points are placed
            before the refinement: segments are divided evenly, and a front advances from them. A function is sampled
            ahead (`dmr.sizing.sampled`), in at most 30 calls. None for no target.
        max_edge: upper bound on the longest edge of a triangle, in units of the coordinates: a number above 0; or a
            bound that depends on the triangle's centroid, as a `SizeField` or a function of (n, 2) points that returns
            (n,) lengths. Kernels evaluate a field. A function is sampled ahead (`dmr.sizing.sampled`), and then called
            once for each triangle of the result, in few large calls: what it returns decides. None for no bound.
        grading: how much `size` may grow per unit of distance, from 0; 0.1 to 0.5 is usual. Sizes that grow faster are
            lowered around the small ones (`SizeField.limited`), and so are those around segments that are shorter than
            the sizes. None leaves the sizes as they are given. Beside shorter segments, those of a number then grow as
            in Gmsh's meshes, others by at least 0.5.
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
        marking: how conflicts between cavities are resolved: "deterministic", "two-stage", "atomic", "three-phase",
            "three-phase-literal" or "three-phase-barrier". "deterministic" and "atomic" give the same bits everywhere;
            the others race by design: their meshes are equally valid, but may differ from run to run.
        balance: how the quality checks of new triangles are distributed: "work-stealing" (evenly; on a CPU each thread
            checks the triangles that it makes), "none" (a thread checks all triangles of a cavity, in a launch after
            the one that made them), "child-launch" or "child-launch-per-cavity" (kernels launch kernels, which needs a
            GPU). It affects only the speed.
        loop: what drives the rounds: the "host", or the "device" (GPU or CPU) by itself, with the default marking and
            balance, and without progress callback or profile; "auto" takes the device if possible. The mesh is the
            same.
        strict: refuse a mesh that is not Delaunay instead of flipping it.
        optimize: whether the points that were inserted are moved, and edges flipped, until the angles are better: True,
            or the maximum number of rounds (True: 8). Points on segments slide along them. No bound is violated that
            held before, and the smallest angle gets no smaller. A run that a time limit or the progress callback ended
            is not optimised; a time limit also ends the optimisation between two rounds, with a warning.
        on_conflict: for a graph, what happens to duplicate vertices, vertices on segments, and segments that overlap
            or cross: "resolve" (merge, split, and warn) or "error".
        convex_hull: for a graph, mesh the whole convex hull, not only what segments enclose; holes stay holes.
        mesher: what triangulates a graph: "dmr", or "triangle", Shewchuk's Triangle, for comparison (see
            `triangulate`).
        device: "auto" (a GPU if one works, otherwise the CPU; always the CPU for a mesh of up to 1,024 triangles, or a
            graph of half as many vertices, if only angles up to 30 degrees are requested), "cpu", "cuda" or "cuda:N".
        threads: CPU threads, 1 to 1,024 (or the number of cores, if that is larger); by default every core, and one
            for such a small mesh on "auto".
        progress: called after each round with (round, bad triangles left, triangles). If it has a method `begin`, that
            is called beforehand with the triangles of the mesh, and an estimate of those that the bounds on sizes need;
            if it has a method `placing`, that is called before `begin`, while `size` places points, with the part of
            this work that is done, from 0 to 1, and a method `optimizing` in the same way while `optimize` moves
            points. A tiny mesh is refined several times; only the first run calls it. If
            it returns False, the run stops, with a valid mesh. The host then drives the rounds, which takes longer.
        profile: wait for the device at the end of each phase, so that `seconds` gives the time of each phase, and count
            how quality checks were distributed (`checks`). The host drives the rounds. Slower; the mesh is the same,
            except with a marking that races.

    Returns:
        The mesh, and a report of the run.

    Raises:
        OptionError: an option that cannot be used, at all or on this device; bounds on areas or sizes that need more
            triangles than a mesh can have (unless `max_steiner` is given, which would end the run).
        WrongTypeError: `mesh` is none of these.
        InvalidMeshError: no valid triangulation (or, with `strict`, not a Delaunay one), or a graph that bounds no
            domain.
        DeviceUnavailableError: the requested device is not available.
        OutOfMemoryError: the device has too little memory; the input is untouched.
    """
    mesh, convex_hull = as_mesh_or_domain(mesh, "mesh", convex_hull=convex_hull)
    options = RefineOptions(
        min_angle=min_angle,
        max_area=max_area,
        grading=grading,
        steiner=steiner,
        conforming=conforming,
        keep_segments=keep_segments,
        max_steiner=max_steiner,
        max_seconds=max_seconds,
        marking=marking,
        balance=balance,
        loop=loop,
        strict=strict,
        optimize=optimize,
    )
    mesh, options, by_place = with_area(mesh, area, options)
    given = LocalBounds(None if max_edge is None else size_source(max_edge, "max_edge"), by_place)
    wanted = None if size is None else size_source(size, "size")
    if wanted is None and options.grading is not None:
        raise OptionError(f"{option('grading')} bounds the growth of sizes: also give {option('size')}")
    profile = check_run(device, progress, profile=profile)
    options.check_loop(progress=progress is not None, profile=profile)
    time_limit = TimeLimit(options.max_seconds)
    sized = size is not None or bool(given)
    opened = choose_device(mesh, options, device, threads, sized=sized)
    notes: list[str] = []
    on_device = None
    outline = isinstance(mesh, Pslg)
    started = time.perf_counter()
    if isinstance(mesh, Pslg):
        given_vertices = len(mesh.vertices)
        sampled_ahead = any(not bound.by_kernels for bound in (given.max_edge, given.area_root) if bound is not None)
        mesh, notes, on_device = triangulate_noting(
            mesh,
            on_conflict=on_conflict,
            convex_hull=convex_hull,
            mesher=mesher,
            device=opened,
            stays=True,
            is_read=size is not None or sampled_ahead,
        )
        notes += crossing_warnings(given_vertices, mesh)
        for sentence in notes:
            log.warning(sentence)
        if device == "auto":  # crossings may have added many triangles
            opened = choose_device(mesh, options, device, threads, sized=sized)
    else:
        if chosen("mesher", mesher, MESHERS) != MESHERS[0]:
            raise OptionError(f"{option('mesher')} is for outlines: a mesh is not triangulated")
        if not triangle_count(mesh):
            raise InvalidMeshError("the mesh has no triangles")
        notes = border_warnings(mesh)
    seconds = time.perf_counter() - started
    if max_steiner is None:  # otherwise that limit ends the run
        _check_demand(mesh, options.max_area, size=wanted, max_edge=given.max_edge)
    asked = progress is not None and triangle_count(mesh) > TINY_MESH  # runs with further recipes do not report it
    by_host = options.loop == "host" or options.needs_host(progress=asked, profile=profile)
    estimated = getattr(progress, "begin", None) is not None
    opened.prepare(
        *refinement_modules(options, rounds_on_device=not by_host, placed=size is not None, estimated=estimated)
    )
    functions = given.only(lambda bound: not bound.by_kernels)
    host = opened if opened.threads else open_device("cpu")  # calls functions
    if max_steiner is None:
        _check_sizes(mesh, host, size=wanted, max_edge=given.max_edge)
    bounds = given.map(lambda bound: bound if bound.by_kernels else sampled_on(host, bound, mesh, error=SAMPLING_ERROR))
    if wanted is not None:
        wanted = _target(wanted, mesh, host, options.grading)
    settings = RunSettings(
        options=options, outline=outline, size=wanted, bounds=bounds, functions=functions, time_limit=time_limit,
        progress=progress, profile=profile,
    )  # fmt: skip
    with opened.lock, opened.current:
        start = begin(mesh, opened, settings, on_device)
        several = triangle_count(mesh) <= TINY_MESH and _may_vary(settings) and not needs_many_points(mesh, options)
        result = _smallest(start, settings) if several else refine_from(start, settings).result()
    record_refinement(result.mesh, mesh)
    return result.of_call(mesh, notes, seconds)


def _check_demand(mesh: Mesh, max_area: float | None, *, size: SizeSource | None, max_edge: SizeSource | None) -> None:
    """Refuses bounds and sizes for all places that need more triangles than a mesh can have; raises OptionError."""
    check_demand(mesh, max_area)
    for name, lengths in (("size", size), ("max_edge", max_edge)):
        if lengths is not None and lengths.number is not None:
            check_length(mesh, name, lengths.number)


def _check_sizes(mesh: Mesh, host: Device, *, size: SizeSource | None, max_edge: SizeSource | None) -> None:
    """Refuses sizes by place that need more triangles than a mesh can have; raises OptionError."""
    for name, lengths in (("size", size), ("max_edge", max_edge)):
        if lengths is not None and lengths.number is None:
            check_sizes(mesh, name, lengths, host)


def _target(size: SizeSource, mesh: Mesh, host: Device, grading: float | None) -> SizeSource:
    """Returns target lengths that kernels evaluate: a function is sampled, and the growth is limited."""
    by_kernels = size if size.by_kernels else sampled_on(host, size, mesh)
    return by_kernels if grading is None else by_kernels.limited(grading)


def _may_vary(settings: RunSettings) -> bool:
    """Whether other recipes may give a smaller mesh: sizes leave nothing to chance, and functions are called once."""
    options = settings.options
    by_sizes = bool(settings.functions) or settings.size is not None
    return not by_sizes and options.marking == "deterministic" and options.min_angle > 0


def _smallest(start: Start, settings: RunSettings) -> Refinement:
    """Refines a tiny mesh by several recipes, each from a copy of the same start; returns the smallest result."""
    quiet = replace(settings, progress=None, quiet=True, discards=True)

    def refine_by(options: RefineOptions, limits: Thresholds, spare: Ended | None) -> Ended:
        again = start.copied(None if spare is None else spare.start, quiet=True)
        by = replace(quiet, options=options, limits=limits)
        return refine_from(again, by, None if spare is None else spare.work)

    return smallest(settings.options, refine_from(start.copied(), settings), refine_by)


def choose_device(
    mesh: Mesh | Pslg, options: RefineOptions, device: str, threads: int | None, *, sized: bool
) -> Device:
    """Opens the device to refine a mesh on; arguments and errors are those of `refine`."""
    if device == "auto" and _is_tiny(mesh, options, sized=sized):
        device, threads = "cpu", 1 if threads is None else threads
    opened = open_device(device, threads)
    options.check_device(opened.name, launches_children=opened.launches_children)
    return opened


def _is_tiny(mesh: Mesh | Pslg, options: RefineOptions, *, sized: bool) -> bool:
    """Whether there is too little work for a GPU, and for many threads."""
    if isinstance(mesh, Mesh):
        triangles, bounded = triangle_count(mesh), has_area_bounds(mesh)
    else:
        triangles, bounded = 2 * len(mesh.vertices), bool((mesh.regions[:, 3] > 0).any())
    bounded = bounded or options.max_area is not None or sized or options.min_angle > 30
    return triangles <= TOO_FEW_FOR_A_GPU and not bounded and options.balance not in CHILD_LAUNCHES
