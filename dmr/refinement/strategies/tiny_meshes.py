"""Refines tiny meshes by several recipes and keeps the smallest result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, TypeVar

import numpy as np

from dmr.mesh.shapes import triangle_areas
from dmr.mesh.types import Mesh
from dmr.refinement.options import RefineOptions
from dmr.refinement.results import Refinement
from dmr.refinement.steps.thresholds import FOR_TINY_MESHES, Thresholds, thresholds
from dmr.triangulation.deferred import triangle_count

# Several recipes are tried for meshes of up to this many triangles.
TINY_MESH = 128

# If more points than this are needed, sizes and grading determine their number, and not chance; and if more than a few
# are, recipes that take many rounds are not worth their time.
MANY_POINTS = 2000
FEW_POINTS = 300


def needs_many_points(mesh: Mesh, options: RefineOptions) -> bool:
    """Whether every refinement of a mesh to a bound on all areas inserts more than MANY_POINTS points.

    A point adds at most two triangles, and an area A needs A / a of them with areas of at most a. (Kept segments may
    leave larger triangles.)
    """
    if options.max_area is None:
        return False
    fewest = float(np.abs(triangle_areas(mesh)).sum()) / options.max_area
    return fewest - triangle_count(mesh) > 2 * (MANY_POINTS + 1)


class Attempt(Protocol):
    """A run by one recipe, with the mesh still on the device."""

    @property
    def complete(self) -> bool:
        """Whether no limit has ended the run."""

    @property
    def points(self) -> int:
        """The number of inserted points."""

    @property
    def triangles(self) -> int:
        """The number of triangles."""

    @property
    def warnings(self) -> list[str]:
        """The warnings for the user, one sentence each."""

    @property
    def unrefined(self) -> int:
        """The number of triangles that violate a bound."""

    def result(self) -> Refinement:
        """Copies the mesh to the host, and makes the report."""


AttemptT = TypeVar("AttemptT", bound=Attempt)


def smallest(
    options: RefineOptions,
    usual: AttemptT,
    refine_by: Callable[[RefineOptions, Thresholds, AttemptT | None], AttemptT],
) -> Refinement:
    """Refines a tiny mesh by the other recipes, too.

    Args:
        options: the options of the run; usual: the run by the usual recipe.
        refine_by: refines the mesh by other options and thresholds; may take the memory of an attempt that is no longer
            needed.

    Returns:
        The smallest of the results that leave the fewest triangles unrefined, and, where segments are kept, no larger
        share of them.
    """
    points = usual.points
    if not usual.complete or points == 0 or points > MANY_POINTS:
        return usual.result()
    others = dict.fromkeys(thresholds(options, recipe) for recipe in FOR_TINY_MESHES)
    others.pop(thresholds(options))
    best, capped, tries = usual, options, 1
    spare: AttemptT | None = None
    for limits in others:
        if points > FEW_POINTS and (limits.most or limits.worst_first):
            continue
        # A run that needs more points than the best one so far is hardly smaller, and may stop early.
        if capped.max_steiner != best.points:
            capped = replace(options, max_steiner=best.points)
        attempt = refine_by(capped, limits, spare)
        tries += 1
        if attempt.complete and _is_better(attempt, best, kept=options.keep_segments != "none"):
            best, spare = attempt, best
        else:
            spare = attempt
    result = best.result()
    return replace(result, tries=tries, warnings=tuple(usual.warnings))


def _is_better(attempt: Attempt, best: Attempt, *, kept: bool) -> bool:
    """Whether an attempt leaves fewer triangles unrefined, or as many and has fewer triangles in all.

    Beside `kept` segments triangles stay unrefined. A few large ones, which all violate a bound, are not better than
    many of which some do.
    """
    if attempt.triangles >= best.triangles and best.unrefined == 0:
        return False
    if kept and attempt.unrefined * best.triangles > best.unrefined * attempt.triangles:
        return False
    return (attempt.unrefined, attempt.triangles) < (best.unrefined, best.triangles)
