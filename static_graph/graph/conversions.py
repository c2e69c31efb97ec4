"""Conversion of scipy sparse matrices and networkx graphs to edges."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import kind_of, shortened
from dmr.common.text import option
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
        raise GraphError(f"an adjacency matrix must be a scipy sparse matrix or array, not {kind}")
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
    """Returns offsets, targets, weights or None, and the names of the nodes of a networkx graph.

    Args:
        graph: the graph; an undirected edge becomes two edges, a self loop stays one.
        weight: the edge attribute that holds the weight (1 for edges without it), or None for no weights.

    Raises:
        WrongTypeError: `graph` is not a networkx graph, or `weight` cannot name an attribute.
        GraphError: the weights are not numbers.
    """
    networkx = sys.modules.get("networkx")  # a graph of networkx cannot exist before it is imported
    if networkx is None or not isinstance(graph, networkx.Graph):
        raise WrongTypeError(f"graph must be a networkx graph, not {type(graph).__name__}")
    if weight is not None:
        _check_attribute(weight)
    names = list(graph.nodes)
    rows = [graph._adj[name] for name in names]  # the dictionaries themselves: each view of networkx costs a call
    multigraph = graph.is_multigraph()
    offsets, targets = adjacency_rows(rows, {name: k for k, name in enumerate(names)}, multigraph)
    values = edge_values(rows, weight, None, multigraph) if weight is not None else []
    if all(value is None for value in values):
        return offsets, targets, None, names
    weights = as_array([1 if value is None else value for value in values], "weights")
    if weights.shape != targets.shape:
        raise GraphError(f"weights must be one number per edge, not an array of shape {weights.shape}")
    return offsets, targets, weights, names


def adjacency_rows(
    rows: Sequence[Any], numbers: Mapping[Any, int], multigraph: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Returns offsets (n + 1,) and targets (m,) of a networkx graph; edges keep the order of its adjacency.

    Args:
        rows: the neighbours of each node: lists of names, or dictionaries from names to the data of edges.
        numbers: the number of each node.
        multigraph: whether the data are dictionaries of parallel edges.
    """
    degrees = np.fromiter(map(len, rows), np.int64, len(rows))
    targets = np.fromiter(map(numbers.__getitem__, chain.from_iterable(rows)), np.int32, int(degrees.sum()))
    if multigraph:
        parallel = np.fromiter((len(edges) for row in rows for edges in row.values()), np.int64, len(targets))
        ends = np.cumsum(np.append(0, parallel))[np.cumsum(np.append(0, degrees))]
        return ends, np.repeat(targets, parallel)
    return np.cumsum(np.append(0, degrees)), targets


def edge_values(rows: Sequence[Mapping[Any, Any]], attribute: Hashable, default: Any, multigraph: bool) -> list[Any]:
    """Returns an attribute of each edge, in the order of `adjacency_rows`; `default` for edges without it."""
    if multigraph:
        return [data.get(attribute, default) for row in rows for parallel in row.values() for data in parallel.values()]
    return [data.get(attribute, default) for row in rows for data in row.values()]


def build_networkx(
    ends: tuple[NDArray[Any], NDArray[Any]],
    weights: NDArray[Any] | None,
    names: Sequence[Any],
    create_using: Any,
    weight: Hashable,
) -> Any:
    """Makes a networkx graph of a class (default: DiGraph) from edges; the arguments are those of `to_networkx`.

    Raises:
        GraphError: the class is undirected and an edge has no opposite, or it has no parallel edges and an edge has.
        WrongTypeError: `create_using` is not a class of networkx graphs, or `weight` cannot name an attribute.
    """
    import networkx

    kind = networkx.DiGraph if create_using is None else create_using
    if not isinstance(kind, type) or not issubclass(kind, networkx.Graph):
        raise WrongTypeError(f"create_using = {shortened(create_using)}: it must be a networkx graph class")
    _check_attribute(weight)
    graph = kind()
    sources, targets = ends
    if not graph.is_multigraph():
        _check_single(sources, targets, graph.is_directed())
    if not graph.is_directed():
        _check_symmetric(sources, targets, np.zeros(len(sources)) if weights is None else weights)
        once = sources <= targets
        sources, targets, weights = sources[once], targets[once], None if weights is None else weights[once]
    graph.add_nodes_from(names)
    pairs = (map(names.__getitem__, numbers.tolist()) for numbers in (sources, targets))
    if weights is None:
        graph.add_edges_from(zip(*pairs, strict=True))
    else:
        graph.add_weighted_edges_from(zip(*pairs, weights.tolist(), strict=True), weight=weight)
    return graph


def _check_attribute(weight: object) -> None:
    """Raises WrongTypeError unless `weight` can name an attribute of edges."""
    try:
        hash(weight)
        names = weight is not None and not isinstance(weight, (bool, np.bool_))
    except Exception:  # raised by a foreign object
        names = False
    if not names:
        raise WrongTypeError(f"{option('weight')} = {shortened(weight)}: it must be the name of an attribute")


def _check_single(sources: NDArray[Any], targets: NDArray[Any], directed: bool) -> None:
    """Raises GraphError for the first edge that is parallel to another one."""
    order = np.lexsort((targets, sources))
    repeated = (np.diff(sources[order]) == 0) & (np.diff(targets[order]) == 0)
    if repeated.any():
        edge = int(order[1:][repeated].min())
        kind = "MultiDiGraph" if directed else "MultiGraph"
        raise GraphError(f"is parallel to another one: create_using=networkx.{kind} keeps both", "edge", edge)


def _check_symmetric(sources: NDArray[Any], targets: NDArray[Any], weights: NDArray[Any]) -> None:
    """Raises GraphError unless each edge has an opposite with the same weight."""
    forward, backward = np.lexsort((weights, targets, sources)), np.lexsort((weights, sources, targets))
    differing = (sources[forward] != targets[backward]) | (targets[forward] != sources[backward])
    differing |= weights[forward] != weights[backward]
    if not differing.any():
        return
    first = int(np.argmax(differing))
    edge, other = int(forward[first]), int(backward[first])  # the opposite of the lesser one is missing
    lesser = (sources[edge], targets[edge], weights[edge]) < (targets[other], sources[other], weights[other])
    reason = "has no opposite edge with the same weight; an undirected graph needs one"
    raise GraphError(reason, "edge", edge if lesser else other)


def plain(names: Sequence[Any]) -> bool:
    """Returns whether names are the numbers 0, 1, ... in order."""
    return all(isinstance(name, int) and name == k for k, name in enumerate(names))
