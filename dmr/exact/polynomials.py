"""The predicates, each written once for any number type (float64 with a bound, limbs, Python integers).

Arguments are coordinate differences, so that no precision is lost far from the origin. Every polynomial is homogeneous
in its arguments: multiplying all of them by 2^k preserves its sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Polynomial = Callable[..., Any]


def cross(ux: Any, uy: Any, vx: Any, vy: Any) -> Any:
    """Compute twice the signed area of the triangle (0, u, v): positive if v lies to the left of u."""
    return ux * vy - uy * vx


def dot(ux: Any, uy: Any, vx: Any, vy: Any) -> Any:
    """Compute the scalar product of u and v."""
    return ux * vx + uy * vy


def in_circle(ax: Any, ay: Any, bx: Any, by: Any, cx: Any, cy: Any) -> Any:
    """In-circle determinant: positive if the origin lies strictly inside the circle through a, b, c.

    The points a, b, c must be in counter-clockwise order.
    """
    return (
        (ax * ax + ay * ay) * (bx * cy - by * cx)
        + (bx * bx + by * by) * (cx * ay - cy * ax)
        + (cx * cx + cy * cy) * (ax * by - ay * bx)
    )


def wider_than(numerator: int, denominator: int) -> Polynomial:
    """Create a polynomial that is >= 0 if cos^2 of the angle between u and v is at most numerator / denominator."""

    def polynomial(ux: Any, uy: Any, vx: Any, vy: Any) -> Any:
        along = ux * vx + uy * vy
        lengths = (ux * ux + uy * uy) * (vx * vx + vy * vy)
        return numerator * lengths - denominator * (along * along)

    return polynomial


def strip_left(dx: Any, dy: Any, vx: Any, vy: Any, width: Any, height: Any, reach: Any) -> Any:
    """Polynomial that is >= 0 if cross(d, v) <= reach * (width + height); see `Points.off_line`."""
    return reach * (width + height) - (dx * vy - dy * vx)


def strip_right(dx: Any, dy: Any, vx: Any, vy: Any, width: Any, height: Any, reach: Any) -> Any:
    """Polynomial that is >= 0 if -cross(d, v) <= reach * (width + height); see `Points.off_line`."""
    return reach * (width + height) + (dx * vy - dy * vx)
