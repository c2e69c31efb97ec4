"""The table of PageRank's methods: what `pagerank`, the command line and the preparation of a GPU know of each.

Imports no heavy modules.
"""

from __future__ import annotations

from dataclasses import dataclass

from static_graph.graph.gpu_modules import ROWS


@dataclass(frozen=True)
class Method:
    """A method.

    Attributes:
        text: what it does (for --help).
        gpu_modules: the modules whose kernels it launches, besides those of all methods; its own module is named like
            it, with underscores.
        balances: its schemes of load balancing, besides "auto".
        transposed: whether it needs the transposed graph.
    """

    text: str
    gpu_modules: tuple[str, ...]
    balances: tuple[str, ...] = ()
    transposed: bool = True


COMMON = ("graph/pagerank/begin", "primitives/scan")  # of all methods
TRANSPOSING = ("graph/building/incoming", *ROWS)

METHODS = {
    "pull": Method("each node sums the shares of its predecessors", ("graph/pagerank/pull", "graph/pagerank/tiles")),
    "sequential": Method("one thread", ("graph/pagerank/sequential", "primitives/device_loop"), transposed=False),
}
NAMES = ("auto", *METHODS)

RULES = ("brin-page", "report")
PRECISIONS = ("fixed", "float32")
