"""Comparison of a mesh with its input, and what follows from it for other checks."""

from __future__ import annotations

from dataclasses import dataclass

from dmr.exact import Points
from dmr.mesh.types import Mesh, Pslg
from dmr.validation.domain.domain import check_outline
from dmr.validation.domain.input_mesh import (
    Original,
    chain_candidates,
    check_chains,
    check_original,
    check_regions,
    check_total_area,
    check_used,
    check_vertices,
)
from dmr.validation.domain.labels import check_region_attributes
from dmr.validation.domain.markers import check_markers, check_vertex_markers
from dmr.validation.domain.outline import Outline
from dmr.validation.domain.paths import Paths
from dmr.validation.domain.thin_faces import thin_faces
from dmr.validation.report import Findings
from dmr.validation.triangulation.chains import Arcs, Chains
from dmr.validation.triangulation.topology import Topology


@dataclass(frozen=True)
class Origin:
    """Information derived from the input: the chains of its segments; for a graph, also the outline and its paths."""

    mesh: Mesh | None = None
    chains: Chains | None = None
    outline: Outline | None = None
    paths: Paths | None = None

    @classmethod
    def compare(
        cls,
        mesh: Mesh,
        input: Mesh | Pslg | None,
        convex_hull: bool,
        topology: Topology,
        points: Points,
        findings: Findings,
    ) -> Origin:
        """Check a mesh against its input, if there is one.

        Args:
            mesh: the mesh; topology, points: its half-edges and vertices.
            input: the mesh that was refined, or the outline that was meshed.
            convex_hull: whether the domain of the outline is its convex hull.
            findings: receives the failures.
        """
        if isinstance(input, Mesh):
            return _compare(mesh, input, topology, points, findings)
        if isinstance(input, Pslg):
            return _compare_outline(mesh, input, convex_hull, topology, points, findings)
        return cls()


def _compare(mesh: Mesh, input: Mesh, topology: Topology, points: Points, findings: Findings) -> Origin:
    """Check against the mesh that was refined; returns it and the result's chains between vertices of the input."""
    original = Original.of(input, topology.workers)
    comparable = check_original(original, findings)
    if not check_vertices(mesh, input, topology.workers, findings):
        for name in ("input segments", "stray segments", "total area", "regions"):
            findings.skip(name, "vertices of the input are missing")
        return Origin(input)
    check_used(mesh, topology, original, findings)
    chains = Chains.trace(Arcs.of(topology, mesh.segments), chain_candidates(len(mesh.vertices), input))
    if not comparable:
        for name in ("input segments", "stray segments", "total area", "regions"):
            findings.skip(name, "the input is not a valid triangulation")
        return Origin(input, chains)
    matched = check_chains(mesh, points, chains, original, findings)
    check_total_area(mesh, topology, chains, original, matched, findings)
    check_regions(mesh, topology, chains, original, matched, findings)
    return Origin(input, chains)


def _compare_outline(
    mesh: Mesh, input: Pslg, convex_hull: bool, topology: Topology, points: Points, findings: Findings
) -> Origin:
    """Check against the planar straight-line graph that was triangulated; see `dmr.validation.domain.domain`."""
    if not check_vertices(mesh, input, topology.workers, findings):
        for name in ("input segments", "domain", "stray segments", "regions", "markers", "vertex markers"):
            findings.skip(name, "vertices of the input are missing")
        return Origin()
    # The domain of a graph without segments is its convex hull.
    outline = Outline.of(input, hull=convex_hull or not len(input.segments))
    paths = Paths.of(mesh, points, outline, topology)
    while not paths.found.all() and (vanished := thin_faces(outline, ~paths.found)):
        outline = outline.without(vanished)
        paths = Paths.of(mesh, points, outline, topology)
    check_outline(mesh, topology, points, outline, paths, findings)
    check_region_attributes(mesh, topology, outline, paths, findings)
    check_markers(mesh, topology, points, outline, paths, findings)
    check_vertex_markers(mesh, topology, points, outline, paths, findings)
    return Origin(None, paths.chains, outline, paths)
