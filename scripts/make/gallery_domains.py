"""Domains of the gallery, made by formula, typed or grown from a seed; none uses third-party data.

`EXHIBITS` lists functions that make an `Exhibit`: a graph, the options to refine it with, and how to draw the mesh.
scripts/make/gallery.py makes the page from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dmr
from dmr import domains

Points = NDArray[np.float64]
GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """A domain with its description and options.

    Attributes:
        title: its heading in the gallery.
        text: its description, a sentence or two.
        pslg: the domain.
        options: keywords for `dmr.refine`.
        color: as for `dmr.view`.
    """

    title: str
    text: str
    pslg: dmr.Pslg
    options: dict[str, Any] = field(default_factory=dict)
    color: str = "min_angle"


def letters() -> Exhibit:
    """Three letters as polygons of one domain."""
    d = [(0, 0), (6, 0), (9, 3), (9, 11), (6, 14), (0, 14)]
    d_hole = [(3, 3), (5, 3), (6, 4), (6, 10), (5, 11), (3, 11)]
    m = [(11, 0), (14, 0), (14, 8.5), (16.5, 5), (19, 8.5), (19, 0), (22, 0), (22, 14), (19, 14), (16.5, 10), (14, 14)]
    r = [(24, 0), (27, 0), (27, 5), (28.5, 5), (31, 0), (34.3, 0), (31.3, 5.8), (33, 7.5), (33, 12), (31, 14), (24, 14)]
    r_hole = [(27, 7.5), (29.5, 7.5), (30.2, 8.2), (30.2, 10.6), (29.5, 11.3), (27, 11.3)]
    pslg = domains.polygons([(d, [d_hole]), ([*m, (11, 14)], []), (r, [r_hole])], attributes=[1, 2, 3])
    return Exhibit(
        title="Letters",
        text="Three parts in one domain, each a separate region. The counters of D and R are holes.",
        pslg=pslg,
        options={"max_area": 0.25},
        color="region",
    )


def letter_a() -> Exhibit:
    """A letter with a thin bar and a hole, a common textbook example."""
    outline = [
        (0, 0), (2.6, 0), (2.6, 0.5), (1.9, 0.7), (2.7, 3), (6.3, 3), (7.1, 0.7), (6.3, 0.5), (6.3, 0), (9.4, 0),
        (9.4, 0.5), (8.7, 0.7), (5.2, 10), (4.2, 10), (0.7, 0.7), (0, 0.5),
    ]  # fmt: skip
    return Exhibit(
        title="A letter",
        text="An outline with a hole, no area bound: triangles are as large as the angle bound of 32 degrees allows.",
        pslg=domains.polygon(outline, [[(3, 3.7), (4.5, 7.9), (6, 3.7)]]),
        options={"min_angle": 32},
    )


def country() -> Exhibit:
    """A fictitious country: a coastline, a lake with an island, islands, and a border along a ridge."""
    rng = np.random.default_rng(20)
    corners = [(0, 0), (2.0, -0.3), (3.1, -1.4), (5.0, 0.3), (6.6, -0.1), (7.8, 3.2), (6.3, 3.9), (5.4, 5.6)]
    corners += [(3.6, 4.6), (2.2, 5.2), (1.2, 3.2), (-0.4, 2.4)]
    main = fractal(corners, 6, 0.25, rng)
    lake = fractal([(4.4, 2.0), (5.6, 2.1), (5.9, 3.2), (4.9, 3.6)], 4, 0.2, rng)
    holm = fractal([(4.9, 2.6), (5.25, 2.55), (5.2, 2.95)], 3, 0.2, rng)
    places = [(8.6, 0.6, 0.55), (8.3, 1.9, 0.3), (-0.9, 4.3, 0.7), (0.6, 5.6, 0.35), (6.9, 6.2, 0.4), (-1.2, 0.9, 0.25)]
    islands = [
        fractal(domains.circle_points(radius, 5, (x, y), angle=15 * k).tolist(), 4, 0.22, rng)
        for k, (x, y, radius) in enumerate(places)
    ]
    pslg = domains.polygons([(main, [lake]), (holm, []), *((island, []) for island in islands)])
    # The border joins two vertices of the coast.
    border = displaced(np.array([corners[2], (2.8, 1.0), (3.5, 2.4), (3.2, 3.9), corners[8]]), 4, 0.2, rng)
    pslg = domains.merge(pslg, domains.polyline(border, markers=9))
    west, east = (0.9, 1.9), (6.7, 2.6)
    regions = [(*west, 1, 0.05), (*east, 2, 0.02), (*domains.interior_point(holm), 3, 0.005)]
    regions += [(*domains.interior_point(island), 3, 0.01) for island in islands]
    return Exhibit(
        title="A country",
        text="A coastline grown from a seed, a border, a lake with an island in it, and islands off the coast. Each "
        "part has its own attribute and maximum area.",
        pslg=domains.with_regions(pslg, regions),
        color="region",
    )


def airfoil() -> Exhibit:
    """A NACA 0012 profile at an angle of attack, in a channel."""
    x = (1 - np.cos(np.linspace(0, np.pi, 60))) / 2
    # The last coefficient is the one for a closed trailing edge.
    half = 0.6 * (0.2969 * np.sqrt(x) - x * (0.1260 + x * (0.3516 - x * (0.2843 - 0.1036 * x))))
    profile = np.column_stack((np.r_[x[::-1], x[1:-1]], np.r_[half[::-1], -half[1:-1]]))
    attack = math.radians(-10)
    turn = np.array([[math.cos(attack), -math.sin(attack)], [math.sin(attack), math.cos(attack)]])
    profile = (profile - (0.5, 0.0)) @ turn.T
    tail = profile[0]
    wake = np.array([tail + np.array((k, 0.02 * k * k)) * 0.25 for k in range(9)])

    def size(points: Points) -> Points:
        """Size function: fine on the profile and in its wake, coarse elsewhere."""
        behind = 0.035 + 0.02 * np.maximum(points[:, 0] - tail[0], 0) + 0.35 * distance(points, wake)
        fine: Points = np.minimum(0.012 + 0.25 * distance(points, closed(profile)), behind)
        return fine

    channel = [(-1.6, -1.1), (2.6, -1.1), (2.6, 1.1), (-1.6, 1.1)]
    return Exhibit(
        title="An airfoil",
        text="A NACA 0012 profile in a channel. A size function of the distance to the profile and to the wake behind "
        "it grades the mesh; colours are areas on a logarithmic scale.",
        pslg=domains.polygon(channel, [profile], markers=[[1, 2, 1, 3], 4]),
        options={"max_edge": size},
        color="area",
    )


def gear() -> Exhibit:
    """A spur gear with a keyed bore and lightening holes."""
    teeth, root, tip = 20, 0.84, 1.0
    outline = []
    for k in range(teeth):
        for radius, shift in ((root, -0.30), (tip, -0.14), (tip, 0.14), (root, 0.30)):
            angle = 2 * math.pi * (k + shift) / teeth
            outline.append((radius * math.cos(angle), radius * math.sin(angle)))
    bore = domains.circle_points(0.2, 48)
    bore = bore[bore[:, 1] < 0.2 * math.cos(math.radians(15)) - 1e-9]
    start = int(np.argmax(np.diff(np.r_[bore[:, 0], bore[:1, 0]]) < -0.08)) + 1
    bore = np.roll(bore, -start, axis=0)
    key = [(bore[-1, 0], 0.27), (bore[0, 0], 0.27)]
    holes = [np.concatenate((bore, key))]
    holes += [
        domains.circle_points(0.14, 24, (0.52 * math.cos(a), 0.52 * math.sin(a))) for a in np.arange(6) * math.pi / 3
    ]
    return Exhibit(
        title="A gear",
        text="Twenty teeth, a bore with a keyway, six holes: small triangles resolve the sharp details.",
        pslg=domains.polygon(outline, holes),
        options={"max_area": 0.002},
    )


def comb() -> Exhibit:
    """A comb with progressively thinner teeth."""
    thickness = 0.5 * 0.72 ** np.arange(10)
    left, outline = 0.0, [(0.0, 4.0)]
    for width in thickness:
        outline += [(left, 0.0), (left + width, 0.0), (left + width, 3.0)]
        left += width + max(0.6 * width, 0.06)
        outline.append((left, 3.0))
    outline[-1] = (outline[-2][0], 4.0)
    del outline[-2]
    return Exhibit(
        title="A comb",
        text="Each tooth has 0.72 times the thickness of the one before; the thinnest is a fortieth of the back. "
        "Triangles are small only where two sides are close.",
        pslg=domains.polygon(outline),
        color="area",
    )


def city() -> Exhibit:
    """Streets, blocks with courtyards, and parks, in a slanted grid."""
    rng = np.random.default_rng(5)
    columns = np.cumsum(rng.uniform(1.0, 1.9, 9))
    rows = np.cumsum(rng.uniform(0.8, 1.3, 7))
    slant = np.array([[1.0, 0.12], [-0.18, 1.0]])

    def placed(ring: list[tuple[float, float]]) -> Points:
        table: Points = np.array(ring) @ slant
        return table

    edge = 0.12
    town = [(columns[0] - edge, rows[0] - edge), (columns[-1] + edge, rows[0] - edge)]
    town += [(columns[-1] + edge, rows[-1] + edge), (columns[0] - edge, rows[-1] + edge)]
    yards: list[Points] = []
    parts: list[tuple[Points, list[Points]]] = [(placed(town), yards)]
    kinds, areas = [1.0], [0.02]
    for i in range(len(columns) - 1):
        for j in range(len(rows) - 1):
            inset = 0.22 if i == 4 else 0.1  # one avenue
            left, right = columns[i] + inset, columns[i + 1] - 0.1
            low, high = rows[j] + 0.1, rows[j + 1] - 0.1
            cut = 0.12
            block = [(left + cut, low), (right - cut, low), (right, low + cut), (right, high - cut)]
            block += [(right - cut, high), (left + cut, high), (left, high - cut), (left, low + cut)]
            park, court = rng.random() < 0.15, rng.random() < 0.4
            kinds.append(3.0 if park else 2.0)
            areas.append(0.008 if park else 0.05)
            yard = 0.3 * min(right - left, high - low)
            inner = [(left + yard, low + yard), (right - yard, low + yard), (right - yard, high - yard)]
            inner.append((left + yard, high - yard))
            holes = [placed(inner)] if court and not park else []
            parts.append((placed(block), holes))
            yards += holes  # the town lies under its blocks
    return Exhibit(
        title="A city",
        text="Streets (1), blocks (2) with courtyards, and parks (3): later polygons override earlier ones, and each "
        "kind has its own maximum area.",
        pslg=domains.polygons(parts, attributes=kinds, areas=areas),
        color="region",
    )


def target() -> Exhibit:
    """Rings of different fineness."""
    radii = [1.0, 0.72, 0.46, 0.22]
    pslg = domains.merge(*(domains.circle(radius, 64, markers=k + 1) for k, radius in enumerate(radii)))
    areas = [0.01, 0.0025, 0.0007, 0.00018]
    middles = [(r + inner) / 2 for r, inner in zip(radii, [*radii[1:], 0.0], strict=True)]
    regions = [(middle, 0.0, k + 1, area) for k, (middle, area) in enumerate(zip(middles, areas, strict=True))]
    return Exhibit(
        title="Concentric regions",
        text="Four regions, each with a maximum area about a quarter of that of its outer neighbour.",
        pslg=domains.with_regions(pslg, regions),
        color="region",
    )


def crack() -> Exhibit:
    """A plate with a crack that starts at its edge and forks, and a second one inside."""
    plate = domains.polygon([(0, 0), (3, 0), (3, 1.6), (0, 1.6), (0, 0.7)])
    trunk = [(0.0, 0.7), (0.35, 0.74), (0.62, 0.7), (1.0, 0.8), (1.3, 0.78)]
    forks = [[trunk[-1], (1.55, 0.93), (1.75, 1.15)], [trunk[-1], (1.6, 0.68), (1.85, 0.62)]]
    alone = [(2.2, 0.3), (2.35, 0.5), (2.6, 0.62)]
    chains = [trunk, *forks, alone]
    tips = np.array([forks[0][-1], forks[1][-1], alone[0], alone[-1]])

    def size(points: Points) -> Points:
        """Size function: finest at the tips, where stresses are singular."""
        to_tips = np.sqrt(((points[:, None] - tips) ** 2).sum(axis=2)).min(axis=1)
        found: Points = 0.004 + 0.22 * to_tips
        return found

    return Exhibit(
        title="A plate with cracks",
        text="Open chains of segments within the domain: triangles lie on both sides of a crack. The size function is "
        "the distance to the nearest tip.",
        pslg=domains.merge(plate, *(domains.polyline(chain, markers=5) for chain in chains)),
        options={"max_edge": size},
        color="area",
    )


def ocean() -> Exhibit:
    """A basin with islands, graded by its depth."""
    rng = np.random.default_rng(11)
    shore = fractal(
        [(0, 0), (4, -0.6), (8, 0.4), (9.2, 3.0), (7.2, 5.3), (3.4, 5.0), (0.6, 4.2), (-0.8, 2.0)], 5, 0.18, rng
    )
    islands = [
        fractal(domains.circle_points(radius, 8, (x, y)).tolist(), 3, 0.25, rng)
        for x, y, radius in ((2.0, 1.6, 0.4), (2.9, 2.1, 0.25), (6.4, 3.4, 0.5))
    ]
    coasts = [closed(shore), *map(closed, islands)]

    def size(points: Points) -> Points:
        """Size function: the wavelength, proportional to the square root of the depth."""
        off_shore = np.minimum.reduce([distance(points, coast) for coast in coasts])
        ridge = 0.75 * np.exp(-(((points[:, 0] - 5.2 - 0.5 * np.sin(points[:, 1])) / 0.45) ** 2))
        depth = off_shore * (1 - ridge)
        found: Points = 0.035 + 0.3 * np.sqrt(depth)
        return found

    return Exhibit(
        title="An ocean basin",
        text="The edge length grows with the square root of the depth, as wavelengths do: the mesh is fine along the "
        "coasts and over a ridge in the middle.",
        pslg=domains.polygon(shore, islands),
        options={"max_edge": size},
        color="area",
    )


def web() -> Exhibit:
    """A spider's web: 32 spokes meet in one vertex."""
    spokes, rings = 32, 6
    circles = [domains.circle_points(k / rings, spokes) for k in range(1, rings + 1)]
    parts = [domains.polygon(circle, markers=3) for circle in circles]
    # Each spoke passes through the exact ring vertices: a straight line would only come near them.
    parts += [domains.polyline([(0, 0), *(circle[k] for circle in circles)], markers=2) for k in range(spokes)]
    return Exhibit(
        title="A web",
        text="32 spokes meet in one vertex, 11.25 degrees apart. No mesh can improve the angles at the center; shells "
        "around it confine them, and the report lists the triangles below the bound.",
        pslg=domains.merge(*parts),
    )


