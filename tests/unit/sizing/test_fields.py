"""Size fields against scipy's interpolators, exact rational geometry, and brute force."""

from __future__ import annotations

import math
import re
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from dmr import domains
from dmr.cli.shared.sizes import read_size_field
from dmr.errors import FileError, OptionError
from dmr.memory import open_device
from dmr.mesh.edges import unique_edges
from dmr.mesh.location.background import DeviceBackground, Places
from dmr.sizing.functions import evaluate
from dmr.sizing.size_field import SizeField
from tests.support.digests import mesh_digest
from tests.support.meshes import qhull_mesh

scipy_spatial = pytest.importorskip("scipy.spatial")
scipy_interpolate = pytest.importorskip("scipy.interpolate")


def delaunay(points: np.ndarray) -> tuple[dmr.Mesh, scipy_spatial.Delaunay]:
    """A mesh, counter-clockwise, and scipy's triangulation that it was made from."""
    found = scipy_spatial.Delaunay(points)
    return qhull_mesh(found), found


def ring() -> dmr.Mesh:
    """A square with a square hole: 8 triangles between the squares of side 3 and 1 around the origin."""
    outer = np.array([(-1.5, -1.5), (1.5, -1.5), (1.5, 1.5), (-1.5, 1.5)])
    triangles = [t for k in range(4) for t in ((k, (k + 1) % 4, 4 + k), ((k + 1) % 4, 4 + (k + 1) % 4, 4 + k))]
    return dmr.Mesh(np.vstack([outer, outer / 3]), triangles)


def two_triangles() -> dmr.Mesh:
    return dmr.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]])


def located(mesh: dmr.Mesh, points: np.ndarray) -> Places:
    return DeviceBackground(mesh, open_device("cpu")).places(points)


# ---- Sizes on vertices ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["random", "graded", "clustered", "offset"])
def test_interpolation_agrees_with_scipy(kind):
    points = dmr.generate("random" if kind == "offset" else kind, 1000, 4).vertices.copy()
    if kind == "offset":
        points = points * 1e-3 + (1e6, -1e6)
    mesh, found = delaunay(points)
    rng = np.random.default_rng(1)
    sizes = rng.uniform(0.1, 5, len(points))
    low, high = points.min(axis=0), points.max(axis=0)
    places = low + rng.random((5000, 2)) * (high - low)
    expected = scipy_interpolate.LinearNDInterpolator(found, sizes)(places)
    inside = ~np.isnan(expected)
    assert inside.sum() > 2500
    got = SizeField(mesh, sizes)(places)
    # In slivers of the hull the weights depend on the last digits of the coordinates.
    close = np.isclose(got[inside], expected[inside], rtol=1e-9 if kind != "offset" else 1e-4)
    assert close.mean() > 0.999


def test_interpolation_is_exact_at_vertices():
    mesh = dmr.generate("clustered", 5000, 2)
    sizes = np.random.default_rng(0).uniform(1e-3, 1e3, len(mesh.vertices))
    assert np.array_equal(SizeField(mesh, sizes, on="vertices")(mesh.vertices), sizes)


def test_affine_functions_are_reproduced():
    mesh = dmr.generate("plate", 3000, 3)
    places = centroids(mesh)
    field = SizeField(mesh, 1 + 2 * mesh.vertices[:, 0] + 3 * mesh.vertices[:, 1])
    np.testing.assert_allclose(field(places), 1 + 2 * places[:, 0] + 3 * places[:, 1], rtol=1e-14)


def centroids(mesh: dmr.Mesh) -> np.ndarray:
    return mesh.vertices[mesh.triangles].mean(axis=1)


