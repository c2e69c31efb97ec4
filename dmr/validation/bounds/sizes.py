"""Checks of the size bounds: triangle areas, exactly, and edge lengths against a sizing function.

Every check takes the mask of excused triangles (`dmr.validation.bounds.unrefined`) and ignores them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.number_arrays import real_array
from dmr.common.text import option
from dmr.errors import OptionError
from dmr.exact import Points
from dmr.exact.bounded import Bounded
from dmr.exact.points import BLOCK
from dmr.exact.polynomials import cross
from dmr.mesh.edges import unique_edges
from dmr.mesh.types import Mesh
from dmr.validation.report import Findings
from dmr.validation.triangulation.topology import Mask, describe

Float = NDArray[np.float64]
Size = Callable[[Float], ArrayLike] | float

# `max_area` may be exceeded by this fraction, because it is the caller's decimal number and not a geometric property.
AREA_SLACK = Fraction(1, 1 << 40)
# A longest edge may exceed the size by this fraction.
SIZE_SLACK = 2.0**-40
NEAR = (0.7, 1.35)  # ratios of an edge and its size that count as near
# Error bound of a computed centroid, in units in the last place of its coordinates.
_CENTROID_ULPS = 2.0


def check_max_area(
    mesh: Mesh, points: Points, max_area: float, findings: Findings, excused: Mask | None = None
) -> None:
    """Check that no triangle exceeds `max_area` by more than 2^-40 of it, except for excused triangles."""
    findings.start("max area")
    limits = np.full(len(mesh.triangles), max_area)
    _add_areas("max area", mesh, too_large(mesh, points, limits, AREA_SLACK), limits, findings, excused)


def check_area(mesh: Mesh, points: Points, area: Size, findings: Findings, excused: Mask) -> None:
    """Check that no triangle exceeds the area allowed at its centroid by more than 2^-40 of it.

    Centroids are rounded points, as in `check_max_edge`.
    """
    findings.start("area")
    centroids = np.empty((len(mesh.triangles), 2))

    def look(start: int, stop: int) -> None:
        centroids[start:stop] = _centroids(mesh, start, stop)

    points.in_pieces(look, len(centroids), BLOCK)
    limits = _sizes_at(area, centroids, "area")
    wrong = too_large(mesh, points, limits, AREA_SLACK)
    limits[wrong] = _largest_near(area, centroids[wrong], limits[wrong], "area")
    _add_areas("area", mesh, too_large(mesh, points, limits, AREA_SLACK), limits, findings, excused)


def check_areas(
    check: str,
    mesh: Mesh,
    points: Points,
    limits: Float,
    findings: Findings,
    excused: Mask | None = None,
) -> None:
    """Check exactly that no triangle exceeds its area limit, except for excused triangles.

    Args:
        check: the name under which failures are reported; this check must have been started.
        limits: (m,) areas, infinity for no limit.
        excused: (m,) triangles that may be larger.
    """
    _add_areas(check, mesh, too_large(mesh, points, limits), limits, findings, excused)


def _add_areas(
    check: str,
    mesh: Mesh,
    wrong: NDArray[np.int64],
    limits: Float,
    findings: Findings,
    excused: Mask | None,
) -> None:
    if excused is not None:
        wrong = wrong[~excused[wrong]]
    findings.add(
        check,
        "triangle",
        wrong,
        lambda i: (
            f"has an area of {float(twice_area(mesh.vertices, mesh.triangles[wrong[i]]) / 2):.17g}; "
            f"at most {float(limits[wrong[i]])!r} is allowed; "
            f"its corners are {describe(mesh.vertices, *mesh.triangles[wrong[i]])}"
        ),
    )


def too_large(mesh: Mesh, points: Points, limits: Float, slack: Fraction = Fraction(0)) -> NDArray[np.int64]:
    """Find the triangles whose area exceeds their limit by more than the fraction `slack`, exactly; ascending.

    Args:
        limits: (m,) areas, infinity for no limit.
    """
    bounded = np.flatnonzero(np.isfinite(limits))
    exceeds = np.zeros(len(bounded), bool)

    def decide(start: int, stop: int) -> None:
        chosen = bounded[start:stop]
        a, b, c = mesh.triangles[chosen].T
        with np.errstate(all="ignore"):
            near = limits[chosen] * (2 * (1 + float(slack)))
            sides = [axis[end] - axis[a] for end in (b, c) for axis in (points.x, points.y)]
            twice = cross(*map(Bounded.difference, sides))
            error = twice.error()
            # (Overflow leaves the test undecided: either `near` is infinite, or the area or its error is NaN.)
            decided = np.isfinite(near) & np.isfinite(error)
            small = decided & (twice.value + error <= near * (1 - 2.0**-50))
            large = decided & (twice.value - error > near * (1 + 2.0**-50))
        for i in np.flatnonzero(~(small | large)):
            limit = 2 * Fraction(float(limits[chosen[i]])) * (1 + slack)
            large[i] = twice_area(mesh.vertices, mesh.triangles[chosen[i]]) > limit
        exceeds[start:stop] = large

    points.in_pieces(decide, len(bounded), BLOCK)
    return bounded[exceeds]


def twice_area(vertices: Float, corners: NDArray[np.int32]) -> Fraction:
    """Compute twice the signed area of one triangle, exactly."""
    (ax, ay), (bx, by), (cx, cy) = ([Fraction(float(x)) for x in vertices[corner]] for corner in corners)
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


def check_own_areas(mesh: Mesh, original: Mesh | None, points: Points, findings: Findings, excused: Mask) -> None:
    """Check that no triangle exceeds its own area bound, and that the mesh has such bounds if the original has."""
    if mesh.area_bounds is None and original is not None and _has_bounds(original):
        findings.start("area bounds")
        findings.add("area bounds", "mesh", [None], lambda i: "carries no area bounds, but the input does")
        return
    if mesh.area_bounds is None or not _has_bounds(mesh):
        findings.skip("area bounds", "the mesh carries no area bounds")
        return
    findings.start("area bounds")
    limits = np.where(mesh.area_bounds > 0, mesh.area_bounds, np.inf)
    check_areas("area bounds", mesh, points, limits, findings, excused)


def _has_bounds(mesh: Mesh) -> bool:
    return mesh.area_bounds is not None and bool((mesh.area_bounds > 0).any())


def check_max_edge(mesh: Mesh, points: Points, max_edge: Size, findings: Findings, excused: Mask) -> None:
    """Check that each triangle's longest edge is at most `max_edge` at its centroid.

    The centroid a + ((b - a) + (c - a)) / 3 is a rounded point, and the sizing function may be discontinuous there.
    A triangle that seems too large is therefore tested against the largest of five bounds: at its centroid, and at the
    four points that differ from it by `_CENTROID_ULPS` in both coordinates.
    """
    findings.start("max edge")
    centroids, longest = np.empty((len(mesh.triangles), 2)), np.empty(len(mesh.triangles))

    def look(start: int, stop: int) -> None:
        a, b, c = (mesh.vertices[corner] for corner in mesh.triangles[start:stop].T)
        centroids[start:stop] = _centroids(mesh, start, stop)
        with np.errstate(over="ignore"):
            longest[start:stop] = np.max([np.hypot(*(q - p).T) for p, q in ((a, b), (b, c), (c, a))], axis=0)

    points.in_pieces(look, len(longest), BLOCK)
    with np.errstate(over="ignore"):
        sizes = _sizes_at(max_edge, centroids)
        wrong = np.flatnonzero((longest > sizes * (1 + SIZE_SLACK)) & ~excused)
        sizes[wrong] = _largest_near(max_edge, centroids[wrong], sizes[wrong], "max_edge")
        wrong = wrong[longest[wrong] > sizes[wrong] * (1 + SIZE_SLACK)]
    findings.add(
        "max edge",
        "triangle",
        wrong,
        lambda i: (
            f"has an edge of length {float(longest[wrong[i]])!r}; the bound at its centroid "
            f"({', '.join(repr(float(x)) for x in centroids[wrong[i]])}) is {float(sizes[wrong[i]])!r}; "
            f"its corners are {describe(mesh.vertices, *mesh.triangles[wrong[i]])}"
        ),
    )


def _centroids(mesh: Mesh, start: int, stop: int) -> Float:
    a, b, c = (mesh.vertices[corner] for corner in mesh.triangles[start:stop].T)
    centroids: Float = a + ((b - a) + (c - a)) / 3.0
    return centroids


def _largest_near(size: Size, centroids: Float, sizes: Float, name: str) -> Float:
    """Return the largest of the sizes given at centroids, and of those at points that differ by their rounding."""
    about = _CENTROID_ULPS * np.spacing(np.abs(centroids).max(axis=1, initial=0.0))[:, None]
    for step in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        sizes = np.maximum(sizes, _sizes_at(size, centroids + about * step, name))
    return sizes


def edge_statistics(mesh: Mesh, size: Size) -> dict[str, float | int | None]:
    """Compare the edges with the sizes at their middles; edges without a finite size do not count."""
    a, b = (mesh.vertices[ends] for ends in unique_edges(mesh)[0].T)
    with np.errstate(over="ignore"):
        sizes = _sizes_at(size, a / 2 + b / 2, "size")
        ratios = np.hypot(*(b - a).T) / sizes
    ratios = ratios[np.isfinite(sizes)]
    near = (ratios >= NEAR[0]) & (ratios <= NEAR[1])
    found = (ratios.mean(), ratios.min(), ratios.max(), near.mean()) if len(ratios) else (None,) * 4
    names = ("mean_edge", "shortest_edge", "longest_edge", "edges_near_size")
    return {name: None if value is None else float(value) for name, value in zip(names, found, strict=True)}


def _sizes_at(size: Size, points: Float, name: str = "max_edge") -> Float:
    """Evaluate a sizing function, or a constant size, at (n, 2) points; returns (n,) lengths."""
    if not callable(size) and (isinstance(size, bool) or not isinstance(size, Real)):
        raise OptionError(f"{option(name)} must be a number or a function of points, not {type(size).__name__}")
    if not len(points):
        return np.empty(0)
    returned = size(points) if callable(size) else size
    try:
        sizes = real_array(returned, "iuf", none=None)
    except ValueError as error:
        raise OptionError(f"{option(name)} must return numbers ({error})") from None
    if sizes.ndim == 0:
        sizes = np.full(len(points), sizes)
    if sizes.shape != (len(points),):
        raise OptionError(
            f"{option(name)} must return one number for each of {len(points)} points, not shape {sizes.shape}"
        )
    if not (sizes > 0).all():
        raise OptionError(f"{option(name)} must be above 0 everywhere, not {float(sizes[~(sizes > 0)][0]):g}")
    return sizes
