"""The checks that parts fit together: the edges between them, and the completeness of their ghosts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.jobs.folder import Folder
from dmr.mesh.edges import connected
from dmr.validation.report import Findings

Int64 = NDArray[np.int64]


class Cuts:
    """The half-edges of all parts without a triangle of the same part across, sorted by the edge.

    Args:
        parts: the outputs of `check_part`.
    """

    def __init__(self, parts: Sequence[Folder]) -> None:
        def joined(name: str) -> NDArray[np.int64]:
            return np.concatenate([folder[name] for folder in parts])

        edges = joined("cut-edges")
        low, high = edges.min(axis=1, initial=2**62), edges.max(axis=1, initial=-1)
        forward = edges[:, 0] < edges[:, 1]
        order = np.lexsort((forward, high, low))
        self.edges, self.forward = edges[order], forward[order]
        self.triangles, self.faces = joined("cut-triangles")[order], joined("cut-face")[order]
        self.matched, self.free = joined("cut-matched")[order], joined("cut-free")[order]
        begins = np.ones(len(order), bool)
        begins[1:] = (np.diff(low[order]) != 0) | (np.diff(high[order]) != 0)
        self.edge = np.cumsum(begins) - 1
        directions = np.zeros((int(self.edge[-1]) + 1 if len(order) else 0, 2), bool)
        directions[self.edge, self.forward.astype(np.int64)] = True
        self.has_twin = directions[self.edge, (~self.forward).astype(np.int64)]

    def check(self, findings: Findings) -> None:
        """Check that each edge between parts has one triangle on either side, and that ghosts show the other one."""
        findings.start("shared edges")
        again = 1 + np.flatnonzero((np.diff(self.edge) == 0) & (self.forward[1:] == self.forward[:-1]))
        self._add(findings, again, lambda i: f"the same side as triangle {self.triangles[again[i] - 1]}")
        lone = np.flatnonzero(self.matched & ~self.has_twin)
        self._add(findings, lone, lambda i: "a side, with a ghost across, but no part has a triangle there")
        open_ = np.flatnonzero(~self.matched & self.has_twin)
        self._add(findings, open_, lambda i: "a side, without a ghost across, but another part has a triangle there")

    def _add(self, findings: Findings, at: Int64, text: Callable[[int], str]) -> None:
        findings.add(
            "shared edges",
            "triangle",
            self.triangles[at],
            lambda i: f"lies on the edge of vertices {self.edges[at[i], 0]}, {self.edges[at[i], 1]} on {text(i)}",
        )

    def join_faces(self, labels: Int64) -> Int64:
        """Find the faces of the whole that faces of parts belong to.

        Args:
            labels: the numbers of all faces of parts, ascending.

        Returns:
            For each label, the smallest label (as an index) of a face that it is connected with.
        """
        pair = np.flatnonzero((np.diff(self.edge) == 0) & (self.forward[1:] != self.forward[:-1]) & self.free[1:])
        first, second = (np.searchsorted(labels, self.faces[at]) for at in (pair, pair + 1))
        return connected(len(labels), first, second)


def check_completeness(parts: Sequence[Folder], findings: Findings) -> None:
    """Check that at each vertex between parts, each part has the triangles of all parts, as its own or as ghosts."""
    findings.start("ghosts")
    tables = [folder["border"] for folder in parts]
    part = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    numbers, own, ghosts = np.concatenate(tables).T
    _, vertex = np.unique(numbers, return_inverse=True)
    vertex = vertex.reshape(-1)
    total = np.zeros(int(vertex.max(initial=-1)) + 1, np.int64)
    np.add.at(total, vertex, own)
    wrong = np.flatnonzero(own + ghosts != total[vertex])
    findings.add(
        "ghosts",
        "vertex",
        numbers[wrong],
        lambda i: (
            f"part {part[wrong[i]]} has {own[wrong[i]]} triangles and {ghosts[wrong[i]]} ghosts there, but all parts "
            f"have {total[vertex[wrong[i]]]}"
        ),
    )
