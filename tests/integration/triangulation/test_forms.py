"""Domains in every form that users have them: points, pairs, dictionaries of Triangle, geometries of other packages."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace

import numpy as np
import pytest

import dmr
from dmr.errors import InvalidMeshError, OptionError, WrongTypeError
from tests.support.planar import area_of, hull_area

SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4]]
RING = [[0, 1], [1, 2], [2, 3], [3, 0]]
BAY = [[0, 0], [4, 0], [4, 4], [2, 1], [0, 4]]  # concave: its convex hull is larger
BAY_RING = [[k, (k + 1) % 5] for k in range(5)]
FOUR = {"vertices": SQUARE, "segments": RING}


class Feature:
    """An object of another package."""

    def __init__(self, geometry, **rest):
        self.__geo_interface__ = {**geometry, **rest}


def ring(*corners):
    return {"type": "Polygon", "coordinates": [[*corners, corners[0]]]}


# ---- Points, and points with segments ------------------------------------------------------------------------------


@pytest.mark.parametrize("points", [BAY, tuple(map(tuple, BAY)), np.array(BAY), np.array(BAY, np.float32)])
def test_points_mean_their_convex_hull_without_a_word(points, caplog):
    with caplog.at_level(logging.INFO):
        mesh = dmr.triangulate(points)
        fine = dmr.refine(points, max_area=0.5, device="cpu", threads=1)
    assert area_of(mesh) == hull_area(BAY) == pytest.approx(area_of(fine.mesh))
    assert caplog.text == "" and fine.warnings == ()
    assert dmr.validate(fine.mesh, input=points, max_area=0.5).ok


def test_two_points_are_points_and_not_a_pair():
    with pytest.raises(InvalidMeshError, match="2 vertices span no triangle"):
        dmr.triangulate([(0, 0), (1, 1)])


@pytest.mark.parametrize("wrap", [tuple, list])
def test_a_pair_is_points_and_segments(wrap):
    mesh = dmr.triangulate(wrap([BAY, BAY_RING]))
    assert area_of(mesh) == 10
    fine = dmr.refine(wrap([np.array(BAY), np.array(BAY_RING)]), device="cpu", threads=1)
    assert dmr.validate(fine.mesh, input=wrap([BAY, BAY_RING]), min_angle=30).ok
    assert area_of(dmr.triangulate(wrap([BAY, []]))) == hull_area(BAY)


def test_options_for_outlines_are_refused_for_a_mesh():
    mesh = dmr.triangulate(BAY)
    for given in (mesh, mesh.to_triangle()):
        assert dmr.validate(mesh, input=given).ok
        with pytest.raises(OptionError, match="convex_hull is for outlines: a mesh has its domain already"):
            dmr.refine(given, convex_hull=True)
        with pytest.raises(OptionError, match="mesher is for outlines: a mesh is not triangulated"):
            dmr.refine(given, mesher="triangle")


def test_a_graph_without_segments_is_its_points():
    assert area_of(dmr.triangulate(dmr.Pslg(BAY), convex_hull=True)) == hull_area(BAY)
    assert dmr.Pslg(BAY).segments.shape == (0, 2)


def test_indices_from_one_are_recognised():
    with pytest.raises(
        InvalidMeshError, match="vertex 4, but there are 4 vertices; they are counted from 0, not from 1"
    ):
        dmr.Pslg(SQUARE, [[1, 2], [2, 3], [3, 4], [4, 1]])
    with pytest.raises(InvalidMeshError, match=r"vertex 4, but there are 4 vertices$"):
        dmr.Pslg(SQUARE, [[0, 4]])


def test_a_data_frame_of_two_columns_is_points():
    pandas = pytest.importorskip("pandas")
    assert area_of(dmr.triangulate(pandas.DataFrame(SQUARE, columns=["x", "y"]))) == 16


@pytest.mark.parametrize(
    ("domain", "kind", "text"),
    [
        ((SQUARE, RING, [[1, 1]]), WrongTypeError, "length 3: dmr.Pslg"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], InvalidMeshError, r"points must have shape \(n, 2\), not \(3, 3\)"),
        ([0, 1, 2, 3], InvalidMeshError, r"points must have shape"),
        ([[0, 0], [1, "a"]], InvalidMeshError, "points must be a table of real numbers"),
        ((SQUARE, [[0, 9]]), InvalidMeshError, "names vertex 9, but there are 4"),
        ([[0, 0], [1, 0], [np.nan, 1]], InvalidMeshError, "vertex 2: .* not finite"),
        ([], InvalidMeshError, "0 vertices span no triangle"),
    ],
)
def test_other_sequences_are_refused_in_a_sentence(domain, kind, text):
    with pytest.raises(kind, match=text):
        dmr.triangulate(domain)


# ---- Dictionaries of Triangle --------------------------------------------------------------------------------------

SHAPES = [
    {},
    {"vertex_markers": [1, 2, 3, 4]},
    {"vertex_markers": [[1], [2], [3], [4]]},
    {"segment_markers": [5, 6, 7, 8]},
    {"segment_markers": np.array([[5.0], [6], [7], [8]])},
    {"vertex_attributes": [1.0, 2, 3, 4]},
    {"vertex_attributes": [[1.0, 2], [2, 3], [3, 4], [4, 5]]},
    {"segments": np.array(RING, float)},
    {"segments": np.array(RING, np.uint8)},
    {"segments": tuple(map(tuple, RING))},
    {"regions": [[1, 1, 7, 0.5]]},
    {"vertices": [*SQUARE, [1, 1], [2, 1], [1, 2]], "segments": [*RING, [4, 5], [5, 6], [6, 4]], "holes": [[1.2, 1.2]]},
]


@pytest.mark.parametrize("change", SHAPES, ids=lambda change: " ".join(change) or "plain")
def test_shapes_that_triangle_takes_are_taken(change):
    triangle = pytest.importorskip("triangle")
    data = {**FOUR, **change}
    other = triangle.triangulate(data, "pA" if "regions" in change else "p")
    ours = dmr.triangulate(data)
    theirs = dmr.Mesh.from_triangle(other)
    assert area_of(ours) == area_of(theirs)
    for name in ("segment_markers", "vertex_attributes", "triangle_attributes"):
        found, wanted = (np.unique(getattr(mesh, name), axis=0).tolist() for mesh in (ours, theirs))
        assert found == wanted, name
    again = dmr.Pslg.from_triangle(dmr.Pslg.from_triangle(data).to_triangle())
    triangle.triangulate(again.to_triangle(), "p")
    for name in ("vertices", "segments", "segment_markers", "holes", "regions", "vertex_attributes"):
        assert np.array_equal(getattr(again, name), getattr(dmr.Pslg.from_triangle(data), name)), name


def test_a_dictionary_with_triangles_is_a_mesh_to_refine_and_points_to_triangulate():
    data = {**FOUR, "triangles": [[0, 1, 2], [0, 2, 3]], "triangle_max_area": [0.5, 2], "triangle_attributes": [1.0, 2]}
    fine = dmr.refine(data, device="cpu", threads=1)
    assert dmr.validate(fine.mesh, input=data, min_angle=30).ok
    assert np.unique(fine.mesh.triangle_attributes).tolist() == [1, 2]
    assert dmr.triangulate(data).area_bounds is None


def test_results_of_triangle_come_back_whole():
    triangle = pytest.importorskip("triangle")
    found = triangle.triangulate(FOUR, "pqea1n")
    assert {"neighbors", "edges"} <= set(found)
    mesh = dmr.Mesh.from_triangle(found)
    assert np.array_equal(mesh.neighbours, dmr.Mesh(found["vertices"], found["triangles"]).neighbours)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"points": SQUARE}, "the entry 'points', which the triangle package does not know; it knows vertices, holes"),
        ({"segments": RING}, "holds no vertices"),
        ({**FOUR, "segments": [[0, 0.5]]}, "segments must hold whole numbers"),
        ({**FOUR, "holes": [1.0, 1.0]}, r"holes must have shape \(n, 2\)"),
        ({**FOUR, "vertex_markers": [1, 2]}, r"vertex_markers must have shape \(4,\)"),
        ({**FOUR, "segments": [[0, 1], [2]]}, "segments must be a table of numbers"),
    ],
)
def test_dictionaries_that_do_not_fit_are_refused(data, text):
    for take in (dmr.triangulate, dmr.refine, dmr.Pslg.from_triangle):
        with pytest.raises(InvalidMeshError, match=text):
            take(data)


def test_what_is_no_dictionary_is_refused():
    for kind in (dmr.Mesh, dmr.Pslg):
        with pytest.raises(WrongTypeError, match="data must be a dictionary of the triangle package, not 7"):
            kind.from_triangle(7)


# ---- Geometries ----------------------------------------------------------------------------------------------------


def test_anything_with_a_geo_interface_is_a_domain(caplog):
    bay = Feature(ring(*BAY))
    collection = {"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": ring(*BAY)}]}
    for domain in (bay, [bay], (Feature(collection["features"][0]),), Feature(collection)):
        assert area_of(dmr.triangulate(domain)) == 10
    assert caplog.text == ""
    assert area_of(dmr.triangulate(json.loads(json.dumps(collection)))) == 10


def test_a_list_of_neighbours_is_their_union():
    parts = [Feature(ring((k, 0), (k + 1, 0), (k + 1, 1), (k, 1))) for k in range(3)]
    mesh = dmr.triangulate(parts)
    assert area_of(mesh) == 3 and len(mesh.segments) == 10
    fine = dmr.refine(parts, max_area=0.1, device="cpu", threads=1).mesh
    assert dmr.validate(fine, input=parts, min_angle=30, max_area=0.1).ok


def test_an_array_of_geometries_is_a_list_of_them():
    """As of `shapely.get_parts`, and the values of a column of geopandas."""
    parts = np.array([Feature(ring((k, 0), (k + 1, 0), (k + 1, 1), (k, 1))) for k in range(3)])
    assert parts.shape == (3,)
    assert area_of(dmr.triangulate(parts)) == area_of(dmr.triangulate(dmr.domains.from_shapely(parts))) == 3


@pytest.mark.parametrize(
    ("attributes", "hint"),
    [
        (["points", "simplices"], r"dmr.Mesh\(d.points, d.simplices\)"),
        (["x", "y", "triangles"], r"dmr.Mesh\(numpy.column_stack\(\[t.x, t.y\]\), t.triangles\)"),
        (["p", "t", "facets"], r"dmr.Mesh\(m.p.T, m.t.T\)"),
    ],
)
def test_triangulations_of_other_packages_are_refused_with_a_remedy(attributes, hint):
    with pytest.raises(WrongTypeError, match=f"not a SimpleNamespace: make one by {hint}"):
        dmr.refine(SimpleNamespace(**dict.fromkeys(attributes)))


def test_points_and_triangles_are_not_points_and_segments():
    with pytest.raises(WrongTypeError, match=r"points and triangles are a mesh, dmr.Mesh\(points, triangles\)"):
        dmr.refine((SQUARE, np.array([[0, 1, 2], [0, 2, 3]])))


def test_a_list_of_geometries_and_other_things_is_refused():
    with pytest.raises(OptionError, match="a geometry has a __geo_interface__"):
        dmr.triangulate([Feature(ring(*BAY)), 7])


def test_shapely_and_geopandas():
    shapely = pytest.importorskip("shapely")
    disc = shapely.Point(0, 0).buffer(2).difference(shapely.Point(0, 0).buffer(1))
    fine = dmr.refine(disc, max_area=0.05, device="cpu", threads=1).mesh
    assert area_of(fine) == pytest.approx(disc.area)
    scattered = shapely.MultiPoint(SQUARE)
    assert area_of(dmr.triangulate(scattered)) == 16
    geopandas = pytest.importorskip("geopandas")
    table = geopandas.GeoDataFrame({"soil": [1, 2]}, geometry=[shapely.box(0, 0, 1, 1), shapely.box(1, 0, 2, 2)])
    for domain in (table, table.geometry, list(table.geometry), table.geometry.values, table.geometry.to_numpy()):
        assert area_of(dmr.triangulate(domain)) == 3
