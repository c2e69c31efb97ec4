"""Domains of several polygons, from GeoJSON and shapely: covered and uncovered areas, and errors."""

from __future__ import annotations

import json
import logging
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from dmr import domains
from dmr.errors import DmrError, FileError, InvalidMeshError, OptionError
from tests.support.outlines.geojson import closed, collection, feature, square
from tests.support.planar import area_of, strictly_inside, winding


def covered(parts, point):
    return [
        k
        for k, (outline, holes) in enumerate(parts)
        if strictly_inside(outline, point) and not any(winding(hole, point) for hole in holes)
    ]


# ---- Several polygons -----------------------------------------------------------------------------------------------


def test_islands_in_lakes_are_meshed():
    parts = [(square(0, 0, 10), [square(2, 2, 6)]), (square(3, 3, 4), [square(4, 4, 2)])]
    made = domains.polygons(parts, attributes=[1, 2], areas=[0, 0.5], markers=[3, 4])
    mesh = dmr.triangulate(made)
    assert area_of(mesh) == 100 - 36 + 16 - 4
    assert len(made.holes) == 2
    assert not any(covered(parts, point) for point in made.holes)
    assert sorted(made.regions[:, 2:].tolist()) == [[1, 0], [2, 0.5]]
    assert [covered(parts, row[:2]) for row in sorted(made.regions.tolist(), key=lambda row: row[2])] == [[0], [1]]
    assert made.segment_markers.tolist() == [3] * 8 + [4] * 8


def test_a_hole_filled_by_another_part_is_meshed():
    made = domains.polygons([(square(0, 0, 6), [square(2, 2, 2)]), (square(2, 2, 2), [])], attributes=[1, 2])
    assert len(made.holes) == 0
    assert len(made.vertices) == 8
    assert len(made.segments) == 8
    mesh = dmr.triangulate(made)
    assert area_of(mesh) == 36
    assert {float(value) for value in mesh.triangle_attributes[:, 0]} == {1, 2}


def test_gaps_between_parts_are_not_meshed():
    frame = [[(0, 0), (3, 0), (3, 1), (0, 1)], [(0, 2), (3, 2), (3, 3), (0, 3)], square(0, 1, 1), square(2, 1, 1)]
    made = domains.polygons([(ring, []) for ring in frame])
    assert len(made.holes) == 1
    assert strictly_inside(square(1, 1, 1), made.holes[0])
    assert area_of(dmr.triangulate(made)) == 8


def test_holes_may_touch_themselves_and_split():
    bow = [(1, 1), (3, 3), (3, 1), (1, 3)]  # crosses itself in (2, 2)
    made = domains.polygons([(square(0, 0, 4), [bow])])
    assert len(made.holes) == 2
    assert area_of(dmr.triangulate(made)) == 16 - 2
    island = [(1, 2), (2, 1), (3, 2), (2, 3)]  # touches the lake's shore four times
    made = domains.polygons([(square(0, 0, 4), [square(1, 1, 2)]), (island, [])])
    assert len(made.holes) == 4
    assert area_of(dmr.triangulate(made)) == 12 + 2


boxes = st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(1, 4), st.integers(1, 4))


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(boxes, min_size=1, max_size=7))
def test_unions_of_boxes_equal_a_grid_of_cells(found):
    parts = [([(x, y), (x + w, y), (x + w, y + h), (x, y + h)], []) for x, y, w, h in found]
    made = domains.polygons(parts, attributes=range(len(parts)))
    owner = np.full((12, 12), -1)
    for k, (x, y, w, h) in enumerate(found):
        owner[x : x + w, y : y + h] = k
    mesh = dmr.triangulate(made)
    assert area_of(mesh) == np.count_nonzero(owner >= 0)
    middles = mesh.vertices[mesh.triangles].mean(axis=1).astype(int)
    assert mesh.triangle_attributes[:, 0].tolist() == owner[middles[:, 0], middles[:, 1]].tolist()
    assert all(owner[int(x), int(y)] < 0 for x, y in made.holes)


def test_invalid_parts_are_refused():
    with pytest.raises(InvalidMeshError, match="part 1: hole 0: vertex 2 "):
        domains.polygons([(square(0, 0, 1), []), (square(0, 0, 5), [[(1, 1), (2, 2), (2, 2), (1, 2)]])])
    with pytest.raises(InvalidMeshError, match=r"^attributes .*1, not 2"):
        domains.polygons([(square(0, 0, 1), [])], attributes=[1, 2])
    with pytest.raises(InvalidMeshError, match="nothing to merge"):
        domains.polygons([])


# ---- GeoJSON --------------------------------------------------------------------------------------------------------


LAND = [closed(square(0, 0, 10)), closed(square(2, 2, 6))]
ISLAND = [closed(square(4, 4, 2))]