def pearls() -> Exhibit:
    """Holes that touch each other and the boundary."""
    holes = [domains.circle_points(0.5, 32, (i + 0.5, j + 0.5)) for i in range(5) for j in range(3) if (i + j) % 2 == 0]
    holes += [domains.circle_points(0.25, 32, (i + 0.25, j + 0.5)) for i in range(5) for j in range(3) if (i + j) % 2]
    outline = [(0, 0), (0.5, 0), (2.5, 0), (4.5, 0), (5, 0), (5, 0.5), (5, 2.5), (5, 3)]
    outline += [(4.5, 3), (2.5, 3), (0.5, 3), (0, 3), (0, 2.5), (0, 1.5), (0, 0.5)]
    return Exhibit(
        title="Touching holes",
        text="Holes touch each other and the outline in single vertices, and leave cusps of 5.6 degrees there.",
        pslg=domains.merge(domains.polygon(outline, holes)),  # which joins the vertices that they touch in
    )


def spiral() -> Exhibit:
    """A corridor that winds inwards."""
    turn = np.linspace(0, 9 * math.pi, 400)
    ray = np.column_stack((np.cos(turn), np.sin(turn)))
    outer, inner = ray * (0.15 + 0.1 * turn)[:, None], ray * (0.15 + 0.1 * turn - 0.035 - 0.011 * turn)[:, None]
    return Exhibit(
        title="A spiral",
        text="A strip of 800 segments that widens from turn to turn.",
        pslg=domains.polygon(np.concatenate((outer, inner[::-1]))),
    )


