"""Exact bounds of triangles: those that functions of the user gave at their centroids.

Rounds compare triangles with samples taken ahead, which kernels interpolate. When nothing is left to do, a function is
called once for all triangles for which it has not yet been called. Its results hold for them from then on.
"""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray, Number, flagged_indices
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.records import POINT
from dmr.refinement.steps.local_bounds import LocalBounds
from dmr.sizing.source import SizeSource


class KnownSizes:
    """Bounds by slot. One holds as long as the slot has the triangle that it was evaluated for."""

    def __init__(self, state: DeviceMesh, sources: LocalBounds[SizeSource]) -> None:
        self._state, self._sources = state, sources.map(lambda source: source.on(state.device))
        self._count = 0  # slots for which the arrays below have entries
        self._corners = state.device.empty(0, np.int32)
        self._stored = sources.map(lambda source: state.device.empty(0, np.float64))

    def evaluate(self) -> tuple[DeviceArray, int]:
        """Evaluates the bounds of all triangles without one; returns their slots, and their number."""
        state, device = self._state, self._state.device
        flags = device.empty(state.slots, np.int32)
        device.launch("flag_unknown", state.slots, state.triangles, self._corners, self._count, flags)
        slots, count = flagged_indices(flags)
        if count:
            centroids, sizes = device.empty(count, POINT), device.empty(count, np.float64)
            device.launch("centroids", count, slots, state.triangles, state.points, centroids)
            self._corners = self._corners.grown(3 * state.slots)
            self._stored = self._stored.map(lambda array: array.grown(state.slots))
            self._count = state.slots
            for source, stored in self._sources.beside(self._stored):
                source.evaluate(centroids, count, sizes)
                device.launch("store_known", count, slots, state.triangles, sizes, self._corners, stored)
        return slots, count

    def forget(self, slots: DeviceArray, count: int) -> None:
        """Forgets the bounds of listed triangles, because they have changed."""
        self._state.device.launch("forget_known", count, slots, self._count, self._corners)

    def lower(self, slots: DeviceArray, count: Number, bounds: LocalBounds[DeviceArray]) -> None:
        """Lowers the bounds of listed triangles to the exact ones, as far as these are known."""
        state = self._state
        for stored, values in self._stored.beside(bounds):
            known = (self._corners, stored, self._count)
            state.device.launch("lower_to_known", count, slots, state.triangles, *known, values)
