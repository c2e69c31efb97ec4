"""Cuts a patch into blocks of about equal predicted size: k-d blocks of its triangles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.tiles.bands import FIRST_LAYERS, UNREACHED, layers_of, spread
from dmr.distributed.tiles.bounds import Bounds, predicted_triangles
from dmr.distributed.tiles.cuts import edges_of
from dmr.distributed.tiles.patch import Patch
from dmr.mesh.types import Float, Int


def block_of_each(places: Float, weights: NDArray[np.int64], blocks: int, shift: float) -> Int:
    """Divides points into k-d blocks of about equal weight.

    Args:
        places: (m, 2) float64; weights: (m,) int64, above 0.
        blocks: how many, 1 to m.
        shift: of the first division, in weights of a block, between -0.5 and 0.5.

    Returns:
        (m,) int32, the block of each point.
    """
    found = np.zeros(len(places), np.int32)
    todo = [(np.arange(len(places)), 0, blocks, shift)]
    while todo:
        rows, first, count, shifted = todo.pop()
        if count == 1:
            found[rows] = first
            continue
        extent = np.ptp(places[rows], axis=0)
        rows = rows[np.argsort(places[rows, int(extent[1] > extent[0])], kind="stable")]
        before = np.cumsum(weights[rows])
        left = count // 2
        at = int(np.searchsorted(before, before[-1] / count * (left + shifted)))
        at = min(max(at, left), len(rows) - (count - left))  # every block gets a point
        todo += [(rows[:at], first, left, shifted), (rows[at:], first + left, count - left, shifted)]
    return found


def components(neighbours: Int) -> Int:
    """Returns (m,) int32, the connected component of each triangle: the smallest number of its triangles."""
    label = np.arange(len(neighbours), dtype=np.int32)
    inside = neighbours >= 0
    while True:
        low = np.where(inside, label[neighbours], label[:, None]).min(axis=1, initial=len(label))
        low = np.minimum(low, label)
        np.minimum.at(low, label, low.copy())  # the component's old label follows its smallest neighbour
        low = low[low]
        if (low == label).all():
            return label
        label = low


SHIFTS = (0.0, 0.31, -0.38, 0.19, -0.19, 0.44)  # of the divisions of consecutive turns


def cut(patch: Patch, bounds: Bounds, tile_triangles: int, turn: int) -> list[Patch]:
    """Cuts a patch into tiles of at most about `tile_triangles` predicted triangles.

    Connected components that are not larger are not divided.

    Args:
        turn: divisions of consecutive turns lie elsewhere.

    Returns:
        The tiles. Of the seeds only those that are frozen, so that their tile does not refine them, remain seeds.
    """
    mesh, edges = patch.mesh, edges_of(patch)
    weights = np.ceil(np.maximum(*predicted_triangles(mesh, bounds))).astype(np.int64)
    places = mesh.vertices[mesh.triangles].mean(axis=1)
    block = np.zeros(len(weights), np.int32)
    if int(weights.sum()) > tile_triangles:
        component = components(edges.neighbours)
        if turn % 3:
            component = _around_seeds(patch, edges.neighbours, component, weights, tile_triangles, turn)
        block = _blocks(places, weights, component, tile_triangles, SHIFTS[turn % len(SHIFTS)])
    cut_edge = (edges.segments < 0) & ((edges.neighbours < 0) | (block[edges.neighbours] != block[:, None]))
    marked = replace(patch, seeds=patch.seeds & cut_edge.any(axis=1))
    return [marked.taken(block == k) for k in range(int(block.max()) + 1)]


def _around_seeds(
    patch: Patch, neighbours: Int, component: Int, weights: NDArray[np.int64], most: int, turn: int
) -> Int:
    """Returns the components of a band, with fewer layers around the seeds if these then fit tiles undivided.

    The rest of the band has nothing to refine, and may be divided anywhere.
    """
    none = np.full(len(patch.numbers), UNREACHED, np.int32)
    layers = layers_of(turn - 1)
    while layers >= FIRST_LAYERS:
        near = spread(patch, none, layers)[0]
        parts = components(np.where(near[neighbours] == near[:, None], neighbours, -1))
        if np.bincount(parts[near], weights[near]).max(initial=0) <= most:
            return parts
        layers //= 2
    return component


def _blocks(places: Float, weights: NDArray[np.int64], component: Int, most: int, shift: float) -> Int:
    """Returns the tile of each triangle: whole components side by side, and parts of those that are too large."""
    first, of_each = np.unique(component, return_inverse=True)
    total = np.bincount(of_each, weights)
    block = np.full(len(weights), -1, np.int32)
    used = 0
    for each in np.flatnonzero(total > most):
        rows = np.flatnonzero(of_each == each)
        count = min(-(-int(total[each]) // most) + (shift != 0.0), len(rows))
        block[rows] = used + block_of_each(places[rows], weights[rows], count, shift)
        used += count
    small = np.flatnonzero(total <= most)
    if len(small):
        count = min(-(-int(total[small].sum()) // most), len(small))
        packed = block_of_each(places[first[small]], np.maximum(total[small].astype(np.int64), 1), count, 0.0)
        of_component = np.full(len(first), -1, np.int32)
        of_component[small] = used + packed
        block = np.where(block < 0, of_component[of_each], block).astype(np.int32)
    return block
