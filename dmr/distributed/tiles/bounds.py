"""The bounds of a refinement in tiles, as a job stores them, and what they predict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from dmr.common.text import option
from dmr.errors import OptionError
from dmr.mesh.types import Float, Mesh
from dmr.refinement.options import MARKINGS, RefineOptions
from dmr.refinement.placement.targets import multiple
from dmr.refinement.setup.demand import OVER_EQUILATERAL, OVER_THE_FEWEST
from dmr.refinement.setup.thresholds import thresholds
from dmr.refinement.steps.local_bounds import LocalBounds
from dmr.sizing.functions import EqualSizes, size_source
from dmr.sizing.source import SizeSource

# The options of a refinement that a job stores; the others affect only how it runs, or are refused.
STORED = ("min_angle", "max_area", "steiner", "conforming", "keep_segments", "strict")


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The bounds of a refinement in tiles.

    Attributes:
        options: the options of `dmr.refine`; local: the bounds by place, evaluated by kernels.
    """

    options: RefineOptions
    local: LocalBounds[SizeSource] = field(default_factory=LocalBounds)

    @classmethod
    def checked(cls, options: RefineOptions, max_edge: object) -> Bounds:
        """Returns the bounds of a refinement, unless tiles do not support an option.

        Raises:
            OptionError: names that option.
        """
        refused = {
            "max_steiner": options.max_steiner is not None,
            "max_seconds": options.max_seconds is not None,
            "optimize": bool(options.optimize),
        }
        for name, given in refused.items():
            if given:
                raise OptionError(f"{option(name)} does not go with tiles: leave it out, or refine without tiles")
        if options.marking != MARKINGS[0]:
            raise OptionError(
                f"{option('marking', options.marking)} does not go with tiles, whose results must not depend on the "
                f"schedule: take {MARKINGS[0]!r}"
            )
        source = None if max_edge is None else size_source(max_edge, "max_edge")  # type: ignore[arg-type]
        if source is not None and source.number is None:
            raise OptionError(
                f"{option('max_edge')} must be a number with tiles: give areas by triangle as the area_bounds of a Mesh"
            )
        return cls(options=options, local=LocalBounds(max_edge=source))

    def stored(self) -> dict[str, Any]:
        """Returns the bounds as plain JSON values."""
        values = asdict(self.options)
        edge = self.local.max_edge
        return {**{name: values[name] for name in STORED}, "max_edge": None if edge is None else edge.number}

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Bounds:
        """Returns the bounds from what `stored` returned."""
        edge = stored["max_edge"]
        return cls(
            options=RefineOptions(**{name: stored[name] for name in STORED}),
            local=LocalBounds(max_edge=None if edge is None else EqualSizes(edge)),
        )

    def relaxed(self, factor: float) -> Bounds:
        """Returns bounds on areas that are `factor` times as large, and bounds on lengths that correspond."""
        area, length = self.options.max_area, float(np.sqrt(factor))
        options = replace(self.options, max_area=None if area is None else area * factor)
        return Bounds(options=options, local=self.local.map(lambda bound: multiple(bound, length)))


# Triangles of the result for a triangle below the bound on angles (measured on random points at 30 degrees).
FOR_A_SKINNY_TRIANGLE = 4.0


def predicted_triangles(mesh: Mesh, bounds: Bounds) -> tuple[Float, Float]:
    """Predicts the triangles of the result in each triangle of a mesh.

    Returns:
        (m,) float64 as the bound on angles needs, and (m,) as the bounds on areas and edges need.
    """
    (ax, bx, cx), (ay, by, cy) = (values[mesh.triangles.T] for values in mesh.vertices.T)
    p, q, r = (x * x + y * y for x, y in ((bx - ax, by - ay), (cx - bx, cy - by), (ax - cx, ay - cy)))
    area = 0.5 * np.abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))
    shortest = np.minimum(np.minimum(p, q), r)  # squared, as p, q and r
    dot = 0.5 * (p + q + r) - shortest  # of the two longer edges
    # The square of the sine of the angle between them is (2 area)^2 over the product of their squared lengths.
    longer = dot * dot + 4.0 * area * area
    options = bounds.options
    skinny = dot * dot > thresholds(options).cosine_squared * longer
    by_angle = np.where(skinny, FOR_A_SKINNY_TRIANGLE, 1.0)
    by_size = np.zeros(len(area))
    if options.max_area is not None:
        by_size = OVER_THE_FEWEST * area / options.max_area
    if mesh.area_bounds is not None:
        own = np.where(mesh.area_bounds > 0, mesh.area_bounds, np.inf)
        by_size = np.maximum(by_size, OVER_THE_FEWEST * area / own)
    if bounds.local.max_edge is not None:
        sizes = bounds.local.max_edge(np.stack([(ax + bx) + cx, (ay + by) + cy], axis=1) / 3)
        by_size = np.maximum(by_size, OVER_EQUILATERAL * area / (np.sqrt(3) / 4 * sizes * sizes))
    return by_angle, by_size
