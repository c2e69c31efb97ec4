"""The bounds of a refinement in tiles, as a job stores them, and what they predict."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.common.text import option
from dmr.common.threads import thread_count
from dmr.distributed.tiles.patch import REASONS, Edges
from dmr.distributed.tiles.piece import Arrays, Int64
from dmr.distributed.unions.native import Demand, predict, walls
from dmr.errors import OptionError
from dmr.mesh.edges import edge_keys
from dmr.mesh.types import Float, Int, Mesh
from dmr.refinement.options import MARKINGS, OBSERVED_CONFORMING_LIMIT, OBSERVED_LIMIT, RefineOptions
from dmr.refinement.placement.targets import TOO_LONG, multiple, smallest
from dmr.refinement.setup.demand import OVER_EQUILATERAL, OVER_THE_FEWEST
from dmr.refinement.steps.local_bounds import LocalBounds
from dmr.refinement.steps.thresholds import thresholds
from dmr.sizing.sampling import sampled
from dmr.sizing.source import SizeSource
from dmr.sizing.storing import sizes_as_arrays, sizes_from_arrays

# The options of a refinement that a job stores; the others affect only how it runs, or are refused.
STORED = ("min_angle", "max_area", "grading", "steiner", "conforming", "keep_segments", "strict")

# Wanted sizes bound edges, in tiles, by this multiple: then there are about as many triangles as the sizes stand for.
BOUND_OVER_SIZE = 1.55

OF_BUDGET = REASONS.index("budget") + 1  # in `Patch.reasons`

SOURCES = ("size", "max_edge", "area_root")
SOURCE_PREFIX = "sizes_"


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The bounds of a refinement in tiles.

    Attributes:
        options: the options of `dmr.refine`.
        sources: "size" and "max_edge" of `dmr.refine`, and "area_root", the square root of `area` by place, where they
            are given; evaluated by kernels.
        placed: whether points have been placed by "size", so that the refinement splits only much longer edges.
    """

    options: RefineOptions
    sources: Mapping[str, SizeSource] = field(default_factory=dict)
    placed: bool = False

    @classmethod
    def checked(
        cls, options: RefineOptions, sources: Mapping[str, SizeSource | None], over: Callable[[], Mesh | list[float]]
    ) -> Bounds:
        """Returns the bounds of a refinement.

        Args:
            options: of the refinement; sources: as in `Bounds`, None where there is none.
            over: makes a mesh of the domain, in which functions are sampled, or a rectangle (x0, y0, x1, y1).

        Raises:
            OptionError: tiles do not support an option, or a source cannot be used.
        """
        refused = {
            "max_steiner": options.max_steiner is not None,
            "max_seconds": options.max_seconds is not None,
            "optimize": bool(options.optimize),
        }
        for name, given in refused.items():
            if given:
                raise OptionError(
                    f"{option(name)} cannot be combined with tiles: leave it out, or refine without tiles"
                )
        if options.marking != MARKINGS[0]:
            raise OptionError(
                f"{option('marking', options.marking)} cannot be combined with tiles, whose results must not depend on "
                f"the schedule: use {MARKINGS[0]!r}"
            )
        there = {name: source for name, source in sources.items() if source is not None}
        if options.grading is not None and "size" not in there:
            raise OptionError(f"{option('grading')} bounds the growth of sizes: also give {option('size')}")
        domain = None if all(source.by_kernels for source in there.values()) else over()
        for name, source in there.items():
            if not source.by_kernels:
                assert domain is not None
                there[name] = sampled(source, domain)
        if options.grading is not None:
            there["size"] = there["size"].limited(options.grading)
        return cls(options=options, sources=there)

    @property
    def local(self) -> LocalBounds[SizeSource]:
        """The bounds by place."""
        size = self.sources.get("size")
        wanted = None if size is None else multiple(size, TOO_LONG if self.placed else BOUND_OVER_SIZE)
        return LocalBounds(smallest(self.sources.get("max_edge"), wanted), self.sources.get("area_root"))

    @property
    def given(self) -> LocalBounds[SizeSource]:
        """The bounds by place without the wanted sizes."""
        return LocalBounds(self.sources.get("max_edge"), self.sources.get("area_root"))

    @property
    def may_be_out_of_reach(self) -> bool:
        """Whether the bound on angles is so large that refinements may end at their limits only."""
        return self.options.min_angle > (OBSERVED_CONFORMING_LIMIT if self.options.conforming else OBSERVED_LIMIT)

    def stored(self) -> dict[str, Any]:
        """Returns the options as plain JSON values."""
        values = asdict(self.options)
        return {name: values[name] for name in STORED}

    def save(self, arrays: Arrays) -> None:
        """Stores the sources by name."""
        for name, source in self.sources.items():
            for each, array in sizes_as_arrays(source, f"{SOURCE_PREFIX}{name}").items():
                arrays[each] = array

    @classmethod
    def load(cls, stored: Mapping[str, Any], arrays: Arrays | Mapping[str, NDArray[Any]]) -> Bounds:
        """Returns the bounds from what `stored` returned and `save` stored."""
        found = {name: sizes_from_arrays(arrays, f"{SOURCE_PREFIX}{name}") for name in SOURCES}
        sources = {name: source for name, source in found.items() if source is not None}
        return cls(options=RefineOptions(**stored), sources=sources)

    def relaxed(self, factor: float) -> tuple[RefineOptions, LocalBounds[SizeSource]]:
        """Returns bounds on areas that are `factor` times as large, and bounds on lengths that correspond."""
        area, length = self.options.max_area, float(np.sqrt(factor))
        options = replace(self.options, max_area=None if area is None else area * factor)
        return options, self.local.map(lambda bound: multiple(bound, length))


