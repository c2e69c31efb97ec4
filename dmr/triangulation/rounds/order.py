"""The order in which points are inserted: equal ones once, the others in random samples of growing size.

Within a sample, points follow a curve (BRIO; Amenta, Choi and Rote, "Incremental constructions con BRIO", 2003). Where
too many points share a cell of the Hilbert curve, the curve runs through the plane of the ranks of their coordinates
instead, which adapts to clusters of any density.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dmr.memory import Device, DeviceArray, argsort, flagged_indices, record, scan, sort_pairs
from dmr.triangulation.rounds.curve import CURVE_CELLS, Box, order_along_curve

POINT = record("Point")
FIRST_SAMPLE = 64  # points
MOST_SAMPLES = 255  # a sample's number is a key of 8 bits


@dataclass(frozen=True)
class Order:
    """Vertices, which are the points in their order along a curve, and the order in which they are inserted.

    Attributes:
        given: the points in their own order; curve: their numbers along the Hilbert curve, ties by number; places: the
            place of each point there.
        points: the vertices' coordinates; numbers: their numbers in the input.
        ranks: by vertex, its place along the Hilbert curve; None if vertices are in that order.
        first: by vertex, the first one in the same place, which has the lowest number.
        vertices: the vertices to be inserted, in order: the first in each place.
    """

    given: DeviceArray
    curve: DeviceArray
    places: DeviceArray
    points: DeviceArray
    numbers: DeviceArray
    ranks: DeviceArray | None
    first: DeviceArray
    vertices: DeviceArray


def insertion_order(given: DeviceArray, box: Box, growth: float) -> Order:
    """Finds equal points, and draws the order of insertion.

    Args:
        given: the points, in the range of the predicates; they are not changed. box: their bounding box.
        growth: the size of a sample, over that of all before it.
    """
    device = given.device
    count = given.size
    keys, curve = order_along_curve(given, box)
    points, places = _reordered(given, curve)
    numbers = curve
    first, crowded = device.empty(count, np.int32), device.zeros(1, np.int32)
    device.launch("find_equal", count, points, keys, first, crowded)
    ranks = None
    if crowded.download()[0]:
        numbers, first = _order_by_ranks(given)
        points, of = _reordered(given, numbers)
        ranks = device.empty(count, np.int32)  # of a vertex: the place along the Hilbert curve of its number
        device.launch("compose", count, numbers, places, ranks)
        first = _renumbered(first, numbers, of)
    flags = device.empty(count, np.int32)
    device.launch("flag_firsts", count, first, flags)
    vertices, distinct = flagged_indices(flags)
    drawn = _drawn(device, vertices[:distinct], growth)
    return Order(given, curve, places, points, numbers, ranks, first, drawn)


def _reordered(given: DeviceArray, order: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
    """Returns the points in an order, and the place of each in it."""
    device = given.device
    points, places = device.empty(given.size, POINT), device.empty(given.size, np.int32)
    device.launch("reorder_points", given.size, given, order, points, places)
    return points, places


def _order_by_ranks(given: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
    """Returns the order of points along a curve through the plane of ranks, and by point the first equal to it."""
    device, count = given.device, given.size
    order = device.empty(count, np.int32)
    device.launch("fill_indices", count, order)
    order = _sorted_by(given, order, (0, 1, 2, 3))  # by x, then y: equal points are neighbours, the lowest number first
    flags, first = device.empty(count, np.int32), device.empty(count, np.int32)
    device.launch("flag_different", count, given, order, flags)
    runs = scan(flags)
    heads, _ = flagged_indices(flags)
    device.launch("name_runs", count, order, runs, heads, first)
    rank_x, rank_y = device.empty(count, np.int32), device.empty(count, np.int32)
    device.launch("invert_order", count, order, rank_x)
    device.launch("invert_order", count, _sorted_by(given, order, (0, 1)), rank_y)
    keys = device.empty(count, np.uint32)
    device.launch("rank_keys", count, rank_x, rank_y, CURVE_CELLS / count, keys)
    return argsort(keys), first


def _sorted_by(given: DeviceArray, order: DeviceArray, parts: tuple[int, ...]) -> DeviceArray:
    """Returns an order sorted stably by parts of the coordinates, the least significant one first."""
    for part in parts:
        keys = given.device.empty(given.size, np.uint32)
        given.device.launch("coordinate_keys", given.size, given, order, part, keys)
        order = sort_pairs(keys, order)[1]
    return order


def _renumbered(first: DeviceArray, numbers: DeviceArray, places: DeviceArray) -> DeviceArray:
    """Converts a map of points to one of vertices: places[first[numbers[v]]]."""
    device, count = first.device, first.size
    of_vertex, result = device.empty(count, np.int32), device.empty(count, np.int32)
    device.launch("compose", count, numbers, first, of_vertex)
    device.launch("compose", count, of_vertex, places, result)
    return result


def _drawn(device: Device, vertices: DeviceArray, growth: float) -> DeviceArray:
    """Draws vertices into samples; returns them by sample, and along the curve within each."""
    count = vertices.size
    samples = 0 if count <= FIRST_SAMPLE else math.ceil(math.log(count / FIRST_SAMPLE) / math.log1p(growth))
    samples = min(samples, MOST_SAMPLES)
    ends = 2.0**32 * (1 + growth) ** np.arange(-samples, 0.0)  # how many hashes fall into the samples up to each
    bounds = device.array(ends.astype(np.uint32))
    level = device.empty(count, np.uint32)
    device.launch("draw_levels", count, vertices, bounds, samples, level)
    return sort_pairs(level, vertices, bits=8)[1]
