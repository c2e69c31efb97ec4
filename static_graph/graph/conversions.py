"""Conversion of scipy sparse matrices and networkx graphs to edges."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import kind_of, shortened
from static_graph.common.arrays import as_array, as_whole
from static_graph.errors import GraphError, WrongTypeError


def read_matrix(matrix: Any, weighted: bool) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None, int, bool]:
    """Reads the entries of a scipy sparse matrix.

    Returns:
        Five items. The first two are offsets and targets if the last item is True (the matrix is in CSR format),
        otherwise sources and targets. The third and fourth are the weights or None, and the number of nodes.

    Raises:
        GraphError: the argument is not a sparse matrix, not square, or damaged.
    """
    from scipy.sparse import issparse

    if not issparse(matrix):
        kind = kind_of(matrix)
        raise GraphError(f"an adjacency matrix must be a sparse matrix or array of scipy's, not {kind}")
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"an adjacency matrix must be square, not of shape {tuple(matrix.shape)}")
    weighted = weighted and matrix.dtype != np.bool_
    if matrix.format != "csr":  # scipy's conversion to CSR would add up duplicate entries; here they stay separate
        try:
            if hasattr(matrix, "check_format"):
                matrix.check_format(full_check=True)  # tocoo trusts the arrays
            matrix = matrix.tocoo()
        except MemoryError:
            raise
        except Exception as error:
            raise GraphError(f"the adjacency matrix is damaged: {error}") from error
        return matrix.row, matrix.col, matrix.data if weighted else None, matrix.shape[0], False
    offsets, targets = as_whole(matrix.indptr, "indptr"), as_whole(matrix.indices, "indices")
    stored = int(offsets[-1]) if len(offsets) else 0
    if len(offsets) != matrix.shape[0] + 1 or not 0 <= stored <= len(targets):
        raise GraphError("the adjacency matrix is damaged: indptr does not fit its shape and its indices")
    data = as_array(matrix.data, "weights")[:stored] if weighted else None
    return offsets, targets[:stored], data, matrix.shape[0], True


def read_networkx(
    graph: Any, weight: Hashable | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None, list[Any]]:
    """Returns sources, targets, weights or None, and the names of the nodes of a networkx graph.

    Args:
        graph: the graph; an undirected edge becomes two edges, a self loop stays one.
        weight: the edge attribute that holds the weight (1 for edges without it), or None for no weights.

    Raises:
        WrongTypeError: `graph` is not a networkx graph, or `weight` cannot name an attribute.
        GraphError: the weights are not numbers.
    """
    networkx = sys.modules.get("networkx")  # a graph of networkx cannot exist before it is imported
    if networkx is None or not isinstance(graph, networkx.Graph):
        raise WrongTypeError(f"graph must be a graph of networkx's, not {type(graph).__name__}")
    if isinstance(weight, (bool, np.bool_)) or not isinstance(weight, Hashable):
        raise WrongTypeError(f"weight = {shortened(weight)}: it must be the name of an attribute, or None")
    names = list(graph.nodes)
    number = {name: k for k, name in enumerate(names)}
    edges = list(graph.edges(data=weight, default=None) if weight is not None else graph.edges(data=False))
    sources = np.array([number[edge[0]] for edge in edges], np.int64)
    targets = np.array([number[edge[1]] for edge in edges], np.int64)
    weights = None
    if weight is not None and any(edge[2] is not None for edge in edges):
        weights = as_array([1 if edge[2] is None else edge[2] for edge in edges], "weights")
        if weights.shape != sources.shape:
            raise GraphError(f"weights must be one number an edge, not an array of shape {weights.shape}")
    if not graph.is_directed():
        back = sources != targets
        sources, targets = np.concatenate([sources, targets[back]]), np.concatenate([targets, sources[back]])
        weights = None if weights is None else np.concatenate([weights, weights[back]])
    return sources, targets, weights, names


def plain(names: Sequence[Any]) -> bool:
    """Returns whether names are the numbers 0, 1, ... in order."""
    return all(isinstance(name, int) and name == k for k, name in enumerate(names))
