"""Degree statistics and distributions, and the splitting level chosen by a ten-bucket histogram (thesis, 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import shortened, whole_option
from dmr.common.available import require_memory
from dmr.common.text import option
from static_graph.common.arguments import check_graph
from static_graph.common.arrays import as_array, described
from static_graph.errors import OptionError, WrongTypeError
from static_graph.graph.checks import MOST
from static_graph.graph.csr import CsrGraph

COUNT_BYTES = 2 * 8  # per degree: the count by numpy, and its copy
BUCKETS = 10  # of the histogram (thesis, 4.2.1)

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class DegreeStatistics:
    """Statistics of degrees.

    Attributes:
        minimum, mean, maximum, variance: of the degrees; 0 for a graph without nodes.
        zero: number of nodes of degree 0.
        largest: the first node of the largest degree; -1 for a graph without nodes.
    """

    minimum: int
    mean: float
    maximum: int
    variance: float
    zero: int
    largest: int


def in_degrees(graph: CsrGraph) -> Counts:
    """Returns the number of incoming edges of each node, (n,) int64."""
    return np.bincount(graph.targets, minlength=graph.nodes).astype(np.int64)


def degree_statistics(degrees: ArrayLike) -> DegreeStatistics:
    """Returns the statistics of (n,) degrees, such as `graph.out_degrees` or `in_degrees(graph)`.

    Raises:
        GraphError, OptionError: the values are not degrees.
    """
    degrees = _as_degrees(degrees)
    if len(degrees) == 0:
        return DegreeStatistics(0, 0.0, 0, 0.0, 0, -1)
    return DegreeStatistics(
        minimum=int(degrees.min()),
        mean=float(degrees.mean()),
        maximum=int(degrees.max()),
        variance=float(degrees.var()),
        zero=int(np.count_nonzero(degrees == 0)),
        largest=int(degrees.argmax()),
    )


def isolated_nodes(graph: CsrGraph) -> int:
    """Returns the number of nodes with neither outgoing nor incoming edges."""
    touched = graph.out_degrees > 0
    touched[graph.targets] = True
    return graph.nodes - int(np.count_nonzero(touched))


def degree_distribution(degrees: ArrayLike) -> Counts:
    """Returns the number of nodes of each degree, (maximum + 1,) int64 (figures 4.2 and 4.3).

    Raises:
        GraphError, OptionError: the values are not degrees.
    """
    degrees = _as_degrees(degrees)
    largest = int(degrees.max(initial=0))
    require_memory(COUNT_BYTES * (largest + 1), f"a distribution of degrees up to {largest}")
    return np.bincount(degrees.astype(np.int64)).astype(np.int64)


def split_distribution(distribution: Counts, mda: int) -> Counts:
    """Returns the degree distribution after node splitting (section 4.2; figure 6.1).

    A node of degree d becomes ceil(d / mda) nodes whose degrees differ by at most one.

    Args:
        distribution: number of nodes of each degree.
        mda: the maximum degree allowed, at least 1.

    Returns:
        The distribution for the nodes and their children; its sum exceeds the old one by the number of extra nodes.
    """
    if whole_option("mda", mda) < 1:
        raise OptionError(f"{option('mda')} must be at least 1, not {shortened(mda)}")
    mda = min(mda, max(len(distribution), 1))  # a value above the largest degree splits no node
    degrees = np.arange(len(distribution))
    parts = np.maximum(-(-degrees // mda), 1)
    share, larger = degrees // parts, degrees % parts
    after = np.zeros(max(min(mda, len(distribution) - 1) + 1, 1), np.int64)
    np.add.at(after, share, (parts - larger) * distribution)
    some = larger > 0
    np.add.at(after, share[some] + 1, (larger * distribution)[some])
    return after


def degree_histogram(degrees: ArrayLike) -> Counts:
    """Returns the histogram of degrees, (10,) int64, in ten buckets of equal width up to the largest degree (4.2.1).

    Raises:
        GraphError, OptionError: the values are not degrees.
    """
    counts = np.zeros(BUCKETS, np.int64)
    distribution = degree_distribution(degrees)
    np.add.at(counts, _buckets(len(distribution)), distribution)
    return counts


def automatic_mda(graph: CsrGraph) -> int:
    """Returns the splitting level by the histogram heuristic: the largest degree in the fullest bucket (section 4.2.1).

    Among equally full buckets, the one with the smallest degrees counts. The result is at least 1, also for a graph
    without edges.

    Raises:
        WrongTypeError: `graph` is not a graph.
    """
    check_graph(graph, CsrGraph)
    distribution = degree_distribution(graph.out_degrees)
    if len(distribution) == 0:
        return 1
    fullest = int(degree_histogram(graph.out_degrees).argmax())
    fitting = np.flatnonzero((_buckets(len(distribution)) == fullest) & (distribution > 0))
    return max(int(fitting[-1]), 1)


def _as_degrees(values: ArrayLike) -> NDArray[Any]:
    if isinstance(values, CsrGraph):
        raise WrongTypeError("degrees are numbers, not a graph: give graph.out_degrees")
    degrees = as_array(values, "degrees")
    if degrees.ndim == 1 and not degrees.size:
        return np.empty(0, np.int64)
    if degrees.ndim != 1 or degrees.dtype.kind not in "iu":
        raise WrongTypeError(f"degrees are one whole number per node, not {described(degrees)}")
    if degrees.size > MOST:
        raise OptionError(f"{degrees.size:,} degrees are more than the {MOST:,} nodes that a graph can have")
    if degrees.min() < 0:
        raise OptionError(f"degrees are not negative, but that of node {int(degrees.argmin())} is {degrees.min()}")
    return degrees


def _buckets(degrees: int) -> NDArray[np.intp]:
    """Returns the bucket of each degree from 0 to degrees - 1; the largest degree falls into the last bucket."""
    largest = max(degrees - 1, 1)
    return np.minimum(np.arange(degrees) * BUCKETS // largest, BUCKETS - 1)
