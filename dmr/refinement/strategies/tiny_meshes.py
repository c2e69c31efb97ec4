"""Refines tiny meshes by several recipes and keeps the smallest result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dmr.refinement.options import RefineOptions
from dmr.refinement.results import Refinement
from dmr.refinement.steps.thresholds import FOR_TINY_MESHES, Thresholds, thresholds

# Several recipes are tried for meshes of up to this many triangles.
TINY_MESH = 128

# If more points than this are needed, sizes and grading determine their number, and not chance; and if more than a few
# are, recipes that take many rounds are not worth their time.
MANY_POINTS = 2000
FEW_POINTS = 300


def smallest(
    options: RefineOptions, usual: Refinement, refine_by: Callable[[RefineOptions, Thresholds], Refinement]
) -> Refinement:
    """Refines a tiny mesh by the other recipes, too.

    Args:
        options: the options of the run; usual: the result of the usual recipe.
        refine_by: refines the mesh by other options and thresholds.

    Returns:
        The smallest of the results that leave the fewest triangles unrefined.
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
        # A run that needs more points than the best one so far is hardly smaller, and may stop early.
        capped = replace(options, max_steiner=sum(best.steiner.values()))
        result = refine_by(capped, limits)
        tries += 1
        if result.complete and _cost(result) < _cost(best):
            best = result
    return replace(best, tries=tries, warnings=usual.warnings)


def _cost(result: Refinement) -> tuple[int, int]:
    return sum(result.unrefined.values()), len(result.mesh.triangles)
