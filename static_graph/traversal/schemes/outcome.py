"""Interface of the schemes, and their result.

A scheme is a function

    run(graph, sources, *, weighted, depth_limit=None, <its own options>) -> Outcome

`graph` is a `DeviceGraph`. `sources` are one or more of its nodes, all at distance 0. `weighted` says whether weights
count; otherwise every edge has length 1. Nodes farther away than `depth_limit` stay unreached. All schemes give the
same distances.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dmr.memory import DeviceArray
from static_graph.traversal.distances import DeviceDistances


@dataclass(frozen=True)
class Outcome:
    """Distances, and statistics of the run.

    Attributes:
        distances: of all nodes, on the device.
        rounds: number of rounds; relaxed: number of edges examined in all rounds.
        launches: number of kernels that the host, or a recorded loop, launched in the rounds.
        seconds: time of the rounds, without allocation, recording of a loop, and transfers.
        figures: scheme-specific numbers (extra nodes of a split, children that ran, ...).
        parents, order: (nodes,) and (reached,) int32, of a search by queue (`frontiers/queue_search.py`).
    """

    distances: DeviceDistances
    rounds: int
    relaxed: int
    launches: int
    seconds: float
    figures: dict[str, int] = field(default_factory=dict)
    parents: DeviceArray | None = None
    order: DeviceArray | None = None
