"""Bands: the triangles around those still to be refined, taken out of their patches for another pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.threaded import touching
from dmr.distributed.tiles.patch import Patch, with_numbers
from dmr.distributed.tiles.piece import Arrays, Int64
from dmr.mesh.types import Int

FIRST_LAYERS = 3  # around what waits; of these the outermost is frozen
# In large tiles, a fourth layer takes little time. With three, where the mesh around 3,000 frozen triangles was 1,700
# times as fine as these, one of them waited again, which took another pass.
LARGE_TILE, LAYERS_OF_LARGE = 2**22, 4
# Layers of the margin of a small tile in the first pass; and per layer of the next band in large tiles, where margins
# take longer to make a part of than cores, and in tiles of bands, most of which is margin: enough that later bands
# rarely leave the margins.
MARGIN, MARGIN_PER_LAYER = 12, 2
UNREACHED = np.iinfo(np.int32).max


def first_layers(tile_triangles: int) -> int:
    """Returns the number of layers around what waits in the first bands, for tiles of this size."""
    return FIRST_LAYERS if tile_triangles < LARGE_TILE else LAYERS_OF_LARGE


def layers_of(turn: int, tile_triangles: int) -> int:
    """Returns the number of layers around what still waits after a turn, counted from 0, for tiles of this size.

    They double from the third band on: what waits after the first one mostly lies at cuts through that band, where
    nothing waited before.
    """
    return first_layers(tile_triangles) << min(max(turn - 1, 0), 24)


def margin_of(turn: int, layers: int) -> int:
    """Returns the number of layers of a tile's margin, if a band has `layers` after this turn, counted from 0."""
    return MARGIN_PER_LAYER * layers if turn or layers >= LAYERS_OF_LARGE else MARGIN


@dataclass(frozen=True, eq=False)
class Reach:
    """The vertices on a patch's border with others, and how many layers of triangles separate them from a seed.

    Attributes:
        border: (b,) int64, their numbers; layers: (b,) int32, `UNREACHED` beyond the layers of the band.
    """

    border: Int64
    layers: Int

    def save(self, arrays: Arrays) -> None:
        """Stores the arrays by name."""
        for each in fields(self):
            arrays[f"reach_{each.name}"] = getattr(self, each.name)

    @classmethod
    def load(cls, arrays: Arrays | Mapping[str, NDArray[Any]], first: int) -> Reach:
        """Returns what was stored by `save`; vertices without a number get those from `first` on."""
        found = cls(**{each.name: np.asarray(arrays[f"reach_{each.name}"]) for each in fields(cls)})
        return replace(found, border=with_numbers(found.border, first))

    @property
    def reached(self) -> Int64:
        """The numbers of the vertices that the band reaches."""
        reached: Int64 = self.border[self.layers != UNREACHED]
        return reached


def reach(patch: Patch, border: Int, layers: int, threads: int | None) -> tuple[Reach, NDArray[np.bool_]]:
    """Returns how far the seeds of a patch are from the vertices on its border, and which triangles they reach."""
    if not patch.seeds.any():
        return unreached(patch.numbers[border]), np.zeros(len(patch.seeds), np.bool_)
    chosen, distance = spread(patch, np.full(len(patch.numbers), UNREACHED, np.int32), layers, threads)
    return Reach(patch.numbers[border], distance[border]), chosen


def are_nearest(tiles: Sequence[Reach], layers: int) -> list[bool]:
    """Returns of which tiles the bands of others reach no further triangle: no seed of others is nearer to the border.

    Args:
        layers: of the bands.
    """
    numbers = np.concatenate([tile.border for tile in tiles])
    distances = np.minimum(np.concatenate([tile.layers for tile in tiles]), layers)  # the last vertices add no triangle
    order = np.argsort(numbers, kind="stable")
    numbers, distances = numbers[order], distances[order]
    least = distances.copy()
    for step in range(1, len(numbers)):  # entries of one number follow each other
        same = np.flatnonzero(numbers[step:] == numbers[:-step])
        if not len(same):
            break
        least[same] = np.minimum(least[same], distances[same + step])
    return [
        bool((np.minimum(tile.layers, layers) <= least[np.searchsorted(numbers, tile.border)]).all()) for tile in tiles
    ]


def unreached(border: Int64) -> Reach:
    """Returns the reach of a patch without seeds, whose border has vertices with these numbers."""
    return Reach(border, np.full(len(border), UNREACHED, np.int32))


def reached_by(patch: Patch, others: Sequence[Reach], layers: int, threads: int | None) -> NDArray[np.bool_]:
    """Returns which triangles of a patch, whose vertices are numbered, belong to a band.

    Args:
        others: how far the seeds of the other patches reach.
        layers: of triangles around each seed, counted by their vertices.
        threads: that compute; None for all cores.
    """
    given = np.full(len(patch.numbers), UNREACHED, np.int32)
    for other in others:
        distance = other.layers[other.layers != UNREACHED]
        place = np.minimum(np.searchsorted(patch.numbers, other.reached), len(given) - 1)
        shared = patch.numbers[place] == other.reached
        np.minimum.at(given, place[shared], distance[shared])
    return spread(patch, given, layers, threads)[0]


def parted(patch: Patch, in_band: NDArray[np.bool_], threads: int | None) -> tuple[Patch | None, Patch]:
    """Returns the rest of a patch, None if it is empty, and its part for a band, which has a triangle."""
    chosen, left = np.flatnonzero(in_band), np.flatnonzero(~in_band)
    return patch.taken(left, threads) if len(left) else None, patch.taken(chosen, threads)


def spread(patch: Patch, given: Int, layers: int, threads: int | None) -> tuple[NDArray[np.bool_], Int]:
    """Returns which triangles are within `layers` of a seed, and the distance of each vertex.

    Args:
        given: distances of vertices from seeds of other patches.
        threads: that compute; None for all cores.
    """
    triangles = patch.mesh.triangles
    distance, chosen = given.copy(), patch.seeds.copy()
    distance[triangles[np.flatnonzero(chosen)]] = 0
    known = distance[np.flatnonzero(distance != UNREACHED)]
    last = int(known.max(initial=0))  # of the distances that are given
    for layer in range(int(known.min(initial=layers)), layers):
        reached = np.flatnonzero(~chosen & touching(triangles, distance <= layer, threads))
        if layer >= last and not len(reached):
            break
        chosen[reached] = True
        corners = triangles[reached]
        distance[corners] = np.minimum(distance[corners], layer + 1)
    return chosen, distance
