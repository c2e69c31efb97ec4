"""PageRank, with networkx's rule for the end of the iterations."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial

import networkx
import numpy as np
from numpy.typing import NDArray

from static_graph import pagerank as find_scores
from static_graph.errors import OptionError
from static_graph.networkx_backend.graph import Graph, declining

Vector = Mapping[Hashable, float]


def pagerank(
    G: Graph,
    alpha: float = 0.85,
    personalization: Vector | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Vector | None = None,
    weight: Hashable | None = "weight",
    dangling: Vector | None = None,
) -> dict[Hashable, float]:
    """Returns the PageRank of each node; the iterations end at a change below `tol` per node."""
    if not len(G):
        return {}
    preferred = _array(G, personalization)
    if preferred is not None and not preferred.sum():
        raise ZeroDivisionError
    if max_iter < 1:
        raise networkx.PowerIterationFailedConvergence(max_iter)
    graph = G.searchable() if weight is None else G.on_device(partial(G.weighted, weight), ("weighted", weight))
    with declining(OptionError):
        found = find_scores(
            graph,
            alpha=alpha,
            tol=len(G) * tol,
            max_iter=max_iter,
            personalization=preferred,
            nstart=_array(G, nstart),
            dangling=_array(G, dangling),
        )
    if not found.converged:
        raise networkx.PowerIterationFailedConvergence(max_iter)
    return dict(zip(G, found.scores.tolist(), strict=True))


def _array(G: Graph, values: Vector | None) -> NDArray[np.float64] | None:
    """Returns the value of each node, 0 for nodes without one."""
    return None if values is None else np.array([values.get(node, 0) for node in G], np.float64)
