"""Sides of a refined tile on the device, such as its core and its margin: their triangles, and what is downloaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.cached import cached_property
from dmr.common.number_arrays import distinct
from dmr.distributed.threaded import joined, rows_taken
from dmr.distributed.tiles.admission import Tile
from dmr.distributed.tiles.patch import FREE_VERTEX, REASONS, Patch, store_sparse
from dmr.distributed.tiles.piece import NUMBERS, ROWS, Int64, Labels, Piece
from dmr.distributed.tiles.result.few_labels import few_labels
from dmr.distributed.tiles.stored import InMemory
from dmr.memory import DeviceArray, flagged_indices, scan, total, values_at
from dmr.mesh.types import Int, Mesh
from dmr.refinement.setup.admission import SplitState
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.records import POINT

UNREACHED = int(np.iinfo(np.uint8).max)
MOST_LAYERS = UNREACHED - 1


@dataclass(frozen=True, eq=False)
class Side:
    """Some triangles of a tile on the device, where vertices have their numbers in the tile.

    Attributes:
        listed: the triangles, ascending.
        used: the vertices, as flags; vertex_places: the vertices before each; vertices: their number.
    """

    listed: DeviceArray
    used: DeviceArray
    vertex_places: DeviceArray
    vertices: int

    @property
    def count(self) -> int:
        """The number of triangles."""
        return self.listed.size


@dataclass(frozen=True, eq=False)
class Sides:
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

    def divided(self, last: int, listed: DeviceArray | None = None) -> tuple[DeviceArray, DeviceArray]:
        """Divides triangles, by default all, into those within `last` layers and the others."""
        device, triangles = self.state.device, self.state.triangles
        count = self.state.slots if listed is None else listed.size
        within = device.empty(count, np.int32)
        device.launch("flag_layers", count, listed, triangles, last, self.layers, within)
        before = scan(within)
        flagged = total(before, count)
        found = device.empty(flagged, np.int32), device.empty(count - flagged, np.int32)
        device.launch("divide_list", count, listed, within, before, *found)
        return found

    def side(self, listed: DeviceArray, *, frozen: bool = False) -> Side:
        """Returns the side of listed triangles, with the vertices of the frozen ones if these will be added to it."""
        device, state = listed.device, self.state
        used = device.zeros(state.vertices, np.int32)
        numbers = state.order, state.input_vertices
        device.launch("flag_corners", listed.size, listed, state.triangles, *numbers, used)
        if frozen:
            corners = self.tile.frozen_triangles
            device.launch("set_listed", corners.size, device.array(corners.reshape(-1)), 1, used)
        places = scan(used)
        return Side(listed, used, places, total(places, state.vertices))

    def store(self, side: Side, few: Labels | None, out: InMemory, first: int = -1) -> None:
        """Stores a side, as `_store`."""
        _store(self.tile, self.state, side, self.left, self.seeds, few, first, out)

    def loaded_with_frozen(self, side: Side) -> Callable[[], Patch]:
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

    def in_layer(self, side: Side, layer: int) -> Int:
        """Returns the vertices of a side in one layer, ascending."""
        device, state = side.used.device, self.state
        found = device.zeros(side.used.size, np.int32)
        numbers = state.order, state.input_vertices
        device.launch("flag_layer", state.vertices, layer, self.layers, side.used, *numbers, found)
        return flagged_indices(found)[0].download()

    def numbers(self, vertices: Int) -> Int64:
        """Returns the numbers in the whole of vertices with numbers in the tile: -1, -2, ... for inserted ones."""
        known = vertices < self.state.input_vertices
        numbers = self.state.input_vertices - 1 - vertices.astype(np.int64)
        numbers[known] = self.tile.numbers[vertices[known]]
        return numbers


def waiting_triangles(state: DeviceMesh, left: dict[str, NDArray[Any]]) -> Int:
    """Returns the triangles that wait, or beside which a segment does."""
    states = state.split_states[: state.subsegments_count].download()
    waiting = (states == SplitState.WANTED_ELSEWHERE) | (states == SplitState.SPLIT_WAITS)
    beside = state.subsegments[: state.subsegments_count].download()["left"][waiting]
    return distinct(left.get("waiting", np.empty(0, np.int32)).astype(np.int32), beside.astype(np.int32))


def layers_around(tile: Tile, state: DeviceMesh, seeds: Int, most: int) -> DeviceArray:
    """Returns the layers of triangles between each vertex and what waits, is frozen, or is on the border."""
    device = state.device
    is_around = np.zeros(len(tile.numbers), np.bool_)
    is_around[tile.border] = True
    is_around[tile.frozen_triangles] = True
    around = device.array(np.flatnonzero(is_around).astype(np.int32))
    rank, ranks = device.empty(state.input_vertices, np.int32), device.empty(around.size, np.uint32)
    device.launch("invert_order", state.input_vertices, state.order, rank)
    device.launch("gather_uint32", around.size, rank.view(np.uint32), around, ranks)
    layers = device.empty(state.vertices, np.uint8)
    layers.fill(UNREACHED)
    device.launch("begin_layers_at_vertices", around.size, ranks.view(np.int32), layers)
    device.launch("begin_layers_at_triangles", len(seeds), state.triangles, device.array(seeds), layers)
    for reached in range(most):
        device.launch("add_layer", state.slots, state.triangles, reached, layers)
    return layers


def _store(
    tile: Tile,
    state: DeviceMesh,
    side: Side,
    left: dict[str, NDArray[Any]],
    seeds: Int,
    few: Labels | None,
    first: int,
    out: InMemory,
) -> None:
    """Stores a side without frozen triangles, as `Patch.save`.

    `few` are the labels of the triangles that were admitted, as `few_labels` returns them; None stores a row for each.
    `first` is the number in the whole of the first inserted vertex; -1 stores -1, -2, ... for inserted ones.
    """
    device, source, m, n = state.device, tile.mesh, side.count, side.vertices
    by_number = (state.order, state.input_vertices)
    corners = device.empty(3 * m, np.int32)
    device.launch("take_triangles", m, side.listed, state.triangles, *by_number, side.vertex_places, corners)
    out.take("triangles", corners, np.int32, (m, 3))
    points, numbers = device.empty(n, POINT), device.empty(n, np.int64)
    origins, not_free, taken = (device.empty(n, np.int32) for _ in range(3))
    parameters = device.empty(n, np.float64)
    device.launch(
        "take_vertices", state.vertices, state.points, state.vertex_origin, state.vertex_parameter, side.used,
        side.vertex_places, *by_number, device.array(tile.numbers), first, points, origins, not_free, parameters,
        numbers, taken,
    )  # fmt: skip
    out.take("vertices", points, np.float64, (n, 2))
    out.take(NUMBERS, numbers, np.int64, (n,))
    if state.ancestor is not None:
        rows = device.empty(m, np.int32 if few is None else np.uint8)
        if few is None:
            device.launch("gather_uint32", m, state.ancestor.view(np.uint32), side.listed, rows.view(np.uint32))
        else:
            device.launch("take_label_rows", m, side.listed, state.ancestor, device.array(few.rows), rows)
        out.take(ROWS, rows, rows.dtype, (m,))
        Labels.save_tables(Labels.columns(source) if few is None else few.tables, out)
    places = scan(not_free)
    listed = device.empty(total(places, n), np.int32)
    device.launch("scatter_indices", n, not_free, places, listed)
    with_origin = listed.download()  # few, as a rule
    vertex_origin = values_at(origins, with_origin)
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
    missing = {reason: _places_there(side, triangles) for reason, triangles in left.items()}
    reasons = [np.full(len(places), REASONS.index(reason) + 1, np.uint8) for reason, places in missing.items()]
    store_sparse(out, "vertex_parameter", on_segments.detach(), on_segment)
    store_sparse(out, "reasons", _joined(reasons, np.uint8), _joined(list(missing.values())))
    seeds = _places_there(side, seeds)
    store_sparse(out, "seeds", np.ones(len(seeds), np.bool_), seeds)


def _joined(arrays: Sequence[NDArray[Any]], dtype: type = np.int32) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *arrays])


def _segments(state: DeviceMesh, side: Side) -> tuple[Int, Int]:
    """Returns the ends of the subsegments beside triangles of a side, and the numbers of their segments."""
    count = state.subsegments_count
    origins = state.subsegment_origin[:count].download()
    ends = state.device.empty(2 * count, np.int32)
    state.device.launch("restore_ends", count, state.subsegments, state.order, state.input_vertices, ends)
    records = state.subsegments[:count].download()
    right = records["right"]
    beside = (_places(side, records["left"]) >= 0) | (_places(side, right) >= 0)
    chosen = (origins < state.named) & beside
    return values_at(side.vertex_places, ends.detach().reshape(-1, 2)[chosen]), origins[chosen]


def _places(side: Side, triangles: Int) -> Int:
    """Returns the places of triangles in a side, -1 for others."""
    device = side.listed.device
    places = device.empty(triangles.size, np.int32)
    wanted = device.array(np.ascontiguousarray(triangles, np.int32))
    device.launch("find_listed", triangles.size, side.listed, side.count, wanted, places)
    return places.detach()


def _places_there(side: Side, triangles: Int) -> Int:
    """Returns the places of those listed triangles that belong to a side."""
    places = _places(side, triangles)
    return places[places >= 0]


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


def _frozen(tile: Tile, margin: Side) -> _Frozen:
    segments = tile.patch.mesh.segments
    between = np.ones(len(segments), np.bool_)
    between[tile.rows] = False
    places = margin.vertex_places
    return _Frozen(values_at(places, tile.frozen_triangles), between, values_at(places, segments[between]))


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
