"""Refuses a domain with a slit that is too narrow for its length: the triangles between its walls are too many."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dmr.common.text import option
from dmr.errors import InvalidMeshError
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
    """Finds pairs of thin triangles with a common edge, and walls on both sides of it: segments or boundary edges.

    Args:
        mesh: the mesh; thin: the largest height over the longest edge of such triangles.

    Returns:
        (k, 2, 2) the walls, by their vertices; (k,) float64 the length along which two are side by side, and (k,) the
        largest distance between them there. Walls that meet in a vertex are left out: angles may be smaller there.
        So are those whose distance coordinates do not resolve.
    """
    p, triangles, neighbours = mesh.vertices, mesh.triangles, mesh.neighbours
    a, b, c = p[triangles[:, 0]], p[triangles[:, 1]], p[triangles[:, 2]]
    squared = np.maximum.reduce([((v - u) ** 2).sum(axis=1) for u, v in ((a, b), (b, c), (c, a))])
    doubled = np.abs((b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0]))
    is_thin = doubled < thin * squared
    rows = np.flatnonzero(is_thin)
    row, k = np.nonzero((neighbours[rows] > rows[:, None]) & is_thin[neighbours[rows]])
    t, other = rows[row], neighbours[rows[row], k]
    walls_of, walls_beyond = _walls(mesh, t), _walls(mesh, other)
    is_inner = ~walls_of[np.arange(len(t)), k]
    along = p[triangles[t, (k + 2) % 3]] - p[triangles[t, (k + 1) % 3]]
    along = along / np.sqrt((along**2).sum(axis=1))[:, None]
    found: list[tuple[Int, Float, Float]] = []
    for one in range(3):
        for two in range(3):
            both = np.flatnonzero(is_inner & walls_of[:, one] & walls_beyond[:, two])
            ends = np.stack([_edge(triangles[t[both]], one), _edge(triangles[other[both]], two)], axis=1)
            meets = (ends[:, 0, :, None] == ends[:, 1, None, :]).any(axis=(1, 2))
            ends, places = ends[~meets], p[ends[~meets]]
            length, distance = _side_by_side(places, along[both[~meets]])
            kept = (length > 0) & (distance >= RESOLVED * np.abs(places).max(axis=(1, 2, 3)))
            found.append((ends[kept], length[kept], distance[kept]))
    walls, lengths, distances = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return walls, lengths, distances


def _walls(mesh: Mesh, rows: NDArray[np.signedinteger]) -> NDArray[np.bool_]:
    """Returns (k, 3) whether the edge opposite each corner of some triangles is a segment or on the boundary."""
    n = len(mesh.vertices)
    ends = np.sort(mesh.triangles[rows][:, [[1, 2], [2, 0], [0, 1]]], axis=2).astype(np.int64)
    segments = np.sort(mesh.segments, axis=1).astype(np.int64)
    keys = ends[:, :, 0] * n + ends[:, :, 1]
    wanted = np.unique(keys)
    of_segments = segments[:, 0] * n + segments[:, 1]
    place = np.minimum(np.searchsorted(wanted, of_segments), max(len(wanted) - 1, 0))
    is_segment = np.zeros(len(wanted), bool)
    if len(wanted):
        is_segment[place[wanted[place] == of_segments]] = True
    found: NDArray[np.bool_] = is_segment[np.searchsorted(wanted, keys)] | (mesh.neighbours[rows] < 0)
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
