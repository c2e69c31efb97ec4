"""Smooths the points that the front has placed, in their triangulation (`cuda_src/placement`: `smoothing`, `lifting`).

Where two fronts meet, points are too near to each other or too far apart. A few rounds of Laplace's smoothing spread
this, and edges are flipped; then the vertices of the smallest angles are moved until these angles are larger, or no
move helps.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from dmr.memory import Device, DeviceArray, Enumeration, pack, record
from dmr.refinement.placement.reporting import AVERAGED, Report, part_of
from dmr.refinement.setup.flips import flip_flagged, make_delaunay
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.records import POINT
from dmr.refinement.steps.thresholds import cosine_and_sine
from dmr.triangulation.rounds.epochs import Epochs

EVEN_ROUNDS, ROUNDS = 6, 10  # of Laplace's smoothing: where one size is wanted, or sizes vary
LIFTED_ANGLE, EVENLY_LIFTED_ANGLE = 42.0, 44.0  # degrees; smaller angles are lifted: where sizes vary, or one is wanted
LIFTS, SWEEPS = 12, 8  # times that the mesh is made Delaunay again, and moves before each
FEW_STARS = 256  # one team moves these vertices faster than ten launches


class LiftEntry(Enumeration, enum="LiftEntry"):
    """Entries of the outcome of `lift_few_stars`."""


def smooth(state: DeviceMesh, epochs: Epochs, *, even: bool = False, report: Report | None = None) -> None:
    """Moves the free vertices; the mesh is constrained Delaunay afterwards.

    Args:
        state: the mesh; epochs: its epochs.
        even: whether one size is wanted: then most points are those of a lattice, which are where they should be.
        report: called several times with the part of the work that is done, up to 1.
    """
    incident = _incident(state)
    _Averaging(state, incident).run(EVEN_ROUNDS if even else ROUNDS)
    if report is not None:
        report(AVERAGED)
    if make_delaunay(state, epochs):
        incident = _incident(state)
    lifted = EVENLY_LIFTED_ANGLE if even else LIFTED_ANGLE
    _lift(state, epochs, incident, lifted, part_of(report, AVERAGED, 1.0))
    if report is not None:
        report(1.0)


def _incident(state: DeviceMesh) -> DeviceArray:
    incident = state.device.empty(state.vertices, np.int32)
    incident.fill(255)
    state.device.launch("find_incident", state.slots, state.triangles, incident)
    return incident


class _Averaging:
    """Rounds of Laplace's smoothing, with their arrays."""

    def __init__(self, state: DeviceMesh, incident: DeviceArray) -> None:
        device, count = state.device, state.vertices
        self._state, self._incident = state, incident
        self._targets = [device.empty(count, POINT) for _ in range(2)]
        self._neighbours = device.empty(count, record("Neighbours"))
        self._stays, self._found = device.zeros(count, np.int32), device.zeros(1, np.int32)
        device.launch(
            "gather_neighbours", count, state.triangles, state.points, state.vertex_origin, incident, self._neighbours
        )

    def run(self, rounds: int) -> None:
        """Moves free vertices past the means of their neighbours, several times; no triangle is reversed at the end.

        Only the places at the end are checked. If a triangle is reversed there, which is rare, the rounds start again,
        and each takes back the moves that reverse triangles.
        """
        places = self._state.points
        for turn in range(rounds):
            places = self._averaged(places, self._targets[turn % 2])
        if self._is_reversed(places):
            self._found.fill(0)
            self._stays.fill(0)
            places = self._state.points
            for turn in range(rounds):
                before, places = places, self._averaged(places, self._targets[turn % 2])
                self._take_back(before, places)
        self._state.points.copy_from(places)

    def _averaged(self, places: DeviceArray, targets: DeviceArray) -> DeviceArray:
        """Sets targets to the places of the vertices after a round, and returns them."""
        state = self._state
        state.device.launch(
            "average_neighbours", state.vertices, self._neighbours, state.triangles, places, self._incident, targets
        )
        return targets

    def _is_reversed(self, places: DeviceArray) -> bool:
        """Whether places reverse a triangle; `_stays` is then 1 at the corners of such triangles."""
        state = self._state
        state.device.launch("find_reversed", state.slots, state.triangles, places, self._stays, self._found)
        return bool(self._found.download()[0])

    def _take_back(self, before: DeviceArray, places: DeviceArray) -> None:
        """Takes moves back until no triangle is reversed: without any move, none is."""
        taken_back = False
        while self._is_reversed(places):
            taken_back = True
            self._state.device.launch("take_moves_back", self._state.vertices, before, self._stays, places)
            self._found.fill(0)
        if taken_back:
            self._stays.fill(0)


