"""Results of two programs on one input, and their comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import dmr
from dmr.mesh.shapes import min_angles, triangle_areas

SAME_AREA = 1e-9
SAME_ANGLE = 1e-9  # degrees, because Triangle rounds its bound


@dataclass(kw_only=True)
class Side:
    """Result of one program on one file.

    Attributes:
        outcome: "mesh", "limit" (a mesh, but stopped early), "error" (a clear one), "unclear", "zero" (no triangles and
            no message), "crash", "timeout", "unreadable" (by dmr, so that Triangle did not run).
        text: the message, the signal, ...
        below: triangles below the bound; area: of the domain. None if not measured.
        valid: None if there is nothing to validate; why: the failures, or the number of excused triangles.
    """

    outcome: str
    text: str = ""
    vertices: int = 0
    triangles: int = 0
    min_angle: float | None = None
    below: int | None = None
    area: float | None = None
    seconds: float = 0.0
    valid: bool | None = None
    why: str = ""
    unrefined: dict[str, int] | None = None


def same_domain(ours: Side, peer: Side) -> bool:
    """Whether both have a mesh of the same area."""
    if ours.area is None or peer.area is None:
        return False
    return abs(ours.area - peer.area) <= SAME_AREA * max(ours.area, peer.area)


def falls_short(ours: Side, peer: Side) -> bool:
    """Whether `ours` has more triangles below the bound than `peer`."""
    return ours.below is not None and peer.below is not None and ours.below > peer.below


def geometric_mean(ratios: Sequence[float]) -> float:
    """Geometric mean of at least one ratio."""
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios))


def measured(mesh: dmr.Mesh, angle: float) -> Side:
    """Counts and figures of a mesh."""
    angles = min_angles(mesh)
    return Side(
        outcome="mesh",
        vertices=len(mesh.vertices),
        triangles=len(mesh.triangles),
        min_angle=float(angles.min()),
        below=int(np.count_nonzero(angles < angle - SAME_ANGLE)),
        area=math.fsum(np.abs(triangle_areas(mesh)).tolist()),
    )