@pytest.mark.parametrize(
    "form",
    [
        {"type": "MultiPolygon", "coordinates": [LAND, ISLAND]},
        feature("MultiPolygon", [LAND, ISLAND]),
        collection(feature("Polygon", LAND), feature("Polygon", ISLAND)),
        {
            "type": "GeometryCollection",
            "geometries": [{"type": "Polygon", "coordinates": LAND}, {"type": "Polygon", "coordinates": ISLAND}],
        },
        {"type": "MultiPolygon", "coordinates": [[ring[:-1] for ring in LAND], ISLAND]},  # rings left open
        collection(feature("Polygon", LAND), feature("Polygon", ISLAND), {"type": "Feature", "geometry": None}),
    ],
    ids=["MultiPolygon", "Feature", "FeatureCollection", "GeometryCollection", "open rings", "a feature of nothing"],
)
def test_every_geojson_form_gives_the_same_domain(form, tmp_path):
    made = domains.from_geojson(form)
    assert made.vertices.tolist() == [list(map(float, p)) for ring in (*LAND, *ISLAND) for p in ring[:-1]]
    assert area_of(dmr.triangulate(made)) == 100 - 36 + 4
    path = tmp_path / "a.geojson"
    path.write_text(json.dumps(form), encoding="utf-8-sig")
    for read in (dmr.read(path), domains.from_geojson(path), domains.from_geojson(str(path))):
        assert isinstance(read, dmr.Pslg)
        assert read.vertices.tobytes() == made.vertices.tobytes()
        assert np.array_equal(read.segments, made.segments)
        assert np.array_equal(read.holes, made.holes)


def test_coordinates_keep_their_bits():
    rng = np.random.default_rng(1)
    ring = domains.circle_points(1.0, 50) * (1 + 0.1 * rng.random((50, 1))) + (11.1, -0.0)
    form = json.loads(json.dumps({"type": "Polygon", "coordinates": [closed(ring.tolist())]}))
    assert domains.from_geojson(form).vertices.tobytes() == ring.tobytes()


def test_lines_and_points_become_segments_and_vertices():
    made = domains.from_geojson(
        collection(
            feature("Polygon", [closed(square(0, 0, 4))], tag=1),
            feature("LineString", [[0, 0], [2, 2], [3, 2]], tag=5),
            feature("MultiLineString", [[[1, 3], [2, 3]], [[2, 3], [1, 3.5], [1, 3]]], tag=6),
            feature("Point", [3, 1], tag=7),
            feature("MultiPoint", [[3.5, 1], [4, 4]]),
        ),
        marker="tag",
    )
    assert made.segment_markers.tolist() == [1] * 4 + [5] * 2 + [6] * 3
    marked = dict(zip(map(tuple, made.vertices.tolist()), made.vertex_markers.tolist(), strict=True))
    assert marked[3, 1] == 7
    assert len(made.vertices) == 4 + 2 + 2 + 1 + 2
    mesh = dmr.triangulate(made)
    assert area_of(mesh) == 16
    assert {5, 6} <= set(mesh.segment_markers.tolist())
    assert set(mesh.triangles.ravel().tolist()) == set(range(len(made.vertices)))


def test_a_line_across_a_lake_does_not_fill_its_half():
    lake = {"type": "Polygon", "coordinates": LAND}
    road = {"type": "LineString", "coordinates": [[-3, 5], [13, 5]]}
    made = domains.from_geojson({"type": "GeometryCollection", "geometries": [lake, road]})
    assert area_of(dmr.triangulate(made)) == 64
    alone = domains.from_geojson(road)
    assert len(alone.segments) == 1
    assert len(alone.holes) == 0


def test_properties_give_regions_and_markers():
    form = collection(
        feature("Polygon", LAND, soil=3, finest=0.5, edge=11, name="plain"),
        feature("MultiPolygon", [ISLAND], soil=4.5, edge=12),
        feature("Polygon", [closed(square(20, 0, 1))], name="far"),
    )
    made = domains.from_geojson(form, attribute="soil", area="finest", marker="edge")
    assert sorted(made.regions[:, 2:].tolist()) == [[0, 0], [3, 0.5], [4.5, 0]]
    assert made.segment_markers.tolist() == [11] * 8 + [12] * 4 + [0] * 4
    assert len(domains.from_geojson(form).regions) == 0
    assert domains.from_geojson(form, area="finest").regions[:, 2:].tolist() == [[0, 0.5]]
    with pytest.raises(InvalidMeshError, match=r"'rock'.*edge, finest, name, soil"):
        domains.from_geojson(form, attribute="rock")
    with pytest.raises(InvalidMeshError, match="feature 0: the property 'name' "):
        domains.from_geojson(form, area="name")
    with pytest.raises(InvalidMeshError, match="feature 0: the property 'finest' "):
        domains.from_geojson(form, marker="finest")


