"""Borders between regions that no segments hold."""

from __future__ import annotations

import logging

import numpy as np

from dmr.mesh.edges import edge_places
from dmr.mesh.types import Mesh

log = logging.getLogger("dmr")


def open_borders(mesh: Mesh) -> tuple[int, tuple[int, int]]:
    """Counts the edges between two regions (values of triangle attribute 0) that are not segments.

    Returns:
        Their number, and the two triangles at the first one; (-1, -1) if there is none.
    """
    attributes = mesh.triangle_attributes
    if attributes is None or not attributes.shape[1]:
        return 0, (-1, -1)
    region, across = attributes[:, 0], mesh.neighbours
    of_lower = np.arange(len(across))[:, None] < across  # each edge once
    triangles, sides = np.nonzero(of_lower & (region[:, None] != region[across]))
    ends = np.stack([mesh.triangles[triangles, (sides + 1) % 3], mesh.triangles[triangles, (sides + 2) % 3]], axis=1)
    found = np.flatnonzero(edge_places(mesh.unique_segments()[0], ends, len(mesh.vertices)) < 0)
    if not len(found):
        return 0, (-1, -1)
    first = int(triangles[found[0]])
    return len(found), (first, int(across[first, sides[found[0]]]))


def border_warnings(mesh: Mesh) -> list[str]:
    """Logs and returns a warning if regions with names have borders that are not segments, and thus are not kept."""
    if not mesh.names["regions"]:
        return []
    count, (one, other) = open_borders(mesh)
    if not count:
        return []
    edges = "edge between two regions is not a segment" if count == 1 else "edges between regions are not segments"
    sentence = (
        f"{count:,} {edges}, so that the border may move (the first: between triangles {one} and {other}): to keep it, "
        "refine dmr.outline(mesh), or use dmr.adapt"
    )
    log.warning(sentence)
    return [sentence]
