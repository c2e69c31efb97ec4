"""`dmr.validate`: is this a constrained Delaunay triangulation, and did refinement keep its promises? Decided exactly.

The checker shares nothing with what it checks: no native code, none of the kernels' predicates; numpy and Python
integers only. Each check has a name, names its offenders by number and coordinates, and is a small function of one of
the modules of `dmr.checks`; the arithmetic is that of `dmr.exact`.

Long arrays are processed in pieces on several threads (`dmr.checks.pieces`); docs/validation.md has the cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from numpy.typing import ArrayLike

from dmr.checks.bounds import Size, check_max_area, check_own_areas, check_size
from dmr.checks.chains import Arcs, Chains
from dmr.checks.domain import check_outline
from dmr.checks.duplicates import check_duplicates
from dmr.checks.geometry import check_delaunay, check_orientation
from dmr.checks.input import (
    Original,
    chain_candidates,
    check_chains,
    check_original,
    check_regions,
    check_total_area,
    check_used,
    check_vertices,
)
from dmr.checks.labels import check_region_areas, check_region_attributes
from dmr.checks.markers import check_markers, check_vertex_markers
from dmr.checks.outline import Outline
from dmr.checks.overlap import check_overlap
from dmr.checks.paths import Paths
from dmr.checks.pieces import Workers
from dmr.checks.report import Failure, Findings, Report, SmallAngle
from dmr.checks.shapes import TriangleShapes, triangles_below
from dmr.checks.small_angles import check_angles, straight_candidates
from dmr.checks.topology import (
    Mask,
    Topology,
    check_edges,
    check_neighbours,
    check_segments,
    check_stars,
)
from dmr.checks.unrefined import Unrefined, check_listed
from dmr.errors import OptionError
from dmr.exact import Points
from dmr.kinds import check_kind
from dmr.memory.host.available import require_memory
from dmr.memory.threads import thread_count
from dmr.meshes import Mesh, Pslg
from dmr.naming import counted
from dmr.numeric import real_option, switch

__all__ = ["Failure", "Report", "SmallAngle", "validate"]


def validate(
    mesh: Mesh,
    *,
    input: Mesh | Pslg | None = None,
    min_angle: float | None = None,
    max_area: float | None = None,
    size: Size | None = None,
    convex_hull: bool = False,
    unrefined: Mapping[str, ArrayLike] | None = None,
    threads: int | None = None,
) -> Report:
    """Check a mesh, exactly.

    With `min_angle`, `max_area` or `size` (`min_angle=0` will do) the mesh is taken for a refined one, and the area
    bounds that it carries and those of the input's regions are checked as well.

    Args:
        mesh: any mesh.
        input: the mesh that it was refined from, or the planar straight-line graph that it was made from, to check that
            vertices, segments, domain, regions and markers are kept.
        min_angle: degrees, 0 to 60; every angle must reach it. Triangles beside input corners of less than 60 degrees
            are excused down to arctan(sin phi / (2 - cos phi)) and listed in `Report.exceptions`.
        max_area: largest area of a triangle, in squared units of the coordinates.
        size: the longest that an edge may be: a number; or a function of (n, 2) points that returns (n,) lengths, which
            is asked at the triangle's centroid.
        convex_hull: the domain is the convex hull of the graph's vertices, without its holes, and not only what its
            segments enclose. (Without segments it always is.)
        unrefined: triangles that the refinement left, by reason (`Refinement.unrefined_triangles`). Those left for
            "precision" or for a "kept_segment" are excused where the geometry explains it, and listed in
            `Report.unrefined`. Without it only small input corners are an excuse.
        threads: how many threads to use; None for one per core that this process may use. The report is the same for
            any number.

    Returns:
        What was checked and what failed; nothing is raised for a bad mesh.

    Raises:
        OptionError: a bound or a number of threads that cannot be used.
        InvalidMeshError: a triangle names a vertex that does not exist (which `Mesh` itself refuses).
        KindError: `mesh` is no Mesh, or `input` neither mesh nor graph.
    """
    check_kind(mesh, Mesh)
    if input is not None:
        check_kind(input, Mesh, Pslg, name="input")
    min_angle = None if min_angle is None else real_option("min_angle", min_angle)
    max_area = None if max_area is None else real_option("max_area", max_area)
    _check_options(input, min_angle, max_area, switch("convex_hull", convex_hull))
    count = len(mesh.triangles)
    require_memory(BYTES_PER_TRIANGLE * count, f"a validation of {counted(count, 'triangle')}")
    findings = Findings()
    workers = Workers(thread_count(threads))
    points = Points(mesh.vertices, workers.map)
    findings.start("triangles")
    if not len(mesh.triangles):
        findings.add("triangles", "mesh", [None], lambda i: "has no triangles")
    shapes = TriangleShapes.of(mesh, points, min_angle, workers)
    check_orientation(mesh, shapes, findings)
    topology = Topology.of(mesh.triangles, len(mesh.vertices), workers, shapes.used)
    check_edges(mesh, topology, findings)
    check_neighbours(mesh, topology, findings)
    check_stars(mesh, topology, shapes, findings)
    check_duplicates(mesh, topology, findings)
    check_segments(mesh, topology, findings)
    check_overlap(mesh, topology, findings)
    check_delaunay(mesh, topology, points, shapes, findings)
    origin = _Origin()
    if isinstance(input, Mesh):
        origin = _compare(mesh, input, topology, points, findings)
    elif isinstance(input, Pslg):
        origin = _compare_outline(mesh, input, convex_hull, topology, points, findings)
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
    if size is not None:
        check_size(mesh, points, size, findings, left.excused)
    _check_area_bounds(
        mesh, points, topology, origin, findings, left.excused, refined=(min_angle, max_area, size) != (None,) * 3
    )
    used = int(topology.used.sum())
    return Report(
        failures=tuple(findings.failures),
        counts=findings.counts,
        checked=tuple(findings.checked),
        skipped=findings.skipped,
        statistics={
            "vertices": len(mesh.vertices),
            "unused_vertices": len(mesh.vertices) - used,
            "triangles": len(mesh.triangles),
            "segments": len(mesh.segments),
            "boundary_edges": len(topology.boundary),
            **shapes.statistics,
        },
        exceptions=exceptions,
        unrefined={reason: tuple(triangles.tolist()) for reason, triangles in left.by_reason.items()},
    )


def _check_options(
    input: Mesh | Pslg | None, min_angle: float | None, max_area: float | None, convex_hull: bool
) -> None:
    if convex_hull and not isinstance(input, Pslg):
        raise OptionError("convex_hull says what the domain of an input Pslg is: there is no such input")
    if min_angle is not None and not 0 <= min_angle <= 60:
        raise OptionError(f"min_angle must be 0 to 60 degrees, not {min_angle:g}")
    if max_area is not None and not (math.isfinite(max_area) and max_area > 0):
        raise OptionError(f"max_area must be positive, not {max_area:g}")


BYTES_PER_TRIANGLE = 90  # of memory at the peak, measured


@dataclass(frozen=True)
class _Origin:
    """What is known of the mesh from its input: the chains of its segments; of a graph the outline and its paths."""

    mesh: Mesh | None = None
    chains: Chains | None = None
    outline: Outline | None = None
    paths: Paths | None = None


def _compare(mesh: Mesh, input: Mesh, topology: Topology, points: Points, findings: Findings) -> _Origin:
    """The checks against the mesh that was refined; the chains of the result by what is a vertex of the input."""
    original = Original.of(input, topology.workers)
    comparable = check_original(original, findings)
    if not check_vertices(mesh, input, topology.workers, findings):
        for name in ("input segments", "stray segments", "total area", "regions"):
            findings.skip(name, "vertices of the input are missing")
        return _Origin(input)
    check_used(mesh, topology, original, findings)
    chains = Chains.trace(Arcs.of(topology, mesh.segments), chain_candidates(len(mesh.vertices), input))
    if not comparable:
        for name in ("input segments", "stray segments", "total area", "regions"):
            findings.skip(name, "the input is itself no triangulation")
        return _Origin(input, chains)
    matched = check_chains(mesh, points, chains, original, findings)
    check_total_area(mesh, topology, chains, original, matched, findings)
    check_regions(mesh, topology, chains, original, matched, findings)
    return _Origin(input, chains)


def _compare_outline(
    mesh: Mesh, input: Pslg, convex_hull: bool, topology: Topology, points: Points, findings: Findings
) -> _Origin:
    """The checks against the planar straight-line graph that was triangulated; see `dmr.checks.domain`."""
    if not check_vertices(mesh, input, topology.workers, findings):
        for name in ("input segments", "domain", "stray segments", "regions", "markers", "vertex markers"):
            findings.skip(name, "vertices of the input are missing")
        return _Origin()
    # A graph without segments stands for its convex hull.
    outline = Outline.of(input, hull=convex_hull or not len(input.segments))
    paths = Paths.of(mesh, points, outline, topology)
    check_outline(mesh, topology, points, outline, paths, findings)
    check_region_attributes(mesh, topology, outline, paths, findings)
    check_markers(mesh, topology, points, outline, paths, findings)
    check_vertex_markers(mesh, topology, points, outline, paths, findings)
    return _Origin(None, paths.chains, outline, paths)


def _check_area_bounds(
    mesh: Mesh,
    points: Points,
    topology: Topology,
    origin: _Origin,
    findings: Findings,
    excused: Mask,
    *,
    refined: bool,
) -> None:
    """The area bounds that the mesh carries, and those of the regions of its outline."""
    if not refined:
        if mesh.area_bounds is not None or (
            origin.outline is not None and (origin.outline.pslg.regions[:, 3] > 0).any()
        ):
            findings.skip("area bounds", "no bound was given, so the mesh is not taken for a refined one")
        return
    check_own_areas(mesh, origin.mesh, points, findings, excused)
    if origin.outline is not None and origin.paths is not None:
        check_region_areas(mesh, points, topology, origin.outline, origin.paths, findings, excused)
