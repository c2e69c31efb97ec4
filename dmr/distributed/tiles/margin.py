"""Separates a refined tile into its core, which stays as it is, and its margin, from which bands are taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.cached import cached_property
from dmr.common.number_arrays import distinct
from dmr.distributed.jobs.steps import step
from dmr.distributed.threaded import joined, rows_taken
from dmr.distributed.tiles.admission import Tile
from dmr.distributed.tiles.patch import FREE_VERTEX, REASONS, Patch, store_sparse
from dmr.distributed.tiles.piece import NUMBERS, ROWS, Int64, Labels, Piece
from dmr.distributed.tiles.result.few_labels import few_labels
from dmr.distributed.tiles.stored import InMemory
from dmr.memory import Device, DeviceArray, flagged_indices, scan, total
from dmr.mesh.types import Int, Mesh
from dmr.refinement.setup.admission import SplitState
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.records import POINT

UNREACHED, NO_LAYER = np.iinfo(np.int32).max, -1
LEAST_CORE = 0.5  # of the triangles of a tile; a smaller core stays in the margin


@dataclass(frozen=True, eq=False)
class Refined:
    """A refined tile, whose new vertices have the numbers -1, -2, ... in the order of insertion.

    Attributes:
        core: the triangles far from whatever waits, and from the border of the tile, as a stored patch; None if there
            are few. core_triangles: their number.
        margin: the others, those that were frozen first; None if a `Division` has taken it. margin_border: its vertices
            on the border of the tile, or shared with the core; tile_border: those on the border of the tile.
        core_border: (b,) int64, the numbers of the vertices of the core that it shares with the margin; rest_border:
            those of the rest of a divided margin that it shares with the core and the band.
        inserted: points; warnings: one sentence each.
        beside: the vertices and triangles beside the core for which its file has room: the margin, and ghosts.
    """

    core: InMemory | None
    core_triangles: int
    core_border: Int64
    margin: Patch | None
    margin_border: Int
    tile_border: Int
    inserted: int
    warnings: tuple[str, ...]
    beside: tuple[int, int] = (0, 0)
    rest_border: Int64 = field(default_factory=lambda: np.empty(0, np.int64))


@dataclass(frozen=True, eq=False)
class BandPart:
    """The part of a refined tile for the next band, and what the passes need to know of the tile.

    Attributes:
        load: returns the part; needs no device.
        triangles: of the whole tile; has_core, has_rest: whether triangles are left for these.
        inserted, warnings: as in `Refined`.
    """

    load: Callable[[], Patch]
    triangles: int
    has_core: bool
    has_rest: bool
    inserted: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Division:
    """Divides the margin of a tile, while it is on the device, into its part for the next band and a rest.

    The band is around the frozen triangles, those that wait, and the border of the tile, as if there were seeds
    everywhere.

    Attributes:
        layers: of the band.
        rest: receives the rest as a stored patch, if there is one.
        found: called with the part for the band, before anything else is downloaded.
    """

    layers: int
    rest: InMemory
    found: Callable[[BandPart], None]


@dataclass(frozen=True, eq=False)
class _Side:
    """Some layers of a tile on the device, where vertices have their numbers in the tile.

    Attributes:
        chosen: its triangles, as flags; places: its triangles before each; count: their number.
        used: its vertices, as flags; vertex_places: its vertices before each; vertices: their number.
    """

    chosen: DeviceArray
    places: DeviceArray
    count: int
    used: DeviceArray
    vertex_places: DeviceArray
    vertices: int


@dataclass(frozen=True, eq=False)
class _Sides:
    """A refined tile on the device, of which sides are taken.

    Attributes:
        tile, state: the tile; left: the triangles that violate a bound, by reason; seeds: those that wait.
        layers: of triangles between each vertex and what waits, the frozen triangles, and the border.
        threads: that compute on the host; None for all cores.
    """

    tile: Tile
    state: DeviceMesh
    left: dict[str, NDArray[Any]]
    seeds: Int
    layers: DeviceArray
    threads: int | None

    def within(self, last: int, before: int = NO_LAYER, *, frozen: bool = False) -> _Side:
        """Returns the side of the triangles within `last` layers, but not within `before`.

        `frozen`: whether the frozen triangles will be added to it.
        """
        state = self.state
        chosen = state.device.empty(state.slots, np.int32)
        state.device.launch("flag_layers", state.slots, state.triangles, before, last, self.layers, chosen)
        return _side(state, chosen, self.tile.frozen_triangles if frozen else None)

    def store(self, side: _Side, few: Labels | None, out: InMemory) -> None:
        """Stores a side, as `_store`."""
        _store(self.tile, self.state, side, self.left, self.seeds, few, out)

    def loaded_with_frozen(self, side: _Side) -> Callable[[], Patch]:
        """Downloads a side; returns what makes it a patch that begins with the frozen triangles, without the device."""
        arrays = InMemory()
        self.store(side, None, arrays)
        frozen, tile, threads = _frozen(self.tile, side), self.tile, self.threads
        return lambda: _with_frozen(tile, frozen, Patch.load(arrays, threads), threads)

    @cached_property
    def few_labels(self) -> Labels | None:
        """The labels of the triangles that were admitted, if few of them differ."""
        labels = None if self.state.ancestor is None else Labels.columns(self.tile.mesh)
        return None if labels is None else few_labels(labels, self.threads)

    def shared(self, used: DeviceArray, *by_others: DeviceArray) -> Int:
        """Returns the vertices that a side shares with others, ascending; all are given as flags."""
        device = used.device
        shared = device.zeros(used.size, np.int32)
        for other in by_others:
            device.launch("flag_shared", used.size, used, other, shared)
        return flagged_indices(shared)[0].download()

    def numbers(self, vertices: Int) -> Int64:
        """Returns the numbers in the whole of vertices with numbers in the tile: -1, -2, ... for inserted ones."""
        known = vertices < self.state.input_vertices
        numbers = self.state.input_vertices - 1 - vertices.astype(np.int64)
        numbers[known] = self.tile.numbers[vertices[known]]
        return numbers


def separated(
    tile: Tile,
    state: DeviceMesh,
    left: dict[str, NDArray[Any]],
    depth: int,
    warnings: tuple[str, ...],
    core_arrays: InMemory,
    threads: int | None = None,
    *,
    only: bool = False,
    division: Division | None = None,
) -> Callable[[], Refined]:
    """Downloads a refined tile.

    Returns:
        What completes it without the device.

    Args:
        left: the triangles that violate a bound, by reason.
        depth: the layers of triangles in the margin, counted by vertices from the border, the frozen triangles, and
            the triangles that wait.
        warnings: of the refinement.
        core_arrays: receives the core, if there is one.
        threads: that complete it; None for all cores.
        only: whether it is the only tile of the pass. If nothing waits in it, no band follows, and its margin is one
            layer: what touches the border, or a frozen triangle.
        division: of the margin, unless no triangle is in the band.
    """
    seeds = _waiting(state, left)
    last = only and not len(seeds) and not np.take(tile.patch.seeds, tile.frozen_rows).any()
    depth = 1 if last else min(depth, isqrt(state.slots))  # as a rule more layers than the tile has
    if not (len(seeds) or len(tile.frozen_rows) or len(tile.border)):
        division = None
    depth = depth if division is None else max(depth, division.layers)
    sides = _Sides(tile, state, left, seeds, _layers(tile, state, seeds, depth), threads)
    core: _Side | None = sides.within(UNREACHED, depth - 1)
    assert core is not None
    end = depth - 1  # the last layer of the margin
    if not LEAST_CORE * state.slots <= core.count < state.slots:
        core, end = None, UNREACHED
    margin = _margin(sides, end) if division is None else _divided(sides, end, core, division, warnings)
    beside = margin.vertices, margin.triangles
    if last:  # ghosts are about as many as the triangles of the margin, from which bands take none
        beside = 2 * beside[0], 2 * beside[1]
    if core is not None:
        with step("download core"):
            few = sides.few_labels
            rows = None if state.ancestor is None else np.dtype(np.int32 if few is None else np.uint8)
            core_arrays.begin((core.vertices, core.count), beside, rows)
            sides.store(core, few, core_arrays)
    shared = np.empty(0, np.int32) if core is None else sides.shared(core.used, *margin.used)
    places = margin.vertex_places
    margin_border, tile_border = (
        np.empty(0, np.int32) if places is None else _found(places, each)
        for each in (distinct(tile.border, shared), tile.border)
    )
    core_border, core_triangles = sides.numbers(shared), 0 if core is None else core.count
    inserted, load, rest_border = state.vertices - state.input_vertices, margin.load, margin.rest_border

    def finish() -> Refined:  # refers to no array of the device
        return Refined(
            core=core_arrays if core_triangles else None,
            core_triangles=core_triangles,
            core_border=core_border,
            margin=None if load is None else load(),
            margin_border=margin_border,
            tile_border=tile_border,
            rest_border=rest_border,
            inserted=inserted,
            warnings=warnings,
            beside=beside,
        )

    return finish


@dataclass(frozen=True, eq=False)
class _Margin:
    """A margin that has been downloaded, whole or divided.

    Attributes:
        vertices, triangles: their numbers, with those that were frozen; vertices on both sides of a division count
            twice.
        used: its vertices, as flags, in one array or several; vertex_places: as in `_Side`, None if it is divided.
        load: returns it, unless it is divided.
        rest_border: as in `Refined`.
    """

    vertices: int
    triangles: int
    used: Sequence[DeviceArray]
    vertex_places: DeviceArray | None = None
    load: Callable[[], Patch] | None = None
    rest_border: Int64 = field(default_factory=lambda: np.empty(0, np.int64))


def _margin(sides: _Sides, end: int) -> _Margin:
    """Downloads the layers up to `end` with the frozen triangles."""
    side = sides.within(end, frozen=True)
    with step("download margin"):
        load = sides.loaded_with_frozen(side)
    return _Margin(side.vertices, side.count + len(sides.tile.frozen_rows), [side.used], side.vertex_places, load)


def _divided(sides: _Sides, end: int, core: _Side | None, division: Division, warnings: tuple[str, ...]) -> _Margin:
    """Downloads the layers up to `end` as a band and a rest, which `division` receives."""
    state, frozen = sides.state, len(sides.tile.frozen_rows)
    side = sides.within(division.layers - 1, frozen=True)
    in_rest = state.slots - side.count - (0 if core is None else core.count)
    with step("download band"):
        load = sides.loaded_with_frozen(side)
    inserted = state.vertices - state.input_vertices
    division.found(BandPart(load, state.slots + frozen, core is not None, in_rest > 0, inserted, warnings))
    vertices, triangles, used = side.vertices, side.count + frozen, side.used
    if not in_rest:
        return _Margin(vertices, triangles, [used])
    side = sides.within(end, division.layers - 1)
    with step("download rest"):
        sides.store(side, sides.few_labels, division.rest)
        shared = sides.shared(side.used, used, *([] if core is None else [core.used]))
    border = sides.numbers(shared)
    return _Margin(vertices + side.vertices, triangles + side.count, [used, side.used], rest_border=border)


def _waiting(state: DeviceMesh, left: dict[str, NDArray[Any]]) -> Int:
    """Returns the triangles that wait, or beside which a segment does."""
    states = state.split_states[: state.subsegments_count].download()
    waiting = (states == SplitState.WANTED_ELSEWHERE) | (states == SplitState.SPLIT_WAITS)
    beside = state.subsegments[: state.subsegments_count].download()["left"][waiting]
    return distinct(left.get("waiting", np.empty(0, np.int32)).astype(np.int32), beside.astype(np.int32))


def _layers(tile: Tile, state: DeviceMesh, seeds: Int, most: int) -> DeviceArray:
    """Returns the layers of triangles between each vertex and what waits, is frozen, or is on the border."""
    device = state.device
    order = state.order.download()
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order), dtype=np.int32)
    is_around = np.zeros(len(tile.numbers), np.bool_)
    is_around[tile.border] = True
    is_around[tile.frozen_triangles] = True
    around = np.flatnonzero(is_around)
    layers = _full(device, state.vertices, UNREACHED)
    device.launch("set_listed", len(around), device.array(rank[around]), 0, layers)
    device.launch("begin_layers", len(seeds), state.triangles, device.array(seeds), layers)
    for reached in range(most):
        device.launch("add_layer", state.slots, state.triangles, reached, layers)
    return layers


def _full(device: Device, count: int, value: int) -> DeviceArray:
    array = device.empty(count, np.int32)
    device.launch("fill_int32", count, value, array)
    return array


def _side(state: DeviceMesh, chosen: DeviceArray, frozen: Int | None = None) -> _Side:
    """Counts the triangles and vertices of a side, with the vertices of frozen triangles."""
    device = state.device
    used = device.zeros(state.vertices, np.int32)
    device.launch("flag_corners", state.slots, state.triangles, chosen, state.order, state.input_vertices, used)
    if frozen is not None:
        device.launch("set_listed", frozen.size, device.array(frozen.reshape(-1)), 1, used)
    places, vertex_places = scan(chosen), scan(used)
    return _Side(chosen, places, total(places, state.slots), used, vertex_places, total(vertex_places, state.vertices))


def _store(
    tile: Tile,
    state: DeviceMesh,
    side: _Side,
    left: dict[str, NDArray[Any]],
    seeds: Int,
    few: Labels | None,
    out: InMemory,
) -> None:
    """Stores a side without frozen triangles, as `Patch.save`.

    `few` are the labels of the triangles that were admitted, as `few_labels` returns them; None stores a row for each.
    """
    device, source, m, n = state.device, tile.mesh, side.count, side.vertices
    by_number = (state.order, state.input_vertices)
    corners = device.empty(3 * m, np.int32)
    device.launch(
        "take_triangles",
        state.slots,
        state.triangles,
        side.chosen,
        side.places,
        *by_number,
        side.vertex_places,
        corners,
    )
    out.take("triangles", corners, np.int32, (m, 3))
    points, numbers = device.empty(n, POINT), device.empty(n, np.int64)
    origins, not_free, taken = (device.empty(n, np.int32) for _ in range(3))
    parameters = device.empty(n, np.float64)
    device.launch(
        "take_vertices", state.vertices, state.points, state.vertex_origin, state.vertex_parameter, side.used,
        side.vertex_places, *by_number, device.array(tile.numbers), points, origins, not_free, parameters, numbers,
        taken,
    )  # fmt: skip
    out.take("vertices", points, np.float64, (n, 2))
    out.take(NUMBERS, numbers, np.int64, (n,))
    if state.ancestor is not None:
        rows = device.empty(m, np.int32 if few is None else np.uint8)
        if few is None:
            device.launch("scatter_flagged", state.slots, state.ancestor, side.chosen, side.places, rows)
        else:
            of_each = device.array(few.rows)
            device.launch("take_label_rows", state.slots, state.ancestor, of_each, side.chosen, side.places, rows)
        out.take(ROWS, rows, rows.dtype, (m,))
        Labels.save_tables(Labels.columns(source) if few is None else few.tables, out)
    places = scan(not_free)
    listed = device.empty(total(places, n), np.int32)
    device.launch("scatter_indices", n, not_free, places, listed)
    with_origin = listed.download()  # few, as a rule
    vertex_origin = _found(origins, with_origin)
    is_on_segment = vertex_origin >= 0  # only they have parameters
    on_segment = with_origin[is_on_segment]
    segment_of = vertex_origin[is_on_segment]
    on_segments = device.empty(len(on_segment), np.float64)
    device.launch("gather_float64", len(on_segment), parameters, device.array(on_segment), on_segments)
    if source.vertex_markers is not None:
        known = taken[: total(side.vertex_places, state.input_vertices)].download()
        markers = np.zeros(n, np.int32)
        markers[on_segment] = state.named_markers[segment_of]
        markers[: len(known)] = source.vertex_markers[known]
        out["vertex_markers"] = markers
    rows_of_vertices = state.vertex_attributes(source)
    if rows_of_vertices is not None and rows_of_vertices.size:
        out["vertex_attributes"] = rows_of_vertices[taken.download()]
    ends, segment_origins = _segments(state, side)
    out["segments"], out["segment_markers"] = ends, state.named_markers[segment_origins]
    vertex_origin[is_on_segment] = tile.origins[segment_of]
    store_sparse(out, "vertex_origin", vertex_origin - np.int32(FREE_VERTEX), with_origin)
    out["segment_origin"] = tile.origins[segment_origins]
    missing = {reason: _places(side, triangles) for reason, triangles in left.items()}
    reasons = [np.full(len(places), REASONS.index(reason) + 1, np.uint8) for reason, places in missing.items()]
    store_sparse(out, "vertex_parameter", on_segments.detach(), on_segment)
    store_sparse(out, "reasons", _joined(reasons, np.uint8), _joined(list(missing.values())))
    seeds = _places(side, seeds)
    store_sparse(out, "seeds", np.ones(len(seeds), np.bool_), seeds)


def _joined(arrays: Sequence[NDArray[Any]], dtype: type = np.int32) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *arrays])


def _segments(state: DeviceMesh, side: _Side) -> tuple[Int, Int]:
    """Returns the ends of the subsegments beside triangles of a side, and the numbers of their segments."""
    count = state.subsegments_count
    origins = state.subsegment_origin[:count].download()
    ends = state.device.empty(2 * count, np.int32)
    state.device.launch("restore_ends", count, state.subsegments, state.order, state.input_vertices, ends)
    records = state.subsegments[:count].download()
    right = records["right"]
    beside = _found(side.chosen, records["left"]) | (_found(side.chosen, np.maximum(right, 0)) & (right >= 0))
    chosen = (origins < state.named) & (beside != 0)
    return _found(side.vertex_places, ends.detach().reshape(-1, 2)[chosen]), origins[chosen]


def _places(side: _Side, triangles: Int) -> Int:
    """Returns the places of those listed triangles that belong to a side."""
    return _found(side.places, triangles[_found(side.chosen, triangles) != 0])


def _found(values: DeviceArray, places: Int) -> Int:
    """Returns int32 values on a device at some places."""
    device = values.device
    found = device.empty(places.size, np.uint32)
    listed = device.array(np.ascontiguousarray(places, np.int32).reshape(-1))
    device.launch("gather_uint32", places.size, values.view(np.uint32), listed, found)
    return found.detach().view(np.int32).reshape(places.shape)


@dataclass(frozen=True, eq=False)
class _Frozen:
    """The frozen triangles of a tile, as a part of its margin.

    Attributes:
        triangles: (f, 3) their corners there.
        between: (s,) bool, the segments of the patch without active triangles beside them; segments: these, there.
    """

    triangles: Int
    between: NDArray[np.bool_]
    segments: Int


def _frozen(tile: Tile, margin: _Side) -> _Frozen:
    segments = tile.patch.mesh.segments
    between = np.ones(len(segments), np.bool_)
    between[tile.rows] = False
    places = margin.vertex_places
    return _Frozen(_found(places, tile.frozen_triangles), between, _found(places, segments[between]))


def _with_frozen(tile: Tile, frozen: _Frozen, margin: Patch, threads: int | None) -> Patch:
    """Returns a margin with the frozen triangles of its tile, and the segments between them."""
    patch, own, mesh = tile.patch, tile.patch.mesh, margin.mesh
    assert own.segment_markers is not None and mesh.segment_markers is not None

    def with_frozen(of_frozen: NDArray[Any] | None, rows: NDArray[Any] | None) -> Any:
        if of_frozen is None or rows is None:
            return None
        return joined([rows_taken(of_frozen, tile.frozen_rows, threads), rows], threads)

    united = Mesh.sound(
        vertices=mesh.vertices,
        vertex_markers=mesh.vertex_markers,
        vertex_attributes=mesh.vertex_attributes,
        triangles=joined([frozen.triangles, mesh.triangles], threads),
        segments=np.concatenate([frozen.segments, mesh.segments]),
        segment_markers=np.concatenate([own.segment_markers[frozen.between], mesh.segment_markers]),
        triangle_attributes=with_frozen(own.triangle_attributes, mesh.triangle_attributes),
        area_bounds=with_frozen(own.area_bounds, mesh.area_bounds),
    )
    return Patch(
        Piece(united, margin.numbers),
        margin.vertex_origin,
        margin.vertex_parameter,
        np.concatenate([patch.segment_origin[frozen.between], margin.segment_origin]),
        np.concatenate([np.take(patch.seeds, tile.frozen_rows), margin.seeds]),
        np.concatenate([np.take(patch.reasons, tile.frozen_rows), margin.reasons]),
    )
