"""Every traversal scheme, with options that together reach all of its code: for the sanitizers and the tests.

A scheme of the table without an entry in `VARIANTS` runs once, with its default options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from static_graph.traversal.schemes.table import SCHEMES
from static_graph.traversal.schemes.virtual_warps import WIDTHS

PLAIN = {"coalesced": False, "shared_queue": False, "team_primitives": False}
_COLLAPSE: Mapping[str, Mapping[str, Any]] = {"all": {}, "plain": PLAIN}

# The options of each variant, by the name of the balance and that of the variant.
VARIANTS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "none": {"atomic": {}, "racing": {"atomic": False}},
    "split": {"by three": {"mda": 3}, "by one": {"mda": 1}, "racing": {"mda": 2, "atomic": False}},
    "child-launch": {
        "atomic": {"threshold": 3},
        "racing": {"threshold": 0, "atomic": False},
        "few": {"threshold": 2, "most_children": 3},
    },
    "warp": {
        **{f"width {width}": {"warp_size": width} for width in WIDTHS},
        **{f"width {width}, chunks": {"warp_size": width, "chunk": 7} for width in (1, 8, 32)},
        "outliers": {"warp_size": 8, "defer": 4},
        "all outliers": {"warp_size": 32, "chunk": 16, "defer": 0},
    },
    "hierarchical": _COLLAPSE,
    "collapse-local": {
        **_COLLAPSE,
        "coalesced": {"shared_queue": False, "team_primitives": False},
        "coalesced, shared queue": {"team_primitives": False},
    },
    "collapse-global": _COLLAPSE,
}


def schemes_with_variants() -> Iterator[tuple[str, Callable[..., Any], dict[str, dict[str, Any]]]]:
    """Yields (balance, function, options by variant) for each scheme in the table."""
    for name, scheme in SCHEMES.items():
        shared = {} if scheme.strategy is None else {"strategy": scheme.strategy}
        variants = VARIANTS.get(name, {"default": {}})
        run = import_module(f"static_graph.traversal.{scheme.module}").run
        yield name, run, {variant: {**shared, **options} for variant, options in variants.items()}


def scheme_runs() -> Iterator[tuple[str, str, Callable[..., Any], dict[str, Any]]]:
    """Yields (balance, variant, function, options) for each variant of each scheme."""
    for name, run, variants in schemes_with_variants():
        for variant, options in variants.items():
            yield name, variant, run, options
