"""Inserts vertices into a plane, round after round.

A round's candidates are the losers of the round before, and the next vertices in the order of insertion. The triangles
of each candidate's cavity are claimed by atomic maximum of a unique key; who owns all of them, and commutes with
claims of higher keys beside them, wins. The candidate with the highest key always wins, so every round inserts a
vertex.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dmr.errors import InternalError, InvalidMeshError
from dmr.memory import Device, DeviceArray, Enumeration, Packed, constant, pack, record
from dmr.mesh.types import Int
from dmr.triangulation.rounds.order import Order

TRIANGLE, BOUNDARY_EDGE, EXTENT = record("Triangle"), record("BoundaryEdge"), record("Extent")
LAST_EPOCH = constant("LAST_EPOCH")
SLOT_BRANCHES = constant("SLOT_BRANCHES", "triangulate/hints.cuh")
NONE = 2**31 - 1

GROWTH = 0.25  # candidates of a round, over the vertices inserted before it
MOST_CANDIDATES = 2**19  # of a round on a GPU
CANDIDATES_PER_THREAD = 2**12  # on a CPU, whose caches hold what so many need
RECORD = 32  # triangles and edges that the record of a cavity can hold; larger cavities get larger records
LARGER = 8  # times as large
LARGE_ENTRIES = 2**24  # of all larger records


class Fate(Enumeration):
    """What becomes of the candidates of a round."""


@dataclass
class Plane:
    """A triangulation of the plane on a device: `Plane` of cuda_src/triangulate/plane.cuh.

    Attributes:
        triangles: the records, ghosts included; count: how many there are.
        order: the vertices; slots: where they lie (cuda_src/triangulate/hints.cuh); view: the kernel argument.
    """

    device: Device
    order: Order
    triangles: DeviceArray
    slots: DeviceArray
    view: Packed
    count: int = 4


def empty_plane(order: Order) -> Plane:
    """Makes a plane with the first triangle of an order's vertices.

    Raises:
        InvalidMeshError: all vertices lie on one line.
    """
    device, vertices, points = order.points.device, order.vertices, order.points
    third = device.array(np.array([NONE], np.int32))
    if vertices.size > 2:
        a, b = (int(vertex) for vertex in vertices[:2].download())
        device.launch("find_third", vertices.size, points, vertices, a, b, third)
    place = int(third.download()[0])
    if place == NONE:
        raise InvalidMeshError("all vertices lie on one line (or in one place): they span no triangle")
    triangles = device.empty(2 * vertices.size, TRIANGLE)  # as many as the plane has in the end
    triangles.fill(0)
    entries = size = points.size
    while size > 1:
        size = -(-size // SLOT_BRANCHES)
        entries += size
    slots = device.empty(entries, np.int32)
    slots.fill(255)
    view = pack("Plane", triangles=triangles, points=points, numbers=order.numbers, slots=slots, vertices=points.size)
    c = int(vertices[place : place + 1].download()[0])
    device.launch("start_plane", 1, view, a, b, c)
    return Plane(device, order, triangles, slots, view)


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
        words = {name: device.empty(count, np.int32) for name in ("roots", "outcomes", "won", "extra_places")}
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
    """Inserts the vertices of a plane's order."""

    def __init__(self, plane: Plane) -> None:
        device = plane.device
        self._plane, self._device = plane, device
        most = CANDIDATES_PER_THREAD * device.threads or MOST_CANDIDATES
        self._most = min(most, plane.order.vertices.size)
        self._large = device.empty(self._most, np.int32)
        self._fates = device.empty(device.most_pieces * Fate.FATES, np.int32)
        self._totals = device.empty(Fate.FATES, np.int32)
        self._epoch = 0

    def run(self) -> None:
        """Inserts all vertices."""
        vertices = self._plane.order.vertices
        records = Records(self._device, self._most, RECORD)
        losers, new_losers = (self._device.empty(self._most, np.int32) for _ in range(2))
        done = lost = 0  # vertices taken from the order; losers of the last round
        while done < vertices.size or lost:
            wanted = max(int(GROWTH * (done - lost)), 1)
            fresh = min(max(wanted - lost, 0 if lost else 1), vertices.size - done, self._most - lost)
            lost, large = self._round(records, losers[:lost], vertices[done : done + fresh], new_losers)
            losers, new_losers = new_losers, losers
            done += fresh
            if large:
                self._insert_large(self._large[:large].download(), RECORD)

    def _insert_large(self, vertices: Int, capacity: int) -> None:
        """Inserts vertices whose cavities did not fit the records of a capacity."""
        while vertices.size:
            capacity *= LARGER
            records = Records(self._device, max(min(LARGE_ENTRIES // capacity, vertices.size), 1), capacity)
            losers = self._device.empty(records.candidates, np.int32)
            larger = []
            while vertices.size:
                now, later = vertices[: records.candidates], vertices[records.candidates :]
                lost, large = self._round(records, losers[:0], self._device.array(now), losers)
                larger.append(self._large[:large].download())
                vertices = np.concatenate([losers[:lost].download(), later])
            vertices = np.concatenate(larger)

    def _round(
        self, records: Records, losers: DeviceArray, fresh: DeviceArray, new_losers: DeviceArray
    ) -> tuple[int, int]:
        """Runs a round; returns the numbers of its losers, which `new_losers` receives, and of the candidates whose
        cavities are too large for the records, which `_large` receives."""
        device, plane, cavities = self._device, self._plane, records.view
        count, epoch = losers.size + fresh.size, self._next_epoch()
        device.launch("grow_points", count, plane.view, cavities, losers, losers.size, fresh, records.roots, epoch)
        device.launch("grow_points_exactly", count, plane.view, cavities, epoch)
        pieces = device.pieces(count)
        device.launch("choose_points", pieces, plane.view, cavities, count, epoch, self._fates)
        device.launch(
            "insert_points", pieces, plane.view, cavities, count, epoch, self._fates, plane.count, new_losers,
            self._large, self._totals,
        )  # fmt: skip
        device.launch("link_points", count, plane.view, cavities, epoch)
        won, lost, large = (int(total) for total in self._totals.download())
        if not won and not large and lost:
            raise InternalError("a round of insertion has no winner: please report this input")
        plane.count += 2 * won
        return lost, large

    def _next_epoch(self) -> int:
        if self._epoch == LAST_EPOCH:
            self._device.launch("clear_owners", self._plane.count, self._plane.triangles)
            self._epoch = 0
        self._epoch += 1
        return self._epoch
