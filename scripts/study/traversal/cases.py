"""Cases of the study of traversals: schemes with options, by the part of the study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scripts.study.traversal.papers import THESIS_GRAPHS
from static_graph.engine.loop import STRATEGIES
from static_graph.graph.csr import CsrGraph
from static_graph.graph.degrees import automatic_mda
from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal.frontiers import direction_optimising, near_far
from static_graph.traversal.schemes import child_launches, collapse, fixed_point, node_splitting, virtual_warps
from static_graph.traversal.schemes.outcome import Outcome


def _automatic(graph: DeviceGraph, sources: Sequence[int], *, weighted: bool) -> Outcome:
    """Balance "auto": the default of `bfs` and `sssp`."""
    run = near_far.run if weighted else direction_optimising.run
    return run(graph, sources, weighted=weighted)


SCHEMES: Mapping[str, Callable[..., Outcome]] = {
    "none": fixed_point.run,
    "split": node_splitting.run,
    "child-launch": child_launches.run,
    "warp": virtual_warps.run,
    "collapse": collapse.run,
    "auto": _automatic,
}
LEAST_THRESHOLD = 8  # below this, nearly all nodes would launch a child
SWEPT_WIDTHS = (8, 32)  # warp widths for the sweeps of chunks and outliers
CHUNKS = (4, 16, 64, 256, 1024)
OUTLIERS = (64, 256, 1024)
ABLATION = ("coalesced", "shared_queue", "team_primitives")


@dataclass(frozen=True)
class Case:
    """A scheme with its options."""

    scheme: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[Any, ...]:
        """Key that is equal for equal cases."""
        return self.scheme, tuple(sorted(self.options.items()))


BASE = Case("none", {"atomic": False})  # the thesis' baseline has no atomics


def cases(parts: list[str], graph: CsrGraph) -> list[Case]:
    """Cases of some parts of the study on a graph: each once, the baseline first, the default always included."""
    wanted = [BASE, Case("none"), Case("auto"), *(case for part in parts for case in PARTS[part](graph))]
    return list({case.key: case for case in wanted}.values())


def degrees_allowed(graph: CsrGraph) -> list[int]:
    """MDA values of the sweep: powers of two up to the largest degree, the histogram's value and the thesis' values."""
    largest = max(int(graph.out_degrees.max()), 1)
    powers = [2**k for k in range(largest.bit_length())]
    return sorted({*powers, *(theirs.mda for theirs in THESIS_GRAPHS.values()), automatic_mda(graph), largest})


def thresholds(graph: CsrGraph) -> list[int]:
    """Thresholds of the sweep of child launches."""
    swept = {mda for mda in degrees_allowed(graph) if mda >= LEAST_THRESHOLD}
    return sorted(swept | {theirs.threshold for theirs in THESIS_GRAPHS.values()})


def _mda(graph: CsrGraph) -> list[Case]:
    """Tables 6.1 and 6.2, figures 6.2 to 6.4 and 6.6 of the thesis."""
    split = [
        Case("split", {"mda": mda, "atomic": atomic}) for mda in degrees_allowed(graph) for atomic in (False, True)
    ]
    children = [Case("child-launch", {"threshold": degree, "atomic": False}) for degree in thresholds(graph)]
    return split + children


def _warps(_graph: CsrGraph) -> list[Case]:
    """Sweeps of the maximum-warp paper: widths, chunks, outliers."""
    widths = [Case("warp", {"warp_size": width}) for width in virtual_warps.WIDTHS]
    chunks = [Case("warp", {"warp_size": width, "chunk": chunk}) for width in SWEPT_WIDTHS for chunk in CHUNKS]
    outliers = [
        Case("warp", {"warp_size": width, "chunk": 64, "defer": many}) for width in SWEPT_WIDTHS for many in OUTLIERS
    ]
    return widths + chunks + outliers


def _collapse(_graph: CsrGraph) -> list[Case]:
    """Strategies of Slota et al., and the local collapse with their options added one by one."""
    strategies = [Case("collapse", {"strategy": strategy}) for strategy in STRATEGIES]
    return strategies + [ablated(count) for count in range(len(ABLATION))]


def ablated(count: int) -> Case:
    """The local collapse with the first `count` options only; with all of them it is the strategy itself."""
    if count == len(ABLATION):
        return Case("collapse", {"strategy": "collapse-local"})
    return Case("collapse", {"strategy": "collapse-local", **{name: k < count for k, name in enumerate(ABLATION)}})


# Cases whose GTEPS are measured from many sources.
SEARCHED = (
    Case("auto"),
    *(Case("collapse", {"strategy": strategy}) for strategy in STRATEGIES),
    Case("warp", {"warp_size": 32}),
)

PARTS: Mapping[str, Callable[[CsrGraph], list[Case]]] = {"mda": _mda, "warps": _warps, "collapse": _collapse}