class _Listing:
    """A set of elements of a mesh, in any order, that kernels add to.

    Attributes:
        marks: (n,) 1 for its elements, otherwise 0; listed: (n,) its elements first; count: (1,) how many.
        view: the kernel argument.
    """

    def __init__(self, device: Device, size: int) -> None:
        self.marks, self.listed = device.zeros(size, np.int32), device.empty(size, np.int32)
        self.count = device.zeros(1, np.int32)
        self.view = pack("Listing", marks=self.marks, listed=self.listed, count=self.count)

    def take(self) -> int:
        """Returns how many elements there are; kernels then list others, once the marks of these are removed."""
        found = int(self.count.download()[0])
        self.count.fill(0)
        return found


@cache
def _squared_cosine(degrees: float) -> float:
    return float(cosine_and_sine(degrees)[0] ** 2)


def _lift(state: DeviceMesh, epochs: Epochs, incident: DeviceArray, lifted: float, report: Report | None) -> None:
    """Moves free vertices of angles below the limit, and flips edges, until no move helps or all turns are over.

    All steps but the first take time in proportion to the listed elements only.
    """
    device, limit = state.device, _squared_cosine(lifted)
    sharp, around = _Listing(device, state.vertices), _Listing(device, state.slots)
    device.launch(
        "list_sharp_corners", state.slots, state.triangles, state.points, state.vertex_origin, limit, sharp.view
    )
    found = sharp.take()
    if not found:
        return
    worst = device.zeros(state.vertices, np.float64)
    moved, settled = (device.zeros(state.vertices, np.int32) for _ in range(2))
    outcome = device.empty(LiftEntry.LIFT_ENTRIES, np.int32)
    few = FEW_STARS if device.threads != 1 else state.vertices  # one thread gains nothing by more launches
    turn = 0
    while turn < LIFTS and found:
        stars = pack(
            "Stars", triangles=state.triangles, incident=incident, points=state.points, worst=worst, moved=moved,
            settled=settled, limit=limit,
        )  # fmt: skip
        if found <= few:
            turns = LIFTS - turn if report is None else 1
            device.launch(
                "lift_few_stars", 1, sharp.view, stars, state.vertex_origin, SWEEPS, turns, found, few, around.view,
                outcome,
            )  # fmt: skip
            done, near, fails, found = outcome.download().tolist()
        else:
            device.launch("rate_stars", found, sharp.view, stars)
            for sweep in range(SWEEPS):
                device.launch("lift_stars", found, sharp.view, stars, sweep)
            device.launch("finish_stars", found, sharp.view, stars, around.view)
            # Only triangles around the vertices that have moved need flips, and have new angles.
            done, near, fails = 1, around.take(), True
        turn += done
        if fails and near:
            flipped = flip_flagged(state, epochs, around.marks, (around.listed, near))
            if flipped:
                incident = _incident(state)
                settled.fill(0)  # vertices have other neighbours
            device.launch(
                "list_sharp_corners_around", near, around.view, state.triangles, state.points, state.vertex_origin,
                limit, sharp.view,
            )  # fmt: skip
            if flipped:
                around.marks.fill(0)  # flips mark others
        if fails:
            found = sharp.take()
        if report is not None:
            report(turn / LIFTS)
