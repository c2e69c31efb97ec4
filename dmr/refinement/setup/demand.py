"""Estimates of a refinement's size: the fewest triangles that area bounds allow, and the default limit on points."""

from __future__ import annotations

import math

import numpy as np

from dmr.common.text import option
from dmr.errors import OptionError
from dmr.memory import Device, sum_float64
from dmr.mesh.coordinates import LARGEST, check_coordinates
from dmr.mesh.shapes import bounding_box, triangle_areas
from dmr.mesh.types import Float, Mesh
from dmr.refinement.options import OBSERVED_CONFORMING_LIMIT, OBSERVED_LIMIT, RefineOptions
from dmr.refinement.setup.samples import samples_of
from dmr.refinement.setup.slits import check_slits
from dmr.refinement.state.device_mesh import MOST_TRIANGLES, DeviceMesh
from dmr.refinement.steps.local_bounds import LocalBounds
from dmr.sizing.source import SizeSource
from dmr.triangulation.deferred import distinct_area_bounds, has_area_bounds, has_triangles, triangle_count

EQUILATERAL = math.sqrt(3) / 4  # area of an equilateral triangle with sides of 1

# A mesh of up to this many triangles may consist of a few long ones, whose shapes determine how many points they need;
# in a larger mesh the number of triangles does.
FEW_TRIANGLES = 2**16
MOST_ASPECT = 2.0**22  # bound on a triangle's aspect ratio: beyond it the coordinates matter, and not its shape

# Crossings of segments from which on a user is told of them, also as a multiple of the vertices that were drawn.
MANY_CROSSINGS, MANY_PER_VERTEX = 100_000, 10
# Triangles per crossing at 30 degrees: 20 in random segments, 45 to 52 where 100 to 500 almost meet in one point.
TRIANGLES_PER_CROSSING = (20, 50)


def check_demand(mesh: Mesh, max_area: float | None) -> None:
    """Refuses area bounds that no mesh can meet.

    Args:
        mesh: the mesh to refine, with its own `area_bounds`.
        max_area: the bound that holds everywhere, if there is one.

    Raises:
        OptionError: gives the number of triangles needed, and the largest number possible.
        InvalidMeshError: a coordinate is out of range; names the vertex.
    """
    needed = least_triangles(mesh, max_area)
    if needed > MOST_TRIANGLES:
        bound = "the bounds on areas need" if max_area is None else f"{option('max_area', max_area)} needs"
        if max_area is not None and has_area_bounds(mesh):
            bound = f"{option('max_area', max_area)} and the mesh's own bounds on areas need"
        raise OptionError(
            f"{bound} at least {needed:.3g} triangles, and a mesh can have {MOST_TRIANGLES:,} at most: "
            "use larger bounds"
        )


def crossing_warnings(given: int, mesh: Mesh) -> list[str]:
    """Warns of segments that cross so often that the mesh is much larger than what was drawn.

    Args:
        given: the number of vertices of the outline; mesh: its triangulation, in which crossings are vertices, too.
    """
    crossings = len(mesh.vertices) - given
    if crossings < max(MANY_CROSSINGS, MANY_PER_VERTEX * given):
        return []
    few, many = (f"{count * crossings / 1e6:,.0f}" for count in TRIANGLES_PER_CROSSING)
    return [
        f"segments cross in {crossings:,} places, and refinement to 30 degrees commonly makes "
        f"{TRIANGLES_PER_CROSSING[0]} to {TRIANGLES_PER_CROSSING[1]} triangles around each, {few} to {many} million in "
        f"all: draw fewer segments, or limit the run by {option('max_steiner')} or {option('max_seconds')}"
    ]


def check_length(mesh: Mesh, name: str, length: float) -> None:
    """Refuses one edge length for all places with which equilateral triangles are more than a mesh can have.

    Args:
        mesh: the mesh to refine; name: of the option, size or max_edge; length: its value.

    Raises:
        OptionError: gives the largest number possible.
        InvalidMeshError: a coordinate is out of range; names the vertex.
    """
    most = MOST_TRIANGLES * (EQUILATERAL * length * length)
    x0, y0, x1, y1 = _box(mesh)  # takes less time than areas, and nearly always suffices
    if (x1 - x0) * (y1 - y0) > most and float(np.abs(triangle_areas(mesh)).sum()) > most:
        raise OptionError(
            f"{option(name, length)} needs more than {MOST_TRIANGLES:,} triangles, the most that a mesh can have: use "
            "a larger one"
        )


