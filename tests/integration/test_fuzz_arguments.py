"""Public functions of `dmr` return or raise one of its own errors, whatever their arguments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import dmr
from dmr import domains, io, memory
from tests.support.fuzzing import CallbackError, arguments, check_call

POINTS = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.4]])
CORNERS = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]], np.int32)
MESH = dmr.Mesh(
    POINTS, CORNERS, segments=[[0, 1]], vertex_attributes=np.ones((5, 1)), triangle_attributes=np.ones((4, 1))
)
RING = np.array([[0, 0], [4, 0], [4, 3], [0, 3]], float)
HOLE = np.array([[1, 1], [2, 1], [2, 2]], float)
PSLG = dmr.Pslg(RING, [[0, 1], [1, 2], [2, 3], [3, 0]], regions=[[1, 1, 5, -1]])
FEATURE = {
    "type": "Feature",
    "properties": {"a": 1, "b": 0.5, "c": 3},
    "geometry": {"type": "Polygon", "coordinates": [RING.tolist(), HOLE.tolist()]},
}
BOX = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}


class Shape:
    """Object with `__geo_interface__`."""

    def __init__(self, form: Any) -> None:
        self.__geo_interface__ = form


def refine(**options: Any) -> Any:
    return dmr.refine(options.pop("mesh"), **options)


def with_attributes(name: str) -> Any:
    """A meshio mesh some of whose attributes are junk."""

    def call(value: Any) -> Any:
        made = io.to_meshio(MESH)
        setattr(made, name, value)
        return io.from_meshio(made)

    return call


FIELD = dmr.SizeField(MESH, np.ones(5), on="vertices")
ORDINARY = {
    "min_angle": 20.0,
    "max_area": 0.3,
    "steiner": "petal",
    "conforming": False,
    "keep_segments": "none",
    "max_seconds": 60.0,
    "marking": "deterministic",
    "balance": "work-stealing",
    "loop": "auto",
    "strict": False,
    "optimize": 2,
    "on_conflict": "resolve",
    "convex_hull": False,
    "mesher": "dmr",
    "progress": lambda *_: None,
    "profile": False,
}
FIXED = ("device", "threads", "max_steiner")
SMALL: dict[str, Any] = {"max_steiner": 20, "device": "cpu", "threads": 1}
MESH_FIELDS = {
    "vertices": POINTS,
    "triangles": CORNERS,
    "segments": np.array([[0, 1]]),
    "segment_markers": np.array([3]),
    "vertex_markers": np.arange(5),
    "vertex_attributes": np.ones((5, 2)),
    "triangle_attributes": np.ones((4, 1)),
    "area_bounds": np.ones(4),
    "holes": np.ones((1, 2)),
    "regions": np.ones((1, 4)),
}
PSLG_FIELDS = {
    "vertices": RING,
    "segments": np.array([[0, 1], [1, 2], [2, 3], [3, 0]]),
    "holes": np.array([[1.5, 1.2]]),
    "regions": np.array([[1, 1, 5, -1.0]]),
    "segment_markers": np.arange(4),
    "vertex_markers": np.arange(4),
    "vertex_attributes": np.ones((4, 2)),
}


def and_use(**fields: Any) -> None:
    """A mesh, and everything that works on one."""
    mesh = dmr.Mesh(**fields)
    for use in (
        lambda: mesh.neighbours,
        mesh.unique_segments,
        mesh.to_triangle,
        lambda: dmr.measure(mesh),
        lambda: dmr.validate(mesh),
        lambda: dmr.voronoi(mesh),
        lambda: dmr.second_order(mesh),
        lambda: io.to_meshio(mesh),
        lambda: dmr.SizeField(mesh, np.ones(len(mesh.vertices)), on="vertices")([[0.5, 0.5], [9, 9]]),
        lambda: dmr.refine(mesh, max_steiner=20, device="cpu", threads=1),
    ):
        check_call(use)


def and_mesh(**fields: Any) -> None:
    """A graph, and a mesh of it."""
    pslg = dmr.Pslg(**fields)
    check_call(lambda: dmr.triangulate(pslg, convex_hull=True))
    check_call(lambda: dmr.refine(pslg, max_steiner=20, device="cpu", threads=1))


# Each public function, valid arguments, and the names of those that are not replaced.
Call = tuple[Callable[..., Any], dict[str, Any], tuple[str, ...]]
CALLS: dict[str, Call] = {
    "Mesh": (and_use, MESH_FIELDS, ()),
    "Mesh.from_triangle": (dmr.Mesh.from_triangle, {"data": {"vertices": POINTS, "triangles": CORNERS}}, ()),
    "Pslg.from_triangle": (dmr.Pslg.from_triangle, {"data": {"vertices": POINTS}}, ()),
    "Mesh.from_triangle, an entry": (
        lambda **data: dmr.Mesh.from_triangle(data),
        {
            "vertices": POINTS,
            "triangles": CORNERS,
            "segments": np.array([[0, 1]]),
            "segment_markers": np.array([[3]]),
            "vertex_markers": np.arange(5)[:, None],
            "vertex_attributes": np.ones((5, 1)),
            "triangle_attributes": np.ones((4, 1)),
            "triangle_max_area": np.ones((4, 1)),
        },
        (),
    ),
    "Pslg": (and_mesh, PSLG_FIELDS, ()),
    "SizeField": (dmr.SizeField, {"mesh": MESH, "values": np.ones(5), "on": "vertices"}, ()),
    "SizeField.from_grid": (
        dmr.SizeField.from_grid,
        {"x": np.arange(3.0), "y": np.arange(2.0), "values": np.ones((2, 3))},
        (),
    ),
    "SizeField()": (FIELD, {"points": POINTS}, ()),
    "SizeField.limited": (FIELD.limited, {"gradient": 0.5}, ()),
    "sizing.sampled": (
        dmr.sizing.sampled,
        {"size": 0.5, "over": (0, 0, 1, 1), "error": 0.1},
        (),
    ),
    "sizing.from_distance": (
        dmr.sizing.from_distance,
        {"domain": PSLG, "near": 0.1, "far": 1.0, "distance": 1.0, "along": None},
        (),
    ),
    "sizing.from_lengths": (
        dmr.sizing.from_lengths,
        {"domain": PSLG, "factor": 1.0, "far": 1.0, "grading": 0.1, "along": None},
        (),
    ),
    "sizing.from_curvature": (
        dmr.sizing.from_curvature,
        {"domain": domains.circle(1.0, 24), "per_turn": 12, "far": 1.0, "grading": 0.1, "along": None},
        (),
    ),
    "sizing.smallest": (lambda first: dmr.sizing.smallest(first, 0.1), {"first": FIELD}, ()),
    "generate": (dmr.generate, {"kind": "random", "n": 5, "seed": 0, "mesher": "dmr"}, ()),
    "measure": (dmr.measure, {"mesh": MESH, "bound": 20.0}, ()),
    "read": (dmr.read, {"path": "none.ele", "companions": (), "threads": 1}, ()),
    "refine": (refine, {"mesh": MESH, **ORDINARY, **SMALL}, FIXED),
    "refine a graph": (refine, {"mesh": PSLG, **ORDINARY, **SMALL}, FIXED),
    "refine, max_edge": (refine, {"mesh": MESH, "max_edge": 0.5, **SMALL}, (*FIXED, "mesh")),
    "refine, size": (refine, {"mesh": MESH, "size": 0.5, **SMALL}, (*FIXED, "mesh")),
    "refine, what size returns": (
        lambda value: dmr.refine(MESH, max_edge=lambda points: value, **SMALL),
        {"value": 0.5},
        (),
    ),
    "refine, what progress returns": (
        lambda value: dmr.refine(MESH, progress=lambda *_: value, **SMALL),
        {"value": None},
        (),
    ),
    "refine, limits": (
        refine,
        {"mesh": MESH, "min_angle": 20.0, "max_steiner": 10, "device": "cpu", "threads": 1},
        ("mesh", "device"),
    ),
    "refine, device": (refine, {"mesh": MESH, "device": "cpu"}, ("mesh",)),
    "second_order": (dmr.second_order, {"mesh": MESH}, ()),
    "SecondOrder.with_midpoints": (dmr.second_order(MESH).with_midpoints, {"segments": np.array([[0, 1]])}, ()),
    "triangulate": (
        dmr.triangulate,
        {"domain": PSLG, "on_conflict": "resolve", "convex_hull": False, "mesher": "dmr"},
        (),
    ),
    "validate, what it is checked against": (
        dmr.validate,
        {"mesh": MESH, "max_edge": 1.0, "unrefined": {"budget": [0]}, "threads": 1},
        (),
    ),
    "validate, unrefined triangles": (
        lambda value: dmr.validate(MESH, min_angle=40, unrefined={"budget": value}),
        {"value": np.array([0])},
        (),
    ),
    "validate, what size returns": (
        lambda value: dmr.validate(MESH, max_edge=lambda points: value),
        {"value": np.ones(4)},
        (),
    ),
    "validate": (
        dmr.validate,
        {"mesh": MESH, "input": PSLG, "min_angle": 20.0, "max_area": 1.0, "convex_hull": False, "threads": 1},
        (),
    ),
    "view": (
        dmr.view,
        {
            "mesh": MESH,
            "color": "min_angle",
            "screenshot": "picture.xyz",
            "compare": MESH,
            "edges": True,
            "window_size": (60, 40),
            "titles": ("a", "b"),
        },
        ("screenshot",),
    ),
    "voronoi": (dmr.voronoi, {"mesh": MESH}, ()),
    "write": (
        dmr.write,
        {
            "path": "a.ele",
            "item": MESH,
            "overwrite": True,
            "base": 0,
            "order": 1,
            "neighbours": False,
            "edges": False,
            "voronoi": False,
            "markers": True,
            "leave_out": (),
            "threads": 1,
        },
        (),
    ),
    "adapt": (dmr.adapt, {"mesh": MESH, "size": 0.5, "on": None, "outline": PSLG, **SMALL}, FIXED),
    "outline": (dmr.outline, {"mesh": MESH, "merge_collinear": False}, ()),
    "locate": (dmr.locate, {"mesh": MESH, "points": POINTS, "device": "cpu", "threads": 1}, ()),
    "interpolate": (
        dmr.interpolate,
        {"mesh": MESH, "values": np.ones(5), "points": POINTS, "device": "cpu", "threads": 1},
        (),
    ),
    "Locator": (lambda **given: dmr.Locator(**given).locate(POINTS), {"mesh": MESH, "device": "cpu", "threads": 1}, ()),
    "delaunay": (dmr.delaunay, {"points": POINTS, "device": "cpu", "threads": 1}, ()),
    "Delaunay.find_simplex": (dmr.delaunay(POINTS).find_simplex, {"xi": POINTS}, ()),
    "optimize": (dmr.optimize, {"mesh": MESH, "rounds": 1, "device": "cpu", "threads": 1}, ()),
    "io.from_meshio": (io.from_meshio, {"found": io.to_meshio(MESH)}, ()),
    **{
        f"io.from_meshio, {name}": (with_attributes(name), {"value": getattr(io.to_meshio(MESH), name)}, ())
        for name in ("points", "cells", "point_data", "cell_data", "cell_sets", "point_sets")
    },
    "io.locate": (io.locate, {"path": "none.ele", "element": "vertex", "index": 0, "companions": None}, ()),
    "io.next_name": (io.next_name, {"path": "a.ele", "suffix": ".ele"}, ()),
    "io.numbering_base": (io.numbering_base, {"path": "a.ele", "otherwise": 0}, ()),
    "io.numbers_in": (io.numbers_in, {"path": "a.ele", "companions": None}, ()),
    "io.numbers_in()": (io.numbers_in("a.ele"), {"element": "vertex", "index": 0}, ()),
    "io.read_edges": (io.read_edges, {"path": "a.edge", "threads": 1}, ()),
    "io.read_neighbours": (io.read_neighbours, {"path": "a.neigh", "threads": 1}, ()),
    "io.read_values": (io.read_values, {"path": "a.ele", "column": 0, "threads": 1}, ()),
    "io.to_meshio": (io.to_meshio, {"mesh": MESH, "order": 1, "boundary": False}, ()),
    "io.vertex_file": (io.vertex_file, {"path": "a.ele"}, ()),
    "domains.circle": (domains.circle, {"radius": 1.0, "n": 5, "center": (0, 0), "markers": 1}, ()),
    "domains.circle_points": (domains.circle_points, {"radius": 1.0, "n": 5, "center": np.zeros(2), "angle": 10.0}, ()),
    "domains.regular_polygon": (
        domains.regular_polygon,
        {"n": 5, "radius": 1.0, "center": (0, 0), "angle": 1.0, "markers": None},
        (),
    ),
    "domains.rectangle": (
        domains.rectangle,
        {"width": 1.0, "height": 2.0, "corner": (0, 0), "markers": [1, 2, 3, 4]},
        (),
    ),
    "domains.polygon": (domains.polygon, {"outline": RING, "holes": [HOLE], "markers": [1, 2]}, ()),
    "domains.polygon, a hole": (
        lambda hole, markers: domains.polygon(RING, [hole], markers=[markers, 1]),
        {"hole": HOLE, "markers": np.arange(4)},
        (),
    ),
    "domains.polygons": (
        domains.polygons,
        {"parts": [(RING, [HOLE]), (HOLE, [])], "attributes": [1, 2], "areas": [0.5, 0.1], "markers": [1, 2]},
        (),
    ),
    "domains.polygons, a part": (lambda part: domains.polygons([(RING, []), part]), {"part": (HOLE, [])}, ()),
    "domains.polyline": (domains.polyline, {"points": RING, "markers": np.arange(3)}, ()),
    "domains.interior_point": (domains.interior_point, {"outline": RING, "holes": [HOLE]}, ()),
    "domains.interior_point, a hole": (lambda hole: domains.interior_point(RING, [hole]), {"hole": HOLE}, ()),
    "domains.merge": (lambda first, second: domains.merge(first, second), {"first": PSLG, "second": PSLG}, ()),
    "domains.with_holes": (domains.with_holes, {"pslg": PSLG, "points": np.ones((1, 2))}, ()),
    "domains.with_markers": (domains.with_markers, {"pslg": PSLG, "markers": {7: lambda points: points[:, 0] > 1}}, ()),
    "domains.with_names": (domains.with_names, {"pslg": PSLG, "regions": {1: "a"}, "markers": {2: "b"}}, ()),
    "domains.with_regions": (domains.with_regions, {"pslg": PSLG, "regions": np.ones((1, 4))}, ()),
    "domains.with_regions, a region": (lambda region: domains.with_regions(PSLG, [region]), {"region": np.ones(4)}, ()),
    "domains.from_geojson": (
        domains.from_geojson,
        {"source": FEATURE, "attribute": "a", "area": "b", "marker": "c", "project": None, "on_conflict": "resolve"},
        (),
    ),
    "domains.from_file": (
        domains.from_file,
        {"path": "none.geojson", "layer": None, "attribute": None, "project": None, "on_conflict": "error"},
        (),
    ),
    "domains.from_geojson, a part": (
        lambda **parts: domains.from_geojson({**FEATURE, **parts}),
        {"type": "Feature", "properties": {}, "geometry": BOX},
        (),
    ),
    "domains.from_geojson, a property": (
        lambda value: domains.from_geojson({**FEATURE, "properties": {"a": value}}, attribute="a"),
        {"value": 1},
        (),
    ),
    "domains.from_geojson, a marker": (
        lambda value: domains.from_geojson({**FEATURE, "properties": {"a": value}}, marker="a"),
        {"value": 1},
        (),
    ),
    "domains.from_geojson, coordinates": (
        lambda value: domains.from_geojson({"type": "Polygon", "coordinates": value}),
        {"value": [RING.tolist()]},
        (),
    ),
    "domains.from_geojson, a ring": (
        lambda value: domains.from_geojson({"type": "MultiPolygon", "coordinates": [[value]]}),
        {"value": RING},
        (),
    ),
    "domains.from_geojson, a number": (
        lambda value: domains.from_geojson({"type": "LineString", "coordinates": [[0, 0], [1, value]]}),
        {"value": 1},
        (),
    ),
    "domains.from_geojson, a geometry": (
        lambda value: domains.from_geojson({"type": "GeometryCollection", "geometries": [BOX, value]}),
        {"value": BOX},
        (),
    ),
    "domains.from_shapely": (domains.from_shapely, {"geometry": Shape(BOX)}, ()),
    "domains.from_shapely, its interface": (lambda form: domains.from_shapely(Shape(form)), {"form": BOX}, ()),
    "memory.open_device": (memory.open_device, {"name": "cpu", "threads": 1}, ()),
    "memory.warm": (memory.warm, {"name": "cpu"}, ()),
    "memory.thread_count": (memory.thread_count, {"threads": 1}, ()),
    "memory.require_memory": (memory.require_memory, {"needed": 1, "what": "it"}, ("needed", "what")),
}

NO_FUNCTIONS = {
    "Delaunay",
    "DmrError",
    "Optimization",
    "Refinement",
    "Report",
    "SecondOrder",
    "Smoothing",
    "Voronoi",
    "__version__",
    "distributed",
    "domains",
    "errors",
    "io",
    "memory",
    "sizing",
}


def test_every_public_function_is_tested() -> None:
    names = {name.split(",")[0].removesuffix("()") for name in CALLS}
    assert set(dmr.__all__) - NO_FUNCTIONS <= names
    assert {f"io.{name}" for name in io.__all__} <= names | {"io.read", "io.write"}
    assert {f"domains.{name}" for name in domains.__all__} <= names
    assert {f"sizing.{name}" for name in dmr.sizing.__all__} <= names | {"sizing.SizeField"}


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    name = draw(st.sampled_from(sorted(set(CALLS) - {"memory.require_memory"})))
    _, fitting, fixed = CALLS[name]
    return name, draw(arguments(fitting, fixed))


def attempt(drawn: tuple[str, dict[str, Any]]) -> None:
    name, given_arguments = drawn
    check_call(CALLS[name][0], **given_arguments)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


LOOSE = {"suppress_health_check": list(HealthCheck), "database": None}


def test_valid_arguments_are_accepted() -> None:
    for name, (call, fitting, _) in CALLS.items():
        try:
            check_call(call, **fitting)
        except Exception as error:
            raise AssertionError(name) from error


@pytest.mark.slow
@seed(18)
@settings(max_examples=125, phases=[Phase.generate], **LOOSE)
@given(calls())
def test_invalid_arguments_raise_only_own_errors(drawn: tuple[str, dict[str, Any]]) -> None:
    attempt(drawn)


@pytest.mark.large
@settings(max_examples=20_000, phases=[Phase.generate, Phase.shrink], **LOOSE)
@given(calls())
def test_many_invalid_arguments_raise_only_own_errors(drawn: tuple[str, dict[str, Any]]) -> None:
    attempt(drawn)


def test_exceptions_of_callbacks_pass_through() -> None:
    def fail(*_: object) -> None:
        raise CallbackError

    for options in ({"max_edge": fail}, {"progress": fail}):
        with pytest.raises(CallbackError):
            dmr.refine(MESH, max_area=0.01, **options, **SMALL)
