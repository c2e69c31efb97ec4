"""Refuses a domain with a slit that is too narrow for its length: the triangles between its walls are too many."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.common.text import option
from dmr.errors import InvalidMeshError
from dmr.mesh.edges import edge_keys
from dmr.mesh.types import Float, Int, Mesh
from dmr.refinement.state.device_mesh import MOST_TRIANGLES

RESOLVED = 2.0**-49  # least distance of walls, in units of the coordinates there: below it, refinement soon stops


def check_slits(mesh: Mesh, min_angle: float) -> None:
    """Refuses a mesh if triangles with a smallest angle are too many between walls that are very near to each other.

    Args:
        mesh: the mesh to refine, whose segments and boundary may be split; min_angle: degrees.

    Raises:
        InvalidMeshError: gives the number of triangles needed, the walls, and what to do.
    """
    tangent = math.tan(math.radians(min_angle))
    # If no pair of walls needs more than this number of triangles, all of them together do not need too many.
    few = MOST_TRIANGLES / (2 * len(mesh.triangles))
    walls, across, distance = _facing_walls(mesh, tangent / few)
    # A triangle on a wall has an edge there and at most the width of the slit as its height: the edge is at most
    # twice the width over the tangent of the angle. There are two walls.
    needed = across / distance * tangent
    if needed.sum() > MOST_TRIANGLES:
        most = int(needed.argmax())
        (a, b), (c, d) = walls[most]
        raise InvalidMeshError(
            f"the edges {a}-{b} and {c}-{d} (numbers of vertices) are {distance[most]:.2g} apart along "
            f"{across[most]:.2g}: angles of {min_angle:g} degrees need at least {needed.sum():.2g} triangles between "
            f"such edges, and a mesh can have {MOST_TRIANGLES:,}; join them to one, make the area between them a "
            f"hole, or set {option('max_steiner')}"
        )


def _facing_walls(mesh: Mesh, thin: float) -> tuple[Int, Float, Float]:
    """Finds pairs of thin triangles with a common edge, and walls on both sides of it.

    Walls are segments; in a mesh without segments, the boundary. A GPU's mesh has segments, and its neighbours, which
    the host would have to find, are not needed.

    Args:
        mesh: the mesh; thin: the largest height over the longest edge of such triangles.

    Returns:
        (k, 2, 2) the walls, by their vertices; (k,) float64 the length along which two are side by side, and (k,) the
        largest distance between them there. Walls that meet in a vertex are left out: angles may be smaller there.
        So are those whose distance coordinates do not resolve.
    """
    p, triangles = mesh.vertices, mesh.triangles
    x, y = (np.ascontiguousarray(p[:, axis])[triangles.T] for axis in (0, 1))  # by corner
    along_x, along_y = (at[[2, 0, 1]] - at[[1, 2, 0]] for at in (x, y))  # opposite each corner
    squared = along_x * along_x + along_y * along_y
    doubled = np.abs(along_x[0] * along_y[1] - along_y[0] * along_x[1])
    rows = np.flatnonzero(doubled < thin * squared.max(axis=0))
    of_rows = triangles[rows]
    keys = edge_keys(of_rows[:, [1, 2, 0]], of_rows[:, [2, 0, 1]])
    is_wall = _among(keys, edge_keys(*mesh.segments.T)) if len(mesh.segments) else mesh.neighbours[rows] < 0
    # A wall of a slit is a long edge. Needles with a short edge on the boundary, as in a circle, are not a slit.
    is_long = (doubled[rows] < thin * squared[:, rows]).T
    beside = (is_wall & is_long).any(axis=1)
    rows, keys, is_wall = rows[beside], keys[beside], is_wall[beside]
    order = np.argsort(keys, axis=None, kind="stable")
    shared = np.flatnonzero(keys.ravel()[order[1:]] == keys.ravel()[order[:-1]])
    (one, k), (other, _) = divmod(order[shared], 3), divmod(order[shared + 1], 3)
    inner = ~is_wall[one, k]
    one, k, other = one[inner], k[inner], other[inner]
    corners = triangles[rows]
    along = p[corners[one, (k + 2) % 3]] - p[corners[one, (k + 1) % 3]]
    along = along / np.sqrt((along**2).sum(axis=1))[:, None]
    found: list[tuple[Int, Float, Float]] = []
    for near in range(3):
        for far in range(3):
            both = np.flatnonzero(is_wall[one, near] & is_wall[other, far])
            ends = np.stack([_edge(corners[one[both]], near), _edge(corners[other[both]], far)], axis=1)
            meets = (ends[:, 0, :, None] == ends[:, 1, None, :]).any(axis=(1, 2))
            ends, places = ends[~meets], p[ends[~meets]]
            length, distance = _side_by_side(places, along[both[~meets]])
            kept = (length > 0) & (distance >= RESOLVED * np.abs(places).max(axis=(1, 2, 3)))
            found.append((ends[kept], length[kept], distance[kept]))
    walls, lengths, distances = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return walls, lengths, distances


def _among(keys: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Returns which of the few `keys` are among many others."""
    wanted = distinct(keys)
    there = np.zeros(len(wanted) + 1, bool)
    place = np.searchsorted(wanted, others)
    there[place[np.append(wanted, -1)[place] == others]] = True
    found: NDArray[np.bool_] = there[np.searchsorted(wanted, keys)]
    return found


def _edge(triangles: Int, k: int) -> Int:
    found: Int = triangles[:, [(k + 1) % 3, (k + 2) % 3]]
    return found


def _side_by_side(ends: Float, along: Float) -> tuple[Float, Float]:
    """Returns the length of the common part of two edges, in a direction, and their largest distance there.

    Args:
        ends: (k, 2, 2, 2) the ends of both edges; along: (k, 2) the direction, a unit vector.
    """
    place = (ends * along[:, None, None]).sum(axis=3)
    off = ends[..., 1] * along[:, None, None, 0] - ends[..., 0] * along[:, None, None, 1]
    low, high = place.min(axis=2).max(axis=1), place.max(axis=2).min(axis=1)
    span = place[:, :, 1] - place[:, :, 0]
    is_across = (span == 0.0).any(axis=1)  # an edge across the slit
    slope = (off[:, :, 1] - off[:, :, 0]) / np.where(span == 0.0, 1.0, span)
    apart = []
    for at in (low, high):
        here = off[:, :, 0] + slope * (at[:, None] - place[:, :, 0])
        apart.append(np.abs(here[:, 1] - here[:, 0]))
    length: Float = np.where(is_across, 0.0, high - low)
    return length, np.maximum(*apart)
