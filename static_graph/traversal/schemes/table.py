"""The table of schemes: what `bfs` and `sssp`, the command line and the preparation of a GPU know of each.

Imports no heavy modules. A new scheme is an entry here, a module beside this one, and a `.cu` file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from static_graph.engine.gpu_modules import ENGINE
from static_graph.graph.gpu_modules import TRANSPOSING


@dataclass(frozen=True)
class Option:
    """An option of one or more schemes.

    Attributes:
        kind: of its values: "count" (a whole number from 0), "positive" (from 1), "degree" (from 1, or "auto"), "real"
            (above 0) or "switch" (True or False).
        text: what it is; for a switch, what happens if it is off (for --help).
    """

    kind: Literal["count", "positive", "degree", "real", "switch"]
    text: str


OPTIONS = {
    "mda": Option("degree", "the maximum degree allowed (default: auto)"),
    "threshold": Option("count", "nodes with more edges launch a child"),
    "warp_size": Option("positive", "lanes per virtual warp: 1, 2, 4, 8, 16 or 32"),
    "chunk": Option("positive", "nodes that a warp takes from the queue at a time"),
    "defer": Option("count", "nodes with more edges are left to whole blocks"),
    "atomic": Option("switch", "relax by plain stores"),
    "delta": Option("real", "increment of the near bound"),
}


@dataclass(frozen=True)
class Scheme:
    """A scheme, or the default of an algorithm.

    Attributes:
        module: the module of `static_graph.traversal` whose function `run` is the scheme (`outcome.py`).
        gpu_modules: the modules whose kernels it launches; "{kind}" stands for the kind of the distances, such as hops.
        options: the names of its options.
        strategy: its argument `strategy`, if schemes share the module.
        transposing: the GPU modules that transpose the graph, if the scheme has an argument `transposed`.
        finds_parents: whether it has an argument `parents`; otherwise they are derived from the distances.
    """

    module: str
    gpu_modules: tuple[str, ...]
    options: tuple[str, ...] = ()
    strategy: str | None = None
    transposing: tuple[str, ...] = ()
    finds_parents: bool = False


_DISTANCES = ("graph/schemes/fixed_point", "graph/traversal/export")
_ROUNDS = ("primitives/device_loop", *_DISTANCES)
_COLLAPSE = (*ENGINE, "graph/schemes/relaxation", *_DISTANCES)

SCHEMES = {
    "none": Scheme("schemes.fixed_point", _ROUNDS, ("atomic",)),
    "split": Scheme(
        "schemes.node_splitting",
        (*_ROUNDS, "graph/schemes/node_splitting", "primitives/scan"),
        ("mda", "atomic"),
    ),
    "child-launch": Scheme(
        "schemes.child_launches", (*_ROUNDS, "graph/schemes/child_relaxation"), ("threshold", "atomic")
    ),
    "warp": Scheme(
        "schemes.virtual_warps",
        (*_ROUNDS, "graph/schemes/virtual_warps/deferred", "graph/schemes/virtual_warps/relax_{kind}"),
        ("warp_size", "chunk", "defer"),
    ),
    "hierarchical": Scheme("schemes.collapse", _COLLAPSE, strategy="hierarchical"),
    "collapse-local": Scheme("schemes.collapse", _COLLAPSE, strategy="collapse-local"),
    "collapse-global": Scheme("schemes.collapse", _COLLAPSE, strategy="collapse-global"),
}

# The default, without and with weights.
FASTEST = {
    False: Scheme(
        "frontiers.direction_optimising",
        ("graph/traversal/breadth_first", *_DISTANCES),
        transposing=TRANSPOSING,
        finds_parents=True,
    ),
    True: Scheme(
        "frontiers.near_far",
        ("graph/traversal/near_far/near_far", "graph/traversal/near_far/search_{kind}", *_DISTANCES),
        ("delta",),
    ),
}

# Breadth-first search in the order of a sequential queue.
ORDERED = Scheme("frontiers.queue_search", ("graph/traversal/queue_search", *_DISTANCES))

BALANCES = ("auto", *SCHEMES)


def schemes(*, weighted: bool) -> dict[str, Scheme]:
    """Returns the schemes by the names of the balances, among them "auto"."""
    return {"auto": FASTEST[weighted], **SCHEMES}


def balances_with(option: str, *, weighted: bool = True) -> list[str]:
    """Returns the balances that have an option."""
    return [name for name, scheme in schemes(weighted=weighted).items() if option in scheme.options]
