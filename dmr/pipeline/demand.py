"""How many triangles the bounds on areas ask for at least: more than a mesh can hold are refused before the work."""

from __future__ import annotations

import numpy as np

from dmr.errors import OptionError
from dmr.meshes import Mesh
from dmr.pipeline.device_mesh import MOST_TRIANGLES
from dmr.quality import bounding_box, triangle_areas


def check_demand(mesh: Mesh, max_area: float | None) -> None:
    """Refuses bounds on areas that no mesh can keep.

    Args:
        mesh: what is to be refined, with its own `area_bounds`.
        max_area: the bound that holds everywhere, if there is one.

    Raises:
        OptionError: says how many triangles would be needed, and how many there can be.
    """
    needed = least_triangles(mesh, max_area)
    if needed > MOST_TRIANGLES:
        bound = "the bounds on areas need" if max_area is None else f"max_area {max_area:g} needs"
        if max_area is not None and mesh.area_bounds is not None:
            bound = f"max_area {max_area:g} and the mesh's own bounds on areas need"
        raise OptionError(
            f"{bound} at least {needed:.3g} triangles, and a mesh has {MOST_TRIANGLES:,} at most: take larger ones"
        )


def least_triangles(mesh: Mesh, max_area: float | None) -> float:
    """A lower bound on the triangles of a refinement: where none may be larger than a, an area A needs A / a.

    Bounds that change from one triangle to the next are kept roughly in place, and the sum is about right for them.
    Returns 0 without looking further where the box around the mesh shows that there are few enough.
    """
    own = mesh.area_bounds
    if own is None and max_area is None:
        return 0.0
    everywhere = np.inf if max_area is None else max_area
    if own is None:
        bounds, smallest = np.full(1, everywhere), everywhere
    else:
        bounds = np.where(own > 0, np.minimum(own, everywhere), everywhere)
        smallest = bounds.min(initial=np.inf)
    x0, y0, x1, y1 = bounding_box(mesh.vertices)
    with np.errstate(over="ignore"):
        if (x1 - x0) * (y1 - y0) / smallest <= MOST_TRIANGLES:
            return 0.0
        return float((np.abs(triangle_areas(mesh)) / bounds).sum())
