"""Checks of how triangles hang together: edges, neighbour links, vertex stars, segments, duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.checks.report import Findings
from dmr.meshes import Mesh
from dmr.naming import named, number

Index = NDArray[Any]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Topology:
    """The half-edges of a triangle list.

    Half-edge 3 t + k is edge k of triangle t, the one opposite its corner k; it runs from corner k + 1 to corner k +
    2, with the triangle on its left if that is counter-clockwise.

    Attributes:
        triangles: (m, 3) int32; vertex_count: how many vertices there are.
        starts, ends: (3 m,) int32, the vertices of each half-edge.
        twins: (3 m,) int64, the half-edge that runs the other way, -1 where there is none.
        repeated: (r, 2) int64, pairs of half-edges that run the same way between the same vertices.
        order: (3 m,) int64, half-edges by their key; keys: those keys, ascending.
    """

    triangles: NDArray[np.int32]
    vertex_count: int
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    twins: NDArray[np.int64]
    repeated: NDArray[np.int64]
    order: NDArray[np.int64]
    keys: NDArray[np.uint64]

    @classmethod
    def of(cls, triangles: NDArray[np.int32], vertex_count: int) -> Topology:
        """The topology of (m, 3) triangles, by one sort."""
        starts = triangles[:, [1, 2, 0]].ravel()
        ends = triangles[:, [2, 0, 1]].ravel()
        keys = _keys(starts, ends, vertex_count)
        order = np.argsort(keys)
        keys = keys[order]
        # The two half-edges of an edge have keys 2 j and 2 j + 1, so they stand side by side.
        twins = np.full(len(starts), -1, np.int64)
        first = np.flatnonzero(((keys[:-1] ^ np.uint64(1)) == keys[1:]) & (keys[:-1] < keys[1:]))
        twins[order[first]] = order[first + 1]
        twins[order[first + 1]] = order[first]
        same = np.flatnonzero(keys[:-1] == keys[1:])
        repeated = np.sort(np.stack([order[same], order[same + 1]], axis=1), axis=1)
        repeated = repeated[np.argsort(repeated[:, 1], kind="stable")]
        return cls(triangles, vertex_count, starts, ends, twins, repeated, order, keys)

    @cached_property
    def boundary(self) -> NDArray[np.int64]:
        """Half-edges without a twin."""
        return np.flatnonzero(self.twins < 0)

    @cached_property
    def used(self) -> Mask:
        """(n,) whether a vertex belongs to a triangle."""
        used = np.zeros(self.vertex_count, bool)
        used[self.triangles.ravel()] = True
        return used

    @cached_property
    def boundary_vertices(self) -> Index:
        """The ends of boundary half-edges, each twice if the boundary is whole."""
        return np.concatenate([self.starts[self.boundary], self.ends[self.boundary]])

    @property
    def neighbours(self) -> NDArray[np.int64]:
        """(m, 3): the triangle across each edge, -1 where there is none."""
        return np.where(self.twins < 0, -1, self.twins // 3).reshape(-1, 3)

    def find(self, u: Index, v: Index) -> NDArray[np.int64]:
        """The half-edges from u to v, -1 where there is none."""
        if not len(self.keys):
            return np.full(len(u), -1, np.int64)
        keys = _keys(u, v, self.vertex_count)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.order[place], -1)

    def find_either(self, u: Index, v: Index) -> NDArray[np.int64]:
        """A half-edge between u and v in either direction, from u to v where both exist; -1 where there is none."""
        forward = self.find(u, v)
        return np.where(forward < 0, self.find(v, u), forward)

    def edge_mask(self, pairs: Index) -> Mask:
        """(3 m,) whether a half-edge joins one of the (s, 2) vertex pairs, whatever its direction."""
        mask = np.zeros(len(self.starts), bool)
        for u, v in ((pairs[:, 0], pairs[:, 1]), (pairs[:, 1], pairs[:, 0])):
            found = self.find(u, v)
            mask[found[found >= 0]] = True
        return mask


def _keys(starts: Index, ends: Index, vertex_count: int) -> NDArray[np.uint64]:
    """Whole numbers that order half-edges by their two vertices, then by direction; below 2^63."""
    low = np.minimum(starts, ends).astype(np.uint64)
    high = np.maximum(starts, ends).astype(np.uint64)
    return (low * np.uint64(vertex_count) + high) * np.uint64(2) + (starts > ends)


def place(vertices: NDArray[np.float64], vertex: int, element: str = "vertex") -> str:
    """A vertex as text, with all digits of its coordinates; an `element` of its own where it is the input's."""
    x, y = vertices[vertex]
    return f"{number(element, vertex)} at ({float(x)!r}, {float(y)!r})"


def describe(vertices: NDArray[np.float64], *corners: int, element: str = "vertex") -> str:
    """Several vertices as text."""
    return ", ".join(place(vertices, corner, element) for corner in corners)


