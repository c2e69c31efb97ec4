"""Cuts a patch into blocks of about equal predicted size: k-d blocks of its triangles."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.threads import thread_count
from dmr.distributed.jobs.steps import step
from dmr.distributed.threaded import by_pieces, rows_taken, touching
from dmr.distributed.tiles.bands import UNREACHED, first_layers, layers_of, spread
from dmr.distributed.tiles.bounds import Bounds, predicted_triangles
from dmr.distributed.tiles.patch import Edges, Mask, Patch
from dmr.distributed.tiles.piece import Arrays
from dmr.distributed.tiles.whole import Whole
from dmr.distributed.unions.native import bins, components
from dmr.mesh.types import Float, Int, Mesh

BINS = 2**12


def block_of_each(
    places: Float, weights: NDArray[np.int64], blocks: int, shift: float, threads: int | None = None
) -> Int:
    """Divides points into k-d blocks of about equal weight.

    Args:
        places: (m, 2) float64; weights: (m,) int64, above 0.
        blocks: how many, 1 to m.
        shift: of the first division, in weights of a block, between -0.5 and 0.5.
        threads: that divide, each another block; None for all cores.

    Returns:
        (m,) int32, the block of each point.
    """
    found = np.zeros(len(places), np.int32)
    by_axis = [np.ascontiguousarray(each) for each in places.T]  # numpy reduces contiguous arrays much faster
    blocks_left = [_Blocks(np.arange(len(places)), [*by_axis, weights], 0, blocks)]
    count = thread_count(threads)
    with ThreadPoolExecutor(count) as pool:
        while blocks_left:
            for block in blocks_left:
                if block.count == 1:
                    found[block.rows] = block.first
            larger = [block for block in blocks_left if block.count > 1]
            halved = partial(_Blocks.halves, shift=shift, threads=max(count // max(len(larger), 1), 1))
            blocks_left = [half for halves in pool.map(halved, larger) for half in halves]
    return found


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Points that form several blocks.

    Attributes:
        rows: their numbers; columns: their coordinates, by axis, and their weights.
        first, count: the number of the first block, and how many there are.
    """

    rows: NDArray[np.intp]
    columns: Sequence[NDArray[Any]]
    first: int
    count: int

    def halves(self, shift: float, threads: int) -> tuple[_Blocks, _Blocks]:
        """Returns the blocks of the lower half and of the upper one along the longer extent; `threads` compute."""
        *along, weights = self.columns
        low, high = [each.min() for each in along], [each.max() for each in along]
        axis = int(high[1] - low[1] > high[0] - low[0])
        left = self.count // 2
        lower = _lower(along[axis], low[axis], high[axis], weights, (left + shift) / self.count, threads)
        if not left <= np.count_nonzero(lower) <= len(self.rows) - (self.count - left):  # every block gets a point
            lower = np.zeros(len(self.rows), np.bool_)
            lower[np.argsort(along[axis], kind="stable")[:left]] = True
        right = self.count - left
        return self._half(lower, self.first, left, threads), self._half(~lower, self.first + left, right, threads)

    def _half(self, inside: Mask, first: int, count: int, threads: int) -> _Blocks:
        places = np.flatnonzero(inside)
        columns = [rows_taken(each, places, threads) for each in self.columns] if count > 1 else ()
        return _Blocks(rows_taken(self.rows, places, threads), columns, first, count)


def _lower(values: Float, low: float, high: float, weights: NDArray[np.int64], share: float, threads: int) -> Mask:
    """Returns which values are the lower ones that have about a share of the weight; ties are broken by number.

    Args:
        low, high: the extremes of the values; threads: that compute.
    """
    # A histogram finds the bin that the division lies in, so that few values are sorted.
    bin_of_each, sums = bins(values, weights, low, (high - low) / BINS, BINS, threads)
    after = np.cumsum(sums.astype(np.float64))  # whole numbers, so that the sums are exact
    wanted = share * after[-1]
    at = int(np.searchsorted(after, wanted))
    lower: Mask = bin_of_each < at
    inside = np.flatnonzero(bin_of_each == at)
    inside = inside[np.argsort(values[inside], kind="stable")]
    before = np.cumsum(weights[inside]) + (after[at - 1] if at else 0.0)
    lower[inside[: int(np.searchsorted(before, wanted))]] = True
    return lower


SHIFTS = (0.0, 0.31, -0.38, 0.19, -0.19, 0.44)  # of the divisions of consecutive turns
BLOCK, PREDICTED = "tile_of_each", "predicted"  # the names of stored arrays


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


