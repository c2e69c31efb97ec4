"""Trees of bounding boxes on a device (cuda_src/locate/box_tree)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dmr.memory import Device, DeviceArray, Packed, constant, pack, record, sort_pairs
from dmr.mesh.shapes import bounding_box
from dmr.mesh.types import Float, Int

MODULES = ("locate/building", "primitives/scan", "primitives/sorting")  # for `Device.prepare`
POINT = record("Point")
BRANCHES = constant("BRANCHES")
LOW_BITS = constant("LOW_BITS")
CELLS = 2.0 ** constant("CELL_LEVELS")  # along a side of the grid
FINEST = 2.0**-18  # the least side of the grid, relative to the coordinates
FEW_ITEMS = 2**13  # of which a CPU thread makes a tree in less time than it takes to launch a kernel per step
LEAST_SIDE = 2.0**-180  # for points that coincide near the origin


@dataclass(frozen=True)
class Frame:
    """The grid of the boxes around some points: its lower left corner, and the side of a cell."""

    low_x: float
    low_y: float
    cell_size: float

    @classmethod
    def around(cls, points: Float) -> Frame:
        """Makes the grid for (n, 2) points, n >= 1."""
        left, bottom, right, top = bounding_box(points)
        # A cell must have several units in the last place of every coordinate.
        side = max(right - left, top - bottom, max(map(abs, (left, bottom, right, top))) * FINEST)
        return cls(left, bottom, max(side, LEAST_SIDE) / CELLS)

    def scaled(self, cells: float = CELLS) -> tuple[float, float, float]:
        """Returns the arguments of kernels for a grid of `cells` by `cells`: the corner, and cells per unit length."""
        return self.low_x, self.low_y, cells / (self.cell_size * CELLS)


class BoxTree:
    """Bounding boxes of triangles, or of edges, in a device's memory. It does not change after its construction.

    Args:
        points: the vertices, records `Point`, on the device.
        corners: (k, 3) int32 vertices of each item, k >= 1; those of an edge are its start, its end, and its end again.
        frame: the grid around the points.
        edges: whether the items are edges. Triangles without area are left out.

    Attributes:
        argument: the tree as an argument of kernels.
        flat: (k,) int32, 1 for items without area; order: (k,) int32, the items in the order of the tree's leaves.
    """

    def __init__(self, points: DeviceArray, corners: Int, frame: Frame, *, edges: bool = False) -> None:
        device, count = points.device, len(corners)
        given = device.array(corners.reshape(-1))
        items = device.empty(3 * count, POINT)
        self.flat = device.empty(count, np.int32)
        sizes = [device.tiles(count, BRANCHES)]
        while sizes[-1] > 1:
            sizes.append(device.tiles(sizes[-1], BRANCHES))
        nodes = device.empty(sum(sizes), record("BoxNode"))
        if device.threads and count <= FEW_ITEMS:
            keys, orders = device.empty(2 * count, np.uint64), device.empty(2 * count, np.int32)
            first = device.empty(len(sizes), np.int32)
            device.launch(
                "build_small_tree", 1, points, given, count, int(edges), *frame.scaled(), keys, orders, items,
                self.flat, first, nodes,
            )  # fmt: skip
            self.order = orders[:count]
        else:
            self.order = order = _along_curve(device, points, given, count, frame)
            device.launch("collect_items", count, points, given, order, items, self.flat)
            places = np.cumsum([0, *sizes[:-1]])
            flat = None if edges else self.flat
            device.launch("box_items", sizes[0], items, order, flat, count, *frame.scaled(), nodes)
            for level in range(1, len(sizes)):
                below = sizes[level - 1]
                device.launch("box_nodes", sizes[level], nodes[places[level - 1] :], below, nodes[places[level] :])
            first = device.array(places.astype(np.int32))
        self._arrays = {"nodes": nodes, "first": first, "items": items, "numbers": self.order}
        self.argument: Packed = pack(
            "BoxTree",
            levels=len(sizes),
            low_x=frame.low_x,
            low_y=frame.low_y,
            cells_per_unit=frame.scaled()[2],
            cell_size=frame.cell_size,
            **self._arrays,
        )


def _along_curve(device: Device, points: DeviceArray, corners: DeviceArray, count: int, frame: Frame) -> DeviceArray:
    """Sorts items along a Hilbert curve; returns their order. Keys of 48 bits separate items of any grading."""
    high, low = device.empty(count, np.uint32), device.empty(count, np.uint32)
    device.launch("key_items", count, points, corners, *frame.scaled(), high, low)
    _, by_low = sort_pairs(low, bits=LOW_BITS)
    ordered = device.empty(count, np.uint32)
    device.launch("gather_keys", count, high, by_low, ordered)
    return sort_pairs(ordered, by_low)[1]
