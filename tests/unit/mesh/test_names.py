"""Names of regions and markers: checks, and what keeps them."""

from __future__ import annotations

import copy
import logging
import pickle
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import dmr
from dmr import Pslg, distributed, domains
from dmr.errors import InvalidMeshError
from dmr.mesh.types import Mesh

CORNERS, SIDES = [[0, 0], [2, 0], [2, 1], [0, 1]], [[0, 1], [1, 2], [2, 3], [3, 0]]
NAMES = {"regions": {1: "steel", -2: "air"}, "markers": {10: "inlet", 11: "steel"}}


def plate() -> Pslg:
    """A rectangle of two regions."""
    border = Pslg([[1, 0], [1, 1]], [[0, 1]], segment_markers=[5])
    outline = Pslg(CORNERS, SIDES, segment_markers=[10, 11, 12, 12], names=NAMES)
    return domains.with_regions(domains.merge(outline, border), [(0.5, 0.5, 1), (1.5, 0.5, -2)])


def test_names_are_copied_with_both_kinds_and_in_order() -> None:
    given = {"markers": {3: "b", 2: "a"}}
    graph = Pslg(CORNERS, SIDES, names=given)
    given["markers"][4] = "later"
    assert graph.names == {"regions": {}, "markers": {2: "a", 3: "b"}} and list(graph.names["markers"]) == [2, 3]
    assert Pslg(CORNERS, SIDES).names == {"regions": {}, "markers": {}}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "names must be a dictionary such as"),
        ({"region": {1: "a"}}, "names must be a dictionary such as"),
        ({"regions": ["a"]}, "must be a dictionary from numbers to names"),
        ({"regions": {1.5: "a"}}, "32-bit whole numbers as keys, not 1.5"),
        ({"regions": {True: "a"}}, "32-bit whole numbers as keys, not True"),
        ({"regions": {2**31: "a"}}, "32-bit whole numbers"),
        ({"markers": {0: "a"}}, "marker 0 means no marker"),
        ({"markers": {1: ""}}, "name of marker 1 must be printable text"),
        ({"markers": {1: " "}}, "name of marker 1 must be printable text"),
        ({"markers": {1: "a\nb"}}, "name of marker 1 must be printable text"),
        ({"markers": {1: 'a"b'}}, "name of marker 1 must be printable text"),
        ({"markers": {1: "boundary_2"}}, "other than region_<n> and boundary_<n>"),
        ({"markers": {1: b"a"}}, "name of marker 1 must be printable text"),
        ({"markers": {1: "a", 2: "a"}}, "markers 1 and 2 have the same name, 'a'"),
    ],
)
def test_invalid_names_are_refused(names: object, message: str) -> None:
    with pytest.raises(InvalidMeshError, match=message):
        Pslg(CORNERS, SIDES, names=names)
    with pytest.raises(InvalidMeshError, match=message):
        Mesh(CORNERS, [[0, 1, 2]], names=names)


def test_triangulation_refinement_and_second_order_keep_names() -> None:
    graph = plate()
    mesh = dmr.triangulate(graph)
    fine = dmr.refine(graph, max_area=0.05, device="cpu", threads=1).mesh
    again = dmr.refine(fine, max_area=0.02, device="cpu", threads=1).mesh
    for item in (graph, mesh, fine, again, dmr.second_order(fine)):
        assert item.names == NAMES
    assert {1, -2} == set(fine.triangle_attributes[:, 0].tolist())


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda item: pickle.loads(pickle.dumps(item)), replace])
def test_copies_keep_names(again) -> None:
    assert again(plate()).names == NAMES and again(dmr.triangulate(plate())).names == NAMES


def test_objects_pickled_before_there_were_names_have_none() -> None:
    restore, (kind, state) = plate().__reduce__()
    old = restore(kind, {name: value for name, value in state.items() if name != "names"})
    assert old.names == {"regions": {}, "markers": {}}
    assert {each.name for each in fields(old)} == set(vars(old))


def test_compositions_unite_names() -> None:
    one, two = (domains.rectangle(1, 1, (x, 0), markers=7) for x in (0, 1))
    one = domains.with_names(one, markers={7: "wall"}, regions={1: "left"})
    two = domains.with_names(two, markers={7: "wall"}, regions={2: "right"})
    both = domains.merge(one, two)
    assert both.names == {"regions": {1: "left", 2: "right"}, "markers": {7: "wall"}}
    assert domains.with_holes(both, [[0.5, 0.5]]).names == both.names
    with pytest.raises(InvalidMeshError, match="marker 7 two names: 'wall' and 'door'"):
        domains.merge(one, domains.with_names(domains.rectangle(1, 1, (1, 0), markers=7), markers={7: "door"}))
    with pytest.raises(InvalidMeshError, match="regions 1 and 3 have the same name, 'left'"):
        domains.with_names(one, regions={3: "left"})


