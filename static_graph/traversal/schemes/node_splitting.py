"""Balance "split": nodes of large degree are split, so that no thread has more than MDA edges (thesis, section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dmr.common.text import option
from dmr.memory import DeviceArray, Packed, pack, scan, total
from static_graph.engine.repetition import repeat
from static_graph.errors import GraphError, OptionError
from static_graph.graph.degrees import automatic_mda
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.packing import WEIGHT_FIELDS
from static_graph.traversal.distances import DeviceDistances
from static_graph.traversal.schemes.outcome import Outcome
from static_graph.traversal.schemes.rounds import RoundState
from static_graph.traversal.schemes.timeline import Timeline, packed_timeline

MOST_NODES = 2**31 - 1


@dataclass(frozen=True)
class SplitGraph:
    """A graph whose nodes have at most `mda` edges.

    Attributes:
        shared: the parents, which keep their numbers, followed by all children; edges lead to parents only.
        first: (parents + 1,) int32: number of children of the parents before; split: the same as a kernel argument.
        mda: the maximum degree allowed; extra: total number of children.
    """

    shared: DeviceGraph
    first: DeviceArray
    split: Packed
    mda: int
    extra: int


def split_graph(graph: DeviceGraph, mda: int) -> SplitGraph:
    """Splits each node with more than `mda` edges into ceil(degree / mda) nodes, with nearly equal shares.

    Raises:
        OptionError: `mda` is not positive.
        GraphError: there would be more nodes than 32 bits can number.
    """
    if mda < 1:
        raise OptionError(f"{option('mda')} = {mda}: it must be at least 1")
    return graph.derived(("split", mda), lambda: _split(graph, mda))


def _split(graph: DeviceGraph, mda: int) -> SplitGraph:
    device = graph.device
    children = device.empty(graph.nodes, np.int32)
    device.launch("count_children", graph.nodes, graph.csr, mda, children)
    if graph.nodes + graph.edges // mda > MOST_NODES:  # otherwise all sums of children fit 32 bits
        raise GraphError(
            f"with {option('mda')} = {mda} there may be more than {MOST_NODES} nodes: allow a larger degree"
        )
    first = scan(children)
    extra = total(first, graph.nodes)
    split = pack("Split", first=first, parents=graph.nodes)
    degrees = device.empty(graph.nodes + extra, graph.offsets.dtype)
    narrow = degrees.dtype == np.int32
    of_both = (degrees if narrow else None, None if narrow else degrees)
    device.launch("split_degrees", graph.nodes, graph.csr, split, *of_both)
    targets = device.empty(graph.edges, np.int32)
    weights = None if graph.weights is None else device.empty(graph.edges, graph.weights.dtype)
    shared = DeviceGraph(scan(degrees), targets, weights, graph.largest_weight)
    by_kind = [weights if weights is not None and weights.dtype == kind else None for kind in WEIGHT_FIELDS]
    device.launch("share_edges", graph.nodes, graph.csr, split, shared.csr, targets, *by_kind)
    return SplitGraph(shared, first, split, mda, extra)


def run(
    graph: DeviceGraph,
    sources: Sequence[int],
    *,
    weighted: bool,
    depth_limit: float | None = None,
    mda: int | Literal["auto"] = "auto",
    atomic: bool = True,
    timeline: Timeline | None = None,
) -> Outcome:
    """Relaxes the edges of parents and children until nothing changes (Algorithm 1).

    Args:
        graph, sources, weighted, depth_limit: as for every scheme (`outcome.py`).
        mda: the maximum degree allowed; "auto" chooses it by the ten-bucket histogram (section 4.2.1).
        atomic: relax by an atomic minimum, which needs no update of the children after a round (section 4.4);
            otherwise by plain stores, with the update.
        timeline: records when each block ran; or None.

    Returns:
        The outcome. Its figures: mda; extra_nodes.

    Raises:
        OptionError, GraphError: as for `split_graph`.
    """
    device = graph.device
    divided = split_graph(graph, _automatic(graph) if mda == "auto" else mda)
    shared, split = divided.shared, divided.split
    distances = DeviceDistances(graph, sources, weighted=weighted, limit=depth_limit, capacity=shared.nodes)
    state, recorded = RoundState.on(device), packed_timeline(timeline)

    def update_children() -> None:
        device.launch("update_child_distances", graph.nodes, shared.csr, split, distances.packed)

    def one_round() -> None:
        device.launch(
            "relax_split_nodes", shared.nodes, shared.csr, split, distances.packed, int(atomic), state.progress,
            state.relaxed, recorded,
        )  # fmt: skip
        if not atomic:
            update_children()
        state.end_round()

    update_children()  # those of the sources
    figures = {"mda": divided.mda, "extra_nodes": divided.extra}
    return state.outcome(distances, repeat(device, state.stop, one_round), figures)


def _automatic(graph: DeviceGraph) -> int:
    host = graph.host
    if host is None:
        raise OptionError(f"{option('mda')} = 'auto' needs the degrees of a graph that was uploaded: give a number")
    return graph.derived("automatic mda", lambda: automatic_mda(host))
