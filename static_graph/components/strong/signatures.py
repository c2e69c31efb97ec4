"""Strong components from all pivots at once, by signatures (`cuda_src/graph/components/signatures.cu`, ECL-SCC)."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray, Enumeration, constant, pack
from static_graph.components.outcome import Outcome
from static_graph.components.pivots import label_by_smallest
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.edge_blocks import edge_blocks

MEETING = constant("MEETING")
TEAMS_PER_PROCESSOR = 4  # fewer teams wait for less time at a barrier
MOST_TEAMS = 4096  # on a CPU, which divides them among its threads


class SignatureEntry(Enumeration, count="SIGNATURE_ENTRIES"):
    """Indices into the progress of the rounds."""


def run(graph: DeviceGraph) -> Outcome:
    """Finds the strong components from all pivots at once."""
    device, nodes = graph.device, graph.nodes
    labels = device.empty(nodes, np.int32)
    device.launch("fill_indices", nodes, labels)
    rounds, passes = finish(graph, device.zeros(nodes, np.int32), labels)
    label_by_smallest(labels)
    return Outcome(labels, rounds=rounds, figures={"passes": passes})


def finish(
    graph: DeviceGraph,
    numbers: DeviceArray,
    labels: DeviceArray,
    forward: DeviceArray | None = None,
    backward: DeviceArray | None = None,
) -> tuple[int, int]:
    """Finds the strong components of the nodes whose entry in `numbers` is 0; waits for the end.

    Args:
        graph: the graph.
        numbers: (nodes,) int32.
        labels: (nodes,) int32: the nodes' own numbers, which become those of their components' pivots.
        forward, backward: (nodes,) int32: distances of two searches from one node, whose components are not split by
            the nodes that one of them has reached; or None.

    Returns:
        The number of rounds, and that of passes, which depends on the order of the threads.
    """
    device, nodes, edges = graph.device, graph.nodes, graph.edges
    arrays = {
        **{name: device.empty(edges, np.int32) for name in ("sources0", "sources1", "targets0", "targets1")},
        **{name: device.empty(nodes, np.uint32) for name in ("above", "below")},
        "pivots": labels,
        "progress": device.zeros(len(SignatureEntry), np.int32),
        "begun": device.zeros(1, np.int64),
        "meeting": device.zeros(MEETING, np.uint64),
    }
    signatures, progress = pack("Signatures", **arrays), arrays["progress"]
    device.launch("list_remaining_edges", edge_blocks(graph), graph.csr, numbers, forward, backward, signatures)
    device.launch("begin_signatures", min(nodes, 1), signatures)
    teams = TEAMS_PER_PROCESSOR * device.multiprocessors or MOST_TEAMS
    paused = True
    while paused:  # the device returns early, so that signals are handled
        device.launch("match_signatures", teams, signatures)
        done = progress.download()
        paused = bool(done[SignatureEntry.PAUSED_PASS])
        if paused:
            done[SignatureEntry.CURRENT], done[SignatureEntry.PAUSED_PASS] = done[SignatureEntry.PAUSED_PASS], 0
            progress.upload(done)
    return int(done[SignatureEntry.ROUNDS_DONE]), int(done[SignatureEntry.PASSES_DONE])
