"""Functions sampled ahead: few calls, the stated error, and nothing outside the domain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from dmr.errors import OptionError
from dmr.sizing import sampled
from tests.support.meshes import grid


class Counted:
    """A function of places that keeps them."""

    def __init__(self, function):
        self.function, self.calls = function, []

    def __call__(self, points):
        self.calls.append(points.copy())
        return self.function(points)

    @property
    def points(self):
        return np.concatenate(self.calls)


def ridge(points):
    """Sizes with a kink along a circle."""
    return 0.01 + 0.2 * abs(np.hypot(points[:, 0] - 0.4, points[:, 1] - 0.3) - 0.3)


PLACES = np.random.default_rng(1).random((20_000, 2))


@pytest.mark.parametrize("error", [0.2, 0.02])
def test_samples_keep_the_stated_error(error):
    function = Counted(ridge)
    field = sampled(function, (0, 0, 1, 1), error=error)
    assert len(function.calls) < 9 and len(np.unique(function.points, axis=0)) == len(function.points)
    assert len(function.calls[0]) == 17**2  # of the first levels, which are always divided
    off = abs(field(PLACES) - ridge(PLACES)) / ridge(PLACES)
    assert np.quantile(off, 0.99) < error
    assert field.deviation < 0.2 and np.mean(off) < error / 4
    assert dmr.SizeField.from_grid([0, 1], [0, 1], np.ones((2, 2))).deviation is None


def test_a_bilinear_function_is_met_exactly():
    with pytest.raises(OptionError, match=r"size is -0.5 at \(-1, 0\)"):
        sampled(lambda points: 0.5 + points[:, 0], (-1, 0, 3, 1))
    places = PLACES * [4, 1] - [1, 0]

    def sizes(points):
        return 2.5 + points[:, 0] * (1 + points[:, 1])

    field = sampled(sizes, (-1, 0, 3, 1))
    assert field.deviation < 1e-14 and len(np.unique(field.support.points, axis=0)) == 17 * 5
    np.testing.assert_allclose(field(places), sizes(places), rtol=1e-14)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("long", [1, 1.4, 1.5, 7, 1000, 12345.6])
def test_a_long_rectangle_is_divided_into_squares(long, turned):
    way = -1 if turned else 1
    function = Counted(lambda points: 0.3 + 0.001 * points[:, 0] + 0.002 * points[:, 1])
    low, high = np.array([-0.3, 0.7][::way]), np.array([long - 0.3, 1.7][::way])
    field = sampled(function, (*low, *high))
    assert (function.points >= low).all() and (function.points <= high).all()  # it may have no value elsewhere
    assert len(field.values) < 400 + 12 * long
    places = np.concatenate([low + PLACES * (high - low), [low, high, (low[0], high[1]), (high[0], low[1])]])
    sizes = function.function(places)
    assert (abs(field(places) / sizes - 1) < 0.05).all()
    mesh = dmr.domains.rectangle(*(high - low))
    seen = Counted(lambda points: np.full(len(points), 0.3))
    fine = dmr.refine(mesh, size=seen, device="cpu").mesh
    assert len(seen.points) < 300 + 3 * len(fine.triangles)


def test_only_rectangles_that_meet_the_domain_are_sampled():
    mesh = grid(np.arange(65.0) / 64)
    near = abs(mesh.vertices[mesh.triangles].mean(axis=1) @ [1, -1]) < 0.02
    band = dmr.Mesh(mesh.vertices, mesh.triangles[near])
    function = Counted(lambda points: np.full(len(points), 0.004))
    field = sampled(function, band)
    assert (abs(function.calls[-1] @ [1, -1]) < 0.06).all()
    assert len(function.points) < 0.25 * 256**2
    np.testing.assert_allclose(field(PLACES), 0.004, rtol=1e-14)


@settings(max_examples=20, deadline=None)
@given(st.integers(3, 40), st.integers(0, 2**32 - 1), st.floats(0.02, 0.5))
def test_every_place_in_the_domain_lies_in_a_leaf(count, seed, size):
    """By the tree alone: no quadrant is missing where a part of the domain is."""
    random = np.random.default_rng(seed)
    away, turn = random.uniform(0.2, 1, count), np.sort(random.uniform(0, 2 * np.pi, count))
    ring = away[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    domain = dmr.triangulate(ring, convex_hull=True)
    tree = sampled(lambda points: size + 0.3 * abs(points[:, 0]), domain).support
    corners = domain.vertices[domain.triangles]
    weights = random.dirichlet((1, 1, 1), (len(corners), 20))
    places = np.concatenate([(weights[..., None] * corners[:, None]).sum(axis=2).reshape(-1, 2), domain.vertices])
    unit = (places - (tree.left, tree.bottom)) / (tree.width, tree.height)
    inside = ((unit > 0) & (unit < 1)).all(axis=1)
    unit, node = unit[inside], np.zeros(inside.sum(), int)
    for level in range(1, tree.depth + 1):
        column, row = (unit * 2**level).astype(int).T % 2
        child = tree.children[node, column + 2 * row]
        assert ((child >= 0) | (tree.children[node] < 0).all(axis=1)).all()
        node = np.where(child >= 0, child, node)
        stays = child < 0
        unit, node = unit[~stays], node[~stays]


@pytest.mark.parametrize("finest", [0.2, 0.003, 1e-6])
def test_a_field_is_interpolated_in_the_leaves_of_its_tree(finest, device):
    """Kernels begin below the root; numpy goes down from there, without that table."""
    domain = dmr.triangulate(dmr.domains.polygon([(0, 0), (1, 0), (0.9, 0.7), (0.3, 1)]))
    field = sampled(lambda points: finest + 0.4 * abs(points - (0.41, 0.23)).max(axis=1), domain)
    tree, places = field.support, np.concatenate([PLACES, [(0.41, 0.23)], 0.41 + 1e-5 * PLACES - (0, 0.18)])
    unit = (places - (tree.left, tree.bottom)) / (tree.width, tree.height)
    cell = np.clip((unit * 2**tree.depth).astype(int), 0, 2**tree.depth - 1)
    node, level = np.zeros(len(places), int), np.zeros(len(places), int)
    for below in range(1, tree.depth + 1):
        column, row = (cell >> (tree.depth - below)).T % 2
        child = np.where(level == below - 1, tree.children[node, column + 2 * row], -1)
        node, level = np.where(child >= 0, child, node), np.where(child >= 0, below, level)
    right, above = (np.clip(unit, 0, 1) * 2.0 ** level[:, None] - (cell >> (tree.depth - level)[:, None])).T
    low, low_right, high, high_right = field.values[tree.corners[node]].T
    expected = (1 - above) * (low + right * (low_right - low)) + above * (high + right * (high_right - high))
    np.testing.assert_allclose(field.at(places, device), expected, rtol=1e-9)


def test_a_function_need_not_be_defined_outside_the_domain():
    square = dmr.triangulate(dmr.domains.polygon([(0, 0), (1, 0.25), (0.8, 1), (0.1, 0.9)]))

    def inside_only(points):
        inside = dmr.locate(square, points) >= 0
        return np.where(inside, 0.05 + 0.1 * points[:, 0], np.nan)

    field = sampled(inside_only, square)
    inside = dmr.locate(square, PLACES) >= 0
    off = abs(field(PLACES[inside]) / inside_only(PLACES[inside]) - 1)
    assert np.isfinite(field.values).all() and off.max() < 0.25 and off.mean() < 0.02
    fine = dmr.refine(square, max_edge=inside_only, device="cpu")
    assert dmr.validate(fine.mesh, input=square, max_edge=inside_only).ok
    with pytest.raises(OptionError, match=r"size is nan at \(0\.\d+, 0\.\d+\): it must be above 0"):
        sampled(lambda points: np.where(points[:, 0] < 0.5, np.nan, 1), square)


def test_infinite_samples_and_jumps():
    field = sampled(lambda points: np.where(points[:, 0] < 0.4, 0.05, np.inf), (0, 0, 1, 1))
    found = field(PLACES)
    assert np.allclose(found[PLACES[:, 0] < 0.37], 0.05, rtol=1e-14) and np.isinf(found[PLACES[:, 0] > 0.43]).all()
    assert np.isinf(field.deviation)


@pytest.mark.parametrize(
    ("over", "sentence"),
    [((0, 0, 0, 1), "x0 < x1"), ((0, 0, 1), "x0 < x1"), ((0, 0, np.inf, 1), "x0 < x1"), ("mesh", "must be real"),
     (dmr.Mesh([[0, 0], [1, 0], [0, 1]], np.empty((0, 3), int)), "this mesh has none"),
     (dmr.Pslg([[0, 0], [1, 0], [0, 1]]), "not a Pslg, which has no triangles: dmr.triangulate")],
)  # fmt: skip
def test_other_domains_are_refused(over, sentence):
    with pytest.raises(OptionError, match=sentence):
        sampled(lambda points: 1.0, over)


@pytest.mark.parametrize("error", [0, -1, np.nan, np.inf])
def test_other_errors_are_refused(error):
    with pytest.raises(OptionError, match="error must be"):
        sampled(lambda points: 1.0, (0, 0, 1, 1), error=error)


def test_too_many_samples_are_refused(monkeypatch):
    monkeypatch.setattr("dmr.sizing.sampling.MOST_SAMPLES", 10_000)
    with pytest.raises(OptionError, match=r"more than 10,000 samples"):
        sampled(lambda points: 1e-9, (0, 0, 1, 1))


# ---- In a refinement -----------------------------------------------------------------------------------------------


def test_a_function_decides_in_few_calls(device_options):
    function = Counted(lambda points: 1.5 * ridge(points))
    square = dmr.domains.rectangle(1, 1)
    fine = dmr.refine(square, max_edge=function, **device_options)
    assert fine.loop == "device" and len(fine.mesh.triangles) > 3000
    assert len(function.calls) <= 20 and len(function.points) < 2 * len(fine.mesh.triangles)
    assert dmr.validate(fine.mesh, input=square, min_angle=30, max_edge=function.function).ok


def test_a_function_that_samples_miss_decides_nevertheless(device_options):
    """Stripes that are much narrower than the rectangles that are sampled."""

    def stripes(points):
        return np.where(np.sin(400 * points[:, 0]) > 0.9, 0.02, 0.2)

    square = dmr.domains.rectangle(1, 1)
    fine = dmr.refine(square, max_edge=stripes, **device_options)
    assert dmr.validate(fine.mesh, input=square, min_angle=30, max_edge=stripes).ok
    assert len(fine.mesh.triangles) < 20_000


def test_kept_segments_are_reported_by_the_function(device_options):
    square = dmr.domains.polygon([(0, 0), (1, 0), (1, 1), (0, 1)])

    def function(points):
        return 0.3 + 0.1 * points[:, 0]

    fine = dmr.refine(square, max_edge=function, keep_segments="all", **device_options)
    assert fine.unrefined["kept_segment"] > 0
    report = dmr.validate(fine.mesh, input=square, min_angle=30, max_edge=function, unrefined=fine.unrefined_triangles)
    assert report.ok


@pytest.mark.parametrize("kind", ["number", "grid", "mesh", "smallest"])
def test_fields_give_the_same_mesh_on_every_device_and_loop(kind, device_options):
    domain = dmr.domains.polygon([(0, 0), (1, 0), (0.9, 1), (0.2, 0.7)])
    field = dmr.SizeField.from_grid([0, 0.3, 1], [0, 1], [[0.1, 0.02, 0.1], [0.3, 0.2, 0.05]])
    mesh = dmr.generate("random", 100, seed=2)
    source = {
        "number": 0.03,
        "grid": field,
        "mesh": dmr.SizeField(mesh, 0.02 + 0.1 * mesh.vertices[:, 0]),
        "smallest": dmr.sizing.smallest(field, dmr.sizing.from_distance(domain, 0.02, 0.2, 0.5)),
    }[kind]
    expected = dmr.refine(domain, max_edge=source, device="cpu", threads=1, loop="host")
    found = dmr.refine(domain, max_edge=source, loop="device", **device_options)
    assert found.mesh.vertices.tobytes() == expected.mesh.vertices.tobytes()
    assert found.mesh.triangles.tobytes() == expected.mesh.triangles.tobytes()
    assert found.host_processed == 0
    assert dmr.validate(found.mesh, input=domain, min_angle=30, max_edge=source).ok
