"""Checks of a graph's arrays: offsets, edge endpoints, weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import shortened, whole_option
from dmr.common.text import counted, numbered
from static_graph.common.arrays import as_array, described
from static_graph.common.pieces import bounds, converted, pieces
from static_graph.errors import GraphError

MOST = 2**31 - 1  # most nodes of a graph, and most edges with 32-bit offsets

Whole = NDArray[np.integer[Any]]


def checked_weights(values: ArrayLike, edges: int) -> NDArray[Any]:
    """Copies weights to int32, int64 or float64.

    Raises:
        GraphError: there is not one weight per edge, or a weight is invalid; the error names the edge.
    """
    given = as_array(values, "weights")
    if given.shape != (edges,):
        raise GraphError(f"weights must have shape ({edges},), one per edge, not {given.shape}")
    if edges == 0 and given.dtype.kind not in "iuf":
        given = np.empty(0, np.int32)
    if given.dtype.kind not in "iuf":
        raise GraphError(f"weights must be whole or real numbers, not {described(given)}")
    if given.dtype.kind == "f":
        with np.errstate(all="ignore"):
            sound = edges == 0 or (np.isfinite(given.max()) and given.min() >= 0)
            if not sound:
                index = int(np.flatnonzero(~(np.isfinite(given) & (given >= 0)))[0])
                raise GraphError(_weight_fault(given[index]), "edge", index)
            weights = given.astype(np.float64)
        if not np.isfinite(weights.max(initial=0)):  # a long double
            raise GraphError("has a weight beyond float64", "edge", int(np.flatnonzero(~np.isfinite(weights))[0]))
        weights += 0.0  # -0.0 becomes 0.0
        return weights
    low, high = int(given.min(initial=0)), int(given.max(initial=0))
    if low < 0 or high > 2**63 - 1:
        index = int(np.flatnonzero((given < 0) | (given > 2**63 - 1))[0])
        raise GraphError(_weight_fault(given[index]), "edge", index)
    return given.astype(np.int32 if high <= MOST else np.int64)


def _weight_fault(weight: Any) -> str:
    if weight < 0:
        return f"has the negative weight {weight}; distances need non-negative weights"
    kind = "above 2^63 - 1" if isinstance(weight, np.integer) else "which is not finite"
    return f"has the weight {weight}, {kind}"


def checked_copy(values: Whole, dtype: Any, check: Callable[..., None], *details: Any) -> NDArray[Any]:
    """Copies integers to another dtype after `check(values, *details)` has accepted them.

    The copy is checked again, because another thread may change the caller's array meanwhile.
    """
    check(values, *details)
    copy = converted(values, dtype)
    check(copy, *details)
    return copy


def check_sortable(edges: int) -> None:
    """Raises GraphError if so many edges cannot be sorted."""
    if edges > MOST:
        raise GraphError(f"{edges} edges are more than the {MOST} that can be sorted")


def check_offsets(offsets: Whole, edges: int) -> None:
    """Raises GraphError unless the offsets are non-decreasing from 0 to the number of edges."""
    if len(offsets) == 0:
        raise GraphError("offsets must have one number more than there are nodes: at least a 0")
    checked_nodes(len(offsets) - 1)
    if offsets[0] != 0:
        raise GraphError(f"offsets must begin with 0, not {offsets[0]}")
    for part in pieces(len(offsets) - 1):
        falls = offsets[1:][part] < offsets[:-1][part]
        if not falls.any():
            continue
        node = part.start + int(np.argmax(falls))
        raise GraphError(f"its edges end at {offsets[node + 1]}, before they begin at {offsets[node]}", "node", node)
    if offsets[-1] != edges:
        raise GraphError(
            f"offsets end with {offsets[-1]}, but with {counted(edges, 'target')} they must end with {edges}"
        )


def checked_nodes(nodes: int) -> int:
    """Checks and returns a number of nodes.

    Raises:
        GraphError: the number is out of range. WrongTypeError: it is not an integer.
    """
    nodes = whole_option("nodes", nodes)
    if not 0 <= nodes <= MOST:
        raise GraphError(f"a graph has 0 to {MOST} nodes, not {shortened(nodes)}")
    return nodes


def check_ends(ends: Whole, nodes: int, verb: str) -> None:
    """Raises GraphError for the first edge with an endpoint that is not a node; `verb` says which endpoint."""
    low, high = bounds(ends)
    if low >= 0 and high < nodes:
        return
    index = int(np.flatnonzero((ends < 0) | (ends >= nodes))[0])
    raise GraphError(f"{verb} node {ends[index]}, but {numbered(nodes, 'node')}", "edge", index)
