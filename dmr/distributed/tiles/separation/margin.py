"""Separates a refined tile into its core, which stays as it is, and its margin, from which bands are taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.distributed.jobs.steps import step
from dmr.distributed.tiles.admission import Tile
from dmr.distributed.tiles.patch import Patch
from dmr.distributed.tiles.piece import Int64
from dmr.distributed.tiles.separation.sides import (
    MOST_LAYERS,
    UNREACHED,
    Sides,
    layers_around,
    waiting_triangles,
)
from dmr.distributed.tiles.stored import InMemory
from dmr.memory import DeviceArray, values_at
from dmr.mesh.types import Int
from dmr.refinement.state.device_mesh import DeviceMesh

LEAST_CORE = 0.5  # of the triangles of a tile; a smaller core stays in the margin


@dataclass(frozen=True, eq=False)
class Refined:
    """A refined tile, whose new vertices have the numbers -1, -2, ... in the order of insertion.

    Attributes:
        core: the triangles far from whatever waits, and from the border of the tile, as a stored patch; None if there
            are few. core_triangles: their number.
        margin: the others, those that were frozen first; None if it was divided or `found`. margin_border: its vertices
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
class FirstPart:
    """The part of a refined tile that later tasks wait for, and what the passes need to know of the tile.

    Attributes:
        load: returns the part, for the next band or the margin of the last one; needs no device.
        border: its vertices on the border with other pieces of the result, if it is for a band, and perhaps further
            ones; otherwise those on the border of the tile.
        triangles: of the whole tile; in_core: those of its core; has_rest: whether a divided margin has a rest.
        apart: whether this rest separates the core from the part for the band.
        inserted, warnings: as in `Refined`.
    """

    load: Callable[[], Patch]
    border: Int
    triangles: int
    in_core: int = 0
    has_rest: bool = False
    apart: bool = False
    inserted: int = 0
    warnings: tuple[str, ...] = ()


Found = Callable[[FirstPart], None]  # called before anything else of a tile is downloaded


@dataclass(frozen=True, eq=False)
class Division:
    """Divides the margin of a tile, while it is on the device, into its part for the next band and a rest.

    The band is around the frozen triangles, those that wait, and the border of the tile, as if there were seeds
    everywhere.

    Attributes:
        layers: of the band; rest: receives the rest as a stored patch, if there is one.
    """

    layers: int
    rest: InMemory


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
    first_number: Callable[[], int] = lambda: -1,
    division: Division | None = None,
    found: Found | None = None,
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
        first_number: returns the number of the first inserted vertex if it is known when the core is downloaded, which
            then has the numbers of the whole; otherwise -1.
        division: of the margin, unless no triangle is in the band.
        found: called with the part for the band if the margin is divided, or with the margin if no band follows.
    """
    seeds = waiting_triangles(state, left)
    last = only and not len(seeds) and not np.take(tile.patch.seeds, tile.frozen_rows).any()
    depth = 1 if last else min(depth, isqrt(state.slots), MOST_LAYERS)  # as a rule more layers than the tile has
    if not (len(seeds) or len(tile.frozen_rows) or len(tile.border)):
        division = None
    depth = depth if division is None else max(depth, division.layers)
    with step("layers"):
        sides = Sides(tile, state, left, seeds, layers_around(tile, state, seeds, depth), threads)
        inner, outer = sides.divided(depth - 1)[::-1]
    has_core = LEAST_CORE * state.slots <= inner.size < state.slots
    if not has_core:
        outer, inner = sides.divided(UNREACHED)
    inserted = state.vertices - state.input_vertices
    first = partial(
        FirstPart, triangles=state.slots + len(tile.frozen_rows), in_core=inner.size, inserted=inserted,
        warnings=warnings, apart=division is not None and depth > division.layers,
    )  # fmt: skip
    if division is None:
        margin = _margin(sides, outer)
        if last and found is not None and margin.vertex_places is not None and margin.load is not None:
            found(first(margin.load, values_at(margin.vertex_places, tile.border)))
            margin = replace(margin, load=None)
    else:
        margin = _divided(sides, outer, division, found, first)
    beside = margin.vertices, margin.triangles
    if last:  # ghosts are about as many as the triangles of the margin, from which bands take none
        beside = 2 * beside[0], 2 * beside[1]
    core = None
    if has_core:
        with step("download core"):
            core, few = sides.side(inner), sides.few_labels
            rows = None if state.ancestor is None else np.dtype(np.int32 if few is None else np.uint8)
            core_arrays.begin((core.vertices, core.count), beside, rows)
            first_of_new = first_number()
            sides.store(core, few, core_arrays, first_of_new)
    shared = np.empty(0, np.int32) if core is None else sides.shared(core.used, *margin.used)
    of_rest = np.empty(0, np.int32)
    if len(margin.used) > 1:
        band, rest = margin.used
        of_rest = sides.shared(rest, band, *([] if core is None else [core.used]))
    places = margin.vertex_places
    margin_border, tile_border = (
        np.empty(0, np.int32) if places is None else values_at(places, each)
        for each in (distinct(tile.border, shared), tile.border)
    )
    core_border, core_triangles = sides.numbers(shared), 0 if core is None else core.count
    load, rest_border = margin.load, sides.numbers(of_rest)

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
        used: its vertices, as flags: of all, or of the part for the band and of the rest.
        vertex_places, load: as in `Side`, and what returns it, unless it is divided.
    """

    vertices: int
    triangles: int
    used: Sequence[DeviceArray]
    vertex_places: DeviceArray | None = None
    load: Callable[[], Patch] | None = None


def _margin(sides: Sides, outer: DeviceArray) -> _Margin:
    """Downloads the margin: the outer triangles, with the frozen ones."""
    with step("download margin"):
        side = sides.side(outer, frozen=True)
        load = sides.loaded_with_frozen(side)
    return _Margin(side.vertices, side.count + len(sides.tile.frozen_rows), [side.used], side.vertex_places, load)


def _divided(
    sides: Sides, outer: DeviceArray, division: Division, found: Found | None, first: Callable[..., FirstPart]
) -> _Margin:
    """Downloads the margin as a band and a rest, which `division` receives; `first` makes what is `found`."""
    frozen = len(sides.tile.frozen_rows)
    with step("download band"):
        in_band, in_rest = sides.divided(division.layers - 1, outer)
        side = sides.side(in_band, frozen=True)
        load = sides.loaded_with_frozen(side)
        # The triangles of the tile at its other vertices are all in the band.
        border = distinct(sides.tile.border, sides.in_layer(side, division.layers))
    if found is not None:
        found(first(load, values_at(side.vertex_places, border), has_rest=in_rest.size > 0))
    vertices, triangles, used = side.vertices, side.count + frozen, side.used
    if not in_rest.size:
        return _Margin(vertices, triangles, [used])
    with step("download rest"):
        side = sides.side(in_rest)
        sides.store(side, sides.few_labels, division.rest)
    return _Margin(vertices + side.vertices, triangles + side.count, [used, side.used])
