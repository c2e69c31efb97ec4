"""Orientation, winding numbers around vertices, and smallest angles of all triangles, in one pass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.errors import InvalidMeshError
from dmr.exact import Points, filters
from dmr.exact.trigonometry import cosine_squared_above
from dmr.mesh.types import Int, Mesh
from dmr.validation.arrays.pieces import Workers

Float = NDArray[np.float64]
Int64 = NDArray[np.int64]
Mask = NDArray[np.bool_]


class _Piece(NamedTuple):
    """The part of `TriangleShapes` for one piece: extremes of angles (degrees) and of doubled areas, then the rest."""

    smallest: float
    largest: float
    least: float
    most: float
    windings: int
    unsure: Int64
    wrong: Int64
    signs: NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class TriangleShapes:
    """Orientation, winding numbers and smallest angles of triangles.

    Attributes:
        positive: (m,) mask of the positively oriented triangles, exact.
        wrong, wrong_signs: the other triangles, ascending, and their orientation (0 or -1).
        used: (n,) mask of the vertices that belong to a triangle.
        wound: (n,) mask of the vertices around which triangles wind at least once; windings: the sum of all winding
            numbers.
        unsure: triangles that may have an angle below the bound, ascending; all others have no such angle.
        statistics: extremes of angles (degrees) and areas in float64; None without triangles.
    """

    positive: Mask
    wrong: Int64
    wrong_signs: NDArray[np.int8]
    used: Mask
    wound: Mask
    windings: int
    unsure: Int64
    statistics: dict[str, float | int | None]

    @classmethod
    def of(cls, mesh: Mesh, points: Points, min_angle: float | None, workers: Workers) -> TriangleShapes:
        """Compute the shapes of all triangles of a mesh.

        Args:
            mesh: the mesh; points: its vertices.
            min_angle: the angle bound, degrees; None to skip the angles.
            workers: the threads.
        """
        triangles, count = mesh.triangles, len(mesh.vertices)
        scale = filters.unit(mesh.vertices)
        positive = np.empty(len(triangles), bool)
        used, wound = np.zeros(count, bool), np.zeros(count, bool)
        cotangent = None if min_angle is None else _cotangent_below(min_angle)

        def look(start: int, stop: int) -> _Piece:
            part = triangles[start:stop]
            if part.min() < 0 or part.max() >= count:
                row = int(np.flatnonzero(((part < 0) | (part >= count)).any(axis=1))[0])
                raise InvalidMeshError(
                    f"names the vertices {part[row].tolist()}, but there are {count} vertices", "triangle", start + row
                )
            used[part.ravel()] = True
            corners = _corners(part, points, workers)
            windings = _count_windings(part, corners, wound)
            with np.errstate(all="ignore"):
                if scale != 1:
                    for corner in corners:
                        corner *= scale
                shapes = filters.Shapes(*corners)
                counter_clockwise, clockwise = shapes.orientation()
                positive[start:stop] = counter_clockwise
                rest = np.flatnonzero(~counter_clockwise)
                signs = -clockwise[rest].astype(np.int8)
                undecided = np.flatnonzero(signs == 0)
                if undecided.size:
                    signs[undecided] = points.orientation(*part[rest[undecided]].T)
                    positive[start + rest[signs > 0]] = True
                unsure = np.zeros(0, np.int64)
                if cotangent is not None:
                    unsure = start + np.flatnonzero(~shapes.surely_at_least(cotangent))
                extremes = _extremes(shapes)
            kept = signs <= 0
            return _Piece(*extremes, windings, unsure, start + rest[kept], signs[kept])

        pieces = workers.map(look, len(triangles))
        if not pieces:
            empty = np.zeros(0, np.int64)
            nothing = dict.fromkeys(("min_angle", "max_angle", "min_area", "max_area"))
            return cls(positive, empty, empty.astype(np.int8), used, wound, 0, empty, nothing)
        smallest, largest, least, most, windings = zip(*(piece[:5] for piece in pieces), strict=True)
        with np.errstate(all="ignore"):
            areas = (np.array([min(least), max(most)]) / 2 / scale / scale).tolist()
        return cls(
            positive,
            np.concatenate([piece.wrong for piece in pieces]),
            np.concatenate([piece.signs for piece in pieces]),
            used,
            wound,
            sum(windings),
            np.concatenate([piece.unsure for piece in pieces]),
            {"min_angle": min(smallest), "max_angle": max(largest), "min_area": areas[0], "max_area": areas[1]},
        )


def _corners(part: Int, points: Points, workers: Workers) -> list[NDArray[np.complex128]]:
    """Returns the three corners of each triangle of a piece, x + y i, in buffers of the calling thread."""
    corners = []
    for k in range(3):
        index = workers.buffer("index", len(part), np.int64)
        np.copyto(index, part[:, k])
        corner = workers.buffer(f"corner {k}", len(part), np.complex128)
        corners.append(np.take(points.places, index, out=corner, mode="clip"))
    return corners


def _count_windings(part: Int, corners: list[NDArray[np.complex128]], wound: Mask) -> int:
    """Sums the winding numbers of the triangles of a piece around their vertices, and marks these in `wound`."""
    windings = 0
    for k in range(3):
        here, p, q = (corners[(k + i) % 3].imag for i in range(3))
        # A corner at v, from p counter-clockwise to q, spans less than 180 degrees. So it contains the +x direction
        # (excluding the side of q) if and only if p is not above v and q is above v.
        around = part[(p <= here) & (here < q), k]
        wound[around] = True
        windings += len(around)
    return windings


def _cotangent_below(degrees: float) -> float | None:
    """Compute a number just below the cotangent of an angle bound; None if every triangle satisfies the bound."""
    numerator, denominator = cosine_squared_above(degrees)
    if numerator == denominator:
        return None
    return math.sqrt(numerator / (denominator - numerator)) * (1 - 2.0**-40)


def _extremes(shapes: filters.Shapes) -> tuple[float, float, float, float]:
    """Compute the smallest and the largest angle in degrees, and the smallest and the largest doubled area."""
    least, most = float(shapes.twice.min()), float(shapes.twice.max())
    area = np.abs(shapes.twice)
    # Compare cotangents, which decrease from 0 to 180 degrees. (NaN, where all corners coincide, counts as 0 degrees.)
    at = int((shapes.narrowest / area).argmax())
    smallest = math.degrees(math.atan2(area[at], shapes.narrowest[at]))
    cotangents = shapes.widest / area
    at = int(cotangents.argmin())
    if math.isnan(cotangents[at]):
        at = int(np.nan_to_num(cotangents, nan=np.inf).argmin())
    return smallest, math.degrees(math.atan2(area[at], shapes.widest[at])), least, most


def triangles_below(mesh: Mesh, points: Points, candidates: Int64, min_angle: float, workers: Workers) -> Int64:
    """Find the candidate triangles with an angle below `min_angle` degrees (at most 90), decided exactly.

    Args:
        candidates: indices of triangles, ascending.
    """
    fraction = cosine_squared_above(min_angle)

    def decide(start: int, stop: int) -> Int64:
        chosen = candidates[start:stop]
        corners = mesh.triangles[chosen].T
        below = np.zeros(len(chosen), bool)
        for k in range(3):
            below |= points.corner_below(corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3], fraction)
        return chosen[below]

    return np.concatenate([np.zeros(0, np.int64), *workers.map(decide, len(candidates))])


def smallest_angle(mesh: Mesh, triangle: int) -> float:
    """Compute the smallest angle of a triangle in degrees, in float64."""
    corners = mesh.vertices[mesh.triangles[triangle]] * filters.unit(mesh.vertices[mesh.triangles[triangle]])
    with np.errstate(all="ignore"):
        shape = filters.Shapes(*corners.view(np.complex128))
        return math.degrees(math.atan2(abs(shape.twice[0]), shape.narrowest[0]))
