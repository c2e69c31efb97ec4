"""Mesh quality statistics: angles, areas, edge lengths, radius-edge ratios and aspect ratios of all triangles.

Everything is computed in float64 from the coordinates, on all cores (`dmr.mesh.shapes`), so that 15 million triangles
take one second. This module does not decide whether a mesh is valid: `dmr.validate` does that, in exact arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dmr.common.arguments import checks_keywords, real_option
from dmr.common.available import require_memory
from dmr.common.text import counted
from dmr.mesh.arguments import check_kind
from dmr.mesh.edges import unique_edges
from dmr.mesh.shapes import BLOCK, bounding_box, in_blocks, shapes_of
from dmr.mesh.types import Float, Int, Mesh, check_indices

PERCENTILES = (1, 5, 25, 50, 75, 95, 99)
HISTOGRAM_BINS = 60  # one per degree: no smallest angle exceeds 60
BYTES_PER_TRIANGLE = 50  # peak memory of `measure`, measured


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """Distribution of one quantity over all triangles (or edges): extremes, mean, and percentiles by their number.

    All values are NaN if there are no triangles (or edges).
    """

    minimum: float
    mean: float
    maximum: float
    percentiles: dict[int, float]


@dataclass(frozen=True, kw_only=True)
class Quality:
    """The statistics of a mesh. Angles are in degrees, lengths and areas in the units of the coordinates.

    Attributes:
        vertices, triangles, edges, boundary_edges, segments: counts; an edge that two triangles share counts once.
        bounds: smallest x, smallest y, largest x, largest y over all vertices.
        area: the total area of the mesh.
        min_angle, max_angle: the smallest and the largest angle of each triangle.
        areas: signed areas; those of clockwise triangles are negative.
        edge_lengths: the length of each edge, every edge once.
        radius_edge: circumradius over shortest edge: 1 / (2 sin of the smallest angle).
        aspect: longest edge over the altitude on it; 2 / sqrt(3) for an equilateral triangle.
        histogram: the number of triangles with smallest angle in [k, k + 1) degrees, k = 0, ..., 59; 60 is in the last
            bin.
        bound: the angle to which `below` refers, None if no bound was given.
        below: the number of triangles with an angle below `bound`.
    """

    vertices: int
    triangles: int
    edges: int
    boundary_edges: int
    segments: int
    bounds: tuple[float, float, float, float]
    area: float
    min_angle: Distribution
    max_angle: Distribution
    areas: Distribution
    edge_lengths: Distribution
    radius_edge: Distribution
    aspect: Distribution
    histogram: tuple[int, ...]
    bound: float | None
    below: int | None

    def to_json(self) -> dict[str, Any]:
        """Convert to plain numbers, lists and dictionaries; non-finite values (of flat triangles) become None."""
        return _plain(asdict(self))  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Key figures for before-and-after tables: no percentiles, so that no sorting is necessary."""

    vertices: int
    triangles: int
    min_angle: float
    max_angle: float
    mean_min_angle: float
    max_area: float
    below: int
    too_large: int


@checks_keywords
def measure(mesh: Mesh, *, bound: float | None = None) -> Quality:
    """Compute all statistics of `mesh`.

    Args:
        mesh: any mesh; flat and clockwise triangles are measured like the others.
        bound: degrees; triangles with an angle below it are counted.

    Raises:
        WrongTypeError: `mesh` is not a Mesh.
    """
    check_kind(mesh, Mesh)
    bound = None if bound is None else real_option("bound", bound)
    m = len(mesh.triangles)
    require_memory(BYTES_PER_TRIANGLE * m, f"the statistics of {counted(m, 'triangle')}")
    smallest, largest, areas, radius_edge, aspect = (np.empty(m) for _ in range(5))

    def work(start: int, stop: int) -> None:
        shape = shapes_of(mesh.vertices, mesh.triangles[start:stop], edges=True)
        smallest[start:stop], largest[start:stop] = shape.degrees(shape.at_smallest), shape.degrees(shape.at_largest)
        areas[start:stop] = shape.twice_area / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            twice = np.abs(shape.twice_area)
            middle, longest = np.sqrt(shape.middle_squared), np.sqrt(shape.longest_squared)
            radius_edge[start:stop] = middle * longest / (2 * twice)
            aspect[start:stop] = longest**2 / twice

    in_blocks(work, m)
    edges, triangles_per_edge = unique_edges(mesh)
    box = bounding_box(mesh.vertices)
    return Quality(
        vertices=len(mesh.vertices),
        triangles=m,
        edges=len(edges),
        boundary_edges=int(np.count_nonzero(triangles_per_edge == 1)),
        segments=len(mesh.segments),
        bounds=box,
        area=_sum(areas),
        histogram=_histogram(smallest),
        bound=bound,
        below=None if bound is None else int(np.count_nonzero(smallest < bound)),
        min_angle=distribution(smallest),
        max_angle=distribution(largest),
        areas=distribution(areas),
        edge_lengths=distribution(_lengths(mesh.vertices, edges)),
        radius_edge=distribution(radius_edge),
        aspect=distribution(aspect),
    )


