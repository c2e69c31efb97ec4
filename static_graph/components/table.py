"""The table of methods: what `connected_components`, the command line and the preparation of a GPU know of each.

Imports no heavy modules.
"""

from __future__ import annotations

from dataclasses import dataclass

from static_graph.engine.gpu_modules import COLOURS, TRIMMING
from static_graph.graph.gpu_modules import ROWS


@dataclass(frozen=True)
class Method:
    """A method for one kind of components.

    Attributes:
        function: the module of `static_graph.components`, and its function, that is the method (`outcome.py`).
        gpu_modules: the modules whose kernels it launches.
        serial: whether it runs on one thread of the CPU only.
        transposing: whether it has an argument `transposed`: it is faster with the transposed graph.
        options: the names of its options, among them "balance" if the engine runs it.
    """

    function: str
    gpu_modules: tuple[str, ...] = ()
    serial: bool = False
    transposing: bool = False
    options: tuple[str, ...] = ()


_PIVOTS = ("graph/components/largest", "primitives/scan")
_SIGNATURES = ("graph/components/signatures",)
_STEPS = ("graph/components/hooking", *_PIVOTS, *TRIMMING, *COLOURS, "graph/components/steps")

METHODS = {
    "weak": {
        "auto": Method("weak.hooking.run", ("graph/components/hooking", "primitives/scan")),
        "colouring": Method(
            "weak.colouring.run",
            (*_PIVOTS, *COLOURS, "graph/building/incoming", *ROWS),
            options=("balance",),
        ),
        "sequential": Method("serial.weak", serial=True),
    },
    "strong": {
        "auto": Method(
            "strong.largest_first.run",
            (*_PIVOTS, *_SIGNATURES, "graph/traversal/breadth_first", "graph/building/incoming", *ROWS),
            transposing=True,
        ),
        "multistep": Method("strong.multistep.multistep", _STEPS, options=("balance", "trim", "search", "cutoff")),
        "fw-bw": Method("strong.multistep.forward_backward", _STEPS, options=("balance", "trim")),
        "colouring": Method("strong.multistep.colouring", _STEPS, options=("balance",)),
        "signatures": Method("strong.signatures.run", (*_PIVOTS, *_SIGNATURES)),
        "sequential": Method("serial.strong", serial=True),
    },
}
CONNECTIONS = tuple(METHODS)


def methods_with(option: str) -> list[str]:
    """Returns the methods that have an option."""
    return sorted(
        {name for methods in METHODS.values() for name, method in methods.items() if option in method.options}
    )