def test_clockwise_and_flat_triangles_and_overlaps():
    flat = [[0, 1, 4], [0, 2, 1], [0, 2, 3], [0, 2, 3]]
    mesh = dmr.Mesh([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0]], flat)
    field = SizeField(mesh, [1, 2, 3, 2, 1.5])
    places = np.array([[0.75, 0.25], [0.25, 0.75], [0.5, 0.5], [0.5, 0], [0, 0]])
    np.testing.assert_allclose(field(places), 1 + places.sum(axis=1), rtol=1e-15)


def test_a_mesh_of_flat_triangles_is_a_line():
    field = SizeField(dmr.Mesh([[0, 0], [1, 0], [3, 0]], [[0, 1, 2]]), [1, 2, 4], on="vertices")
    np.testing.assert_allclose(field([[0.5, 7], [2, -1], [9, 0]]), [1.5, 3, 4])


def test_infinite_sizes_are_unbounded():
    field = SizeField(two_triangles(), [1, 1, 1, np.inf])
    assert field([[0.9, 0.1], [0.5, 0.5], [0, 0], [0.1, 0.9]]).tolist() == [1, 1, 1, np.inf]
    assert SizeField(two_triangles(), np.full(4, np.inf))([[0.5, 0.2], [7, 7]]).tolist() == [np.inf, np.inf]


# ---- Outside -------------------------------------------------------------------------------------------------------


def nearest_on(mesh: dmr.Mesh, values: np.ndarray, place: np.ndarray) -> tuple[float, list[float]]:
    """The distance to the mesh's boundary, and the values at all its points that near: edge by edge."""
    edges, count = unique_edges(mesh)
    found = []
    for u, v in edges[count == 1]:
        a, b = mesh.vertices[u], mesh.vertices[v]
        t = min(max(float((place - a) @ (b - a) / ((b - a) @ (b - a))), 0.0), 1.0)
        found.append((float(np.hypot(*(place - a - t * (b - a)))), (1 - t) * values[u] + t * values[v]))
    distance = min(found)[0]
    return distance, [value for d, value in found if d <= distance * (1 + 1e-9)]


@pytest.mark.slow
@pytest.mark.parametrize("mesh", [ring(), dmr.generate("plate", 300, 1)], ids=["ring", "plate"])
def test_outside_points_take_the_nearest_size(mesh):
    rng = np.random.default_rng(5)
    sizes = rng.uniform(1, 2, len(mesh.vertices))
    places = rng.uniform(-4, 4, (400, 2))
    field, triangles = SizeField(mesh, sizes, on="vertices"), located(mesh, places).triangles
    corners = mesh.vertices[mesh.triangles[triangles]]
    got = field(places)
    outside = 0
    for place, value, around in zip(places, got, corners, strict=True):
        turns = [np.cross(np.append(around[k] - around[k - 1], 0), np.append(place - around[k - 1], 0))[2]
                 for k in range(3)]  # fmt: skip
        if min(turns) >= 0:
            continue
        outside += 1
        assert min(abs(value - each) for each in nearest_on(mesh, sizes, place)[1]) < 1e-9
    assert outside > 100


@pytest.mark.slow
def test_points_far_outside_and_in_a_round_hole():
    turn = np.arange(2000) * (2 * np.pi / 2000)
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    k = np.arange(2000)
    inner = np.stack([k, k + 2000, (k + 1) % 2000], axis=1)
    outer = np.stack([(k + 1) % 2000, k + 2000, (k + 1) % 2000 + 2000], axis=1)
    mesh = dmr.Mesh(np.vstack([circle, 2 * circle]), np.vstack([inner, outer]))
    field = SizeField(mesh, np.repeat([1.0, 2.0], 2000), on="vertices")
    places = np.vstack([np.zeros((500, 2)), 1e-3 * circle, 1e9 * circle])
    got = field(places)
    assert (got[:2500] == 1).all()
    assert (got[2500:] == 2).all()


