"""Smooths the points that the front has placed, in the triangulation of them (`cuda_src/placement/smoothing`).

Where two fronts meet, points are too near to each other or too far apart. A few rounds of Laplace's smoothing, with
flips, spread this; then the vertices of the smallest angles are moved until these angles are larger, or no move helps.
"""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray, compact, flagged_indices
from dmr.refinement.placement.reporting import AVERAGED, Report, part_of
from dmr.refinement.setup.flips import flip_flagged, make_delaunay
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.records import POINT
from dmr.refinement.steps.thresholds import cosine_and_sine
from dmr.triangulation.rounds.epochs import Epochs

EVEN_ROUNDS, ROUNDS = (6,), (6, 6)  # of Laplace's smoothing, before each time that edges are flipped
LIFTED_ANGLE = 42.0  # degrees; smaller angles are lifted
LIFTS, SWEEPS = 12, 8  # times that the mesh is made Delaunay again, and moves before each


def smooth(state: DeviceMesh, epochs: Epochs, *, even: bool = False, report: Report | None = None) -> None:
    """Moves the free vertices; the mesh is constrained Delaunay afterwards.

    Args:
        state: the mesh; epochs: its epochs.
        even: whether one size is wanted: then most points are those of a lattice, which are where they should be.
        report: called several times with the part of the work that is done, up to 1.
    """
    incident, done = _incident(state), 0
    averaging = _Averaging(state)
    batches = EVEN_ROUNDS if even else ROUNDS
    for rounds in batches:
        for _ in range(rounds):
            averaging.run(incident)
            done += 1
            if report is not None:
                report(AVERAGED * done / sum(batches))
        if make_delaunay(state, epochs):
            incident = _incident(state)
    _lift(state, epochs, incident, part_of(report, AVERAGED, 1.0))
    if report is not None:
        report(1.0)


def _incident(state: DeviceMesh) -> DeviceArray:
    incident = state.device.empty(state.vertices, np.int32)
    incident.fill(255)
    state.device.launch("find_incident", state.slots, state.triangles, incident)
    return incident


class _Averaging:
    """Rounds of Laplace's smoothing, with their arrays."""

    def __init__(self, state: DeviceMesh) -> None:
        device, count = state.device, state.vertices
        self._state, self._targets = state, device.empty(count, POINT)
        self._stays, self._found = device.zeros(count, np.int32), device.zeros(1, np.int32)

    def run(self, incident: DeviceArray) -> None:
        """Moves free vertices past the means of their neighbours, except where that would reverse a triangle."""
        state, device, count = self._state, self._state.device, self._state.vertices
        targets, stays, found = self._targets, self._stays, self._found
        device.launch(
            "average_neighbours", count, state.triangles, state.points, state.vertex_origin, incident, targets
        )
        taken_back = False
        while True:  # each turn takes moves back, and without any move no triangle is reversed
            device.launch("find_reversed", state.slots, state.triangles, targets, stays, found)
            if not found.download()[0]:
                break
            taken_back = True
            device.launch("take_moves_back", count, state.points, stays, targets)
            found.fill(0)
        if taken_back:
            stays.fill(0)
        state.points.copy_from(targets)


def _lift(state: DeviceMesh, epochs: Epochs, incident: DeviceArray, report: Report | None) -> None:
    """Moves free vertices of angles below the limit, and flips edges, until no move helps or all turns are over."""
    device, count, limit = state.device, state.vertices, float(cosine_and_sine(LIFTED_ANGLE)[0] ** 2)
    sharp = device.zeros(count, np.int32)
    device.launch("flag_sharp_corners", state.slots, state.triangles, state.points, state.vertex_origin, limit, sharp)
    for turn in range(LIFTS):
        listed, found = flagged_indices(sharp)
        if not found:
            return
        worst, moved = device.zeros(count, np.float64), device.zeros(found, np.int32)
        device.launch("rate_stars", found, listed, state.triangles, state.points, incident, limit, worst)
        for sweep in range(SWEEPS):
            device.launch(
                "lift_stars", found, listed, state.triangles, incident, worst, limit, sweep, state.points, moved
            )  # fmt: skip
        listed, found = compact(listed, moved, found)
        if not found:
            return
        # Only triangles around the vertices that have moved need flips, and have new angles.
        flags = device.zeros(state.slots, np.int32)
        device.launch("flag_around_vertices", found, listed, state.triangles, incident, flags)
        around, near = flagged_indices(flags)
        if flip_flagged(state, epochs, flags, (around, near)):
            incident = _incident(state)
        if report is not None:
            report((turn + 1) / LIFTS)
        if turn + 1 < LIFTS:
            sharp.fill(0)
            device.launch(
                "flag_listed_sharp_corners", near, around, state.triangles, state.points, state.vertex_origin, limit,
                sharp,
            )  # fmt: skip
