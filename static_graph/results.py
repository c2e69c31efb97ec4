"""What a traversal gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from static_graph.errors import GraphError, OptionError
from static_graph.options import whole
from static_graph.wording import numbered, shown


@dataclass(frozen=True, eq=False)
class Traversal:
    """Distances from some sources, and what happened.

    Attributes:
        distances: (n,) from the nearest source. Of `bfs`: int32, edges, -1 where no path leads. Of `sssp`: the sum of
            the weights, int64 with -1, or float64 with inf, where no path leads.
        parents: (n,) int32: the node before each one on a shortest path, -1 at sources and where no path leads; None
            where they were not asked for.
        sources: where the paths begin.
        balance: the scheme; device: where it ran; threads: of a CPU, 0 on a GPU.
        rounds: how often the scheme went through its work: levels, for one.
        edges_followed: how many edges were looked at, each time that they were.
        launches: kernels that were launched in the rounds.
        seconds: by phase: "upload" (where the graph was not on the device), "prepare" (a first traversal makes what the
            scheme needs and keeps it with the graph), "rounds", "parents", "download".
        figures: the scheme's own: extra nodes of a split, children that ran, ...
    """

    distances: NDArray[Any]
    parents: NDArray[np.int32] | None
    sources: tuple[int, ...]
    balance: str
    device: str
    threads: int
    rounds: int
    edges_followed: int
    launches: int
    seconds: dict[str, float]
    figures: dict[str, int]

    def reached(self) -> NDArray[np.bool_]:
        """(n,) bool: the nodes that a path leads to."""
        real = self.distances.dtype == np.float64
        found: NDArray[np.bool_] = np.isfinite(self.distances) if real else self.distances >= 0
        return found

    def path_to(self, node: int) -> NDArray[np.int32] | None:
        """A shortest path.

        Args:
            node: where it is to end.

        Returns:
            (k,) int32: the nodes from a source to `node`, both included; None where no path leads there.

        Raises:
            OptionError: parents were not asked for, or `node` is no whole number.
            GraphError: there is no such node.
        """
        if self.parents is None:
            raise OptionError("paths follow the parents: ask for them with parents=True")
        nodes, node = len(self.parents), whole("node", node)
        if not 0 <= node < nodes:
            raise GraphError(f"there is no node {shown(node)}: {numbered(nodes, 'node')}")
        if not self.reached()[node]:
            return None
        path, at = [], node
        while at >= 0:
            path.append(at)
            at = int(self.parents[at])
        return np.array(path[::-1], np.int32)

    def __repr__(self) -> str:
        count = np.count_nonzero(self.reached())
        return f"Traversal({count} of {len(self.distances)} nodes reached from {_few(self.sources)}, {self.balance})"


def _few(sources: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, sources[:3]))
    return shown if len(sources) <= 3 else f"{shown} and {len(sources) - 3} more"
