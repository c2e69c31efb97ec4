"""Interface of the methods, and their result.

A method is a function

    run(graph, <its own options>) -> Outcome

`graph` is a `DeviceGraph`. All methods for weak components find the same labels, and so do those for strong ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dmr.memory import DeviceArray


@dataclass(frozen=True)
class Outcome:
    """Components, and statistics of the run.

    Attributes:
        labels: (nodes,) int32, on the device: the smallest node of each node's component.
        rounds: number of rounds.
        seconds: by step of the method, if it has several; figures: method-specific numbers.
    """

    labels: DeviceArray
    rounds: int
    seconds: dict[str, float] = field(default_factory=dict)
    figures: dict[str, int] = field(default_factory=dict)
