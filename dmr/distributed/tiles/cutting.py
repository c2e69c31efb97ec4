"""Cuts a patch into blocks of about equal predicted size: k-d blocks of its triangles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.common.threads import thread_count
from dmr.distributed.jobs.steps import step
from dmr.distributed.threaded import by_pieces, rows_taken, touching
from dmr.distributed.tiles.bands import UNREACHED, first_layers, layers_of, spread
from dmr.distributed.tiles.bounds import Bounds, predicted_weights
from dmr.distributed.tiles.patch import Edges, Mask, Patch
from dmr.distributed.tiles.piece import PER_TRIANGLE, ROWS, Arrays
from dmr.distributed.tiles.whole import Whole
from dmr.distributed.unions.native import beside_cuts, block_weights, blocks_of, components
from dmr.mesh.types import Int, Mesh

SHIFTS = (0.0, 0.31, -0.38, 0.19, -0.19, 0.44)  # of the divisions of consecutive turns
BLOCK, PREDICTED = "tile_of_each", "predicted"  # the names of stored arrays


class OneTile(NamedTuple):
    """One of several tiles.

    Attributes:
        load: returns it; predicted: the triangles of the result that are predicted for it.
        labels: whether its triangles have attributes or area bounds.
    """

    load: Callable[[], Patch]
    predicted: int
    labels: bool


@dataclass(frozen=True, eq=False)
class Tiles:
    """The tiles of a patch, which is stored whole: the task of a tile takes its triangles out of it.

    Attributes:
        patch: with its edges, which each tile has, too. Of the seeds only those that are frozen, so that their tile
            does not refine them.
        block: (m,) int32, the tile of each triangle; None if the patch is the only tile.
        predicted: (tiles,) int64, the triangles of the result that are predicted for each.
    """

    patch: Patch
    block: Int | None
    predicted: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.predicted)

    def tile(self, place: int, threads: int | None = None) -> Patch:
        """Returns a tile; `threads` take it, None for all cores."""
        if self.block is None:
            return self.patch
        return _taken(self.patch, np.flatnonzero(self.block == place), threads)

    def one(self, place: int, threads: int | None = None) -> OneTile:
        """Returns a tile that `tile` takes."""
        return OneTile(partial(self.tile, place, threads), int(self.predicted[place]), self.patch.has_labels)

    def save(self, arrays: Arrays, *, patch: bool = True) -> None:
        """Stores the patch, and which tiles its triangles belong to.

        Args:
            patch: whether all of the patch is stored; otherwise only what has changed when it was cut, the seeds.
        """
        (self.patch.save if patch else self.patch.save_seeds)(arrays)
        arrays[PREDICTED] = self.predicted
        if self.block is not None:
            arrays[BLOCK] = self.block

    @classmethod
    def load(cls, arrays: Arrays) -> Tiles:
        """Returns what `save` has stored."""
        tiles = cls(Patch.load(arrays), None, arrays[PREDICTED])
        return replace(tiles, block=arrays[BLOCK]) if BLOCK in arrays else tiles


def stored_tile(arrays: Arrays, place: int, threads: int | None = None) -> OneTile:
    """Returns one of the tiles that `Tiles.save` has stored; the others are not loaded before it is."""
    labels = any(name in arrays for name in (ROWS, *PER_TRIANGLE))
    return OneTile(lambda: Tiles.load(arrays).tile(place, threads), int(arrays[PREDICTED][place]), labels)


def cut(
    patch: Patch,
    edges: Edges,
    bounds: Bounds,
    tile_triangles: int,
    turn: int,
    threads: int | None = None,
    *,
    whole: Whole | None = None,
    before: Callable[[], None] | None = None,
) -> Tiles:
    """Cuts a patch into tiles of at most about `tile_triangles` predicted triangles.

    Connected components that are not larger are not divided.

    Args:
        edges: of the patch.
        turn: divisions of consecutive turns lie elsewhere.
        threads: that predict and divide; None for all cores.
        whole: of which the patch is a part: pieces of two input segments that share an end are no walls of a channel.
        before: called before the patch is divided, unless one tile suffices.
    """
    mesh = patch.mesh
    lines = None if whole is None else whole.ends[patch.segment_origin]
    with step("predict"):
        weights = predicted_weights(mesh, bounds, edges=edges, lines=lines, threads=threads)
        total = int(weights.sum())
    count = thread_count(threads)
    if total > tile_triangles:
        if before is not None:
            with step("write"):
                before()
        with step("components"):
            component = None
            if turn % 3:
                component = _around_seeds(patch, edges.neighbours, weights, tile_triangles, turn, threads)
            if component is None:
                component = components(edges.neighbours, count)
        with step("blocks"):
            block, tiles = _blocks(mesh, weights, component, tile_triangles, SHIFTS[turn % len(SHIFTS)], count)
    else:
        block, tiles = np.zeros(len(weights), np.int32), 1
    with step("seeds"):
        seeds = beside_cuts(edges.neighbours, edges.segments, block, patch.seeds, count)
        by_tile = np.array([total]) if tiles == 1 else block_weights(block, weights, tiles, count)
    marked = replace(patch, seeds=seeds, edges=edges)
    return Tiles(marked, None if tiles == 1 and marked.uses_all_vertices(threads) else block, by_tile)


def _taken(patch: Patch, chosen: NDArray[np.intp], threads: int | None) -> Patch:
    """Returns some triangles of a patch, with their edges; `threads` take them."""
    edges = patch.edges
    assert edges is not None
    place = np.full(len(patch.seeds), -1, np.int32)  # of each triangle among the chosen ones
    place[chosen] = np.arange(len(chosen), dtype=np.int32)
    across, on_edges = (rows_taken(each, chosen, threads) for each in (edges.neighbours, edges.segments))
    is_kept = np.zeros(len(patch.mesh.segments) + 1, np.bool_)
    is_kept[on_edges] = True  # -1 flags the last
    is_kept[-1] = False
    row = np.cumsum(is_kept, dtype=np.int32) - np.int32(1)
    row[-1] = -1
    neighbours = np.where(across >= 0, np.take(place, across, mode="clip"), np.int32(-1))
    taken = patch.taken(chosen, threads, np.flatnonzero(is_kept))
    return replace(taken, edges=Edges(neighbours, row[on_edges]))


def _around_seeds(
    patch: Patch,
    neighbours: Int,
    weights: NDArray[np.int64],
    most: int,
    turn: int,
    threads: int | None,
) -> Int | None:
    """Returns the components of a band with fewer layers around the seeds, if these then fit tiles undivided.

    The rest of the band has nothing to refine, and may be divided anywhere.
    """
    none = np.full(len(patch.numbers), UNREACHED, np.int32)
    # The band was made for tiles of half the size if these have grown since, and may have fewer layers than this: 3
    # times a power of 2 instead of 4. The first try is then all of it, too, and for the others any number will do.
    layers = layers_of(turn - 1, most)
    distance = spread(patch, none, layers, threads)[1]
    while layers >= first_layers(most):
        near = touching(patch.mesh.triangles, distance < layers, threads)
        parts = components(_links_within(neighbours, near, threads), thread_count(threads))
        if np.bincount(parts[near], weights[near]).max(initial=0) <= most:
            return parts
        layers //= 2
    return None


def _links_within(neighbours: Int, near: Mask, threads: int | None) -> Int:
    """Returns neighbours, and -1 in place of those of which one is `near`, and the other is not."""
    found = np.empty_like(neighbours)

    def find(piece: slice) -> None:
        across = neighbours[piece]
        alike = np.take(near, across, mode="clip") == near[piece, None]  # without an edge on the other side, any value
        found[piece] = np.where(alike, across, np.int32(-1))

    by_pieces(len(neighbours), find, threads)
    return found


def _blocks(
    mesh: Mesh, weights: NDArray[np.int64], component: Int, most: int, shift: float, threads: int
) -> tuple[Int, int]:
    """Divides triangles into tiles: whole components side by side, and parts of those that are too large.

    Args:
        component: as from `components`; threads: that compute.

    Returns:
        The tile of each triangle, and how many there are.
    """

    def divided(rows: NDArray[np.intp] | None, weights: NDArray[np.int64], count: int, shift: float) -> Int:
        return blocks_of(mesh.vertices, mesh.triangles, weights, count, shift, threads, rows)

    if not component.any():  # one component, whose first triangle is 0
        count = min(-(-int(weights.sum()) // most), len(weights))
        if count == 1:
            return np.zeros(len(weights), np.int32), 1
        count = min(count + (shift != 0.0), len(weights))
        return divided(None, weights, count, shift), count
    is_first = component == np.arange(len(component), dtype=np.int32)
    first = np.flatnonzero(is_first)
    of_each = np.take(np.cumsum(is_first, dtype=np.int32) - np.int32(1), component)
    total = np.bincount(of_each, weights)
    block = np.full(len(weights), -1, np.int32)
    used = 0
    for each in np.flatnonzero(total > most):
        rows = np.flatnonzero(of_each == each)
        count = min(-(-int(total[each]) // most) + (shift != 0.0), len(rows))
        block[rows] = used + divided(rows, weights[rows], count, shift)
        used += count
    small = np.flatnonzero(total <= most)
    if len(small):
        count = min(-(-int(total[small].sum()) // most), len(small))
        packed = divided(first[small], np.maximum(total[small].astype(np.int64), 1), count, 0.0)
        of_component = np.full(len(first), -1, np.int32)
        of_component[small] = used + packed
        block = np.where(block < 0, np.take(of_component, of_each), block)
        used += count
    return block, used
