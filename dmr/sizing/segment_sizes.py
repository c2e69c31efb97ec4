"""Sizes that grow with the distance from segments, and the smallest of several sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dmr.common.frozen import freeze_fields
from dmr.memory import Device, DeviceArray, Number, pack, record
from dmr.mesh.location.box_tree import BRANCHES, BoxTree, Frame
from dmr.mesh.types import Float
from dmr.sizing.source import DeviceSizes, SizeSource, checked_gradient


@dataclass(frozen=True, eq=False)
class SegmentSizes(SizeSource):
    """The smallest of the sizes that segments give: at distance d, that of the segment plus `growth` times d.

    Attributes:
        start, end: (n, 2) the ends of the segments, n >= 1; sizes: (n,) at the segments, finite and above 0.
        growth: per unit of distance, finite and not negative; most: an upper bound, which may be infinite.
    """

    start: Float
    end: Float
    sizes: Float
    growth: float
    most: float = math.inf

    def __post_init__(self) -> None:
        freeze_fields(self)

    def _upload(self, device: Device) -> DeviceSizes:
        points = np.concatenate([self.start, self.end])
        n = len(self.sizes)
        ends = np.stack([np.arange(n), np.arange(n, 2 * n), np.arange(n, 2 * n)], axis=1).astype(np.int32)
        tree = BoxTree(device.array(points, record("Point")), ends, Frame.around(points), edges=True)
        kept = {"sizes": device.array(self.sizes), "least": device.array(self._least(tree.order.download()))}
        given = pack("SegmentSizes", growth=self.growth, **kept)

        def lower(points: DeviceArray, count: Number, sizes: DeviceArray) -> None:
            assert kept  # `given` has only the addresses
            points.device.launch("lower_to", count, self.most, sizes)
            points.device.launch("lower_by_segments", count, tree.argument, given, points, sizes)

        return DeviceSizes((lower,))

    def _least(self, order: np.ndarray[tuple[int], np.dtype[np.int32]]) -> Float:
        """The smallest size below each child of the tree's nodes, level by level, given the order of the segments."""
        levels, below = [], self.sizes[order]
        while True:
            children = np.full(-(-len(below) // BRANCHES) * BRANCHES, np.inf)
            children[: len(below)] = below
            levels.append(children)
            if len(children) == BRANCHES:
                return np.concatenate(levels)
            below = children.reshape(-1, BRANCHES).min(axis=1)

    def limited(self, gradient: float) -> SegmentSizes:
        """Implements `SizeSource.limited`: sizes that grow by `gradient` with the distance, if that is less."""
        return replace(self, growth=min(self.growth, checked_gradient(gradient)))

    def __repr__(self) -> str:
        most = f", at most {self.most:g}" if math.isfinite(self.most) else ""
        return (
            f"SegmentSizes({len(self.sizes)} segments, sizes {self.sizes.min():g} to {self.sizes.max():g}, "
            f"growth {self.growth:g}{most})"
        )


@dataclass(frozen=True, eq=False)
class SmallestSizes(SizeSource):
    """The smallest of several sizes everywhere.

    Attributes:
        parts: at least one source.
    """

    parts: tuple[SizeSource, ...]

    @property
    def by_kernels(self) -> bool:
        """Whether kernels evaluate all parts."""
        return all(part.by_kernels for part in self.parts)

    def _upload(self, device: Device) -> DeviceSizes:
        return DeviceSizes(tuple(step for part in self.parts for step in part.on(device).steps))

    def limited(self, gradient: float) -> SmallestSizes:
        """Implements `SizeSource.limited`, for each part."""
        return replace(self, parts=tuple(part.limited(gradient) for part in self.parts))

    def __repr__(self) -> str:
        return f"SmallestSizes({', '.join(map(repr, self.parts))})"