def test_names_of_numbers_that_nothing_has_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "dmr")
    plate = domains.with_regions(domains.rectangle(1, 1, markers=[1, 1, 2, 1]), [(0.5, 0.5, 4)])
    domains.with_names(plate, regions={4: "steel"}, markers={1: "wall", 2: "inlet"})
    assert not caplog.text
    assert domains.with_names(plate, markers={2: "inlet", 3: "outlet"}).names["markers"] == {2: "inlet", 3: "outlet"}
    assert "nothing has the marker 3, which is named 'outlet'; there are markers 1, 2" in caplog.text
    domains.with_names(domains.rectangle(1, 1), regions={1: "steel"})
    assert "nothing has the region 1, which is named 'steel'; there are no regions" in caplog.text


@pytest.mark.parametrize("mesher", ["dmr", "triangle"])
def test_the_default_marker_has_no_name(mesher: str) -> None:
    """Gmsh numbers physical groups from 1: the rest of a boundary must not join the first group."""
    graph = Pslg(CORNERS, SIDES, segment_markers=[1, 2, 0, 0], names={"markers": {1: "inlet", 2: "wall"}})
    mesh = dmr.triangulate(graph, mesher=mesher)
    assert mesh.segment_markers is not None and mesh.vertex_markers is not None
    assert sorted(mesh.segment_markers) == [1, 2, 3, 3] and mesh.vertex_markers.tolist() == [1, 1, 2, 3]
    assert dmr.validate(mesh, input=graph).ok
    wrong = replace(mesh, segment_markers=np.minimum(mesh.segment_markers, 2))
    assert {failure.check for failure in dmr.validate(wrong, input=graph).failures} == {"markers"}
    unnamed = dmr.triangulate(replace(graph, names={}))
    assert unnamed.segment_markers is not None and sorted(unnamed.segment_markers) == [1, 1, 1, 2]


@pytest.mark.parametrize("tile_triangles", [100, 10**6])
def test_tiles_give_the_default_marker_no_name(tile_triangles: int, tmp_path: Path) -> None:
    graph = Pslg(CORNERS, SIDES, segment_markers=[1, 2, 0, 0], names={"markers": {1: "inlet", 2: "wall"}})
    parts = distributed.refine(graph, tmp_path / "out", tile_triangles=tile_triangles, max_area=0.001)
    found = parts.gather()
    middles = found.vertices[found.segments].mean(axis=1)
    sides = [middles[:, 1] == 0, middles[:, 0] == 2, middles[:, 1] == 1, middles[:, 0] == 0]
    assert found.segment_markers is not None
    assert np.array_equal(found.segment_markers, np.select(sides, [1, 2, 3, 3]))
    assert distributed.validate(parts, input=graph).ok


def test_texts_of_features_are_names() -> None:
    def feature(kind: str, coordinates: object, **properties: object) -> dict[str, object]:
        return {"type": "Feature", "geometry": {"type": kind, "coordinates": coordinates}, "properties": properties}

    def square(x: float) -> list[list[tuple[float, float]]]:
        return [[(x, 0), (x + 1, 0), (x + 1, 1), (x, 1), (x, 0)]]

    features = [
        feature("Polygon", square(0), soil="sand", edge="shore"),
        feature("Polygon", square(1), soil="clay"),
        feature("Polygon", square(2), soil="sand", edge="dike"),
        feature("Polygon", square(3)),
    ]
    made = domains.from_geojson({"type": "FeatureCollection", "features": features}, attribute="soil", marker="edge")
    assert made.names == {"regions": {1: "sand", 2: "clay"}, "markers": {2: "shore", 3: "dike"}}
    assert sorted(made.regions[:, 2].tolist()) == [0, 1, 1, 2]
    mesh = dmr.triangulate(made)
    assert mesh.names == made.names and set(mesh.segment_markers.tolist()) == {1, 2, 3}
    for wrong, message in ((3, "use only numbers or only names"), ("region_1", "or a printable name")):
        more = {"type": "FeatureCollection", "features": [*features, feature("Polygon", square(5), soil=wrong)]}
        with pytest.raises(InvalidMeshError, match=f"feature 4: the property 'soil' .*{message}"):
            domains.from_geojson(more, attribute="soil")
