"""Distances on a device, in the form in which kernels compare them, and their conversion to the user's form.

`cuda_src/graph/traversal/distances` describes the forms, and explains why the bits of floats can be compared as
integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.memory import DeviceArray, Enumeration, Packed, pack
from static_graph.errors import GraphError
from static_graph.graph.device_graph import DeviceGraph


class DistanceKind(Enumeration):
    """The form of distances on a device."""


UNREACHED = {  # in the device's form
    DistanceKind.HOPS: 2**31 - 1,
    DistanceKind.NARROW: 2**31 - 1,
    DistanceKind.WIDE: 2**63 - 1,
    DistanceKind.REAL: int(np.float64(np.inf).view(np.int64)),
}


class DeviceDistances:
    """Distances of all nodes from the sources, initially 0 at the sources and unreached elsewhere.

    Attributes:
        kind: the kind of distance; array: (nodes,) int32 (HOPS, NARROW) or int64 (WIDE, REAL).
        limit: the largest distance that is ever set, in the device's form.
        sources: (sources,) int32, on the host, in the given order and without repetitions.
        source: the source if there is only one, otherwise -1.
        packed: the distances as a kernel argument.
    """

    def __init__(
        self,
        graph: DeviceGraph,
        sources: Sequence[int],
        *,
        weighted: bool,
        limit: float | None = None,
        capacity: int | None = None,
        reset: bool = True,
    ) -> None:
        """Allocates the array, and launches the kernels that initialise it.

        Args:
            graph: the graph.
            sources: nodes of the graph; may be empty.
            weighted: distances are sums of weights instead of numbers of edges.
            limit: the largest distance wanted (not negative); None for no limit.
            room: capacity in nodes, at least the graph's nodes; larger if a scheme adds nodes.
            reset: initialise the array. Otherwise the caller initialises it, and enters the sources (`enter_sources`).

        Raises:
            GraphError: there are no weights, or integer weights so large that a distance may not fit 64 bits.
        """
        self.kind = kind_for(graph, weighted)
        self.limit = UNREACHED[self.kind] if limit is None else _device_form(self.kind, limit)
        device, self._graph, self._nodes = graph.device, graph, graph.nodes
        narrow = self.kind in (DistanceKind.HOPS, DistanceKind.NARROW)
        self.array: DeviceArray = device.empty(capacity or graph.nodes, np.int32 if narrow else np.int64)
        self.packed: Packed = pack(
            "Distances",
            narrow=self.array if narrow else None,
            wide=None if narrow else self.array,
            kind=int(self.kind),
            limit=self.limit,
        )
        distinct = list(dict.fromkeys(sources))
        self.sources: NDArray[np.int32] = np.array(distinct, np.int32)
        self.source = distinct[0] if len(distinct) == 1 else -1
        if reset:
            device.launch("reset_distances", self.array.size, graph.csr, self.packed, self.source)
            if self.source < 0:
                self.enter_sources(device.array(self.sources))

    def enter_sources(self, sources: DeviceArray) -> None:
        """Sets the distances of the sources, an array on the device, to 0; a single source is set by the reset."""
        self._graph.device.launch("set_sources", sources.size, sources, self._graph.csr, self.packed)

    def download(self) -> NDArray[Any]:
        """Returns the distances of the graph's nodes in the user's form (`shown`); waits for the device."""
        shown = self.shown()
        return shown.download() if self.kind == DistanceKind.REAL else shown.detach()  # the former is shared

    def shown(self, into: DeviceArray | None = None) -> DeviceArray:
        """Returns the distances of the graph's nodes in the user's form, on the device.

        Args:
            into: receives them; by default the array that holds them already, or a new one of wider numbers.

        Returns:
            (nodes,) int32 (HOPS) or int64 (NARROW, WIDE), with -1 for unreached nodes; float64 with inf (REAL).
        """
        if self.kind == DistanceKind.REAL:
            real = self.array[: self._nodes].view(np.float64)
            if into is None:
                return real
            into.copy_from(real)
            return into
        hops = self.kind == DistanceKind.HOPS
        if into is not None:
            shown = into
        elif hops:
            shown = self.array[: self._nodes]
        else:
            shown = self._graph.device.empty(self._nodes, np.int64)
        self._graph.device.launch(
            "export_distances",
            self._nodes,
            self._graph.csr,
            self.packed,
            shown if hops else None,
            None if hops else shown,
        )
        return shown


def kind_for(graph: DeviceGraph, weighted: bool) -> DistanceKind:
    """Returns the smallest kind of distance that all distances are guaranteed to fit.

    Raises:
        GraphError: there are no weights, or distances may not fit 64 bits.
    """
    if not weighted:
        return DistanceKind.HOPS
    if graph.weights is None:
        raise GraphError("the graph has no weights: give it some (with_random_weights draws them), or search by bfs")
    if graph.weights.dtype == np.float64:
        return DistanceKind.REAL
    # A relaxation adds one edge to a path of at most nodes - 1 edges.
    largest = graph.nodes * int(graph.largest_weight)
    if largest < UNREACHED[DistanceKind.NARROW] and graph.weights.dtype == np.int32:
        return DistanceKind.NARROW
    if largest < UNREACHED[DistanceKind.WIDE]:
        return DistanceKind.WIDE
    raise GraphError(
        f"paths over {graph.nodes} nodes with weights up to {int(graph.largest_weight)} may be longer than 64 bits "
        "hold: divide the weights, or make them float64"
    )


def _device_form(kind: DistanceKind, limit: float) -> int:
    if kind == DistanceKind.REAL:
        return int((np.float64(limit) + 0.0).view(np.int64))  # the bits of -0.0 would be the smallest integer
    return int(limit) if limit < UNREACHED[kind] else UNREACHED[kind]
