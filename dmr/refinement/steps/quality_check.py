"""The quality check of listed triangles: kernel arguments and counters."""

from __future__ import annotations

from copy import copy

import numpy as np

from dmr.memory import Argument, DeviceArray, Enumeration, Number
from dmr.refinement.setup.thresholds import Thresholds
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.records import POINT
from dmr.refinement.state.workspace import Workspace
from dmr.sizing.size_field import Size, evaluate


class ShareCounter(Enumeration):
    """Counters of how new triangles were distributed."""


COUNTERS = tuple(counter.name.lower() for counter in ShareCounter)


class QualityCheck:
    """Checks triangles against the bounds of a run.

    Attributes:
        device: where they are; counters: (5,) int64 there: how new triangles were distributed (`COUNTERS`).
    """

    def __init__(
        self, state: DeviceMesh, space: Workspace, limits: Thresholds, max_edge: Size | None, *, counts_shares: bool
    ) -> None:
        self._state, self._space, self._limits, self._max_edge = state, space, limits, max_edge
        self._counts_shares = counts_shares
        self.device = state.device
        self.counters = self.device.zeros(len(COUNTERS), np.int64)

    @property
    def by_itself(self) -> bool:
        """Whether each triangle can be checked alone: no bound on edges, and no counts of shares."""
        return self._max_edge is None and not self._counts_shares

    def with_limits(self, limits: Thresholds, *, sized: bool = True) -> QualityCheck:
        """Returns the same check with other thresholds, and with sizes only if `sized`; the counters are shared."""
        other = copy(self)
        other._limits = limits
        other._max_edge = self._max_edge if sized else None
        return other

    def arguments(self, slots: DeviceArray, count: Number, *, fresh: bool = True) -> tuple[Argument, ...]:
        """Returns the kernel arguments for the `count` triangles of a list; `fresh` ones may count as shares."""
        counters = self.counters if fresh and self._counts_shares else None
        return self._state.view, self._limits.view, slots, self.sizes(slots, count), counters

    def check_all(self, everything: DeviceArray, count: int) -> None:
        """Runs the first check: all triangles of the mesh, and with them all subsegments."""
        self.device.launch("check_listed", count, *self.arguments(everything, count, fresh=False))

    def counted(self) -> dict[str, int]:
        """Returns the counters by name; those of shares only if they were requested."""
        numbers = dict(zip(COUNTERS, (int(n) for n in self.counters.download()), strict=True))
        return {name: numbers[name] for name in (COUNTERS if self._counts_shares else COUNTERS[:2])}

    def sizes(self, slots: DeviceArray, count: Number) -> DeviceArray | None:
        """Returns the bound on the longest edge of each listed triangle; calls the user's function once for all."""
        if self._max_edge is None:
            return None
        assert isinstance(count, int)  # the host calls the function, so it drives the rounds
        centroids = self._space.array("centroids", count, POINT)
        self.device.launch("centroids", count, slots, self._state.triangles, self._state.points, centroids)
        places = centroids[:count].download().view(np.float64).reshape(-1, 2)
        with self.device.set_aside():
            sizes = evaluate(self._max_edge, places, "max_edge")
        return self.device.array(sizes)
