"""PageRank."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Mapping
from functools import partial

import networkx
import numpy as np
from numpy.typing import NDArray

from static_graph.errors import OptionError
from static_graph.networkx_backend.graph import Graph, declining
from static_graph.pagerank import pagerank as find_scores

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
    """Returns the PageRank of each node; the iteration stops when the scores change by less than n * tol in all."""
    if not len(G):
        return {}
    vectors = {
        name: None if values is None else _array(G, name, values)
        for name, values in (("personalization", personalization), ("nstart", nstart), ("dangling", dangling))
    }
    if vectors["personalization"] is not None and vectors["personalization"].sum() == 0:
        raise ZeroDivisionError
    if max_iter < 1:
        raise networkx.PowerIterationFailedConvergence(max_iter)
    graph = G.searchable() if weight is None else G.on_device(partial(G.weighted, weight), ("weighted", weight))
    with warnings.catch_warnings(), declining(OptionError):
        warnings.simplefilter("ignore")
        found = find_scores(graph, alpha=alpha, tol=len(G) * tol, max_iter=max_iter, **vectors)
    if not found.converged:
        raise networkx.PowerIterationFailedConvergence(max_iter)
    return dict(zip(G, found.scores.tolist(), strict=True))
