"""The first points of interiors that are nearly empty.

In a domain outlined by many short segments the first triangles are needles that reach across all of it. The cavity of
each contains hundreds of others, so nearly all that compete in a round lose. Such a mesh is therefore first
refined to angles of a small fraction of a degree, by circumcenters, and then to larger ones, in steps ("rungs"): the
centers of the largest empty circles come first, and each rung leaves cavities of a few dozen triangles to the next.
These points lie at least as far from all others as the final ones will, so results do not grow.

If most triangles are needles, there are no rungs: the first points are placed at once
(`dmr.refinement.placement.empty_boxes`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from dmr.refinement.options import RefineOptions
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.steps.thresholds import Thresholds, thresholds

RUNGS = (2.0**-6, 2.0**-3, 1.0)  # degrees; as many as RUNGS of cuda_src/refine/quality/quality.cu

# A rung is used if at least this many triangles, and one of SHARE, have smaller angles: random points have fewer.
FEWEST = 256
SHARE = 128
FEWEST_TRIANGLES = 1024  # smaller meshes lose little without rungs
FEWEST_AROUND_NOTHING = 128  # triangles of a mesh with points in empty boxes instead


def is_around_nothing(state: DeviceMesh, options: RefineOptions, needles: list[int]) -> bool:
    """Whether most triangles are needles, narrower than the last rung, as in an outline of many short segments.

    `needles` are those of `count_needles`.
    """
    if state.slots < FEWEST_AROUND_NOTHING or 2 * RUNGS[-1] > options.min_angle:
        return False
    return 2 * needles[-1] >= state.slots


def rungs(state: DeviceMesh, options: RefineOptions, needles: list[int]) -> list[Thresholds]:
    """Returns the thresholds to refine the mesh to first, in turn; none for most meshes.

    The rule depends only on counts, so every device makes the same choice. `needles` are those of `count_needles`.
    """
    if state.slots < FEWEST_TRIANGLES:
        return []
    least = max(FEWEST, state.slots / SHARE)
    return [
        first_thresholds(options, angle)
        for angle, count in zip(RUNGS, needles, strict=True)
        if count >= least and 2 * angle <= options.min_angle
    ]


def first_thresholds(options: RefineOptions, angle: float) -> Thresholds:
    """Returns the thresholds of a rung: circumcenters, only the angle bound (degrees), and the final segment splits."""
    rung = thresholds(replace(options, min_angle=angle, max_area=None, steiner="circumcenter"))
    return replace(rung, first=1, stretch=thresholds(options).stretch)


def count_needles(state: DeviceMesh) -> list[int]:
    """Returns, for each rung, the number of triangles with a smaller angle; nothing for a mesh that is too small."""
    if state.slots < min(FEWEST_TRIANGLES, FEWEST_AROUND_NOTHING):
        return []
    device = state.device
    pieces, cosines = device.pieces(state.slots), device.array(np.array(_squared_cosines()))
    found = device.empty(pieces * len(RUNGS), np.int32)
    device.launch("survey_needles", pieces, state.triangles, state.slots, state.points, cosines, found)
    return [int(count) for count in found.download().reshape(-1, len(RUNGS)).sum(axis=0)]


@cache
def _squared_cosines() -> tuple[float, ...]:
    """Returns the squared cosines of the angles of all rungs."""
    return tuple(thresholds(RefineOptions(min_angle=angle)).cosine_squared for angle in RUNGS)
