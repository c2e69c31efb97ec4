"""The quality check of listed triangles: what its kernels are given, and what is counted about it."""

from __future__ import annotations

from copy import copy

import numpy as np

from dmr.memory import Argument, DeviceArray, Number
from dmr.pipeline.device_mesh import DeviceMesh
from dmr.pipeline.records import POINT
from dmr.pipeline.thresholds import Thresholds
from dmr.pipeline.workspace import Workspace
from dmr.sizing import Size, evaluate

COUNTERS = ("children", "refused", "shares", "checked", "largest_share")  # ShareCounter of cuda_src/quality_check.cuh


class QualityCheck:
    """Checks triangles against the bounds of a run.

    Attributes:
        device: where they are; counters: (5,) int64 there: how new triangles were shared out (`COUNTERS`).
    """

    def __init__(
        self, state: DeviceMesh, space: Workspace, limits: Thresholds, size: Size | None, *, counts_shares: bool
    ) -> None:
        self._state, self._space, self._limits, self._size = state, space, limits, size
        self._counts_shares = counts_shares
        self.device = state.device
        self.counters = self.device.zeros(len(COUNTERS), np.int64)

    @property
    def by_itself(self) -> bool:
        """Whether a triangle is all that its check needs: no sizes of listed ones, no books on who checks what."""
        return self._size is None and not self._counts_shares

    def with_limits(self, limits: Thresholds, *, sized: bool = True) -> QualityCheck:
        """The same check against other thresholds, and of sizes only if `sized`; it counts on in the same counters."""
        other = copy(self)
        other._limits = limits
        other._size = self._size if sized else None
        return other

    def arguments(self, slots: DeviceArray, count: Number, *, fresh: bool = True) -> tuple[Argument, ...]:
        """What every kernel of the check takes about the `count` triangles of a list; shares of `fresh` ones count."""
        counters = self.counters if fresh and self._counts_shares else None
        return self._state.view, self._limits.view, slots, self._sizes(slots, count), counters

    def check_all(self, everything: DeviceArray, count: int) -> None:
        """The first check: all triangles of the mesh, and all subsegments with it."""
        self.device.launch("check_listed", count, *self.arguments(everything, count, fresh=False))

    def counted(self) -> dict[str, int]:
        """The counters by name; those of shares only where they were asked for."""
        numbers = dict(zip(COUNTERS, (int(n) for n in self.counters.download()), strict=True))
        return {name: numbers[name] for name in (COUNTERS if self._counts_shares else COUNTERS[:2])}

    def _sizes(self, slots: DeviceArray, count: Number) -> DeviceArray | None:
        """The longest edge wanted in each listed triangle: the user's function, asked once for all of them."""
        if self._size is None:
            return None
        assert isinstance(count, int)  # the host asks the function: it drives the rounds then
        centroids = self._space.array("centroids", count, POINT)
        self.device.launch("centroids", count, slots, self._state.triangles, self._state.points, centroids)
        places = centroids[:count].download().view(np.float64).reshape(-1, 2)
        with self.device.set_aside():
            sizes = evaluate(self._size, places)
        return self.device.array(sizes)
