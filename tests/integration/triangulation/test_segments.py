"""Constrained Delaunay triangulation of outlines without conflicts: proved, and compared with Triangle's."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr import Pslg
from dmr.triangulation.rounds import segments
from tests.support.planar import area_of, edge_set, orientation, triangle_set


def closed(count, first=0):
    """The segments of a ring of vertices."""
    k = np.arange(count)
    return np.stack([first + k, first + (k + 1) % count], axis=1)


def assert_right(domain, **options):
    """The mesh of a domain, after the exact checker accepted it; its vertices start with the domain's."""
    mesh = dmr.triangulate(domain, **options)
    hull = {"convex_hull": True} if options.get("convex_hull") else {}
    report = dmr.validate(mesh, input=domain, **hull)
    assert report.ok, report.failures
    assert np.array_equal(mesh.vertices[: len(domain.vertices)], domain.vertices)
    return mesh


def by_triangle(domain, switches):
    """The triangles that Triangle makes of a domain. It changes the arrays that it is given."""
    triangle = pytest.importorskip("triangle")
    given = {"vertices": domain.vertices.copy(), "segments": domain.segments.copy()}
    if len(domain.holes):
        given["holes"] = domain.holes.copy()
    return triangle_set(triangle.triangulate(given, switches)["triangles"])


# ---- Outlines ------------------------------------------------------------------------------------------------------


def ring(radius, turn=0.0):
    angle = np.linspace(0, 2 * np.pi, len(radius), endpoint=False) + turn
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def star(random):
    """A star-shaped polygon with spikes, and a hole of the same kind."""
    outer, inner = ring(random.uniform(1, 3, 60)), ring(random.uniform(0.2, 0.9, 25), 0.1)
    return Pslg(np.concatenate([outer, inner]), np.concatenate([closed(60), closed(25, 60)]), holes=[[0, 0]])


def comb(random):
    """Long thin teeth: most segments are not edges of the Delaunay triangulation."""
    k = np.arange(60)
    teeth = np.stack(
        [k + random.uniform(-0.3, 0.3, 60), np.where(k % 2, 40.0, 0.0) + random.uniform(-1, 1, 60)], axis=1
    )
    return Pslg(np.concatenate([teeth, [[62, -5], [-3, -6]]]), closed(62))


def spiral(random):
    """A band that winds six times."""
    t = np.linspace(2, 14, 150)
    bank = [np.stack([r * np.cos(np.pi * t), r * np.sin(np.pi * t)], axis=1) for r in (t, t + 0.6)]
    vertices = np.concatenate([bank[0], bank[1][::-1]]) + random.uniform(-0.02, 0.02, (300, 2))
    return Pslg(vertices, closed(300))


def blocks(random):
    """Jittered squares as holes of a square, and cracks between them."""
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    places = np.array([[2 * x, 2 * y] for x in range(6) for y in range(6)])
    squares = (places[:, None] + corners).reshape(-1, 2) + random.uniform(-0.2, 0.2, (144, 2))
    cracks = np.concatenate([np.add(places, (0.5, 1.4)), np.add(places, (1.5, 1.6))]) + random.uniform(
        -0.05, 0.05, (72, 2)
    )
    frame = np.array([[-1.3, -1.1], [12.2, -1.2], [12.1, 12.3], [-1.4, 12.4]])
    segments = [closed(4, 4 * k) for k in range(37)] + [np.stack([np.arange(36), np.arange(36) + 36], axis=1) + 148]
    return Pslg(
        np.concatenate([squares, frame, cracks + random.uniform(-0.05, 0.05, (72, 2))]),
        np.concatenate(segments),
        holes=places + 0.5,
    )


def fan(random):
    """Needles: cracks from one corner to points near the opposite side."""
    y = np.sort(random.uniform(-1, 1, 40))
    vertices = np.concatenate([[[0, 0], [30, -2], [31, 2]], np.stack([29 + random.random(40) * 0.5, y], axis=1)])
    return Pslg(vertices, np.concatenate([closed(3), np.stack([np.zeros(40, int), np.arange(3, 43)], axis=1)]))


def isolated(random):
    """Points in a polygon that no segment uses, and some outside of it."""
    inner = random.uniform(-0.6, 0.6, (200, 2))
    outer = ring(random.uniform(2.5, 4, 30))
    return Pslg(np.concatenate([ring(random.uniform(1, 2, 30)), inner, outer]), closed(30))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [star, comb, spiral, blocks, fan, isolated])