def components(links: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which triangles hang together.

    Args:
        links: (m, 3) for each edge the half-edge across it, -1 where there is none or it is not to be crossed.

    Returns:
        (m,) the smallest triangle of each one's component.
    """
    label = np.arange(len(links))
    across = links.ravel()
    edges = np.flatnonzero(across > np.arange(len(across)))
    t, u = edges // 3, across[edges] // 3
    # Each round joins every component that has a neighbour to one: at most half of them remain.
    while True:
        first, second = label[t], label[u]
        apart = first != second
        if not apart.any():
            return label
        t, u, first, second = t[apart], u[apart], first[apart], second[apart]
        np.minimum.at(label, np.maximum(first, second), np.minimum(first, second))
        while True:
            jumped = label[label]
            if np.array_equal(jumped, label):
                break
            label = jumped


def check_edges(mesh: Mesh, topology: Topology, findings: Findings) -> None:
    """No two triangles lie on the same side of an edge."""
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
    """The neighbour table that the mesh carries is the one that its triangles imply (and so symmetric)."""
    given = vars(mesh).get("neighbours")
    if given is None:
        findings.skip("neighbours", "the mesh carries no neighbour table")
        return
    if not findings.passed("edges"):
        findings.skip("neighbours", "edges failed")
        return
    findings.start("neighbours")
    table = np.asarray(given)
    if table.shape != mesh.triangles.shape:
        text = f"the neighbour table has shape {table.shape}, not {mesh.triangles.shape}"
        findings.add("neighbours", "mesh", [None], lambda i: text)
        return
    right = topology.neighbours
    wrong, corner = np.nonzero(table != right)

    def message(i: int) -> str:
        t, k = int(wrong[i]), int(corner[i])
        h = 3 * t + k
        edge = f"{place(mesh.vertices, topology.starts[h])} to {place(mesh.vertices, topology.ends[h])}"
        found, wanted = (number("triangle", n) if n >= 0 else -1 for n in (table[t, k], right[t, k]))
        return f"entry {k}, across the edge from {edge}, is {found}; it must be {wanted}"

    findings.add("neighbours", "triangle", wrong, message)


def check_stars(mesh: Mesh, topology: Topology, positive: Mask, findings: Findings) -> None:
    """Around a vertex inside the mesh triangles wind exactly once, around one on its boundary at most once.

    A positively oriented corner at v, from p counter-clockwise to q, spans less than 180 degrees, so it holds the +x
    direction (q's side not included) exactly where p is not above v and q is above v. How often that happens is
    the winding number of a closed fan.

    Args:
        positive: (m,) which triangles are positively oriented; vertices of others are left out.
    """
    findings.start("stars")
    y, triangles = mesh.vertices[:, 1], mesh.triangles
    count = np.zeros(topology.vertex_count, np.int64)
    heights = y[triangles]
    for k in range(3):
        here, p, q = heights[:, k], heights[:, (k + 1) % 3], heights[:, (k + 2) % 3]
        holds = (p <= here) & (here < q)
        count += np.bincount(triangles[holds, k], minlength=topology.vertex_count)
    inside = topology.used.copy()
    inside[topology.starts[topology.boundary]] = False
    inside[topology.ends[topology.boundary]] = False
    sound = topology.used.copy()
    sound[triangles[~positive].ravel()] = False
    sound[topology.starts[topology.repeated.ravel()]] = False
    sound[topology.ends[topology.repeated.ravel()]] = False
    wrong = np.flatnonzero(sound & ((count > 1) | (inside & (count == 0))))
    findings.add(
        "stars",
        "vertex",
        wrong,
        lambda i: f"the triangles around {place(mesh.vertices, wrong[i])} wind {count[wrong[i]]} times",
    )


def check_duplicates(mesh: Mesh, topology: Topology, findings: Findings) -> None:
    """No two vertices of triangles have the same coordinates."""
    findings.start("duplicates")
    used = np.flatnonzero(topology.used)
    x, y = mesh.vertices[used, 0], mesh.vertices[used, 1]
    order = np.lexsort((y, x))
    same = np.flatnonzero((x[order[1:]] == x[order[:-1]]) & (y[order[1:]] == y[order[:-1]]))
    first, second = used[order[same]], used[order[same + 1]]
    findings.add(
        "duplicates",
        "vertex",
        second,
        lambda i: f"{place(mesh.vertices, second[i])} has the coordinates of {named('vertex', first[i])}",
    )


def check_segments(mesh: Mesh, topology: Topology, findings: Findings) -> None:
    """Every segment of the mesh is an edge of a triangle."""
    findings.start("segments")
    u, v = mesh.segments[:, 0], mesh.segments[:, 1]
    missing = np.flatnonzero((topology.find_either(u, v) < 0) | (u == v))
    findings.add(
        "segments",
        "segment",
        missing,
        lambda i: f"from {describe(mesh.vertices, *mesh.segments[missing[i]])}: is no edge of the triangulation",
    )
