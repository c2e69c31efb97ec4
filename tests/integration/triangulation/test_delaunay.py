"""`dmr.delaunay` beside `scipy.spatial.Delaunay`: what programs read from the one they find in the other."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay, QhullError

import dmr
from dmr.errors import InvalidMeshError, OptionError

RNG = np.random.default_rng(42)
CLOUD = RNG.random((500, 2)) * (3, 2) - 1
OURS, THEIRS = dmr.delaunay(CLOUD), Delaunay(CLOUD)


def as_sets(rows):
    return {frozenset(row) for row in np.asarray(rows).tolist()}


def test_points_in_general_position_have_the_same_triangles_neighbours_and_hull():
    assert np.array_equal(OURS.points, THEIRS.points)
    assert as_sets(OURS.simplices) == as_sets(THEIRS.simplices)
    assert as_sets(OURS.convex_hull) == as_sets(THEIRS.convex_hull)
    assert OURS.coplanar.shape == THEIRS.coplanar.shape == (0, 3)
    name = {frozenset(row): k for k, row in enumerate(THEIRS.simplices.tolist())}
    number = np.array([name[frozenset(row)] for row in OURS.simplices.tolist()])
    number = np.append(number, -1)
    for t in range(len(OURS.simplices)):
        theirs = number[t]
        opposite = dict(zip(THEIRS.simplices[theirs].tolist(), THEIRS.neighbors[theirs].tolist(), strict=True))
        assert {v: number[s] for v, s in zip(OURS.simplices[t].tolist(), OURS.neighbors[t], strict=True)} == opposite


def test_points_are_found_in_the_same_triangles():
    queries = RNG.random((40, 50, 2)) * (4, 3) - 1.5
    ours, theirs = OURS.find_simplex(queries), THEIRS.find_simplex(queries)
    assert ours.shape == theirs.shape == (40, 50)
    assert ours.dtype == theirs.dtype and (ours >= 0).any() and (ours < 0).any()
    assert np.array_equal(ours < 0, theirs < 0)
    inside = ours >= 0
    assert np.array_equal(np.sort(OURS.simplices[ours[inside]]), np.sort(THEIRS.simplices[theirs[inside]]))
    assert OURS.find_simplex([0.1, 0.1]).shape == () and OURS.find_simplex(CLOUD[3]) in np.flatnonzero(
        (OURS.simplices == 3).any(axis=1)
    )


def test_vertices_know_their_neighbours_and_a_triangle():
    for ours, theirs in zip(neighbourhoods(OURS), neighbourhoods(THEIRS), strict=True):
        assert ours == theirs
    assert (OURS.simplices[OURS.vertex_to_simplex] == np.arange(len(CLOUD))[:, None]).any(axis=1).all()


def neighbourhoods(triangulation):
    indptr, indices = triangulation.vertex_neighbor_vertices
    return [set(part.tolist()) for part in np.split(indices, indptr[1:-1])]


def test_barycentric_coordinates_by_the_recipe_of_scipys_page():
    x = CLOUD[OURS.simplices].mean(axis=1) + 1e-4
    s = OURS.find_simplex(x)
    b = np.einsum("tij,tj->ti", OURS.transform[s, :2], x - OURS.transform[s, 2])
    weights = np.column_stack([b, 1 - b.sum(axis=1)])
    assert np.einsum("ti,tij->tj", weights, CLOUD[OURS.simplices[s]]) == pytest.approx(x)
    assert (weights >= -1e-9).all()


def test_scipys_own_plot_draws_it():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from scipy.spatial import delaunay_plot_2d

    lines = delaunay_plot_2d(OURS).axes[0].lines
    assert len(lines[0].get_xdata()) == len(CLOUD)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=20))
@settings(max_examples=40)
def test_small_grids_are_triangulated_without_loss(points):
    points = np.array(points, float)
    try:
        theirs = Delaunay(points)
    except QhullError:
        with pytest.raises(InvalidMeshError, match="on one line"):
            dmr.delaunay(points)
        return
    ours = dmr.delaunay(points)
    first = {tuple(p): k for k, p in reversed(list(enumerate(points.tolist())))}
    assert set(ours.simplices.ravel().tolist()) == set(first.values())
    assert ours.mesh.areas.sum() == theirs_area(theirs) and (ours.mesh.areas > 0).all()
    assert [row[0] for row in ours.coplanar.tolist()] == [
        k for k, p in enumerate(points.tolist()) if first[tuple(p)] != k
    ]
    for point, triangle, place in ours.coplanar.tolist():
        assert place in ours.simplices[triangle] and np.array_equal(points[point], points[place])
    assert dmr.validate(ours.mesh).ok


def theirs_area(triangulation):
    a, b, c = np.moveaxis(triangulation.points[triangulation.simplices], 1, 0)
    return np.abs((b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])).sum() / 2


@pytest.mark.parametrize(
    ("points", "text"),
    [
        ([[0, 0], [1, 1]], "2 vertices span no triangle"),
        ([[0, 0], [1, 1], [2, 2]], "on one line"),
        ([[0, 0], [1, 0], [np.nan, 1]], "vertex 2: "),
        (np.zeros((3, 3)), r"points must have shape \(n, 2\), not \(3, 3\)"),
        (None, "points must be a table"),
    ],
)
def test_points_that_have_no_triangulation_are_refused(points, text):
    with pytest.raises(InvalidMeshError, match=text):
        dmr.delaunay(points)


@pytest.mark.parametrize(
    ("xi", "text"), [(7, r"\(\.\.\., 2\)"), (np.zeros((2, 3)), r"not \(2, 3\)"), ([np.inf, 0], "finite")]
)
def test_queries_that_are_no_points_are_refused(xi, text):
    with pytest.raises(OptionError, match=text):
        OURS.find_simplex(xi)


def test_copies_are_equal_and_nothing_can_be_changed():
    assert OURS.find_simplex([0, 0]) >= 0  # builds the locator
    for other in (pickle.loads(pickle.dumps(OURS)), copy.copy(OURS), copy.deepcopy(OURS)):
        assert np.array_equal(other.simplices, OURS.simplices)
        assert np.array_equal(other.find_simplex(CLOUD), OURS.find_simplex(CLOUD))
    for array in (OURS.simplices, OURS.neighbors, OURS.convex_hull, OURS.transform, *OURS.vertex_neighbor_vertices):
        assert not array.flags.writeable
    assert repr(OURS) == f"Delaunay(500 points, {len(OURS.simplices)} simplices)" and "<svg" in OURS._repr_html_()


def test_it_is_a_mesh_to_refine():
    assert dmr.refine(OURS.mesh, device="cpu", threads=1).min_angle >= 30
