"""Moves of vertices to better places: one sweep over the mesh, in independent sets."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray, pack, scan, total
from dmr.refinement.setup.thresholds import Thresholds
from dmr.refinement.state.device_mesh import DeviceMesh

# Independent sets per round. The few vertices that remain wait for the next round, which orders them otherwise.
SETS = 16

# Where the search looks in the first round, in distances to the neighbours; each round looks nearer.
REACH = 0.2
NEARER = 0.7


class Mover:
    """Moves the vertices of a mesh.

    Attributes:
        mobility: (vertices,) uint8, the `Mobility` of each vertex; moved: (vertices,) int32, 1 if it has moved in the
            last sweep.
    """

    def __init__(self, state: DeviceMesh, limits: Thresholds, first: int) -> None:
        """Finds the vertices that may move.

        Args:
            state: the mesh.
            limits: the bounds that moves respect.
            first: the number of vertices that are fixed, before all others.
        """
        self._state, self._limits = state, limits
        device, count = state.device, state.vertices
        self.mobility = device.empty(count, np.uint8)
        self.moved = device.zeros(count, np.int32)
        self._stages = device.empty(count, np.uint8)
        self._incident = device.empty(count, np.int32)
        self._degrees = device.empty(count, np.int32)
        device.launch("find_mobility", count, state.view, first, self.mobility)
        device.launch("fix_segment_ends", state.subsegments_count, state.view, self.mobility)

    def fix_corners(self, listed: DeviceArray, count: int) -> None:
        """Fixes the corners of listed triangles from now on."""
        self._state.device.launch("fix_corners", count, self._state.triangles, listed, self.mobility)

    def sweep(self, number: int, steepest: float, sizes: DeviceArray | None) -> int:
        """Moves each movable vertex once, if that makes its star better.

        Args:
            number: of the round, from 0.
            steepest: the largest cotangent that an angle may have afterwards.
            sizes: by triangle, the longest edge allowed; None if there is no such bound.

        Returns:
            The number of vertices that have moved.
        """
        state, device = self._state, self._state.device
        self._incident.fill(255)
        self._degrees.fill(0)
        smoothing = pack(
            "Smoothing",
            mobility=self.mobility,
            stages=self._stages,
            moved=self.moved,
            incident=self._incident,
            degrees=self._degrees,
            sizes=sizes,
            steepest=steepest,
            reach=REACH * NEARER**number,
            round=number,
        )
        device.launch("find_stars", state.slots, state.triangles, smoothing)
        device.launch("begin_moves", state.vertices, smoothing)
        for _ in range(SETS):
            device.launch("choose_movers", state.vertices, state.view, smoothing)
            device.launch("move_chosen", state.vertices, state.view, self._limits.view, smoothing)
        return total(scan(self.moved), state.vertices)
