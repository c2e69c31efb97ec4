"""The bodies of the graph engine, with the strategies and options that the study compares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from static_graph.engine.colours import GROWTH, coloured
from static_graph.engine.loop import STRATEGIES, Counts, how, how_for
from static_graph.engine.trimming import trimmed_nodes
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.incoming import incoming
from static_graph.traversal.schemes import collapse

OPTIONS = ("coalesced", "shared_queue", "team_primitives")
LETTERS = ("M", "MC", "MCS", "MCSL")  # the local collapse, with the options added one by one
AUTO = "auto"

Result = tuple[NDArray[Any], Counts]


@dataclass(frozen=True)
class Case:
    """A strategy, or "auto", with the first `options` of `OPTIONS`."""

    strategy: str
    options: int = len(OPTIONS)

    @property
    def chosen(self) -> dict[str, bool]:
        """The options by name."""
        return {name: number < self.options for number, name in enumerate(OPTIONS)}


CASES = (
    *(Case(strategy) for strategy in STRATEGIES),
    *(Case("collapse-local", options) for options in range(len(OPTIONS))),
    Case(AUTO),
)


def _search(weighted: bool) -> Callable[[DeviceGraph, int, Case], Result | None]:
    def run(graph: DeviceGraph, source: int, case: Case) -> Result | None:
        if case.strategy == AUTO:  # which is not a body of the engine: the study of traversals measures it
            return None
        found = collapse.run(graph, [source], weighted=weighted, strategy=case.strategy, **case.chosen)
        counts = Counts(found.rounds, found.figures["expanded"], found.relaxed, found.launches, found.seconds)
        return found.distances.download(), counts

    return run


def _colours(graph: DeviceGraph, _source: int, case: Case) -> Result:
    if case.strategy == AUTO:
        colours, counts = coloured(graph, how_for(AUTO, graph), alone=True, growth=GROWTH)
    else:
        colours, counts = coloured(graph, how(case.strategy, **case.chosen))
    return colours.download(), counts


def _colours_without_atomics(graph: DeviceGraph, _source: int, case: Case) -> Result | None:
    if case.strategy == AUTO:
        return None
    colours, counts = coloured(graph, how(case.strategy, **case.chosen), atomic=False)
    return colours.download(), counts


def _trimming(graph: DeviceGraph, _source: int, case: Case) -> Result:
    auto = case.strategy == AUTO
    chosen = how_for(AUTO, graph, *filter(None, [incoming(graph)])) if auto else how(case.strategy, **case.chosen)
    trimmed, counts = trimmed_nodes(graph, chosen, alone=auto)
    return trimmed.download().astype(np.uint8), counts


# Each function runs a case from a source, which only searches use; None if the body does not have the case.
BODIES: Mapping[str, Callable[[DeviceGraph, int, Case], Result | None]] = {
    "bfs": _search(weighted=False),
    "sssp": _search(weighted=True),
    "colours": _colours,
    "colours, no atomics": _colours_without_atomics,
    "trimming": _trimming,
}
