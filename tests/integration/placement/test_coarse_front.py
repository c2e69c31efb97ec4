"""The coarse front, from which the sizes around fine parts of an outline are interpolated."""

from __future__ import annotations

import numpy as np
import pytest

from dmr import Mesh, domains
from dmr.mesh.types import Pslg
from dmr.refinement.placement.coarse_front.native import coarse_front
from dmr.triangulation.native import triangulate_plane
from dmr.triangulation.plane import OUTSIDE


def front_in(outline: Pslg, *, most=10_000, largest=0.2, unit_steps=1000):
    """The coarse front in the polygon, whose segments are its pieces; and the triangulation that it starts from."""
    plane = triangulate_plane(outline)
    in_domain = np.ones(plane.parts, bool)
    in_domain[[OUTSIDE, *plane.hole_labels]] = False
    found = coarse_front(
        outline.vertices, plane, in_domain, largest=largest, threshold=largest, unit_steps=unit_steps, most=most
    )
    return *found[:4], plane


def rectangle(fine, coarse, width=4.0, height=1.0):
    """A rectangle whose left and right sides have that many pieces, and the others 20."""
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], float)
    counts = (20, coarse, 20, fine)
    sides = [
        start + (end - start) * np.arange(n)[:, None] / n
        for start, end, n in zip(corners, np.roll(corners, -1, axis=0), counts, strict=True)
    ]
    return domains.polygon(np.concatenate(sides))


@pytest.mark.parametrize("most", [10, 10_000])
def test_it_fills_the_domain_with_counter_clockwise_triangles_that_are_linked(most):
    hole = domains.circle_points(0.1, 40, (1.3, 0.4))
    outline = domains.polygon([(0, 0), (4, 0), (4, 1), (0, 1)], [hole])
    vertices, sizes, triangles, neighbours, plane = front_in(outline, most=most)
    before, after = Mesh(outline.vertices, plane.triangles), Mesh(vertices, triangles)
    assert len(vertices) > len(outline.vertices) and len(triangles) > len(before.triangles)
    assert (after.areas > 0).all() and after.areas.sum() == pytest.approx(before.areas.sum(), rel=1e-12)
    np.testing.assert_array_equal(neighbours, after.neighbours)
    kept = {tuple(sorted(edge)) for edge in outline.segments.tolist()}
    assert kept <= {tuple(sorted(edge)) for edge in after.edges.tolist()}
    inside = np.hypot(*(vertices[len(outline.vertices) :] - (1.3, 0.4)).T) < 0.0999
    assert not inside.any()  # the hole stays empty
    assert (sizes > 0).all() and sizes.max() <= 0.2


def test_vertices_have_their_shortest_edge_but_at_least_half_of_their_longest_piece():
    corners = [(0, 0), (0.18, 0), (0.18, 0.02), (0.36, 0.02), (0.36, 1), (0, 1)]
    outline = domains.polygon(corners)
    sizes = front_in(outline, largest=0.5)[1][: len(corners)]
    # The long sides count as the largest size; 0.02 is less than half of the pieces of 0.18 beside it.
    np.testing.assert_allclose(sizes, [0.25, 0.09, 0.09, 0.25, 0.36, 0.36])


def test_sizes_grow_from_a_fine_side_to_a_coarse_one():
    outline = rectangle(fine=50, coarse=5)
    vertices, sizes, *_ = front_in(outline)
    new = slice(len(outline.vertices), None)
    means = [sizes[new][np.abs(vertices[new, 0] - x) < 0.4].mean() for x in (0.5, 1.5, 2.5)]
    assert 0.02 < means[0] < means[1] < means[2] < 0.201


def test_sizes_are_equal_inside_an_outline_of_equal_pieces():
    outline = domains.polygon(domains.circle_points(1.0, 100))
    _, sizes, *_ = front_in(outline)
    piece = 2 * np.sin(np.pi / 100)
    np.testing.assert_allclose(sizes[: len(outline.vertices)], piece)
    np.testing.assert_allclose(sizes[len(outline.vertices) :], piece)


def test_no_point_is_within_four_tenths_of_a_size_of_the_outline():
    outline = rectangle(fine=31, coarse=7)
    vertices, sizes, *_ = front_in(outline)
    new = slice(len(outline.vertices), None)
    away = np.minimum(vertices[new], (4.0, 1.0) - vertices[new]).min(axis=1)
    assert (away > 0.35 * sizes[new]).all()  # the mean of three sizes is compared


def test_steps_become_longer_so_that_large_domains_have_few_points():
    pieces = 2000
    outline = domains.polygon(domains.circle_points(1.0, pieces))
    of_equal_steps = np.pi / (0.5 * np.sqrt(3) * (2 * np.pi / pieces) ** 2)
    points = len(front_in(outline, most=20_000)[0]) - pieces
    assert of_equal_steps > 350_000 and 2_000 < points < 8_000


def test_it_stops_when_it_has_as_many_points_as_it_may_have():
    outline = domains.polygon(domains.circle_points(1.0, 100))
    assert len(front_in(outline, most=200)[0]) == 300


def test_the_mean_growth_and_the_number_of_wanted_triangles_are_measured():
    """By sums over the triangles of exact gradients, and of areas over those of equilateral triangles."""
    outline = rectangle(fine=50, coarse=5)
    plane = triangulate_plane(outline)
    in_domain = np.ones(plane.parts, bool)
    in_domain[OUTSIDE] = False
    front = coarse_front(outline.vertices, plane, in_domain, largest=0.2, threshold=0.2, unit_steps=1000, most=1000)
    mesh = Mesh(front.vertices, front.triangles)
    corners, sizes = mesh.vertices[mesh.triangles], front.sizes[mesh.triangles]
    ways = np.stack([corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], axis=1)
    rises = np.stack([sizes[:, 1] - sizes[:, 0], sizes[:, 2] - sizes[:, 0]], axis=1)
    growth = np.minimum(np.hypot(*np.linalg.solve(ways, rises[..., None])[..., 0].T), 1.0)
    wanted = mesh.areas / (np.sqrt(3) / 4 * sizes.mean(axis=1) ** 2)
    assert front.wanted == pytest.approx(wanted.sum(), rel=1e-9)
    assert front.growth == pytest.approx((wanted * growth).sum() / wanted.sum(), rel=1e-9)
