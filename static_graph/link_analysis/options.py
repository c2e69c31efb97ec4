"""Checks of the options of PageRank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import chosen, real_option, shortened, switch, whole_option
from dmr.common.number_arrays import real_array
from dmr.common.text import option
from static_graph.common.arrays import as_array
from static_graph.errors import GraphError, OptionError, WrongTypeError
from static_graph.link_analysis.table import METHODS, NAMES, PRECISIONS, RULES

TOLERANCE = 1e-6
MOST_ITERATIONS = 2**31 - 1

# Options that the report's rule does not have.
BRIN_PAGE = ("personalization", "dangling", "weighted")


@dataclass(frozen=True)
class Options:
    """Checked options of a computation.

    Attributes:
        alpha: the damping factor, from 0 to 1.
        tolerance: the largest L1 change of a converged result.
        stops: whether the iterations end at the tolerance.
        most_iterations: the most iterations, or their exact number.
        personalization, start, dangling: (n,) float64, not negative, with a sum above 0; None for equal values.
        rule: one of RULES; precision: one of PRECISIONS.
    """

    alpha: float
    tolerance: float
    stops: bool
    most_iterations: int
    personalization: NDArray[np.float64] | None
    start: NDArray[np.float64] | None
    dangling: NDArray[np.float64] | None
    rule: str
    precision: str


def checked_options(
    nodes: int,
    *,
    rule: str = "brin-page",
    precision: str = "fixed",
    personalization: ArrayLike | None = None,
    nstart: ArrayLike | None = None,
    dangling: ArrayLike | None = None,
    weighted: bool | None = None,
    alpha: float = 0.85,
    tol: float | None = None,
    max_iter: int = 100,
    iterations: int | None = None,
) -> Options:
    """Checks the options of `pagerank` for a graph of `nodes` nodes.

    Raises:
        OptionError: a value is out of range, or options exclude each other. WrongTypeError: a value has another type.
    """
    if tol is not None and iterations is not None:
        raise OptionError(
            f"{option('tol')} and {option('iterations')} exclude each other: {option('iterations')} is an exact number"
        )
    rule, precision = chosen("rule", rule, RULES), chosen("precision", precision, PRECISIONS)
    given = dict(zip(BRIN_PAGE, (personalization, dangling, weighted), strict=True))
    if rule == "report" and (extra := [name for name, value in given.items() if value is not None]):
        raise OptionError(f"{option(extra[0])} is not an option of {option('rule')} = 'report', but of 'brin-page'")
    damping = real_option("alpha", alpha)
    if not 0 <= damping <= 1:
        raise OptionError(f"{option('alpha')} = {damping}: it must be from 0 to 1")
    tolerance = TOLERANCE if tol is None else real_option("tol", tol)
    if not 0 < tolerance < math.inf:
        raise OptionError(f"{option('tol')} = {tolerance}: it must be above 0, and finite")
    return Options(
        alpha=damping,
        tolerance=tolerance,
        stops=iterations is None,
        most_iterations=_count("max_iter", max_iter) if iterations is None else _count("iterations", iterations),
        personalization=_vector("personalization", personalization, nodes),
        start=_vector("nstart", nstart, nodes),
        dangling=_vector("dangling", dangling, nodes),
        rule=rule,
        precision=precision,
    )


def checked_method(method: str, balance: str, precision: str) -> tuple[str, str]:
    """Checks and returns a method and a balance that belong together; "auto" stays.

    Raises:
        OptionError: the method is unknown, or does not have the balance or the precision.
    """
    name = chosen("method", method, NAMES)
    balances = METHODS["pull" if name == "auto" else name].balances
    if not (isinstance(balance, str) and balance == "auto"):
        having = " and ".join(repr(each) for each, entry in METHODS.items() if entry.balances)
        if not balances:
            raise OptionError(f"{option('balance')} is not an option of {option('method')} = {name!r}, but of {having}")
        chosen("balance", balance, ("auto", *balances))
    return name, balance


def by_weight(has_weights: bool, weighted: bool | None, rule: str) -> bool:
    """Returns whether the weights of a graph count.

    Raises:
        GraphError: they should, but the graph has none. WrongTypeError: `weighted` is not a truth value.
    """
    if weighted is None:
        return has_weights and rule == "brin-page"
    if switch("weighted", weighted) and not has_weights:
        raise GraphError("the graph has no weights: give it some, or leave weighted out")
    return switch("weighted", weighted)


def _count(name: str, value: Any) -> int:
    number = whole_option(name, value)
    if not 0 <= number <= MOST_ITERATIONS:
        raise OptionError(f"{option(name)} = {shortened(number)}: it must be from 0 to 2^31 - 1")
    return number


def _vector(name: str, values: ArrayLike | None, nodes: int) -> NDArray[np.float64] | None:
    """Checks a number for each node; returns a copy, or None."""
    if values is None:
        return None
    try:
        vector = np.array(real_array(as_array(values, name), none=None))
    except ValueError as error:
        raise WrongTypeError(f"{option(name)} must be one number for each node: {error}") from None
    if vector.shape != (nodes,):
        raise OptionError(
            f"{option(name)} must be one number for each of the {nodes} nodes, not of shape {vector.shape}"
        )
    faulty = ~(np.isfinite(vector) & (vector >= 0))
    if faulty.any():
        node = int(np.argmax(faulty))
        raise OptionError(f"{option(name)}[{node}] = {vector[node]}: it must be at least 0, and finite")
    if nodes and not vector.any():
        raise OptionError(f"{option(name)} has only zeros: at least one number must be above 0")
    return vector
