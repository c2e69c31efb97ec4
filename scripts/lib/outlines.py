"""Domains of `scripts.bench.domains`: realistic outlines, cleaned, with their refinement bounds.

    land-50m, us-counties      GeoJSON files in --folder; regional-land is a part of the first
    fractal-N                  land-50m, each segment divided N times at random places beside its middle
    coast[-N]                  a closed curve of N vertices (100,000) around an empty interior
    circle-N                   N random points of the unit circle, joined in their order
    channel-ASPECT             a channel of this length over width, whose walls deviate by a tenth of its width
    plate-AREA                 4 x 2 with one bore of 32 corners, and a largest area
    near-concurrent            four segments in a box that almost meet in one point
    fan-N                      N segments in a square that almost meet in one point
    large-cavities             18 vertices with gaps of one unit beside lengths of a million

A name may end in @DEG, the minimum angle: channel-100000@20.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dmr
from dmr import domains
from dmr.errors import OptionError
from scripts.lib.fractal import subdivided

Float = NDArray[np.float64]
Int = NDArray[np.int32]
Ring = list[list[float]]

# Default domains of the benchmark, with the minimum angle unless it is 30 degrees.
STANDARD = (
    "regional-land",
    "land-50m",
    "us-counties",
    "coast",
    "circle-5000",
    "circle-20000",
    "channel-100000@20",
    "channel-100000@30",
    "near-concurrent@5",
    "large-cavities@20",
    "plate-1e-3",
    "plate-1e-4",
    "plate-1e-5",
    "plate-2e-6",
)
FORMS = "regional-land, land-50m, us-counties, fractal-N, coast, coast-N, circle-N, channel-ASPECT, plate-AREA, " + (
    "near-concurrent, fan-N, large-cavities"
)
LEAST_COUNTS = {"circle": 8, "coast": 8, "fan": 2, "fractal": 1}
DEFAULT_ANGLE = 30.0
COAST_VERTICES = 100_000

# Walls of a channel of width 1, below and above: heights at both ends and at one and two thirds of the length.
CHANNEL_BELOW = (0.034558419206478605, 0.08216181435011584, 0.03304370761833871, -0.1303157231604361)
CHANNEL_ABOVE = (1.0905355866673119, 1.0446374572364012, 0.9463046764639715, 1.0581118104196352)

NEAR_CONCURRENT = (
    (-24275966.152471066, 20015070.459192913),
    (30384500.877547383, 29763066.26308521),
    (23888596.283731524, 11605904.603866257),
    (-5847753.666341375, 46213542.32866155),
    (-20090302.952868365, 20765374.37463491),
    (40916398.14743628, 31637650.14693312),
    (21891565.868441742, -17874971.1887883),
    (297095.0507449709, 71636410.80521737),
)
NEAR_CONCURRENT_BOX = (-110343364.04145536, 165515046.06218302)

# Heights of the ends of horizontal segments of length 1 that almost coincide, in a box of 3 x 3.
LARGE_CAVITIES_LEFT = 1554504.702475121
LARGE_CAVITIES_HEIGHTS = (
    (-255731.52783610675, -255731.52783610678),
    (-255731.52783610666, -255731.5278361074),
    (-255731.52783610622, -255731.52783610622),
    (-255731.52775070397, -255731.52775070397),
    (-255731.52783610672, -255731.52783610672),
    (-255731.52783610675, -255731.52783610675),
    (-255731.52783610675, -255731.52783610675),
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A domain with its bounds.

    Attributes:
        name: as given; form, size: the kind of domain, and the number in its name (None without one).
        min_angle: degrees; max_area: None for no bound.
    """

    name: str
    form: str
    size: float | None
    min_angle: float
    max_area: float | None

    @property
    def switches(self) -> str:
        """Switches for Triangle."""
        area = "" if self.max_area is None else f"a{self.max_area:.17f}".rstrip("0")
        return f"pq{self.min_angle:g}{area}"