def test_points_in_a_nearly_flat_triangle():
    """Nearest are its edges, not the boundary of the mesh."""
    step = np.spacing(0.5)
    mesh = dmr.Mesh(
        [[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5 + 20 * step]], [[0, 1, 2], [0, 2, 4], [0, 4, 3], [4, 2, 3]]
    )
    assert SizeField(mesh, [3, 1, 3, 1, 3], on="vertices")([[0.5, 0.5 + 10 * step]])[0] == 3


# ---- Sizes on triangles --------------------------------------------------------------------------------------------


def test_sizes_on_triangles():
    mesh = dmr.generate("random", 2000, 9)
    sizes = np.arange(1.0, len(mesh.triangles) + 1)
    field = SizeField(mesh, sizes)
    assert np.array_equal(field(centroids(mesh)), sizes)
    # On a common edge, and at a common corner, the triangle with the smaller number.
    for vertex in range(0, 2000, 97):
        owner = int(np.flatnonzero((mesh.triangles == vertex).any(axis=1))[0])
        assert field(mesh.vertices[[vertex]])[0] == sizes[owner]


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=3, max_size=40, unique=True),
    st.lists(st.tuples(st.integers(-8, 112), st.integers(-8, 112)), min_size=1, max_size=40),
)
def test_the_triangle_around_a_point_is_the_right_one(vertices, places):
    """On small whole numbers, where points lie on edges and vertices again and again: against exact arithmetic."""
    points = np.array(vertices, float)
    if np.linalg.matrix_rank(points[1:] - points[0]) < 2:
        return
    mesh, _ = delaunay(points)
    given = np.array(places, float) / 8
    found = located(mesh, given)
    for place, number, corners, weights in zip(given, found.triangles, found.corners, found.weights, strict=True):
        around = [k for k in range(len(mesh.triangles)) if holds(mesh, k, place)]
        assert weights.min() >= 0
        assert math.isclose(weights.sum(), 1, rel_tol=1e-15)
        if around:
            assert number == around[0]
            np.testing.assert_allclose(weights @ mesh.vertices[corners], place, atol=1e-13)


def holds(mesh: dmr.Mesh, triangle: int, place: np.ndarray) -> bool:
    a, b, c = (tuple(map(Fraction, mesh.vertices[k])) for k in mesh.triangles[triangle])
    p = tuple(map(Fraction, place))
    return all((v[0] - u[0]) * (p[1] - u[1]) >= (v[1] - u[1]) * (p[0] - u[0]) for u, v in ((a, b), (b, c), (c, a)))


# ---- Grids ---------------------------------------------------------------------------------------------------------


def test_grid_interpolation_agrees_with_scipy():
    rng = np.random.default_rng(3)
    x, y = np.cumsum(rng.uniform(0.1, 1, 30)), np.cumsum(rng.uniform(0.1, 1, 20)) - 4
    sizes = rng.uniform(0.5, 2, (20, 30))
    field = SizeField.from_grid(x, y, sizes)
    places = np.stack([rng.uniform(x[0], x[-1], 5000), rng.uniform(y[0], y[-1], 5000)], axis=1)
    expected = scipy_interpolate.RegularGridInterpolator((y, x), sizes)(places[:, ::-1])
    np.testing.assert_allclose(field(places), expected, rtol=1e-13)
    nodes = np.stack([each.ravel() for each in np.meshgrid(x, y)], axis=1)
    assert np.array_equal(field(nodes), sizes.ravel())
    assert np.array_equal(field(nodes * 1.0 + [100, 0]), np.repeat(sizes[:, -1], 30))
    assert field([[-50, -50]])[0] == sizes[0, 0]


def test_grids_with_infinite_sizes():
    field = SizeField.from_grid([0, 1, 2], [0, 1], [[1, 1, np.inf], [2, 2, 2]])
    assert field([[0.5, 0.5], [1, 0.25], [1.5, 1], [1.5, 0.5]]).tolist() == [1.5, 1.25, 2, np.inf]


# ---- Limited gradients ---------------------------------------------------------------------------------------------


