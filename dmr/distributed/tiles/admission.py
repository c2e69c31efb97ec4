"""Admits the active triangles of a patch to a device, as a part of the whole.

Admission of a mesh derives input corners, the ends of segments and the origins of vertices from the mesh. In a tile it
would derive them wrongly: its cuts are not a boundary, and the vertices of earlier passes are not input. Here they are
those of the whole. The tile's vertices are those of the patch, and after them the vertices of the whole that it needs
and does not have: ends of segments, and acute corners.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.cached import cached_property
from dmr.common.number_arrays import distinct
from dmr.distributed.jobs.steps import step
from dmr.distributed.threaded import flags, places_of_pairs, rows_taken
from dmr.distributed.tiles.cuts import CutEdges, active_sides, border_vertices, cut_edges, edges_of
from dmr.distributed.tiles.patch import FREE_VERTEX, Mask, Patch
from dmr.distributed.tiles.piece import Int64
from dmr.distributed.tiles.whole import Whole
from dmr.distributed.unions.union import UNNUMBERED, Numbers
from dmr.memory import Device, constant, set_values, values_at
from dmr.mesh.types import Float, Int, Mesh
from dmr.refinement.placement.admission import direct, segment_records
from dmr.refinement.setup.admission import SplitState, admit
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.records import POINT

INPUT_VERTEX = constant("INPUT_VERTEX")


@dataclass(frozen=True, eq=False)
class Tile:
    """The active part of a patch.

    Attributes:
        patch: the patch; frozen: (m,) bool, its frozen triangles; frozen_rows: their numbers.
        mesh: the active triangles, on the vertices of the patch and `further` ones of the whole; its segments are those
            with an active triangle beside them, which are the rows `rows` of the patch's segments.
        numbers: (n,) int64, the numbers of its vertices in the whole.
        border: (b,) int32, the vertices on the border of the patch with the rest of the domain.
        origins: (k,) int32, the input segments that the tile uses; local_ends: (k, 2) their ends in the tile.
        anchor: (n,) int32 and acute: (n,) uint8, as in `Whole`, of the tile's vertices.
        cuts: the edges to the frozen triangles; waits: (s,) bool, the segments of `mesh` beside which a triangle is
            frozen, or in another tile.
    """

    patch: Patch
    frozen: Mask
    frozen_rows: NDArray[np.intp]
    mesh: Mesh
    rows: NDArray[np.intp]
    numbers: Int64
    border: Int
    origins: Int
    local_ends: Int
    anchor: Int
    acute: NDArray[np.uint8]
    cuts: CutEdges
    waits: Mask

    @cached_property
    def frozen_triangles(self) -> Int:
        """(f, 3) the corners of the frozen triangles."""
        return np.take(self.patch.mesh.triangles, self.frozen_rows, axis=0)


def tile_of(patch: Patch, whole: Whole, threads: int | None) -> Tile:
    """Returns the active part of a patch whose vertices are numbered; `threads` compute, None for all cores."""
    with step("edges"):
        edges = edges_of(patch, threads)
    frozen = edges.frozen(threads)
    sides = active_sides(patch, edges, frozen)
    rows = np.flatnonzero(sides > 0)
    inside = ~whole.boundary[patch.segment_origin]
    is_origin = flags(len(whole.ends), patch.segment_origin, threads)
    is_origin[patch.vertex_origin[patch.vertex_origin >= 0]] = True
    origins = np.flatnonzero(is_origin)
    ends = whole.ends[origins]
    at_ends = ends.reshape(-1)
    needed = distinct(at_ends, _anchors(patch.numbers, whole), _anchors(at_ends, whole))
    present = Numbers(patch.numbers, UNNUMBERED)
    further = needed[present.find(needed) < 0]
    numbers = np.concatenate([patch.numbers, further])

    def local(wanted: NDArray[Any]) -> Int:
        """Returns the places of numbers, -1 for those of vertices that the tile does not have."""
        flat = wanted.reshape(-1)
        place, beyond = present.find(flat), Numbers(further).find(flat)
        return np.where((place < 0) & (beyond >= 0), beyond + np.int32(len(patch.numbers)), place).reshape(wanted.shape)

    known, at = whole.rows(numbers)
    acute = np.zeros(len(numbers), np.uint8)
    acute[known] = whole.acute[at]
    anchor = np.full(len(numbers), -1, np.int32)
    anchor[known] = local(whole.anchor[at])  # that of a further vertex may be missing, but nothing here compares it
    own, active = patch.mesh, np.flatnonzero(~frozen)
    attributes, area_bounds = (
        None if each is None else rows_taken(each, active, threads)
        for each in (own.triangle_attributes, own.area_bounds)
    )
    mesh = Mesh.sound(
        vertices=np.concatenate([own.vertices, whole.points[whole.rows(further)[1]]]),
        triangles=rows_taken(own.triangles, active, threads),
        segments=own.segments[rows],
        vertex_markers=None if own.vertex_markers is None else _padded(own.vertex_markers, len(further)),
        vertex_attributes=None if own.vertex_attributes is None else _padded(own.vertex_attributes, len(further)),
        triangle_attributes=attributes,
        area_bounds=area_bounds,
    )
    return Tile(
        patch=patch,
        frozen=frozen,
        frozen_rows=np.flatnonzero(frozen),
        mesh=mesh,
        rows=rows,
        numbers=numbers,
        border=border_vertices(patch, edges, inside, threads),
        origins=origins.astype(np.int32),
        local_ends=local(ends),
        anchor=anchor,
        acute=acute,
        cuts=cut_edges(patch, edges, frozen, threads),
        waits=((sides == 1) & inside)[rows],
    )


def _anchors(numbers: NDArray[np.int64], whole: Whole) -> NDArray[np.int64]:
    found = whole.anchor[whole.rows(numbers)[1]]
    return found[found >= 0]


def _padded(rows: NDArray[Any], count: int) -> NDArray[Any]:
    return np.concatenate([rows, np.zeros((count, *rows.shape[1:]), rows.dtype)])


def admit_tile(tile: Tile, whole: Whole, device: Device, threads: int | None = None) -> DeviceMesh:
    """Copies the active part of a patch to a device; `threads` compute on the host, None for all cores."""
    with step("upload"):
        state, _ = admit(tile.mesh, device, trusted=True)
    patch, count, segments = tile.patch, len(tile.mesh.vertices), len(tile.rows)
    rank = device.empty(count, np.int32)
    device.launch("invert_order", count, state.order, rank)

    # Most vertices of a tile are free, and have no parameter; only those of the patch are not input.
    with_origin = np.flatnonzero(patch.vertex_origin != FREE_VERTEX)
    origin = patch.vertex_origin[with_origin]
    origin[origin >= 0] = np.searchsorted(tile.origins, origin[origin >= 0])
    known = len(patch.vertex_origin)
    device.launch("fill_int32", count, FREE_VERTEX, state.vertex_origin)
    set_values(state.vertex_origin, values_at(rank, with_origin), origin)
    set_values(state.vertex_origin, values_at(rank, np.arange(known, count)), np.full(count - known, INPUT_VERTEX))
    with_parameter = np.flatnonzero(patch.vertex_parameter)
    set_values(state.vertex_parameter, values_at(rank, with_parameter), patch.vertex_parameter[with_parameter])
    acute = np.zeros(count, np.uint8)
    are_acute = np.flatnonzero(tile.acute)
    acute[values_at(rank, are_acute)] = tile.acute[are_acute]
    state.acute = device.array(acute)
    state.any_acute = bool(whole.acute.any())
    anchored = np.flatnonzero(tile.anchor >= 0)
    state.anchor = device.empty(count, np.int32)
    device.launch("fill_int32", count, -1, state.anchor)
    set_values(state.anchor, values_at(rank, anchored), values_at(rank, tile.anchor[anchored]))
    state.input_segments = device.array(segment_records(values_at(rank, tile.local_ends)))

    rows = tile.mesh.unique_segment_rows()[2]  # in the order of the subsegments
    subsegment_origin = np.searchsorted(tile.origins, patch.segment_origin[tile.rows[rows]]).astype(np.int32)
    state.subsegment_origin[:segments].upload(subsegment_origin)
    ends = tile.mesh.segments[rows]
    at = [_parameters(ends[:, k], tile.local_ends[subsegment_origin], patch.vertex_parameter) for k in range(2)]
    direct(state, values_at(rank, np.where(at[0] < at[1], ends[:, 0], ends[:, 1])))
    states = np.full(state.subsegments_count, SplitState.NO_REQUEST, np.int32)
    states[:segments][tile.waits[rows]] = SplitState.BESIDE_CUT
    states[:segments][whole.kept[tile.origins[subsegment_origin]]] = SplitState.KEPT
    state.split_states[: len(states)].upload(states)
    state.input_subsegments = segments
    # All segments of the tile count as named: the cut edges, as the rest of its boundary, do not.
    state.named = len(tile.origins)
    state.named_markers = whole.markers[tile.origins]
    _attach_cuts(state, tile.cuts, count, segments, threads)
    return state


def _parameters(vertices: Int, ends: Int, parameter: Float) -> Float:
    """Returns the parameters of vertices on segments with these ends."""
    found: Float = np.where(vertices == ends[:, 0], 0.0, np.where(vertices == ends[:, 1], 1.0, parameter[vertices]))
    return found


def _attach_cuts(state: DeviceMesh, cuts: CutEdges, vertices: int, first: int, threads: int | None) -> None:
    """Marks the subsegments from `first` on as cut edges of a tile, and stores what lies beyond them."""
    state.first_cut, state.cuts = first, state.subsegments_count - first
    if state.cuts == 0:
        return
    attached, wanted = state.subsegments[first : state.subsegments_count], state.device.empty(2 * state.cuts, np.int32)
    state.device.launch("restore_ends", state.cuts, attached, state.order, vertices, wanted)
    given = np.stack([cuts.starts, cuts.ends], axis=1)
    place = places_of_pairs(given, wanted.detach().reshape(-1, 2), vertices, threads)  # both have the same, each once
    state.beyond_cuts = state.device.array(rows_taken(cuts.beyond, place, threads).reshape(-1).view(POINT))
    none = np.full(state.cuts, state.named, np.int32)
    state.subsegment_origin[first : state.subsegments_count].upload(none)
