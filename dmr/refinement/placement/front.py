"""The advancing front: rounds of proposals (`cuda_src/placement/front.cu`).

Every accepted point keeps a distance of SPACING sizes from all others, so their number is bounded; and each round that
has proposals accepts one at least: the one of highest priority. So the rounds end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dmr.memory import Device, DeviceArray, Packed, constant, pack, record, scan, total
from dmr.mesh.types import Float, Int
from dmr.refinement.placement.cells import Cells
from dmr.refinement.state.records import POINT
from dmr.sizing.source import SizeSource

PROPOSAL = record("Proposal")
MOST_PROPOSALS = constant("MOST_PROPOSALS", "placement/front.cu")


@dataclass(frozen=True, eq=False)
class Outline:
    """The outline that the front starts from.

    Attributes:
        points: (n, 2) its nodes, and other points that are there already.
        pieces: (p, 2) int32: pieces of segments, by the nodes at their ends.
        fronts: (f, 2) int32: directed pieces, with the domain on the left.
    """

    points: Float
    pieces: Int
    fronts: Int


class Front:
    """Places points in one domain."""

    def __init__(self, outline: Outline, sizes: SizeSource, device: Device, most: int) -> None:
        """Uploads the outline.

        Args:
            outline: where the front starts; sizes: the wanted sizes; device: where it runs.
            most: points to place at most.
        """
        self._device, self._sizes, self._most = device, sizes.on(device), most
        n = self._outline = self._count = len(outline.points)
        self._points, self._node_sizes = device.array(outline.points, POINT), device.empty(n, np.float64)
        first, across = _incident(outline.pieces, n)
        self._first_piece, self._across = device.array(first), device.array(across)
        low, high = outline.points.min(axis=0), outline.points.max(axis=0)
        self._low, self._high = (float(low[0]), float(low[1])), (float(high[0]), float(high[1]))
        self._cells, self._rivals = Cells(device, (low[0], low[1])), Cells(device, (low[0], low[1]))
        self._sizes.evaluate(self._points, n, self._node_sizes)
        self._cells.clear(2 * n)
        self._add_nodes(0)
        self._fronts = outline.fronts

    @property
    def complete(self) -> bool:
        """Whether no proposal is left."""
        return self._waiting == 0

    def run(self, may_go_on: Callable[[], bool]) -> Float:
        """Advances the front until no proposal is left, or `may_go_on()` is False; returns the points, (k, 2)."""
        pending, waiting = self._settled(*self._at_pieces())
        while waiting and may_go_on():
            pending, waiting = self._filtered("check_spacing", pending, waiting, self._nodes, self._cells.view)
            first = self._count
            pending, waiting = self._accept(pending, waiting)
            if self._count == first or self._count - self._outline >= self._most:
                break
            fresh, count = self._settled(*self._at_nodes(first))
            pending, waiting = self._joined(pending, waiting, fresh, count)
        self._waiting = waiting
        placed: Float = self._points[self._outline : self._count].download().view(np.float64).reshape(-1, 2)
        return placed

    @property
    def _nodes(self) -> Packed:
        return pack(
            "Nodes", points=self._points, sizes=self._node_sizes, outline=self._outline,
            first_piece=self._first_piece, across=self._across, low_x=self._low[0], low_y=self._low[1],
            high_x=self._high[0], high_y=self._high[1],
        )  # fmt: skip

    def _at_pieces(self) -> tuple[DeviceArray, DeviceArray, int]:
        """Returns a proposal for each directed piece, their apexes, and their number."""
        count, device = len(self._fronts), self._device
        proposals, apexes = device.empty(count, PROPOSAL), device.empty(count, POINT)
        fronts = device.array(self._fronts.reshape(-1))
        device.launch("propose_at_pieces", count, fronts, self._nodes, proposals, apexes)
        return proposals, apexes, count

    def _at_nodes(self, first: int) -> tuple[DeviceArray, DeviceArray, int]:
        """Returns the proposals of the nodes from `first` on."""
        device, nodes = self._device, self._count - first
        by_node, made = device.empty(MOST_PROPOSALS * nodes, PROPOSAL), device.empty(nodes, np.int32)
        device.launch("propose_at_nodes", nodes, first, self._nodes, self._cells.view, by_node, made)
        offsets = scan(made)
        count = total(offsets, nodes)
        proposals, apexes = device.empty(count, PROPOSAL), device.empty(count, POINT)
        device.launch("pack_proposals", nodes, by_node, offsets, proposals, apexes)
        return proposals, apexes, count

    def _settled(self, proposals: DeviceArray, apexes: DeviceArray, count: int) -> tuple[DeviceArray, int]:
        """Fits proposals to the sizes at their apexes; returns those that nothing blocks."""
        sizes = self._device.empty(count, np.float64)
        self._sizes.evaluate(apexes, count, sizes)
        return self._filtered("settle_proposals", proposals, count, sizes, self._nodes, self._cells.view)

    def _filtered(
        self, kernel: str, proposals: DeviceArray, count: int, *arguments: DeviceArray | Packed
    ) -> tuple[DeviceArray, int]:
        """Returns the proposals that a kernel flags."""
        flags = self._device.empty(count, np.int32)
        self._device.launch(kernel, count, proposals, *arguments, flags)
        offsets = scan(flags)
        left = total(offsets, count)
        kept = self._device.empty(left, PROPOSAL)
        self._device.launch("keep_proposals", count, proposals, flags, offsets, 1, 0, kept)
        return kept, left

    def _accept(self, proposals: DeviceArray, count: int) -> tuple[DeviceArray, int]:
        """Makes nodes of the proposals that beat all rivals; returns the others."""
        device = self._device
        apexes, flags = device.empty(count, POINT), device.empty(count, np.int32)
        self._rivals.clear(count)
        device.launch("add_proposals", count, proposals, apexes, self._rivals.view)
        device.launch("choose_proposals", count, proposals, self._rivals.view, flags)
        offsets = scan(flags)
        accepted = total(offsets, count)
        first, self._count = self._count, min(self._count + accepted, self._outline + self._most)
        self._points, self._node_sizes = self._points.grown(self._count), self._node_sizes.grown(self._count)
        device.launch("accept_proposals", count, proposals, flags, offsets, first, self._count - first, self._nodes)
        self._add_nodes(first)
        left = device.empty(count - accepted, PROPOSAL)
        device.launch("keep_proposals", count, proposals, flags, offsets, 0, 0, left)
        return left, count - accepted

    def _add_nodes(self, first: int) -> None:
        """Adds nodes to the cells; all of them again if the table must grow."""
        if self._count > self._cells.capacity:
            self._cells.clear(2 * self._count)
            first = 0
        self._device.launch("add_nodes", self._count - first, first, self._nodes, self._cells.view)

    def _joined(self, older: DeviceArray, old_count: int, fresh: DeviceArray, count: int) -> tuple[DeviceArray, int]:
        if not old_count:
            return fresh, count
        joined = self._device.empty(old_count + count, PROPOSAL)
        joined[:old_count].copy_from(older)
        joined[old_count:].copy_from(fresh)
        return joined, old_count + count


def _incident(pieces: Int, nodes: int) -> tuple[Int, Int]:
    """Returns the other ends of the pieces at each node, in one list, and where the entries of each node begin."""
    start, end = np.concatenate([pieces, pieces[:, ::-1]]).T
    first = np.zeros(nodes + 1, np.int32)
    np.cumsum(np.bincount(start, minlength=nodes), out=first[1:])
    return first, end[np.argsort(start, kind="stable")].astype(np.int32)