def cut(
    patch: Patch,
    edges: Edges,
    bounds: Bounds,
    tile_triangles: int,
    turn: int,
    threads: int | None = None,
    *,
    whole: Whole | None = None,
) -> Tiles:
    """Cuts a patch into tiles of at most about `tile_triangles` predicted triangles.

    Connected components that are not larger are not divided.

    Args:
        edges: of the patch.
        turn: divisions of consecutive turns lie elsewhere.
        threads: that predict and divide; None for all cores.
        whole: if segments have been divided by size, of which the patch is a part: in sharp corners, pieces of two
            segments are long beside each other, and are not walls of a channel.
    """
    mesh = patch.mesh
    lines = None if whole is None else whole.ends[patch.segment_origin]
    with step("predict"):
        predicted = predicted_triangles(mesh, bounds, edges=edges, lines=lines, threads=threads)
        weights = np.empty(len(mesh.triangles), np.int64)

        def weigh(piece: slice) -> None:
            weights[piece] = np.ceil(np.maximum(*(each[piece] for each in predicted)))

        by_pieces(len(weights), weigh, threads)
    block = np.zeros(len(weights), np.int32)
    if int(weights.sum()) > tile_triangles:
        with step("components"):
            component = None
            if turn % 3:
                component = _around_seeds(patch, edges.neighbours, weights, tile_triangles, turn, threads)
            if component is None:
                component = components(edges.neighbours, thread_count(threads))
        with step("blocks"):
            places = _tripled_centroids(mesh, threads)
            block = _blocks(places, weights, component, tile_triangles, SHIFTS[turn % len(SHIFTS)], threads)
    marked = replace(patch, seeds=patch.seeds & _beside_cuts(edges, block, threads), edges=edges)
    by_tile = np.bincount(block, weights, minlength=1).astype(np.int64)  # whole numbers, so that sums are exact
    return Tiles(marked, None if len(by_tile) == 1 and marked.uses_all_vertices(threads) else block, by_tile)


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


def _tripled_centroids(mesh: Mesh, threads: int | None) -> Float:
    """Returns (m, 2) three times the centroids of the triangles."""
    places = np.empty((len(mesh.triangles), 2), order="F")
    by_axis = [np.ascontiguousarray(each) for each in mesh.vertices.T]

    def add(piece: slice) -> None:
        a, b, c = mesh.triangles[piece].T
        for axis, x in enumerate(by_axis):
            places[piece, axis] = x[a] + x[b] + x[c]

    by_pieces(len(places), add, threads)
    return places


def _beside_cuts(edges: Edges, block: Int, threads: int | None) -> Mask:
    """Returns (m,) bool: which triangles have an edge to another block or patch that is no segment."""
    found = np.empty(len(block), np.bool_)

    def find(piece: slice) -> None:
        across = edges.neighbours[piece]
        cut_edge = (edges.segments[piece] < 0) & ((across < 0) | (block[across] != block[piece, None]))
        found[piece] = cut_edge[:, 0] | cut_edge[:, 1] | cut_edge[:, 2]

    by_pieces(len(block), find, threads)
    return found


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
    places: Float, weights: NDArray[np.int64], component: Int, most: int, shift: float, threads: int | None
) -> Int:
    """Returns the tile of each triangle: whole components side by side, and parts of those that are too large.

    Args:
        component: as from `components`.
    """
    if not component.any():  # one component, whose first triangle is 0
        count = min(-(-int(weights.sum()) // most), len(weights))
        if count > 1:
            return block_of_each(places, weights, min(count + (shift != 0.0), len(weights)), shift, threads)
        return np.zeros(len(weights), np.int32)
    is_first = component == np.arange(len(component), dtype=np.int32)
    first = np.flatnonzero(is_first)
    of_each = np.take(np.cumsum(is_first, dtype=np.int32) - np.int32(1), component)
    total = np.bincount(of_each, weights)
    block = np.full(len(weights), -1, np.int32)
    used = 0
    for each in np.flatnonzero(total > most):
        rows = np.flatnonzero(of_each == each)
        count = min(-(-int(total[each]) // most) + (shift != 0.0), len(rows))
        block[rows] = used + block_of_each(places[rows], weights[rows], count, shift, threads)
        used += count
    small = np.flatnonzero(total <= most)
    if len(small):
        count = min(-(-int(total[small].sum()) // most), len(small))
        packed = block_of_each(places[first[small]], np.maximum(total[small].astype(np.int64), 1), count, 0.0, threads)
        of_component = np.full(len(first), -1, np.int32)
        of_component[small] = used + packed
        block = np.where(block < 0, np.take(of_component, of_each), block)
    return block
