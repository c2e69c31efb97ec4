"""The outline of a mesh: its constrained edges and their vertices, without the points that refinement has added."""

from __future__ import annotations

import numpy as np

from dmr.common.arguments import checks_keywords
from dmr.domains.faces import enclosed_faces
from dmr.mesh.arguments import check_kind
from dmr.mesh.location.locator import locate
from dmr.mesh.provenance import is_triangulation, origin_and_marked
from dmr.mesh.types import Float, Int, Mesh, Pslg
from dmr.refinement.adaptation.collinear import merge_straight_runs


@checks_keywords
def outline(mesh: Mesh, *, merge_collinear: bool = False) -> Pslg:
    """Returns the domain of a mesh as a planar straight-line graph.

    Its segments are the mesh's segments, boundary edges, and edges between two regions (values of triangle attribute
    0). Its vertices are the ends of these, and those with a marker.

    Points that refinement has added are left out if the origin of the mesh is known: `dmr.refine`, `dmr.adapt`,
    `dmr.optimize` and `dmr.triangulate` note it for the object that they return, also if `dataclasses.replace` gives it
    other vertex attributes, or markers to vertices inside, but not for other copies, or for a mesh from a file. The
    outline is then that of the input of the first refinement, with the vertices that have got markers since; if this
    input was an outline itself, all of its vertices are kept.

    Args:
        mesh: a valid mesh.
        merge_collinear: whether to leave out the vertices inside straight runs of segments with one marker, up to one
            ulp, unless they have a marker of their own (not 0, 1 or that of the segments): for a mesh from a file,
            whose sides are divided already.

    Returns:
        The graph: vertices in the order of the mesh, with their markers; segments with their markers; a point in each
        hole; a point in each region, with its attribute; the names. `dmr.validate(fine, input=outline)` proves a mesh
        of it.

    Raises:
        WrongTypeError: `mesh` is not a Mesh. InvalidMeshError: it is not valid.
    """
    check_kind(mesh, Mesh)
    source, marked = origin_and_marked(mesh)
    ends, markers = _constrained_edges(source)
    kept = np.full(len(source.vertices), is_triangulation(source))
    kept[ends] = True
    if source.vertex_markers is not None:
        kept |= source.vertex_markers != 0
    if merge_collinear:
        ends, markers, inside = merge_straight_runs(source.vertices, ends, markers, source.vertex_markers)
        kept &= ~inside
    number = (np.cumsum(kept) - 1).astype(np.int32)
    graph = Pslg(source.vertices[kept], number[ends])
    holes, regions = _faces(graph, source)
    vertices, vertex_markers = graph.vertices, None if source.vertex_markers is None else source.vertex_markers[kept]
    if marked.size:
        assert mesh.vertex_markers is not None
        vertices = np.concatenate([vertices, mesh.vertices[marked]])
        before = np.zeros(len(graph.vertices), np.int32) if vertex_markers is None else vertex_markers
        vertex_markers = np.concatenate([before, mesh.vertex_markers[marked]])
    return Pslg(
        vertices,
        graph.segments,
        holes=holes,
        regions=regions,
        segment_markers=markers,
        vertex_markers=vertex_markers,
        names=source.names,
    )


def _constrained_edges(mesh: Mesh) -> tuple[Int, Int]:
    """Returns (s, 2) segments, boundary edges and edges between regions, each once, and their markers."""
    segments, markers = mesh.unique_segments()
    across = mesh.neighbours
    chosen = across < 0
    if mesh.triangle_attributes is not None and mesh.triangle_attributes.shape[1]:
        region = mesh.triangle_attributes[:, 0]
        chosen |= region[:, None] != region[across]
    triangles, edges = np.nonzero(chosen)
    ends = np.stack([mesh.triangles[triangles, (edges + 1) % 3], mesh.triangles[triangles, (edges + 2) % 3]], axis=1)
    every = np.concatenate([segments, np.sort(ends, axis=1)])
    # The segments come first, so that an edge that is one keeps its marker.
    _, first = np.unique(every[:, 0].astype(np.int64) << 32 | every[:, 1], return_index=True)
    return every[first], np.concatenate([markers, np.zeros(len(ends), np.int32)])[first]


def _faces(graph: Pslg, mesh: Mesh) -> tuple[Float, Float]:
    """Returns a point in each hole of a mesh, and the rows of `Pslg.regions` if the mesh has regions."""
    points = enclosed_faces(graph)
    triangles = locate(mesh, points)
    within = triangles >= 0
    regions = np.zeros((np.count_nonzero(within), 4))
    regions[:, :2] = points[within]
    assert mesh.triangle_attributes is not None
    if not mesh.triangle_attributes.shape[1]:
        return points[~within], regions[:0]
    regions[:, 2] = mesh.triangle_attributes[triangles[within], 0]
    return points[~within], regions
