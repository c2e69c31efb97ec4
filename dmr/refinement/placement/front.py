"""The advancing front: rounds of proposals (`cuda_src/placement/front`), which the device repeats by itself.

Every accepted point keeps a distance of SPACING sizes from all others, so their number is bounded; and each round that
has proposals accepts one at least: the one of highest priority. So the rounds end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dmr.memory import (
    Device,
    DeviceArray,
    DeviceCount,
    Enumeration,
    Loop,
    Packed,
    constant,
    flagged_indices,
    pack,
    record,
)
from dmr.mesh.types import Float, Int
from dmr.refinement.placement.cells import Cells, most_blocks
from dmr.refinement.placement.lattice import LatticePoints, further_points, lattice_points
from dmr.refinement.rounds.time_limit import TimeLimit
from dmr.refinement.state.records import POINT
from dmr.sizing.source import SizeSource

PROPOSAL = record("Proposal")
MOST_PROPOSALS = constant("MOST_PROPOSALS")
MOST_ROUNDS = 2**31 - 1
ROUNDS_TO_REPORT = 16  # between two reports
FEWEST_NODES, FEWEST_PENDING = 4096, 1024  # for which there is memory at least: recording rounds again takes longer
FEWEST_IN_LATTICE = 300  # points, where sizes are given by place: the front places fewer of them in less time
MOST_RESTARTS = 16  # of a front that has stopped beside gaps
MOST_LATTICES = 8  # in places that no front reaches,
UNCOVERED = 2.0  # of which no node is within this many sizes


class Entry(Enumeration, enum="FrontEntry"):
    """Indices into the progress of a front."""


class Fate(Enumeration, enum="ProposalFate"):
    """Outcomes of a proposal."""


@dataclass(frozen=True, eq=False)
class Outline:
    """The outline that the front starts from.

    Attributes:
        points: (n, 2) its nodes, and other points that are there already.
        pieces: (p, 2) int32: pieces of segments, by the nodes at their ends.
        fronts: (f, 2) int32: directed pieces, with the domain on the left.
        boundary: (b, 2) int32: undivided segments that have the domain on their left, and not on their right.
    """

    points: Float
    pieces: Int
    fronts: Int
    boundary: Int


class Front:
    """Places points in one domain.

    Attributes:
        in_lattice: the number of points of a lattice, which are placed first.
    """

    def __init__(
        self,
        outline: Outline,
        sizes: SizeSource,
        device: Device,
        most: int,
        *,
        lattice: int = 0,
        interpolated: bool = False,
    ) -> None:
        """Uploads the outline, and proposes apexes at its pieces.

        Args:
            outline: where the front starts; sizes: the wanted sizes; device: where it runs.
            most: points to place at most.
            lattice: the most points of a lattice, where nearly one size is wanted.
            interpolated: whether sizes have no extreme values in the interior of the domain: then no part of it lies
                behind a lattice of one size.
        """
        self._device, self._sizes, self._even = device, sizes.on(device), sizes.number is not None
        n = self._outline = len(outline.points)
        self._limit = n + most
        self._low = (float(outline.points[:, 0].min()), float(outline.points[:, 1].min()))
        self._high = (float(outline.points[:, 0].max()), float(outline.points[:, 1].max()))
        self._points, self._node_sizes = device.array(outline.points, POINT), device.empty(n, np.float64)
        self._beside_gap = device.empty(0, np.int32)
        self._lattice: LatticePoints | None
        self._sizes.evaluate(self._points, n, self._node_sizes)
        self._first_blocks = n  # at most, of the first nodes: each of the outline could lie in another one
        self._given, self._most_in_lattice, self._lattice = outline, lattice, None
        inside = self.in_lattice = self._add_lattice(outline, lattice, interpolated=interpolated) if lattice else 0
        self._passed = 0 if self._even or interpolated else inside  # points of a lattice from which the front continues
        self._unflagged = n + inside  # the first node of which it is not known whether it is beside a gap
        first, across = _incident(outline.pieces, n)
        self._first_piece, self._across = device.array(first), device.array(across)
        self._restarts = MOST_RESTARTS if np.diff(first).all() else 0  # gaps around free points are left to refinement
        self._progress = device.empty(Entry.FRONT_ENTRIES, np.int32)
        self._numbers = np.zeros(Entry.FRONT_ENTRIES, np.int32)
        self._numbers[Entry.FRONT_NODES], count = n + inside, len(outline.fronts)
        self._lists, self._apexes = device.empty(0, PROPOSAL), device.empty(0, POINT)
        self._apex_sizes = device.empty(0, np.float64)
        self._loop: Loop | None
        self._reserve(count)
        self._numbers[Entry.PENDING_PROPOSALS] = self._numbers[Entry.FRESH_PROPOSALS] = count
        fronts = device.array(outline.fronts.reshape(-1))
        device.launch("propose_at_pieces", count, fronts, self._nodes, self._cells.view, self._proposals)
        self._sizes.evaluate(self._apexes, count, self._apex_sizes)
        if not device.threads:  # all kernels of a CPU are loaded
            with device.rehearsal():
                self._launch_round()

    def _add_lattice(self, outline: Outline, most: int, *, interpolated: bool) -> int:
        """Adds the points of a lattice to the nodes; returns their number."""
        device, n = self._device, self._outline
        largest = float(self._node_sizes.download()[outline.pieces].max())
        found = self._lattice = lattice_points(
            outline.points, outline.pieces, outline.boundary, largest, self._sizes, device, most, even=self._even,
            fewest=0 if self._even or interpolated else FEWEST_IN_LATTICE,
        )  # fmt: skip
        count = found.count
        self._sides = found.sides
        if count:
            self._points, self._node_sizes = self._points.grown(n + count), self._node_sizes.grown(n + count)
            self._points[n:].copy_from(found.places)
            self._node_sizes[n:].copy_from(found.sizes)
            blocks = sum(most_blocks(self._low, self._high, size) for size in found.levels)
            self._first_blocks += min(count, blocks)
        return count

    def run(self, limit: TimeLimit, report: Callable[[int], object] | None) -> Float:
        """Advances the front until no proposal is left, or the time is over; returns the points, (k, 2).

        Args:
            limit: of the time.
            report: called every few rounds with the number of points.
        """
        numbers, restarts = self._numbers, 0
        self._advance(limit, report)
        # A lattice of places with nearly one size can separate others from the outline.
        if self._passed and self._propose_beyond("flag_open_sides", self._outline, self._passed, self._sides):
            self._advance(limit, report)
        while restarts < self._restarts and numbers[Entry.FRONT_NODES] < self._limit and not limit.over:
            nodes, restarts = int(numbers[Entry.FRONT_NODES]), restarts + 1
            if not self._propose_across_gaps():
                break
            self._advance(limit, report)
            if numbers[Entry.FRONT_NODES] == nodes:
                break
        for _ in range(MOST_LATTICES):
            if limit.over or not self._reach_uncovered():
                break
            self._advance(limit, report)
        placed: Float = (
            self._points[self._outline : numbers[Entry.FRONT_NODES]].download().view(np.float64).reshape(-1, 2)
        )
        return placed

    def _advance(self, limit: TimeLimit, report: Callable[[int], object] | None) -> None:
        """Runs rounds until no proposal is left, or a limit is reached."""
        numbers = self._numbers
        while numbers[Entry.PENDING_PROPOSALS] and numbers[Entry.FRONT_NODES] < self._limit and not limit.over:
            if self._lacks_capacity():
                self._reserve(int(numbers[Entry.PENDING_PROPOSALS]))
            if self._loop is None:
                self._loop = self._device.loop(self._launch_round, self._entry(Entry.FRONT_HALT))
            rounds = limit.rounds(MOST_ROUNDS if report is None else ROUNDS_TO_REPORT)
            numbers[Entry.LAST_FRONT_ROUND] = min(int(numbers[Entry.FRONT_ROUND]) + rounds, MOST_ROUNDS)
            self._progress.upload(numbers)
            with limit.measured():
                self._loop.run()
                self._progress.download(out=numbers)
            if report is not None:
                with self._device.set_aside():
                    report(int(numbers[Entry.FRONT_NODES]) - self._outline)

    def _propose_across_gaps(self) -> bool:
        """Proposes apexes with nodes that are farther away, where the front has stopped; returns whether there are any.

        Only nodes of the front propose: those of the outline could propose on its other side. Each proposes once: gaps
        beside a node only become smaller.
        """
        first, nodes = self._unflagged, int(self._numbers[Entry.FRONT_NODES])
        self._unflagged = nodes
        return nodes > first and self._propose_beyond("flag_gaps", first, nodes - first)

    def _reach_uncovered(self) -> bool:
        """Places a lattice around samples that have no node nearby, for the front to continue from.

        Returns:
            Whether there are any proposals.
        """
        device, numbers = self._device, self._numbers
        if self._lattice is None or self._lattice.samples is None:
            return False
        samples, at_samples = self._lattice.samples
        flags = device.empty(samples.size, np.int32)
        device.launch(
            "flag_uncovered", samples.size, samples, at_samples, UNCOVERED, self._nodes, self._cells.view, flags
        )
        uncovered = np.flatnonzero(flags.download())
        if not uncovered.size:
            return False
        first = int(numbers[Entry.FRONT_NODES])
        most, outline = min(self._most_in_lattice, self._limit - first), self._given
        found = further_points(
            outline.points, outline.pieces, outline.boundary, self._lattice, uncovered, self._sizes, device, most
        )
        if not found.count:
            return False
        flags = device.empty(found.count, np.int32)
        device.launch(
            "flag_uncovered", found.count, found.places, found.sizes, 1.0, self._nodes, self._cells.view, flags
        )
        listed, count = flagged_indices(flags)
        if not count:
            return False
        self._points, self._node_sizes = self._points.grown(first + count), self._node_sizes.grown(first + count)
        device.launch("take_places", count, listed, found.places, self._points[first:])
        device.launch("gather_float64", count, found.sizes, listed, self._node_sizes[first:])
        numbers[Entry.FRONT_NODES] = first + count
        numbers[Entry.FRONT_BLOCKS] += count
        numbers[Entry.PENDING_PROPOSALS] = numbers[Entry.WAITING_PROPOSALS] = numbers[Entry.FRESH_PROPOSALS] = 0
        self._reserve(count)
        flags = device.empty(count, np.int32)
        flags.fill(1)  # places near nodes are missing: any other may be at a side
        return self._propose_beyond("flag_open_sides", first, count, flags)

    def _propose_beyond(self, kernel: str, first: int, count: int, flags: DeviceArray | None = None) -> bool:
        """Proposes apexes at those of some nodes that a kernel flags, for a front that has stopped.

        Args:
            kernel: flags nodes; first, count: the nodes; flags: (count,) int32, what the kernel begins with, if any.

        Returns:
            Whether there are any proposals.
        """
        device, numbers = self._device, self._numbers
        flags = device.empty(count, np.int32) if flags is None else flags
        device.launch(kernel, count, self._nodes, self._cells.view, first, flags)
        listed, found = flagged_indices(flags)
        if not found:
            return False
        if MOST_PROPOSALS * found > self._apexes.size:
            self._reserve(found)
        numbers[Entry.WAITING_PROPOSALS] = 0
        self._progress.upload(numbers)
        pieces = device.pieces(found)
        device.launch(
            "propose_across_gaps", pieces, listed, self._nodes, self._cells.view, self._proposals, first, found
        )  # fmt: skip
        last = int(numbers[Entry.FRONT_ROUND]) + 1  # of the same parity as the round before
        device.launch("pack_proposals", pieces, self._proposals, found, last, self._progress)
        self._progress.download(out=numbers)
        fresh = numbers[Entry.PENDING_PROPOSALS] = int(numbers[Entry.FRESH_PROPOSALS])
        self._sizes.evaluate(self._apexes, int(fresh), self._apex_sizes)
        return bool(fresh)

    def _lacks_capacity(self) -> bool:
        """Whether the next round could exceed the capacity of the nodes, of their cells or of the lists."""
        nodes, pending = int(self._numbers[Entry.FRONT_NODES]), int(self._numbers[Entry.PENDING_PROPOSALS])
        blocks = int(self._numbers[Entry.FRONT_BLOCKS])
        return (
            nodes + pending > self._points.size
            or MOST_PROPOSALS * pending > self._apexes.size
            or not self._cells.has_slots_for(blocks + pending)
        )

    def _reserve(self, pending: int) -> None:
        """Allocates what rounds with this many proposals, or twice as many, need; copies nodes and proposals there."""
        device, numbers, self._loop = self._device, self._numbers, None  # a loop has the addresses of the arrays
        nodes, most = int(numbers[Entry.FRONT_NODES]), MOST_PROPOSALS * max(2 * pending, FEWEST_PENDING)
        capacity = 2 * max(nodes, pending, FEWEST_NODES)
        self._points, self._node_sizes = self._points.grown(capacity), self._node_sizes.grown(capacity)
        self._beside_gap = self._beside_gap.grown(self._points.size)
        lists, sizes = device.empty(2 * most, PROPOSAL), device.empty(most, np.float64)
        first = self._apexes.size * (int(numbers[Entry.FRONT_ROUND]) % 2)
        last = first + int(numbers[Entry.PENDING_PROPOSALS])
        lists[: last - first].copy_from(self._lists[first:last])
        fresh = int(numbers[Entry.FRESH_PROPOSALS])
        sizes[:fresh].copy_from(self._apex_sizes[:fresh])
        numbers[Entry.FRONT_ROUND] = 0  # the current list is the first one
        self._lists, self._apex_sizes, self._apexes = lists, sizes, device.empty(most, POINT)
        self._made, self._counts = device.empty(most, PROPOSAL), device.empty(most, np.int32)
        self._slots = device.empty(most, np.int64)
        self._fates, self._winners = device.empty(most, np.int32), device.empty(most, np.int32)
        self._sums = device.empty(device.most_pieces * Fate.PROPOSAL_FATES, np.int32)
        blocks = 2 * int(numbers[Entry.FRONT_BLOCKS]) or self._first_blocks
        self._cells = Cells(device, self._low, self._points.size, blocks + 2 * pending, counted=True)
        rivals = most // MOST_PROPOSALS  # of a round: it does not start if these could make too many for the lists
        self._rivals = Cells(device, self._low, rivals, rivals)
        self._nodes, self._proposals = self._packed_nodes(), self._packed_proposals()
        device.launch("add_nodes", nodes, self._nodes, self._cells.view)

    def _launch_round(self) -> None:
        """Launches a round of which only the device knows the numbers, and plans the next one."""
        device, nodes, proposals = self._device, self._nodes, self._proposals
        cells, rivals, most = self._cells.view, self._rivals.view, self._apexes.size
        pending, waiting = self._number(Entry.PENDING_PROPOSALS, most), self._number(Entry.WAITING_PROPOSALS, most)
        accepted, fresh = self._number(Entry.ACCEPTED_NODES, most), self._number(Entry.FRESH_PROPOSALS, most)
        first, round = self._number(Entry.FRONT_NODES, MOST_ROUNDS), self._number(Entry.FRONT_ROUND, MOST_ROUNDS)
        device.launch("resolve_proposals", pending, nodes, cells, rivals, proposals, waiting, round, pending)
        pieces = device.pieces(pending)
        device.launch("choose_proposals", pieces, rivals, proposals, round, pending)
        device.launch(
            "accept_proposals", pieces, nodes, cells, rivals, proposals, first, self._limit, round, pending,
            self._progress,
        )  # fmt: skip
        pieces = device.pieces(accepted)
        device.launch("propose_at_nodes", pieces, nodes, cells, proposals, first, accepted)
        device.launch("pack_proposals", pieces, proposals, accepted, round, self._progress)
        self._sizes.evaluate(self._apexes, fresh, self._apex_sizes)
        device.launch("plan_front", 1, self._limit, self._points.size, cells, proposals, self._progress)

    def _entry(self, entry: Entry) -> DeviceArray:
        return self._progress[entry : entry + 1]

    def _number(self, entry: Entry, bound: int) -> DeviceCount:
        return DeviceCount(self._entry(entry), bound)

    def _packed_nodes(self) -> Packed:
        return pack(
            "Nodes", points=self._points, sizes=self._node_sizes, beside_gap=self._beside_gap,
            outline=self._outline, first_piece=self._first_piece, across=self._across, low_x=self._low[0],
            low_y=self._low[1], high_x=self._high[0], high_y=self._high[1],
        )  # fmt: skip

    def _packed_proposals(self) -> Packed:
        return pack(
            "Proposals", lists=self._lists, made=self._made, counts=self._counts, apexes=self._apexes,
            sizes=self._apex_sizes, slots=self._slots, fates=self._fates, winners=self._winners, sums=self._sums,
            most=self._apexes.size,
        )  # fmt: skip


def _incident(pieces: Int, nodes: int) -> tuple[Int, Int]:
    """Returns the other ends of the pieces at each node, in one list, and where the entries of each node begin."""
    start, end = np.concatenate([pieces, pieces[:, ::-1]]).T
    first = np.zeros(nodes + 1, np.int32)
    np.cumsum(np.bincount(start, minlength=nodes), out=first[1:])
    return first, end[np.argsort(start, kind="stable")].astype(np.int32)