def test_gradient_limited_fields_equal_shortest_paths():
    mesh = dmr.generate("random", 400, 6)
    rng = np.random.default_rng(8)
    sizes = np.where(rng.random(400) < 0.02, 0.01, np.where(rng.random(400) < 0.5, np.inf, 3))
    sizes[0] = 0.02
    limited = SizeField(mesh, sizes, on="vertices").limited(0.3)
    edges, _ = unique_edges(mesh)
    lengths = np.hypot(*(mesh.vertices[edges[:, 0]] - mesh.vertices[edges[:, 1]]).T)
    sparse, csgraph = pytest.importorskip("scipy.sparse"), pytest.importorskip("scipy.sparse.csgraph")

    graph = sparse.coo_matrix((0.3 * lengths, edges.T), shape=(400, 400))
    expected = (csgraph.dijkstra(graph, directed=False) + sizes[:, None]).min(axis=0)
    np.testing.assert_allclose(limited.values, expected, rtol=1e-12)
    rise = np.abs(limited.values[edges[:, 0]] - limited.values[edges[:, 1]])
    assert (rise <= 0.3 * lengths * (1 + 1e-12) + 1e-15).all()
    assert (limited.values <= sizes).all()
    assert np.array_equal(limited.limited(0.3).values, limited.values)


def test_gradient_limited_grids():
    sizes = np.full((11, 11), 9.0)
    sizes[5, 5] = 1
    field = SizeField.from_grid(np.arange(11), 2 * np.arange(11), sizes).limited(0.5)
    steps = np.abs(np.arange(11) - 5)
    expected = np.minimum(1 + 0.5 * steps[None] + 1.0 * steps[:, None], 9).ravel()
    assert np.array_equal(field.values, expected)
    assert (field.limited(0).values == 1).all()


@pytest.mark.parametrize("gradient", [-0.1, np.nan, np.inf])
def test_invalid_gradient_limits_are_refused(gradient):
    with pytest.raises(OptionError, match="gradient must be"):
        SizeField(two_triangles(), [1, 1, 1, 1]).limited(gradient)


def test_sizes_on_triangles_are_limited_on_vertices():
    mesh, _ = delaunay(np.random.default_rng(5).random((60, 2)))
    sizes = np.random.default_rng(6).uniform(0.05, 3, len(mesh.triangles))
    limited = SizeField(mesh, sizes).limited(0.3)
    smallest = [sizes[(mesh.triangles == vertex).any(axis=1)].min() for vertex in range(60)]
    assert np.array_equal(limited.values, SizeField(mesh, smallest, on="vertices").limited(0.3).values)
    assert (limited(mesh.vertices[mesh.triangles].mean(axis=1)) <= sizes).all()


# ---- Errors --------------------------------------------------------------------------------------------------------


def test_wrong_number_of_sizes_is_refused():
    mesh = two_triangles()
    with pytest.raises(OptionError, match=r"\(4,\).*\(2,\).*not \(3,\)"):
        SizeField(mesh, [1, 2, 3])
    one = dmr.Mesh(mesh.vertices[:3], mesh.triangles[:1])
    assert SizeField(one, [1, 2, 3])([[0, 0]])[0] == 1
    fan = dmr.Mesh([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1]], [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1], [0, 1, 2]])
    with pytest.raises(OptionError, match="on="):
        SizeField(fan, np.ones(5))
    assert SizeField(fan, [9, 1, 1, 1, 1], on="vertices")([[0, 0]])[0] == 9
    assert SizeField(fan, [7, 1, 1, 1, 1], on="triangles")([[0.1, 0.1]])[0] == 7
    with pytest.raises(OptionError, match='on must be "vertices" or "triangles"'):
        SizeField(fan, np.ones(5), on="edges")
    with pytest.raises(OptionError, match=r"not \(4,\)"):
        SizeField(mesh, np.ones(4), on="triangles")