def test_outlines_are_proved_and_agree_with_triangle(make, seed):
    domain = make(np.random.default_rng(seed))
    mesh = assert_right(domain)
    assert edge_set(mesh.segments) == edge_set(domain.segments)
    assert not len(mesh.vertices) > len(domain.vertices)
    assert triangle_set(mesh.triangles) == by_triangle(domain, "p")
    hull = assert_right(domain, convex_hull=True)
    if not len(domain.holes):
        assert edge_set(hull.segments) == edge_set(domain.segments)
        assert triangle_set(hull.triangles) == by_triangle(domain, "pc")


@pytest.mark.parametrize("side", [1, 2, 7])
def test_a_grid_of_cocircular_squares(side):
    k = side + 1
    vertices = [[x, y] for y in range(k) for x in range(k)]
    across = [[k * y + x, k * y + x + 1] for y in range(k) for x in range(side)]
    up = [[k * y + x, k * y + k + x] for y in range(side) for x in range(k)]
    mesh = assert_right(Pslg(vertices, [*across, *up]))
    assert len(mesh.triangles) == 2 * side * side
    assert area_of(mesh) == side * side
    assert edge_set(mesh.segments) == edge_set([*across, *up])


def test_segments_that_are_not_delaunay():
    """The flat way through each of a row of kites, whose short diagonals are Delaunay."""
    kites = np.concatenate([np.add([[0, 0], [10, 0], [5, 1], [5, -1]], (10 * k, 0)) for k in range(9)])
    kites, place = np.unique(kites, axis=0, return_inverse=True)
    flat = place.reshape(-1, 4)[:, :2]
    free = dmr.triangulate(Pslg(kites, []))
    assert not edge_set(flat) & edge_set(free.triangles[:, :2])
    assert edge_set(assert_right(Pslg(kites, flat), convex_hull=True).segments) == edge_set(flat)


def test_a_hub_of_spokes():
    angle = np.arange(500) * 2 * np.pi / 500
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    spokes = np.stack([np.zeros(500, int), np.arange(1, 501)], axis=1)
    mesh = assert_right(Pslg([[0, 0], *circle], np.concatenate([spokes, closed(500, 1)])))
    assert len(mesh.triangles) == 500


def test_direction_and_order_of_segments_do_not_matter():
    random = np.random.default_rng(5)
    domain = comb(random)
    order = random.permutation(len(domain.segments))
    turned = np.where(random.random(len(order))[:, None] < 0.5, domain.segments, domain.segments[:, ::-1])[order]
    other = assert_right(Pslg(domain.vertices, turned))
    assert triangle_set(other.triangles) == triangle_set(dmr.triangulate(domain).triangles)


def test_pieces_keep_order_and_direction_of_their_segments():
    vertices = [[0, 0], [9, 0], [9, 9], [0, 9], [6, 0], [3, 0], [0, 3], [0, 6]]
    mesh = assert_right(Pslg(vertices, [[1, 0], [1, 2], [2, 3], [3, 0]], segment_markers=[4, 3, 2, 1]))
    assert mesh.segments.tolist() == [[1, 4], [4, 5], [5, 0], [1, 2], [2, 3], [3, 7], [7, 6], [6, 0]]
    assert mesh.segment_markers.tolist() == [4, 4, 4, 3, 2, 1, 1, 1]


# ---- Pseudo-polygons: what a segment crosses may hang into the way -------------------------------------------------


def hanging_edges(vertices, triangles, start, end):
    """Edges that a segment passes on both sides without crossing them: both their triangles are in its way."""

    def beside(triangle):
        side = [orientation(start, end, vertices[v]) > 0 for v in triangle]
        return len(set(side)) == 2

    owners = {}
    for number, triangle in enumerate(triangles.tolist()):
        for k in range(3):
            owners.setdefault(frozenset((triangle[k], triangle[k - 1])), []).append(number)
    found = []
    for edge, both in owners.items():
        u, v = (vertices[w] for w in edge)
        one_side = (orientation(start, end, u) > 0) == (orientation(start, end, v) > 0)
        if len(both) == 2 and one_side and all(beside(triangles[k]) for k in both):
            found.append(edge)
    return found


def with_a_long_segment(points):
    """Points, and a segment from left to right through the middle of them."""
    width = np.ptp(points[:, 0]) + 1
    ends = [[points[:, 0].min() - 0.1 * width, 0.0123], [points[:, 0].max() + 0.1 * width, -0.0234]]
    count = len(points)
    return Pslg(np.concatenate([points, ends]), [[count, count + 1]])


