"""Mesh, Pslg and options: validation, sharing of arrays, and derived arrays."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import dmr
from dmr.common.arguments import listed
from dmr.errors import InvalidMeshError, KindError, OptionError, OutOfMemoryError
from dmr.mesh.types import MANY_NUMBERS, Pslg
from dmr.refinement.options import RefineOptions

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
HALVES = np.array([[0, 1, 2], [0, 2, 3]], np.int32)


@pytest.mark.parametrize(
    ("vertices", "triangles", "more", "element", "index"),
    [
        (SQUARE, [[0, 1, 2], [0, 2, 4]], {}, "triangle", 1),
        (SQUARE, [[0, 1, -1]], {}, "triangle", 0),
        (np.where(SQUARE == 1, np.nan, SQUARE), HALVES, {}, "vertex", 1),
        (SQUARE * [1, np.inf], HALVES, {}, "vertex", 0),
        (SQUARE, HALVES, {"segments": [[0, 1], [1, 9]]}, "segment", 1),
        (SQUARE[:, :1], HALVES, {}, "mesh", None),
        (SQUARE, HALVES.astype(float), {}, "mesh", None),
        (SQUARE, HALVES, {"vertex_markers": [1, 2]}, "mesh", None),
        (SQUARE, [[0, 1, 2**40]], {}, "mesh", None),
        (["a"], HALVES, {}, "mesh", None),
    ],
)
def test_invalid_meshes_are_refused_with_the_element(vertices, triangles, more, element, index):
    with pytest.raises(InvalidMeshError) as refusal:
        dmr.Mesh(vertices, triangles, **more)
    assert (refusal.value.element, refusal.value.index) == (element, index)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("index", [0, MANY_NUMBERS // 2 + 4])
def test_one_coordinate_of_many_that_is_not_finite_is_found(wrong, index):
    points = np.full((MANY_NUMBERS // 2 + 5, 2), 1e308)  # their sum overflows
    Pslg(points, [[0, 1]])
    points[index, 1] = wrong
    with pytest.raises(InvalidMeshError, match="not finite") as refusal:
        Pslg(points, [[0, 1]])
    assert refusal.value.index == index


def test_a_mesh_is_frozen_and_shares_its_arrays():
    vertices = SQUARE.copy()
    mesh = dmr.Mesh(vertices, HALVES)
    assert np.shares_memory(mesh.vertices, vertices)
    with pytest.raises(ValueError, match="read-only"):
        mesh.vertices[0, 0] = 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        mesh.vertices = vertices
    vertices[0, 0] = -1  # the caller's own array stays writable


def test_defaults_of_optional_arrays():
    sound, plain = dmr.Mesh.sound(vertices=SQUARE, triangles=HALVES), dmr.Mesh(SQUARE, HALVES)
    assert sound.names == plain.names == {"regions": {}, "markers": {}}
    for field in dataclasses.fields(plain):
        if field.name == "names":
            continue
        found, expected = getattr(sound, field.name), getattr(plain, field.name)
        assert (found is None) == (expected is None), field.name
        assert expected is None or (np.array_equal(found, expected) and found.dtype == expected.dtype), field.name
        assert expected is None or (found.shape == expected.shape and not found.flags.writeable), field.name
    with pytest.raises(InvalidMeshError, match="shape"):
        dmr.Mesh.sound(vertices=SQUARE, triangles=HALVES[:, :2])


@pytest.mark.parametrize(
    ("made", "given"),
    [
        (dmr.Mesh, {"vertices": SQUARE, "triangles": HALVES}),
        (dmr.Mesh, {"vertices": SQUARE, "triangles": HALVES, "segments": HALVES[:, :2], "vertex_attributes": None}),
        (Pslg, {"vertices": SQUARE}),
        (Pslg, {"vertices": SQUARE, "segments": HALVES[:, :2].copy()}),
    ],
)
def test_unchecked_items_have_the_fields_of_checked_ones(made, given):
    unchecked, checked = made.unchecked(**given), made(**given)
    for field in dataclasses.fields(made):
        found, expected = getattr(unchecked, field.name), getattr(checked, field.name)
        if field.name == "names" or expected is None:
            assert found == expected
            continue
        assert np.array_equal(found, expected), field.name
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype), field.name
    with pytest.raises(AssertionError, match="colours"):
        made.unchecked(**given, colours=SQUARE)


def neighbours_by_dictionary(triangles):
    """The table of neighbours, one edge after the other; None where two triangles have an edge on one side."""
    sides = {}
    for t, corners in enumerate(triangles.tolist()):
        for k in range(3):
            edge = corners[(k + 1) % 3], corners[(k + 2) % 3]
            if edge in sides:
                return None
            sides[edge] = t
    return [[sides.get((c[(k + 2) % 3], c[(k + 1) % 3]), -1) for k in range(3)] for c in triangles.tolist()]


def test_neighbours_of_arbitrary_triangles():
    random, good = np.random.default_rng(5), 0
    for _ in range(400):
        vertices = int(random.integers(1, 12))
        triangles = random.integers(0, vertices, (int(random.integers(0, 6)), 3))  # also flat ones
        mesh = dmr.Mesh(random.random((vertices, 2)), triangles)
        expected = neighbours_by_dictionary(mesh.triangles)
        if expected is None:
            with pytest.raises(InvalidMeshError, match="same side"):
                _ = mesh.neighbours
        else:
            assert mesh.neighbours.tolist() == expected
            good += 1
    assert 100 < good < 300


@pytest.mark.slow
def test_neighbours_around_a_hub_and_of_many_triangles():
    around = np.arange(1, 20_001)
    fan = dmr.Mesh(np.zeros((20_001, 2)), np.column_stack([0 * around, around, np.roll(around, -1)]))
    many = dmr.generate("random", 20_000, seed=1)
    for mesh in (fan, many):
        assert mesh.neighbours.tolist() == neighbours_by_dictionary(mesh.triangles)


def test_neighbours_are_across_each_edge():
    assert dmr.Mesh(SQUARE, HALVES).neighbours.tolist() == [[-1, 1, -1], [-1, -1, 0]]
    with pytest.raises(InvalidMeshError, match="same side") as refusal:
        _ = dmr.Mesh(SQUARE, [[0, 1, 2], [0, 1, 3]]).neighbours
    assert refusal.value.index == 1


def test_conversion_from_and_to_triangle_dictionaries():
    mesh = dmr.Mesh(SQUARE, HALVES, segments=[[0, 2]], segment_markers=[4], vertex_markers=[1, 2, 3, 4],
                    vertex_attributes=[[1.0], [2.0], [3.0], [4.0]], triangle_attributes=[[7.0], [8.0]],
                    area_bounds=[0.1, -1.0])  # fmt: skip
    back = dmr.Mesh.from_triangle(mesh.to_triangle())
    for field in dataclasses.fields(mesh):
        assert np.array_equal(getattr(back, field.name), getattr(mesh, field.name)), field.name


def test_repeated_segments_have_the_first_nonzero_marker():
    mesh = dmr.Mesh(SQUARE, HALVES, segments=[[2, 0], [0, 2], [0, 2], [1, 2]], segment_markers=[0, 5, 6, 0])
    ends, markers = mesh.unique_segments()
    assert ends.tolist() == [[0, 2], [1, 2]] and markers.tolist() == [5, 0]
    assert mesh.unique_segment_rows()[2].tolist() == [0, 3]
    once = dmr.Mesh(SQUARE, HALVES, segments=[[2, 1], [2, 0]], segment_markers=[7, 0])
    ends, markers, rows = once.unique_segment_rows()
    assert ends.tolist() == [[0, 2], [1, 2]] and markers.tolist() == [0, 7] and rows.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("name", "value"),
    [("min_angle", 60), ("min_angle", -1), ("min_angle", float("nan")), ("min_angle", "30"), ("max_area", 0),
     ("max_area", float("inf")), ("max_steiner", -1), ("max_steiner", 1.5), ("max_seconds", -0.1),
     ("max_seconds", float("inf")), ("max_seconds", float("nan")), ("max_seconds", "soon"),
     ("marking", "fast"), ("steiner", "x")],
)  # fmt: skip
def test_invalid_options_are_refused(name, value):
    with pytest.raises(OptionError, match=name):
        RefineOptions(**{name: value})


def test_options_accept_every_number_type():
    options = RefineOptions(min_angle=np.int64(25), max_area=np.float32(0.5), max_steiner=np.int32(7))
    assert (options.min_angle, options.max_area, options.max_steiner) == (25.0, 0.5, 7)
    assert type(options.min_angle) is float and type(options.max_steiner) is int


@pytest.mark.parametrize("number", [np.int64(0), np.int32(0), np.float32(0), np.float64(0)])
def test_tables_of_10_10_rows_took_half_a_minute_to_be_refused(number):
    rows = np.broadcast_to(number, (10**10, 2))
    with pytest.raises(OutOfMemoryError, match="GiB of memory"):
        Pslg(rows if number.dtype.kind == "f" else np.eye(2), rows if number.dtype.kind == "i" else [[0, 1]])


def test_a_collection_with_an_impossible_length_raised_a_value_error():
    class Odd:
        def __len__(self):
            return -1

        def __getitem__(self, index):
            return [][index]

    with pytest.raises(KindError, match="leave_out must be a sequence"):
        listed("leave_out", Odd())


def test_summaries_count_in_words():
    mesh = dmr.Mesh([(0, 0), (1, 0), (0, 1)], [(0, 1, 2)], segments=[(0, 1)])
    assert repr(mesh) == "Mesh(3 vertices, 1 triangle, 1 segment)"
    assert repr(dmr.Pslg([(0, 0), (1, 0)], [(0, 1)])) == "Pslg(2 vertices, 1 segment, 0 holes)"