def case(name: str) -> Case:
    """Parses the name of a domain.

    Raises:
        OptionError: there is no such domain.
    """
    numbered = r"(?P<form>circle|channel|plate|coast|fractal|fan)-(?P<size>\d+(\.\d+)?([eE][+-]?\d+)?)"
    plain = r"(?P<plain>regional-land|land-50m|us-counties|coast|near-concurrent|large-cavities)"
    found = re.fullmatch(rf"({plain}|{numbered})(@(?P<angle>\d+(\.\d+)?))?", name)
    size = None if found is None or found["size"] is None else float(found["size"])
    least = 0 if found is None else LEAST_COUNTS.get(found["form"], 0)
    if found is None or (size is not None and (size <= 0 or (least and (size < least or not size.is_integer())))):
        raise OptionError(f"there is no domain {name}: choose from {FORMS}, each with or without @DEG")
    form = found["plain"] or found["form"]
    angle = DEFAULT_ANGLE if found["angle"] is None else float(found["angle"])
    return Case(name=name, form=form, size=size, min_angle=angle, max_area=size if form == "plate" else None)


def outline(case: Case, folder: Path | None) -> dmr.Pslg:
    """Reads or makes the outline of a case, before cleaning.

    Raises:
        OptionError: the outline is in a file, but no folder is given.
    """
    if case.form in ("regional-land", "land-50m", "us-counties", "fractal"):
        if folder is None:
            raise OptionError(f"{case.name} is read from a file: name its folder with --folder")
        if case.form == "fractal":
            return subdivided(clean(_land(folder)), int(case.size or 0), seed=5)
        return _FROM_FILES[case.form](folder)
    if case.form == "coast":
        return coast(COAST_VERTICES if case.size is None else int(case.size))
    if case.form in ("near-concurrent", "large-cavities"):
        return near_concurrent() if case.form == "near-concurrent" else large_cavities()
    assert case.size is not None
    if case.form == "plate":
        return plate()
    if case.form == "fan":
        return fan(int(case.size))
    return circle(int(case.size)) if case.form == "circle" else channel(case.size)


def clean(drawn: dmr.Pslg) -> dmr.Pslg:
    """The outline with the conflicts of its vertices and segments resolved by `dmr.triangulate`.

    Vertices that no triangle uses are removed, so that both programs get the same points.
    """
    mesh = dmr.triangulate(drawn)
    used = np.zeros(len(mesh.vertices), np.bool_)
    used[mesh.triangles] = True
    numbers = np.cumsum(used, dtype=np.int32) - 1
    assert mesh.segments is not None
    found = dmr.Pslg(mesh.vertices[used], numbers[mesh.segments], holes=drawn.holes)
    dmr.triangulate(found, on_conflict="error")
    return found


def closed(points: Float) -> Int:
    """The segments of a ring."""
    first = np.arange(len(points), dtype=np.int32)
    return np.column_stack((first, np.roll(first, -1))).astype(np.int32)


def coast(n: int) -> dmr.Pslg:
    """A closed curve of `n` vertices whose distance from the center is a random walk with noise."""
    rng = np.random.default_rng(3)
    angles = np.sort(rng.random(n)) * 2 * np.pi
    walk = np.cumsum(rng.normal(size=400)) * 0.02
    radius = 1 + 0.2 * np.interp(angles, np.linspace(0, 2 * np.pi, 400), walk) + 1e-5 * rng.normal(size=n)
    points = radius[:, None] * np.column_stack((np.cos(angles), np.sin(angles)))
    return dmr.Pslg(points, closed(points))


def circle(n: int) -> dmr.Pslg:
    """A ring of `n` random points of the unit circle."""
    turns = np.sort(np.random.default_rng(n).random(n)) * 2 * np.pi
    points = np.column_stack((np.cos(turns), np.sin(turns)))
    return dmr.Pslg(points, closed(points))


def channel(aspect: float) -> dmr.Pslg:
    """A channel of length `aspect` and width about 1."""
    places = np.array([0.0, aspect / 3, 2 * aspect / 3, aspect])
    below = np.column_stack((places, CHANNEL_BELOW))
    above = np.column_stack((places[::-1], CHANNEL_ABOVE))
    points = np.vstack((below, above))
    return dmr.Pslg(points, closed(points))