# Where nothing guarantees that a refinement ends, a tile gets this many points per predicted triangle: 20 times as many
# triangles as are predicted, and some more. Tiles that end early are then not much larger than others.
POINTS_PER_PREDICTED, MORE_POINTS = 10, 1000


def limited(mesh: Mesh, bounds: Bounds, reasons: NDArray[np.uint8], threads: int | None = None) -> RefineOptions:
    """Returns the options for a tile, with a limit on points if the bound on angles is above what was ever reached.

    The limit is a function of the tile alone, so it does not depend on the schedule. With the default limit of a run,
    more than a million points, each tile would grow to two million triangles, and so would each of the many tiles that
    these are cut into. A tile beside one that has reached its limit inserts nothing.

    Args:
        mesh: the tile; threads: as for `predicted_triangles`.
        reasons: (m,) why triangles of its patch violate a bound, as in `Patch`.
    """
    options = bounds.options
    if not bounds.may_be_out_of_reach:
        return options
    if (reasons == OF_BUDGET).any():
        return replace(options, max_steiner=0)
    predicted = float(np.maximum(*predicted_triangles(mesh, bounds, threads=threads)).sum())
    return replace(options, max_steiner=int(min(POINTS_PER_PREDICTED * predicted + MORE_POINTS, 2.0**30)))


# Triangles of the result for a triangle below the bound on angles (measured on random points at 30 degrees).
FOR_A_SKINNY_TRIANGLE = 4.0

MOST_WEIGHT = 2.0**31  # of a triangle, more than a mesh has; sums of weights are exact as floating-point numbers


