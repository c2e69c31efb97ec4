"""Two programs on one input: what each made of it, and whether and how their meshes compare."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import dmr
from dmr.quality import min_angles, triangle_areas

SAME_AREA = 1e-9
SAME_ANGLE = 1e-9  # degrees: Triangle's own bound is rounded


@dataclass(kw_only=True)
class Side:
    """What one program made of one file.

    Attributes:
        outcome: "mesh", "limit" (a mesh, but stopped early), "error" (a clear one), "unclear", "zero" (no triangles,
            and not a word), "crash", "timeout", "unreadable" (to us, so that Triangle did not get it).
        text: the sentence, the signal, ...
        below: triangles below the bound; area: of the domain. None where nothing was measured.
        valid: None where there is nothing to validate; why: what failed, or which triangles are excused.
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
    """Whether both have a mesh, of the same area."""
    if ours.area is None or peer.area is None:
        return False
    return abs(ours.area - peer.area) <= SAME_AREA * max(ours.area, peer.area)


def falls_short(ours: Side, peer: Side) -> bool:
    """Whether ours has more triangles below the bound than the peer's."""
    return ours.below is not None and peer.below is not None and ours.below > peer.below


def geometric_mean(ratios: Sequence[float]) -> float:
    """Of at least one ratio."""
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios))


def measured(mesh: dmr.Mesh, angle: float) -> Side:
    """The counts and figures of a mesh."""
    angles = min_angles(mesh)
    return Side(
        outcome="mesh",
        vertices=len(mesh.vertices),
        triangles=len(mesh.triangles),
        min_angle=float(angles.min()),
        below=int(np.count_nonzero(angles < angle - SAME_ANGLE)),
        area=math.fsum(np.abs(triangle_areas(mesh)).tolist()),
    )
