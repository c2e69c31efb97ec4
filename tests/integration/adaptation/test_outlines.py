"""Outlines of meshes."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

import dmr
from tests.support.meshes import grid


def sides(graph):
    """The segments of a graph by the coordinates of their ends, with their markers."""
    ends = graph.vertices[graph.segments].tolist()
    return {
        (*sorted(map(tuple, pair)), marker) for pair, marker in zip(ends, graph.segment_markers.tolist(), strict=True)
    }


def test_an_outline_comes_back_from_its_meshes():
    domain = dmr.read("meshes/bracket.poly")
    mesh = dmr.triangulate(domain)
    once, twice = dmr.refine(domain, device="cpu").mesh, dmr.refine(dmr.refine(mesh).mesh, max_area=0.01).mesh
    for found in (mesh, once, twice, dmr.optimize(once, device="cpu").mesh):
        graph = dmr.outline(found)
        assert np.array_equal(graph.vertices, domain.vertices) and len(graph.holes) == len(domain.holes)
        assert len(graph.segments) == len(domain.segments)
        assert dmr.validate(mesh, input=graph).ok


def test_a_mesh_with_other_attributes_has_the_same_outline():
    """As after `dataclasses.replace(mesh, vertex_attributes=depths)`, also when the first mesh is gone."""
    domain = dmr.read("meshes/bracket.poly")
    fine = dmr.refine(domain, max_area=0.01, device="cpu").mesh
    vertices = weakref.ref(fine.vertices)
    others = [
        replace(fine, vertex_attributes=fine.vertices[:, :1]),
        replace(fine, area_bounds=np.ones(len(fine.triangles))),
    ]
    changed = [
        replace(fine, segment_markers=np.full(len(fine.segments), 9)),
        replace(fine, names={"regions": {}, "markers": {9: "wall"}}),
        replace(fine, vertices=fine.vertices.copy()),
        dmr.Mesh(fine.vertices, fine.triangles, segments=fine.segments),
    ]
    del fine
    for mesh in others:
        assert np.array_equal(dmr.outline(mesh).vertices, domain.vertices)
        assert len(dmr.adapt(mesh, 1.0, device="cpu").mesh.triangles) < len(mesh.triangles) / 2
    for mesh in changed:
        assert len(dmr.outline(mesh).vertices) > len(domain.vertices)
    del mesh, others, changed
    gc.collect()
    assert vertices() is None, "no registry keeps arrays alive"


def test_vertices_of_a_refined_mesh_that_get_markers_are_kept():
    """Marking them did away with the outline: all points on the boundary were kept, too."""
    domain = dmr.domains.with_names(dmr.domains.rectangle(2, 1, markers=[1, 2, 3, 4]), markers={2: "outlet"})
    fine = dmr.refine(domain, size=0.05, device="cpu").mesh
    inside = np.flatnonzero((np.abs(fine.vertices - (1, 0.5)) < 0.2).all(axis=1))[[3, 9, 20]]
    for before in (fine.vertex_markers, np.zeros(len(fine.vertices), np.int32)):
        markers = before.copy()
        markers[inside] = 9
        marked = replace(fine, vertex_markers=markers)
        graph = dmr.outline(marked)
        assert np.array_equal(graph.vertices, np.concatenate([domain.vertices, fine.vertices[inside]]))
        assert graph.vertex_markers[4:].tolist() == [9] * 3 and sides(graph) == sides(dmr.outline(fine))
        coarse = dmr.adapt(marked, 0.5, device="cpu")
        assert np.array_equal(coarse.mesh.vertices[:7], graph.vertices) and len(coarse.mesh.triangles) < 200
        assert coarse.mesh.vertex_markers[4:7].tolist() == [9] * 3 and coarse.mesh.names == fine.names
        assert dmr.validate(coarse.mesh, input=graph, min_angle=30).ok
        assert np.array_equal(dmr.outline(coarse.mesh).vertices, graph.vertices)
    on_boundary = fine.vertex_markers.copy()
    on_boundary[fine.segments[40, 0]] = 9
    graph = dmr.outline(replace(fine, vertex_markers=on_boundary))
    assert len(graph.vertices) == len(fine.segments)  # rounded points of slanted sides could not be split there


def test_a_vertex_that_loses_its_marker_changes_no_outline():
    domain = dmr.domains.rectangle(2, 1)
    fine = dmr.refine(domain, size=0.2, device="cpu").mesh
    assert np.array_equal(dmr.outline(replace(fine, vertex_markers=None)).vertices, domain.vertices)


def test_vertices_inside_are_left_out_and_marked_ones_are_kept():
    mesh = grid(np.arange(4.0))
    assert len(dmr.outline(mesh).vertices) == 12
    markers = np.zeros(16, int)
    inside = np.flatnonzero((mesh.vertices == [1, 2]).all(axis=1))
    markers[inside] = 5
    graph = dmr.outline(replace(mesh, vertex_markers=markers))
    assert len(graph.vertices) == 13 and graph.vertex_markers.tolist().count(5) == 1
    assert dmr.validate(dmr.refine(graph, device="cpu").mesh, input=graph).ok


def test_edges_between_regions_and_holes_belong_to_the_outline():
    mesh = grid(np.arange(6.0))
    centroids = mesh.vertices[mesh.triangles].mean(axis=1)
    solid = (np.abs(centroids - 1.5) > 0.5).any(axis=1)  # a hole of one cell
    triangles, centroids = mesh.triangles[solid], centroids[solid]
    holed = dmr.Mesh(mesh.vertices, triangles, triangle_attributes=(centroids[:, 0] > 3).astype(float)[:, None])
    graph = dmr.outline(holed)
    assert len(graph.segments) == 20 + 4 + 5 and len(graph.holes) == 1
    assert (np.abs(graph.holes[0] - 1.5) < 0.5).all()
    assert sorted(graph.regions[:, 2].tolist()) == [0, 1] and (graph.regions[:, 3] == 0).all()
    fine = dmr.refine(graph, device="cpu").mesh
    assert dmr.validate(fine, input=graph).ok and np.isclose(fine.areas.sum(), 24)


def test_straight_runs_are_merged():
    mesh = grid(np.arange(4.0))
    graph = dmr.outline(mesh, merge_collinear=True)
    assert sides(graph) == {((0, 0), (3, 0), 0), ((0, 0), (0, 3), 0), ((3, 0), (3, 3), 0), ((0, 3), (3, 3), 0)}


def test_runs_end_where_the_marker_changes_and_at_vertices_with_their_own_marker():
    mesh = grid(np.arange(4.0))
    number = {tuple(place): v for v, place in enumerate(mesh.vertices.tolist())}
    segments = [[number[k, 0.0], number[k + 1, 0.0]] for k in (0.0, 1.0, 2.0)]
    markers = np.zeros(16, int)
    markers[number[0.0, 2.0]] = 9
    marked = replace(mesh, segments=segments, segment_markers=[4, 4, 5], vertex_markers=markers)
    found = sides(dmr.outline(marked, merge_collinear=True))
    assert found == {
        ((0, 0), (2, 0), 4), ((2, 0), (3, 0), 5), ((0, 0), (0, 2), 0), ((0, 2), (0, 3), 0),
        ((3, 0), (3, 3), 0), ((0, 3), (3, 3), 0),
    }  # fmt: skip


def test_points_that_refinement_rounded_onto_slanted_sides_are_merged():
    corners = [[0, 0], [3, 1], [2.7, 2.9], [0.1, 1.7]]
    domain = dmr.Pslg(corners, [[0, 1], [1, 2], [2, 3], [3, 0]])
    fine = dmr.refine(domain, max_edge=0.07, device="cpu").mesh
    copy = dmr.Mesh(fine.vertices, fine.triangles)  # without knowledge of its origin
    assert len(dmr.outline(copy).vertices) > 100
    graph = dmr.outline(copy, merge_collinear=True)
    assert graph.vertices.tolist() == corners and len(graph.segments) == 4


@pytest.mark.parametrize("bend", [1e-12, 0.25])
def test_bends_are_kept_and_curves_stay_curves(bend):
    vertices = [[0, 0], [1, -bend], [2, 0], [3, 0], [1.5, 2]]
    mesh = dmr.triangulate(dmr.Pslg(vertices, [[k, (k + 1) % 5] for k in range(5)]))
    copy = dmr.Mesh(mesh.vertices, mesh.triangles)
    assert len(dmr.outline(copy, merge_collinear=True).segments) == 5
    ring = dmr.triangulate(dmr.domains.polygon(dmr.domains.circle_points(1.0, 30)))
    assert len(dmr.outline(dmr.Mesh(ring.vertices, ring.triangles), merge_collinear=True).vertices) == 30
