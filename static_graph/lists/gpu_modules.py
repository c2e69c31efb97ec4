"""The GPU modules for lists, compiled and loaded before the work begins."""

from __future__ import annotations

from static_graph.lists.methods.table import METHODS

ROOTS = ("lists/pointer_jumping",)  # for find_roots
GENERATION = (
    "primitives/gathering",
    "graph/building/generation",
    "lists/generation",
    "primitives/scan",
    "primitives/sorting",
)


def ranking_modules(method: str, *, values: bool = False) -> tuple[str, ...]:
    """Returns the module names for `Device.prepare`; `values`: whether values are summed along the lists."""
    return ("lists/checking", "primitives/scan", *METHODS[method].gpu_modules, *["lists/sums"] * values)