def plate() -> dmr.Pslg:
    """The README's plate of 4 x 2 with one bore of 32 corners."""
    bore = domains.circle_points(0.5, 32, (1, 1))
    return domains.polygon([(0, 0), (4, 0), (4, 2), (0, 2)], holes=[bore])


def near_concurrent() -> dmr.Pslg:
    """Four segments in a box that almost meet in one point."""
    low, high = NEAR_CONCURRENT_BOX
    box = [(low, low), (high, low), (high, high), (low, high)]
    points = np.array([*NEAR_CONCURRENT, *box])
    return dmr.Pslg(points, np.vstack((np.arange(8, dtype=np.int32).reshape(4, 2), 8 + closed(points[8:]))))


def fan(n: int) -> dmr.Pslg:
    """`n` segments of length about 2 in a square with sides of 3, whose lines pass the center within about 1e-6."""
    rng = np.random.default_rng(n)
    turns = np.pi * (np.arange(n) + rng.uniform(-0.3, 0.3, n)) / n
    way = np.column_stack((np.cos(turns), np.sin(turns)))
    past = 1e-6 * rng.normal(size=(n, 1)) * np.column_stack((-way[:, 1], way[:, 0]))
    box = 1.5 * np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    points = np.vstack((past - rng.uniform(0.9, 1.1, (n, 1)) * way, past + rng.uniform(0.9, 1.1, (n, 1)) * way, box))
    first = np.arange(n, dtype=np.int32)
    return dmr.Pslg(points, np.vstack((np.column_stack((first, first + n)), 2 * n + closed(box))))


def large_cavities() -> dmr.Pslg:
    """Segments that almost coincide, in a box."""
    left = LARGE_CAVITIES_LEFT
    points = [(left + side, heights[side]) for heights in LARGE_CAVITIES_HEIGHTS for side in (0, 1)]
    low = LARGE_CAVITIES_HEIGHTS[0][0] - 1
    points += [(left - 1, low), (left + 2, low), (left + 2, low + 3), (left - 1, low + 3)]
    ends = [*((2 * k, 2 * k + 1) for k in range(len(LARGE_CAVITIES_HEIGHTS))), (14, 15), (15, 16), (16, 17), (17, 14)]
    return dmr.Pslg(np.array(points), np.array(ends, np.int32))


# ---- Domains in files ----------------------------------------------------------------------------------------------


def _polygons(path: Path) -> list[list[Ring]]:
    """Reads the polygons of a compressed GeoJSON file that holds one MultiPolygon."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            form: Any = json.load(file)
    except OSError as error:
        raise OptionError(f"{path} cannot be read: {error.strerror or error}") from error
    parts: list[list[Ring]] = form["coordinates"]
    return parts


def _area(ring: Ring) -> float:
    """Area that a ring encloses."""
    x, y = np.array(ring).T
    x, y = x - x[0], y - y[0]
    return abs(float((x[:-1] * y[1:] - x[1:] * y[:-1]).sum())) / 2


def _covered(parts: list[list[Ring]], least: float) -> dmr.Pslg:
    """Domain covered by polygons, without rings of an area below `least`."""
    kept = [[ring for ring in part if _area(ring) >= least] for part in parts if _area(part[0]) >= least]
    return domains.from_geojson({"type": "MultiPolygon", "coordinates": kept})


def _regional_land(folder: Path) -> dmr.Pslg:
    """The land without parts along the antimeridian or far in the south."""
    kept = []
    for part in _polygons(folder / "land-50m.geojson.gz"):
        x, y = np.array(part[0]).T
        if x.max() - x.min() <= 170 and np.abs(x).max() <= 179.9 and y.min() >= -60:
            kept.append(part)
    return _covered(kept, 1e-9)


def _land(folder: Path) -> dmr.Pslg:
    """All land, without rings that enclose no area."""
    return _covered(_polygons(folder / "land-50m.geojson.gz"), 1e-12)


def _counties(folder: Path) -> dmr.Pslg:
    return _covered(_polygons(folder / "us-counties.geojson.gz"), 1e-12)


_FROM_FILES: dict[str, Callable[[Path], dmr.Pslg]] = {
    "regional-land": _regional_land,
    "land-50m": _land,
    "us-counties": _counties,
}
