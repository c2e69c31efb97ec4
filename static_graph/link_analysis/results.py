"""The result of PageRank."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import real_option, switch
from static_graph.common.arrays import as_array, described
from static_graph.common.results import checked_count, checked_mapping, checked_name
from static_graph.errors import GraphError
from static_graph.graph.labels import NodeResult, checked_labels


@dataclass(frozen=True, eq=False)
class PageRank(NodeResult):
    """The PageRank of each node, and how it was computed. The array is read-only, also in copies and pickles.

    Attributes:
        scores: (n,) float64, which sum to 1.
        iterations: number of iterations.
        error: the sum of the absolute changes (L1) of the last iteration; inf without an iteration.
        converged: whether `error` is below the tolerance.
        method: the method that ran; balance: its scheme of load balancing.
        rule: "brin-page" or "report"; precision: "fixed" or "float32".
        device: the device; threads: CPU threads, 0 on a GPU.
        seconds: per phase: "upload" (if the graph was not on the device), "prepare" (data that the method needs; most
            of it is kept with the graph), "iterations", "download".
        node_labels: (n,) the labels of the graph's nodes; None if their numbers are the labels.
    """

    scores: NDArray[np.float64]
    iterations: int
    error: float
    converged: bool
    method: str
    balance: str
    rule: str
    precision: str
    device: str
    threads: int
    seconds: dict[str, float]
    node_labels: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        scores = np.array(as_array(self.scores, "scores"))
        if scores.ndim != 1 or scores.dtype != np.float64:
            raise GraphError(f"scores are float64 in a row, not {described(scores)}")
        self._set(
            scores=scores,
            node_labels=None if self.node_labels is None else checked_labels(self.node_labels, len(scores)),
            error=real_option("error", self.error),
            converged=switch("converged", self.converged),
            seconds=checked_mapping("seconds", self.seconds),
            **{name: checked_count(name, getattr(self, name)) for name in ("iterations", "threads")},
            **{name: checked_name(name, getattr(self, name)) for name in NAMES},
        )

    def of(self, label: Hashable) -> float:
        """Returns the score of the node with a label.

        Raises:
            GraphError: there is no such node. WrongTypeError: a label cannot have this type.
        """
        return float(self.scores[self._node(label)])

    def top(self, k: int) -> NDArray[np.int32]:
        """Returns the `k` nodes of the highest scores, highest first; of equal scores, the smallest node comes first.

        Returns:
            (min(k, n),) int32.

        Raises:
            WrongTypeError: `k` is not a non-negative whole number.
        """
        count = min(checked_count("k", k), len(self.scores))
        if count == 0:
            return np.empty(0, np.int32)
        # All nodes that may be among the first: no lower than the k-th highest score.
        least = np.partition(self.scores, len(self.scores) - count)[len(self.scores) - count]
        nodes = np.flatnonzero(self.scores >= least)
        return nodes[np.argsort(-self.scores[nodes], kind="stable")][:count].astype(np.int32)

    def _nodes(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        return f"PageRank({len(self.scores)} nodes, {self.iterations} iterations, {state})"


NAMES = ("method", "balance", "rule", "precision", "device")