def maze() -> Exhibit:
    """A maze of square cells and the doors between them, with a few ways round."""
    columns, rows, gap = 16, 10, 0.13
    rng = np.random.default_rng(3)
    came_from, doors = {(0, 0): (0, 0)}, set()
    stack = [(0, 0)]
    while stack:
        i, j = stack[-1]
        beside = [(i + 1, j), (i, j + 1), (i - 1, j), (i, j - 1)]
        fresh = [c for c in beside if 0 <= c[0] < columns and 0 <= c[1] < rows and c not in came_from]
        if not fresh:
            stack.pop()
            continue
        cell = fresh[int(rng.integers(len(fresh)))]
        came_from[cell] = (i, j)
        doors.add(((i, j), cell))
        stack.append(cell)
    way = [(columns - 1, rows - 1)]
    while way[-1] != (0, 0):
        way.append(came_from[way[-1]])
    doors |= {((i, j), (i + 1, j)) for i, j in rng.integers(0, (columns - 1, rows), (12, 2)).tolist()}

    def box(left: float, low: float, right: float, high: float) -> tuple[Any, list[Any]]:
        return [(left, low), (right, low), (right, high), (left, high)], []

    parts = [box(i + gap, j + gap, i + 1 - gap, j + 1 - gap) for i in range(columns) for j in range(rows)]
    on_way = [(i, j) in way for i in range(columns) for j in range(rows)]
    for one, other in sorted({(min(door), max(door)) for door in doors}):
        (i, j), (k, m) = one, other
        across = k > i
        parts.append(
            box(k - gap, j + gap, k + gap, j + 1 - gap) if across else box(i + gap, m - gap, i + 1 - gap, m + gap)
        )
        on_way.append(came_from.get(one) == other or came_from.get(other) == one)
        on_way[-1] = on_way[-1] and one in way and other in way
    return Exhibit(
        title="A maze",
        text="One polygon per cell and per door; the way through is a separate region. The walls are the gaps "
        "between the polygons; gaps enclosed by corridors become holes.",
        pslg=domains.polygons(parts, attributes=[2.0 if each else 1.0 for each in on_way]),
        options={"max_area": 0.05},
        color="region",
    )


