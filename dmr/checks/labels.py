"""Checks of what a mesh carries over from a planar straight-line graph: regions, their areas, and markers.

They rest on the paths of the graph's edges (`dmr.checks.paths`): the triangles along a path lie in the faces beside its
edge, and every face of the mesh has a path along it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.checks.bounds import check_areas
from dmr.checks.input import check_steps
from dmr.checks.outline import Outline
from dmr.checks.paths import Paths
from dmr.checks.report import Findings
from dmr.checks.topology import Mask, Topology, components, describe, place
from dmr.checks.tubes import Tubes
from dmr.exact import Points
from dmr.meshes import Mesh
from dmr.naming import number

Int64 = NDArray[np.int64]


def check_region_attributes(mesh: Mesh, topology: Topology, outline: Outline, paths: Paths, findings: Findings) -> None:
    """Column 0 of the triangle attributes is the region's in the face of a region point, and 0 in all others."""
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
    # Every face of the mesh has a path along it: what holds there, and changes nowhere else, holds in all of it.
    half_edges, faces, tied = _faces_beside(outline, paths)
    entries, region = _regions_of(outline, faces)
    given = np.where(region >= 0, regions[region, 2], 0.0)
    right = np.zeros(len(faces), bool)
    right[entries[values[half_edges[entries] // 3] == given]] = True
    if not right[tied].all():
        # Paths of tied segments may have been mixed up by rounding: any of those along a face will do.
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
    """No triangle in the face of a region is larger than the region allows, but for those that are excused."""
    areas = outline.pslg.regions[:, 3]
    if not (areas > 0).any():
        findings.skip("region areas", "no region of the input has a largest area")
        return
    findings.start("region areas")
    half_edges, faces, _ = _faces_beside(outline, paths)
    entries, region = _regions_of(outline, faces)
    limit = np.where((region >= 0) & (areas[region] > 0), areas[region], np.inf)
    face = _faces_of_mesh(topology, paths)
    # Of several faces that rounding made one, the largest limit; of several regions in a face likewise.
    limits = np.full(len(mesh.triangles), -np.inf)
    np.maximum.at(limits, face[half_edges[entries] // 3], limit)
    limits[limits == -np.inf] = np.inf
    check_areas("region areas", mesh, points, limits[face], findings, excused)


def _faces_of_mesh(topology: Topology, paths: Paths) -> Int64:
    """(m,) the face of the mesh that each triangle lies in, by one of its triangles."""
    free = topology.twins.copy()
    constrained = paths.chains.arcs.half_edges
    free[constrained[constrained >= 0]] = -1
    return components(free.reshape(-1, 3))


def _faces_beside(outline: Outline, paths: Paths) -> tuple[Int64, Int64, Mask]:
    """The half-edges along paths that lie in the domain, the face of the outline each lies in, and whether its segment
    is tied."""
    arcs = paths.chains.arcs
    edges = outline.wanted[paths.edge]
    half_edges = np.concatenate([arcs.half_edges[paths.arcs], arcs.half_edges[paths.arcs ^ 1]])
    faces = np.concatenate([outline.arrangement.above[edges], outline.arrangement.below[edges]])
    tied = np.tile(outline.tied[outline.line[paths.edge]], 2)
    inside = (half_edges >= 0) & outline.covered[faces]
    return half_edges[inside], faces[inside], tied[inside]


def _regions_of(outline: Outline, faces: Int64) -> tuple[Int64, Int64]:
    """Pairs of an index into `faces` and a region whose point lies in that face, -1 for the others.

    A face may hold several region points: it occurs once with each.
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


def check_markers(
    mesh: Mesh, topology: Topology, points: Points, outline: Outline, paths: Paths, findings: Findings
) -> None:
    """Pieces of a segment have its marker, or that of one that runs along it; on the boundary 1 may stand for 0.

    An edge of the mesh that is not listed in its segments counts as marked with 0.
    """
    findings.start("markers")
    assert mesh.segment_markers is not None
    arcs = paths.chains.arcs
    edge, allowed = _allowed_markers(outline, paths)
    # The edge of each listed segment (numbers of arcs, halved), -1 where it is none.
    edges = np.full(len(topology.starts) + 1, -1)
    edges[arcs.half_edges] = np.arange(len(arcs.half_edges)) // 2
    edges[-1] = -1  # (that of arcs without a half-edge)
    listed = edges[topology.find_either(mesh.segments[:, 0], mesh.segments[:, 1])]
    unlisted = np.setdiff1d(edge, listed)
    known = np.flatnonzero(np.isin(listed, edge))
    actual = mesh.segment_markers.astype(np.int64)
    wrong = known[~_contains(edge, allowed, listed[known], actual[known])]
    # Where rounding has tied segments together, paths may have been mixed up: any segment there will do.
    tubes = Tubes(mesh, points, outline)

    def fits_there(i: int) -> bool:
        markers = set(outline.markers[tubes.around(mesh.segments[i])].tolist())
        if 0 in markers and arcs.on_boundary[2 * listed[i]]:
            markers.add(1)
        return int(actual[i]) in markers

    wrong = np.array([i for i in wrong.tolist() if not fits_there(i)], np.int64)
    lost = unlisted[~_contains(edge, allowed, unlisted, np.zeros(len(unlisted), np.int64))]

    def expected(which: int) -> str:
        return " or ".join(str(marker) for marker in np.unique(allowed[edge == which]))

    findings.add(
        "markers",
        "segment",
        wrong,
        lambda i: (
            f"from {describe(mesh.vertices, *mesh.segments[wrong[i]])}: has the marker {actual[wrong[i]]}, and must "
            f"have {expected(int(listed[wrong[i]]))}"
        ),
    )
    half_edges = np.maximum(arcs.half_edges[2 * lost], arcs.half_edges[2 * lost + 1])
    findings.add(
        "markers",
        "triangle",
        half_edges // 3,
        lambda i: (
            f"has the edge of vertices {describe(mesh.vertices, arcs.tails[2 * lost[i]], arcs.heads[2 * lost[i]])}, "
            f"which is not listed as a segment, and must have the marker {expected(int(lost[i]))}"
        ),
    )


def _allowed_markers(outline: Outline, paths: Paths) -> tuple[Int64, Int64]:
    """Pairs of a constrained edge of the mesh and a marker that it may have."""
    owners, wanted = outline.owners_of_all()
    # All edges of a run are part of the same segments.
    sizes = np.bincount(wanted, minlength=len(outline.wanted))
    first = np.searchsorted(outline.run, paths.run)
    starts, sizes = (np.cumsum(sizes) - sizes)[first], sizes[first]
    edge = np.repeat(paths.run_arcs // 2, sizes)
    within = np.arange(len(edge)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    marker = outline.markers[owners[np.repeat(starts, sizes) + within]].astype(np.int64)
    silent = paths.chains.arcs.on_boundary[2 * edge] & (marker == 0)
    return np.concatenate([edge, edge[silent]]), np.concatenate([marker, np.ones(silent.sum(), np.int64)])


def _contains(keys: Int64, values: Int64, key: Int64, value: Int64) -> Mask:
    """Which pairs (key, value) are among (keys, values); values are 32-bit numbers."""
    result: Mask = np.isin((key << 32) + value, (keys << 32) + values)
    return result


def check_vertex_markers(mesh: Mesh, topology: Topology, outline: Outline, findings: Findings) -> None:
    """A vertex of the graph keeps its marker; any other one has that of a segment of the mesh through it.

    Where such a segment has none, and where there is none, a vertex on the boundary has 1 and any other one 0.
    """
    if mesh.vertex_markers is None:
        findings.skip("vertex markers", "the mesh has none")
        return
    findings.start("vertex markers")
    assert mesh.segment_markers is not None
    actual = mesh.vertex_markers.astype(np.int64)
    given = _given_markers(outline, len(mesh.vertices))
    on_boundary = np.zeros(len(actual), bool)
    on_boundary[topology.starts[topology.boundary]] = on_boundary[topology.ends[topology.boundary]] = True
    vertex = mesh.segments.T.ravel().astype(np.int64)
    marker = np.tile(mesh.segment_markers, 2).astype(np.int64)
    silent = np.ones(len(actual), bool)
    silent[vertex] = False
    silent[vertex[marker == 0]] = True
    fits = silent & (actual == on_boundary)
    fits[vertex[(marker == actual[vertex]) & (marker != 0)]] = True
    wrong = np.flatnonzero(topology.used & np.where(given != 0, actual != given, ~fits))

    def message(i: int) -> str:
        v = int(wrong[i])
        markers = {int(given[v])} if given[v] else set(marker[vertex == v].tolist()) - {0}
        if not given[v] and silent[v]:
            markers.add(int(on_boundary[v]))
        expected = " or ".join(map(str, sorted(markers)))
        return f"{place(mesh.vertices, v)} has the marker {actual[v]}, and must have {expected}"

    findings.add("vertex markers", "vertex", wrong, message)


def _given_markers(outline: Outline, count: int) -> Int64:
    """(count,) the markers that the graph gives to vertices, 0 where it says nothing.

    Of vertices with equal coordinates the mesh uses one, which stands for all of them.
    """
    result = np.zeros(count, np.int64)
    markers = outline.pslg.vertex_markers
    if markers is not None:
        nodes = outline.arrangement.vertex_nodes
        of_node = np.zeros(outline.arrangement.nodes, np.int64)
        marked = np.flatnonzero(markers)[::-1]
        of_node[nodes[marked]] = markers[marked]
        result[: len(nodes)] = np.where(markers != 0, markers, of_node[nodes])
    return result
