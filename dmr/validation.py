"""`dmr.validate`: is this a constrained Delaunay triangulation, and did refinement keep its promises? Decided exactly.

The checker shares nothing with what it checks: no native code, none of the kernels' predicates; numpy and Python
integers only. Each check has a name, names its offenders by number and coordinates, and is a small function of one of
the modules of `dmr.checks`; the arithmetic is that of `dmr.exact`.

A mesh of 3 million triangles takes about 5 seconds (docs/validation.md), also when every in-circle test is a tie.
"""

from __future__ import annotations

import math

from dmr.checks.chains import Arcs, Chains
from dmr.checks.geometry import (
    check_delaunay,
    check_max_area,
    check_orientation,
    shape_statistics,
    triangles_below,
)
from dmr.checks.input import (
    Original,
    chain_candidates,
    check_chains,
    check_original,
    check_regions,
    check_total_area,
    check_vertices,
)
from dmr.checks.overlap import check_overlap
from dmr.checks.report import Failure, Findings, Report, SmallAngle
from dmr.checks.small_angles import check_angles, straight_candidates
from dmr.checks.topology import (
    Topology,
    check_duplicates,
    check_edges,
    check_neighbours,
    check_segments,
    check_stars,
)
from dmr.errors import OptionError
from dmr.exact import Points
from dmr.meshes import Mesh

__all__ = ["Failure", "Report", "SmallAngle", "validate"]


def validate(
    mesh: Mesh, *, input: Mesh | None = None, min_angle: float | None = None, max_area: float | None = None
) -> Report:
    """Check a mesh, exactly.

    Args:
        mesh: any mesh.
        input: the mesh that it was refined from, to check that its vertices, segments and area were kept.
        min_angle: degrees, 0 to 60; every angle must reach it. Triangles beside input corners of less than 60 degrees
            are excused down to arctan(sin phi / (2 - cos phi)) and listed in `Report.exceptions`.
        max_area: largest area of a triangle, in squared units of the coordinates.

    Returns:
        What was checked and what failed; nothing is raised for a bad mesh.

    Raises:
        OptionError: a bound that cannot be used, or an input that is not a mesh.
    """
    _check_options(input, min_angle, max_area)
    findings = Findings()
    points = Points(mesh.vertices)
    findings.start("triangles")
    if not len(mesh.triangles):
        findings.add("triangles", "mesh", [None], lambda i: "has no triangles")
    positive = check_orientation(mesh, points, findings)
    topology = Topology.of(mesh.triangles, len(mesh.vertices))
    check_edges(mesh, topology, findings)
    check_neighbours(mesh, topology, findings)
    check_stars(mesh, topology, positive, findings)
    check_duplicates(mesh, topology, findings)
    check_segments(mesh, topology, findings)
    check_overlap(mesh, topology, findings)
    check_delaunay(mesh, topology, points, positive, findings)
    statistics, smallest = shape_statistics(mesh, points)
    chains = None if input is None else _compare(mesh, input, topology, points, findings)
    exceptions: tuple[SmallAngle, ...] = ()
    if min_angle is not None:
        if chains is None:
            arcs = Arcs.of(topology, mesh.segments)
            chains = Chains.trace(arcs, straight_candidates(mesh, arcs))
        below = triangles_below(mesh, points, min_angle)
        exceptions = check_angles(mesh, topology, chains, below, smallest, min_angle, findings)
    if max_area is not None:
        check_max_area(mesh, points, max_area, findings)
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
            **statistics,
        },
        exceptions=exceptions,
    )


def _check_options(input: Mesh | None, min_angle: float | None, max_area: float | None) -> None:
    if input is not None and not isinstance(input, Mesh):
        raise OptionError(f"input must be the mesh that was refined (triangulate it first), not {type(input).__name__}")
    if min_angle is not None and not 0 <= min_angle <= 60:
        raise OptionError(f"min_angle must be 0 to 60 degrees, not {min_angle:g}")
    if max_area is not None and not (math.isfinite(max_area) and max_area > 0):
        raise OptionError(f"max_area must be positive, not {max_area:g}")


def _compare(mesh: Mesh, input: Mesh, topology: Topology, points: Points, findings: Findings) -> Chains | None:
    """The checks against the mesh that was refined; the chains of the result by what is a vertex of the input."""
    original = Original.of(input)
    comparable = check_original(original, findings)
    if not check_vertices(mesh, input, findings):
        for name in ("input segments", "stray segments", "total area", "regions"):
            findings.skip(name, "vertices of the input are missing")
        return None
    chains = Chains.trace(Arcs.of(topology, mesh.segments), chain_candidates(len(mesh.vertices), input))
    if not comparable:
        for name in ("input segments", "stray segments", "total area", "regions"):
            findings.skip(name, "the input is itself no triangulation")
        return chains
    matched = check_chains(mesh, points, chains, original, findings)
    check_total_area(mesh, topology, chains, original, matched, findings)
    check_regions(mesh, topology, chains, original, matched, findings)
    return chains
