"""The arrays that a part hands to the checks of its neighbours and of the union."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.distributed.jobs.folder import Folder
from dmr.distributed.tiles.piece import Piece
from dmr.distributed.tiles.pieces import restricted
from dmr.distributed.validation.own_checks import OwnChecks
from dmr.mesh.edges import edge_keys
from dmr.validation.triangulation.topology import components

Int64 = NDArray[np.int64]

# Layers of triangles: those that the part owns at its border, its ghosts, and those that the check of the union needs.
BORDER, GHOSTS, SKELETON = "border", "ghosts", "skeleton"


class Layer:
    """Some triangles of a part, as a piece whose arrays are in a folder under the layer's name.

    Args:
        folder: the output of `check_part`; name: of the layer.
    """

    def __init__(self, folder: Folder, name: str) -> None:
        self._folder = folder
        self._name = name

    def __getitem__(self, name: str, /) -> NDArray[Any]:
        return self._folder[f"{self._name}-{name}"]

    def __setitem__(self, name: str, array: NDArray[Any], /) -> None:
        self._folder[f"{self._name}-{name}"] = array

    def __contains__(self, name: object, /) -> bool:
        return f"{self._name}-{name}" in self._folder


def write_layers(checks: OwnChecks, out: Folder, given: int, *, faces: bool) -> None:
    """Writes what the checks of the neighbours and of the union need.

    The output has three layers, each with `triangle`, (t,) the numbers of its triangles, and these arrays:

    * `cut-edges`, (c, 2) the vertices' numbers of the half-edges of the part without a triangle of the part across;
      `cut-triangles`, (c,) the triangle of each; `cut-matched`, (c,) whether a ghost lies across; `cut-free`, (c,)
      whether they are not segments; `cut-face`, (c,) a number for the face of the part that each lies in.
    * `border`, (b, 3) for each vertex of these: its number, and how many triangles of the part and ghosts touch it.
    * `skeleton-boundary`, (t, 3) the edges of the skeleton's triangles on the boundary of the mesh;
      `skeleton-face`, (t,) a number for the face of the part that each lies in; `faces`, (m,) for all triangles;
      `excused`, (e,) those that may exceed their limits.
    * `small`, (s,) the triangles with small angles near segments, which are in the skeleton.
    * `used`, (u,) the numbers of the input's vertices that have triangles; `used-markers`, (u,) their markers.

    Args:
        checks: of the part; out: the output.
        given: the number of the input's vertices.
        faces: whether `faces` is needed.
    """
    part, mesh, topology, own = checks.part, checks.mesh, checks.topology, checks.own
    numbers, whole = part.triangle_numbers, Piece(mesh, part.numbers)
    twins = topology.twins[: 3 * own]
    free = np.ones(3 * len(mesh.triangles), bool)
    constrained = checks.arcs.half_edges[checks.arcs.half_edges >= 0]
    free[constrained] = False
    cut = np.flatnonzero((twins < 0) | (twins >= 3 * own))
    ends = np.stack([topology.starts[cut], topology.ends[cut]], axis=1)
    out["cut-edges"], out["cut-triangles"] = part.numbers[ends], numbers[cut // 3]
    out["cut-matched"], out["cut-free"] = twins[cut] >= 0, free[cut]

    border = distinct(ends)
    touching = np.bincount(mesh.triangles[:own].ravel(), minlength=len(part.numbers))[border]
    ghosts = np.bincount(mesh.triangles[own:].ravel(), minlength=len(part.numbers))[border]
    out["border"] = np.stack([part.numbers[border], touching, ghosts], axis=1)
    at_border = np.zeros(len(part.numbers), bool)
    at_border[border] = True
    along = np.flatnonzero(at_border[mesh.triangles[:own]].any(axis=1))
    skeleton = _skeleton(checks, constrained)
    for name, chosen in ((BORDER, along), (GHOSTS, np.arange(own, len(mesh.triangles))), (SKELETON, skeleton)):
        layer = Layer(out, name)
        restricted(whole, chosen).save(layer)
        layer["triangle"] = numbers[chosen]

    links = np.where(free[: 3 * own] & (twins < 3 * own), twins, -1)
    labels = np.concatenate([part.first + components(links.reshape(-1, 3)), part.ghost_numbers])
    out["cut-face"] = labels[cut // 3]
    out["skeleton-boundary"] = topology.twins.reshape(-1, 3)[skeleton] < 0
    out["skeleton-face"] = labels[skeleton]
    if faces:
        out["faces"] = labels[:own]
        out["excused"] = np.flatnonzero(checks.left.excused[:own])
    out["small"] = numbers[checks.below[checks.near_segments]]
    used = np.flatnonzero(checks.used & (part.numbers < given))
    out["used"] = part.numbers[used]
    out["used-markers"] = np.zeros(len(used), np.int32) if mesh.vertex_markers is None else mesh.vertex_markers[used]


def _skeleton(checks: OwnChecks, constrained: Int64) -> Int64:
    """The triangles that the check of the union needs: those at segments, and small angles near segments."""
    chosen = np.zeros(len(checks.mesh.triangles), bool)
    chosen[constrained // 3] = True
    chosen[checks.own :] = False
    small = checks.below[checks.near_segments]
    around = checks.topology.neighbours_of(small)
    chosen[small] = True
    chosen[around[around >= 0]] = True
    return np.flatnonzero(chosen)


def rows(piece: Piece) -> dict[str, NDArray[np.uint64]]:
    """Returns all that a piece says about its triangles, as bits: for each property, (m, k) words."""
    mesh, corners = piece.mesh, piece.mesh.triangles
    count = len(corners)
    keys = edge_keys(*mesh.segments.T)
    order = np.argsort(keys, kind="stable")
    edges = edge_keys(*corners[:, [[1, 2], [2, 0], [0, 1]]].reshape(-1, 2).T)
    place = order[np.minimum(np.searchsorted(keys, edges, sorter=order), len(keys) - 1)] if len(keys) else None
    listed = np.zeros(3 * count, bool) if place is None else keys[place] == edges
    markers = np.zeros(3 * count, np.int64)
    if place is not None and mesh.segment_markers is not None:
        markers[listed] = mesh.segment_markers[place[listed]]
    found: dict[str, NDArray[Any] | None] = {
        "corners": piece.numbers[corners],
        "coordinates": mesh.vertices[corners],
        "segments": np.concatenate([listed.reshape(-1, 3), markers.reshape(-1, 3)], axis=1),
        "vertex markers": None if mesh.vertex_markers is None else mesh.vertex_markers[corners],
        "vertex attributes": None if mesh.vertex_attributes is None else mesh.vertex_attributes[corners],
        "attributes": mesh.triangle_attributes,
        "area bounds": mesh.area_bounds,
    }
    return {name: _words(array, count) for name, array in found.items() if array is not None}


def _words(array: NDArray[Any], count: int) -> NDArray[np.uint64]:
    wide = array if array.dtype == np.float64 else array.astype(np.int64)
    return np.ascontiguousarray(wide.reshape(count, -1 if wide.size else 0)).view(np.uint64)