@pytest.mark.parametrize("wrong", [0, -1, np.nan, -np.inf])
def test_invalid_sizes_are_refused(wrong):
    with pytest.raises(OptionError, match=r"vertex 2 \(1, 1\)"):
        SizeField(two_triangles(), [1, 1, wrong, 1])
    with pytest.raises(OptionError, match="the size at triangle 1 is"):
        SizeField(two_triangles(), [1, wrong])
    with pytest.raises(OptionError, match=r"\[1, 0\], the point \(5, 8\)"):
        SizeField.from_grid([5, 6], [7, 8], [[1, 1], [wrong, 1]])


def test_other_invalid_fields_are_refused():
    mesh = two_triangles()
    with pytest.raises(OptionError, match="not a Pslg"):
        SizeField(dmr.Pslg(mesh.vertices, [[0, 1]]), np.ones(4))
    with pytest.raises(OptionError, match="this mesh has none"):
        SizeField(dmr.Mesh(mesh.vertices, np.empty((0, 3), int)), np.ones(4))
    with pytest.raises(OptionError, match="sizes must be real numbers"):
        SizeField(mesh, np.ones(4) * 1j)
    with pytest.raises(OptionError, match=r"^points .*not \(2,\)"):
        SizeField(mesh, np.ones(4))([0, 0])
    with pytest.raises(OptionError, match=r"^point 1: "):
        SizeField(mesh, np.ones(4))([[0, 0], [0, np.nan]])
    with pytest.raises(OptionError, match=r"x must rise: x\[1\] = 2, x\[2\] = 2"):
        SizeField.from_grid([1, 2, 2], [0, 1], np.ones((2, 3)))
    with pytest.raises(OptionError, match=r"\(2, 3\), not \(3, 2\)"):
        SizeField.from_grid([1, 2, 3], [0, 1], np.ones((3, 2)))
    with pytest.raises(OptionError, match="y must have shape"):
        SizeField.from_grid([1, 2, 3], [0], np.ones((1, 3)))


# ---- Values of size functions --------------------------------------------------------------------------------------


PLACES = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])


@pytest.mark.parametrize(
    ("returned", "expected"),
    [([1, 2, 3], [1, 2, 3]), (2, [2, 2, 2]), (np.float32(0.5), [0.5] * 3), ([1, np.inf, 3.5], [1, np.inf, 3.5]),
     (np.array([1, 2, 3], np.uint8), [1, 2, 3]), ([Fraction(1, 2), 1, 2], [0.5, 1, 2])],
)  # fmt: skip
def test_accepted_values_of_functions(returned, expected):
    found = evaluate(lambda points: returned, PLACES)
    assert found.dtype == np.float64
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("returned", "place"),
    [([1, 0, -1], "(2, 3)"), ([np.nan, 1, 1], "(0, 1)"), ([1, 1, -np.inf], "(4, 5)"), (-2, "(0, 1)")],
)
def test_invalid_sizes_are_refused_with_their_place(returned, place):
    with pytest.raises(OptionError, match=re.escape(f" at {place}: it must be above 0")):
        evaluate(lambda points: returned, PLACES)


@pytest.mark.parametrize(
    "returned", [[1j, 1, 1], ["1", "2", "3"], None, [True, True, True], [[1], [2, 3], []], [1, 2], [[1], [2], [3]]]
)
def test_values_of_functions_that_are_no_sizes_are_refused(returned):
    with pytest.raises(OptionError, match=r"must be real numbers|3 points, not shape \("):
        evaluate(lambda points: returned, PLACES)


def test_size_functions_get_read_only_points():
    def spoil(points):
        assert points.shape == (3, 2)
        points[0] = 7

    with pytest.raises(ValueError, match="read-only"):
        evaluate(spoil, PLACES)
    assert PLACES.flags.writeable


