"""Strong components by the methods of the papers, from the steps of `steps.py`."""

from __future__ import annotations

from static_graph.components.outcome import Outcome
from static_graph.components.strong.steps import Decomposition
from static_graph.graph.device_graph import DeviceGraph

CUTOFF = 100_000  # nodes: with fewer, a serial search is faster (Slota et al. 2014, section III)


def multistep(
    graph: DeviceGraph, *, balance: str, trim: bool = True, search: bool = True, cutoff: int = CUTOFF
) -> Outcome:
    """Runs the Multistep method (Slota, Rajamanickam, Madduri 2014).

    Args:
        graph: the graph; balance: of the engine.
        trim: whether to trim first; search: whether to take the component of the largest degree product next.
        cutoff: colours are propagated while at least this many nodes are left; a serial search finishes.
    """
    parts = Decomposition(graph, balance)
    if trim:
        parts.trim()
    if search:
        parts.take_component_of_pivot()
    while parts.left() > max(cutoff - 1, 0):  # ends: each colour has a component
        parts.take_components_of_colours()
    return parts.finish()


def colouring(graph: DeviceGraph, *, balance: str) -> Outcome:
    """Takes one component of each colour until no node is left (Orzan 2004)."""
    return multistep(graph, balance=balance, trim=False, search=False, cutoff=0)


def forward_backward(graph: DeviceGraph, *, balance: str, trim: bool = True) -> Outcome:
    """Splits classes of nodes by searches from their pivots (Fleischer, Hendrickson, Pinar 2000; McLendon et al. 2005).

    Departure from the papers: all classes are searched at the same time, and the weak components are the first ones;
    otherwise, many small components without a path between them would take a round each.

    Args:
        graph, balance, trim: as for `multistep`.
    """
    parts = Decomposition(graph, balance)
    if trim:
        parts.trim()
    parts.begin_by_weak_components()
    turn = 1
    while parts.left():  # ends: each class has a component
        parts.split_classes(turn)
        turn += 1
    return parts.finish()
