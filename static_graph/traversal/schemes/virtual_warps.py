"""Balance "warp": one virtual warp per node (Hong, Kim, Oguntebi, Olukotun: Accelerating CUDA Graph Algorithms at
Maximum Warp, 2011).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dmr.common.text import option
from dmr.memory import DeviceCount, pack
from static_graph.engine.repetition import repeat
from static_graph.errors import OptionError
from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal.distances import DeviceDistances, DistanceKind
from static_graph.traversal.schemes.outcome import Outcome
from static_graph.traversal.schemes.rounds import TEAM_SIZE, Entry, RoundState

WIDTHS = (1, 2, 4, 8, 16, 32)
UNBOUNDED = 2**62


def run(
    graph: DeviceGraph,
    sources: Sequence[int],
    *,
    weighted: bool,
    depth_limit: float | None = None,
    warp_size: int = 32,
    chunk: int | None = None,
    defer: int | None = None,
) -> Outcome:
    """Relaxes the edges of the active nodes, round by round.

    Args:
        graph, sources, weighted, depth_limit: as for every scheme (`outcome.py`).
        warp_size: lanes per virtual warp: 1, 2, 4, 8, 16 or 32. On a CPU each virtual warp is a thread.
        chunk: nodes that a warp takes from the work queue at a time (the paper's dynamic work distribution); None for a
            static distribution.
        defer: nodes with more edges are left to whole blocks (the paper's outliers); None defers no nodes.

    Returns:
        The outcome. Its figures: warp_size.

    Raises:
        OptionError: an invalid warp size, a chunk that is not positive, or a negative bound for outliers.
    """
    if warp_size not in WIDTHS:
        raise OptionError(
            f"{option('warp_size')} = {warp_size}: a virtual warp has {', '.join(map(str, WIDTHS))} lanes"
        )
    if chunk is not None and chunk < 1:
        raise OptionError(f"{option('chunk')} = {chunk}: it must be at least 1")
    if defer is not None and defer < 0:
        raise OptionError(f"{option('defer')} = {defer}: it must be at least 0")
    device = graph.device
    distances = DeviceDistances(graph, sources, weighted=weighted, limit=depth_limit)
    needs_last = distances.kind != DistanceKind.HOPS
    last = DeviceDistances(graph, [], weighted=weighted) if needs_last else distances
    state = RoundState.on(device)
    most_deferred = 0 if defer is None else min(graph.nodes, graph.edges // (defer + 1))
    deferred = device.empty(max(most_deferred, 1), np.int32)
    options = pack(
        "WarpOptions",
        width=warp_size,
        chunk=0 if chunk is None else min(chunk, max(graph.nodes, 1)),  # more would overflow the queue's counter
        defer=UNBOUNDED if defer is None else defer,
        deferred=deferred,
    )
    outliers = DeviceCount(state.progress[Entry.DEFERRED : Entry.DEFERRED + 1], most_deferred)
    teams = device.tiles(graph.nodes, TEAM_SIZE // warp_size)
    if chunk is not None:
        teams = min(device.most_pieces, teams)

    relax = f"relax_by_virtual_warps_{distances.kind.name.lower()}"

    def one_round() -> None:
        device.launch(
            relax, teams, graph.csr, distances.packed, last.packed, options, state.progress, state.cursors,
            state.relaxed,
        )  # fmt: skip
        device.launch(
            "relax_deferred", outliers, graph.csr, distances.packed, last.packed, deferred, state.progress,
            state.relaxed,
        )  # fmt: skip
        state.end_round()

    return state.outcome(distances, repeat(device, state.stop, one_round), {"warp_size": warp_size})
