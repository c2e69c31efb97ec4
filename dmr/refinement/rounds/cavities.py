"""The cavities of one pass: grown from candidates, and retriangulated if they win."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from dmr.common.cached import cached_property
from dmr.memory import DeviceArray, Number, Packed, bound_of, pack, scan, total
from dmr.refinement.setup.thresholds import Thresholds
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.progress import RoundInput
from dmr.refinement.state.records import BOUNDARY_EDGE, EXTENT, POINT
from dmr.refinement.state.workspace import Workspace

NEEDS = 4  # numbers per piece, of cuda_src/refine/retriangulation/needs.cuh
# Cavity boundary entries of an ordinary record: 21 triangles; on random points not one cavity in a million needs
# more. Another number gives other meshes: a cavity that needs more waits, and a place in a petal that would need more
# is not taken.
RECORD_CAPACITY = 24


class Outcome(IntEnum):
    """The outcome of a cavity (`Outcome` of cuda_src/refine/cavity/cavity.cuh)."""

    INSERTED = 0
    LOST = 1
    YIELDED = 2
    ENCROACHED = 3
    PRECISION = 4
    OVERFLOWED = 5
    BUDGET = 6
    OWNER = 7
    UNDECIDED = 8
    DAMAGED = 9
    DEAD = 10
    BLOCKED = 11
    DEFERRED = 12


TALLIED = len(Outcome) + 1  # numbers counted by `close`: outcomes, and off-centers


@dataclass(frozen=True)
class Cavities:
    """The cavities of a pass: record i belongs to candidate i; the first `segments` candidates are subsegments.

    Attributes:
        records: the number of records; `count` of them are used.
        roots: the subsegment or triangle that each was grown around.
        members, rims, extents: the cavities and their boundaries (`cuda_src/refine/cavity/cavity.cuh`), `room` entries
        per record.
        steiner, off_center, parameters: the points, whether each is an off-center, and its parameter on its segment.
        outcomes: the outcome of each; keys: their priorities; won: 1 if the point is inserted.
        apexes: the vertices that winners insert; extra_places, fresh_places: where the slots and the new triangles of
            each winner begin; shared: edges that it shares with other winners.
        needs: what winners need, by piece of the candidates.
    """

    count: Number
    segments: Number
    records: int
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
    extra_places: DeviceArray
    fresh_places: DeviceArray
    shared: DeviceArray
    needs: DeviceArray

    @cached_property
    def view(self) -> Packed:
        """The kernel argument."""
        names = (
            "roots", "capacity", "members", "boundaries", "extents", "steiner", "off_center", "parameters", "outcomes",
            "keys", "won", "apexes", "extra_places", "fresh_places", "shared",
        )  # fmt: skip
        return pack("Cavities", records=self.records, **{name: getattr(self, name) for name in names})

    def counted(self, count: Number, segments: Number) -> Cavities:
        """Returns the first `count` of them, of which the first `segments` belong to subsegments."""
        these = replace(self, count=count, segments=segments)
        these.__dict__["view"] = self.view  # the same records
        return these

    @property
    def pieces(self) -> int:
        """Number of teams for a kernel that processes them by pieces."""
        return self.roots.device.pieces(self.count)


def prepare(space: Workspace, roots: DeviceArray, count: Number, segments: Number, capacity: int) -> Cavities:
    """Allocates records for `count` candidates, not yet filled."""
    records = bound_of(count)
    return Cavities(
        count=count,
        segments=segments,
        records=records,
        capacity=capacity,
        roots=roots,
        members=space.array("members", records * capacity, np.int32),
        boundaries=space.array("boundaries", records * capacity, BOUNDARY_EDGE),
        extents=space.array("extents", records, EXTENT),
        steiner=space.array("steiner", records, POINT),
        off_center=space.array("off_center", records, np.uint8),
        parameters=space.array("parameters", bound_of(segments), np.float64),
        outcomes=space.array("outcomes", records, np.int32),
        keys=space.array("keys", records, np.uint64),
        won=space.array("won", records, np.int32),
        apexes=space.array("apexes", records, np.int32),
        extra_places=space.array("extra_places", records, np.int32),
        fresh_places=space.array("fresh_places", records + 1, np.int32),
        shared=space.array("shared", records, np.uint32),
        needs=space.array("needs", space.device.most_pieces * NEEDS, np.int32),
    )


def grow(
    state: DeviceMesh, cavities: Cavities, limits: Thresholds, *, only_damaged: bool = False, epoch: Number = 0
) -> None:
    """Places the Steiner points and grows the cavities; requests splits of the segments that points encroach on.

    With `only_damaged`, regrows only the cavities that another one's insertion changed. With the `epoch`
    of the step each cavity claims its triangles in that step, as the deterministic marking requires.
    """
    shared = (state.view, limits.view, cavities.view, cavities.segments, only_damaged, epoch)
    for kernel in ("grow_cavities", "grow_exactly"):
        state.device.launch(kernel, cavities.count, *shared)


def count_needs(cavities: Cavities) -> None:
    """Sums what the winners of a step need, by piece."""
    device, count = cavities.needs.device, cavities.count
    device.launch("count_needs", cavities.pieces, cavities.view, count, cavities.segments, cavities.needs)


@dataclass(frozen=True)
class Needs:
    """Totals that the winners of a step need: vertices, slots beyond their own, new triangles, subsegments."""

    vertices: Number
    slots: Number
    fresh: Number
    segments: Number


def retriangulate(
    state: DeviceMesh, space: Workspace, cavities: Cavities, needs: Needs, sizes: RoundInput, epoch: Number,
    fresh: DeviceArray, limits: Thresholds, *, check: bool,
) -> None:  # fmt: skip
    """Inserts the winners' points, if they fit in a mesh whose current sizes are `sizes`.

    `fresh` receives the slots of the new triangles, winner by winner. With `check` they are checked as well (on a CPU).
    """
    device, pieces = state.device, cavities.pieces
    shared = (state.view, cavities.view, cavities.count, cavities.segments)
    places = (cavities.needs, sizes.vertices, sizes.slots, sizes.subsegments)
    if state.carries:
        device.launch("inherit", pieces, *shared, *places, inheritance(state, space, bound_of(needs.fresh)))
    device.launch("retriangulate", pieces, *shared, epoch, *places, limits.view, check, fresh)
    device.launch("link_winners", cavities.count, state.view, cavities.view, epoch)


def inheritance(state: DeviceMesh, space: Workspace, count: int) -> DeviceArray | None:
    """Scratch for the ancestors of `count` new triangles, if triangles have ancestors."""
    return None if state.ancestor is None else space.array("inherited", count, np.int32)


def close(state: DeviceMesh, cavities: Cavities, counts: DeviceArray) -> None:
    """Records the losers, gives up what cannot be resolved, and sets aside cavities that need a large record.

    Adds the outcomes to `counts`: (TALLIED,) int64, whose last entry counts the off-centers inserted.
    """
    shared = (state.view, cavities.view, cavities.count, cavities.segments)
    state.device.launch("close_cavities", cavities.pieces, *shared, counts)


@dataclass(frozen=True)
class Tally:
    """Number of cavities by outcome, and number of off-centers inserted."""

    outcomes: dict[Outcome, int]
    off_centers: int

    @classmethod
    def of(cls, numbers: NDArray[np.int64]) -> Tally:
        """Converts the array that `close` fills."""
        return cls({outcome: int(numbers[outcome]) for outcome in Outcome}, int(numbers[-1]))


def undecided(space: Workspace, cavities: Cavities) -> int:
    """Returns how many cavities still wait to be marked; waits for the device."""
    flags = space.array("undecided", bound_of(cavities.count), np.int32)
    flags.device.launch("flag_undecided", cavities.count, cavities.outcomes, flags)
    return total(scan(flags, cavities.count), bound_of(cavities.count))
