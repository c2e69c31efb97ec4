"""`dmr.validate`: exact check of the constrained Delaunay property and of the guarantees of refinement.

The checker is independent of the code that it checks: it uses no native code and none of the kernels' predicates, only
numpy and Python integers. Each check has a name, reports offending elements by number and coordinates, and is a small
function in one of the modules of this package. The arithmetic is that of `dmr.exact`.

Long arrays are processed in pieces on several threads (`dmr.validation.arrays.pieces`); for the cost see
docs/reference/validation.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from numpy.typing import ArrayLike

from dmr.common.arguments import checks_keywords, real_option, switch
from dmr.common.available import require_memory
from dmr.common.text import counted, option
from dmr.common.threads import thread_count
from dmr.errors import OptionError
from dmr.exact import Points
from dmr.mesh.arguments import check_kind
from dmr.mesh.types import Mesh, Pslg, check_indices
from dmr.meshing.conversion import MeshLike, as_mesh_or_domain
from dmr.validation.arrays.pieces import Workers
from dmr.validation.bounds.sizes import (
    Size,
    check_area,
    check_max_area,
    check_max_edge,
    check_own_areas,
    edge_statistics,
)
from dmr.validation.bounds.small_angles import check_angles, straight_candidates
from dmr.validation.bounds.unrefined import Unrefined, check_listed
from dmr.validation.domain.labels import check_region_areas
from dmr.validation.domain.origin import Origin
from dmr.validation.report import Failure, Findings, Report, SmallAngle
from dmr.validation.triangulation.chains import Arcs, Chains
from dmr.validation.triangulation.duplicates import check_duplicates
from dmr.validation.triangulation.geometry import check_delaunay, check_orientation
from dmr.validation.triangulation.overlap import check_overlap
from dmr.validation.triangulation.shapes import TriangleShapes, triangles_below
from dmr.validation.triangulation.topology import (
    Mask,
    Topology,
    check_edges,
    check_neighbours,
    check_segments,
    check_stars,
)

__all__ = ["Failure", "Report", "SmallAngle", "validate"]


@checks_keywords
def validate(
    mesh: Mesh,
    *,
    input: MeshLike | None = None,
    min_angle: float | None = None,
    max_area: float | None = None,
    area: Size | None = None,
    size: Size | None = None,
    max_edge: Size | None = None,
    convex_hull: bool = False,
    unrefined: Mapping[str, ArrayLike] | None = None,
    threads: int | None = None,
) -> Report:
    """Validate a mesh, exactly.

    If a bound is given (`min_angle`, `max_area`, `area` or `max_edge`; `min_angle=0` suffices), the mesh is assumed to
    be refined: then its own area bounds and those of the input's regions are also checked.

    Args:
        mesh: any mesh.
        input: the mesh from which it was refined, or the domain from which it was made, in any form that `refine`
            accepts, to check that vertices, segments, domain, regions and markers are preserved.
        min_angle: degrees, 0 to 60; a lower bound of every angle. Triangles beside input corners of phi < 60 degrees
            are excused down to arctan(sin phi / (2 - cos phi)) and listed in `Report.exceptions`.
        max_area: largest area of a triangle, in squared units of the coordinates.
        area: the same; or a function of (n, 2) points that returns (n,) areas, evaluated at the triangles' centroids.
        size: the target edge lengths, as for `refine`: `Report.statistics` then compares the edges with them, and no
            check fails. A number, or a function that is evaluated at the midpoints of the edges.
        max_edge: upper bound of the edge lengths: a number, or a function of (n, 2) points that returns (n,) lengths
            and is evaluated at the triangles' centroids.
        convex_hull: the domain is the convex hull of the graph's vertices minus its holes, and not only the region that
            its segments enclose. (Without segments this is always so.)
        unrefined: triangles that the refinement left unrefined, by reason (`Refinement.unrefined_triangles`). Those
            listed under "precision" or "kept_segment" are excused if the geometry confirms the reason, and listed in
            `Report.unrefined`. Without this argument, only triangles beside small input corners are excused.
        threads: the number of threads; None for one per core available to this process. The report does not depend on
            it.

    Returns:
        The checks made and their failures; an invalid mesh raises no exception.

    Raises:
        OptionError: an invalid bound or number of threads, or a reason of `unrefined` that refinements do not give.
        InvalidMeshError: a triangle refers to a vertex that does not exist (`Mesh` itself rejects such triangles).
        WrongTypeError: `mesh` is not a Mesh, or `input` not something that `refine` accepts.
    """
    check_kind(mesh, Mesh)
    if input is not None:
        input, convex_hull = as_mesh_or_domain(input, "input", convex_hull=convex_hull)
        check_indices(input)
    min_angle = None if min_angle is None else real_option("min_angle", min_angle)
    max_area = None if max_area is None else real_option("max_area", max_area)
    check_options(input, min_angle, max_area, switch("convex_hull", convex_hull))
    count = len(mesh.triangles)
    require_memory(BYTES_PER_TRIANGLE * count, f"a validation of {counted(count, 'triangle')}")
    findings = Findings()
    workers = Workers(thread_count(threads))
    points = Points(mesh.vertices, workers.map)
    findings.start("triangles")
    if not len(mesh.triangles):
        findings.add("triangles", "mesh", [None], lambda i: "has no triangles")
    shapes = TriangleShapes.of(mesh, points, min_angle, workers)
    topology = Topology.of(mesh.triangles, len(mesh.vertices), workers, shapes.used)
    _check_triangulation(mesh, points, shapes, topology, findings)
    origin = Origin.compare(mesh, input, convex_hull, topology, points, findings)
    chains = origin.chains
    if chains is None and (min_angle is not None or unrefined is not None):
        arcs = Arcs.of(topology, mesh.segments)
        chains = Chains.trace(arcs, straight_candidates(mesh, arcs))
    left = Unrefined.none(len(mesh.triangles))
    if unrefined is not None and chains is not None:
        left = Unrefined.of(mesh, topology, chains, unrefined)
    exceptions: tuple[SmallAngle, ...] = ()
    if min_angle is not None and chains is not None:
        below = triangles_below(mesh, points, shapes.unsure, min_angle, workers)
        unexcused = below[~left.excused[below]]
        exceptions = check_angles(mesh, topology, chains, unexcused, min_angle, findings)
        if unrefined is not None:
            check_listed(mesh, below, left, findings)
    if max_area is not None:
        check_max_area(mesh, points, max_area, findings, left.excused)
    if area is not None:
        check_area(mesh, points, area, findings, left.excused)
    if max_edge is not None:
        check_max_edge(mesh, points, max_edge, findings, left.excused)
    _check_area_bounds(
        mesh,
        points,
        topology,
        origin,
        findings,
        left.excused,
        refined=(min_angle, max_area, area, max_edge) != (None,) * 4,
    )
    return Report(
        failures=tuple(findings.failures),
        counts=findings.counts,
        checked=tuple(findings.checked),
        skipped=findings.skipped,
        statistics=_statistics(mesh, topology, shapes, size),
        exceptions=exceptions,
        unrefined={reason: tuple(triangles.tolist()) for reason, triangles in left.by_reason.items()},
    )


def _statistics(
    mesh: Mesh, topology: Topology, shapes: TriangleShapes, size: Size | None
) -> dict[str, float | int | None]:
    """Returns what `Report.statistics` tells of a mesh, and of its edges if there are target sizes."""
    return {
        "vertices": len(mesh.vertices),
        "unused_vertices": len(mesh.vertices) - int(topology.used.sum()),
        "triangles": len(mesh.triangles),
        "segments": len(mesh.segments),
        "boundary_edges": len(topology.boundary),
        **shapes.statistics,
        **({} if size is None else edge_statistics(mesh, size)),
    }


def _check_triangulation(
    mesh: Mesh, points: Points, shapes: TriangleShapes, topology: Topology, findings: Findings
) -> None:
    """Checks that the mesh is a constrained Delaunay triangulation, whatever it was made from."""
    check_orientation(mesh, shapes, findings)
    check_edges(mesh, topology, findings)
    check_neighbours(mesh, topology, findings)
    check_stars(mesh, topology, shapes, findings)
    check_duplicates(mesh, topology, findings)
    check_segments(mesh, topology, findings)
    check_overlap(mesh, topology, findings)
    check_delaunay(mesh, topology, points, shapes, findings)


def check_options(
    input: Mesh | Pslg | None, min_angle: float | None, max_area: float | None, convex_hull: bool
) -> None:
    if convex_hull and not isinstance(input, Pslg):
        raise OptionError(f"{option('convex_hull')} needs an input Pslg, whose domain it describes")
    if min_angle is not None and not 0 <= min_angle <= 60:
        raise OptionError(f"{option('min_angle')} must be 0 to 60 degrees, not {min_angle:g}")
    if max_area is not None and not (math.isfinite(max_area) and max_area > 0):
        raise OptionError(f"{option('max_area')} must be a finite number above 0, not {max_area:g}")


BYTES_PER_TRIANGLE = 90  # peak memory, measured


def _check_area_bounds(
    mesh: Mesh,
    points: Points,
    topology: Topology,
    origin: Origin,
    findings: Findings,
    excused: Mask,
    *,
    refined: bool,
) -> None:
    """Check the mesh's own area bounds, and those of the regions of its outline."""
    if not refined:
        if mesh.area_bounds is not None or (
            origin.outline is not None and (origin.outline.pslg.regions[:, 3] > 0).any()
        ):
            findings.skip("area bounds", "no bound was given, so the mesh is not assumed to be refined")
        return
    check_own_areas(mesh, origin.mesh, points, findings, excused)
    if origin.outline is not None and origin.paths is not None:
        check_region_areas(mesh, points, topology, origin.outline, origin.paths, findings, excused)
