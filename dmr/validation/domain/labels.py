"""Checks of the regions and region areas that a mesh inherits from a planar straight-line graph.

The checks use the paths of the graph's edges (`dmr.validation.domain.paths`): the triangles along a path lie in the
faces beside its edge, and every face of the mesh has a path along it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.exact import Points
from dmr.mesh.naming import number
from dmr.mesh.types import Mesh
from dmr.validation.bounds.sizes import check_areas
from dmr.validation.domain.input_mesh import check_steps
from dmr.validation.domain.outline import Outline
from dmr.validation.domain.paths import Paths
from dmr.validation.report import Findings
from dmr.validation.triangulation.topology import Mask, Topology

Int64 = NDArray[np.int64]


def check_region_attributes(mesh: Mesh, topology: Topology, outline: Outline, paths: Paths, findings: Findings) -> None:
    """Check that column 0 of the triangle attributes is the region's in faces with a region point, and 0 elsewhere."""
    regions = outline.pslg.regions
    if not len(regions):
        findings.skip("regions", "the input has no regions")
        return
    findings.start("regions")
    if mesh.triangle_attributes is None or not mesh.triangle_attributes.shape[1]:
        findings.add("regions", "mesh", [None], lambda i: "has no triangle attributes, but the input has regions")
        return
    values = np.ascontiguousarray(mesh.triangle_attributes[:, 0])
    check_steps(topology, paths.chains.arcs, (values + 0.0).view(np.uint64), findings)
    # Every face of the mesh has a path along it. Values do not change inside a face, so it suffices to check there.
    half_edges, faces, tied = _faces_beside(outline, paths)
    entries, region = _regions_of(outline, faces)
    given = np.where(region >= 0, regions[region, 2], 0.0)
    right = np.zeros(len(faces), bool)
    found = values[half_edges[entries] // 3]
    right[entries[(found == given) | (np.isnan(found) & np.isnan(given))]] = True
    if not right[tied].all():
        # Rounding may have interchanged the paths of tied segments: any path along a face is accepted.
        face = _faces_of_mesh(topology, paths)[half_edges // 3]
        right |= tied & np.isin(face, face[right])
    triangles, first = np.unique(half_edges[~right] // 3, return_index=True)
    beside = faces[~right][first]

    def message(i: int) -> str:
        return f"has the region {float(values[triangles[i]])!r}; it lies {_describe_regions(outline, int(beside[i]))}"

    findings.add("regions", "triangle", triangles, message)


def check_region_areas(
    mesh: Mesh,
    points: Points,
    topology: Topology,
    outline: Outline,
    paths: Paths,
    findings: Findings,
    excused: Mask,
) -> None:
    """Check that no triangle in the face of a region exceeds the region's area limit, except for excused triangles."""
    areas = outline.pslg.regions[:, 3]
    if not (areas > 0).any():
        findings.skip("region areas", "no region of the input has a largest area")
        return
    findings.start("region areas")
    check_areas("region areas", mesh, points, region_limits(topology, outline, paths), findings, excused)


def region_limits(topology: Topology, outline: Outline, paths: Paths) -> NDArray[np.float64]:
    """(m,) the area limit of the region that each triangle lies in, infinity if there is none."""
    areas = outline.pslg.regions[:, 3]
    half_edges, faces, _ = _faces_beside(outline, paths)
    entries, region = _regions_of(outline, faces)
    limit = np.where((region >= 0) & (areas[region] > 0), areas[region], np.inf)
    face = _faces_of_mesh(topology, paths)
    # If rounding merged several faces, the largest limit applies; likewise for several regions in one face.
    limits = np.full(len(face), -np.inf)
    np.maximum.at(limits, face[half_edges[entries] // 3], limit)
    limits[limits == -np.inf] = np.inf
    result: NDArray[np.float64] = limits[face]
    return result


def _faces_of_mesh(topology: Topology, paths: Paths) -> Int64:
    """(m,) the face of the mesh that contains each triangle, identified by one of the face's triangles."""
    constrained = paths.chains.arcs.half_edges
    return topology.components(constrained[constrained >= 0])


def _faces_beside(outline: Outline, paths: Paths) -> tuple[Int64, Int64, Mask]:
    """Find the half-edges along paths that lie in the domain, the outline's face of each, and a mask of tied ones."""
    arcs = paths.chains.arcs
    edges = outline.wanted[paths.edge]
    half_edges = np.concatenate([arcs.half_edges[paths.arcs], arcs.half_edges[paths.arcs ^ 1]])
    faces = np.concatenate([outline.arrangement.above[edges], outline.arrangement.below[edges]])
    tied = np.tile(outline.tied[outline.line[paths.edge]], 2)
    inside = (half_edges >= 0) & outline.covered[faces]
    return half_edges[inside], faces[inside], tied[inside]


def _regions_of(outline: Outline, faces: Int64) -> tuple[Int64, Int64]:
    """List pairs of an index into `faces` and a region whose point lies in that face, -1 if there is none.

    A face that contains several region points occurs once for each.
    """
    at = outline.arrangement.point_faces[len(outline.pslg.holes) :]
    order = np.argsort(at, kind="stable")
    low, high = np.searchsorted(at[order], faces, "left"), np.searchsorted(at[order], faces, "right")
    sizes = np.maximum(high - low, 1)
    entries = np.repeat(np.arange(len(faces)), sizes)
    within = np.arange(len(entries)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    spot = np.minimum(low[entries] + within, len(order) - 1)
    return entries, np.where((high > low)[entries], order[spot], -1)


def _describe_regions(outline: Outline, face: int) -> str:
    at = np.flatnonzero(outline.arrangement.point_faces[len(outline.pslg.holes) :] == face)
    if not len(at):
        return "where no region point is, so it must have 0"
    return " and ".join(
        f"in the region of point {number('input region', i)} at ({float(x)!r}, {float(y)!r}), "
        f"which has {float(attribute)!r}"
        for i, (x, y, attribute, _) in zip(at.tolist(), outline.pslg.regions[at].tolist(), strict=True)
    )