def test_blank_texts_are_missing_values(caplog):
    places = [closed(square(3 * k, 0, 1)) for k in range(4)]
    form = collection(
        *(feature("Polygon", [ring], use=use) for ring, use in zip(places, ["", "sand", " ", None], strict=True))
    )
    with caplog.at_level(logging.WARNING, logger="dmr"):
        made = domains.from_geojson(form, attribute="use", marker="use")
    assert made.regions[:, 2].tolist() == [0, 1, 0, 0]
    assert made.names == {"regions": {1: "sand"}, "markers": {2: "sand"}}
    assert "3 features have no property 'use' and get 0 for it (the first: feature 0)" in caplog.text


def test_omissions_are_logged(caplog):
    ring = [[0, 0, 5], [1, 0, 5], [1, 0, 5], [1, 1, 5], [0, 0, 5]]
    with caplog.at_level(logging.WARNING, logger="dmr"):
        made = domains.from_geojson(collection(feature("Polygon", [ring]), {"type": "Feature", "geometry": None}))
    assert made.vertices.tolist() == [[0, 0], [1, 0], [1, 1]]
    assert "1 point that repeats the one before was left out" in caplog.text
    assert "5 third coordinates were left out" in caplog.text
    assert "1 feature or part of one is empty and was left out" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="dmr"):
        domains.from_geojson({"type": "MultiPolygon", "coordinates": [LAND, ISLAND]})
    assert not caplog.text


@pytest.mark.parametrize(
    ("form", "element"),
    [
        ({}, ""),
        ({"type": "Topology"}, ""),
        ({"type": "Polygon"}, "the Polygon "),
        (collection(), ""),
        ({"type": "FeatureCollection"}, ""),
        (collection({"type": "Polygon", "coordinates": ISLAND}), "feature 0: "),
        (
            collection(feature("Polygon", ISLAND), feature("Polygon", [[[0, 0], [1, "1"], [0, 0]]])),
            "feature 1: the outline",
        ),
        (feature("MultiPolygon", [ISLAND, [ISLAND[0], [[1, 1], 2]]]), "part 1: hole 0 "),
        (feature("Polygon", [[[0, 0], [1, 0], ["1", 1]]]), "the outline "),
        (feature("Polygon", [[[0, 0], [1, 0], [None, 1]]]), "the outline: vertex 2 "),
        (feature("Polygon", [[0, 0], [1, 0], [1, 1]]), "the outline "),
        (feature("Polygon", [[[0], [1], [1]]]), "the outline "),
        (feature("Polygon", [[[0, 0], [1, 0], [1, float("nan")]]]), "the outline: vertex 2 "),
        (feature("Polygon", ["abc"]), "the outline "),
        (feature("Polygon", [7]), "the outline "),
        (feature("MultiPolygon", [7]), "part 0: "),
        (feature("LineString", [[0, 0]]), "the line "),
        (feature("Point", [1]), "the point "),
        (feature("Polygon", 5), "the Polygon "),
        ({"type": "Feature", "geometry": ISLAND}, ""),
        ({"type": "Feature", "geometry": {"type": "Point", "coordinates": [0, 0]}, "properties": [1]}, ""),
    ],
)
def test_invalid_geojson_is_refused(form, element, tmp_path):
    with pytest.raises(InvalidMeshError, match=element or None):
        domains.from_geojson(form)
    path = tmp_path / "bad.geojson"
    path.write_text(json.dumps(form))
    with pytest.raises(FileError, match=element or None) as caught:
        dmr.read(path)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"type": "Topology"}, "'Topology'"),
        ({"type": "Polygon"}, "the Polygon has no list of coordinates"),
        (collection(), "holds no polygon, line or point"),
        (feature("Polygon", [[[0], [1], [1]]]), "one has 1 numbers"),
    ],
)
def test_sentences_about_geojson_say_what_is_wrong(form, said):
    with pytest.raises(InvalidMeshError, match=said):
        domains.from_geojson(form)


def test_invalid_files_are_refused(tmp_path):
    path = tmp_path / "a.geojson"
    for content, said, line in (
        (b'{"type":\n\n "Polygon",}', "is not JSON: ", 3),
        (b"", "is not JSON", 1),
        (b'{"type', "is not JSON: Unterminated string starting at column 2", 1),
        (b'\xff\xfe{"type"', "not encoded in UTF-8", None),
        (b"[" * 200_000, "cannot be read as JSON", None),
        (b"[1, 2]", "it has no type", None),
    ):
        path.write_bytes(content)
        with pytest.raises(FileError, match=said) as caught:
            dmr.read(path)
        assert caught.value.line == line
    nested = {"type": "Point", "coordinates": [0, 0]}
    for _ in range(2 * sys.getrecursionlimit()):
        nested = {"type": "GeometryCollection", "geometries": [nested]}
    with pytest.raises(InvalidMeshError, match="nested too deeply"):
        domains.from_geojson(nested)
    with pytest.raises(FileError, match=r"nothing\.geojson: does not exist"):
        dmr.read(tmp_path / "nothing.geojson")
    with pytest.raises(FileError, match="cannot be read"):
        domains.from_geojson(tmp_path / "nothing.geojson")
    with pytest.raises(OptionError, match="a file or a mapping, not list"):
        domains.from_geojson([1])
    with pytest.raises(FileError, match="unknown suffix"):
        dmr.write(path, domains.rectangle(1, 1))


