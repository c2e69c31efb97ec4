"""Refines a patch, or the whole coarsely, on one device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.clock import Clock
from dmr.common.number_arrays import distinct
from dmr.common.pooling import ForkSafeLock
from dmr.distributed.jobs.steps import step
from dmr.distributed.threaded import flags
from dmr.distributed.tiles.admission import Tile, admit_tile, tile_of
from dmr.distributed.tiles.bounds import Bounds, limited
from dmr.distributed.tiles.patch import Edges, Patch
from dmr.distributed.tiles.piece import Int64, Piece
from dmr.distributed.tiles.separation.margin import Division, FirstPart, Found, Refined, separated
from dmr.distributed.tiles.stored import InMemory
from dmr.distributed.tiles.whole import Whole
from dmr.memory import Device
from dmr.mesh.types import Mesh
from dmr.refinement.options import RefineOptions
from dmr.refinement.run import RunSettings, flip_to_delaunay, place_first_points, run_stages, work_of
from dmr.refinement.setup.admission import SplitState, admit
from dmr.refinement.setup.modules import refinement_modules
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.ending import Ending
from dmr.refinement.state.statistics import Statistics, unrefined
from dmr.refinement.steps.thresholds import Thresholds
from dmr.refinement.strategies.first_points import RUNGS, count_needles, first_thresholds, rungs
from dmr.triangulation.rounds.epochs import Epochs

_admitting = ForkSafeLock()  # one thread loads and prepares its tile at a time: so the first one soon has the device
_counting = ForkSafeLock()
_waiting: Counter[str] = Counter()  # threads that wait for a device, or have it, by its name
MODULES = ("tiles/edges", "tiles/margins")


@dataclass(frozen=True)
class Report:
    """Outcome of the coarse refinement.

    Attributes:
        inserted: points; warnings: one sentence each; complete: whether it did not end at its limit on points.
    """

    inserted: int
    warnings: tuple[str, ...]
    complete: bool = True


def prepare(device: Device, options: RefineOptions, *, placed: bool = False) -> None:
    """Compiles and loads the kernels of a refinement; placed: with those that place points by size."""
    device.prepare(*refinement_modules(options, rounds_on_device=True, placed=placed), *MODULES)


def refine_patch(
    given: Patch | Callable[[], Patch],
    whole: Whole,
    bounds: Bounds,
    device: Device,
    depth: int,
    core_arrays: InMemory | None = None,
    threads: int | None = None,
    expected: int = 0,
    *,
    only: bool = False,
    first_number: Callable[[], int] = lambda: -1,
    division: Division | None = None,
    found: Found | None = None,
) -> Refined:
    """Refines the active triangles of a patch until nothing is bad, or all that is bad waits.

    The device keeps the memory for another tile: see `release`.

    Args:
        given: the patch, with numbers for all vertices; or what loads it, as long as no other thread does.
        depth: the layers of triangles in the margin of the result.
        core_arrays: receives the core of the result; by default a new one.
        threads: that compute on the host; None for those of the device, or all.
        expected: triangles of the result for which the device reserves memory before the rounds.
        only: whether it is the only tile of the pass.
        first_number, found: as for `separated`; division: of the margin, which is then not in the result.
    """
    with _admitting:
        with step("load"):
            patch = given() if callable(given) else given
        with step("tile"):
            tile = tile_of(patch, whole, threads or device.threads or None)
    if tile.frozen.all():
        if division is not None and found is not None:
            found(FirstPart(lambda: patch, tile.border, len(tile.frozen)))
        margin = patch if division is None else None
        return Refined(None, 0, np.empty(0, np.int64), margin, tile.border, tile.border, 0, ())
    core_arrays = InMemory() if core_arrays is None else core_arrays
    core_arrays.expect()
    prepare(device, bounds.options)
    with ExitStack() as held:
        held.enter_context(_counted(device))
        with step("wait"):
            held.enter_context(device.lock)
        held.enter_context(device.current)
        finish = _refined(
            tile, whole, bounds, device, depth, core_arrays, threads, expected, only, first_number, division, found
        )
        if not only:
            with step("release"):
                device.trim_memory()  # the next tile needs blocks of about the same sizes
    with step("finish"):
        return finish()


def release(device: Device) -> None:
    """Returns the memory that `refine_patch` has left on a device, unless another tile has it, or waits for it."""
    if not _waiting[device.name]:
        device.release_memory()


@contextmanager
def _counted(device: Device) -> Iterator[None]:
    """A block in which the calling thread waits for a device, or has it."""
    with _counting:
        _waiting[device.name] += 1
    try:
        yield
    finally:
        with _counting:
            _waiting[device.name] -= 1


def _refined(
    tile: Tile,
    whole: Whole,
    bounds: Bounds,
    device: Device,
    depth: int,
    core_arrays: InMemory,
    threads: int | None,
    expected: int,
    only: bool,
    first_number: Callable[[], int],
    division: Division | None,
    found: Found | None,
) -> Callable[[], Refined]:
    """Refines a tile; arguments are those of `refine_patch`, and the result gives its result without the device."""
    threads = threads or device.threads or None
    with step("admit"):
        state = admit_tile(tile, whole, device, threads)
    options = limited(tile.mesh, bounds, tile.patch.reasons, threads)
    settings = RunSettings(options=options, bounds=bounds.local, quiet=True, expected=expected)
    with step("rounds"):
        statistics, epochs = Statistics(device, quiet=True), Epochs()
        if state.cuts == 0:
            flip_to_delaunay(state, statistics, epochs, strict=bounds.options.strict)
        first = rungs(state, bounds.options, count_needles(state))
        ending = _run(tile.mesh, state, settings, statistics, epochs, first)
        left, warnings = unrefined(state, ending), tuple(statistics.warnings)
    with step("separate"):
        return separated(
            tile, state, left, depth, warnings, core_arrays, threads, only=only, first_number=first_number,
            division=division, found=found,
        )  # fmt: skip


def _run(
    mesh: Mesh,
    state: DeviceMesh,
    settings: RunSettings,
    statistics: Statistics,
    epochs: Epochs,
    first: list[Thresholds],
) -> Ending:
    return run_stages(work_of(mesh, state, settings, statistics, Clock(None), epochs), settings, first)


def refine_coarsely(
    mesh: Mesh, bounds: Bounds, factor: float, *, fully: bool, device: Device
) -> tuple[Patch, Edges, Whole, Report]:
    """Refines the whole with relaxed bounds.

    Args:
        factor: of the bounds on areas.
        fully: whether to the bound on angles; otherwise only needles that reach across many tiles are broken.
        device: where.

    Returns:
        The coarse mesh as one patch, its edges, what tiles need to know of the whole, and a report.

    Raises:
        InvalidMeshError: no valid triangulation (or, with the option `strict`, not a Delaunay one).
        OutOfMemoryError: the device has too little memory.
    """
    options, local = bounds.relaxed(factor)
    prepare(device, bounds.options)
    with device.lock, device.current:
        with step("admit"):
            state, notes = admit(mesh, device, bounds.options.keep_segments)
        statistics, epochs = Statistics(device, quiet=True), Epochs()
        flip_to_delaunay(state, statistics, epochs, strict=options.strict)
        begun, state, first = place_first_points(mesh, state, options, statistics, Clock())
        own_bounds = state.area_bounds
        if own_bounds is not None:
            state.area_bounds = device.array(own_bounds.download() * factor)
        limits = None if fully else _against_needles(options)
        if fully:
            most = limited(mesh, bounds, np.zeros(0, np.uint8)).max_steiner
            options = replace(options, max_steiner=most)
        settings = RunSettings(options=options, bounds=local, limits=limits, quiet=True)
        with step("rounds"):
            ending = _run(begun, state, settings, statistics, epochs, first)
        with step("download"):
            whole = whole_of(state, mesh)
            state.area_bounds = own_bounds  # the tiles are refined to these
            patch, edges = as_patch(state, begun, whole), patch_edges(state)
    inserted = statistics.first_points + statistics.inserted
    complete = ending is not Ending.BUDGET
    return patch, edges, whole, Report(inserted, (*notes, *statistics.warnings), complete)


def patch_edges(state: DeviceMesh) -> Edges:
    """Returns the edges of the patch that `as_patch` makes, in which all subsegments are segments."""
    neighbours, segments = (state.device.empty(3 * state.slots, np.int32) for _ in range(2))
    state.device.launch("list_tile_edges", state.slots, state.triangles, state.subsegments, neighbours, segments)
    return Edges(neighbours.detach().reshape(-1, 3), segments.detach().reshape(-1, 3))


def _against_needles(options: RefineOptions) -> Thresholds | None:
    return first_thresholds(options, min(RUNGS[-1], options.min_angle)) if options.min_angle else None


def _numbers(order: NDArray[np.int32], places: NDArray[Any]) -> NDArray[np.int64]:
    """Returns the numbers of vertices on the device, -1 for -1."""
    return np.where(places < 0, -1, order[places]).astype(np.int64)


def whole_of(state: DeviceMesh, mesh: Mesh) -> Whole:
    """Returns what tiles need to know of a whole on a device; `mesh` is the user's."""
    order = state.order.download()
    ends = state.input_segments.download()
    count = len(ends)
    acute, anchor = np.zeros(len(order), np.uint8), np.empty(len(order), np.int64)
    acute[order], anchor[order] = state.acute.download(), _numbers(order, state.anchor.download())
    subsegments = state.subsegments[: state.subsegments_count].download()
    origin = state.subsegment_origin[: state.subsegments_count].download()
    boundary, kept = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    boundary[origin[subsegments["right"] < 0]] = True
    kept[origin[state.split_states[: state.subsegments_count].download() == SplitState.KEPT]] = True
    markers = np.ones(count, np.int32)
    markers[: state.named] = state.named_markers
    by_segment = np.stack([_numbers(order, ends["from"]), _numbers(order, ends["to"])], axis=1)
    threads = state.device.threads or None
    vertices = np.flatnonzero(flags(len(order), by_segment, threads)).astype(np.int64)
    return Whole(
        inputs=np.array([len(mesh.vertices)]),
        vertices=vertices,
        points=mesh.vertices[vertices],
        acute=acute[vertices],
        anchor=anchor[vertices],
        ends=by_segment,
        markers=markers,
        named=np.arange(count) < state.named,
        boundary=boundary,
        kept=kept,
        holes=mesh.holes,
        regions=mesh.regions,
    )


