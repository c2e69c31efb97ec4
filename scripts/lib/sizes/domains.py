"""Domains with sizes: mechanical parts, narrow strips, outlines finer than the sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dmr
from dmr import domains

Float = NDArray[np.float64]
Size = float | Callable[[Float], Float]


@dataclass(frozen=True)
class Domain:
    """An outline, its rings by the numbers of their segments, and the target sizes."""

    outline: dmr.Pslg
    rings: list[range]
    size: Size


def scaled(size: Size, scale: float) -> Size:
    """Returns the sizes times a factor."""
    if callable(size):
        return lambda points: scale * size(points)
    return scale * size


def with_holes(outline: Any, holes: list[Float], size: Size) -> Domain:
    """Makes a domain of rings."""
    lengths = [len(outline), *map(len, holes)]
    ends = np.cumsum([0, *lengths])
    rings = [range(int(a), int(b)) for a, b in pairwise(ends)]
    return Domain(domains.polygon(outline, holes=holes), rings, size)


def distance_to(points: Float) -> Callable[[Float], Float]:
    """Returns the distance from places to the nearest of some points."""
    from scipy.spatial import cKDTree

    tree = cKDTree(points)
    return lambda places: np.asarray(tree.query(places)[0])


def airfoil() -> Domain:
    """A NACA 0012 profile in a channel; sizes grow with the distance from it."""
    x = (1 - np.cos(np.linspace(0, np.pi, 60))) / 2
    y = 0.6 * (0.2969 * np.sqrt(x) - 0.126 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)
    profile = np.concatenate([np.stack([x, y], 1), np.stack([x, -y], 1)[-2:0:-1]])
    distance = distance_to(profile)
    box = [(-2, -2), (4, -2), (4, 2), (-2, 2)]
    return with_holes(box, [profile], lambda points: np.minimum(0.02 + 0.15 * distance(points), 0.25))


def rough_ring(count: int, seed: int) -> Float:
    """A closed curve around the origin, about a unit away, with waves of all lengths."""
    random = np.random.default_rng(seed)
    angles = np.arange(count) * 2 * np.pi / count
    waves = sum(random.normal() / k**1.3 * np.cos(k * angles + 7 * random.random()) for k in range(2, 40))
    ring: Float = (1 + 0.12 * waves)[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return ring


def coast() -> Domain:
    """The sea around an island with a rough shore; sizes grow from it."""
    shore = rough_ring(400, 1)
    distance = distance_to(shore)
    return with_holes([(-4, -4), (4, -4), (4, 4), (-4, 4)], [shore], lambda points: 0.02 + 0.12 * distance(points))


def island() -> Domain:
    """An island with three lakes, whose shores are about as fine as the size."""
    lakes = [radius * rough_ring(count, seed) + center for radius, count, seed, center in (
        (0.25, 40, 5, (0.3, 0.2)), (0.15, 24, 6, (-0.4, 0.3)), (0.2, 32, 7, (-0.1, -0.45)),
    )]  # fmt: skip
    return with_holes(rough_ring(160, 3), lakes, 0.04)


def plate() -> Domain:
    """A plate with two bores, whose segments are long compared with the size."""
    bores = [domains.circle_points(radius, 8, center) for radius, center in ((0.4, (1, 1)), (0.3, (3, 0.7)))]
    return with_holes([(0, 0), (4, 0), (4, 2), (0, 2)], bores, 0.05)


def bores() -> Domain:
    """A plate with three round bores of 96 segments each, which are shorter than the size at the smaller ones."""
    rings = [domains.circle_points(r, 96, c) for r, c in ((0.6, (1, 1)), (0.25, (2.4, 1.3)), (0.06, (3.2, 0.5)))]
    return with_holes([(0, 0), (4, 0), (4, 2), (0, 2)], rings, 0.04)


def gear() -> Domain:
    """A gear wheel with 24 teeth and a shaft hole."""
    turn = np.arange(24)[:, None] * (2 * np.pi / 24) + np.array([-0.075, -0.04, 0.04, 0.075])
    away = np.array([1.0, 1.18, 1.18, 1.0])
    teeth = np.stack([away * np.cos(turn), away * np.sin(turn)], axis=2).reshape(-1, 2)
    return with_holes(teeth, [domains.circle_points(0.3, 32)], 0.04)


def spiral() -> Domain:
    """A strip between two spirals, about four sizes wide."""
    turn = np.linspace(0, 6 * np.pi, 240)
    inner, outer = (
        (0.2 + 0.05 * turn + gap)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1) for gap in (0, 0.16)
    )
    return with_holes(np.concatenate([inner[::-1], outer]), [], 0.04)


def comb() -> Domain:
    """A comb with 16 teeth, each about three sizes wide."""
    points = [(0.0, 0.0), (3.2, 0.0)]
    for k in reversed(range(16)):
        left, right = 0.2 * k, 0.2 * k + 0.13
        points += [(right + 0.07 * (k == 15), 1.2), (left, 1.2)] + [(left, 0.3), (left - 0.07, 0.3)] * (k > 0)
    return with_holes(points, [], 0.04)


def maze() -> Domain:
    """A winding corridor, five sizes wide, between walls of one size: slots that open below and above in turn."""
    step, wall, count, height = 0.25, 0.05, 8, 2.0
    below, above = [(0.0, 0.0)], [(0.0, height)]
    for k in range(1, count):
        right, left = step * k, step * k - wall
        if k % 2:
            below += [(left, 0.0), (left, height - step), (right, height - step), (right, 0.0)]
        else:
            above += [(left, height), (left, step), (right, step), (right, height)]
    corners = [(step * count, 0.0), (step * count, height)]
    return with_holes([*below, *corners, *reversed(above)], [], 0.04)


DOMAINS: dict[str, Callable[[], Domain]] = {
    "L": lambda: with_holes([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], [], 0.03),
    "skew": lambda: with_holes([(0, 0), (2, 0.3), (1.6, 1.7), (0.3, 1.4)], [], 0.03),
    "plate": plate,
    "bores": bores,
    "gear": gear,
    "spiral": spiral,
    "comb": comb,
    "maze": maze,
    "island": island,
    "airfoil": airfoil,
    "coast": coast,
}