def sunflower() -> Exhibit:
    """Holes in the order of a sunflower's seeds."""
    seeds = 60
    order = np.arange(1, seeds + 1)
    away = 0.92 * np.sqrt(order / seeds)
    holes = [
        domains.circle_points(0.014 + 0.045 * r, 12, (r * math.cos(k * GOLDEN_ANGLE), r * math.sin(k * GOLDEN_ANGLE)))
        for k, r in zip(order.tolist(), away.tolist(), strict=True)
    ]
    return Exhibit(
        title="A sunflower",
        text="Sixty holes, each a golden angle further around than the one before.",
        pslg=domains.polygon(domains.circle_points(1.0, 90), holes),
        color="area",
    )


def snowflake() -> Exhibit:
    """Koch's curve."""
    ring = domains.circle_points(1.0, 3, angle=90)[::-1]
    for _ in range(4):
        step = (np.roll(ring, -1, axis=0) - ring) / 3
        out = step @ np.array([[0.5, math.sqrt(3) / 2], [-math.sqrt(3) / 2, 0.5]])
        ring = np.stack((ring, ring + step, ring + step + out, ring + 2 * step), axis=1).reshape(-1, 2)
    return Exhibit(
        title="A snowflake",
        text="Four steps of Koch's curve: 768 segments, with corners of 60 or 240 degrees.",
        pslg=domains.polygon(ring),
        color="area",
    )


