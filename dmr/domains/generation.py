"""Seeded point sets and their Delaunay meshes, for samples, tests and benchmarks, including the inputs of the thesis.

The coordinates are bitwise identical on every machine: they come from numpy's PCG64 stream and use only +, -, *, / and
sqrt, whose rounding IEEE 754 defines. Sine, cosine and logarithm are not used, because their last digits differ between
libraries. Circles use the rational parametrisation ((1 - t^2) / (1 + t^2), 2 t / (1 + t^2)).

`dmr.triangulate` computes the triangles.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import checks_keywords, chosen, shortened, whole_option
from dmr.common.available import require_memory
from dmr.common.text import option
from dmr.errors import OptionError
from dmr.mesh.types import Float, Mesh, Pslg
from dmr.triangulation.meshing import BYTES_PER_VERTEX, triangulate_noting

THESIS_SEED = 12345
# Uniform points in the unit square; their meshes have 549,960, 1,099,959 and 5,599,961 triangles.
THESIS_INPUTS = {"thesis-0.5m": 275_000, "thesis-1.1m": 550_000, "thesis-5.6m": 2_800_000}
BYTES_PER_POINT = 48  # peak memory per point during generation
MOST_POINTS = 200_000_000  # half-edges are counted in 32 bits


class Outline(NamedTuple):
    """The boundary of a domain: vertices, segments between them, and a point in each hole."""

    vertices: Float
    segments: NDArray[np.int32]
    holes: Float


@checks_keywords
def generate(kind: str, n: int | None = None, seed: int = 0, *, mesher: str = "dmr") -> Mesh:
    """A Delaunay mesh (constrained Delaunay for a domain with an outline) of a seeded point set.

    Args:
        kind: one of `KINDS` or `THESIS_INPUTS`.
        n: the number of points (approximate for grids and domains with an outline); fixed for the inputs of the thesis.
        seed: an integer >= 0; fixed for the inputs of the thesis, and unused for grids.
        mesher: the triangulator, as for `triangulate`.

    Raises:
        OptionError: the kind is unknown, or the number of points is invalid for it.
        DmrError: the mesher is "triangle", and the `triangle` package is not installed.
    """
    kind = chosen("the kind", kind, (*KINDS, *THESIS_INPUTS))
    n = None if n is None else whole_option("the number of points", n)
    if kind in THESIS_INPUTS:
        if n is not None and n != THESIS_INPUTS[kind]:
            raise OptionError(f"{kind} always has {THESIS_INPUTS[kind]} points, not {shortened(n)}")
        return _triangulated(_random(THESIS_INPUTS[kind], THESIS_SEED), None, mesher)
    if n is None:
        raise OptionError(f"{kind} needs a number of points")
    seed = whole_option("seed", seed)
    if seed < 0:
        raise OptionError(f"{option('seed')} must not be negative, not {shortened(seed)}")
    least = 24 if kind in OUTLINES else 4
    if not least <= n <= MOST_POINTS:
        raise OptionError(f"{kind} needs at least {least} points and at most {MOST_POINTS}, not {shortened(n)}")
    require_memory((BYTES_PER_POINT + BYTES_PER_VERTEX) * n, f"a mesh of {n:,} points")
    if kind in OUTLINES:
        return _triangulated(*OUTLINES[kind](n, seed), mesher)
    return _triangulated(POINT_SETS[kind](n, seed), None, mesher)


def _random(n: int, seed: int) -> Float:
    """Uniform points in the unit square."""
    return np.random.default_rng(seed).random((n, 2))


def _graded(n: int, seed: int) -> Float:
    """Points denser towards the origin: uniform points of the unit square, squared as complex numbers.

    The map is conformal, so the mesh is graded but not stretched: the spacing is proportional to the square root of the
    distance from the origin. The domain is convex, between the x axis and two parabolas.
    """
    u, v = np.random.default_rng(seed).random((n, 2)).T
    return np.column_stack((u * u - v * v, 2 * u * v))


def _clustered(n: int, seed: int) -> Float:
    """Nine tenths of the points in twelve bell-shaped clusters of decreasing width; the rest uniform."""
    rng = np.random.default_rng(seed)
    clusters = 12
    centers = 0.15 + 0.7 * rng.random((clusters, 2))
    widths = 0.12 / (1 + np.arange(clusters))
    which = np.minimum((rng.random(n) * clusters).astype(np.int64), clusters - 1)
    a, b, c, d = rng.random((4, n, 2))
    bell = (a + b) + (c + d) - 2  # approximately normal, without a logarithm
    loose = rng.random((n, 2))
    inside = (np.arange(n) % 10 != 0)[:, None]
    return np.where(inside, centers[which] + widths[which, None] * bell, loose)


def _circle(n: int, seed: int) -> Float:
    """Points on the unit circle up to rounding, one in each of n equal arcs: in-circle tests are nearly ties."""
    shift = np.random.default_rng(seed).random(n)
    return _on_circle(4 * (np.arange(n) + 0.25 + 0.5 * shift) / n)


def _wheel(n: int, seed: int) -> Float:
    """A circle of n - 1 points and its center: a fan of needle-shaped triangles."""
    return np.vstack((_circle(n - 1, seed), np.zeros((1, 2))))


def _grid(n: int, seed: int) -> Float:
    """Integer coordinates in a nearly square grid: every in-circle test is a tie."""
    rows = math.isqrt(n)
    columns = n // rows
    x, y = np.meshgrid(np.arange(columns, dtype=np.float64), np.arange(rows, dtype=np.float64))
    return np.column_stack((x.ravel(), y.ravel()))


def _annulus(n: int, seed: int) -> tuple[Float, Outline]:
    """The unit disk with an off-center circular hole of radius 0.4."""
    hole = (0.15, 0.1, 0.4)
    spacing = math.sqrt((3.14 - 3.14 * 0.4 * 0.4) / n)
    outline = _outline([_ring(0, 0, 1, spacing), _ring(*hole, spacing)], [hole[:2]])
    points = 2 * _random(_inner(n, outline, (3.14 - 0.5) / 4), seed) - 1
    return points[_within(points, 0, 0, 1 - spacing) & ~_within(points, hole[0], hole[1], hole[2] + spacing)], outline


def _plate(n: int, seed: int) -> tuple[Float, Outline]:
    """A 2 by 1 plate with a rectangular notch in its upper edge, four circular holes and a rectangular one."""
    bores = [(0.25, 0.25, 0.12), (0.25, 0.75, 0.06), (1.7, 0.7, 0.15), (1.62, 0.22, 0.04)]
    window = (0.75, 0.3, 1.25, 0.55)
    notch = (0.8, 0.8, 1.2)  # left, bottom, right; open at the top
    spacing = math.sqrt(1.6 / n)
    corners = [(0, 0), (2, 0), (2, 1), (notch[2], 1), notch[2:] + notch[1:2], notch[:2], (notch[0], 1), (0, 1)]
    box = [window[:2], (window[2], window[1]), window[2:], (window[0], window[3])]
    rings = [_polygon(corners, spacing), _polygon(box, spacing), *(_ring(*bore, spacing) for bore in bores)]
    outline = _outline(rings, [(1, 0.4), *(bore[:2] for bore in bores)])
    points = _random(_inner(n, outline, 0.8), seed) * (2, 1)
    free = (points > 0.5 * spacing).all(axis=1) & (points < (2 - 0.5 * spacing, 1 - 0.5 * spacing)).all(axis=1)
    free &= ~_in_box(points, (notch[0], notch[1], notch[2], 2), 0.5 * spacing)
    free &= ~_in_box(points, window, 0.5 * spacing)
    for x, y, radius in bores:
        free &= ~_within(points, x, y, radius + 0.5 * spacing)
    return points[free], outline


POINT_SETS: dict[str, Callable[[int, int], Float]] = {
    "random": _random,
    "graded": _graded,
    "clustered": _clustered,
    "circle": _circle,
    "wheel": _wheel,
    "grid": _grid,
}
OUTLINES: dict[str, Callable[[int, int], tuple[Float, Outline]]] = {"annulus": _annulus, "plate": _plate}
KINDS = (*POINT_SETS, *OUTLINES)


def describe(kind: str) -> str:
    """A one-sentence description of the output of `generate` for `kind`."""
    if kind in THESIS_INPUTS:
        return f"The thesis' input: {THESIS_INPUTS[kind]:,} uniform points in the unit square, seed {THESIS_SEED}."
    text = (POINT_SETS.get(kind) or OUTLINES[kind]).__doc__ or ""
    return text.strip().split("\n")[0]


def _on_circle(turn: Float) -> Float:
    """Points of the unit circle for `turn` in [0, 4), in quarter turns. Quarters are exact rotations of the first."""
    quarter = turn.astype(np.int64) % 4
    # Two mirrored parametrisations meet at 45 degrees, so that equal steps of `turn` are nearly equal arcs.
    part = turn - np.floor(turn)
    mirrored = part > 0.5
    t = np.where(mirrored, 1 - part, part) * (2 * (math.sqrt(2) - 1))
    x, y = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    x, y = np.where(mirrored, y, x), np.where(mirrored, x, y)
    return np.column_stack((np.choose(quarter, (x, -y, -x, y)), np.choose(quarter, (y, x, -y, -x))))


def _ring(x: float, y: float, radius: float, spacing: float) -> Float:
    count = 4 * max(2, math.ceil(1.5 * radius / spacing))
    return np.array((x, y)) + radius * _on_circle(4 * np.arange(count) / count)


def _polygon(corners: list[Any], spacing: float) -> Float:
    """The closed polygon through `corners`, with its axis-parallel sides divided into pieces of about `spacing`."""
    pieces = []
    for start, end in zip(corners, corners[1:] + corners[:1], strict=True):
        a, b = np.array(start, float), np.array(end, float)
        count = max(1, round(float(np.abs(b - a).max()) / spacing))
        pieces.append(a + (b - a) * (np.arange(count) / count)[:, None])
    return np.vstack(pieces)


def _outline(rings: list[Float], holes: list[Any]) -> Outline:
    segments, start = [], 0
    for ring in rings:
        index = np.arange(len(ring))
        segments.append(np.column_stack((index, (index + 1) % len(ring))) + start)
        start += len(ring)
    return Outline(np.vstack(rings), np.vstack(segments).astype(np.int32), np.array(holes, float))


def _inner(n: int, outline: Outline, fraction: float) -> int:
    """The number of points to draw in the bounding box so that, together with the outline, about n remain."""
    return max(4, round((n - len(outline.vertices)) / fraction))


def _within(points: Float, x: float, y: float, radius: float) -> NDArray[np.bool_]:
    dx, dy = points[:, 0] - x, points[:, 1] - y
    return dx * dx + dy * dy < radius * radius


def _in_box(points: Float, box: tuple[float, ...], margin: float) -> NDArray[np.bool_]:
    low, high = np.array(box[:2]) - margin, np.array(box[2:]) + margin
    inside = (points > low) & (points < high)
    return inside[:, 0] & inside[:, 1]


def _triangulated(points: Float, outline: Outline | None, mesher: str) -> Mesh:
    if outline is None:
        bare = Pslg(_distinct(points), np.empty((0, 2), np.int32))
        return triangulate_noting(bare, on_conflict="resolve", convex_hull=True, mesher=mesher)[0]
    vertices = _distinct(np.vstack((outline.vertices, points)))
    pslg = Pslg(vertices, outline.segments, holes=outline.holes)
    return triangulate_noting(pslg, on_conflict="error", convex_hull=False, mesher=mesher)[0]


def _distinct(points: Float) -> Float:
    """The distinct points in their order (the first of equal points is kept); negative zeros become positive."""
    points = points + 0.0
    x = np.sort(points[:, 0])
    shared = x[1:][x[1:] == x[:-1]]
    if not shared.size:  # the usual case for random points, which then cost only one sort
        return points
    suspects = np.flatnonzero(np.isin(points[:, 0], shared))
    order = suspects[np.lexsort((points[suspects, 1], points[suspects, 0]))]
    again = (points[order[1:]] == points[order[:-1]]).all(axis=1)
    if not again.any():
        return points
    keep = np.ones(len(points), bool)
    keep[order[1:][again]] = False  # the sort is stable: the first of equal points comes first
    return points[keep]