def test_exceptions_of_the_function_pass_through():
    with pytest.raises(ZeroDivisionError):
        evaluate(lambda points: 1 // 0, PLACES)
    with pytest.raises(OptionError, match=r"^size .*not float"):
        evaluate(0.5, PLACES)
    assert evaluate(lambda points: 1 // 0, np.empty((0, 2))).shape == (0,)


# ---- Speed and bits ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_million_points_take_seconds():
    mesh = dmr.generate("graded", 20_000, 1)
    sizes = 2 + mesh.vertices.sum(axis=1)
    places = centroids(mesh)[np.arange(1_000_000) % len(mesh.triangles)]
    started = time.process_time()
    got = SizeField(mesh, sizes)(places)
    assert time.process_time() - started < 10  # about 1 s; with a loop in Python, more than a minute
    np.testing.assert_allclose(got, 2 + places.sum(axis=1), rtol=1e-12)


def test_the_size_at_a_point_does_not_depend_on_other_points():
    """The size at a point does not depend on the other points or on its index."""
    mesh = dmr.generate("clustered", 2000, 2)
    field = SizeField(mesh, np.random.default_rng(0).uniform(1, 2, 2000), on="vertices")
    places = np.random.default_rng(1).uniform(-0.5, 1.5, (70_000, 2))
    together = field(places)
    assert np.array_equal(field(places[::-1])[::-1], together)
    assert np.array_equal(np.concatenate([field(places[k : k + 1]) for k in range(200)]), together[:200])


# ---- In a refinement -----------------------------------------------------------------------------------------------


def test_no_edge_is_longer_than_the_size_at_the_centroid():
    background = dmr.Mesh([[0, 0], [2, 0], [2, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]])
    field = SizeField(background, [0.005, np.inf, 0.5, 0.1]).limited(0.4)
    mesh = dmr.generate("random", 200, 3)  # not a tiny mesh, which is refined by several strategies
    asked = []

    def size(points):
        asked.append(len(points))
        return field(points)

    result = dmr.refine(mesh, max_edge=size, device="cpu")
    corners = result.mesh.vertices[result.mesh.triangles]
    edges = corners - np.roll(corners, 1, axis=1)
    longest = np.sqrt((edges * edges).sum(axis=2)).max(axis=1)
    assert (longest <= field(centroids(result.mesh)) * (1 + 1e-9)).all()
    assert 1000 < len(result.mesh.triangles) < 20_000
    assert len(asked) <= result.rounds + 1  # in bulk: once per round


# ---- Files ---------------------------------------------------------------------------------------------------------


def test_sizes_from_triangle_files(tmp_path):
    (tmp_path / "a.node").write_text("4 2 2 0\n1 0 0 5 1\n2 1 0 5 2\n3 1 1 5 3\n4 0 1 5 2\n")
    (tmp_path / "a.ele").write_text("2 3 0\n1 1 2 3\n2 1 3 4\n")
    field = read_size_field(str(tmp_path / "a.ele"), 1)
    np.testing.assert_allclose(field([[0.75, 0.25], [0.25, 0.75]]), [2, 2])
    assert (read_size_field(str(tmp_path / "a.ele"))([[0.5, 0.2]]) == 5).all()
    with pytest.raises(FileError, match=r"a.ele: .*vertex attribute 2"):
        read_size_field(str(tmp_path / "a.ele"), 2)
    (tmp_path / "a.node").write_text("4 2 1 0\n1 0 0 5\n2 1 0 5\n3 1 1 -5\n4 0 1 5\n")
    with pytest.raises(FileError, match=r"a.node:4: vertex 3: "):
        read_size_field(str(tmp_path / "a.ele"))
    (tmp_path / "b.poly").write_text("3 2 1 0\n1 0 0 5\n2 1 0 5\n3 1 1 5\n3 0\n1 1 2\n2 2 3\n3 3 1\n0\n")
    with pytest.raises(FileError, match="is an outline without triangles"):
        read_size_field(str(tmp_path / "b.poly"))


def test_sizes_from_other_files(tmp_path):
    meshio = pytest.importorskip("meshio")
    mesh = two_triangles()
    points = np.column_stack([mesh.vertices, np.zeros(4)])
    data = {"velocity": np.ones((4, 3)), "depth": np.array([1.0, 2, 3, 2]), "size": np.array([4.0, 5, 6, 7])}
    meshio.write(tmp_path / "a.vtu", meshio.Mesh(points, [("triangle", mesh.triangles)], point_data=data))
    names = list(meshio.read(tmp_path / "a.vtu").point_data)
    names.remove("velocity")
    for column, name in enumerate(names):
        assert np.array_equal(read_size_field(str(tmp_path / "a.vtu"), column).values, data[name])
    with pytest.raises(FileError, match="no array 2 "):
        read_size_field(str(tmp_path / "a.vtu"), 2)
    # Our own attributes come first.
    own = dmr.Mesh(mesh.vertices, mesh.triangles, vertex_attributes=[[1, 9], [1, 8], [1, 7], [1, 6]])
    dmr.write(tmp_path / "b.vtu", own)
    assert read_size_field(str(tmp_path / "b.vtu"), 1).values.tolist() == [9, 8, 7, 6]
    dmr.write(tmp_path / "c.vtu", mesh)
    with pytest.raises(FileError, match="no array 0 "):
        read_size_field(str(tmp_path / "c.vtu"))


# ---- One size everywhere -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [0.25, np.float32(0.25), np.float64(0.25)])
def test_a_number_is_one_size_everywhere(length):
    square = dmr.domains.polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
    fine = dmr.refine(square, max_edge=length, device="cpu", threads=1)
    same = dmr.refine(square, max_edge=lambda points: 0.25, device="cpu", threads=1)
    assert fine.mesh.vertices.tobytes() == same.mesh.vertices.tobytes()
    assert fine.mesh.triangles.tobytes() == same.mesh.triangles.tobytes()
    assert dmr.validate(fine.mesh, input=square, min_angle=30, max_edge=length).ok
    assert not dmr.validate(fine.mesh, input=square, max_edge=0.5 * length).ok


def test_an_integer_is_a_size():
    mesh = two_triangles()
    assert len(dmr.refine(mesh, max_edge=1000, device="cpu", threads=1).mesh.triangles) >= 2
    assert dmr.validate(mesh, max_edge=1000).ok


@pytest.mark.parametrize("size", [0, -0.5, math.nan, math.inf, True, "0.1", [0.1]])
def test_invalid_sizes_are_refused_before_the_work(size, monkeypatch):
    monkeypatch.setattr("dmr.refinement.pipeline.choose_device", lambda *_: pytest.fail("a device was opened"))
    with pytest.raises(OptionError, match="max_edge must be a"):
        dmr.refine(two_triangles(), max_edge=size)


@pytest.mark.parametrize("size", [0.1, 0.07, 1 / 3])
def test_a_field_of_equal_sizes_gives_exactly_that_size(size):
    """So a mesh by the field is the mesh by the number."""
    square = domains.rectangle(1, 1)
    background = dmr.refine(square, max_area=0.02, device="cpu").mesh
    places = np.random.default_rng(3).uniform(-0.5, 1.5, (10_000, 2))
    fields = (
        SizeField(background, np.full(len(background.vertices), size)),
        SizeField(background, np.full(len(background.triangles), size)),
        SizeField.from_grid([0, 0.3, 1], [0, 0.7, 1], np.full((3, 3), size)),
        dmr.sizing.sampled(lambda points: np.full(len(points), size), background),
    )
    expected = mesh_digest(dmr.refine(square, size=size, device="cpu").mesh)
    for field in fields:
        assert (field(places) == size).all()
        assert mesh_digest(dmr.refine(square, size=field, device="cpu").mesh) == expected
