"""Separates a refined tile into its core, which stays as it is, and its margin, from which bands are taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.distributed.jobs.steps import step
from dmr.distributed.threaded import joined, rows_taken
from dmr.distributed.tiles.admission import Tile
from dmr.distributed.tiles.patch import FREE_VERTEX, REASONS, Patch, store_sparse
from dmr.distributed.tiles.piece import NUMBERS, ROWS, Int64, Labels, Piece
from dmr.distributed.tiles.result.few_labels import few_labels
from dmr.distributed.tiles.stored import InMemory
from dmr.memory import Device, DeviceArray, scan, total
from dmr.mesh.types import Int, Mesh
from dmr.refinement.setup.admission import SplitState
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.records import POINT

UNREACHED = np.iinfo(np.int32).max
LEAST_CORE = 0.5  # of the triangles of a tile; a smaller core stays in the margin


@dataclass(frozen=True, eq=False)
class Refined:
    """A refined tile, whose new vertices have the numbers -1, -2, ... in the order of insertion.

    Attributes:
        core: the triangles far from whatever waits, and from the border of the tile, as a stored patch; None if there
            are few. core_triangles: their number.
        margin: the others, those that were frozen first; margin_border: its vertices on the border of the tile, or
            shared with the core; tile_border: those on the border of the tile.
        core_border: (b,) int64, the numbers of the vertices of the core that it shares with the margin.
        inserted: points; warnings: one sentence each.
        beside: the vertices and triangles beside the core for which its file has room: the margin, and ghosts.
    """

    core: InMemory | None
    core_triangles: int
    core_border: Int64
    margin: Patch
    margin_border: Int
    tile_border: Int
    inserted: int
    warnings: tuple[str, ...]
    beside: tuple[int, int] = (0, 0)


@dataclass(frozen=True, eq=False)
class _Side:
    """The core or the margin on the device, where vertices have their numbers in the tile.

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
    """
    seeds = _waiting(state, left)
    last = only and not len(seeds) and not np.take(tile.patch.seeds, tile.frozen_rows).any()
    if last:
        depth = 1
    in_margin, in_core = _flags(tile, state, seeds, depth)
    core = _side(tile, state, in_core)
    has_core = LEAST_CORE * state.slots <= core.count < state.slots
    if not has_core:
        state.device.launch("fill_int32", state.slots, 1, in_margin)
    margin = _side(tile, state, in_margin, tile.frozen_triangles)
    margin_arrays, beside = InMemory(), (margin.vertices, margin.count + len(tile.frozen_rows))
    if last:  # ghosts are about as many as the triangles of the margin, from which bands take none
        beside = 2 * beside[0], 2 * beside[1]
    with step("download margin"):
        taken = _store(tile, state, margin, left, seeds, None, margin_arrays)
    if has_core:
        with step("download core"):
            few = None if state.ancestor is None else few_labels(Labels.columns(tile.mesh), threads)
            rows = None if state.ancestor is None else np.dtype(np.int32 if few is None else np.uint8)
            core_arrays.begin((core.vertices, core.count), beside, rows)
            _store(tile, state, core, left, seeds, few, core_arrays)
    shared = taken.download()
    shared = shared[_found(core.used, shared) != 0] if has_core else shared[:0]
    border = distinct(tile.border, shared)
    margin_border, tile_border = (_found(margin.vertex_places, each) for each in (border, tile.border))
    frozen = _frozen(tile, margin)

    core_border, core_triangles = _numbers(tile, state, shared), core.count if has_core else 0
    inserted = state.vertices - state.input_vertices

    def finish() -> Refined:  # refers to no array of the device
        return Refined(
            core=core_arrays if has_core else None,
            core_triangles=core_triangles,
            core_border=core_border,
            margin=_with_frozen(tile, frozen, Patch.load(margin_arrays, threads), threads),
            margin_border=margin_border,
            tile_border=tile_border,
            inserted=inserted,
            warnings=warnings,
            beside=beside,
        )

    return finish


def _waiting(state: DeviceMesh, left: dict[str, NDArray[Any]]) -> Int:
    """Returns the triangles that wait, or beside which a segment does."""
    states = state.split_states[: state.subsegments_count].download()
    waiting = (states == SplitState.WANTED_ELSEWHERE) | (states == SplitState.SPLIT_WAITS)
    beside = state.subsegments[: state.subsegments_count].download()["left"][waiting]
    return distinct(left.get("waiting", np.empty(0, np.int32)).astype(np.int32), beside.astype(np.int32))


def _flags(tile: Tile, state: DeviceMesh, seeds: Int, depth: int) -> tuple[DeviceArray, DeviceArray]:
    """Returns which triangles on the device are in the margin, and which in the core."""
    device = state.device
    order = state.order.download()
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order), dtype=np.int32)
    is_around = np.zeros(len(tile.numbers), np.bool_)
    is_around[tile.border] = True
    is_around[tile.frozen_triangles] = True
    around = np.flatnonzero(is_around)
    depth = min(depth, isqrt(state.slots))  # as a rule more layers than the tile has
    layers = _full(device, state.vertices, UNREACHED)
    device.launch("set_listed", len(around), device.array(rank[around]), 0, layers)
    device.launch("begin_layers", len(seeds), state.triangles, device.array(seeds), layers)
    for reached in range(depth):
        device.launch("add_layer", state.slots, state.triangles, reached, layers)
    margin, core = (device.empty(state.slots, np.int32) for _ in range(2))
    device.launch("flag_margin", state.slots, state.triangles, depth, layers, margin, core)
    return margin, core


def _full(device: Device, count: int, value: int) -> DeviceArray:
    array = device.empty(count, np.int32)
    device.launch("fill_int32", count, value, array)
    return array


def _side(tile: Tile, state: DeviceMesh, chosen: DeviceArray, frozen: Int | None = None) -> _Side:
    """Counts the triangles and vertices of a side, with the vertices of frozen triangles."""
    device = state.device
    used = device.zeros(state.vertices, np.int32)
    device.launch("flag_corners", state.slots, state.triangles, chosen, state.order, state.input_vertices, used)
    if frozen is not None:
        device.launch("set_listed", frozen.size, device.array(frozen.reshape(-1)), 1, used)
    places, vertex_places = scan(chosen), scan(used)
    return _Side(chosen, places, total(places, state.slots), used, vertex_places, total(vertex_places, state.vertices))


def _numbers(tile: Tile, state: DeviceMesh, vertices: Int) -> Int64:
    """Returns the numbers in the whole of vertices with numbers in the tile: -1, -2, ... for inserted ones."""
    known, numbers = vertices < state.input_vertices, state.input_vertices - 1 - vertices.astype(np.int64)
    numbers[known] = tile.numbers[vertices[known]]
    return numbers


def _store(
    tile: Tile,
    state: DeviceMesh,
    side: _Side,
    left: dict[str, NDArray[Any]],
    seeds: Int,
    few: Labels | None,
    out: InMemory,
) -> DeviceArray:
    """Stores a side without frozen triangles, as `Patch.save`; returns its vertices' numbers in the tile, ascending.

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
    return taken


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
