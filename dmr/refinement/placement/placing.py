"""Places points by size in a domain, and triangulates them.

    divide the segments                    in pieces of about the sizes, along whole chains    (chains)
    place points                           by a front that starts from the pieces              (front)
    triangulate                            all points, with the pieces as constraints          (dmr.triangulation)
    smooth                                 the placed points                                   (smoothing)

The refinement that follows makes all angles at least as large as the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import sum_in_order
from dmr.memory import Device, open_device
from dmr.mesh.location.background import DeviceBackground
from dmr.mesh.provenance import Links, record_triangulation
from dmr.mesh.types import Float, Int, Mesh, Pslg
from dmr.refinement.placement.chains import ALMOST, Division, divide
from dmr.refinement.placement.closer import AIM, LEAST, TRIES, longest_mean_edge, mean_edge
from dmr.refinement.placement.coarse_front.extension import extended
from dmr.refinement.placement.front import Front, Outline
from dmr.refinement.placement.lattice import fitting_size
from dmr.refinement.placement.metric import lengths
from dmr.refinement.placement.outline import Segments
from dmr.refinement.placement.reporting import Report, Shares, shares_of
from dmr.refinement.placement.rounding import Doubles, beside_lost, corners_of, crossing
from dmr.refinement.placement.targets import SPACED, Multiple, multiple, smallest
from dmr.refinement.rounds.time_limit import TimeLimit
from dmr.refinement.setup.demand import is_even, target_triangles
from dmr.refinement.state.records import POINT
from dmr.sizing.functions import EqualSizes
from dmr.sizing.segment_sizes import SegmentSizes
from dmr.sizing.size_field import SizeField
from dmr.sizing.source import SizeSource
from dmr.triangulation.meshing import OnDevice, fastest_plane
from dmr.triangulation.plane import Plane
from dmr.triangulation.rounds.triangles import DeviceTriangles

FINE = 0.79  # a piece shorter than this many sizes makes the sizes around it smaller
# Where sizes vary, they grow from it by GROWTH per unit of distance, unless the user says otherwise. Where such pieces
# are shorter than REFERENCE sizes on average, they grow faster, so that fewer triangles lie between both lengths, but
# not faster than STEEPEST: angles have a bound. They grow by at least FASTER than those wanted within BESIDE sizes, or
# would be lowered everywhere around such pieces.
GROWTH, REFERENCE, STEEPEST = 0.5, 0.6, 1.0
FASTER, BESIDE = 0.2, 8.0
SHORT = 3.0  # sizes: if some segment is shorter, all shorter pieces make one size for all places smaller around them
POINTS_PER_SECOND = 1e6  # with a limit on seconds, a lattice has no more points: the steps after it are not cut short


@dataclass(frozen=True, eq=False)
class Placement:
    """A mesh with placed points, and where its vertices and segments come from.

    Attributes:
        given_mesh: the input.
        mesh: first the vertices of the input, then those on segments, then those that the front has placed. All pieces
            of segments are named, with the markers of their segments.
        segments: of the input; origin: (p,) int32, the segment of each piece; division: the vertices on segments.
        doubles: further ones, which vertices of the input represent.
        even: whether points are placed with one size everywhere.
        on_device: the triangulation of the mesh, if it is still on the device that made it.
    """

    given_mesh: Mesh
    mesh: Mesh
    segments: Segments
    origin: Int
    division: Division
    doubles: Doubles
    even: bool
    on_device: OnDevice | None = None

    @property
    def given(self) -> int:
        """The number of vertices of the input."""
        return len(self.given_mesh.vertices)

    @property
    def on_segments(self) -> int:
        """The number of vertices on segments."""
        return len(self.division.segment)

    @property
    def placed(self) -> int:
        """The number of vertices that the front has placed."""
        return len(self.mesh.vertices) - self.given - self.on_segments


class Pieces(NamedTuple):
    """The pieces of a divided outline.

    Attributes:
        points: (n, 2) first the vertices of the mesh; ends: (p, 2) int32 points; origin: (p,) int32 segments.
    """

    points: Float
    ends: Int
    origin: Int


@dataclass(frozen=True, eq=False)
class DividedOutline:
    """The segments of a mesh, divided by size.

    Attributes:
        segments: of the mesh; everywhere: the division of all of them, also of those that are kept.
        pieces: those of this division.
        nearby: smaller sizes around short pieces of the outline; sizes: the smallest of these and those wanted.
        filling: (k, 2) points that fill the domain, if they are known from the extension of sizes from such pieces.
        even: whether one size is wanted everywhere.
    """

    segments: Segments
    everywhere: Division
    pieces: Pieces
    nearby: tuple[SizeSource, ...]
    filling: Float | None
    sizes: SizeSource
    even: bool

    @property
    def interpolated(self) -> bool:
        """Whether no sizes in the interior are smaller than all at the outline: one size, or those of `extended`."""
        if not self.nearby:
            return self.even
        return all(isinstance(source, SizeField) for source in self.nearby)

    @property
    def shares(self) -> Shares:
        """The parts of a placement that are done after its steps."""
        return shares_of(even=self.even, finer=bool(self.nearby))


def divide_outline(
    mesh: Mesh,
    acute: NDArray[np.uint8],
    sizes: SizeSource,
    device: Device,
    *,
    keep_segments: str,
    growth: float | None,
    most: int,
    fitted: bool = False,
    even: bool | None = None,
    closer: float = 1.0,
    whole: bool = False,
) -> DividedOutline:
    """Divides the segments of a mesh by size.

    Args:
        mesh: a valid mesh with counter-clockwise triangles; only its vertices, its segments and its domain matter.
        acute: (n,) 1 at vertices with a corner below 60 degrees.
        sizes: the wanted edge lengths, evaluated by kernels; inf where no points are wanted.
        device: that of the placement.
        keep_segments: which segments are not divided, as in `RefineOptions`.
        growth: of the sizes around pieces of the outline that are shorter, per unit of distance; None for the default.
        most: the most points to insert.
        fitted: whether the size is changed a little where segments then are rows of one lattice.
        even: whether one size is wanted everywhere, if that is known.
        closer: factor of sizes that vary if some segment is shorter than 3 of them.
        whole: whether `fill` is called with the sizes of this outline, for the whole domain.
    """
    host = device if device.threads else open_device("cpu")  # few places at a time
    segments = Segments.of(mesh, acute, keep_segments)
    if even is None:
        even = is_even(mesh, sizes, host)
    if closer != 1.0 and not even and _has_short(mesh, segments, sizes, host):
        sizes = multiple(sizes, closer)
    fitting = None
    if fitted and sizes.number is not None and not (segments.kept.any() or acute.any()):
        fitting = fitting_size(mesh.vertices, segments.ends, sizes.number)
    if fitting is not None:
        sizes = EqualSizes(fitting)
    everywhere = divide(mesh.vertices, segments, sizes, host, most, even=even, fits=fitting is not None)
    outline = _divided(mesh, segments, everywhere, device)
    nearby, filling = _beside_fine_pieces(mesh, segments, outline, sizes, growth, host, whole=whole)
    if nearby:
        lowered = smallest(sizes, *nearby)
        assert lowered is not None
        if filling is None and (sizes.number is None or _has_coarse(outline, nearby[0])):
            # Long segments near fine ones need more pieces: the front does not cross short ones.
            finer = divide(mesh.vertices, segments, lowered, host, most, even=even)
            changed = everywhere.where_coarse(finer, len(segments.ends))
            if changed is not everywhere:
                everywhere, outline = changed, _divided(mesh, segments, changed, device)
        sizes = lowered
    return DividedOutline(segments, everywhere, outline, nearby, filling, sizes, even)


def _has_short(mesh: Mesh, segments: Segments, sizes: SizeSource, device: Device) -> bool:
    """Whether some segment is shorter than 3 sizes at its midpoint."""
    start, end = (mesh.vertices[segments.ends[:, k]] for k in range(2))
    found = sizes.at(start + 0.5 * (end - start), device)
    return bool((SPACED * lengths(end - start) < ALMOST * SHORT * found).any())


def fill(
    mesh: Mesh,
    divided: DividedOutline,
    sizes: SizeSource,
    device: Device,
    *,
    lattice: bool,
    most: int,
    limit: TimeLimit,
    passes: bool = False,
    report: Report | None = None,
) -> Placement:
    """Places points between the pieces of an outline, and triangulates them.

    Args:
        mesh: that of `divide_outline`; divided: its outline; sizes: with which points are placed.
        device: where the front runs.
        lattice: whether a lattice may be placed where nearly one size is wanted.
        most: the most points to insert; the first ones of the front are placed.
        limit: the limit on seconds, which ends the front.
        passes: whether segments may pass through vertices of the input that lie on them but for rounding: those of a
            graph do, those of a mesh become chains of new vertices only.
        report: called several times with the part of the placement that is done.
    """
    segments, everywhere, shares = divided.segments, divided.everywhere, divided.shares
    division = everywhere.without(np.flatnonzero(segments.kept))
    if len(division.segment) > most:
        division = Division(division.segment[:most], division.parameter[:most])
    pieces = divided.pieces if division is everywhere else _divided(mesh, segments, division, device)
    while True:
        left = most - len(division.segment)
        if divided.filling is not None:
            placed = divided.filling[:left]
        else:
            in_time = min(left, limit.left * POINTS_PER_SECOND)
            outline = _outline(mesh, divided, division, pieces, device)
            front = Front(
                outline, sizes, device, left, lattice=int(in_time) if lattice else 0, interpolated=divided.interpolated
            )
            advances = None if report is None else _front_report(mesh, sizes, report, shares.front, front.in_lattice)
            placed = front.run(limit, advances)
            if lattice and len(placed) < in_time:
                placed = _placed_closer(mesh, divided, division, outline, placed, sizes, device, int(in_time), limit)
        if report is not None:
            report(shares.front)
        vertices, plane = _triangulated(pieces.points, placed, pieces.ends, device)
        if report is not None:
            report(shares.triangulated)
        spoiled = crossing(plane, pieces.origin)
        if not spoiled.size:
            doubles = Doubles.of(division, len(mesh.vertices), plane.same_as)
            spoiled = doubles.refused(passes=passes)
        if not spoiled.size:
            spoiled = beside_lost(mesh, segments, division, len(vertices), plane, pieces.origin, device)
        if not spoiled.size:
            break
        # Rounding has moved a vertex of a segment across something that is very near: that segment stays whole.
        division = division.without(spoiled)
        pieces = _divided(mesh, segments, division, device)
    origin = pieces.origin[plane.edge_segments]
    made, on_device = _mesh(mesh, segments, division, doubles, vertices, plane, origin, device)
    if report is not None:
        report(shares.filled)
    even = divided.even and lattice and not divided.nearby
    return Placement(mesh, made, segments, origin, division.without_rows(doubles.rows), doubles, even, on_device)


def _placed_closer(
    mesh: Mesh,
    divided: DividedOutline,
    division: Division,
    outline: Outline,
    placed: Float,
    sizes: SizeSource,
    device: Device,
    most: int,
    limit: TimeLimit,
) -> Float:
    """Returns points that are placed a little closer to each other, where Gmsh has more triangles (`closer`).

    Args:
        mesh, divided, sizes, device, limit: those of `fill`; division, outline: of the segments.
        placed: the points, which are returned if others would not be better; most: the most points to place.
    """
    if not divided.even or divided.nearby:
        return placed
    host = device if device.threads else open_device("cpu")
    spacing = float(sizes.at(mesh.vertices[:1], host)[0])
    longest = longest_mean_edge(mesh, divided.segments, spacing)
    edge = shortest = mean_edge(mesh, divided.segments, division, len(placed), spacing)
    factor, tries = 1.0, 0
    while shortest > longest and tries < TRIES and not limit.over:
        factor, tries = factor * AIM / edge, tries + 1
        closer = Multiple(sizes, factor) if sizes.number is None else EqualSizes(spacing * factor)  # the same sizes
        again = Front(outline, closer, device, most, lattice=most, interpolated=divided.interpolated).run(limit, None)
        edge = mean_edge(mesh, divided.segments, division, len(again), spacing)
        if LEAST <= edge < shortest:
            placed, shortest = again, edge
    return placed


def triangulated_with(mesh: Mesh, segments: Segments, points: Float, device: Device) -> Placement:
    """Triangulates the vertices of a mesh and further points in its domain; no segment is divided.

    Args:
        mesh: a valid mesh; segments: its segments; points: (n, 2); device: that of the placement.
    """
    vertices, plane = _triangulated(mesh.vertices, points, segments.ends, device)
    division = Division(np.empty(0, np.int32), np.empty(0))
    doubles = Doubles.of(division, len(mesh.vertices), None)
    made, on_device = _mesh(mesh, segments, division, doubles, vertices, plane, plane.edge_segments, device)
    return Placement(mesh, made, segments, plane.edge_segments, division, doubles, even=False, on_device=on_device)


def _triangulated(outline: Float, placed: Float, pieces: Int, device: Device) -> tuple[Float, Plane]:
    """Triangulates the vertices of an outline and placed points, with the pieces as constraints.

    Where sizes are below the resolution of the coordinates, rounding can put a point on a piece. It is left out: all
    vertices on segments come from their division, or from refinement.

    Returns:
        The vertices, those of the outline first, and their triangulation.
    """
    while True:
        vertices = np.concatenate([outline, placed])
        plane = fastest_plane(Pslg.unchecked(vertices=vertices, segments=pieces), device)
        is_placed = (plane.edges >= len(outline)) & (plane.edges < len(vertices))
        if not is_placed.any():
            return vertices, plane
        on_pieces = np.unique(plane.edges[is_placed])
        placed = np.delete(placed, on_pieces - len(outline), axis=0)


def _front_report(mesh: Mesh, sizes: SizeSource, report: Report, share: float, first: int) -> Callable[[int], object]:
    """Returns a function of the number of points that reports the part of the work that is done; `first` of them are
    there at the beginning."""
    expected = max(0.5 * target_triangles(mesh, sizes) - first, 1.0)
    return lambda points: report(share * min((points - first) / expected, 1.0))


def division_vertices(mesh: Mesh, segments: Segments, division: Division, device: Device) -> Float:
    """Returns the vertices on segments, evaluated on them with one rounding."""
    count = len(division.segment)
    places = device.empty(count, POINT)
    device.launch(
        "points_on_segments", count, device.array(mesh.vertices, POINT), device.array(segments.ends.reshape(-1)),
        device.array(division.segment), device.array(division.parameter), places,
    )  # fmt: skip
    found: Float = places.download().view(np.float64).reshape(-1, 2)
    return found


def _outline(mesh: Mesh, divided: DividedOutline, division: Division, pieces: Pieces, device: Device) -> Outline:
    """Returns the outline for the front.

    Kept segments are divided there, too, so that the front advances from them; but not where the domain beside them is
    narrow: points between two walls that are not divided would only make the triangles there flatter.
    """
    segments = divided.segments
    if segments.kept.any():
        middles = 0.5 * (mesh.vertices[segments.ends[:, 0]] + mesh.vertices[segments.ends[:, 1]])
        narrow = segments.beside_narrow(mesh, divided.sizes.at(middles, open_device("cpu")))
        division = division.joined(divided.everywhere.without(np.flatnonzero(~segments.kept | narrow)))
        pieces = _divided(mesh, segments, division, device)
    backwards = pieces.ends[segments.right[pieces.origin]][:, ::-1]
    fronts = np.concatenate([pieces.ends, backwards])
    return Outline(pieces.points, pieces.ends, fronts, segments.ends[~segments.right])


def _divided(mesh: Mesh, segments: Segments, division: Division, device: Device) -> Pieces:
    points = np.concatenate([mesh.vertices, division_vertices(mesh, segments, division, device)])
    return Pieces(points, *division.pieces(segments.ends, len(mesh.vertices)))


def _beside_fine_pieces(
    mesh: Mesh,
    segments: Segments,
    outline: Pieces,
    sizes: SizeSource,
    growth: float | None,
    device: Device,
    *,
    whole: bool,
) -> tuple[tuple[SizeSource, ...], Float | None]:
    """Returns smaller sizes around pieces of the outline that are shorter than wanted, and the `filling`.

    They grow with the distance from these. One size for all places says nothing about the interior in particular:
    there, unless `growth` is given, lengths of pieces are interpolated across the domain instead.
    """
    points, pieces, origin = outline
    # In units of which points are placed with a size of one.
    length = SPACED * lengths(points[pieces[:, 1]] - points[pieces[:, 0]])
    wanted = sizes.at(points, device)
    there = np.minimum(wanted[pieces[:, 0]], wanted[pieces[:, 1]])
    if sizes.number is not None and growth is None:
        undivided = lengths(mesh.vertices[segments.ends[:, 1]] - mesh.vertices[segments.ends[:, 0]])[origin]
        some_short = bool((SPACED * undivided < ALMOST * SHORT * there).any())
        shorter = np.isfinite(there) & (length < (1.0 if some_short else FINE) * there)
        if not shorter.any():
            return (), None
        threshold = sizes.number * (1.0 if some_short else FINE)
        found = extended(
            points, pieces, segments.right[origin], sizes.number, threshold, smaller=some_short,
            whole=whole and some_short and not segments.kept.any(),
        )  # fmt: skip
        return (found.sizes,), found.filling
    fine = np.isfinite(there) & (length < FINE * there)
    if not fine.any():
        return (), None
    start, end = (points[pieces[fine, k]] for k in range(2))
    if growth is None:
        mean = sum_in_order(length[fine] / there[fine]) / int(fine.sum())
        wanted_growth = _growth_beside(start, end, there[fine], sizes, device)
        growth = min(max(GROWTH * max(REFERENCE / mean, 1.0), wanted_growth + FASTER), STEEPEST)
    return (SegmentSizes(start, end, length[fine], growth),), None


def _growth_beside(start: Float, end: Float, there: Float, sizes: SizeSource, device: Device) -> float:
    """Returns by how much sizes grow per unit of distance on the left of pieces, on average.

    Args:
        start, end: (p, 2) of the pieces; there: (p,) the sizes there; sizes: those at all places.
    """
    ways = end - start
    left = np.stack([-ways[:, 1], ways[:, 0]], axis=1) / lengths(ways)[:, None]
    away = BESIDE * there
    beside = sizes.at(start + 0.5 * ways + away[:, None] * left, device)
    growth = np.clip((beside - there) / away, 0.0, STEEPEST)
    return sum_in_order(growth) / len(growth)


def _has_coarse(outline: Pieces, lowered: SizeSource) -> bool:
    """Whether lowered sizes could more than double the pieces of a segment.

    A `SizeField` must be that of `extended` for all pieces.
    """
    if not isinstance(lowered, SizeField):
        return True
    # `extended` gives sizes at the points first, and they are linear along pieces: the trapezoidal rule is not below
    # the integral of 1/h.
    density = 1.0 / lowered.values[outline.ends]
    length = SPACED * lengths(outline.points[outline.ends[:, 1]] - outline.points[outline.ends[:, 0]])
    needed = np.bincount(outline.origin, 0.5 * length * (density[:, 0] + density[:, 1]))
    counts = np.bincount(outline.origin)
    return bool((needed >= 2 * counts).any())


def _mesh(
    mesh: Mesh,
    segments: Segments,
    division: Division,
    doubles: Doubles,
    vertices: Float,
    plane: Plane,
    origin: Int,
    device: Device,
) -> tuple[Mesh, OnDevice | None]:
    """Makes the mesh of the domain from the triangulation of the plane.

    Args:
        mesh, segments: the input; division: the vertices on its segments; doubles: those of them that are left out.
        vertices: all; plane: their triangulation; origin: the segment of each edge; device: that of the placement.

    Returns:
        The mesh, and its triangulation, if that is on the device and all that the mesh consists of.
    """
    tables, sides = plane.tables.within(plane.domain(segments.right[origin]), plane.left_side)
    triangles = tables.corners
    used = corners_of(triangles, len(vertices), device)
    fixed = len(mesh.vertices) + len(division.segment)
    used[:fixed] = True
    used[len(mesh.vertices) + doubles.rows] = False
    is_all, edges = bool(used.all()), plane.edges
    if not is_all:  # placed outside of the domain, or doubles
        number = np.cumsum(used, dtype=np.int32) - 1
        vertices, triangles, edges = vertices[used], number[triangles].astype(np.int32), number[edges].astype(np.int32)
    kept = division.without_rows(doubles.rows)
    markers = np.zeros(len(segments.ends), np.int32)
    markers[: segments.named] = segments.markers
    data = _triangle_data(mesh, vertices, triangles, device)
    made = Mesh.unchecked(
        vertices=vertices,
        triangles=np.ascontiguousarray(triangles),
        segments=np.ascontiguousarray(edges),
        segment_markers=markers[origin],
        vertex_markers=_vertex_markers(mesh, segments, kept, doubles, len(vertices)),
        holes=mesh.holes,
        regions=mesh.regions,
        names=mesh.names,
        **data,
        vertex_attributes=_vertex_attributes(mesh, segments, kept, len(vertices)),
    )
    on_device = None
    if is_all and not data and isinstance(tables, DeviceTriangles):
        on_device = OnDevice(tables, sides, None, None)
    links = Links(tables.finding_neighbours(), sides, plane.along if is_all else None)
    return record_triangulation(made, links), on_device


def _vertex_markers(mesh: Mesh, segments: Segments, division: Division, doubles: Doubles, count: int) -> Int | None:
    """Returns the vertex markers: a vertex on a segment takes that of its segment, or 1 on the rest of the boundary.

    A vertex of the input keeps its marker, unless that is 0.
    """
    if mesh.vertex_markers is None:
        return None
    by_segment = np.ones(len(segments.ends), np.int32)
    by_segment[: segments.named] = segments.markers
    markers = np.zeros(count, np.int32)
    markers[: len(mesh.vertices)] = mesh.vertex_markers
    unmarked = markers[doubles.first] == 0
    markers[doubles.first[unmarked]] = by_segment[doubles.segment[unmarked]]
    markers[len(mesh.vertices) :][: len(division.segment)] = by_segment[division.segment]
    return markers


def _triangle_data(mesh: Mesh, vertices: Float, triangles: Int, device: Device) -> dict[str, Any]:
    """Returns what a triangle takes over from the one of the input that its centroid lies in."""
    carried = mesh.triangle_attributes is not None and mesh.triangle_attributes.shape[1] > 0
    if not carried and mesh.area_bounds is None:
        return {}
    a, b, c = (vertices[corner] for corner in triangles.T)
    found = DeviceBackground(mesh, device).places(a + ((b - a) + (c - a)) / 3.0).triangles
    return {
        "triangle_attributes": None if mesh.triangle_attributes is None else mesh.triangle_attributes[found],
        "area_bounds": None if mesh.area_bounds is None else mesh.area_bounds[found],
    }


def _vertex_attributes(mesh: Mesh, segments: Segments, division: Division, count: int) -> Float | None:
    """Returns the vertex attributes: linear along segments. Those of placed points wait for their final places."""
    given = mesh.vertex_attributes
    if given is None or not given.shape[1]:
        return None
    start, end = (given[segments.ends[division.segment, k]] for k in range(2))
    attributes = np.zeros((count, given.shape[1]))
    attributes[: len(given)] = given
    with np.errstate(invalid="ignore", over="ignore"):  # attributes may be infinite
        attributes[len(given) :][: len(start)] = start + division.parameter[:, None] * (end - start)
    return attributes