# ---- shapely --------------------------------------------------------------------------------------------------------


def test_shapely_geometries():
    shapely = pytest.importorskip("shapely")
    lake = shapely.Polygon(square(0, 0, 10), [square(2, 2, 6)])
    island = shapely.Point(5, 5).buffer(2)
    both = shapely.union(lake, island)
    made = domains.from_shapely(both)
    assert abs(float(area_of(dmr.triangulate(made))) - both.area) < 1e-12
    corners = {
        tuple(point) for part in both.geoms for ring in (part.exterior, *part.interiors) for point in ring.coords
    }
    assert {tuple(point) for point in made.vertices.tolist()} == corners
    line = domains.from_shapely(shapely.LineString([(0, 0), (1, 1)]))
    assert line.segments.tolist() == [[0, 1]]
    assert len(domains.from_shapely(shapely.LinearRing(square(0, 0, 1))).segments) == 4
    text = domains.from_shapely("GEOMETRYCOLLECTION(POLYGON((0 0,1 0,1 1,0 1,0 0)),LINESTRING(0 0,0.5 0.5))")
    assert len(text.segments) == 5
    with pytest.raises(InvalidMeshError, match="holds no polygon"):
        domains.from_shapely(shapely.Polygon())
    with pytest.raises(InvalidMeshError, match="well-known text"):
        domains.from_shapely("POLYGON((0 0")


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_unions_of_random_buffers_keep_their_area(seed):
    shapely = pytest.importorskip("shapely")
    rng = np.random.default_rng(seed)
    rings = [shapely.Point(x, y).buffer(r).boundary.buffer(r / 4) for x, y, r in rng.random((6, 3)) * (4, 4, 1.5)]
    union = shapely.union_all(rings)
    made = domains.from_shapely(union)
    assert abs(float(area_of(dmr.triangulate(made))) - union.area) < 1e-9
    for point in made.holes:
        assert not union.contains(shapely.Point(point))


def test_missing_shapely_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "shapely", None)
    with pytest.raises(DmrError, match="pip install shapely"):
        domains.from_shapely("POINT(0 0)")
    with pytest.raises(OptionError, match="__geo_interface__"):
        domains.from_shapely(5)

    class Anything:
        __geo_interface__ = feature("Polygon", ISLAND)

    assert len(domains.from_shapely(Anything()).segments) == 4


# ---- Tables of geopandas -------------------------------------------------------------------------------------------


def test_markers_of_lines_come_before_those_of_polygons():
    for features in ([0, 1], [1, 0]):
        both = [
            feature("Polygon", [closed(square(0, 0, 4))], tag=1),
            feature("LineString", [[0, 0], [4, 0]], tag=5),
        ]
        made = domains.from_geojson(collection(*(both[k] for k in features)), marker="tag")
        assert made.segment_markers.tolist() == [5, 1, 1, 1]


class Table:
    """Stands for a table of geopandas: its features, and its coordinate reference system."""

    def __init__(self, crs=None):
        self.crs = crs
        self.__geo_interface__ = collection(feature("Polygon", [closed(square(0, 0, 4))], soil="clay", edge=3))


def test_columns_of_a_table_give_regions_and_markers():
    made = domains.from_shapely(Table(), attribute="soil", marker="edge")
    assert made.names["regions"] == {1: "clay"} and set(made.segment_markers.tolist()) == {3}


def test_a_table_is_projected_from_its_own_system():
    pytest.importorskip("pyproj")
    by_table = domains.from_shapely(Table("EPSG:4326"), project="EPSG:3857")
    assert by_table.vertices.max() == pytest.approx(445_640, rel=1e-3)
    given = domains.from_shapely(Table(), crs="OGC:CRS84", project="EPSG:3857")
    assert np.array_equal(given.vertices, by_table.vertices)
    with pytest.raises(InvalidMeshError, match="names no coordinate reference system to project from"):
        domains.from_shapely(Table(), project="EPSG:3857")
    with pytest.raises(OptionError, match="crs must be the name of a coordinate reference system, not 4326"):
        domains.from_shapely(Table(), crs=4326)
