"""Moves of vertices to better places: one sweep over the mesh, in independent sets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dmr.memory import DeviceArray, Packed, constant, pack, scan, total
from dmr.refinement.optimization.snapshot import Snapshot
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.steps.local_bounds import LocalBounds
from dmr.refinement.steps.thresholds import Thresholds

COLOURS = constant("COLOURS")
FIRST_REPAIRS, REPAIRS = 4, 1  # repairs of the colours before the first sweep, and before each further one

# Where the search looks in the first round, in distances to the neighbours; each round looks nearer.
REACH = 0.2
NEARER = 0.7


class Mover:
    """Moves the vertices of a mesh.

    Attributes:
        mobility: (vertices,) uint8, the `Mobility` of each vertex; moved: (vertices,) int32, 1 if it has moved in the
            last sweep.
    """

    def __init__(self, state: DeviceMesh, limits: Thresholds, keeps_input: bool) -> None:
        """Finds the vertices that may move.

        Args:
            state: the mesh.
            limits: the bounds that moves respect.
            keeps_input: whether all input vertices are fixed; otherwise those on segments are.
        """
        self._state, self._limits = state, limits
        device, count = state.device, state.vertices
        self.mobility = device.empty(count, np.uint8)
        self.moved = device.zeros(count, np.int32)
        self._colours, self._repaired = device.empty(count, np.uint8), device.empty(count, np.uint8)
        self._incident, self._degrees = device.empty(count, np.int32), device.empty(count, np.int32)
        device.launch("choose_colours", count, self._colours)
        device.launch("find_mobility", count, state.view, int(keeps_input), self.mobility)
        device.launch("fix_segment_ends", state.subsegments_count, state.view, self.mobility)

    def fix_corners(self, listed: DeviceArray, count: int) -> None:
        """Fixes the corners of listed triangles from now on."""
        self._state.device.launch("fix_corners", count, self._state.triangles, listed, self.mobility)

    def sweep(
        self, number: int, steepest: float, local: LocalBounds[DeviceArray], report: Callable[[float], None]
    ) -> None:
        """Moves each movable vertex once, if that makes its star better.

        Args:
            number: of the round, from 0.
            steepest: the largest cotangent that an angle may have afterwards.
            local: by triangle, the bounds that depend on the place.
            report: called with the part of the moves that is done.
        """
        state, device = self._state, self._state.device
        self._incident.fill(255)
        self._degrees.fill(0)
        self.moved.fill(0)
        arguments = self._arguments(steepest, REACH * NEARER**number, local)
        device.launch("find_stars", state.slots, state.triangles, arguments)
        for _ in range(REPAIRS if number else FIRST_REPAIRS):
            device.launch("repair_colours", state.vertices, state.view, arguments, self._repaired)
            self._colours, self._repaired = self._repaired, self._colours
            arguments = self._arguments(steepest, REACH * NEARER**number, local)
        for colour in range(COLOURS):
            device.launch("move_vertices", state.vertices, state.view, self._limits.view, arguments, colour)
            report((colour + 1) / COLOURS)

    def count_moved(self) -> int:
        """Returns the number of vertices that have moved in the last sweep."""
        return total(scan(self.moved), self.moved.size)

    def take_back(self, before: Snapshot) -> None:
        """Takes the moves of vertices back that have been fixed since."""
        state = self._state
        arguments = self._arguments(0.0, 0.0, LocalBounds())
        places = (before.of("points"), before.of("vertex_parameter"), before.of("attributes"))
        state.device.launch("take_back", state.vertices, state.view, arguments, *places)

    def _arguments(self, steepest: float, reach: float, local: LocalBounds[DeviceArray]) -> Packed:
        return pack(
            "Smoothing",
            mobility=self.mobility,
            colours=self._colours,
            moved=self.moved,
            incident=self._incident,
            degrees=self._degrees,
            sizes=local.max_edge,
            area_roots=local.area_root,
            steepest=steepest,
            reach=reach,
        )