def segments_of_whole(
    mesh: Mesh, numbers: Int64, inputs: int, flagged: Int64, keep_segments: str, device: Device
) -> Whole:
    """Returns what tiles need to know of a whole, from its triangles at segments and at its boundary.

    Args:
        mesh: these triangles, all at a flagged vertex; numbers: (n,) of their vertices in the whole, ascending.
        inputs: the number of vertices of the whole.
        flagged: the numbers of the ends of segments and boundary edges, ascending. Other edges on the boundary of
            `mesh` join two vertices that are not flagged, and do not count.
        keep_segments: as in `RefineOptions`; device: where.
    """
    prepare(device, RefineOptions())
    with device.lock, device.current:
        found = whole_of(admit(mesh, device, keep_segments, trusted=True)[0], mesh)
    ends = numbers[found.ends]
    true = np.isin(ends, flagged).all(axis=1)
    vertices = distinct(ends[true])
    at = np.searchsorted(numbers[found.vertices], vertices)
    anchor = found.anchor[at]
    by_segment = ("markers", "named", "boundary", "kept")
    return replace(
        found,
        inputs=np.array([inputs]),
        vertices=vertices,
        points=found.points[at],
        acute=found.acute[at],
        anchor=np.where(anchor < 0, -1, numbers[anchor]),
        ends=ends[true],
        **{name: getattr(found, name)[true] for name in by_segment},
    )


def as_patch(state: DeviceMesh, mesh: Mesh, whole: Whole) -> Patch:
    """Returns the mesh of a state as a patch with all subsegments."""
    state.named, state.named_markers = len(whole.ends), whole.markers
    refined = state.to_mesh(mesh)
    ends, origins = state.segments()
    n, known = state.vertices, state.input_vertices
    origin, parameter = state.vertex_origin[:n].download(), state.vertex_parameter[:n].download()
    order = state.order.download()
    origin[order], parameter[order] = origin[:known].copy(), parameter[:known].copy()
    return Patch(
        Piece(replace(refined, segments=ends), np.arange(n)),
        origin,
        parameter,
        origins,
        np.ones(state.slots, np.bool_),  # none has been refined to the bounds
        np.zeros(state.slots, np.uint8),
    )
