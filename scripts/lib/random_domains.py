"""Seeded random domains of many kinds with about n vertices each, for scripts/compare/sizes.py.

`FAMILIES` has a function of (n, generator) for each kind. Coordinates are of the order of 1; no vertices coincide and
no segments cross.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dmr
from dmr import domains
from dmr.errors import InvalidMeshError
from dmr.mesh.edges import unique_edges

Points = NDArray[np.float64]
Rng = np.random.Generator
SQUARE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]


def polygons(n: int, rng: Rng) -> dmr.Pslg:
    """A random simple polygon: a triangle of a Delaunay mesh that grows by neighbours, each adding a new vertex."""
    points = rng.random((4 * n + 10, 2))
    mesh = dmr.triangulate(dmr.Pslg(points, np.empty((0, 2), int)))
    triangles, neighbours = mesh.triangles.tolist(), mesh.neighbours.tolist()
    first = int(rng.integers(len(triangles)))
    ring = {u: triangles[first][(k + 1) % 3] for k, u in enumerate(triangles[first])}  # vertex to the next vertex
    boundary = [(first, k) for k in range(3)]
    while len(ring) < max(n, 3) and boundary:
        triangle, k = boundary.pop(int(rng.integers(len(boundary))))
        other = neighbours[triangle][k]
        if other < 0:
            continue
        u, v = triangles[triangle][(k + 1) % 3], triangles[triangle][(k + 2) % 3]
        tip = next(w for w in triangles[other] if w not in (u, v))
        if tip in ring:
            continue
        ring[u], ring[tip] = tip, v
        boundary += [(other, side) for side in range(3) if neighbours[other][side] != triangle]
    outline = [next(iter(ring))]
    while ring[outline[-1]] != outline[0]:
        outline.append(ring[outline[-1]])
    return domains.polygon(points[outline])


def holes(n: int, rng: Rng) -> dmr.Pslg:
    """A square with small irregular holes."""
    count = max(n // 8, 1)
    columns = math.ceil(math.sqrt(count))
    rings = []
    for k in rng.permutation(columns * columns)[:count].tolist():
        corners = int(rng.integers(3, 12))
        turn = (np.arange(corners) + rng.uniform(0.1, 0.9, corners)) * (2 * math.pi / corners)
        away = rng.uniform(0.15, 0.45, corners) / columns
        middle = ((k % columns + 0.5) / columns, (k // columns + 0.5) / columns)
        rings.append(np.stack([np.cos(turn), np.sin(turn)], axis=1) * away[:, None] + middle)
    return domains.polygon(SQUARE, rings)


def plates(n: int, rng: Rng) -> dmr.Pslg:
    """A plate with round holes of several sizes."""
    corners = int(rng.choice([8, 12, 24, 48])) if n >= 60 else 8
    count = max(n // corners, 1)
    rows = math.ceil(math.sqrt(count / 2))
    columns = math.ceil(count / rows)
    rings = []
    for k in range(count):
        middle = (k % columns + 0.5 + rng.uniform(-0.1, 0.1), k // columns + 0.5 + rng.uniform(-0.1, 0.1))
        rings.append(
            domains.circle_points(float(rng.uniform(0.08, 0.38)), corners, middle, angle=float(rng.uniform(0, 90)))
        )
    scale = 2.0 / columns
    outline = [(0, 0), (2, 0), (2, rows * scale), (0, rows * scale)]
    return domains.polygon(outline, [ring * scale for ring in rings])


LETTERS: list[tuple[list[tuple[float, float]], list[list[tuple[float, float]]]]] = [
    ([(0, 0), (2, 0), (2.8, 3), (6.2, 3), (7, 0), (9, 0), (5.5, 14), (3.5, 14)], [[(3.3, 5), (4.5, 10), (5.7, 5)]]),
    ([(0, 0), (8, 0), (8, 2), (3, 2), (3, 6), (6, 6), (6, 8), (3, 8), (3, 12), (8, 12), (8, 14), (0, 14)], []),
    ([(0, 0), (6, 0), (9, 3), (9, 11), (6, 14), (0, 14)], [[(3, 3), (5, 3), (6, 4), (6, 10), (5, 11), (3, 11)]]),
    (
        [(0, 0), (3, 0), (3, 8), (5.5, 4.5), (8, 8), (8, 0), (11, 0), (11, 14), (8, 14), (5.5, 9.5), (3, 14), (0, 14)],
        [],
    ),
    (
        [(0, 0), (3, 0), (3, 5), (4.5, 5), (7, 0), (10, 0), (7.3, 5.8), (9, 7.5), (9, 12), (7, 14), (0, 14)],
        [[(3, 7.5), (5.5, 7.5), (6.2, 8.2), (6.2, 10.6), (5.5, 11.3), (3, 11.3)]],
    ),
    ([(0, 0), (9, 0), (9, 2.5), (3.6, 2.5), (9, 11.5), (9, 14), (0, 14), (0, 11.5), (5.4, 11.5), (0, 2.5)], []),
    ([(4, 0), (7, 0), (7, 12), (11, 12), (11, 14), (0, 14), (0, 12), (4, 12)], []),
]


def letters(n: int, rng: Rng) -> dmr.Pslg:
    """Lines of letters, slanted and stretched; each letter is a separate part."""
    count = max(n // 11, 1)
    columns = math.ceil(math.sqrt(count))
    parts = []
    for k in range(count):
        outline, counters = LETTERS[int(rng.integers(len(LETTERS)))]
        slant = np.array([[rng.uniform(0.6, 1), 0], [rng.uniform(-0.1, 0.3), 1]])
        place = np.array([k % columns, k // columns]) * (18.0, 16.0)
        parts.append(domains.polygon(*(
            np.array(outline) @ slant / 16 + place / 16, [np.array(ring) @ slant / 16 + place / 16 for ring in counters]
        )))  # fmt: skip
    return domains.merge(*parts)


def blocks(n: int, rng: Rng) -> dmr.Pslg:
    """A town: a slanted grid of blocks with cut corners, some of them holes, some regions."""
    count = max(n // 8, 1)
    columns = math.ceil(math.sqrt(count))
    rows = math.ceil(count / columns)
    x = np.r_[0, np.cumsum(rng.uniform(0.6, 1.6, columns))]
    y = np.r_[0, np.cumsum(rng.uniform(0.6, 1.6, rows))]
    slant = np.array([[1.0, rng.uniform(-0.2, 0.2)], [rng.uniform(-0.2, 0.2), 1.0]])
    edge = float(rng.uniform(0.03, 0.15))
    rings = [np.array([(x[0], y[0]), (x[-1], y[0]), (x[-1], y[-1]), (x[0], y[-1])])]
    courts = []
    for k in range(count):
        i, j = k % columns, k // columns
        left, right, low, high = x[i] + edge, x[i + 1] - edge, y[j] + edge, y[j + 1] - edge
        cut = float(rng.uniform(0.02, 0.1))
        block = [(left + cut, low), (right - cut, low), (right, low + cut), (right, high - cut)]
        block += [(right - cut, high), (left + cut, high), (left, high - cut), (left, low + cut)]
        rings.append(np.array(block))
        if rng.random() < 0.5:
            courts.append(((left + right) / 2, (low + high) / 2))
    town = domains.merge(*(domains.polygon(ring @ slant) for ring in rings))
    return domains.with_holes(town, np.array(courts) @ slant) if courts else town


def coasts(n: int, rng: Rng) -> dmr.Pslg:
    """A fractal coast, with a lake if there are enough vertices."""
    while True:
        corners = max(min(n // 3, 9), 4)
        steps = max(round(math.log2(n / corners)), 0)
        turn = (np.arange(corners) + rng.uniform(0.1, 0.9, corners)) * (2 * math.pi / corners)
        away = rng.uniform(0.6, 1.0, corners)
        coast = _displaced(np.stack([np.cos(turn) * away, np.sin(turn) * away], axis=1), steps, rng)
        lake = [_displaced(domains.circle_points(0.15, 5, (0.02, 0.05)), steps - 2, rng)] if steps > 3 else []
        try:
            pslg = domains.polygon(coast, lake)
            dmr.triangulate(pslg, on_conflict="error")
        except InvalidMeshError:  # the coast intersects itself
            continue
        return pslg


def _displaced(ring: Points, steps: int, rng: Rng) -> Points:
    """A ring refined repeatedly by midpoint displacement of its edges."""
    for _ in range(steps):
        along = np.roll(ring, -1, axis=0) - ring
        aside = along @ np.array([[0.0, 1.0], [-1.0, 0.0]])
        middles = ring + along / 2 + aside * rng.uniform(-0.2, 0.2, (len(ring), 1))
        ring = np.stack([ring, middles], axis=1).reshape(-1, 2)
    return ring


def segments(n: int, rng: Rng) -> dmr.Pslg:
    """A square with separate segments inside."""
    count = max((n - 4) // 2, 1)
    columns = math.ceil(math.sqrt(count))
    cells = rng.permutation(columns * columns)[:count]
    low = np.stack([cells % columns, cells // columns], axis=1)
    ends = (low[:, None] + rng.uniform(0.05, 0.95, (count, 2, 2))) / columns
    return _in_square(ends.reshape(-1, 2), np.arange(2 * count).reshape(-1, 2))


def edges(n: int, rng: Rng) -> dmr.Pslg:
    """A square with a third of the edges of a Delaunay triangulation, so that many segments meet in a vertex."""
    points = rng.uniform(0.02, 0.98, (max(n - 4, 3), 2))
    mesh = dmr.triangulate(dmr.Pslg(points, np.empty((0, 2), int)))
    all_edges, _ = unique_edges(mesh)
    return _in_square(points, all_edges[rng.random(len(all_edges)) < 1 / 3])


def spokes(n: int, rng: Rng) -> dmr.Pslg:
    """A square with segments that meet in a few places, at small angles."""
    hubs = max(n // 24, 1)
    columns = math.ceil(math.sqrt(hubs))
    parts = [domains.polygon(SQUARE)]
    for k in range(hubs):
        count = min(max((n - 4) // hubs, 1), 23)
        middle = np.array(((k % columns + 0.5) / columns, (k // columns + 0.5) / columns))
        turn = (np.arange(count) + rng.uniform(0.1, 0.9, count)) * (2 * math.pi / count)
        tips = np.stack([np.cos(turn), np.sin(turn)], axis=1) * rng.uniform(0.1, 0.45, (count, 1)) / columns + middle
        spans = np.stack([np.zeros(count, int), np.arange(1, count + 1)], axis=1)
        parts.append(dmr.Pslg(np.vstack([middle, tips]), spans))
    return domains.merge(*parts)


def spikes(n: int, rng: Rng) -> dmr.Pslg:
    """A star of thin rays."""
    count = max(n // 2, 3)
    turn = np.arange(2 * count) * (math.pi / count) + rng.uniform(-0.2, 0.2, 2 * count) / count
    away = np.where(np.arange(2 * count) % 2, 0.4, rng.uniform(0.6, 1.0, 2 * count))
    return domains.polygon(np.stack([np.cos(turn) * away, np.sin(turn) * away], axis=1))


def _in_square(points: Points, spans: NDArray[Any]) -> dmr.Pslg:
    return domains.merge(domains.polygon(SQUARE), dmr.Pslg(points, spans))


FAMILIES: dict[str, Callable[[int, Rng], dmr.Pslg]] = {
    "polygons": polygons,
    "holes": holes,
    "plates": plates,
    "letters": letters,
    "blocks": blocks,
    "coasts": coasts,
    "segments": segments,
    "edges": edges,
    "spokes": spokes,
    "spikes": spikes,
}


def domain(family: str, n: int, seed: int) -> dmr.Pslg:
    """Makes one of the domains; the same on every machine with the same numpy, up to the last digits of sines."""
    return FAMILIES[family](n, np.random.default_rng([n, seed, *family.encode()]))
