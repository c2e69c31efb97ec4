"""Random graphs; a seed gives the same graph on every device and with every number of threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dmr.common.arguments import checks_keywords, chosen, real_option, shortened, switch, whole_option
from dmr.common.available import require_memory
from dmr.common.text import counted, option
from dmr.memory import Device, DeviceArray, argsort, open_device
from static_graph.common.arguments import check_graph
from static_graph.common.memory_estimates import generation_bytes
from static_graph.errors import GraphError, OptionError
from static_graph.graph.building import find_rows, sorted_edges, unique_edges
from static_graph.graph.checks import MOST
from static_graph.graph.csr import CsrGraph, unchecked_graph
from static_graph.graph.gpu_modules import RANDOM_GRAPHS


@dataclass(frozen=True)
class RmatPreset:
    """Parameters of R-MAT.

    Attributes:
        a, b, c, d: the probabilities of the four quadrants of the adjacency matrix; noise: their relative variation.
        halving: "gtgraph" or "even": how a number of nodes that is not a power of two is halved.
    """

    a: float
    b: float
    c: float
    d: float
    noise: float = 0.0
    halving: str = "gtgraph"


HALVINGS = ("gtgraph", "even")
PRESETS = {
    "gtgraph": RmatPreset(0.45, 0.15, 0.15, 0.25, noise=0.1),
    "graph500": RmatPreset(0.57, 0.19, 0.19, 0.05, halving="even"),
    # Fitted to the degrees that the thesis reports for its R-MAT graph of 1 M nodes and 8 M edges, without parameters.
    "thesis": RmatPreset(0.5, 0.125, 0.125, 0.25, noise=0.1),
}


@checks_keywords
def generate_rmat(
    nodes: int,
    edges: int,
    *,
    preset: str = "gtgraph",
    probabilities: tuple[float, float, float, float] | None = None,
    noise: float | None = None,
    halving: str | None = None,
    seed: int = 0,
    weights: int | None = None,
    self_loops: bool = True,
    duplicates: bool = True,
    permute: bool = False,
    device: str = "auto",
    threads: int | None = None,
) -> CsrGraph:
    """Generates a graph with power-law degrees as GTgraph does (R-MAT: Chakrabarti, Zhan, Faloutsos 2004).

    For each edge, the adjacency matrix is halved in both dimensions, and one of its four quadrants is chosen with
    probabilities a (upper left), b (upper right), c (lower left) and d. This repeats down to a single entry. The edges
    of each node are sorted by their targets, for better locality of memory accesses.

    Args:
        nodes: number of nodes, at least 1.
        edges: number of edges drawn.
        preset: "gtgraph" (0.45, 0.15, 0.15, 0.25, noise 0.1), "graph500" (0.57, 0.19, 0.19, 0.05), or "thesis" (0.5,
            0.125, 0.125, 0.25, noise 0.1: fitted to the degrees that the thesis reports, which has no parameters).
        probabilities: a, b, c and d, instead of the preset's; their sum is 1.
        noise: instead of the preset's, 0 <= noise < 2. Before each halving but the first, each probability is
            multiplied by a random factor from 1 - noise / 2 to 1 + noise / 2; the changes accumulate.
        halving: instead of the preset's, how a number of nodes that is not a power of two is halved. "gtgraph" (presets
            gtgraph and thesis) rounds both halves down, as GTgraph does. Some nodes then never have an edge (of a
            million, nearly half), and others have more. "even" (preset graph500) reaches every node.
        seed: seed of the random numbers, from 0 to 2^64 - 1.
        weights: the largest weight: each edge gets an integer from 1 to it. By default there are no weights.
        self_loops: whether self loops are allowed; otherwise they are drawn again.
        duplicates: whether duplicate edges are kept; otherwise one of each set stays, and the graph has fewer edges.
        permute: whether the nodes are renumbered at random. Without this, nodes of large degree have small numbers.
        device, threads: where the graph is made; the result does not depend on them.

    Raises:
        OptionError: an option is invalid. GraphError: a size is invalid.
        DeviceUnavailableError, OutOfMemoryError: the device is not available, or too small.
    """
    named = PRESETS[chosen("preset", preset, PRESETS)]
    a, b, c, d = (named.a, named.b, named.c, named.d) if probabilities is None else _four(probabilities)
    if not (min(a, b, c, d) >= 0 and abs(a + b + c + d - 1) < 1e-9):
        raise OptionError(
            f"{option('probabilities')} must not be negative, and must sum to 1, not {a:g}, {b:g}, {c:g}, {d:g}"
        )
    noise = named.noise if noise is None else real_option("noise", noise)
    if not 0 <= noise < 2:
        raise OptionError(f"{option('noise')} must be at least 0 and below 2, not {noise:g}")
    halving = named.halving if halving is None else halving
    chosen("halving", halving, HALVINGS)
    self_loops, duplicates, permute = (
        switch("self_loops", self_loops), switch("duplicates", duplicates), switch("permute", permute)
    )  # fmt: skip
    draft = _Draft(nodes, edges, seed, weights, self_loops, device, threads, permuted=permute)
    with draft.device.lock, draft.device.current:
        failures = draft.device.zeros(1, np.int32)
        draft.device.launch(
            "draw_rmat_edges",
            draft.edges,
            draft.seed,
            draft.nodes,
            (draft.nodes - 1).bit_length(),
            *(a, b, c, d, noise),
            int(halving == "even"),
            int(self_loops),
            draft.sources,
            draft.targets,
            failures,
        )
        failed = int(failures.download()[0])
        if failed:
            raise OptionError(
                f"{counted(failed, 'edge')} were drawn as self loops 1,000 times: with these probabilities, allow them"
            )
        if permute:
            draft.permute()
        return draft.graph(duplicates)


@checks_keywords
def generate_random(
    nodes: int,
    edges: int,
    *,
    seed: int = 0,
    weights: int | None = None,
    self_loops: bool = True,
    duplicates: bool = True,
    device: str = "auto",
    threads: int | None = None,
) -> CsrGraph:
    """Generates a uniformly random graph: G(n, m) of Erdos and Renyi (1959).

    The edges of each node are sorted by their targets.

    Args:
        nodes, edges, seed, weights, self_loops, duplicates, device, threads: as for `generate_rmat`.

    Raises:
        OptionError, GraphError, DeviceUnavailableError, OutOfMemoryError: as for `generate_rmat`.
    """
    self_loops, duplicates = switch("self_loops", self_loops), switch("duplicates", duplicates)
    draft = _Draft(nodes, edges, seed, weights, self_loops, device, threads)
    drawn = (draft.sources, draft.targets)
    with draft.device.lock, draft.device.current:
        draft.device.launch("draw_random_edges", draft.edges, draft.seed, draft.nodes, int(self_loops), *drawn)
        return draft.graph(duplicates)


@checks_keywords
def with_random_weights(graph: CsrGraph, largest: int = 100, *, seed: int = 0, threads: int | None = None) -> CsrGraph:
    """Returns the graph with random integer weights, which depend on the seed and the edges' positions.

    Args:
        graph: a graph on the host; its own weights are not used.
        largest: the largest weight; the least is 1.
        seed: a whole number, 0 or more; threads: that draw, None for one per core.

    Returns:
        A graph with the same edges, whose weights are (m,) int32.

    Raises:
        OptionError: `largest` or `seed` is invalid, or `graph` is not a graph.
    """
    check_graph(graph, CsrGraph)
    drawn = _draw_weights(open_device("cpu", threads), graph.edges, _checked_largest(largest), _checked_seed(seed))
    return unchecked_graph(graph.offsets, graph.targets, drawn.detach(), graph.labels)


class _Draft:
    """A graph under construction: its edges on a device, in the order in which they were drawn."""

    def __init__(
        self,
        nodes: int,
        edges: int,
        seed: int,
        weights: int | None,
        self_loops: bool,
        device: str,
        threads: int | None,
        *,
        permuted: bool = False,
    ) -> None:
        self.nodes, self.edges = whole_option("nodes", nodes), whole_option("edges", edges)
        if not 1 <= self.nodes <= MOST:
            raise GraphError(f"a random graph has 1 to {MOST} nodes, not {shortened(self.nodes)}")
        if not 0 <= self.edges <= MOST:
            raise GraphError(f"a random graph has 0 to {MOST} edges, not {shortened(self.edges)}")
        if self.nodes == 1 and self.edges and not self_loops:
            raise OptionError("all edges of a graph of one node are self loops: allow them, or ask for more nodes")
        self.seed = _checked_seed(seed)
        self.largest = None if weights is None else _checked_largest(weights)
        self.device: Device = open_device(device, threads)
        if self.device.threads:
            what = f"a graph of {counted(self.nodes, 'node')} and {counted(self.edges, 'edge')}"
            require_memory(generation_bytes(self.nodes, self.edges, permuted), what)
        self.device.prepare(*RANDOM_GRAPHS)
        self.sources: DeviceArray = self.device.empty(self.edges, np.uint32)
        self.targets: DeviceArray = self.device.empty(self.edges, np.int32)

    def permute(self) -> None:
        """Renumbers the nodes at random."""
        keys = self.device.empty(self.nodes, np.uint32)
        self.device.launch("draw_keys", self.nodes, self.seed, keys)
        self.device.launch("rename_ends", self.edges, argsort(keys), self.sources, self.targets)

    def graph(self, duplicates: bool) -> CsrGraph:
        """Builds the graph and copies it to the host."""
        sources, targets = sorted_edges(self.sources, self.targets, self.nodes)
        if not duplicates:
            sources, targets = unique_edges(sources, targets)
        offsets, weights = find_rows(sources, self.nodes), None
        if self.largest is not None:
            weights = _draw_weights(self.device, targets.size, self.largest, self.seed).detach()
        return unchecked_graph(offsets.detach(), targets.detach(), weights)


def _draw_weights(device: Device, edges: int, largest: int, seed: int) -> DeviceArray:
    weights = device.empty(edges, np.int32)
    device.launch("draw_weights", edges, seed, largest, weights)
    return weights


def _four(probabilities: Sequence[float]) -> tuple[float, float, float, float]:
    """Converts probabilities to floats.

    Raises:
        OptionError: there are not four of them.
    """
    try:
        a, b, c, d = probabilities
    except Exception:  # including errors of a foreign object's iterator
        raise OptionError(
            f"{option('probabilities')} = {shortened(probabilities)}: they must be four numbers"
        ) from None
    return real_option("a", a), real_option("b", b), real_option("c", c), real_option("d", d)


def _checked_seed(seed: int) -> int:
    seed = whole_option("seed", seed)
    if not 0 <= seed < 2**64:
        raise OptionError(f"{option('seed')} must be from 0 to 2^64 - 1, not {shortened(seed)}")
    return seed


def _checked_largest(weights: int) -> int:
    weights = whole_option("weights", weights)
    if not 1 <= weights <= MOST:
        raise OptionError(f"the largest weight must be from 1 to {MOST}, not {shortened(weights)}")
    return weights
