"""A refined domain that has all that parts must carry, and the ghosts that parts of a mesh must have."""

from __future__ import annotations

from functools import cache

import numpy as np

from dmr import Mesh, Pslg, refine


def plate_outline() -> Pslg:
    """A square with a square hole, a segment across, two regions, names, and a point in the hole."""
    outer, inner = [[0, 0], [4, 0], [4, 3], [0, 3]], [[1, 1], [2, 1], [2, 2], [1, 2]]
    ring = np.column_stack([np.arange(4), np.roll(np.arange(4), -1)])
    return Pslg(
        [*outer, *inner, [3, 0], [3, 3], [1.5, 1.25]],
        [[0, 8], [8, 1], [1, 2], [2, 9], [9, 3], [3, 0], *(ring + 4), [8, 9]],
        segment_markers=[2, 2, 3, 4, 4, 5, 6, 6, 6, 6, 7],
        vertex_markers=[9, *[0] * 10],
        vertex_attributes=np.linspace(-1, 1, 11)[:, None],
        holes=[[1.5, 1.5]],
        regions=[[0.5, 0.5, 1, 0.02], [3.5, 0.5, 2, 0.01]],
        names={"regions": {1: "steel", 2: "air"}, "markers": {6: "bore"}},
    )


@cache
def plate() -> Mesh:
    """The outline, refined: about 1,300 triangles."""
    return refine(plate_outline(), min_angle=30).mesh


def expected_ghosts(corners: np.ndarray, owners: np.ndarray, index: int) -> list[int]:
    """Triangles of other parts that share a vertex with those of a part, one by one."""
    own = {
        vertex
        for triangle, owner in zip(corners.tolist(), owners.tolist(), strict=True)
        if owner == index
        for vertex in triangle
    }
    return [t for t, triangle in enumerate(corners.tolist()) if owners[t] != index and own & set(triangle)]
