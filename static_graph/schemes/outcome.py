"""What a scheme returns.

A scheme is a function

    run(graph, sources, *, weighted, depth_limit=None, <its own options>) -> Outcome

of a `DeviceGraph`, one or more nodes of it that are all at distance 0, and whether weights count (without them every
edge is one step). Nodes beyond `depth_limit`, in steps or in weights, are left unreached. All schemes give the same
distances.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from static_graph.distances import DeviceDistances


@dataclass(frozen=True)
class Outcome:
    """Distances, and how they were found.

    Attributes:
        distances: of all nodes, on the device.
        rounds: how often the scheme went through its work; relaxed: edges that were looked at in all of them.
        launches: kernels that the host, or a recorded loop, launched in the rounds.
        seconds: of the rounds: allocation, recording of a loop and transfers apart.
        figures: the scheme's own (extra nodes of a split, children that ran, ...).
    """

    distances: DeviceDistances
    rounds: int
    relaxed: int
    launches: int
    seconds: float
    figures: dict[str, int] = field(default_factory=dict)
