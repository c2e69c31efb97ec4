"""The cavities of one pass: candidates in, grown cavities out, winners retriangulated."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from dmr.memory import DeviceArray, Number, bound_of, scan
from dmr.pipeline.device_mesh import DeviceMesh
from dmr.pipeline.records import EXTENT, POINT, RIM_EDGE
from dmr.pipeline.thresholds import Thresholds
from dmr.pipeline.workspace import Workspace

ROOM = 24  # rim entries of an ordinary record: 21 triangles; of random points no cavity in a million needs more


class Outcome(IntEnum):
    """What became of a cavity (`Outcome` of cuda_src/cavity.cuh)."""

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


@dataclass(frozen=True)
class Cavities:
    """A pass' cavities: record i belongs to candidate i; the first `segments` candidates are subsegments.

    Attributes:
        capacity: how many records there are; `count` of them are used.
        roots: what each grew around, a subsegment or a triangle.
        members, rims, extents: the cavities (`cuda_src/cavity.cuh`), `room` entries a record.
        steiner, off_center, parameters: the points, whether each is an off-center, and where on its segment it lies.
        outcomes: what became of each; keys: their order; won: 1 where the point goes in.
    """

    count: Number
    segments: Number
    capacity: int
    room: int
    roots: DeviceArray
    members: DeviceArray
    rims: DeviceArray
    extents: DeviceArray
    steiner: DeviceArray
    off_center: DeviceArray
    parameters: DeviceArray
    outcomes: DeviceArray
    keys: DeviceArray
    won: DeviceArray

    @property
    def records(self) -> tuple[int, int, DeviceArray, DeviceArray]:
        """The arguments by which a kernel finds a record."""
        return self.room, self.capacity, self.members, self.rims


def prepare(space: Workspace, roots: DeviceArray, count: Number, segments: Number, room: int) -> Cavities:
    """Records for `count` candidates, nothing in them yet."""
    capacity = bound_of(count)
    return Cavities(
        count=count,
        segments=segments,
        capacity=capacity,
        room=room,
        roots=roots,
        members=space.array("members", capacity * room, np.int32),
        rims=space.array("rims", capacity * room, RIM_EDGE),
        extents=space.array("extents", capacity, EXTENT),
        steiner=space.array("steiner", capacity, POINT),
        off_center=space.array("off_center", capacity, np.uint8),
        parameters=space.array("parameters", bound_of(segments), np.float64),
        outcomes=space.array("outcomes", capacity, np.int32),
        keys=space.array("keys", capacity, np.uint64),
        won=space.array("won", capacity, np.int32),
    )


def grow(state: DeviceMesh, cavities: Cavities, limits: Thresholds, *, only_damaged: bool = False) -> None:
    """Places the Steiner points and grows the cavities; segments that points encroach on are asked to be split.

    With `only_damaged`, grows again those cavities that another one's insertion changed, and leaves the others.
    """
    device, segments = state.device, cavities.segments
    if not only_damaged:
        device.launch(
            "place_on_subsegments", segments, cavities.roots, state.triangles, state.subsegments, state.input_segments,
            state.subsegment_origin, state.points, state.vertex_origin, state.vertex_parameter, state.anchor,
            state.acute, limits.lens, state.input_vertices, cavities.steiner, cavities.parameters, cavities.outcomes,
        )  # fmt: skip
    device.launch(
        "grow_segment_cavities", segments, cavities.roots, only_damaged, state.triangles, state.subsegments,
        state.points, *cavities.records, cavities.steiner, cavities.extents, cavities.outcomes,
    )  # fmt: skip
    if cavities.count == segments:  # a round of subsegments; where only the device knows, it finds nothing to do
        return
    device.launch(
        "grow_triangle_cavities", cavities.count, cavities.roots, segments, only_damaged, state.triangles,
        state.points, limits.off_center_limit, limits.lens, state.wishes, *cavities.records, cavities.steiner,
        cavities.off_center, cavities.extents, cavities.outcomes,
    )  # fmt: skip


def count_outcomes(cavities: Cavities, counts: DeviceArray) -> None:
    """Adds the outcomes to `counts`: (len(Outcome) + 1,) int64, the last one for off-centers that were inserted."""
    device = counts.device
    tiles = device.tiles(bound_of(cavities.count), 256 * 16)  # TEAM_SIZE * ITEMS of cuda_src/marking.cu
    device.launch(
        "count_outcomes", tiles, cavities.outcomes, cavities.off_center, cavities.segments, cavities.count, counts
    )


def tally(space: Workspace, cavities: Cavities) -> Tally:
    """Counts the outcomes; waits for them."""
    counts = space.device.zeros(len(Outcome) + 1, np.int64)
    count_outcomes(cavities, counts)
    return Tally.of(counts)


@dataclass(frozen=True)
class Tally:
    """How many cavities had each outcome, and how many of the points inserted were off-centers."""

    outcomes: dict[Outcome, int]
    off_centers: int

    @classmethod
    def of(cls, counts: DeviceArray) -> Tally:
        """What `count_outcomes` counted; waits for it."""
        numbers = counts.download()
        return cls({outcome: int(numbers[outcome]) for outcome in Outcome}, int(numbers[-1]))


@dataclass(frozen=True)
class Needs:
    """What the winners of a step need, as scans over the candidates, and the totals.

    Attributes:
        vertex_offsets, slot_offsets, fresh_offsets: (count + 1,) where each winner's vertex, extra slots and new
            triangles come.
        vertices, slots, fresh: the totals; segments: how many of the winners split a subsegment.
    """

    vertex_offsets: DeviceArray
    slot_offsets: DeviceArray
    fresh_offsets: DeviceArray
    vertices: Number
    slots: Number
    fresh: Number
    segments: Number


def scan_needs(space: Workspace, cavities: Cavities) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """Where each winner's vertex, extra slots and new triangles come: scans over the candidates."""
    device, count, bound = space.device, cavities.count, bound_of(cavities.count)
    extra = space.array("extra", bound, np.int32)
    fresh = space.array("fresh_counts", bound, np.int32)
    device.launch("count_needs", count, cavities.extents, cavities.won, extra, fresh)
    return (
        scan(cavities.won, count, out=space.array("vertex_offsets", bound + 1, np.int32)),
        scan(extra, count, out=space.array("slot_offsets", bound + 1, np.int32)),
        scan(fresh, count, out=space.array("fresh_offsets", bound + 1, np.int32)),
    )


