"""Checks of the mesh topology: edges, neighbour links, vertex stars, segments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.cached import cached_property
from dmr.mesh.edges import connected
from dmr.mesh.naming import named, number
from dmr.mesh.types import Mesh
from dmr.validation.arrays.pairing import find_half_edges, pair_half_edges
from dmr.validation.arrays.pieces import Workers
from dmr.validation.report import Findings
from dmr.validation.triangulation.shapes import TriangleShapes

Index = NDArray[Any]
Mask = NDArray[np.bool_]


class Ends:
    """The start or end vertices of half-edges, indexed by half-edge number (one number, or an integer array).

    Args:
        triangles: (m, 3) int32.
        step: 1 for starts, 2 for ends: the number of corners after the opposite one.
    """

    def __init__(self, triangles: NDArray[np.int32], step: int) -> None:
        self._corners = triangles.reshape(-1)
        self._step = step

    def __len__(self) -> int:
        return len(self._corners)

    def __getitem__(self, half_edges: Any) -> Any:
        corner = half_edges % 3
        return self._corners[half_edges - corner + (corner + self._step) % 3]


@dataclass(frozen=True, eq=False)
class Topology:
    """The half-edges of a triangle list.

    Half-edge 3 t + k is edge k of triangle t, opposite its corner k. It runs from corner k + 1 to corner k + 2, with
    the triangle on its left if the triangle is counter-clockwise.

    Attributes:
        triangles: (m, 3) int32; vertex_count: the number of vertices.
        starts, ends: (3 m,) the vertices of each half-edge, indexed by its number.
        twins: (3 m,) the opposite half-edge, -1 if there is none.
        repeated: (r, 2) int64, pairs of half-edges with the same vertices and direction.
        used: (n,) mask of the vertices that belong to a triangle.
        workers: the threads.
    """

    triangles: NDArray[np.int32]
    vertex_count: int
    starts: Ends
    ends: Ends
    twins: Index
    repeated: NDArray[np.int64]
    used: Mask
    workers: Workers
    _found: list[tuple[Index, Index, Index]]

    @classmethod
    def of(
        cls,
        triangles: NDArray[np.int32],
        vertex_count: int,
        workers: Workers | None = None,
        used: Mask | None = None,
    ) -> Topology:
        """Build the topology of (m, 3) triangles.

        Args:
            triangles: their corners; vertex_count: the number of vertices.
            workers: the threads; None for one thread.
            used: the attribute `used`, if it is known.
        """
        workers = workers or Workers()
        twins, repeated = pair_half_edges(triangles, vertex_count, workers)
        if used is None:
            used = used_vertices(triangles, vertex_count, workers)
        starts, ends = (Ends(triangles, step) for step in (1, 2))
        return cls(triangles, vertex_count, starts, ends, twins, repeated, used, workers, [])

    @cached_property
    def boundary(self) -> NDArray[np.int64]:
        """Half-edges without a twin."""
        return self.workers.where(lambda start, stop: self.twins[start:stop] < 0, len(self.twins))

    @cached_property
    def boundary_vertices(self) -> Index:
        """The ends of boundary half-edges; on a closed boundary, each vertex occurs at least twice."""
        return np.concatenate([self.starts[self.boundary], self.ends[self.boundary]])

    @property
    def hidden(self) -> NDArray[np.int64]:
        """Triangles beside others that are not in the list, if it is not a whole mesh; ascending."""
        return np.zeros(0, np.int64)

    def components(self, walls: Index) -> NDArray[np.int64]:
        """(m,) the component of each triangle, as the number of one of its triangles.

        Args:
            walls: half-edges that separate components, each edge by both of its half-edges.
        """
        links = self.twins.copy()
        links[walls] = -1
        return components(links.reshape(-1, 3))

    def neighbours_of(self, triangles: Index) -> Index:
        """(k, 3): the triangles across the edges of the given triangles, -1 if there is none."""
        twins = self.twins.reshape(-1, 3)[triangles]
        return np.where(twins < 0, -1, twins // 3)

    def find(self, pairs: Index) -> tuple[Index, Index]:
        """Find, for (s, 2) vertex pairs (u, v), the half-edges from u to v, and from v to u; -1 if there is none.

        The result for the most recent pairs is cached.
        """
        if not any(known is pairs for known, _, _ in self._found):
            found = find_half_edges(self.triangles, self.vertex_count, pairs, self.workers)
            self._found[:] = [(pairs, *found)]
        return self._found[0][1:]

    def find_either(self, pairs: Index) -> Index:
        """Find a half-edge between u and v in either direction, preferably from u to v; -1 if there is none."""
        forward, backward = self.find(pairs)
        return np.where(forward < 0, backward, forward)

    def edge_mask(self, pairs: Index) -> Mask:
        """(3 m,) mask of the half-edges that join one of the (s, 2) vertex pairs, in either direction."""
        mask = np.zeros(len(self.twins), bool)
        for found in self.find(pairs):
            mask[found[found >= 0]] = True
        return mask


def used_vertices(triangles: NDArray[np.int32], vertex_count: int, workers: Workers) -> Mask:
    """(n,) mask of the vertices that belong to a triangle."""
    used = np.zeros(vertex_count, bool)

    def mark(start: int, stop: int) -> None:
        used[triangles[start:stop].ravel()] = True

    workers.map(mark, len(triangles))
    return used


def place(vertices: NDArray[np.float64], vertex: int, element: str = "vertex") -> str:
    """Format a vertex as text, with all digits of its coordinates; `element` names the kind, such as "input vertex"."""
    x, y = vertices[vertex]
    return f"{number(element, vertex)} at ({float(x)!r}, {float(y)!r})"


def describe(vertices: NDArray[np.float64], *corners: int, element: str = "vertex") -> str:
    """Format several vertices as text."""
    return ", ".join(place(vertices, corner, element) for corner in corners)


def components(links: NDArray[np.int64]) -> NDArray[np.int64]:
    """Compute the connected components of triangles.

    Args:
        links: (m, 3) for each edge the half-edge across it, -1 if there is none or the edge must not be crossed.

    Returns:
        (m,) the smallest triangle index in the component of each triangle.
    """
    across = links.ravel()
    edges = np.flatnonzero(across > np.arange(len(across)))
    return connected(len(links), edges // 3, across[edges] // 3)


def check_edges(mesh: Mesh, topology: Topology, findings: Findings) -> None:
    """Check that no two triangles lie on the same side of an edge."""
    findings.start("edges")
    pairs = topology.repeated

    def message(i: int) -> str:
        u, v = topology.starts[pairs[i, 1]], topology.ends[pairs[i, 1]]
        return (
            f"lies on the same side of the edge from {place(mesh.vertices, u)} to {place(mesh.vertices, v)} "
            f"as {named('triangle', pairs[i, 0] // 3)}"
        )

    findings.add("edges", "triangle", pairs[:, 1] // 3, message)


def check_neighbours(mesh: Mesh, topology: Topology, findings: Findings) -> None:
    """Check that the mesh's neighbour table is the one implied by its triangles (and therefore symmetric)."""
    given = vars(mesh).get("neighbours")
    if given is None:
        findings.skip("neighbours", "the mesh carries no neighbour table")
        return
    if not findings.start_after("neighbours", "edges"):
        return
    table = np.asarray(given)
    if table.shape != mesh.triangles.shape:
        text = f"the neighbour table has shape {table.shape}, not {mesh.triangles.shape}"
        findings.add("neighbours", "mesh", [None], lambda i: text)
        return
    flat = np.ascontiguousarray(table).reshape(-1)

    def differs(start: int, stop: int) -> Mask:
        twins = topology.twins[start:stop]
        result: Mask = flat[start:stop] != np.where(twins < 0, -1, twins // 3)
        return result

    wrong, corner = np.divmod(topology.workers.where(differs, len(flat)), 3)

    def message(i: int) -> str:
        t, k = int(wrong[i]), int(corner[i])
        h = 3 * t + k
        edge = f"{place(mesh.vertices, topology.starts[h])} to {place(mesh.vertices, topology.ends[h])}"
        right = topology.neighbours_of(wrong[i : i + 1])[0, k]
        found, wanted = (number("triangle", n) if n >= 0 else -1 for n in (table[t, k], right))
        return f"entry {k}, across the edge from {edge}, is {found}; it must be {wanted}"

    findings.add("neighbours", "triangle", wrong, message)


def check_stars(mesh: Mesh, topology: Topology, shapes: TriangleShapes, findings: Findings) -> None:
    """Check that triangles wind exactly once around each interior vertex, and at most once around a boundary vertex.

    The winding number of a closed fan is the number of corners that contain the +x direction
    (`dmr.validation.triangulation.shapes`).
    Vertices of triangles that are not positively oriented are not checked.
    """
    findings.start("stars")
    sound = topology.used.copy()
    sound[mesh.triangles[shapes.wrong].ravel()] = False
    sound[topology.starts[topology.repeated.ravel()]] = False
    sound[topology.ends[topology.repeated.ravel()]] = False
    inside = topology.used.copy()
    inside[topology.boundary_vertices] = False
    wrong = sound & inside & ~shapes.wound
    counts = None
    if shapes.windings != np.count_nonzero(shapes.wound):  # around some vertices triangles wind more than once
        counts = _windings(mesh)
        wrong |= sound & (counts > 1)
    vertices = np.flatnonzero(wrong)
    findings.add(
        "stars",
        "vertex",
        vertices,
        lambda i: (
            f"the triangles around {place(mesh.vertices, vertices[i])} wind "
            f"{0 if counts is None else counts[vertices[i]]} times"
        ),
    )


def _windings(mesh: Mesh) -> NDArray[np.int64]:
    """(n,) the winding number of the triangles around each vertex."""
    count = np.zeros(len(mesh.vertices), np.int64)
    heights = mesh.vertices[:, 1][mesh.triangles]
    for k in range(3):
        here, p, q = heights[:, k], heights[:, (k + 1) % 3], heights[:, (k + 2) % 3]
        count += np.bincount(mesh.triangles[(p <= here) & (here < q), k], minlength=len(count))
    return count


def check_segments(mesh: Mesh, topology: Topology, findings: Findings) -> None:
    """Check that every segment of the mesh is an edge of a triangle."""
    findings.start("segments")
    u, v = mesh.segments[:, 0], mesh.segments[:, 1]
    missing = np.flatnonzero((topology.find_either(mesh.segments) < 0) | (u == v))
    findings.add(
        "segments",
        "segment",
        missing,
        lambda i: f"from {describe(mesh.vertices, *mesh.segments[missing[i]])}: is not an edge of the triangulation",
    )
