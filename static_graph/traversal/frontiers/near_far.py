"""Balance "auto" of shortest paths: the near-far method (`cuda_src/graph/traversal/near_far/near_far`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dmr.memory import Packed, pack
from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal.distances import DeviceDistances, DistanceKind
from static_graph.traversal.frontiers.workspace import TILE, Entry, Kernels, Workspace
from static_graph.traversal.schemes.outcome import Outcome

# Delta is chosen so that this many edges of an average node are shorter than delta, if lengths are uniform from 0 to
# twice their mean. A larger delta means fewer rounds, but more edges relaxed in vain. If a round has little work for a
# GPU, the bound is raised by up to WIDEST_ON_GPU deltas at once.
SHORT_EDGES_ON_CPU = 2
SHORT_EDGES_ON_GPU = 3
WIDEST_ON_GPU = 16

MOST_DELTA = 2**62  # for integer distances

# Longest far list that one team splits alone; on a GPU at most the size of an OUTBOX
# (cuda_src/graph/traversal/control.cuh).
SINGLE_BLOCK_FAR_ON_GPU = 1024
SINGLE_BLOCK_FAR_ON_ONE_THREAD = 2**31
SINGLE_BLOCK_FAR_ON_THREADS = 4096

SAMPLES, SAMPLE = 16, 4096  # number and length of the blocks of weights from which their mean is estimated


class NearFarWorkspace(Workspace):
    """A workspace with the near and far lists (`NearFar` of `cuda_src/graph/traversal/near_far/near_far`)."""

    def __init__(self, graph: DeviceGraph) -> None:
        super().__init__(graph)
        self.epochs, self.is_far, *self.far_lists = (graph.device.empty(graph.nodes, np.int32) for _ in range(4))

    def packed(self, delta: float, whole: bool, widest: int) -> Packed:
        """Returns the lists as a kernel argument; the bound is raised by 1 to `widest` deltas at once."""
        single_block_far = {0: SINGLE_BLOCK_FAR_ON_GPU, 1: SINGLE_BLOCK_FAR_ON_ONE_THREAD}.get(
            self.device.threads, SINGLE_BLOCK_FAR_ON_THREADS
        )
        return pack(
            "NearFar",
            epochs=self.epochs,
            is_far=self.is_far,
            far_list0=self.far_lists[0],
            far_list1=self.far_lists[1],
            delta=min(max(int(delta), 1), MOST_DELTA) if whole else 1,
            real_delta=float(delta),
            widest=widest,
            single_block_far=single_block_far,
        )


def run(
    graph: DeviceGraph,
    sources: Sequence[int],
    *,
    weighted: bool = True,
    depth_limit: float | None = None,
    delta: float | None = None,
    one_launch: bool | None = None,
) -> Outcome:
    """Relaxes the edges of near nodes until none is left, raises the near bound, and repeats.

    Args:
        graph, sources, weighted, depth_limit: as for every scheme (`schemes/outcome.py`); weights always count.
        delta: the increment of the bound; the default depends on mean weight and degree.
        one_launch: whether one launch does all rounds; the default depends on the device.

    Returns:
        The outcome, without scheme-specific figures.
    """
    assert weighted
    device, nodes = graph.device, graph.nodes
    distances = DeviceDistances(graph, sources, weighted=True, limit=depth_limit, reset=False)
    widest = WIDEST_ON_GPU if delta is None and device.threads == 0 else 1
    if delta is None:
        delta = default_delta(graph)
    kind = distances.kind
    kernels = Kernels(
        "begin_near_far", "single_block_near_far", "near_far_pass", "end_near_far",
        f"search_near_far_{kind.name.lower()}",
    )  # fmt: skip
    with NearFarWorkspace.borrowed(graph) as space:
        lists = space.packed(delta, kind != DistanceKind.REAL, widest)
        arguments = (graph.csr, distances.packed, space.frontier, lists)
        splits = {Entry.OTHER: device.tiles(nodes, TILE)}
        return space.run(kernels, arguments, distances, most_teams=splits, in_one_launch=one_launch)


def default_delta(graph: DeviceGraph) -> float:
    """Returns the default delta for a graph with weights."""
    short = SHORT_EDGES_ON_GPU if graph.device.threads == 0 else SHORT_EDGES_ON_CPU
    mean = graph.derived("mean weight", lambda: _mean_weight(graph))
    return 2 * mean * short * graph.nodes / max(graph.edges, 1)


def _mean_weight(graph: DeviceGraph) -> float:
    """Estimates the mean weight from a sample; returns 1 if all weights are 0."""
    assert graph.weights is not None
    if not graph.edges or not graph.largest_weight:
        return 1.0
    begins = range(0, graph.edges, max(-(-graph.edges // SAMPLES), SAMPLE))
    values = np.concatenate([graph.weights[begin : begin + SAMPLE].download() for begin in begins])
    return float(graph.largest_weight * (values / graph.largest_weight).mean())  # no sum overflows
