"""The table of PageRank's methods: what `pagerank`, the command line and the preparation of a GPU know of each.

Imports no heavy modules.
"""

from __future__ import annotations

from dataclasses import dataclass

from static_graph.engine.gpu_modules import ENGINE
from static_graph.graph.gpu_modules import ROWS


@dataclass(frozen=True)
class Method:
    """A method.

    Attributes:
        text: what it does (for --help).
        module: the module of `methods` whose function `run` is the method; variant: its argument, if methods share
            the module.
        gpu_modules: the modules whose kernels it launches, besides those of all methods.
        balances: the strategies of the engine that it has, besides "auto".
        transposed: whether it needs the transposed graph.
        by_degree: whether the nodes of a large graph are numbered by out-degree before.
        matrices: the number of dense matrices that it allocates.
    """

    text: str
    module: str
    gpu_modules: tuple[str, ...]
    balances: tuple[str, ...] = ()
    transposed: bool = True
    by_degree: bool = False
    variant: str | None = None
    matrices: int = 0


PULL_LOOP = ("graph/pagerank/pull_loop", "graph/pagerank/push", *ENGINE)  # of the strategies of the engine
COMMON = ("graph/pagerank/begin", "primitives/scan")  # of all methods

_LOOP = ("graph/pagerank/push", "primitives/device_loop")
_DENSE = ("graph/pagerank/dense", *_LOOP)

METHODS = {
    "pull": Method(
        "each node sums the shares of its predecessors",
        "pull",
        ("graph/pagerank/pull", "graph/pagerank/tiles", "primitives/device_loop"),
        balances=("baseline", "hierarchical", "collapse-local", "collapse-global"),
        by_degree=True,
    ),
    "push": Method("each edge adds its share to its target, atomically", "push", _LOOP, transposed=False),
    "blocked": Method(
        "propagation blocking: shares are sorted by blocks of targets first",
        "blocked",
        ("graph/pagerank/blocked", *_LOOP, *ROWS),
        transposed=False,
    ),
    "dense": Method("the report's N x N matrix, a thread per row", "dense", _DENSE, variant="dense", matrices=1),
    "dense-atomic": Method(
        "the same, a thread per entry that adds atomically", "dense", _DENSE, variant="dense-atomic", matrices=1
    ),
    "dense-sub-scores": Method(
        "the same, a thread per entry that stores a sub-score", "dense", _DENSE, variant="dense-sub-scores", matrices=2
    ),
    "sequential": Method(
        "one thread", "sequential", ("graph/pagerank/sequential", "primitives/device_loop"), transposed=False
    ),
}
NAMES = ("auto", *METHODS)

RULES = ("brin-page", "report")
PRECISIONS = ("fixed", "float32")
