"""The table of list ranking methods: what `rank`, the command line and the preparation of a GPU know of each.

Imports no heavy modules.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """A method.

    Attributes:
        module: the module beside this one whose function `run` is the method (`ranked.py`).
        gpu_modules: the modules whose kernels it launches; options: the names of its options.
    """

    module: str
    gpu_modules: tuple[str, ...]
    options: frozenset[str] = frozenset()


_JUMPING = ("lists/pointer_jumping", "lists/ruling_set")

METHODS = {
    "wyllie": Method("wyllie", _JUMPING, frozenset({"packing"})),
    "lock-step": Method("lock_step", _JUMPING),
    "on-demand": Method("on_demand", _JUMPING),
    "helman-jaja": Method("helman_jaja", _JUMPING, frozenset({"splitters", "spacing", "finish", "finish_size"})),
    "sequential": Method("sequential", ("lists/sequential_ranking",)),
}
NAMES = ("auto", *METHODS)

# Values of the options of "helman-jaja".
RULES = ("n / log n", "n / (2 log^2 n)")
SPACINGS = ("random", "equal")
FINISHES = ("one", "cpu", "wyllie")
