"""The cavities of a pass: their records, their growth, and what becomes of them (thesis, 5.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dmr.common.cached import cached_property
from dmr.memory import DeviceArray, Number, Packed, bound_of, constant, pack, scan, total
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.records import BOUNDARY_EDGE, EXTENT, POINT
from dmr.refinement.state.workspace import Workspace
from dmr.refinement.steps.selection import Candidates
from dmr.refinement.steps.thresholds import Thresholds

NEEDS = constant("NEEDS")  # numbers per piece
# Cavity boundary entries of an ordinary record: 21 triangles; on random points not one cavity in a million needs
# more. Another number gives other meshes: a cavity that needs more waits, and a place in a petal that would need more
# is not taken.
RECORD_CAPACITY = 24


@dataclass(frozen=True)
class CavityRecords:
    """Arrays for the cavities of a pass: record i belongs to candidate i.

    Attributes:
        size: number of records; capacity: boundary entries of each.
        roots: the subsegment or triangle that each cavity is grown around.
        members, boundaries, extents: the cavities and their boundaries (`cuda_src/refine/cavity/cavity.cuh`),
            `capacity` entries per record.
        steiner, off_center, parameters: the points, whether each is an off-center, and its parameter on its segment.
        outcomes: the outcome of each; keys: their priorities; won: 1 if the point is inserted.
        apexes: the vertices that winners insert; fresh_places: where the new triangles of each winner begin; shared:
            edges that it shares with other winners.
        needs: what winners need, by piece of the candidates.
    """

    size: int
    capacity: int
    roots: DeviceArray
    members: DeviceArray
    boundaries: DeviceArray
    extents: DeviceArray
    steiner: DeviceArray
    off_center: DeviceArray
    parameters: DeviceArray
    outcomes: DeviceArray
    keys: DeviceArray
    won: DeviceArray
    apexes: DeviceArray
    fresh_places: DeviceArray
    shared: DeviceArray
    needs: DeviceArray

    @cached_property
    def view(self) -> Packed:
        """The kernel argument (`Cavities` of cuda_src/refine/cavity/cavity.cuh)."""
        names = (
            "roots", "capacity", "members", "boundaries", "extents", "steiner", "off_center", "parameters", "outcomes",
            "keys", "won", "apexes", "fresh_places", "shared",
        )  # fmt: skip
        return pack("Cavities", records=self.size, **{name: getattr(self, name) for name in names})


@dataclass(frozen=True)
class Cavities:
    """The cavities of a pass.

    Attributes:
        records: their arrays, of which the first `count` records are used.
        count: number of cavities; the first `segments` of them are grown around subsegments.
        epoch: in which they have claimed their triangles; 0 if they have not.
    """

    records: CavityRecords
    count: Number
    segments: Number
    epoch: Number = 0

    @property
    def view(self) -> Packed:
        """The kernel argument."""
        return self.records.view

    @property
    def pieces(self) -> int:
        """Number of teams for a kernel that processes them by pieces."""
        return self.records.roots.device.pieces(self.count)


@dataclass(frozen=True)
class Winners:
    """Cavities of which some are to be retriangulated: `won` marks those that own their triangles in `epoch`."""

    cavities: Cavities
    epoch: Number


def prepare(space: Workspace, candidates: Candidates) -> Cavities:
    """Allocates a record for each candidate, not yet filled."""
    size, capacity = bound_of(candidates.count), candidates.record_capacity
    records = CavityRecords(
        size=size,
        capacity=capacity,
        roots=candidates.roots,
        members=space.array("members", size * capacity, np.int32),
        boundaries=space.array("boundaries", size * capacity, BOUNDARY_EDGE),
        extents=space.array("extents", size, EXTENT),
        steiner=space.array("steiner", size, POINT),
        off_center=space.array("off_center", size, np.uint8),
        parameters=space.array("parameters", bound_of(candidates.segments), np.float64),
        outcomes=space.array("outcomes", size, np.int32),
        keys=space.array("keys", size, np.uint64),
        won=space.array("won", size, np.int32),
        apexes=space.array("apexes", size, np.int32),
        fresh_places=space.array("fresh_places", size + 1, np.int32),
        shared=space.array("shared", size, np.uint32),
        needs=space.array("needs", space.device.most_pieces * NEEDS, np.int32),
    )
    return Cavities(records, candidates.count, candidates.segments)


def grow(state: DeviceMesh, cavities: Cavities, limits: Thresholds, *, only_damaged: bool = False) -> None:
    """Places the Steiner points and grows the cavities; requests splits of the segments that points encroach on.

    If the cavities have an epoch, each claims its triangles in it, as the deterministic marking requires. With
    `only_damaged`, regrows only the cavities that another one's insertion changed.
    """
    arguments = (state.view, limits.view, cavities.view, cavities.segments, only_damaged, cavities.epoch)
    for kernel in ("grow_cavities", "grow_exactly"):
        state.device.launch(kernel, cavities.count, *arguments)


def resolve_conflicts(state: DeviceMesh, cavities: Cavities) -> None:
    """Chooses the winners among the owners, and sums what they need, by piece."""
    needs, count, segments = cavities.records.needs, cavities.count, cavities.segments
    arguments = (state.view, cavities.view, count, segments, cavities.epoch, needs)
    state.device.launch("resolve_conflicts", cavities.pieces, *arguments)


def count_needs(cavities: Cavities) -> None:
    """Sums what the winners of a step need, by piece."""
    needs, count = cavities.records.needs, cavities.count
    needs.device.launch("count_needs", cavities.pieces, cavities.view, count, cavities.segments, needs)


def close(state: DeviceMesh, cavities: Cavities, counts: DeviceArray) -> None:
    """Records the losers, gives up what cannot be resolved, and sets aside cavities that need a large record.

    Adds the outcomes to `counts`: (TALLIED,) int64, whose last entry counts the off-centers inserted.
    """
    arguments = (state.view, cavities.view, cavities.count, cavities.segments, counts)
    state.device.launch("close_cavities", cavities.pieces, *arguments)


def undecided(space: Workspace, cavities: Cavities) -> int:
    """Returns how many cavities still wait to be marked; waits for the device."""
    flags = space.array("undecided", bound_of(cavities.count), np.int32)
    flags.device.launch("flag_undecided", cavities.count, cavities.records.outcomes, flags)
    return total(scan(flags, cavities.count), bound_of(cavities.count))
