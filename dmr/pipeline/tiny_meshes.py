"""Tiny meshes: refined by several recipes, of whose results the smallest is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dmr.options import RefineOptions
from dmr.pipeline.thresholds import FOR_TINY_MESHES, Thresholds, thresholds
from dmr.results import Refinement

# Up to so many triangles several recipes are tried.
TINY_MESH = 128

# Where more points are needed than this, sizes and grading decide how many, and not chance; and where more than a few
# are, recipes that take many rounds are not worth their time.
MANY_POINTS = 2000
FEW_POINTS = 300


def smallest(
    options: RefineOptions, usual: Refinement, refine_by: Callable[[RefineOptions, Thresholds], Refinement]
) -> Refinement:
    """Refines a tiny mesh by the other recipes as well.

    Args:
        options: what is asked; usual: what the usual recipe gave.
        refine_by: refines the mesh by other options and thresholds.

    Returns:
        The smallest of the results that leave least unrefined.
    """
    points = sum(usual.steiner.values())
    if not usual.complete or points == 0 or points > MANY_POINTS:
        return usual
    others = dict.fromkeys(thresholds(options, recipe) for recipe in FOR_TINY_MESHES)
    others.pop(thresholds(options))
    best, tries = usual, 1
    for limits in others:
        if points > FEW_POINTS and (limits.most or limits.worst_first):
            continue
        # A run that needs more points than the best one so far is hardly smaller, and need not end.
        capped = replace(options, max_steiner=sum(best.steiner.values()))
        result = refine_by(capped, limits)
        tries += 1
        if result.complete and _cost(result) < _cost(best):
            best = result
    return replace(best, tries=tries, warnings=usual.warnings)


def _cost(result: Refinement) -> tuple[int, int]:
    return sum(result.unrefined.values()), len(result.mesh.triangles)
