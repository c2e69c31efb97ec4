"""Borders between regions that no segments hold."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.edges import edge_places
from dmr.mesh.types import Float, Int, Mesh

Int64 = NDArray[np.int64]

log = logging.getLogger("dmr")


def open_borders(mesh: Mesh) -> tuple[int, tuple[int, int]]:
    """Counts the edges between two regions (values of triangle attribute 0) that are not segments.

    Returns:
        Their number, and the two triangles at the first one; (-1, -1) if there is none.
    """
    attributes = mesh.triangle_attributes
    if attributes is None or not attributes.shape[1] or (attributes[:, 0] == attributes[:1, 0]).all():
        return 0, (-1, -1)
    edges, lower, upper = _borders(mesh, attributes[:, 0])
    found = np.flatnonzero(edge_places(mesh.unique_segments()[0], edges, len(mesh.vertices)) < 0)
    if not len(found):
        return 0, (-1, -1)
    first = found[np.lexsort((upper[found], lower[found]))[0]]
    return len(found), (int(lower[first]), int(upper[first]))


def _borders(mesh: Mesh, region: Float) -> tuple[Int, Int64, Int64]:
    """Returns the edges between two regions, (b, 2), and the triangles at each, the lower number first.

    Only triangles with two vertices at which regions meet are searched: the neighbours of all take five times as long.
    """
    least, most = np.full(len(mesh.vertices), np.inf), np.full(len(mesh.vertices), -np.inf)
    for corner in mesh.triangles.T:
        np.minimum.at(least, corner, region)
        np.maximum.at(most, corner, region)
    mixed = (least < most)[mesh.triangles]
    near = np.flatnonzero(mixed.sum(axis=1) >= 2)
    edges = np.sort(mesh.triangles[near][:, [[1, 2], [2, 0], [0, 1]]].reshape(-1, 2), axis=1)
    owner = np.repeat(near, 3)
    order = np.lexsort((owner, edges[:, 1], edges[:, 0]))
    edges, owner = edges[order], owner[order]
    same = (edges[1:] == edges[:-1]).all(axis=1) & (region[owner[1:]] != region[owner[:-1]])
    at = np.flatnonzero(same)
    return edges[at], owner[at], owner[at + 1]


def border_warnings(mesh: Mesh) -> list[str]:
    """Logs and returns a warning if regions have borders that are not segments, and thus are not kept.

    Whole numbers that most neighbours share are regions, with names or without.
    """
    attributes = mesh.triangle_attributes
    if attributes is None or not attributes.shape[1] or (attributes[:, 0] != np.rint(attributes[:, 0])).any():
        return []
    count, (one, other) = open_borders(mesh)
    if not count or (count > len(mesh.triangles) / 2 and not mesh.names["regions"]):
        return []
    edges = "edge between two regions is not a segment" if count == 1 else "edges between regions are not segments"
    sentence = (
        f"{count:,} {edges}, so that the border may move (the first: between triangles {one} and {other}): to keep it, "
        "refine dmr.outline(mesh), or use dmr.adapt"
    )
    log.warning(sentence)
    return [sentence]
