"""The quality check of listed triangles: kernel arguments and counters."""

from __future__ import annotations

from copy import copy

import numpy as np

from dmr.memory import Argument, DeviceArray, Enumeration, Number, bound_of
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.records import POINT
from dmr.refinement.state.workspace import Workspace
from dmr.refinement.steps.known_sizes import KnownSizes
from dmr.refinement.steps.local_bounds import LocalBounds
from dmr.refinement.steps.thresholds import Thresholds
from dmr.sizing.source import DeviceSizes


class ShareCounter(Enumeration):
    """Counters of how new triangles were distributed."""


COUNTERS = tuple(counter.name.lower() for counter in ShareCounter)


class QualityCheck:
    """Checks triangles against the bounds of a run.

    Attributes:
        device: where they are; counters: (5,) int64 there: how new triangles were distributed (`COUNTERS`).
        known: the exact bounds of triangles, if functions give them.
    """

    def __init__(
        self,
        state: DeviceMesh,
        space: Workspace,
        limits: Thresholds,
        local: LocalBounds[DeviceSizes],
        known: KnownSizes | None,
        *,
        counts_shares: bool,
    ) -> None:
        """Prepares the check.

        Args:
            state, space, limits: the mesh, scratch arrays, and the bounds that are the same everywhere.
            local: the bounds by place, evaluated by kernels; known: what lowers them where it is known.
            counts_shares: whether to count how new triangles are distributed.
        """
        self._state, self._space, self._limits, self._local = state, space, limits, local
        self.known = known
        self._counts_shares = counts_shares
        self.device = state.device
        self.counters = self.device.zeros(len(COUNTERS), np.int64)

    @property
    def by_itself(self) -> bool:
        """Whether each triangle can be checked alone: no bounds to evaluate, and no counts of shares."""
        return not self.evaluates_bounds and not self._counts_shares

    @property
    def evaluates_bounds(self) -> bool:
        """Whether bounds by place are evaluated for a list of triangles before they are checked."""
        return bool(self._local)

    def with_limits(self, limits: Thresholds, *, sized: bool = True) -> QualityCheck:
        """Returns the same check with other thresholds, and bounds by place only if `sized`; counters are shared."""
        other = copy(self)
        other._limits = limits
        other._local = self._local if sized else LocalBounds()
        return other

    def check(self, slots: DeviceArray, count: int) -> None:
        """Checks the `count` triangles of a list."""
        self.device.launch("check_listed", count, *self.arguments(slots, count, fresh=False))

    def check_moved(self, slots: DeviceArray, count: int) -> None:
        """Checks listed triangles whose corners may have moved: bounds are evaluated at their new centroids."""
        if self.known is not None:
            self.known.forget(slots, count)
            self.known.evaluate()
        self.check(slots, count)

    def arguments(self, slots: DeviceArray, count: Number, *, fresh: bool = True) -> tuple[Argument, ...]:
        """Returns the kernel arguments for the `count` triangles of a list; `fresh` ones may count as shares."""
        counters = self.counters if fresh and self._counts_shares else None
        local = self.local_bounds(slots, count)
        return self._state.view, self._limits.view, slots, local.max_edge, local.area_root, counters

    def counted(self) -> dict[str, int]:
        """Returns the counters by name; those of shares only if they were requested."""
        numbers = dict(zip(COUNTERS, (int(n) for n in self.counters.download()), strict=True))
        return {name: numbers[name] for name in (COUNTERS if self._counts_shares else COUNTERS[:2])}

    def local_bounds(self, slots: DeviceArray, count: Number) -> LocalBounds[DeviceArray]:
        """Returns the bounds by place of listed triangles, at their centroids."""
        if not self._local:
            return LocalBounds()
        bound = bound_of(count)
        centroids = self._space.array("centroids", bound, POINT)
        self.device.launch("centroids", count, slots, self._state.triangles, self._state.points, centroids)
        found: LocalBounds[DeviceArray] = LocalBounds(
            None if self._local.max_edge is None else self._space.array("sizes", bound, np.float64),
            None if self._local.area_root is None else self._space.array("area_roots", bound, np.float64),
        )
        for source, values in self._local.beside(found):
            source.evaluate(centroids, count, values)
        if self.known is not None:
            self.known.lower(slots, count, found)
        return found
