"""Sizes on a quadtree: the support of a field that was sampled from a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.frozen import freeze_fields
from dmr.memory import Device, pack
from dmr.mesh.types import Float, Int
from dmr.sizing.source import Step, place_text
from dmr.sizing.support import Support

SIDES = ((0, 1), (2, 3), (0, 2), (1, 3))  # pairs of corners of a node (cuda_src/sizing/quadtree)


@dataclass(frozen=True)
class Quadtree(Support):
    """A tree of rectangles; sizes are given at their corners, the samples.

    Attributes:
        left, bottom, width, height: the root.
        depth: the number of levels below the root.
        children: (n, 4) int32, the node of each quadrant, -1 if there is none; the root is node 0.
        corners: (n, 4) int32 samples.
        points: (s, 2) coordinates of the samples.
        deviation: the largest relative difference between the sampled function and the sizes where both were compared.
    """

    left: float
    bottom: float
    width: float
    height: float
    depth: int
    children: Int
    corners: Int
    points: Float
    deviation: float

    def __post_init__(self) -> None:
        freeze_fields(self)

    def step(self, device: Device, values: Float) -> Step:
        """Implements `Support.step`."""
        arrays = {name: device.array(getattr(self, name).reshape(-1)) for name in ("children", "corners")}
        box = {name: getattr(self, name) for name in ("left", "bottom", "width", "height", "depth")}
        given = device.array(values)
        # Evaluation goes down from a table of about half as many cells as there are nodes, instead of from the root.
        start_level = min(self.depth, max(len(self.children).bit_length() - 2, 0) // 2)
        starts = device.empty(2 * 4**start_level, np.int32)
        tree = pack("Quadtree", values=given, starts=starts, start_level=start_level, **arrays, **box)
        device.launch("find_quadtree_starts", 4**start_level, tree)
        kept = (given, starts, *arrays.values())  # a packed argument has only their addresses

        def lower(points: Any, count: Any, sizes: Any) -> None:
            assert kept
            points.device.launch("lower_by_quadtree", count, points, tree, sizes)

        return lower

    def network(self) -> tuple[Float, NDArray[Any]]:
        """Implements `Support.network`: the sides of all nodes."""
        return self.points, np.concatenate([self.corners[:, pair] for pair in SIDES])

    def name(self, place: int) -> str:
        """Implements `Support.name`."""
        return f"the point {place_text(self.points[place])}"

    def __str__(self) -> str:
        return f"on a quadtree with {len(self.points)} samples"