def winners_needs(space: Workspace, cavities: Cavities) -> Needs:
    """Counts what the winners need; waits for the totals."""
    offsets = scan_needs(space, cavities)
    totals = space.array("totals", 4, np.int32)
    space.device.launch("gather_totals", 1, *offsets, cavities.count, cavities.segments, totals)
    return Needs(*offsets, *(int(total) for total in totals[:4].download()))


@dataclass(frozen=True)
class Sizes:
    """How many vertices, triangles and subsegments a mesh has."""

    vertices: Number
    slots: Number
    subsegments: Number


def insert(
    state: DeviceMesh, space: Workspace, cavities: Cavities, needs: Needs, stamp: int, fresh: DeviceArray
) -> None:
    """Makes room for the winners' points, and puts them in."""
    vertices, slots, segments = (bound_of(n) for n in (needs.vertices, needs.slots, needs.segments))
    state.reserve(state.vertices + vertices, state.slots + slots, state.subsegments_count + segments)
    sizes = Sizes(state.vertices, state.slots, state.subsegments_count)
    retriangulate(state, space, cavities, needs, sizes, stamp, fresh)
    state.vertices += vertices
    state.slots += slots
    state.subsegments_count += segments


def retriangulate(
    state: DeviceMesh, space: Workspace, cavities: Cavities, needs: Needs, sizes: Sizes, stamp: Number,
    fresh: DeviceArray,
) -> None:  # fmt: skip
    """Puts the winners' points in, where there is room for them in a mesh that has `sizes` so far.

    `fresh` receives the slots of the new triangles, winner by winner.
    """
    device = state.device
    shared = (*cavities.records, cavities.extents)
    inherited = space.array("inherited", bound_of(needs.fresh), np.int32) if state.ancestor is not None else None
    if inherited is not None:
        device.launch(
            "find_ancestors", cavities.count, *shared, cavities.won, needs.fresh_offsets, state.triangles,
            state.ancestor, inherited,
        )  # fmt: skip
    if state.attributes is not None:
        device.launch(
            "interpolate_attributes", cavities.count, *shared, cavities.steiner, cavities.won, needs.vertex_offsets,
            sizes.vertices, state.triangles, state.points, state.width, state.attributes,
        )  # fmt: skip
    device.launch(
        "retriangulate", cavities.count, cavities.roots, cavities.segments, stamp, *shared, cavities.keys,
        cavities.steiner, cavities.parameters, cavities.won, needs.vertex_offsets, needs.slot_offsets,
        needs.fresh_offsets, sizes.vertices, sizes.slots, sizes.subsegments, state.triangles, state.points,
        state.vertex_origin, state.vertex_parameter, state.subsegments, state.subsegment_origin, state.wishes, fresh,
    )  # fmt: skip
    device.launch(
        "link_winners", cavities.count, stamp, *shared, cavities.won, needs.slot_offsets, sizes.slots, state.triangles
    )
    if inherited is not None:
        device.launch("inherit_ancestors", needs.fresh, fresh, inherited, state.ancestor)
    device.launch("record_insertions", cavities.count, cavities.won, cavities.outcomes)


def settle(state: DeviceMesh, cavities: Cavities) -> None:
    """Records who lost, gives up what cannot be resolved, and sets aside what needs a large record."""
    device, shared = state.device, (cavities.roots, cavities.segments, cavities.outcomes, state.quality)
    device.launch("record_losses", cavities.count, cavities.outcomes)
    device.launch("give_up", cavities.count, *shared, state.wishes)
    device.launch("set_large", cavities.count, *shared)
