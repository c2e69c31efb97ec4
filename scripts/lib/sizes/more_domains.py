"""More domains with sizes, for scripts/compare: simple shapes, parts with bores and slots, and steep sizes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from dmr import domains
from scripts.lib.random_domains import domain as random_domain
from scripts.lib.sizes.domains import DOMAINS, Domain, Float, distance_to, rough_ring, with_holes


def disc() -> Domain:
    """A disc of 128 segments of about a size."""
    return with_holes(domains.circle_points(1.0, 128), [], 0.05)


def ring() -> Domain:
    """A ring between circles of 48 and 24 segments."""
    return with_holes(domains.circle_points(1.0, 48), [domains.circle_points(0.5, 24)], 0.05)


def fine_hole() -> Domain:
    """A plate around a bore of 40 segments of about half a size."""
    return with_holes([(0, 0), (4, 0), (4, 3), (0, 3)], [domains.circle_points(0.2, 40, (2, 1.5))], 0.06)


def cross() -> Domain:
    """A cross with four arms."""
    corners = [(1, 0), (2, 0), (2, 1), (3, 1), (3, 2), (2, 2), (2, 3), (1, 3), (1, 2), (0, 2), (0, 1), (1, 1)]
    return with_holes(corners, [], 0.06)


def strip() -> Domain:
    """A strip of 10 x 0.23, slightly inclined."""
    return with_holes([(0, 0), (10, 0.7), (9.98, 0.93), (-0.02, 0.23)], [], 0.06)


def slotted() -> Domain:
    """A plate with four narrow slots and a bore."""
    slots: list[Float] = [
        np.array([(x, 0.5), (x + 0.06, 0.5), (x + 0.06, 1.5), (x, 1.5)]) for x in (0.6, 0.9, 2.4, 2.7)
    ]
    return with_holes([(0, 0), (3.3, 0), (3.3, 2), (0, 2)], [*slots, domains.circle_points(0.35, 24, (1.65, 1))], 0.05)


def bracket() -> Domain:
    """A bracket with rounded corners of short segments and three bores."""
    turn = np.linspace(0, np.pi / 2, 9)[:, None]
    unit = np.concatenate([np.cos(turn), np.sin(turn)], axis=1)
    corners = [
        np.array(center) + 0.2 * unit @ np.array([[c, s], [-s, c]])
        for center, (c, s) in (((2.8, 0.8), (1, 0)), ((0.8, 2.8), (1, 0)), ((0.2, 2.8), (0, 1)), ((0.2, 0.2), (-1, 0)))
    ]
    corners.append(np.array((2.8, 0.2)) + 0.2 * unit @ np.array([[0.0, -1], [1, 0]]))
    inner = [(1.0, 1.0)]
    outline = np.concatenate([corners[0], np.array(inner), *corners[1:]])
    bores = [domains.circle_points(0.12, 24, center) for center in ((0.5, 0.5), (0.5, 2.5), (2.5, 0.5))]
    return with_holes(outline, bores, 0.05)


def star() -> Domain:
    """A star with ten points, whose corners have 63 degrees."""
    turn = np.arange(20) * np.pi / 10
    away = np.where(np.arange(20) % 2, 0.66, 1.0)
    return with_holes(away[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1), [], 0.05)


def random_outline(family: str, n: int, seed: int, size: float) -> Domain:
    """A random outline of `scripts/lib/random_domains`, if it is one ring or rings that do not meet."""
    outline = random_domain(family, n, seed)
    ends = outline.segments
    starts = np.flatnonzero(ends[:, 1] < ends[:, 0])  # the last segment of each ring
    first = np.concatenate([[0], starts + 1])
    rings = [range(int(a), int(b)) for a, b in pairwise(first)]
    return Domain(outline, rings, size)


def radial() -> Domain:
    """The L of the plate problem with sizes that grow from its reentrant corner."""
    outline = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    return with_holes(outline, [], lambda points: 0.004 + 0.12 * np.hypot(*(points - 1).T))


def shock() -> Domain:
    """A channel with small sizes along a curve."""

    def size(points: Float) -> Float:
        away = np.abs(points[:, 0] - 1.5 - 0.3 * np.sin(3 * points[:, 1]))
        return np.clip(0.01 + 0.2 * away, 0.012, 0.1)

    return with_holes([(0, 0), (4, 0), (4, 1.5), (0, 1.5)], [], size)


def waves() -> Domain:
    """A square with sizes that vary by a factor of four, several times in each direction."""
    return with_holes(
        [(0, 0), (2, 0), (2, 2), (0, 2)], [],
        lambda points: 0.025 * np.exp(0.7 * np.sin(5 * points[:, 0]) * np.sin(4 * points[:, 1])),
    )  # fmt: skip


def estuary() -> Domain:
    """A random coast as the outline of the land's own sea, with sizes that grow from the shore."""
    shore = rough_ring(600, 11)
    distance = distance_to(shore)
    return with_holes(shore, [], lambda points: 0.015 + 0.2 * distance(points))


def hinge() -> Domain:
    """A plate with ten slits, a tenth of a size wide, that begin at two heights in turn."""
    slits: list[Float] = [
        np.array([(x, low), (x + 0.004, low), (x + 0.004, low + 1.1), (x, low + 1.1)])
        for x, low in zip(0.3 * np.arange(1, 11) - 0.002, (0.3, 0.6) * 5, strict=True)
    ]
    return with_holes([(0, 0), (3.3, 0), (3.3, 2), (0, 2)], slits, 0.04)


def bolts() -> Domain:
    """A flange with twelve bolt holes, of segments of half a size, around a bore."""
    turn = np.arange(12) * np.pi / 6
    bolt_holes = [
        domains.circle_points(0.07, 24, (0.72 * x, 0.72 * y)) for x, y in zip(np.cos(turn), np.sin(turn), strict=True)
    ]
    return with_holes(domains.circle_points(1.0, 96), [domains.circle_points(0.4, 64), *bolt_holes], 0.035)


SWEPT: dict[str, Callable[[], Domain]] = {
    **DOMAINS,
    "square": lambda: with_holes([(0, 0), (1, 0), (1, 1), (0, 1)], [], 0.03),
    "quadrilateral": lambda: with_holes([(0, 0), (1.3, -0.2), (1.9, 0.9), (0.2, 1.2)], [], 0.03),
    "pentagon": lambda: with_holes(domains.circle_points(1.0, 5), [], 0.05),
    "hexagon": lambda: with_holes(domains.circle_points(1.0, 6), [], 0.05),
    "disc": disc,
    "ring": ring,
    "fine-hole": fine_hole,
    "cross": cross,
    "strip": strip,
    "slotted": slotted,
    "bracket": bracket,
    "star": star,
    "letters-20": lambda: random_outline("letters", 20, 3, 0.03),
    "holes-60": lambda: random_outline("holes", 60, 1, 0.02),
    "plates-100": lambda: random_outline("plates", 100, 2, 0.04),
    "coasts-200": lambda: random_outline("coasts", 200, 4, 0.02),
    "radial": radial,
    "shock": shock,
    "waves": waves,
    "estuary": estuary,
}

# For scripts/compare/speed.py: the hinge and the bolt circle are not among those that scripts/compare/gmsh.py counts.
TIMED: dict[str, Callable[[], Domain]] = {**SWEPT, "hinge": hinge, "bolts": bolts}
