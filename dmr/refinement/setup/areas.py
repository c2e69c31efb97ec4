"""The option `area`: a bound on areas by a number, by triangle, or by place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dmr.common.arguments import kind_of, real_option
from dmr.common.number_arrays import real_array
from dmr.common.text import option
from dmr.errors import OptionError, WrongTypeError
from dmr.mesh.provenance import record_same
from dmr.mesh.types import Float, Mesh, Pslg
from dmr.refinement.options import RefineOptions
from dmr.sizing.functions import FunctionSizes

Area = float | ArrayLike | Callable[[Float], ArrayLike]


def with_area(
    mesh: Mesh | Pslg, area: Area | None, options: RefineOptions
) -> tuple[Mesh | Pslg, RefineOptions, FunctionSizes | None]:
    """Distributes the option over what it stands for.

    Args:
        mesh: what is to be refined; area: the option, as in `dmr.refine`; options: the other ones.

    Returns:
        The mesh, with the smaller of its own `area_bounds` and the given ones; the options, with the smaller of their
        `max_area` and the given one; and the bound by place, as the square root of the area.

    Raises:
        OptionError: an area is not above 0, or an array has another length than the triangles.
        WrongTypeError: it is none of these; or an array, and there are no triangles yet.
    """
    if area is None:
        return mesh, options, None
    if callable(area):
        return mesh, options, FunctionSizes(area, "area", power=2)
    if isinstance(area, list | tuple) or getattr(area, "shape", ()) != ():
        return _with_bounds(mesh, area), options, None
    everywhere = real_option("area", area)
    if not (np.isfinite(everywhere) and everywhere > 0):
        raise OptionError(f"{option('area')} must be a finite number above 0, not {everywhere:g}")
    if options.max_area is not None:
        everywhere = min(everywhere, options.max_area)
    return mesh, replace(options, max_area=everywhere), None


def _with_bounds(mesh: Mesh | Pslg, areas: ArrayLike) -> Mesh:
    """Returns the mesh with area bounds that are no larger than the given ones."""
    if isinstance(mesh, Pslg):
        raise WrongTypeError(
            f"{option('area')} is {kind_of(areas)}, which has an area per triangle, and an outline has no triangles: "
            "give a number, a function of position, or areas in Pslg.regions"
        )
    try:
        given = real_array(areas, "iuf", none=None)
    except ValueError as error:
        raise OptionError(f"{option('area')} must hold numbers ({error})") from None
    if given.shape != (len(mesh.triangles),):
        raise OptionError(
            f"{option('area')} must have shape ({len(mesh.triangles)},), one area per triangle, not {given.shape}"
        )
    wrong = np.flatnonzero(~(given > 0))
    if wrong.size:
        raise OptionError(
            f"{option('area')}: triangle {wrong[0]} has {given[wrong[0]]:g}, but areas must be above 0 (inf: no bound)"
        )
    own = mesh.area_bounds
    least = given if own is None else np.where(own > 0, np.minimum(own, given), given)
    bounded = replace(mesh, area_bounds=np.where(np.isfinite(least), least, 0.0))
    record_same(bounded, mesh)
    return bounded
