"""The table of methods: what `connected_components`, the command line and the preparation of a GPU know of each.

Imports no heavy modules.
"""

from __future__ import annotations

from dataclasses import dataclass

from static_graph.graph.gpu_modules import ROWS


@dataclass(frozen=True)
class Method:
    """A method for one kind of components.

    Attributes:
        function: the module of `static_graph.components`, and its function, that is the method (`outcome.py`).
        gpu_modules: the modules whose kernels it launches.
        serial: whether it runs on one thread of the CPU only.
        transposing: whether it has an argument `transposed`: it is faster with the transposed graph.
    """

    function: str
    gpu_modules: tuple[str, ...] = ()
    serial: bool = False
    transposing: bool = False


_PIVOTS = ("graph/components/largest", "primitives/scan")
_SIGNATURES = ("graph/components/signatures",)

METHODS = {
    "weak": {
        "auto": Method("weak.hooking.run", ("graph/components/hooking", "primitives/scan")),
        "sequential": Method("serial.weak", serial=True),
    },
    "strong": {
        "auto": Method(
            "strong.largest_first.run",
            (*_PIVOTS, *_SIGNATURES, "graph/traversal/breadth_first", "graph/building/incoming", *ROWS),
            transposing=True,
        ),
        "signatures": Method("strong.signatures.run", (*_PIVOTS, *_SIGNATURES)),
        "sequential": Method("serial.strong", serial=True),
    },
}
CONNECTIONS = tuple(METHODS)
