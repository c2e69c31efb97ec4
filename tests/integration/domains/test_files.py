"""Feature files: compressed, with rings without area, in degrees, and from GIS programs."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import json
import logging
import lzma
import sys

import numpy as np
import pytest

import dmr
from dmr import domains
from dmr.cli import main
from dmr.errors import DmrError, FileError, InvalidMeshError, KindError, MissingFileError, OptionError
from tests.support.outlines.geojson import closed, collection, feature, square
from tests.support.planar import area_of

LAND = [closed(square(0, 0, 10)), closed(square(2, 2, 6))]
FORM = {"type": "Polygon", "coordinates": LAND}
TEXT = json.dumps(FORM).encode()
BOW = [[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]  # two triangles whose areas cancel

EMPTY = {
    "one corner": [[5, 5], [5, 5]],
    "two corners": [[5, 5], [6, 5], [5, 5]],
    "a line": [[0, 0], [1, 1], [2, 2], [0, 0]],
    "a line, back and forth": [[0, 0], [3, 3], [1, 1], [2, 2], [0, 0]],
    "a path and back": [[0, 0], [1, 0], [1, 1], [1, 0], [0, 0]],
    "a tree": [[0, 0], [1, 0], [1, 1], [1, 0], [2, 0], [1, 0], [0, 0]],
    "no corner": [],
}


def same(one, other):
    return one.vertices.tobytes() == other.vertices.tobytes() and np.array_equal(one.segments, other.segments)


# ---- Names and compression ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("a.json", bytes),
        ("a.geojson.gz", gzip.compress),
        ("a.GEOJSON.GZ", gzip.compress),
        ("a.json.gz", gzip.compress),
        ("a.geojson.bz2", bz2.compress),
        ("a.geojson.xz", lzma.compress),
    ],
)
def test_geojson_by_other_suffixes_and_compressed(tmp_path, name, pack):
    path = tmp_path / name
    path.write_bytes(pack(TEXT))
    expected = domains.from_geojson(FORM)
    assert same(dmr.read(path), expected)
    assert same(domains.from_file(path), expected)
    assert same(domains.from_geojson(path), expected)
    assert dmr.io.next_name(path).name == "a.1.ele"


def test_damaged_compression_is_refused(tmp_path):
    for name, content in (
        ("cut.geojson.gz", gzip.compress(TEXT, mtime=0)[:-9]),
        ("plain.geojson.gz", TEXT),
        ("flipped.geojson.gz", gzip.compress(TEXT, mtime=0)[:12] + b"\xff\xff\xff" + gzip.compress(TEXT, mtime=0)[15:]),
        ("plain.geojson.bz2", TEXT),
        ("cut.geojson.xz", lzma.compress(TEXT)[:-9]),
        ("plain.json.xz", TEXT),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileError, match="cannot be decompressed") as caught:
            dmr.read(tmp_path / name)
        assert caught.value.path == tmp_path / name


def test_decompression_beyond_the_memory_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.geojson.gz"
    path.write_bytes(gzip.compress(b" " * (1 << 26)))
    asked = []

    def refuse(needed, what):
        asked.append(needed)
        if needed > 1 << 27:
            raise dmr.errors.OutOfMemoryError(f"{what} is too large")

    monkeypatch.setattr("dmr.common.files.compressed.require_memory", refuse)
    with pytest.raises(dmr.errors.OutOfMemoryError, match=r"a\.geojson\.gz is too large"):
        dmr.read(path)
    assert max(asked) < 5 << 26  # it was not decompressed to its end


def test_json_without_geojson_is_refused(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"name": 5}')
    with pytest.raises(FileError, match="not a GeoJSON object"):
        dmr.read(path)
    with pytest.raises(OptionError, match="features are read from"):
        domains.from_file(tmp_path / "a.poly")
    with pytest.raises(KindError, match="layer must be"):
        domains.from_file(path, layer=5)
    with pytest.raises(OptionError, match="no layers"):
        domains.from_file(path, layer="a")


# ---- Rings that enclose nothing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ring", EMPTY.values(), ids=EMPTY)
def test_rings_without_area_are_left_out(ring, caplog):
    form = {"type": "MultiPolygon", "coordinates": [LAND, [ring, ISLAND], [*LAND, ring]]}
    with caplog.at_level(logging.WARNING, logger="dmr"):
        made = domains.from_geojson(form)
    assert same(made, domains.from_geojson(FORM))
    (said,) = [record.getMessage() for record in caplog.records if "enclose" in record.getMessage()]
    assert said.startswith("GeoJSON: 2 rings enclose nothing and are left out (the first: part 1: the outline, since ")
    with pytest.raises(InvalidMeshError, match="part 1: the outline "):
        domains.from_geojson(form, on_conflict="error")
    with pytest.raises(InvalidMeshError, match="part 0: the outline"):
        domains.from_geojson({"type": "MultiPolygon", "coordinates": [[ring]]})


ISLAND = closed(square(4, 4, 2))


def test_self_crossing_rings_with_zero_signed_area_are_kept():
    for policy in ("resolve", "error"):
        made = domains.from_geojson({"type": "Polygon", "coordinates": [BOW]}, on_conflict=policy)
        assert area_of(dmr.triangulate(made)) == 2


def test_needles_far_from_the_origin_are_kept():
    needle = [[1e9, 1e9], [1e9 + 1, 1e9], [1e9, 1e9 + 2**-22], [1e9, 1e9]]
    assert len(domains.from_geojson({"type": "Polygon", "coordinates": [needle]}, on_conflict="error").segments) == 3


def test_shapely_rings_without_area_are_left_out():
    shapely = pytest.importorskip("shapely")
    flat = shapely.MultiPolygon([shapely.box(0, 0, 1, 1), shapely.Polygon([(5, 5), (6, 6), (7, 7)])])
    assert len(domains.from_shapely(flat).segments) == 4
    with pytest.raises(InvalidMeshError, match="part 1: the outline "):
        domains.from_shapely(flat, on_conflict="error")
    with pytest.raises(OptionError, match="on_conflict must be one of"):
        domains.from_shapely(flat, on_conflict="maybe")


def test_slivers_and_overlaps_are_meshed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    parts = [LAND, [EMPTY["a line"]], [closed([(-170, 1), (170, 1), (170, 1.0001)])], [closed(square(9, 5, 4))]]
    text = json.dumps({"type": "MultiPolygon", "coordinates": parts}).encode()
    (tmp_path / "land.geojson.gz").write_bytes(gzip.compress(text))
    assert main(["refine", "land.geojson.gz", "-q", "0"]) == 0
    said = capsys.readouterr().err
    assert "warning: GeoJSON: 1 ring encloses nothing and is left out (the first: part 1: the outline" in said
    assert "longitude and latitude" in said
    assert "crossings of segments" in said
    assert main(["validate", "land.1.ele", "--input", "land.geojson.gz"]) == 0
    capsys.readouterr()
    assert main(["refine", "land.geojson.gz", "-q", "0", "--on-conflict", "error"]) == 1
    assert "part 1: the outline encloses nothing: all its 3 corners lie on one line" in capsys.readouterr().err


# ---- Properties -----------------------------------------------------------------------------------------------------

TWO = collection(
    feature("Polygon", [closed(square(0, 0, 1))], soil=1, fine=0.01, edge=0),
    feature("Polygon", [closed(square(1, 0, 1))], soil=2.5, edge=4),
    feature("Polygon", [closed(square(2, 0, 1))], soil=3, fine=-1, edge=5),
)


def test_properties_by_command_line_options(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.geojson").write_text(json.dumps(TWO))
    asked = ["--attribute", "soil", "--area", "fine", "--marker", "edge"]
    assert main(["refine", "two.geojson", *asked]) == 0
    assert "1 feature has no property 'fine' and gets 0 for it (the first: feature 1)" in capsys.readouterr().err
    mesh = dmr.read("two.1.ele")
    first = mesh.triangle_attributes[:, 0] == 1
    assert set(mesh.triangle_attributes[:, 0].tolist()) == {1, 2.5, 3}
    assert (np.array([float(each) for each in areas(mesh)])[first] <= 0.01).all()
    assert {1, 4, 5} <= set(mesh.segment_markers.tolist())
    shared = (mesh.vertices[mesh.segments][:, :, 0] == 2).all(axis=1)  # the first marker that is not 0
    assert set(mesh.segment_markers[shared].tolist()) == {4}
    assert main(["validate", "two.1.ele", "-q", "30", "--input", "two.geojson", *asked]) == 0
    capsys.readouterr()
    assert main(["refine", "two.geojson", "--attribute", "rock"]) == 1
    assert "no feature has the property 'rock'; there are: edge, fine, soil" in capsys.readouterr().err
    assert main(["refine", "two.1.ele", "--marker", "edge"]) == 2
    assert "--marker: only files with features" in capsys.readouterr().err
    assert main(["validate", "two.1.ele", "--marker", "edge"]) == 2
    assert "give --input" in capsys.readouterr().err
    (tmp_path / "layers.gpkg").touch()  # it is not read
    for words in (["optimize", "layers.gpkg"], ["adapt", "layers.gpkg", "--size", "1"], ["validate", "two.geojson"]):
        assert main(words) == 1
        assert "is an outline without triangles; " + words[0] in capsys.readouterr().err
    if importlib.util.find_spec("pyproj"):
        assert main(["refine", "two.geojson", "--project", "EPSG:0"]) == 2
        assert "error: --project must be a coordinate reference system" in capsys.readouterr().err


def areas(mesh):
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    return ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]) / 2


# ---- Degrees --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "noted"),
    [
        (FORM, True),
        ({"type": "Polygon", "coordinates": [closed(square(4e6, 0, 10))]}, False),
        ({**FORM, "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::4326"}}}, True),
        ({**FORM, "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}}, True),
        ({**FORM, "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}}}, False),
        ({**FORM, "crs": None}, True),
    ],
)
def test_coordinates_in_degrees_are_noticed(form, noted, caplog):
    with caplog.at_level(logging.INFO, logger="dmr"):
        domains.from_geojson(form)
    assert sum("longitude and latitude in degrees" in record.getMessage() for record in caplog.records) == noted


def test_missing_packages_are_named_with_the_remedy(monkeypatch, tmp_path):
    for name in ("pyproj", "pyogrio"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(DmrError, match="pip install pyproj"):
        domains.from_geojson(FORM, project="EPSG:3857")
    for name in ("a.gpkg", "a.shp"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(DmrError, match="pip install pyogrio"):
            dmr.read(tmp_path / name)
    with pytest.raises(MissingFileError):
        dmr.read(tmp_path / "b.shp")


def test_coordinates_are_projected():
    pytest.importorskip("pyproj")
    ring = np.array([(0, 0), (90, 0), (90, 60), (0, 60.0)])
    made = domains.from_geojson({"type": "Polygon", "coordinates": [closed(ring.tolist())]}, project="EPSG:3857")
    # Spherical Mercator by its formula.
    radius, (x, y) = 6378137, np.radians(ring.T)
    expected = np.column_stack((radius * x, radius * np.log(np.tan(np.pi / 4 + y / 2))))
    assert np.allclose(made.vertices, expected, rtol=1e-12, atol=1e-6)
    back = {"type": "Polygon", "coordinates": [made.vertices.tolist()]}
    mercator = {"crs": {"type": "name", "properties": {"name": "EPSG:3857"}}}
    assert np.allclose(domains.from_geojson({**back, **mercator}, project="OGC:CRS84").vertices, ring)
    with pytest.raises(InvalidMeshError, match="the outline: vertex 1 at "):
        domains.from_geojson(back, project="EPSG:3857")
    with pytest.raises(OptionError, match=r"^project "):
        domains.from_geojson(FORM, project="EPSG:0")
    with pytest.raises(KindError, match="project must be the name"):
        domains.from_geojson(FORM, project=3857)


# ---- Other formats --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".gpkg", ".shp"])
def test_files_of_gis_programs(tmp_path, suffix, monkeypatch, capsys):
    pyogrio = pytest.importorskip("pyogrio")
    shapely = pytest.importorskip("shapely")
    monkeypatch.chdir(tmp_path)
    shapes = np.array([shapely.box(0, 0, 1, 1), shapely.box(1, 0, 2, 1), None], object)
    columns = [np.array([1, 2, 3], np.int32), np.array([0.5, np.nan, 1]), np.array(["x", "y", "z"], object)]
    path = tmp_path / f"a{suffix}"
    options = {"geometry_type": "Polygon", "crs": "EPSG:4326"}
    pyogrio.raw.write(path, shapely.to_wkb(shapes), columns, ["soil", "fine", "name"], **options)
    made = domains.from_file(path, attribute="soil", area="fine", marker="soil")
    assert sorted(made.regions[:, 2:].tolist()) == [[1, 0.5], [2, 0]]
    assert len(made.vertices) == 6
    assert sorted(made.segment_markers.tolist()) == [1, 1, 1, 1, 2, 2, 2]
    assert same(dmr.read(path), made)
    assert main(["refine", path.name, "--attribute", "soil", "--area", "fine"]) == 0
    assert "longitude and latitude" in capsys.readouterr().err
    with pytest.raises(FileError, match="feature 0: the property 'name' "):
        domains.from_file(path, area="name")
    assert domains.from_file(path, attribute="name").names["regions"] == {1: "x", 2: "y"}
    with pytest.raises(FileError, match="'rock'"):
        domains.from_file(path, attribute="rock")
    if suffix == ".gpkg":
        more = {"layer": "other", "geometry_type": "Polygon", "crs": "EPSG:3857", "append": True}
        pyogrio.raw.write(path, shapely.to_wkb(shapes[:1]), [np.array([7])], ["soil"], **more)
        with pytest.raises(FileError, match="a, other"):
            dmr.read(path)
        assert len(domains.from_file(path, layer="other").vertices) == 4
        assert main(["info", path.name, "--layer", "other"]) == 0
        with pytest.raises(OptionError, match="no layer 'third'"):
            domains.from_file(path, layer="third")
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(FileError, match=f"cannot be read as {suffix}"):
        dmr.read(path)


def test_a_shapefile_without_a_reference_system_is_not_projected(tmp_path):
    pyogrio = pytest.importorskip("pyogrio")
    shapely = pytest.importorskip("shapely")
    pytest.importorskip("pyproj")
    path = tmp_path / "a.shp"
    shapes = np.array([shapely.box(0, 0, 1, 1)], object)
    pyogrio.raw.write(path, shapely.to_wkb(shapes), [np.array([1])], ["soil"], geometry_type="Polygon", crs="EPSG:4326")
    assert domains.from_file(path, project="EPSG:3857").vertices.max() > 1e5
    path.with_suffix(".prj").unlink()
    with pytest.raises(FileError, match="no coordinate reference system"):
        domains.from_file(path, project="EPSG:3857")
    assert len(domains.from_file(path).vertices) == 4
