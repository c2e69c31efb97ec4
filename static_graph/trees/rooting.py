"""Rooting of undirected forests: rings of arcs are cut and ranked (`cuda_src/graph/trees/euler_tour.cu`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import shortened, whole_option
from dmr.common.clock import Clock
from dmr.common.text import numbered
from dmr.memory import Device, DeviceArray, flagged_indices, open_device, scan, sort_pairs, total
from static_graph.common.arrays import described
from static_graph.errors import DmrError, GraphError, InternalError
from static_graph.graph.building import bits_of, find_rows
from static_graph.lists.ranking import fastest, rank_on_device

MOST_EDGES = 2**30 - 1  # an edge has two arcs
MOST_NODES = 2**30 - 1  # a node of a tour also has two


def checked_edges(given: NDArray[Any], nodes: int | None) -> tuple[NDArray[np.int32], int]:
    """Checks edges; returns them as (m, 2) int32, and the number of nodes.

    Raises:
        GraphError: a wrong shape or dtype, too many edges, or endpoints that are not nodes.
    """
    if given.shape[1:] != (2,) or (given.dtype.kind not in "iu" and given.size):
        raise GraphError(f"edges are pairs of whole numbers, not {described(given)}")
    if len(given) > MOST_EDGES:
        raise GraphError(f"{len(given)} edges are more than the {MOST_EDGES} whose arcs can be numbered")
    lowest, highest = (int(given.min()), int(given.max())) if given.size else (0, 0)
    count = min(highest + 1, MOST_NODES) if nodes is None else whole_option("nodes", nodes)
    if count > MOST_NODES:
        raise GraphError(f"{shortened(count)} nodes are more than the {MOST_NODES} whose tours can be numbered")
    if count < 0:
        raise GraphError(f"there cannot be {shortened(count)} nodes")
    if given.size and (lowest < 0 or highest >= count):
        edge = int(np.argmax(((given < 0) | (given >= count)).any(axis=1)))
        there = f"nodes are numbered from 0 to {MOST_NODES - 1}"
        if nodes is not None:
            there = numbered(count, "node")
        raise GraphError(f"leads from {given[edge, 0]} to {given[edge, 1]}, but {there}", "edge", edge)
    return np.ascontiguousarray(given, np.int32), count


def root_forest(
    edges: NDArray[np.int32], nodes: int, roots: NDArray[np.int32], device: Device, clock: Clock | None = None
) -> DeviceArray:
    """Roots a forest, and returns the parents of its nodes.

    Args:
        edges: (m, 2) int32, undirected.
        nodes: number of nodes.
        roots: (k,) int32: at most one per tree; the root of other trees is their smallest node.
        device: the device.
        clock: records the phases "upload", "root tour" (sorting, linking, cutting), "root rank" and "root parents".

    Returns:
        (nodes,) int32, -1 at roots.

    Raises:
        GraphError: a self loop, a cycle, or two roots in a tree.
    """
    count, clock = len(edges), clock or Clock(device.synchronize)
    parents = device.empty(nodes, np.int32)
    parents.fill(255)
    if count == 0:
        return parents
    if count >= nodes:
        raise closes_cycle(edges, nodes)
    ends = [device.array(np.ascontiguousarray(side)) for side in edges.T]
    clock.lap("upload")
    origins, bad = device.empty(2 * count, np.uint32), device.array(np.array([count], np.int32))
    device.launch("list_arcs", count, *ends, count, nodes, origins, bad)
    if int(bad.download()[0]) < count:
        raise closes_cycle(edges, nodes)
    origins, arcs = sort_pairs(origins, bits=bits_of(nodes))
    offsets = find_rows(origins, nodes)
    places, successors = device.empty(2 * count, np.int32), device.empty(2 * count, np.int32)
    device.launch("place_arcs", 2 * count, arcs, places)
    device.launch("link_rings", 2 * count, arcs, places, origins, offsets, count, successors)
    if count == nodes - 1 and len(roots) <= 1:
        starts = device.array(roots) if len(roots) else device.zeros(1, np.int32)
        first = int(starts.download()[0])
        if np.ptp(offsets[first : first + 2].download()) == 0:
            raise closes_cycle(edges, nodes)
    else:
        starts = _choose_roots(edges, nodes, roots, successors, offsets)
    heads = device.empty(starts.size, np.int32)
    device.launch("cut_rings", starts.size, starts, arcs, places, offsets, count, successors, heads)
    clock.lap("root tour")
    ranked = rank_on_device(successors, heads, method=fastest(device, 2 * count))
    if total(scan(ranked.lengths), heads.size) != 2 * count:
        raise closes_cycle(edges, nodes)
    clock.lap("root rank")
    device.launch("find_tree_parents", 2 * count, ranked.ranks, arcs, places, origins, count, parents)
    if count == nodes - 1 and np.count_nonzero(parents.download() < 0) != 1:
        raise closes_cycle(edges, nodes)
    clock.lap("root parents")
    return parents


def _choose_roots(
    edges: NDArray[np.int32], nodes: int, roots: NDArray[np.int32], successors: DeviceArray, offsets: DeviceArray
) -> DeviceArray:
    """Chooses a root for each tree that has edges; returns (k,) int32.

    With F rings of arcs (a node without edges counts as one), a graph of V nodes and E edges in C components has
    V - E + F <= 2 C and F >= C (Euler's formula). Therefore, V - E = F implies that it is a forest.
    """
    device, count = successors.device, successors.size
    least, lesser, ring, further = (device.empty(count, np.int32) for _ in range(4))
    device.launch("fill_indices", count, least)
    ring.copy_from(successors)
    for _ in range(count.bit_length()):
        device.launch("jump_round", count, ring, least, further, lesser)
        least, lesser, ring, further = lesser, least, further, ring
    asked, both = device.empty(count, np.int32), device.empty(1, np.int32)
    asked.fill(255)
    both.fill(255)
    device.launch("ask_for_roots", len(roots), device.array(roots), offsets, least, asked, both)
    second = int(both.download()[0])
    if second >= 0:
        raise GraphError("is not the only requested root of its tree", "node", second)
    starts, alone = device.empty(nodes, np.int32), device.empty(nodes, np.int32)
    device.launch("choose_roots", nodes, offsets, least, asked, starts, alone)
    chosen, rings = flagged_indices(starts)
    if rings + total(scan(alone), nodes) != nodes - len(edges):
        raise closes_cycle(edges, nodes)
    return chosen


def closes_cycle(edges: NDArray[np.int32], nodes: int) -> DmrError:
    """Returns the error for the first edge whose ends are connected by the edges before it."""
    host, count = open_device("cpu", 1), len(edges)
    above, closing = host.empty(nodes, np.int32), host.array(np.array([count], np.int32))
    host.launch("fill_indices", nodes, above)
    ends = [host.array(np.ascontiguousarray(side)) for side in edges.T]
    host.launch("find_closing_edge", 1, *ends, count, above, closing)
    index = int(closing.download()[0])
    if index == count:
        return InternalError("the tour does not come to all arcs, though the edges are a forest")
    left, right = edges[index].tolist()
    how = "is a self loop" if left == right else f"closes a cycle: {left} and {right} are connected already"
    return GraphError(how, "edge", index)
