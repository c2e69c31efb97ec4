"""Euler tours of rooted forests: numbering of the nodes, lowest common ancestors, sums along paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import checks_keywords, shortened
from dmr.common.available import require_memory
from dmr.common.cached import cached_property
from dmr.common.clock import Clock
from dmr.common.text import counted, numbered
from dmr.memory import Device, DeviceArray, open_device, scan, sort_pairs
from static_graph.common.arrays import as_array, described
from static_graph.common.memory_estimates import ANCESTORS, PATHS, tour_bytes
from static_graph.common.results import Result, checked_count, checked_mapping, checked_name, computed
from static_graph.errors import DmrError, GraphError, InternalError, OptionError
from static_graph.graph.building import bits_of, find_rows
from static_graph.lists.checks import as_indices, out_of_range
from static_graph.lists.gpu_modules import ranking_modules
from static_graph.lists.ranking import as_values, fastest, find_roots, rank_on_device
from static_graph.trees.checks import checked_tree
from static_graph.trees.gpu_modules import COMMON_ANCESTORS, PATH_SUMS, TOURS
from static_graph.trees.rooting import MOST_NODES, checked_edges, root_forest

NUMBERS = ("subtree_size", "preorder", "postorder", "level")  # what `number_nodes` computes, in its order


@dataclass(frozen=True, eq=False)
class Tree(Result):
    """A rooted forest, and the numbers of its nodes. The arrays are read-only, also in copies and pickles.

    Trees are ordered by their roots, and the children of a node by their numbers.

    Attributes:
        parent: (n,) int32: -1 at roots.
        subtree_size: (n,) int32: number of nodes in a node's subtree, including the node.
        preorder, postorder: (n,) int32: number of nodes visited before each one, if parents come before their children
            (preorder) or after them (postorder).
        level: (n,) int32: number of edges on the path from the root.
        device, threads: where the tour was computed, and where queries are answered.
        seconds: per phase: "upload" (with the checks before it), "tour" (sorting and linking), "rank", "numbers",
            "download"; if edges or other roots were given, also "root tour", "root rank" and "root parents"
            (`rooting`) between them.

    Raises:
        GraphError: the arrays do not describe one forest.
    """

    parent: NDArray[np.int32]
    subtree_size: NDArray[np.int32]
    preorder: NDArray[np.int32]
    postorder: NDArray[np.int32]
    level: NDArray[np.int32]
    device: str
    threads: int
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._set(
            **checked_tree(vars(self)),
            device=checked_name("device", self.device),
            threads=checked_count("threads", self.threads),
            seconds=checked_mapping("seconds", self.seconds),
        )

    @property
    def roots(self) -> NDArray[np.int32]:
        """(k,) int32: the roots, in order."""
        return np.flatnonzero(self.parent < 0).astype(np.int32)

    def lca(self, left: ArrayLike, right: ArrayLike) -> NDArray[np.int32]:
        """Finds lowest common ancestors, any number at a time (Schieber and Vishkin 1988).

        The first query makes the necessary tables, which are kept on the device.

        Args:
            left, right: (q,) nodes each.

        Returns:
            (q,) int32: for each pair the common ancestor farthest from the root, -1 if the nodes are in different
            trees. A node counts as its own ancestor.

        Raises:
            GraphError: the lengths differ, or an entry is not a node.
        """
        asked = [_as_integers(side) for side in (left, right)]
        pairs = [_clipped(side) for side in asked]
        if len(pairs[0]) != len(pairs[1]):
            raise GraphError(f"{counted(len(pairs[0]), 'node')} and {len(pairs[1])} make no pairs")
        count, nodes = len(pairs[0]), len(self.parent)
        if self.threads and "_labels" not in vars(self):
            require_memory(ANCESTORS * nodes, f"a table of the ancestors of {counted(nodes, 'node')}")
        device = self._device
        device.prepare(*COMMON_ANCESTORS)
        with device.lock, device.current:
            answers, bad = device.empty(count, np.int32), device.array(np.array([count], np.int32))
            on_device = [device.array(side) for side in pairs]
            device.launch("answer_questions", count, *on_device, nodes, *self._labels, answers, bad)
            first = int(bad.download()[0])
            if first == count:
                return answers.download()
        raise GraphError(
            f"pair {first}: {int(asked[0][first])} and {int(asked[1][first])} are not both nodes: "
            f"{numbered(nodes, 'node')}"
        )

    def path_sums(self, values: ArrayLike) -> NDArray[np.int64]:
        """Sums values along the paths from the roots.

        Args:
            values: (n,) integers, one per node.

        Returns:
            (n,) int64: the sum of the values of each node and all its ancestors.

        Raises:
            GraphError: the values do not fit.
        """
        checked = as_values(values, len(self.parent), "node")
        if self.threads:
            require_memory(PATHS * len(self.parent), f"the sums along the paths of {counted(len(self.parent), 'node')}")
        device = self._device
        device.prepare(*PATH_SUMS)
        with device.lock, device.current:
            return self._path_sums(device.array(checked)).download()

    @cached_property
    def _device(self) -> Device:
        return open_device(self.device, self.threads or None)

    @cached_property
    def _numbers(self) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
        """Preorder, level and subtree size on the device."""
        return (
            self._device.array(self.preorder),
            self._device.array(self.level),
            self._device.array(self.subtree_size),
        )

    def _path_sums(self, values: DeviceArray) -> DeviceArray:
        device, nodes = values.device, values.size
        preorder, level, subtree_size = self._numbers
        ordered, sums = device.empty(2 * nodes, np.int64), device.empty(nodes, np.int64)
        device.launch("place_values", nodes, values, preorder, level, subtree_size, ordered)
        device.launch("fetch_path_sums", nodes, scan(ordered), preorder, level, sums)
        return sums

    @cached_property
    def _labels(self) -> tuple[DeviceArray, ...]:
        """Parents, preorder, inlabels, ascendants and heads on the device (`common_ancestors.cu`)."""
        device, nodes = self._device, len(self.parent)
        preorder, _, subtree_size = self._numbers
        parent = device.array(self.parent)
        inlabels, ascendants = device.empty(nodes, np.int32), device.empty(nodes, np.uint32)
        heads, bits = device.empty(nodes + 2, np.int32), device.empty(nodes, np.int64)
        heads.fill(255)
        device.launch("label_nodes", nodes, parent, preorder, subtree_size, nodes, inlabels, heads, bits)
        device.launch("join_ascendants", nodes, self._path_sums(bits), nodes, ascendants)
        return parent, preorder, inlabels, ascendants, heads

    def __repr__(self) -> str:
        return f"Tree({counted(len(self.parent), 'node')} below {counted(len(self.roots), 'root')})"


@checks_keywords
def euler_tour(
    parents_or_edges: ArrayLike,
    root: int | Sequence[int] | None = None,
    *,
    nodes: int | None = None,
    device: str = "auto",
    threads: int | None = None,
) -> Tree:
    """Finds an Euler tour of a rooted forest, ranks it, and numbers the nodes (slides, tree computations).

    Args:
        parents_or_edges: (n,) the parent of each node, -1 or itself at roots; or (m, 2) undirected edges.
        root: the root, or several in different trees. With parents, these replace the given roots. With edges, the
            default root of a tree is its smallest node.
        nodes: for edges: the number of nodes (default: the largest node plus 1, at least 1).
        device: "auto" (a GPU if one works, otherwise the CPU), "cpu", "cuda", "cuda:1", ...
        threads: CPU threads (default: all cores).

    Returns:
        The forest with its numbers, which depend on the rooted forest alone.

    Raises:
        GraphError: the input is not a forest: an index out of range, a cycle, or two roots in a tree; the error names
            the node or edge.
        OptionError: `nodes` is given together with parents.
        DeviceUnavailableError, OutOfMemoryError: the device is not available, or too small.
    """
    given = as_array(parents_or_edges, "parents or edges")
    where = open_device(device, threads)
    clock = Clock(where.synchronize)
    if given.ndim == 2:
        edges, count = checked_edges(given, nodes)
    elif nodes is not None:
        raise OptionError("nodes are for edges: parents say themselves how many there are")
    else:
        parents = as_indices(given, "node", "parent")
        edges, count = None, len(parents)
        if root is not None:
            find_roots(parents, device=device, threads=threads)  # raises errors that name the nodes
            children = np.flatnonzero((parents >= 0) & (parents != np.arange(count)))
            edges = np.column_stack([children, parents[children]]).astype(np.int32)
    if count > MOST_NODES:
        raise GraphError(f"{count} nodes are more than the {MOST_NODES} whose tours can be numbered")
    if where.threads:
        rooted = 0 if edges is None else len(edges)
        require_memory(tour_bytes(count, rooted), f"an Euler tour of {counted(count, 'node')}")
    where.prepare(*TOURS, *ranking_modules(fastest(where, 2 * count)))
    with where.lock, where.current:
        if edges is not None:
            on_device = root_forest(edges, count, _as_roots(root, count), where, clock)
        else:
            on_device = where.array(parents)
            clock.lap("upload")
        return _tour(on_device, clock)


def _tour(parents: DeviceArray, clock: Clock) -> Tree:
    """Computes the tree from parents on a device."""
    device, nodes = parents.device, parents.size
    keys, bad = device.empty(nodes, np.uint32), device.array(np.array([nodes], np.int32))
    device.launch("key_by_parents", nodes, parents, nodes, keys, bad)
    first_bad = int(bad.download()[0])
    if first_bad < nodes:
        raise out_of_range(first_bad, parents.download(), "node", "parent")
    keys, children = sort_pairs(keys, bits=bits_of(nodes + 1))
    offsets = find_rows(keys, nodes + 1)
    successors, head = device.empty(2 * nodes, np.int32), device.zeros(min(nodes, 1), np.int32)
    if nodes and _roots_of(offsets, nodes):
        device.launch("link_tour", nodes, keys, children, offsets, nodes, successors, head)
        clock.lap("tour")
        ranked = rank_on_device(successors, head, method=fastest(device, 2 * nodes))
        reached = int(ranked.lengths.download()[0])
        clock.lap("rank")
    else:
        reached = 0
    if reached != 2 * nodes:
        raise _no_forest(parents.download())
    found = [device.empty(nodes, np.int32) for _ in NUMBERS]
    if nodes:
        downs = device.empty(2 * nodes, np.int32)
        device.launch("mark_downs", 2 * nodes, ranked.ranks, nodes, downs)
        device.launch("number_nodes", nodes, ranked.ranks, scan(downs), nodes, *found)
    clock.lap("numbers")
    numbers = dict(zip(NUMBERS, (part.download() for part in found), strict=True))
    parent = parents.download()
    parent[numbers["level"] == 0] = -1  # a root may be given as its own parent
    clock.lap("download")
    return Tree.found(parent=parent, **numbers, **computed(device, clock.seconds))


def _roots_of(offsets: DeviceArray, nodes: int) -> int:
    """Returns the number of children of the virtual root."""
    first, last = offsets[nodes : nodes + 2].download().tolist()
    return int(last - first)


def _no_forest(parents: NDArray[np.int32]) -> DmrError:
    """Returns the error for parents with a cycle."""
    try:
        find_roots(parents, device="cpu")
    except GraphError as error:
        return error
    return InternalError("the tour does not come to all arcs, though the parents are a forest")


def _as_integers(values: ArrayLike) -> NDArray[Any]:
    array = np.atleast_1d(as_array(values, "nodes"))
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise GraphError(f"nodes are whole numbers in a row, not {described(array)}")
    return array


def _clipped(numbers: NDArray[Any]) -> NDArray[np.int32]:
    """Converts numbers to int32; out-of-range ones become -1."""
    nodes: NDArray[np.int32] = numbers.astype(np.int32)
    nodes[(numbers < 0) | (numbers >= MOST_NODES)] = -1
    return nodes


def _as_roots(root: int | Sequence[int] | None, nodes: int) -> NDArray[np.int32]:
    roots = np.empty(0, np.int32) if root is None else _as_integers(root)
    for given in roots.tolist():
        if not 0 <= given < nodes:
            raise GraphError(f"{shortened(given)} cannot be a root: {numbered(nodes, 'node')}")
    return _clipped(roots)
