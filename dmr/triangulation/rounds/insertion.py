"""Inserts vertices into a plane, round after round.

A round's candidates are the losers of the round before, and the next vertices in the order of insertion. The triangles
of each candidate's cavity are claimed by atomic maximum of a unique key; who owns all of them, and commutes with
claims of higher keys beside them, wins. The candidate with the highest key always wins, so every round inserts a
vertex.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dmr.errors import InternalError
from dmr.memory import Device, DeviceArray, DeviceCount, Enumeration, Number, Packed, constant, pack, record
from dmr.mesh.types import Int
from dmr.triangulation.rounds.order import Order

TRIANGLE, SUBSEGMENT = record("Triangle"), record("Subsegment")
BOUNDARY_EDGE, EXTENT = record("BoundaryEdge"), record("Extent")
LAST_EPOCH = constant("LAST_EPOCH")
NO_INDEX = constant("NO_INDEX")

GROWTH = 0.25  # candidates of a round, over the vertices inserted before it
MOST_CANDIDATES = 2**19  # of a round on a GPU
CANDIDATES_PER_THREAD = 2**12  # on a CPU: their records fit into the caches
RECORD = 32  # triangles and edges that the record of a cavity can hold; larger cavities get larger records
LARGER = 8  # times as large
LARGE_ENTRIES = 2**24  # of all larger records


class Fate(Enumeration):
    """Outcomes of the candidates of a round."""


class Advance(Enumeration):
    """The progress of an insertion, on the device."""


@dataclass
class Plane:
    """A triangulation of the plane on a device: `Plane` of cuda_src/triangulate/plane.cuh.

    Attributes:
        triangles: the records, ghosts included; slots: how many there are.
        order: the vertices; places: the slots where they lie (cuda_src/triangulate/hints.cuh).
        subsegments: the pieces of segments.
        inserted: how many vertices at the head of the order it has from the beginning.
    """

    device: Device
    order: Order
    triangles: DeviceArray
    places: DeviceArray
    slots: int
    subsegments: DeviceArray
    inserted: int

    @property
    def view(self) -> Packed:
        """The kernel argument."""
        return pack(
            "Plane", triangles=self.triangles, points=self.order.points, numbers=self.order.numbers, slots=self.places,
            vertices=self.order.points.size, subsegments=self.subsegments,
        )  # fmt: skip


@dataclass
class Records:
    """Records of cavities, all with the same capacity; `Cavities` of cuda_src/refine/cavity/cavity.cuh."""

    device: Device
    candidates: int
    capacity: int
    roots: DeviceArray = field(init=False)
    view: Packed = field(init=False)
    held: list[DeviceArray] = field(init=False)

    def __post_init__(self) -> None:
        device, count, entries = self.device, self.candidates, self.candidates * self.capacity
        words = {name: device.empty(count, np.int32) for name in ("roots", "outcomes", "won")}
        others = {
            "members": device.empty(entries, np.int32),
            "boundaries": device.empty(entries, BOUNDARY_EDGE),
            "extents": device.empty(count, EXTENT),
            "keys": device.empty(count, np.uint64),
            "shared": device.empty(count, np.uint32),
        }
        unused = dict.fromkeys(("steiner", "off_center", "parameters", "apexes", "fresh_places"))
        self.roots = words["roots"]
        self.held = [*words.values(), *others.values()]
        self.view = pack("Cavities", capacity=self.capacity, records=count, **words, **others, **unused)


class Insertion:
    """Inserts the vertices of a plane's order. The device repeats the rounds by itself; the host inserts vertices whose
    cavities are larger than the records."""

    def __init__(self, plane: Plane) -> None:
        device = plane.device
        self._plane, self._device = plane, device
        most = CANDIDATES_PER_THREAD * device.threads or MOST_CANDIDATES
        self._most = min(most, plane.order.vertices.size)
        self._losers = device.empty(2 * self._most, np.int32)
        self._large = device.empty(self._most, np.int32)
        self._fates = device.empty(device.most_pieces * Fate.FATES, np.int32)
        self._totals = device.empty(Fate.FATES, np.int32)
        self._progress = device.empty(Advance.ADVANCES, np.int32)

    def run(self, meanwhile: Callable[[], None] | None = None) -> None:
        """Inserts all vertices; calls `meanwhile` at the first rounds, of `Loop.run`."""
        progress, inserted = np.zeros(Advance.ADVANCES, np.int32), self._plane.inserted
        first = max(int(GROWTH * inserted), 1)
        progress[Advance.ROUND_CANDIDATES] = min(first, self._most, self._plane.order.vertices.size - inserted)
        progress[Advance.TAKEN_VERTICES], progress[Advance.ROUND_EPOCH] = inserted, 1
        progress[Advance.USED_SLOTS] = self._plane.slots
        records = Records(self._device, self._most, RECORD)
        with self._device.rehearsal():
            self._launch_round(records)
        loop = self._device.loop(lambda: self._launch_round(records), self._progress[Advance.HALT : Advance.HALT + 1])
        while progress[Advance.ROUND_CANDIDATES]:
            progress[Advance.HALT] = 0
            self._progress.upload(progress)
            loop.run(meanwhile)
            meanwhile = None
            self._progress.download(out=progress)
            _check(progress)
            if progress[Advance.ROUND_EPOCH] > LAST_EPOCH:
                self._begin_epochs(progress)
            if progress[Advance.LARGE_CAVITIES]:
                self._insert_large(progress)
        self._plane.slots = int(progress[Advance.USED_SLOTS])

    def _launch_round(self, records: Records) -> None:
        """Launches a round of which only the device knows the numbers, and plans the next one."""
        vertices = self._plane.order.vertices
        self._launch(records, vertices, self._losers, self._most, *(
            self._number(entry, bound) for entry, bound in (
                (Advance.ROUND_CANDIDATES, self._most), (Advance.ROUND_LOSERS, self._most),
                (Advance.TAKEN_VERTICES, vertices.size), (Advance.USED_SLOTS, 2 * vertices.size),
                (Advance.ROUND_EPOCH, LAST_EPOCH),
            )
        ))  # fmt: skip
        self._device.launch("plan_points", 1, self._progress, self._totals, vertices.size, self._most, GROWTH)

    def _number(self, entry: Advance, bound: int) -> DeviceCount:
        return DeviceCount(self._progress[entry : entry + 1], bound)

    def _launch(
        self,
        records: Records,
        order: DeviceArray,
        losers: DeviceArray,
        most: int,
        count: Number,
        lost: Number,
        taken: Number,
        slots: Number,
        epoch: Number,
    ) -> None:
        """Launches the kernels of a round over `count` candidates: `lost` losers, and vertices from `taken` on."""
        device, view, cavities = self._device, self._plane.view, records.view
        pieces = device.pieces(count)
        device.launch("grow_points", count, view, cavities, order, taken, losers, most, lost, records.roots, epoch)
        device.launch("grow_points_exactly", count, view, cavities, epoch)
        device.launch("own_points", count, view, cavities)
        device.launch("choose_points", pieces, view, cavities, count, epoch, self._fates)
        device.launch(
            "insert_points", pieces, view, cavities, count, epoch, self._fates, slots, losers, most, self._large,
            self._totals,
        )  # fmt: skip
        device.launch("link_points", count, view, cavities, epoch)

    def _begin_epochs(self, progress: Int) -> None:
        """Clears the owners, so that epochs can start again: a loser list stays where the parity of the epoch says."""
        self._device.launch("clear_owners", int(progress[Advance.USED_SLOTS]), self._plane.triangles)
        progress[Advance.ROUND_EPOCH] = 1 + (progress[Advance.ROUND_EPOCH] + 1) % 2

    def _insert_large(self, progress: Int) -> None:
        """Inserts the vertices whose cavities did not fit the records of the last round."""
        device, capacity = self._device, RECORD
        vertices = self._large[: int(progress[Advance.LARGE_CAVITIES])].download()
        parity = progress[Advance.ROUND_EPOCH] % 2
        while vertices.size:
            capacity *= LARGER
            records = Records(device, max(min(LARGE_ENTRIES // capacity, vertices.size), 1), capacity)
            losers = device.empty(2 * records.candidates, np.int32)
            larger = []
            while vertices.size:
                now, later = vertices[: records.candidates], vertices[records.candidates :]
                if progress[Advance.ROUND_EPOCH] > LAST_EPOCH:
                    self._begin_epochs(progress)
                epoch, slots = int(progress[Advance.ROUND_EPOCH]), int(progress[Advance.USED_SLOTS])
                given = device.array(now)
                self._launch(records, given, losers, records.candidates, now.size, 0, 0, slots, epoch)
                won, lost, large = (int(total) for total in self._totals.download())
                progress[Advance.ROUND_EPOCH] += 1
                progress[Advance.USED_SLOTS] += 2 * won
                first = records.candidates * ((epoch + 1) % 2)
                vertices = np.concatenate([losers[first : first + lost].download(), later])
                larger.append(self._large[:large].download())
            vertices = np.concatenate(larger)
        if progress[Advance.ROUND_EPOCH] % 2 != parity:
            progress[Advance.ROUND_EPOCH] += 1
        if progress[Advance.ROUND_EPOCH] > LAST_EPOCH:
            self._begin_epochs(progress)


def _check(progress: Int) -> None:
    """Raises an error if a round had candidates, and no winner: the one of the highest key always wins."""
    if progress[Advance.ROUND_LOSERS] and not (progress[Advance.ROUND_WINNERS] or progress[Advance.LARGE_CAVITIES]):
        raise InternalError("a round of insertion has no winner: please report this input")