def predicted_triangles(
    mesh: Mesh, bounds: Bounds, *, edges: Edges | None = None, lines: Int64 | None = None, threads: int | None = None
) -> tuple[Float, Float]:
    """Predicts the triangles of the result in each triangle of a mesh.

    Args:
        edges: of the mesh, where they are known.
        lines: with `edges`, (s, 2) the ends of the input segment that each segment of the mesh is a part of; by default
            its own ends. Parts of two that share an end do not count as walls of a channel: what is skinny in such a
            corner stays so.
        threads: that compute; None for all cores.

    Returns:
        (m,) float64 as the bound on angles needs, and (m,) as the bounds on areas and edges need.
    """
    wanted = ("areas", "by_angle", "by_size", "thin")
    found = _predicted(mesh, bounds.options, wanted, threads)
    channels = _channels(mesh, bounds.options, found["thin"], edges, lines, threads)
    _add_channels(found["by_angle"], *channels)
    return found["by_angle"], _by_size(mesh, bounds, found["areas"], found["by_size"])


def predicted_weights(
    mesh: Mesh, bounds: Bounds, *, edges: Edges, lines: Int64 | None = None, threads: int | None = None
) -> NDArray[np.int64]:
    """Returns (m,) the triangles of the result that all bounds predict in each triangle of a mesh, 1 at least.

    Arguments are those of `predicted_triangles`.
    """
    if bounds.local:
        return _weights(*predicted_triangles(mesh, bounds, edges=edges, lines=lines, threads=threads))
    found = _predicted(mesh, bounds.options, ("weights", "thin"), threads)
    weights: NDArray[np.int64] = found["weights"]
    between, widths, beyond = _channels(mesh, bounds.options, found["thin"], edges, lines, threads)
    if len(between):  # few triangles, whose weights are computed again
        rows = distinct(between, beyond[beyond >= 0]).astype(np.intp)
        again = _predicted(mesh, bounds.options, ("by_angle", "by_size"), threads, rows)
        places = np.where(beyond >= 0, np.searchsorted(rows, beyond), -1)
        _add_channels(again["by_angle"], np.searchsorted(rows, between), widths, places)
        weights[rows] = _weights(again["by_angle"], again["by_size"])
    return weights


def _predicted(
    mesh: Mesh,
    options: RefineOptions,
    wanted: Collection[str],
    threads: int | None,
    rows: NDArray[np.intp] | None = None,
) -> dict[str, NDArray[Any]]:
    """Returns what `predict` finds without channels, and without bounds by place."""
    demand = Demand(
        cosine_squared=thresholds(options).cosine_squared,
        long_edge=LONG_FOR_HEIGHT,
        for_skinny=FOR_A_SKINNY_TRIANGLE,
        over_fewest=OVER_THE_FEWEST,
        max_area=np.inf if options.max_area is None else options.max_area,
        most=MOST_WEIGHT,
    )
    return predict(mesh.vertices, mesh.triangles, demand, mesh.area_bounds, wanted, thread_count(threads), rows)


def _weights(by_angle: Float, by_size: Float) -> NDArray[np.int64]:
    return np.ceil(np.minimum(np.maximum(by_angle, by_size), MOST_WEIGHT)).astype(np.int64)


def _channels(
    mesh: Mesh,
    options: RefineOptions,
    thin: NDArray[np.bool_],
    edges: Edges | None,
    lines: Int64 | None,
    threads: int | None,
) -> tuple[NDArray[np.intp], Float, Int]:
    """Returns what `_between_segments` does of thin triangles, with the widths that count for a bound on angles."""
    between, widths, beyond = _between_segments(mesh, np.flatnonzero(thin), edges, lines, threads)
    share = (options.min_angle or 0.0) / 30.0
    return between, widths * (share * np.sqrt(share)), beyond  # about as numbers of triangles grow (measured)


def _add_channels(by_angle: Float, between: NDArray[np.intp], widths: Float, beyond: NDArray[np.integer[Any]]) -> None:
    """Adds to what triangles need: those `between` two walls, and `beyond` them, -1 if there is none."""
    by_angle[between] = np.maximum(by_angle[between], FOR_A_WIDTH * widths)
    inner = beyond >= 0
    np.add.at(by_angle, beyond[inner], BEYOND_A_WIDTH * widths[inner])


