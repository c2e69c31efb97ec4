"""Estimates of a refinement's size: the fewest triangles that area bounds allow, and the default limit on points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.errors import OptionError
from dmr.meshes import Float, Mesh
from dmr.options import PROMISED_ANGLE, PROMISED_CONFORMING_ANGLE, RefineOptions
from dmr.pipeline.device_mesh import MOST_TRIANGLES
from dmr.quality import bounding_box, triangle_areas

# Meshes of up to so many triangles may be of a few long ones, whose shapes decide how many points they need; in larger
# ones the number of triangles does.
FEW_TRIANGLES = 2**16
MOST_ASPECT = 2.0**22  # of a triangle: beyond it coordinates, and not its shape, decide


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
    if mesh.area_bounds is None and max_area is None:
        return 0.0
    bounds = _bounds(mesh, max_area)
    x0, y0, x1, y1 = bounding_box(mesh.vertices)
    with np.errstate(over="ignore"):
        if (x1 - x0) * (y1 - y0) / bounds.min(initial=np.inf) <= MOST_TRIANGLES:
            return 0.0
    return _area_over_bounds(mesh, bounds)


def _bounds(mesh: Mesh, max_area: float | None) -> Float:
    """The largest area of each triangle, or of all of them in one entry; infinity where there is no bound."""
    own, everywhere = mesh.area_bounds, np.inf if max_area is None else max_area
    return np.full(1, everywhere) if own is None else np.where(own > 0, np.minimum(own, everywhere), everywhere)


def _area_over_bounds(mesh: Mesh, bounds: Float) -> float:
    """How often the bounds go into the areas of their triangles, in all."""
    with np.errstate(over="ignore"):
        return float((np.abs(triangle_areas(mesh)) / bounds).sum())


# Triangles of a result where area bounds decide, over the fewest that there can be (measured, at 30 degrees).
OVER_THE_FEWEST = 1.6


def expected_triangles(mesh: Mesh, options: RefineOptions) -> int:
    """About how many triangles the area bounds ask for; 0 for an input of many: its size says how much room to make."""
    if len(mesh.triangles) > FEW_TRIANGLES or (mesh.area_bounds is None and options.max_area is None):
        return 0
    fewest = _area_over_bounds(mesh, _bounds(mesh, options.max_area))
    most = MOST_TRIANGLES if options.max_steiner is None else 2 * options.max_steiner
    return int(min(OVER_THE_FEWEST * fewest, most))


def default_budget(mesh: Mesh, options: RefineOptions, *, sized: bool) -> int:
    """The default limit on the points that a refinement inserts, far above what a sound run needs.

    64 for each triangle of the input, 1,000,000 more, 8 for each time that an area bound goes into its triangle, and 8
    for each time that a long triangle's height goes into its longest edge; 2^26 more with a size function, whose demand
    cannot be known ahead.
    """
    by_area = 0.0
    if mesh.area_bounds is not None:
        by_area = 8.0 * _area_over_bounds(mesh, _bounds(mesh, options.max_area))
    elif options.max_area is not None:
        x0, y0, x1, y1 = bounding_box(mesh.vertices)
        by_area = 8.0 * (x1 - x0) * (y1 - y0) / options.max_area
    highest = PROMISED_CONFORMING_ANGLE if options.conforming else PROMISED_ANGLE
    by_shape = 8.0 * sum_of_aspects(mesh) if options.min_angle <= highest else 0.0
    by_size = 0 if not sized else 2**26
    return int(min(64 * len(mesh.triangles) + 1_000_000 + by_area + by_shape + by_size, 2**30))


def sum_of_aspects(mesh: Mesh) -> float:
    """The sum over all triangles of the longest edge over the height on it; 0 for a mesh of many triangles."""
    if len(mesh.triangles) > FEW_TRIANGLES:
        return 0.0
    a, b, c = (mesh.vertices[:, 0] + 1j * mesh.vertices[:, 1])[mesh.triangles.T]
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        ab, bc, ca = b - a, c - b, a - c
        longest = np.maximum(_squared(ab), np.maximum(_squared(bc), _squared(ca)))
        aspects = longest / np.abs(ab.real * ca.imag - ab.imag * ca.real)
    return float(np.nan_to_num(aspects, nan=MOST_ASPECT, posinf=MOST_ASPECT).clip(0.0, MOST_ASPECT).sum())


def _squared(edges: NDArray[np.complex128]) -> Float:
    """Squared lengths of edges, which are given as complex numbers."""
    return edges.real**2 + edges.imag**2