def stalactites(count, random):
    """Cracks of two edges that hang down into the middle, between two points on the floor; and the same upside down:
    points, and segments that join them."""
    one = np.array([[0, 1.5], [0, 0.5], [0, 0.1], [-1, -0.5], [1, -0.5]])
    points = np.concatenate([one * (1, side) + (12 * k + 3 * side, 0) for k in range(count) for side in (1, -1)])
    cracks = np.concatenate([np.add([[0, 1], [1, 2]], 5 * k) for k in range(2 * count)])
    return points + random.uniform(-0.05, 0.05, points.shape), cracks


@pytest.mark.parametrize("seed", range(12))
def test_cracks_in_the_way_of_a_segment(seed):
    """Their vertices are met twice by the chain that bounds what the segment takes out, on both sides of it."""
    random = np.random.default_rng(seed)
    points, cracks = stalactites(20, random)
    way = with_a_long_segment(points)
    before = dmr.triangulate(Pslg(way.vertices, cracks), convex_hull=True)
    assert len(hanging_edges(way.vertices, before.triangles, *way.vertices[-2:])) >= 60
    domain = Pslg(way.vertices, random.permutation(np.concatenate([cracks, way.segments])))  # it comes early or late
    mesh = assert_right(domain, convex_hull=True)
    assert edge_set(mesh.segments) == edge_set(domain.segments)
    assert triangle_set(mesh.triangles) == by_triangle(domain, "pc")


@pytest.mark.parametrize("count", [10, 100, 1000])
def test_one_long_segment_through_many_points(count):
    for seed in range(8):
        domain = with_a_long_segment(np.random.default_rng([seed, count]).normal(size=(count, 2)))
        mesh = assert_right(domain, convex_hull=True)
        assert triangle_set(mesh.triangles) == by_triangle(domain, "pc")


def test_parallel_long_segments_through_many_points():
    random = np.random.default_rng(9)
    points = random.uniform(-1, 1, (400, 2))
    y = np.linspace(-0.9, 0.9, 60)
    ends = np.concatenate([np.stack([np.full(60, x), y + 1e-3 * random.random(60)], axis=1) for x in (-2, 2)])
    segments = 400 + np.stack([np.arange(60), np.arange(60) + 60], axis=1)
    domain = Pslg(np.concatenate([points, ends]), segments)
    mesh = assert_right(domain, convex_hull=True)
    assert triangle_set(mesh.triangles) == by_triangle(domain, "pc")


BESIDE = {  # heights of vertices above a segment from (0, 0) to (1, 0), by their place along it
    "line": lambda x, random: 1e-3 + 0 * x,
    "bent towards it": lambda x, random: 0.05 - 0.1 * (x - 0.5) ** 2,
    "bent away from it": lambda x, random: 1e-3 + 0.1 * (x - 0.5) ** 2,
    "slope": lambda x, random: 1e-3 + 0.1 * x,
    "saw": lambda x, random: 1e-3 + 0.02 * (np.arange(len(x)) % 7),
    "rough": lambda x, random: random.uniform(1e-4, 0.05, len(x)),
}


@pytest.mark.parametrize("count", [9, 60, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", BESIDE)
def test_a_segment_between_two_rows_of_vertices(shape, count, monkeypatch):
    """Sides of a strip along lines and arcs, where most third corners leave all other vertices on one side."""
    random = np.random.default_rng([count, len(shape)])
    rows = []
    for side in (1, -1):
        x = np.sort(random.random(count))
        rows.append(np.stack([x, side * BESIDE[shape](x, random)], axis=1))
    domain = Pslg(np.concatenate([*rows, [[-1e-2, 0], [1.01, 0]]]), [[2 * count, 2 * count + 1]])
    mesh = assert_right(domain, convex_hull=True)
    if shape == "line":  # its ties are broken by numbers, which Triangle does not look at
        monkeypatch.setattr(segments, "MOST_FLIP_ROUNDS", 1000)
        by_rounds = dmr.triangulate(domain, convex_hull=True, method="rounds", device="cpu")
        assert np.array_equal(mesh.triangles, by_rounds.triangles)
    else:
        assert triangle_set(mesh.triangles) == by_triangle(domain, "pc")


@pytest.mark.parametrize("far", [1e2, 1e6, 1e12])
def test_a_long_segment_through_a_grid_an_ulp_or_so_off_its_points(far):
    """Ties, and orientations that a float cannot tell."""
    grid = np.array([[x, y] for x in range(9) for y in range(9)], float) + far
    ends = far + np.array([[-1, np.spacing(far) * 3 - 1], [9, 9 - np.spacing(far) * 5]])
    domain = Pslg(np.concatenate([grid, ends]), [[81, 82]])
    mesh = assert_right(domain, convex_hull=True)
    assert edge_set(mesh.segments) == {(81, 82)}
