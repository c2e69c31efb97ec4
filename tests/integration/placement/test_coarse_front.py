"""The coarse front, from which the sizes around fine parts of an outline are interpolated."""

from __future__ import annotations

import numpy as np
import pytest

from dmr import Mesh, domains
from dmr.mesh.types import Pslg
from dmr.refinement.placement.coarse_front.native import coarse_front
from dmr.triangulation.native import triangulate_plane
from dmr.triangulation.plane import OUTSIDE


def front_in(outline: Pslg, *, most=1000, steps=1.0, largest=0.2):
    """The coarse front in the polygon, whose segments are its pieces; and the triangulation that it starts from."""
    plane = triangulate_plane(outline)
    in_domain = np.ones(plane.parts, bool)
    in_domain[[OUTSIDE, *plane.hole_labels]] = False
    found = coarse_front(
        outline.vertices, plane, in_domain, largest=largest, threshold=largest, spaced=1.0, steps=steps, most=most
    )
    return *found, plane


def rectangle(fine, coarse, width=4.0, height=1.0):
    """A rectangle whose left and right sides have that many pieces, and the others 20."""
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], float)
    counts = (20, coarse, 20, fine)
    sides = [
        start + (end - start) * np.arange(n)[:, None] / n
        for start, end, n in zip(corners, np.roll(corners, -1, axis=0), counts, strict=True)
    ]
    return domains.polygon(np.concatenate(sides))


@pytest.mark.parametrize("steps", [1.0, 2.0, 5.0])
def test_it_fills_the_domain_with_counter_clockwise_triangles_that_are_linked(steps):
    hole = domains.circle_points(0.1, 40, (1.3, 0.4))
    outline = domains.polygon([(0, 0), (4, 0), (4, 1), (0, 1)], [hole])
    vertices, sizes, triangles, neighbours, plane = front_in(outline, steps=steps)
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
    np.testing.assert_allclose(sizes[len(outline.vertices) :], 1.014 * piece)


def test_steps_are_longer_if_there_would_be_too_many_points():
    outline = domains.polygon(domains.circle_points(1.0, 100))
    many, few = (len(front_in(outline, most=most)[0]) - 100 for most in (10_000, 200))
    assert 200 < many < 10_000 and 0 < few < 200


@pytest.mark.parametrize(("corners", "times"), [(270, 1), (330, 1), (500, 2)])
def test_steps_with_too_many_points_are_as_if_longer_ones_were_asked_for(corners, times):
    outline = domains.polygon(domains.circle_points(1.0, corners))
    found, longer = (front_in(outline, most=5000, steps=steps) for steps in (1.0, 1.5**times))
    assert len(front_in(outline, most=40_000)[0]) > 6000
    assert 2000 < len(found[0]) - corners < 5000
    for mine, other in zip(found[:4], longer[:4], strict=True):
        np.testing.assert_array_equal(mine, other)
