"""The order of points along a Hilbert curve, on a device."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray, constant, record, sort_pairs
from dmr.mesh.coordinates import LARGEST, SMALLEST, SMALLEST_EXTENT, check_coordinates
from dmr.mesh.types import Float

Box = tuple[tuple[float, float], tuple[float, float]]  # the least x and y, the largest x and y

TILE = constant("TILE", "mesh/ordering.cu")  # points per team
CURVE_CELLS = 2.0 ** constant("CURVE_LEVELS")  # along a side of the grid that the curve fills
BOX = record("Box")


def surveyed(vertices: Float, points: DeviceArray) -> Box:
    """Checks coordinates by kernels, and returns their bounding box.

    Args:
        vertices: (n, 2) on the host, where the offender is searched if there is one; points: the same on a device.

    Raises:
        InvalidMeshError: as `check_coordinates`.
    """
    (low, high), usable = survey(points)
    if not usable or (points.size and max(map(abs, (*low, *high))) < SMALLEST_EXTENT):
        check_coordinates(vertices)
    return low, high


def survey(points: DeviceArray) -> tuple[Box, bool]:
    """Returns the bounding box of points, and whether the predicates are exact for all coordinates; waits for both."""
    device = points.device
    tiles = device.tiles(points.size, TILE)
    boxes = device.empty(tiles, BOX)
    device.launch("survey_points", tiles, points, points.size, SMALLEST, LARGEST, boxes)
    found = boxes.download()
    low = float(found["low_x"].min(initial=np.inf)), float(found["low_y"].min(initial=np.inf))
    high = float(found["high_x"].max(initial=-np.inf)), float(found["high_y"].max(initial=-np.inf))
    return (low, high), low[0] != -np.inf


def order_along_curve(points: DeviceArray, box: Box) -> tuple[DeviceArray, DeviceArray]:
    """Returns the sorted keys of points along the curve through their box, and their order: ties by number."""
    device = points.device
    (low_x, low_y), (high_x, high_y) = box
    extent = max(high_x - low_x, high_y - low_y)
    keys = device.empty(points.size, np.uint32)
    device.launch("curve_keys", points.size, points, low_x, low_y, CURVE_CELLS / extent if extent else 0.0, keys)
    return sort_pairs(keys)
