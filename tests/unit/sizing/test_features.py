"""Sizes from segments against the definition, segment by segment, and against the geometry of circles."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest

import dmr
from dmr import sizing
from dmr.domains import circle_points, polygon
from dmr.errors import OptionError, WrongTypeError
from dmr.memory import record

RING = polygon(circle_points(1.0, 96), holes=[circle_points(0.25, 40)])
PLACES = np.random.default_rng(5).uniform(-2, 2, (3000, 2))


def defined(start, end, sizes, growth, most=np.inf):
    """The smallest of the sizes that all segments give, at PLACES."""
    along, rest = end - start, PLACES[:, None] - start
    place = np.clip((rest * along).sum(axis=2) / (along * along).sum(axis=1), 0, 1)
    distance = np.linalg.norm(rest - place[..., None] * along, axis=2)
    return np.minimum((sizes + growth * distance).min(axis=1), most)


def ends(domain):
    return (domain.vertices[domain.segments[:, k]] for k in (0, 1))


def evaluated(source, device):
    with device.lock, device.current:
        sizes = device.empty(len(PLACES), np.float64)
        source.on(device).evaluate(device.array(PLACES, record("Point")), len(PLACES), sizes)
        return sizes.download()


def test_sizes_grow_with_the_distance(device):
    source = sizing.from_distance(RING, near=0.02, far=0.2, distance=0.6)
    found = evaluated(source, device)
    np.testing.assert_allclose(found, defined(*ends(RING), 0.02, 0.3, 0.2), rtol=1e-12)
    assert 100 < (found == 0.2).sum() < 2500
    assert (source(RING.vertices) == 0.02).all()


@pytest.mark.parametrize("grading", [0, 0.05, 3.0])
def test_sizes_as_long_as_segments(grading, device):
    rng = np.random.default_rng(2)
    points = np.cumsum(rng.uniform(-1, 1, (300, 2)) * np.exp(rng.uniform(-9, 0, (300, 1))), axis=0)
    domain = dmr.Pslg(points, np.stack([np.arange(299), np.arange(1, 300)], axis=1))
    start, end = ends(domain)
    lengths = np.linalg.norm(end - start, axis=1)
    found = evaluated(sizing.from_lengths(domain, 0.5, grading=grading, far=1.5), device)
    np.testing.assert_allclose(found, defined(start, end, 0.5 * lengths, grading, 1.5), rtol=1e-12)


def test_segments_without_length_give_no_sizes():
    with pytest.raises(OptionError, match="need a segment with a length"):
        sizing.from_lengths(dmr.Pslg([[0, 0], [0, 0], [1, 0]], [[0, 1]]))


def test_circles_are_divided_by_their_curvature():
    source = sizing.from_curvature(RING, 24, grading=0.1, far=0.3)
    outer, inner = RING.vertices[:96], RING.vertices[96:]
    np.testing.assert_allclose(source(inner), 2 * math.pi * 0.25 / 24, rtol=1e-12)
    expected = np.minimum(2 * math.pi / 24, 2 * math.pi * 0.25 / 24 + 0.1 * 0.75)
    np.testing.assert_allclose(source(outer), expected, rtol=2e-3)  # the inner circle is a polygon
    fine = dmr.refine(RING, max_edge=source, device="cpu")
    assert dmr.validate(fine.mesh, input=RING, min_angle=30, max_edge=source).ok


def test_corners_ends_branches_and_straight_lines_have_no_curvature():
    square = polygon([(0, 0), (0.5, 0), (1, 0), (1, 1), (0, 1)])
    with pytest.raises(OptionError, match="no chain of segments is curved"):
        sizing.from_curvature(square, 24)
    cross = dmr.Pslg([[0, 0], [1, 0], [2, 0.1], [1, 1]], [[0, 1], [1, 2], [1, 3]])
    with pytest.raises(OptionError, match="no chain of segments is curved"):
        sizing.from_curvature(cross, 24)
    bend = dmr.Pslg([[0, 0], [1, 0], [2, 0.1]], [[0, 1], [1, 2]])
    u, v, w = (np.array(p) for p in bend.vertices)
    sides = [np.linalg.norm(q - p) for p, q in ((u, v), (v, w), (w, u))]
    radius = math.prod(sides) / (2 * 0.1)  # the product over four times the area
    assert sizing.from_curvature(bend, 10)([[1, 0]])[0] == pytest.approx(2 * math.pi * radius / 10)


def test_markers_and_names_choose_segments():
    segments = [[0, 1], [1, 2], [2, 3], [3, 0]]
    square = dmr.Pslg(
        [[0, 0], [1, 0], [1, 1], [0, 1]], segments, segment_markers=[5, 0, 7, 5], names={"markers": {7: "roof"}}
    )
    below = np.array([[0.5, 0.25]])
    for along, distance in ((7, 0.75), ("roof", 0.75), ([5, "roof"], 0.25), (0, 0.5), (None, 0.25)):
        source = sizing.from_distance(square, near=1, far=2, distance=1, along=along)
        assert source(below)[0] == 1 + distance, along
    mesh = dmr.triangulate(square)
    assert sizing.from_distance(mesh, near=1, far=2, distance=1, along="roof")(below)[0] == 1.75
    plain = dmr.Mesh(mesh.vertices, mesh.triangles)
    assert sizing.from_distance(plain, near=1, far=2, distance=1)(below)[0] == 1.25
    for along, sentence in (
        ("floor", "no boundary named 'floor'; the names are: 'roof'"), (3, "no segment has such a marker"),
        ([1.5], "must be markers or names, not 1.5"), (True, "must be markers or names, not True"),
    ):  # fmt: skip
        with pytest.raises(OptionError, match=re.escape(sentence)):
            sizing.from_distance(square, near=1, far=2, distance=1, along=along)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sizing.from_distance(RING, 0, 1, 1), "near must be a finite number above 0"),
        (lambda: sizing.from_distance(RING, 1, math.inf, 1), "far must be a finite number above 0"),
        (lambda: sizing.from_distance(RING, 1, 0.5, 1), "far must not be below near, 1, but is 0.5"),
        (lambda: sizing.from_distance(RING, 1, 2, -1), "distance must be a finite number above 0"),
        (lambda: sizing.from_lengths(RING, math.nan), "factor must be a finite number above 0"),
        (lambda: sizing.from_lengths(RING, grading=-1), "grading must be finite and at least 0"),
        (lambda: sizing.from_lengths(RING, far=0), "far must be a number above 0"),
        (lambda: sizing.from_curvature(RING, 2), "per_turn must be finite and at least 3"),
        (lambda: sizing.from_lengths(dmr.Pslg([[0, 0]], np.empty((0, 2), int))), "this one has none"),
    ],
)
def test_other_arguments_are_refused(call, sentence):
    with pytest.raises(OptionError, match=re.escape(sentence)):
        call()


def test_other_domains_are_refused():
    geometry = SimpleNamespace(__geo_interface__={})
    for item in (geometry, [geometry]):
        with pytest.raises(WrongTypeError, match=r"make a Pslg of it by dmr\.domains\.from_shapely$"):
            sizing.from_distance(item, near=0.1, far=1, distance=1)
    with pytest.raises(WrongTypeError, match="the domain must be a Pslg or a Mesh"):
        sizing.from_lengths([[0, 0]])
