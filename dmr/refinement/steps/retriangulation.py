"""Retriangulation: inserts the winners' points into the mesh (thesis, 5.4, `retriangulation_kernel`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dmr.memory import DeviceArray, Number, bound_of
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.progress import Capacity, RoundInput, RoundProgress
from dmr.refinement.state.workspace import Workspace
from dmr.refinement.steps.cavities import Cavities, Winners
from dmr.refinement.steps.thresholds import Thresholds


@dataclass(frozen=True)
class Needs:
    """Totals that winners need: vertices, slots beyond their own, new triangles, subsegments."""

    vertices: Number
    slots: Number
    fresh: Number
    segments: Number


@dataclass(frozen=True)
class Insertion:
    """The insertion of winners' points.

    Attributes:
        winners: the cavities; needs: what their winners need in addition to the sizes of the mesh `before`.
        slots: receives the slots of the new triangles, winner by winner.
    """

    winners: Winners
    needs: Needs
    before: RoundInput
    slots: DeviceArray


@dataclass(frozen=True)
class FreshTriangles:
    """New triangles: the first `count` entries of `slots`, winner by winner of the `cavities`."""

    slots: DeviceArray
    count: Number
    cavities: Cavities


def sum_needs(cavities: Cavities, capacity: Capacity, progress: RoundProgress) -> None:
    """Sums the winners' needs over the pieces into `progress`, which also says whether they fit the capacity."""
    needs = cavities.records.needs
    needs.device.launch("fit_winners", 1, needs, cavities.count, capacity.view, progress.array)


def retriangulate(
    state: DeviceMesh, space: Workspace, insertion: Insertion, limits: Thresholds, *, check: bool
) -> FreshTriangles:
    """Inserts the winners' points into a mesh whose arrays hold what they need.

    With `check`, the new triangles are checked as well (on a CPU).
    """
    device, cavities, needs = state.device, insertion.winners.cavities, insertion.needs
    epoch, before = insertion.winners.epoch, insertion.before
    arguments = (state.view, cavities.view, cavities.count, cavities.segments)
    places = (cavities.records.needs, before.vertices, before.slots, before.subsegments)
    if state.carries:
        ancestors = inheritance(state, space, bound_of(needs.fresh))
        device.launch("inherit", cavities.pieces, *arguments, *places, ancestors)
    device.launch("retriangulate", cavities.pieces, *arguments, epoch, *places, limits.view, check, insertion.slots)
    device.launch("link_winners", cavities.count, state.view, cavities.view, epoch)
    return FreshTriangles(insertion.slots, needs.fresh, cavities)


def inheritance(state: DeviceMesh, space: Workspace, count: int) -> DeviceArray | None:
    """Returns scratch for the ancestors of `count` new triangles, if triangles have ancestors."""
    return None if state.ancestor is None else space.array("inherited", count, np.int32)
