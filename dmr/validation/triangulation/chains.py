"""Constrained edges of a mesh, and the chains that they form between corners.

A chain is a path of constrained edges whose interior vertices have exactly two constrained edges each: refinement
turns each input segment into one chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.cached import cached_property
from dmr.validation.triangulation.topology import Mask, Topology

Index = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Arcs:
    """The constrained edges of a mesh (its boundary and its segments), each as two arcs of opposite direction.

    Arcs a and a ^ 1 are the two directions of one edge. The even arc of a boundary edge has the mesh on its left.

    Attributes:
        tails, heads: (2 k,) int64, the vertices of each arc.
        half_edges: (2 k,) int64, the half-edge of each arc, -1 if there is no triangle on the arc's left.
    """

    tails: NDArray[np.int64]
    heads: NDArray[np.int64]
    half_edges: NDArray[np.int64]

    @classmethod
    def of(cls, topology: Topology, segments: Index) -> Arcs:
        """Collect the arcs of a mesh; segments that are not edges of the mesh are ignored."""
        twins = topology.twins
        chosen = topology.boundary
        if len(segments):
            listed = topology.edge_mask(segments)

            def find(start: int, stop: int) -> Mask:
                across = twins[start:stop]
                mask: Mask = (across < 0) | (listed[start:stop] & (across > np.arange(start, stop)))
                return mask

            chosen = topology.workers.where(find, len(twins))
        half_edges = np.stack([chosen, twins[chosen].astype(np.int64)], axis=1).ravel()
        u, v = topology.starts[chosen], topology.ends[chosen]
        tails = np.stack([u, v], axis=1).ravel().astype(np.int64)
        heads = np.stack([v, u], axis=1).ravel().astype(np.int64)
        return cls(tails, heads, half_edges)

    @cached_property
    def on_boundary(self) -> Mask:
        """(2 k,) mask of the arcs whose edge belongs to only one triangle."""
        missing = self.half_edges < 0
        result: Mask = missing | missing[np.arange(len(missing)) ^ 1]
        return result


@dataclass(frozen=True, eq=False)
class Chains:
    """The chains of a mesh, each once per direction.

    Attributes:
        arcs: the arcs of which the chains consist.
        inner: (n,) mask of the interior vertices of chains.
        order: the arcs, chain by chain, from tail to head; offsets: (c + 1,) the start of each chain in `order`.
        tails, heads: (c,) the end vertices of each chain.
        cycles: arcs on closed paths of interior vertices, which belong to no chain.
    """

    arcs: Arcs
    inner: Mask
    order: NDArray[np.int64]
    offsets: NDArray[np.int64]
    tails: NDArray[np.int64]
    heads: NDArray[np.int64]
    cycles: NDArray[np.int64]

    @classmethod
    def trace(cls, arcs: Arcs, candidates: Mask) -> Chains:
        """Trace all chains at once, by pointer jumping.

        Args:
            arcs: the constrained edges.
            candidates: (n,) mask of the vertices that may be interior to a chain; those of degree two are.
        """
        count = len(arcs.tails)
        numbers = np.arange(count)
        inner = candidates & (np.bincount(arcs.tails, minlength=len(candidates)) == 2)
        # At an interior vertex the chain continues along the other of its two arcs: the sum of both arc numbers minus
        # the known one. (Sums in float64 are exact below 2^53.)
        both = np.bincount(arcs.tails, weights=numbers, minlength=len(candidates)).astype(np.int64)
        following = np.where(inner[arcs.heads], both[arcs.heads] - (numbers ^ 1), numbers)
        last, steps = following, (following != numbers).astype(np.int64)
        for _ in range(count.bit_length()):
            steps = steps + steps[last]
            last = last[last]
        ended = following[last] == last
        own = np.flatnonzero(ended)
        order = own[np.lexsort((-steps[own], last[own]))]
        ends = last[order]
        starts = np.flatnonzero(np.r_[True, ends[1:] != ends[:-1]]) if len(order) else np.zeros(0, np.int64)
        offsets = np.r_[starts, len(order)]
        tails, heads = arcs.tails[order[starts]], arcs.heads[ends[starts]]
        return cls(arcs, inner, order, offsets, tails, heads, np.flatnonzero(~ended))

    @cached_property
    def chain_of_arc(self) -> NDArray[np.int64]:
        """(2 k,) the chain of each arc, -1 for arcs on cycles."""
        result = np.full(len(self.arcs.tails), -1, np.int64)
        result[self.order] = np.repeat(np.arange(len(self.tails)), np.diff(self.offsets))
        return result

    @cached_property
    def chain_of_vertex(self) -> NDArray[np.int64]:
        """(n,) one of the two chains (a chain and its reverse) whose interior contains a vertex, -1 if none does."""
        result = np.full(len(self.inner), -1, np.int64)
        tails = self.arcs.tails
        found = self.inner[tails]
        result[tails[found]] = self.chain_of_arc[found]
        return result

    def between(self, tails: NDArray[np.int64], heads: NDArray[np.int64]) -> NDArray[np.int64]:
        """Find a chain from tail to head for each pair of vertices, -1 if there is none."""
        if not len(self.tails):
            return np.full(len(tails), -1, np.int64)
        scale = len(self.inner)
        keys = self.tails * scale + self.heads
        order = np.argsort(keys, kind="stable")
        wanted = tails * scale + heads
        spot = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
        return np.where(keys[order[spot]] == wanted, order[spot], -1)

    def arcs_of(self, which: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the arcs of the given chains, in order, and the index into `which` of each arc's chain."""
        lengths = self.offsets[which + 1] - self.offsets[which]
        owner = np.repeat(np.arange(len(which)), lengths)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return self.order[self.offsets[which][owner] + within], owner
