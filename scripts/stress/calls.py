"""Calls of the stress test: small, of every kind, with results that do not depend on the thread."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dmr
import static_graph
from dmr import domains
from dmr.refinement.options import MARKINGS, Progress

NODES, EDGES = 3000, 24000
LIST = 40000
RACING = (
    "two-stage",
    "three-phase",
    "three-phase-literal",
    "three-phase-barrier",
)  # markings whose meshes are valid but vary

Digest = str


class CallbackError(Exception):
    """Raised by a callback of the test."""


class Calls:
    """Calls by name, on one mesh, one domain and one uploaded graph that all threads share.

    Attributes:
        device: "cpu", "cuda", ...; by_name: each returns a digest of its result.
    """

    def __init__(self, device: str) -> None:
        self.device = device
        self._threads = 2 if device == "cpu" else None
        self._mesh = dmr.generate("random", 3000, seed=7)
        bore = domains.circle_points(0.5, 32, (1, 1))
        self._plate = domains.polygon([(0, 0), (4, 0), (4, 2), (0, 2)], holes=[bore])
        graph = static_graph.generate_rmat(NODES, EDGES, seed=3, weights=50, device="cpu")
        self._graph = static_graph.upload(graph, device, self._threads)
        self._successors = static_graph.generate_list("random", LIST, lists=3, seed=5, device="cpu")
        self._parents = static_graph.generate_tree("random-binary", 5000, seed=2)
        self.by_name: dict[str, Callable[[], Digest]] = {
            "refine, default": self.refined,
            "refine, host loop": partial(self.refined, loop="host"),
            "refine, conforming": partial(self.refined, conforming=True, min_angle=25),
            "refine, area": partial(self.refined, max_area=1e-4),
            "refine, size function": partial(self.refined, max_edge=lambda points: 0.02 + 0.1 * points[:, 0] ** 2),
            "refine, progress": partial(self.refined, progress=lambda *numbers: None),
            "refine, atomic": partial(self.refined, marking="atomic"),
            "refine, callback raises": self._callback_raises,
            "refine, outline": self._refined_outline,
            "triangulate": lambda: _of_mesh(dmr.triangulate(self._plate)),
            "validate": self._validated,
            "rmat": self._generated,
            "rank": lambda: _digest(static_graph.rank(self._successors, **self._where)),
            "rank, wyllie": lambda: _digest(static_graph.rank(self._successors, method="wyllie", **self._where)),
            "tree": self._toured,
            "upload and search": self._uploaded,
        }
        for marking in RACING:
            assert marking in MARKINGS
            self.by_name[f"refine, {marking}"] = partial(self._raced, marking)
        balances = ("auto", "none", "split", "warp", "hierarchical", "collapse-local", "collapse-global")
        for balance in (*balances, *(("child-launch",) if device != "cpu" else ())):
            self.by_name[f"bfs, {balance}"] = partial(self._searched, static_graph.bfs, balance)
            self.by_name[f"sssp, {balance}"] = partial(self._searched, static_graph.sssp, balance)

    @property
    def _where(self) -> dict[str, Any]:
        return {"device": self.device, "threads": self._threads}

    def refined(self, *, progress: Progress | None = None, **options: Any) -> Digest:
        """Refines the mesh."""
        done = dmr.refine(self._mesh, progress=progress, **self._where, **options)
        assert done.complete and done.host_processed == 0, done
        return _of_mesh(done.mesh)

    def _raced(self, marking: str) -> Digest:
        done = dmr.refine(self._mesh, marking=marking, **self._where)
        report = dmr.validate(done.mesh, input=self._mesh, min_angle=30)
        return "valid" if report.ok else str(report.failures[:3])

    def _callback_raises(self) -> Digest:
        def raises(round_: int, bad: int, triangles: int) -> None:
            if round_ == 3:
                raise CallbackError("round 3")

        try:
            self.refined(progress=raises)
        except CallbackError as error:
            return str(error)
        return "the callback's exception was lost"

    def _refined_outline(self) -> Digest:
        return _of_mesh(dmr.refine(self._plate, max_area=0.002, **self._where).mesh)

    def _validated(self) -> Digest:
        return str(dmr.validate(self._mesh).ok)

    def _generated(self) -> Digest:
        graph = static_graph.generate_rmat(NODES, EDGES, seed=9, **self._where)
        return _digest(graph.offsets, graph.targets)

    def _toured(self) -> Digest:
        tree = static_graph.euler_tour(self._parents, **self._where)
        pairs = np.arange(0, 5000, 7)
        return _digest(tree.preorder, tree.level, tree.lca(pairs, pairs[::-1]), tree.path_sums(np.ones(5000, np.int64)))

    def _uploaded(self) -> Digest:
        host = self._graph.host
        assert host is not None
        return _digest(static_graph.bfs(host, 0, **self._where).distances)

    def _searched(self, search: Callable[..., static_graph.Traversal], balance: str) -> Digest:
        found = search(self._graph, 0, balance=balance, parents=balance == "auto")
        return _digest(found.distances, *([] if found.parents is None else [found.parents]))


def _of_mesh(mesh: dmr.Mesh) -> Digest:
    return _digest(mesh.vertices, mesh.triangles, mesh.segments)


def _digest(*arrays: NDArray[Any]) -> Digest:
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]
