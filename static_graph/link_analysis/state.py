"""State of a PageRank computation on a device: scores, shares, ratios, and the control of the iterations."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from dmr.memory import DeviceArray, Enumeration, Packed, pack
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.incoming import required_incoming
from static_graph.graph.renumbering import by_degree
from static_graph.link_analysis.options import Options
from static_graph.link_analysis.ratios import (
    ONE_RATIO,
    ONE_SCORE,
    RATIO_BITS,
    SCORE_BITS,
    edge_ratios,
    node_ratios,
    ratio,
    vector_ratios,
)


class RankEntry(Enumeration, count="RANK_ENTRIES"):
    """Indices into the progress of a computation."""


class RankTotal(Enumeration, count="RANK_TOTALS"):
    """Indices into its totals."""


class State:
    """A computation, whose kernels take `packed` (`cuda_src/graph/pagerank/iteration.cuh`).

    Attributes:
        graph: the graph; device: its device; weighted: whether its weights count.
        even: whether all nodes have the same ratios of the dangling and the teleported mass, and keep no score
            (`Iteration::is_even`).
        order: (nodes,) int32, the number of each node in the graph, in vectors and in results, if nodes are renumbered;
            None otherwise.
        narrow: whether shares are stored as float32; buffers: the double buffer of shares, by its fields in kernels.
        scores: (nodes,) uint64, in units of 2^-62.
        progress: (len(RankEntry),) int32; totals: (len(RankTotal),) uint64.
        packed: all of it as a kernel argument.
    """

    def __init__(
        self,
        graph: DeviceGraph,
        options: Options,
        *,
        weighted: bool,
        dense: bool = False,
        renumbered: bool = False,
    ) -> None:
        """Allocates the arrays, and launches the kernels that initialise them. The graph has nodes.

        With `dense`, a transition matrix contains the ratios of the nodes, and the columns of dangling nodes. With
        `renumbered`, nodes are numbered by out-degree, for methods that need the transposed graph alone.
        """
        device, nodes = graph.device, graph.nodes
        self.graph, self.device, self.weighted = graph, device, weighted
        found = by_degree(graph, weighted=weighted) if renumbered else None
        self._back = None if found is None else found.back
        order = self.order = None if found is None else found.order
        self.scores = device.empty(nodes, np.uint64)
        self.progress = device.zeros(len(RankEntry), np.int32)
        self.totals = device.zeros(len(RankTotal), np.uint64)
        narrow = self.narrow = options.precision == "float32"
        shares = [device.empty(nodes, np.float32 if narrow else np.uint64) for _ in range(2)]
        personalization, dangling = (
            vector_ratios(device, each, order) for each in (options.personalization, options.dangling)
        )
        if dense:
            ratios = device.array(np.full(nodes, ONE_RATIO, np.uint64))
        else:
            ratios = node_ratios(graph, order, weighted=weighted)
        self._kept = (personalization, dangling, ratios)  # `packed` has their addresses only
        alpha = ratio(options.alpha)
        report = options.rule == "report"
        self.even = not report and personalization is None and dangling is None
        self._tolerance = _units(options.tolerance)
        self.buffers: dict[str, DeviceArray | None] = {
            "shares0": None if narrow else shares[0],
            "shares1": None if narrow else shares[1],
            "narrow0": shares[0] if narrow else None,
            "narrow1": shares[1] if narrow else None,
        }
        self.packed: Packed = pack(
            "PageRank",
            scores=self.scores,
            **self.buffers,
            node_ratios=ratios,
            personalization=personalization,
            dangling=personalization if dangling is None else dangling,
            totals=self.totals,
            progress=self.progress,
            keep=alpha if report else 0,
            move=ONE_RATIO - alpha if report else alpha,
            even=ratio(1 / nodes),
            teleported=0 if report else (ONE_RATIO - alpha) >> (RATIO_BITS - SCORE_BITS),
            tolerance=self._tolerance if options.stops else 0,
            most_iterations=options.most_iterations,
            nodes=nodes,
            hot=nodes if order is None else min(nodes, device.cache_size // 2 // shares[0].dtype.itemsize),
        )
        start = vector_ratios(device, options.start, order)
        device.launch("begin_scores", device.pieces(nodes), self.packed, start)
        device.launch("end_scores", 1, self.packed)

    @property
    def stop(self) -> DeviceArray:
        """(1,) int32: 1 if no further iteration follows."""
        return self.progress[RankEntry.RANK_STOP : RankEntry.RANK_STOP + 1]

    def edge_ratios(self, *, transposed: bool) -> DeviceArray | None:
        """Returns the ratios of the edges of the graph or of the transposed graph; None without weights."""
        if not self.weighted:
            return None
        return edge_ratios(self.graph, self.back() if transposed else None, self.order)

    def back(self) -> DeviceGraph:
        """Returns the transposed graph, whose nodes may be renumbered; it is kept with the graph.

        Raises:
            GraphError: there are too many edges to sort.
        """
        return required_incoming(self.graph, weighted=self.weighted) if self._back is None else self._back

    def repeat(self, one_iteration: Callable[[], None]) -> float:
        """Makes the device repeat the launches of `one_iteration` until the end; returns the seconds."""
        with self.device.rehearsal():
            one_iteration()
        loop = self.device.loop(one_iteration, self.stop)
        self.device.synchronize()
        begun = perf_counter()
        loop.run()
        self.device.synchronize()
        return perf_counter() - begun

    def outcome(self) -> tuple[int, float, bool]:
        """Returns the number of iterations, the L1 change of the last one (inf if there is none), and whether it is
        below the tolerance: compared in units, as by the kernels, because the change as a number is rounded."""
        iterations = int(self.progress.download()[RankEntry.ITERATIONS])
        if iterations == 0:
            return 0, math.inf, False
        change = int(self.totals.download()[RankTotal.LAST_CHANGE])
        return iterations, change / ONE_SCORE, change < self._tolerance

    def download(self) -> NDArray[np.float64]:
        """Returns the scores as numbers that sum to 1, in the order of the vectors."""
        shown = self.device.empty(self.scores.size, np.float64)
        self.device.launch("export_scores", shown.size, self.scores, self.order, shown)
        return shown.detach()


def _units(tolerance: float) -> int:
    """Returns the least number of units that is not below a tolerance: a smaller number of units is below it, too."""
    return min(math.ceil(min(float(tolerance * ONE_SCORE), 2.0**64)), 2**64 - 1)  # the product may be infinite