def _by_size(mesh: Mesh, bounds: Bounds, area: Float, by_size: Float) -> Float:
    """Predicts what all bounds on sizes need in the triangles, which have these areas.

    Args:
        by_size: what the largest areas need.
    """
    local = bounds.local
    if local.max_edge is None and local.area_root is None:
        return by_size
    (ax, bx, cx), (ay, by, cy) = (values[mesh.triangles.T] for values in mesh.vertices.T)
    centroids = np.stack([(ax + bx) + cx, (ay + by) + cy], axis=1) / 3
    if local.max_edge is not None:
        sizes = local.max_edge(centroids)
        by_size = np.maximum(by_size, OVER_EQUILATERAL * area / (np.sqrt(3) / 4 * sizes * sizes))
    if local.area_root is not None:
        by_size = np.maximum(by_size, OVER_THE_FEWEST * area / local.area_root(centroids) ** 2)
    return by_size


MOST_WIDTHS = 2.0**24  # of a channel; between segments that all but touch, coordinates end before the triangles
LONG_FOR_HEIGHT = 4.0  # of an edge over the height of a triangle that may lie between two segments
# Triangles of the result per width of a channel and side, to 30 degrees (measured): inside, and beyond a wall with
# triangles on both sides, which are as small at the wall and grow with the distance from it.
FOR_A_WIDTH, BEYOND_A_WIDTH = 0.6, 2.0


def _between_segments(
    mesh: Mesh, triangles: NDArray[np.intp], edges: Edges | None, lines: Int64 | None, threads: int | None
) -> tuple[NDArray[np.intp], Float, Int]:
    """Finds where two segments face each other, as the walls of a channel do.

    There edges get about as long as the segments are apart. Such segments are edges of two triangles side by side, and
    the opposite corner of each is above its segment, or farther from it than from the space above it. A vertex near one
    segment needs far fewer triangles, and so do consecutive segments that form an obtuse angle.

    Args:
        triangles: (k,) the skinny triangles of the mesh; edges, lines, threads: as for `predicted_triangles`.

    Returns:
        Those between two segments, the length of the channel over its width for each, and the triangle beyond its wall,
        -1 if there is none.
    """
    known = np.sort(edge_keys(mesh.segments[:, 0], mesh.segments[:, 1]))
    wall, lengths, heights = walls(mesh.vertices, mesh.triangles, triangles, known, thread_count(threads))
    there = wall >= 0
    triangles, wall, lengths, heights = triangles[there], wall[there], lengths[there], heights[there]
    if not len(triangles):
        return triangles, lengths, np.empty(0, np.int32)
    rows, place = np.arange(len(triangles)), np.full(len(mesh.triangles), -1, np.int32)
    place[triangles] = rows
    across = (mesh.neighbours if edges is None else edges.neighbours)[triangles]
    beyond = across[rows, wall]
    across[rows, wall] = -1
    beside = np.where(across >= 0, place[across], -1)
    if edges is not None and lines is not None:
        ends = lines[edges.segments[triangles, wall]]
    else:
        ends = np.stack([mesh.triangles[triangles, (wall + 1) % 3], mesh.triangles[triangles, (wall + 2) % 3]], axis=1)
    meet = (ends[:, None, :, None] == ends[beside][:, :, None]).any(axis=(2, 3))
    shared = np.where((beside >= 0) & ~meet, np.minimum(lengths[beside], lengths[:, None]), 0.0)
    facing = shared.argmax(axis=1)
    shared, other = shared[rows, facing], heights[beside[rows, facing]]
    # From one end to the other the distance grows or falls from one height to the other one: the logarithmic mean.
    ratio = np.log(other / heights)
    apart = np.where(np.abs(ratio) > 1e-3, (other - heights) / np.where(ratio == 0.0, 1.0, ratio), heights)
    found = (shared > LONG_FOR_HEIGHT * apart) & (shared < MOST_WIDTHS * apart)
    return triangles[found], shared[found] / apart[found], beyond[found]