EXHIBITS: tuple[Callable[[], Exhibit], ...] = (
    letters,
    letter_a,
    country,
    airfoil,
    gear,
    comb,
    city,
    target,
    crack,
    ocean,
    web,
    pearls,
    spiral,
    maze,
    sunflower,
    snowflake,
)


def displaced(chain: Points, steps: int, roughness: float, rng: np.random.Generator) -> Points:
    """An open chain made ragged: each step moves the middle of every segment off it, by a part of its length."""
    for _ in range(steps):
        along = chain[1:] - chain[:-1]
        off = np.column_stack((-along[:, 1], along[:, 0])) * rng.uniform(-roughness, roughness, (len(along), 1))
        ragged = np.empty((2 * len(chain) - 1, 2))
        ragged[::2], ragged[1::2] = chain, chain[:-1] + along / 2 + off
        chain = ragged
    return chain


def fractal(corners: list[Any], steps: int, roughness: float, rng: np.random.Generator) -> Points:
    """A closed coastline through `corners`."""
    return displaced(np.array([*corners, corners[0]], float), steps, roughness, rng)[:-1]


def closed(ring: Points) -> Points:
    """The ring as a chain that comes back to where it began."""
    return np.concatenate((ring, ring[:1]))


def distance(points: Points, chain: Points) -> Points:
    """(n,): how far each point is from a chain of segments."""
    starts, along = chain[:-1], np.diff(chain, axis=0)
    lengths = (along * along).sum(axis=1)
    found = np.empty(len(points))
    for block in range(0, len(points), 256):  # all segments at once for some points: it stays in the cache
        off = points[block : block + 256, None] - starts
        part = np.clip((off * along).sum(axis=2) / lengths, 0, 1)
        off -= part[:, :, None] * along
        found[block : block + 256] = np.sqrt((off * off).sum(axis=2).min(axis=1))
    return found
