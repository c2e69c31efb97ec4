"""The table of methods: what `connected_components`, the command line and the preparation of a GPU know of each.

Imports no heavy modules.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """A method for one kind of components.

    Attributes:
        function: the module of `static_graph.components`, and its function, that is the method (`outcome.py`).
        gpu_modules: the modules whose kernels it launches.
        serial: whether it runs on one thread of the CPU only.
    """

    function: str
    gpu_modules: tuple[str, ...] = ()
    serial: bool = False


METHODS = {
    "weak": {
        "auto": Method("weak.hooking.run", ("graph/components/hooking", "primitives/scan")),
        "sequential": Method("serial.weak", serial=True),
    },
    "strong": {
        "auto": Method("serial.strong", serial=True),
        "sequential": Method("serial.strong", serial=True),
    },
}
CONNECTIONS = tuple(METHODS)