def summarise(mesh: Mesh, *, bound: float, max_area: float | None = None) -> Summary:
    """Compute a short form of `measure`, in one pass over the triangles without storage per triangle.

    Args:
        mesh: any mesh.
        bound: degrees; triangles with an angle below it are counted.
        max_area: triangles with a larger area are counted; None for no count.
    """
    check_indices(mesh)
    m = len(mesh.triangles)
    starts = max(1, -(-m // BLOCK))
    rows = np.zeros((starts, 6))

    def work(start: int, stop: int) -> None:
        shape = shapes_of(mesh.vertices, mesh.triangles[start:stop])
        smallest, area = shape.degrees(shape.at_smallest), shape.twice_area / 2
        rows[start // BLOCK] = (
            smallest.min(),
            shape.degrees(shape.at_largest).max(),
            smallest.sum(),
            area.max(),
            np.count_nonzero(smallest < bound),
            0 if max_area is None else np.count_nonzero(area > max_area),
        )

    in_blocks(work, m)
    return Summary(
        vertices=len(mesh.vertices),
        triangles=m,
        min_angle=float(rows[:, 0].min()) if m else math.nan,
        max_angle=float(rows[:, 1].max()) if m else math.nan,
        mean_min_angle=float(rows[:, 2].sum() / m) if m else math.nan,
        max_area=float(rows[:, 3].max()) if m else math.nan,
        below=int(rows[:, 4].sum()),
        too_large=int(rows[:, 5].sum()),
    )


def united(summaries: Iterable[Summary], vertices: int) -> Summary:
    """Returns the summary of a mesh from those of its parts; `vertices` is the number of its vertices."""
    found = [each for each in summaries if each.triangles]
    triangles = sum(each.triangles for each in found)
    angles = sum(each.mean_min_angle * each.triangles for each in found)
    return Summary(
        vertices=vertices,
        triangles=triangles,
        min_angle=min((each.min_angle for each in found), default=math.nan),
        max_angle=max((each.max_angle for each in found), default=math.nan),
        mean_min_angle=angles / triangles if triangles else math.nan,
        max_area=max((each.max_area for each in found), default=math.nan),
        below=sum(each.below for each in found),
        too_large=sum(each.too_large for each in found),
    )


@np.errstate(over="ignore", invalid="ignore")
def _sum(values: Float) -> float:
    return float(values.sum())


def distribution(values: Float) -> Distribution:
    """Compute extremes, mean and percentiles (linearly interpolated); sorts `values` in place."""
    if not len(values):
        return Distribution(
            minimum=math.nan, mean=math.nan, maximum=math.nan, percentiles=dict.fromkeys(PERCENTILES, math.nan)
        )
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(values.mean())
    values.sort()
    places = np.array(PERCENTILES) * ((len(values) - 1) / 100)
    low = np.floor(places).astype(np.int64)
    high = np.minimum(low + 1, len(values) - 1)
    with np.errstate(over="ignore", invalid="ignore"):
        between = np.where(values[low] == values[high], 0.0, (values[high] - values[low]) * (places - low))
        found = values[low] + between
    return Distribution(
        minimum=float(values[0]),
        mean=mean,
        maximum=float(values[-1]),
        percentiles={p: float(v) for p, v in zip(PERCENTILES, found, strict=True)},
    )


def _lengths(vertices: Float, edges: Int) -> Float:
    lengths = np.empty(len(edges))

    def work(start: int, stop: int) -> None:
        step = vertices[edges[start:stop, 1]] - vertices[edges[start:stop, 0]]
        lengths[start:stop] = np.hypot(step[:, 0], step[:, 1])

    in_blocks(work, len(edges))
    return lengths


def _histogram(angles: Float) -> tuple[int, ...]:
    counts = np.zeros(HISTOGRAM_BINS, np.int64)
    for start in range(0, len(angles), BLOCK):
        bins = np.clip(angles[start : start + BLOCK].astype(np.int64), 0, HISTOGRAM_BINS - 1)
        counts += np.bincount(bins, minlength=HISTOGRAM_BINS)
    return tuple(counts.tolist())


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
