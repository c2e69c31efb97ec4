"""Cuts a patch into blocks of about equal predicted size: k-d blocks of its triangles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.tiles.cuts import edges_of
from dmr.distributed.tiles.patch import Patch
from dmr.distributed.tiles.refining import Bounds
from dmr.mesh.types import Float, Int, Mesh
from dmr.refinement.setup.demand import OVER_EQUILATERAL, OVER_THE_FEWEST
from dmr.refinement.setup.thresholds import thresholds

# Triangles of the result for a triangle below the bound on angles (measured on random points at 30 degrees).
FOR_A_SKINNY_TRIANGLE = 4.0


def predicted_triangles(mesh: Mesh, bounds: Bounds) -> tuple[Float, Float]:
    """Predicts the triangles of the result in each triangle of a mesh.

    Returns:
        (m,) float64 as the bound on angles needs, and (m,) as the bounds on areas and edges need.
    """
    a, b, c = mesh.vertices[mesh.triangles].transpose(1, 0, 2)
    squares = np.sort(np.stack([((p - q) ** 2).sum(axis=1) for p, q in ((a, b), (b, c), (c, a))]), axis=0)
    area = 0.5 * np.abs((b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0]))
    options = bounds.options
    dot = 0.5 * (squares[1] + squares[2] - squares[0])  # of the two longer edges
    skinny = dot * dot > thresholds(options).cosine_squared * (squares[1] * squares[2])
    by_angle = np.where(skinny, FOR_A_SKINNY_TRIANGLE, 1.0)
    by_size = np.zeros(len(area))
    if options.max_area is not None:
        by_size = OVER_THE_FEWEST * area / options.max_area
    if mesh.area_bounds is not None:
        own = np.where(mesh.area_bounds > 0, mesh.area_bounds, np.inf)
        by_size = np.maximum(by_size, OVER_THE_FEWEST * area / own)
    if bounds.max_edge is not None:
        sizes = bounds.max_edge(((a + b) + c) / 3)
        by_size = np.maximum(by_size, OVER_EQUILATERAL * area / (np.sqrt(3) / 4 * sizes * sizes))
    return by_angle, by_size


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
        block = _blocks(places, weights, components(edges.neighbours), tile_triangles, SHIFTS[turn % len(SHIFTS)])
    cut_edge = (edges.segments < 0) & ((edges.neighbours < 0) | (block[edges.neighbours] != block[:, None]))
    marked = replace(patch, seeds=patch.seeds & cut_edge.any(axis=1))
    return [marked.taken(block == k) for k in range(int(block.max()) + 1)]


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