def check_sizes(mesh: Mesh, name: str, sizes: SizeSource, host: Device) -> None:
    """Refuses sizes that are so small in half of the domain that this needs more triangles than a mesh can have.

    The other half counts as coarse, so that a few small sizes, such as those beside a singularity, refuse nothing.
    Meshes whose triangles are on a device only, and those of many triangles, are not examined.

    Args:
        mesh: the mesh to refine; name: of the option, size or max_edge; sizes: its value; host: evaluates them.

    Raises:
        OptionError: gives an estimate of the triangles needed, and the largest number possible.
        InvalidMeshError: a coordinate is out of range; names the vertex.
    """
    if not has_triangles(mesh) or len(mesh.triangles) > MOST_SAMPLED:
        return
    x0, y0, x1, y1 = _box(mesh)
    few = mesh.triangles[:: max(len(mesh.triangles) // FEW_GLANCES, 1)]
    smallest = float(sizes.at(mesh.vertices[few].mean(axis=1), host).min())
    if (x1 - x0) * (y1 - y0) <= MOST_TRIANGLES * (EQUILATERAL * smallest * smallest):
        return  # nearly always; takes less time than samples
    samples = samples_of(mesh, count=GLANCES)
    there, shares = sizes.at(samples.places, host), samples.shares.content()
    largest_first = np.argsort(-there, kind="stable")
    coarse = np.cumsum(shares[largest_first])
    median = there[largest_first[np.searchsorted(coarse, 0.5 * coarse[-1])]]
    with np.errstate(divide="ignore", over="ignore"):
        needed = 0.5 * coarse[-1] / (EQUILATERAL * median * median)
    if needed > MOST_TRIANGLES:
        raise OptionError(
            f"{option(name)} asks for edges of at most {median:.3g} in half of the domain, which needs about "
            f"{needed:.1g} triangles, and a mesh can have {MOST_TRIANGLES:,} at most: use larger sizes"
        )


def least_triangles(mesh: Mesh, max_area: float | None) -> float:
    """Returns a lower bound on the triangles of a refinement: an area A needs A / a triangles of area at most a.

    Bounds that change from one triangle to the next stay roughly in place, and the sum is about right for them.
    Returns 0 early if the bounding box of the mesh shows that there are few enough.
    """
    if max_area is None and not has_area_bounds(mesh):
        return 0.0
    everywhere = math.inf if max_area is None else max_area
    own = distinct_area_bounds(mesh)
    least = min(everywhere, math.inf if own is None else float(own[own > 0].min(initial=math.inf)))
    x0, y0, x1, y1 = _box(mesh)
    with np.errstate(over="ignore"):
        if (x1 - x0) * (y1 - y0) / least <= MOST_TRIANGLES:
            return 0.0
    return _area_over_bounds(mesh, _bounds(mesh, max_area))


def _box(mesh: Mesh) -> tuple[float, float, float, float]:
    """Returns the bounding box of a mesh that is not admitted yet.

    Raises:
        InvalidMeshError: it is so large that areas overflow, or not a number; names the vertex.
    """
    box = bounding_box(mesh.vertices)
    if not all(abs(value) <= LARGEST for value in box):
        check_coordinates(mesh.vertices)
    return box


def _bounds(mesh: Mesh, max_area: float | None) -> Float:
    """Returns the area bound of each triangle, or one entry for all of them; infinity means no bound."""
    own, everywhere = mesh.area_bounds, np.inf if max_area is None else max_area
    return np.full(1, everywhere) if own is None else np.where(own > 0, np.minimum(own, everywhere), everywhere)


def _area_over_bounds(mesh: Mesh, bounds: Float) -> float:
    """Returns the sum over the triangles of area over area bound."""
    with np.errstate(over="ignore"):
        return float((np.abs(triangle_areas(mesh)) / bounds).sum())


def area_over_bounds(state: DeviceMesh, max_area: float | None) -> float:
    """Returns the sum over the triangles of an admitted mesh of area over area bound, by kernels."""
    device = state.device
    ratios = device.empty(state.slots, np.float64)
    everywhere = math.inf if max_area is None else max_area
    device.launch(
        "area_ratios", state.slots, state.triangles, state.points, state.ancestor, state.area_bounds, everywhere, ratios
    )
    return sum_float64(ratios)


# Triangles of a result over the fewest possible, if area bounds determine them (measured, at 30 degrees).
OVER_THE_FEWEST = 1.6


def expected_triangles(state: DeviceMesh, options: RefineOptions) -> int:
    """Estimates the triangles that the area bounds need; 0 for a large input, whose size determines the allocation."""
    if state.slots > FEW_TRIANGLES or (state.area_bounds is None and options.max_area is None):
        return 0
    fewest = area_over_bounds(state, options.max_area)
    most = MOST_TRIANGLES if options.max_steiner is None else 2 * options.max_steiner
    return int(min(OVER_THE_FEWEST * fewest, most))


# Triangles of a result over those that are equilateral with sides as long as the bound on edges (measured).
OVER_EQUILATERAL = 2.1
GLANCES = 2**8  # samples that distinguish even sizes from others
FEW_GLANCES = 2**4  # triangles at which sizes are compared with the whole domain first
MOST_SAMPLED = 2**20  # triangles of an input whose demand is estimated


def estimated_triangles(mesh: Mesh | DeviceMesh, options: RefineOptions, bounds: LocalBounds[SizeSource]) -> float:
    """Estimates how many triangles the bounds on areas and edges need, for a progress bar; 0 without such bounds.

    Kernels evaluate samples in the triangles, where the mesh is: nothing but the sum leaves the device.
    """
    if isinstance(mesh, DeviceMesh):
        has_own, count = mesh.area_bounds is not None, mesh.slots
    else:
        has_own, count = has_area_bounds(mesh), triangle_count(mesh)
    if (options.max_area is None and not has_own and not bounds) or not 0 < count <= MOST_SAMPLED:
        return 0.0
    samples = samples_of(mesh, options.max_area)
    device = samples.points.device
    factors = LocalBounds(OVER_EQUILATERAL / (OVER_THE_FEWEST * EQUILATERAL), 1.0)
    for source, factor in bounds.beside(factors):
        lengths = device.empty(samples.count, np.float64)
        source.on(device).evaluate(samples.points, samples.count, lengths)
        samples.raise_demands(lengths, factor)
    return OVER_THE_FEWEST * sum_float64(samples.demands)


def target_triangles(mesh: Mesh, sizes: SizeSource) -> float:
    """Estimates how many equilateral triangles with the wanted sizes fill a mesh, for a progress bar."""
    if len(mesh.triangles) > MOST_SAMPLED:
        return 0.0
    samples = samples_of(mesh)
    there = sizes(samples.places)
    return float((samples.shares.content() / (EQUILATERAL * there * there)).sum())


def is_even(mesh: Mesh, sizes: SizeSource, device: Device) -> bool:
    """Whether the sizes, evaluated on a device, are the same at samples in a mesh, as far as these can tell."""
    if sizes.number is not None:
        return True
    if len(mesh.triangles) > MOST_SAMPLED:
        return False
    places = samples_of(mesh, count=GLANCES).places
    there = sizes.at(places[:: max(len(places) // GLANCES, 1)], device)
    return bool((there == there[0]).all())


def default_budget(
    mesh: Mesh, options: RefineOptions, aspects: float, *, sized: bool, state: DeviceMesh | None = None
) -> int:
    """Returns the default limit on the points that a refinement inserts, far above what a sound run needs.

    Args:
        mesh: the input; options: those of the run; sized: whether there are sizes, or bounds by place.
        aspects: `sum_of_aspects` of the input.
        state: the input as it was admitted, if it was.

    The limit is 64 per triangle of the input, plus 1,000,000, plus 8 times the sum of area over area bound, plus 8
    times the sum over triangles of longest edge over height; plus 2^26 with sizes or bounds by place, whose demand
    cannot be known ahead.

    Raises:
        InvalidMeshError: there is a slit so narrow that no mesh could have the triangles between its walls.
    """
    if aspects >= MOST_ASPECT and options.keep_segments == "none" and options.max_seconds is None:
        check_slits(mesh, options.min_angle)
    by_area = 0.0
    if has_area_bounds(mesh):
        by_area = 8.0 * (
            _area_over_bounds(mesh, _bounds(mesh, options.max_area))
            if state is None
            else area_over_bounds(state, options.max_area)
        )
    elif options.max_area is not None:
        x0, y0, x1, y1 = bounding_box(mesh.vertices)
        by_area = 8.0 * (x1 - x0) * (y1 - y0) / options.max_area
    highest = OBSERVED_CONFORMING_LIMIT if options.conforming else OBSERVED_LIMIT
    by_shape = 8.0 * aspects if options.min_angle <= highest else 0.0
    by_size = 0 if not sized else 2**26
    return int(min(64 * triangle_count(mesh) + 1_000_000 + by_area + by_shape + by_size, 2**30))


def sum_of_aspects(state: DeviceMesh, *, ordered: bool = True) -> float:
    """Returns the sum over all triangles of longest edge over its height; 0 for a mesh of many triangles.

    Args:
        state: the mesh.
        ordered: whether it is ordered, so that a sum in the order of its triangles has the same bits everywhere.
    """
    if state.slots > FEW_TRIANGLES:
        return 0.0
    ratios = state.device.empty(state.slots, np.float64)
    state.device.launch("aspect_ratios", state.slots, state.triangles, state.points, MOST_ASPECT, ratios)
    return sum_float64(ratios) if ordered else math.fsum(ratios.download().tolist())
